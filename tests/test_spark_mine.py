"""A dump read by tasks of a Spark: the same bytes as by one process, and what goes wrong there.

What has no Spark in it is tested without one; what is slow starts a cluster with two executors, a
Spark in a process, and a Connect server, as `tests.test_spark_cluster` does.
"""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core import spark
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.reach import reach
from factdrift.builders.wikidata import tasks
from factdrift.builders.wikidata.mine import ALIVE, mine
from factdrift.builders.wikidata.reader import DumpReading, Left
from tests import test_spark_cluster as clusters
from tests.conftest import ROOT, Done, Env, alone, checksums
from tests.conftest import run as command
from tests.dumps import shards, world
from tests.test_mine import SMALL, run

SAMPLE = resource("samples/wikidata/wikidata-20230102-all.json.gz")
pyspark = clusters.pyspark
java = clusters.java


# --- Tasks, without Spark -----------------------------------------------------------------------


class Nodes:
    """Plays Spark: has each share read, one after another, by what tasks call."""

    def __init__(self, of: int, places: list[int] | None = None, **changed: Any) -> None:
        self.of, self.places, self.changed = of, places or list(range(of)), changed
        self.said: list[str] = []

    def __call__(self, given: DumpReading, todo: Left) -> None:
        (given.parts / ALIVE).touch()
        code = self.changed.pop("code", reach(tasks.__name__).digest)
        found = {one.given.share.place: one for one in tasks.share_tasks(given, todo, self.of)}
        for task in (found[place] for place in self.places if place in found):
            task = task._replace(sizes=self.changed.get("sizes", task.sizes))
            where = {k: v for k, v in self.changed.items() if k != "sizes"}
            sent = pickle.dumps(task._replace(given=task.given._replace(**where)))
            self.said.append(tasks.read_share(code, sent))
        if len(self.places) < self.of or any(self.said):
            raise UserError("not all shares are read")


def files(folder: Path, many: int) -> Path:
    """A dump in so many files."""
    return shards(world(), folder, *["json.gz"] * many)[0].parent


def expected(dump: Path) -> dict[str, str]:
    """Checksums of the tables of a dump that is read by one process at once."""
    run(dump, dump.with_name("expected"))
    return checksums(dump.with_name("expected"))


@pytest.mark.parametrize(("many", "of"), [(1, 1), (1, 3), (1, 40), (2, 5), (5, 5), (5, 2)])
def test_shares_give_the_same_bytes(many: int, of: int, tmp_path: Path) -> None:
    dump = files(tmp_path, many)
    run(dump, tmp_path / "out", tuning=SMALL, reading=Nodes(of))
    assert checksums(tmp_path / "out") == expected(dump)


@pytest.mark.parametrize("many", [1, 4])
@pytest.mark.parametrize("again", [None, 2, 4, 7])
def test_a_stopped_run_goes_on(many: int, again: int | None, tmp_path: Path) -> None:
    """By another number of tasks, or without Spark: `None`."""
    dump, out, said = files(tmp_path, many), tmp_path / "out", list[str]()
    with pytest.raises(UserError, match="not all shares"):
        run(dump, out, tuning=SMALL, reading=Nodes(4, [0, 2]))
    run(dump, out, tuning=SMALL, reading=Nodes(again) if again else None, say=said.append)
    assert said[0].startswith("going on: ")
    assert checksums(out) == expected(dump)


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    """A task that Spark starts again, or a rerun, does not look at the files of a whole share."""
    dump, out = files(tmp_path, 3), tmp_path / "out"
    whole = expected(dump)
    with pytest.raises(UserError):
        run(dump, out, tuning=SMALL, reading=Nodes(3, [0, 1]))
    for path in (dump / "0.json.gz", dump / "1.json.gz"):
        path.write_bytes(b"!" * path.stat().st_size)
    run(dump, out, tuning=SMALL, reading=Nodes(3, [0, 0, 1, 2]))
    assert checksums(out) == whole


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"code": "0" * 16}, "a node has another factdrift than this machine\n  install"),
        ({"parts": Path("elsewhere")}, "elsewhere: a node does not see"),
        ({"files": (Path("none.gz"),)}, "none.gz: a node cannot read it: No"),
        ({"sizes": [7]}, "{home}/dump/0.json.gz: a node has another file here, of "),
    ],
)
def test_what_a_node_lacks(changed: dict[str, Any], said: str, tmp_path: Path) -> None:
    nodes = Nodes(1, **changed)
    with pytest.raises(UserError):
        run(files(tmp_path, 1), tmp_path / "out", reading=nodes)
    assert nodes.said[0].startswith(said.format(home=tmp_path))


def test_damage_is_told_and_stops_the_others(tmp_path: Path) -> None:
    dump = files(tmp_path, 3)
    whole = (dump / "1.json.gz").read_bytes()
    (dump / "1.json.gz").write_bytes(whole[: len(whole) // 2])
    nodes = Nodes(3, [0, 1, 2])
    with pytest.raises(UserError):
        run(dump, tmp_path / "out", tuning=SMALL, reading=nodes)
    assert nodes.said[0] == ""
    assert nodes.said[1].startswith(f"{dump}/1.json.gz: the file is cut short or damaged after")
    assert nodes.said[2] == tasks.STOPPED


def test_one_file_is_shared_by_a_number_that_is_said(tmp_path: Path) -> None:
    reading = tasks.by_tasks("local[2]")
    with pytest.raises(UserError, match="has to be said\n  --shards 8"):
        run(files(tmp_path, 1), tmp_path / "out", reading=reading)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shards", "3"], "--shards is for the tasks of a Spark"),
        (["--engine", "duckbd"], "no engine 'duckbd'"),
        (["--engine", "spark", "--shard", "1/2"], "--engine is for a whole dump"),
    ],
)
def test_mistakes_on_the_command_line(options: list[str], said: str, tmp_path: Path) -> None:
    done = command("mine", SAMPLE, "--out", tmp_path / "out", *options, ok=False)
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


@pyspark
def test_a_node_without_factdrift_says_so(tmp_path: Path) -> None:
    """What is sent runs where there is nothing but PySpark's packages."""
    import pyarrow as pa
    from pyspark import cloudpickle

    batch = pa.RecordBatch.from_pydict({"id": [0, 1]})
    sent = tmp_path / "sent"
    sent.write_bytes(cloudpickle.dumps((tasks.on_a_node("", [b"", b""]), batch)))  # type: ignore[no-untyped-call]
    script = "import pickle, sys; sys.modules['factdrift'] = None\n"
    script += "task, batch = pickle.loads(open('sent', 'rb').read())\n"
    script += "print([row['error'] for found in task([batch]) for row in found.to_pylist()])"
    (tmp_path / "node.py").write_text(script)
    done = alone(sys.executable, "node.py", cwd=tmp_path)
    assert done.stdout.count("a node lacks factdrift, or a part of it (") == 2
    assert "PYSPARK_PYTHON" in done.stdout


_PYTHON = """Traceback (most recent call last):
  File "/opt/spark/python/pyspark/worker.py", line 1227, in main
    func, profiler, deserializer, serializer = read_command(pickleSer, infile)
{more}{last}

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handle(PythonRunner.scala:572)
"""
_JOB = "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: "
_JOB += "Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 1): "


_BUG = """  File "/opt/lib/builders/wikidata/reader.py", line 1, in read
    1 / 0
    ~~^~~
"""


@pyspark
@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (_JOB + "ExecutorLostFailure (executor 1 exited)\nDriver stacktrace:\n\tat org.apache",
         UserError, r"^Spark gave up: ExecutorLostFailure \(executor 1 exited\)\n  again"),
        (_JOB + _PYTHON.format(more="", last="ModuleNotFoundError: No module named 'pyarrow'"),
         UserError, "^Spark gave up: ModuleNotFoundError: No module named 'pyarrow'\n  again"),
        ('Cannot run program "python9": error=2', UserError,
         '^Spark gave up: Cannot run program "python9"'),
        (_JOB + _PYTHON.format(more=_BUG, last="ZeroDivisionError: division by zero"),
         RuntimeError, r"in a task[^$]*1 / 0\n    ~~\^~~\nZeroDivisionError: division by zero$"),
    ],
    ids=["lost", "module", "program", "bug"],
)  # fmt: skip
def test_what_spark_gives_up_with_is_one_line(text: str, kind: type[Exception], said: str) -> None:
    """And a bug of ours keeps its traceback."""
    from pyspark.errors import PySparkException

    with pytest.raises(kind, match=said), spark.failures("local[2]", "again"):
        raise PySparkException(text)


# --- A real Spark -------------------------------------------------------------------------------

KILLED_ONCE = """
import os, signal, sys
if "pyspark.daemon" in sys.orig_argv:
    rename = os.rename
    def renamed(*given, **more):
        rename(*given, **more)
        if "build/parts-" in str(given[1]) and not os.path.exists({mark!r}):
            open({mark!r}, "w").write(str(given[1]))
            os.kill(os.getpid(), signal.SIGKILL)
    os.rename = renamed
"""
"""For `sitecustomize`: the first process of a task that has written a part dies at once."""
GONE = """
import os, sys
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "factdrift" and os.path.exists({mark!r}):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
if "pyspark.daemon" in sys.orig_argv:
    sys.meta_path.insert(0, Gone())
"""
"""For `sitecustomize`: nodes lack the package as long as a file is there."""
BY_TASKS = """
import sys
from pathlib import Path
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.reader import Tuning
from factdrift.builders.wikidata.tasks import by_tasks

if __name__ == "__main__":
    mine(sys.argv[1], Path("out"), undated=["P27"], snapshot="2026-01-01",
         reading=by_tasks(sys.argv[2], 5), tuning=Tuning(1 << 18, 1 << 18, 4), say=print)
"""


def customized(folder: Path, text: str) -> tuple[Path, str]:
    """A file that the text names, and a PYTHONPATH for processes that begin with the text."""
    mark = folder / "mark"
    (folder / "site").mkdir()
    (folder / "site/sitecustomize.py").write_text(text.format(mark=str(mark)))
    return mark, os.pathsep.join([str(folder / "site"), str(ROOT)])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's tables as one process mines them."""
    out = tmp_path_factory.mktemp("sample") / "mined"
    command("mine", SAMPLE, "--out", out, "--jobs", "1")
    return out


def mined(folder: Path, *words: object, ok: bool = True, env: Env | None = None) -> Done:
    command = (sys.executable, "-m", "factdrift", "mine", *words)
    return alone(*command, cwd=folder, ok=ok, env=env)


@pytest.mark.slow
@pyspark
@java
def test_two_executors_of_which_a_task_is_killed(tmp_path: Path) -> None:
    """It is done again, and goes on; the tables are those of one process."""
    mine(SAMPLE, tmp_path / "alone", undated=["P27"], snapshot="2026-01-01")
    home, given = tmp_path / "spark", clusters.two_executors(tmp_path / "spark")
    mark, path = customized(tmp_path, KILLED_ONCE)
    (tmp_path / "script.py").write_text(BY_TASKS)
    words = [sys.executable, "script.py", SAMPLE, clusters.TWO_EXECUTORS]
    done = alone(*words, cwd=tmp_path, env=given | {"PYTHONPATH": path})
    assert mark.is_file(), done.stderr
    assert clusters.each_had_work(home)
    assert checksums(tmp_path / "out") == checksums(tmp_path / "alone")


@pytest.mark.slow
@pyspark
@java
def test_a_spark_in_this_process(sample: Path, tmp_path: Path) -> None:
    """The same bytes as shares and their merge, which are those of one process; and damage."""
    for share in ("1", "2"):
        command("mine", SAMPLE, "--out", tmp_path / share, "--shard", f"{share}/2")
    command("mine", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "merged")
    damaged = tmp_path / SAMPLE.name
    data = bytearray(SAMPLE.read_bytes())
    data[len(data) // 2] ^= 0xFF
    damaged.write_bytes(data)
    spark = ["--engine", "local[2]", "--shards", "2"]
    done = mined(tmp_path, damaged, "--out", "bad", *spark, ok=False, env=clusters.FRUGAL)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert f"{damaged}: the file is cut short or damaged after" in line
    assert "Traceback" not in done.stderr
    assert "\tat org.apache" not in done.stderr
    mined(tmp_path, SAMPLE, "--out", "tasks", *spark, env=clusters.FRUGAL)
    assert checksums(tmp_path / "tasks") == checksums(tmp_path / "merged") == checksums(sample)


@pytest.mark.slow
@clusters.connect
@java
def test_connect_server(sample: Path, tmp_path: Path) -> None:
    """A server whose nodes lack factdrift is told; then they have it."""
    mark, path = customized(tmp_path, GONE)
    mark.touch()
    with clusters.connect_server(tmp_path, PYTHONPATH=path) as address:
        words = (SAMPLE, "--out", "out", "--engine", address, "--shards", "2")
        done = mined(tmp_path, *words, ok=False)
        assert done.returncode == 1
        assert "error: a node lacks factdrift, or a part of it (No module named" in done.stderr
        assert "\n  seen on " in done.stderr
        assert "Traceback" not in done.stderr
        mark.unlink()
        mined(tmp_path, *words)
    assert checksums(tmp_path / "out") == checksums(sample)
