"""Spark elsewhere: addresses and what is said of wrong ones; two executors; a Connect server.

What is long starts a real cluster and a real server from PySpark's own distribution, and is
skipped, with the reason shown, where Java or Spark Connect's packages are missing.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest

from factdrift.builders.core import spark
from factdrift.builders.core.engine import ready
from factdrift.builders.core.errors import UserError
from tests.conftest import Environment, checksums, run_process
from tests.tables import names_of, table_cases

FRUGAL = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that lives for a minute spends most of it on compiling itself."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
}

pyspark = pytest.mark.skipif(not find_spec("pyspark"), reason="PySpark is not installed")
connect = pytest.mark.skipif(
    not all(find_spec(name) for name in ("pyspark", "grpc", "grpc_status", "zstandard")),
    reason="Spark Connect needs pip install -e '.[spark]'",
)
java = pytest.mark.skipif(not shutil.which("java"), reason="Java is not installed")


@contextmanager
def taken_port(listens: bool) -> Iterator[int]:
    """A port of this machine at which nobody answers, or somebody who says nothing."""
    with socket.socket() as held_socket:
        held_socket.bind(("127.0.0.1", 0))
        if listens:
            held_socket.listen()
        yield held_socket.getsockname()[1]


@pytest.mark.parametrize(("address", "said"), table_cases("spark_addresses"))
def test_addresses(address: str, said: str, tmp_path: Path) -> None:
    if not said:
        assert spark.checked(address) == address
        return
    with pytest.raises(UserError, match=re.escape(said)) as error:
        ready(address, tmp_path)
    assert "s3cret" not in str(error.value)


def test_where_spark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert [spark.remote(argument) for argument in (None, "local[2]", "yarn")] == [
        None,
        None,
        "yarn",
    ]
    monkeypatch.setenv("SPARK_REMOTE", "sc://host/;token=s3cret")
    assert spark.redact_address(spark.remote(None) or "") == "sc://host"


@pyspark
@java
def test_no_master_answers(tmp_path: Path) -> None:
    with taken_port(listens=False) as port, pytest.raises(UserError, match="no Spark answers"):
        ready(f"spark://127.0.0.1:{port}", tmp_path)


@connect
@pytest.mark.parametrize(
    ("listens", "said"), [(False, "no Spark answers at sc://127"), (True, "is no Spark Connect")]
)
def test_no_server_answers(
    listens: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "CONNECT_SECONDS", 1.0)
    with taken_port(listens) as port, pytest.raises(UserError, match=said):
        ready(f"sc://127.0.0.1:{port}", tmp_path)


JAVA = "#!/bin/sh\necho 'openjdk version \"{}\"' >&2\n"


@pyspark
@pytest.mark.parametrize(
    ("engine", "hidden", "java", "expected"),
    [
        ("spark", "pyspark.sql", "", "the engine spark needs PySpark\n  pip install -e '.[spark]'"),
        ("sc://localhost", "pyspark.sql.connect.session", "", "needs PySpark with Spark Connect ("),
        ("spark", "", "none", "the engine spark needs Java 17 or newer; found none"),
        ("spark", "", "1.8.0_292", "needs Java 17 or newer; found Java 8"),
        ("spark", "", "16.0.2", "needs Java 17 or newer; found Java 16"),
        ("spark", "", "17", ""),
    ],
)
def test_what_is_missing(
    engine: str,
    hidden: str,
    java: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if hidden:
        monkeypatch.setitem(sys.modules, hidden, None)
    if java:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if java not in ("", "none"):
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "java").write_text(JAVA.format(java))
        (tmp_path / "bin" / "java").chmod(0o755)
    with pytest.raises(UserError, match=re.escape(expected)) if expected else nullcontext():
        ready(engine, tmp_path)


TWO_EXECUTORS = "local-cluster[2,1,1024]"


def two_executors(home: Path) -> dict[str, str]:
    """The environment of a process that starts them; they work below `home`.

    That is SPARK_HOME, which is not to be the folder of installed packages.
    """
    import pyspark as distribution

    home.mkdir()
    for part in Path(distribution.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    settings = " ".join(f"--conf {name}={value}" for name, value in SETTINGS.items())
    submit = {"SPARK_HOME": str(home), "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell"}
    return {**submit, "PYSPARK_PYTHON": sys.executable, **FRUGAL}


def each_had_work(home: Path) -> bool:
    """Whether every cluster that was started there had its two executors."""
    executors = [sorted(names_of(app.iterdir())) for app in (home / "work").iterdir()]
    return bool(executors) and all(names == ["0", "1"] for names in executors)


@contextmanager
def connect_server(home: Path) -> Iterator[str]:
    """The address of a Spark Connect server, from PySpark's own distribution."""
    import pyspark as distribution

    spark_home, log = Path(distribution.__file__).parent, home / "server.log"
    settings = {**SETTINGS, "spark.connect.grpc.binding.port": "0"}
    given_words = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    command = [
        str(spark_home / "bin/spark-submit"),
        "--master",
        "local[2]",
        *given_words,
        "--class",
    ]
    spark_environment = {"SPARK_HOME": str(spark_home), "PYSPARK_PYTHON": sys.executable, **FRUGAL}
    with log.open("w") as file:
        server = subprocess.Popen(
            [*command, "org.apache.spark.sql.connect.service.SparkConnectServer", "spark"],
            cwd=home,
            env=os.environ | spark_environment,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )
    try:
        while not (started := re.search(r"server started at: .*:(\d+)", log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.2)
        yield f"sc://localhost:{started[1]}"
    finally:
        server.terminate()
        server.wait()


def release(home: Path, *options: str, env: Environment | None = None) -> str:
    words = ["release", "dynamic-templama", "--out", "releases", "--build", "build [1]", *options]
    return run_process(sys.executable, "-m", "factdrift", *words, cwd=home, env=env).stderr


@pytest.fixture(scope="module")
def by_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample's release by DuckDB, and its build folder."""
    home = tmp_path_factory.mktemp("duckdb")
    release(home)
    return home


@pytest.mark.slow
@connect
@java
@pytest.mark.parametrize("where", [TWO_EXECUTORS, "a Connect server"])
def test_a_spark_elsewhere_makes_the_same_release(
    where: str, by_duckdb: Path, tmp_path: Path
) -> None:
    """To the byte: by two executors, each a JVM of its own, or over the server's protocol."""
    home, cluster = tmp_path / "home", tmp_path / "spark"
    home.mkdir()
    for mined in (by_duckdb / "build [1]").glob("mine-*"):
        shutil.copytree(mined, home / "build [1]" / mined.name)
    settings = two_executors(cluster) if where == TWO_EXECUTORS else {}
    with nullcontext(where) if settings else connect_server(tmp_path) as address:
        assert "deltas: making" in release(home, "--engine", address, env=settings)
    assert checksums(by_duckdb / "releases") == checksums(home / "releases")
    assert not settings or each_had_work(cluster)


SUBMITTED = """
from pathlib import Path
import ibis, pyarrow as pa, pyarrow.parquet as pq
from factdrift.builders.core.engine import engine

with engine("spark", Path("a [b] {c}*"), threads=2) as eng:
    given = eng.scratch / "given.parquet"
    pq.write_table(pa.table({"n": [1, 2]}), given)
    kept = eng.keep(eng._read([str(given)], ibis.schema({"n": "int64"})))
    print(eng.session.sparkContext.master, sorted(r["n"] for r in eng.rows(kept)))
"""


@pytest.mark.slow
@pyspark
@java
def test_a_process_that_spark_submit_starts(tmp_path: Path) -> None:
    """Its settings stay; any folder will do, also one like a pattern."""
    import pyspark as distribution

    spark_home = Path(distribution.__file__).parent
    (tmp_path / "script.py").write_text(SUBMITTED)
    submit = [spark_home / "bin/spark-submit", "--master", "local[1]"]
    places = {"SPARK_HOME": str(spark_home), "HOME": str(tmp_path)}
    env = {**FRUGAL, **places, "PYSPARK_PYTHON": sys.executable}
    completed = run_process(
        *submit, "--conf", "spark.ui.enabled=false", "script.py", cwd=tmp_path, env=env
    )
    assert "local[1] [1, 2]\n" in completed.stdout
