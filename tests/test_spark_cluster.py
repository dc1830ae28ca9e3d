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
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from factdrift.builders.core import spark
from factdrift.builders.core.engine import ready
from factdrift.builders.core.errors import UserError
from tests.conftest import Done, Env, alone, checksums
from tests.tsv import cases

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
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if listens:
            held.listen()
        yield held.getsockname()[1]


@pytest.mark.parametrize(("address", "said"), cases("spark_addresses"))
def test_addresses(address: str, said: str, tmp_path: Path) -> None:
    if not said:
        assert spark.checked(address) == address
        return
    with pytest.raises(UserError, match=re.escape(said)) as error:
        ready(address, tmp_path)
    assert "s3cret" not in str(error.value)


def test_where_spark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert [spark.remote(a) for a in (None, "local[2]", "yarn")] == [None, None, "yarn"]
    monkeypatch.setenv("SPARK_REMOTE", "sc://host/;token=s3cret")
    assert spark.shown(spark.remote(None) or "") == "sc://host"


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
    monkeypatch.setattr(spark, "PATIENCE", 1.0)
    with taken_port(listens) as port, pytest.raises(UserError, match=said):
        ready(f"sc://127.0.0.1:{port}", tmp_path)


def opened(home: Path, engine: str, first: str = "", **environment: str) -> str:
    """What an engine that is opened in another process says.

    Run from a file: PySpark takes `python -c` for its own doctests and ends without an error.
    """
    script = home / "script.py"
    script.write_text(
        f"{first}\nfrom pathlib import Path\nfrom factdrift.builders.core.engine import engine\n"
        "from factdrift.builders.core.errors import UserError\n"
        f"try:\n    with engine({engine!r}, Path('a [b] {{c}}*'), threads=2) as eng:\n"
        "        import pyarrow as pa, pyarrow.parquet as pq\n"
        "        given = eng.scratch / 'given.parquet'\n"
        "        pq.write_table(pa.table({'n': [1, 2]}), given)\n"
        "        kept = eng.keep(eng._read([str(given)]))\n"
        "        print(eng.session.sparkContext.master, sorted(r['n'] for r in eng.rows(kept)))\n"
        "except UserError as e: print(e)\n"
    )
    program = environment.pop("program", sys.executable).split()
    return alone(*program, script, cwd=home, env={"HOME": str(home)} | environment).stdout


OLD_JAVA = "#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n"


@pyspark
@pytest.mark.parametrize(
    ("engine", "hidden", "java", "expected"),
    [
        ("spark", "pyspark", "", "the engine spark needs PySpark\n  pip install -e '.[spark]'"),
        ("sc://localhost", "grpc", "", "the engine spark needs PySpark with Spark Connect"),
        ("spark", "", "none", "the engine spark needs Java 17 or newer; found none"),
        ("spark", "", "old", "needs Java 17 or newer; found Java 8"),
    ],
)
def test_what_is_missing(
    engine: str, hidden: str, java: str, expected: str, tmp_path: Path
) -> None:
    environment = {"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path)} if java else {}
    if java == "old":
        environment["PATH"] = os.environ["PATH"]
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "java").write_text(OLD_JAVA)
        (tmp_path / "bin" / "java").chmod(0o755)
    first = f"import sys; sys.modules[{hidden!r}] = None" if hidden else ""
    assert expected in opened(tmp_path, engine, first, **environment)


def release(home: Path, *options: str, env: Env | None = None) -> Done:
    words = ["release", "dynamic-templama", "--out", "releases", "--build", "build [1]", *options]
    return alone(sys.executable, "-m", "factdrift", *words, cwd=home, env=env)


TWO_EXECUTORS = "local-cluster[2,1,1024]"


def two_executors(home: Path) -> dict[str, str]:
    """The environment of a process that starts them; they work below `home`.

    That is SPARK_HOME, which is not to be the folder of installed packages.
    """
    import pyspark as distribution

    home.mkdir()
    for part in Path(distribution.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    given = " ".join(f"--conf {name}={value}" for name, value in SETTINGS.items())
    submit = {"SPARK_HOME": str(home), "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell"}
    return {**submit, "PYSPARK_PYTHON": sys.executable, **FRUGAL}


def each_had_work(home: Path) -> bool:
    """Whether every cluster that was started there had its two executors."""
    executors = [sorted(one.name for one in app.iterdir()) for app in (home / "work").iterdir()]
    return bool(executors) and all(names == ["0", "1"] for names in executors)


@contextmanager
def connect_server(home: Path, **environment: str) -> Iterator[str]:
    """The address of a Spark Connect server, from PySpark's own distribution."""
    import pyspark as distribution

    spark_home = Path(distribution.__file__).parent
    settings = {**SETTINGS, "spark.connect.grpc.binding.port": "0"}
    given = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    command = [str(spark_home / "bin/spark-submit"), "--master", "local[2]", *given]
    more = {"SPARK_HOME": str(spark_home), "PYSPARK_PYTHON": sys.executable, **FRUGAL}
    server = subprocess.Popen(
        [*command, "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark"],
        cwd=home,
        env={**os.environ, **more, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    drained = None
    try:
        assert server.stderr
        said = []
        for line in server.stderr:
            said.append(line)
            if started := re.search(r"server started at: .*:(\d+)", line):
                break
        else:
            pytest.fail("".join(said))
        # What else it says must not fill the pipe.
        drained = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        yield f"sc://localhost:{started[1]}"
    finally:
        server.terminate()
        server.wait()
        if drained:
            drained.wait()


@pytest.fixture(scope="module")
def by_duckdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample's release by DuckDB, and its build folder."""
    home = tmp_path_factory.mktemp("duckdb")
    release(home)
    return home


def same_release(by_duckdb: Path, home: Path, engine: str, **environment: str) -> None:
    """The mined dump is lent, all tables are made anew, every file is the same."""
    home.mkdir(exist_ok=True)
    for mined in (by_duckdb / "build [1]").glob("mine-*"):
        shutil.copytree(mined, home / "build [1]" / mined.name)
    done = release(home, "--engine", engine, env=environment)
    assert "deltas: making" in done.stdout + done.stderr
    assert checksums(by_duckdb / "releases") == checksums(home / "releases")


@pytest.mark.slow
@pyspark
@java
def test_a_process_that_spark_submit_starts(tmp_path: Path) -> None:
    """Its settings stay; any folder will do, also one like a pattern."""
    submit = Path(sys.executable).with_name("spark-submit")
    program = f"{submit} --master local[1] --conf spark.ui.enabled=false"
    given = {**FRUGAL, "PYSPARK_PYTHON": sys.executable, "program": program}
    assert "local[1] [1, 2]\n" in opened(tmp_path, "spark", **given)


@pytest.mark.slow
@pyspark
@java
def test_two_executors(by_duckdb: Path, tmp_path: Path) -> None:
    """A cluster with two executors, each a JVM of its own, makes the sample to the byte."""
    given = two_executors(tmp_path / "spark")
    same_release(by_duckdb, tmp_path / "cluster", TWO_EXECUTORS, **given)
    assert each_had_work(tmp_path / "spark")


@pytest.mark.slow
@connect
@java
def test_connect_server(by_duckdb: Path, tmp_path: Path) -> None:
    """A Spark Connect server, met over its protocol, makes the sample to the byte."""
    with connect_server(tmp_path) as address:
        same_release(by_duckdb, tmp_path / "client", address)
