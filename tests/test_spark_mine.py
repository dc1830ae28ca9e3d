"""A dump read by tasks of a Spark: the same bytes as by one process, and what goes wrong there.

What has no Spark in it is tested without one; what is slow starts a cluster with two executors, a
Spark in a process, and a Connect server, as `tests.test_spark_cluster` does.
"""

import os
import pickle
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core import spark
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.reach import reach
from factdrift.builders.wikidata import tasks
from factdrift.builders.wikidata.mine import ALIVE_FILE, mine
from factdrift.builders.wikidata.reader import DumpReading, RemainingWork
from tests import test_spark_cluster as clusters
from tests.conftest import ROOT, checksums, run_process
from tests.conftest import run_cli as command
from tests.dumps import shards, world
from tests.tables import case_lists
from tests.test_mine import SMALL, run

SAMPLE = resource("samples/wikidata/wikidata-20230102-all.json.gz")
pyspark = clusters.pyspark
java = clusters.java


# --- Tasks, without Spark -----------------------------------------------------------------------


class Nodes:
    """Plays Spark: has each share read, one after another, by what tasks call."""

    def __init__(self, share_count: int, places: list[int] | None = None, **changed: Any) -> None:
        self.share_count, self.places, self.changed = (
            share_count,
            places or list(range(share_count)),
            changed,
        )
        self.said: list[str] = []

    def __call__(self, dump_reading: DumpReading, todo: RemainingWork) -> None:
        (dump_reading.parts / ALIVE_FILE).touch()
        code = self.changed.pop("code", reach(tasks.__name__).digest)
        tasks_by_place = {
            node.dump_reading.share.place: node
            for node in tasks.share_tasks(dump_reading, todo, self.share_count)
        }
        for task in (tasks_by_place[place] for place in self.places if place in tasks_by_place):
            task = task._replace(sizes=self.changed.get("sizes", task.sizes))
            where = {key: value for key, value in self.changed.items() if key != "sizes"}
            sent_task = pickle.dumps(
                task._replace(dump_reading=task.dump_reading._replace(**where))
            )
            self.said.append(tasks.read_share(code, sent_task))
        if len(self.places) < self.share_count or any(self.said):
            raise UserError("not all shares are read")


def files(folder: Path, file_count: int) -> Path:
    """A dump in so many files."""
    return shards(world(), folder, *["json.gz"] * file_count)[0].parent


def expected(dump: Path) -> dict[str, str]:
    """Checksums of the tables of a dump that is read by one process at once."""
    run(dump, dump.with_name("expected"))
    return checksums(dump.with_name("expected"))


@pytest.mark.parametrize(
    ("file_count", "share_count"), [(1, 1), (1, 3), (1, 40), (2, 5), (5, 5), (5, 2)]
)
def test_shares_give_the_same_bytes(file_count: int, share_count: int, tmp_path: Path) -> None:
    dump = files(tmp_path, file_count)
    run(dump, tmp_path / "out", tuning=SMALL, reading=Nodes(share_count))
    assert checksums(tmp_path / "out") == expected(dump)


@pytest.mark.parametrize("file_count", [1, 4])
@pytest.mark.parametrize("again", [None, 2, 4, 7])
def test_a_stopped_run_goes_on(file_count: int, again: int | None, tmp_path: Path) -> None:
    """By another number of tasks, of which Spark starts one twice, or without Spark: `None`."""
    dump, out, said_lines = files(tmp_path, file_count), tmp_path / "out", list[str]()
    whole_tables = expected(dump)
    with pytest.raises(UserError, match="not all shares"):
        run(dump, out, tuning=SMALL, reading=Nodes(4, [0, 2]))
    for name in (
        ("0.json.gz", "2.json.gz") if file_count == 4 else ()
    ):  # files that nobody opens again
        (dump / name).write_bytes(b"!" * (dump / name).stat().st_size)
    nodes = Nodes(again, [0, *range(again)]) if again else None
    run(dump, out, tuning=SMALL, reading=nodes, say=said_lines.append)
    assert said_lines[0].startswith("going on: ")
    assert checksums(out) == whole_tables


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
    whole_bytes = (dump / "1.json.gz").read_bytes()
    (dump / "1.json.gz").write_bytes(whole_bytes[: len(whole_bytes) // 2])
    nodes = Nodes(3, [0, 1, 2])
    with pytest.raises(UserError):
        run(dump, tmp_path / "out", tuning=SMALL, reading=nodes)
    assert nodes.said[0] == ""
    assert nodes.said[1].startswith(f"{dump}/1.json.gz: the file is cut short or damaged after")
    assert nodes.said[2] == tasks.STOPPED


def test_one_file_is_shared_by_a_number_that_is_said(tmp_path: Path) -> None:
    reading = tasks.spark_reader("local[2]")
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
    completed = command("mine", SAMPLE, "--out", tmp_path / "out", *options, ok=False)
    assert said in completed.stderr
    assert not (tmp_path / "out").exists()


@pyspark
def test_a_node_without_factdrift_says_so(tmp_path: Path) -> None:
    """What is sent runs where there is nothing but PySpark's packages."""
    import pyarrow as pa
    from pyspark import cloudpickle

    batch = pa.RecordBatch.from_pydict({"id": [0, 1]})
    sent_folder = tmp_path / "sent"
    sent_folder.write_bytes(cloudpickle.dumps((tasks.node_function("", [b"", b""]), batch)))  # type: ignore[no-untyped-call]
    script = "import pickle, sys; sys.modules['factdrift'] = None\n"
    script += "task, batch = pickle.loads(open('sent', 'rb').read())\n"
    script += "print([row['error'] for found in task([batch]) for row in found.to_pylist()])"
    (tmp_path / "node.py").write_text(script)
    completed = run_process(sys.executable, "node.py", cwd=tmp_path)
    assert completed.stdout.count("a node lacks factdrift, or a part of it (") == 2
    assert "PYSPARK_PYTHON" in completed.stdout


@pyspark
@pytest.mark.parametrize(("text", "kind", "said"), case_lists("spark_failures")["failures"])
def test_what_spark_gives_up_with_is_one_line(text: str, kind: str, said: str) -> None:
    """And a bug of ours keeps its traceback."""
    from pyspark.errors import PySparkException

    expected = {"UserError": UserError, "RuntimeError": RuntimeError}[kind]
    with pytest.raises(expected, match=said), spark.failures("local[2]", "again"):
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
BY_TASKS = """
import sys
from pathlib import Path
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.reader import Tuning
from factdrift.builders.wikidata.tasks import spark_reader

if __name__ == "__main__":
    mine(sys.argv[1], Path("out"), undated=["P27"], snapshot="2026-01-01",
         reading=spark_reader(sys.argv[2], 5), tuning=Tuning(1 << 18, 1 << 18, 4), say=print)
"""


@pytest.mark.slow
@pyspark
@java
def test_two_executors_of_which_a_task_is_killed(tmp_path: Path) -> None:
    """It is done again, and goes on; the tables are those of one process."""
    mine(SAMPLE, tmp_path / "alone", undated=["P27"], snapshot="2026-01-01")
    home, settings = tmp_path / "spark", clusters.two_executors(tmp_path / "spark")
    mark, site = tmp_path / "mark", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(KILLED_ONCE.format(mark=str(mark)))
    (tmp_path / "script.py").write_text(BY_TASKS)
    words = [sys.executable, "script.py", SAMPLE, clusters.TWO_EXECUTORS]
    path = os.pathsep.join([str(site), str(ROOT)])
    completed = run_process(*words, cwd=tmp_path, env=settings | {"PYTHONPATH": path})
    assert mark.is_file(), completed.stderr
    assert clusters.each_had_work(home)
    assert checksums(tmp_path / "out") == checksums(tmp_path / "alone")


@pytest.mark.slow
@clusters.connect
@java
@pytest.mark.parametrize("where", ["local[2]", "a Connect server"])
def test_a_spark_elsewhere_gives_the_same(where: str, tmp_path: Path) -> None:
    """The tables of one process; and damage is one line."""
    command("mine", SAMPLE, "--out", tmp_path / "alone", "--jobs", "1")
    data = bytearray(SAMPLE.read_bytes())
    data[len(data) // 2] ^= 0xFF
    damaged = tmp_path / SAMPLE.name
    damaged.write_bytes(data)
    server = nullcontext(where) if where == "local[2]" else clusters.connect_server(tmp_path)
    with server as address:
        mine_by = [sys.executable, "-m", "factdrift", "mine", "--engine", address, "--shards", "2"]
        run_process(*mine_by, SAMPLE, "--out", "out", cwd=tmp_path, env=clusters.FRUGAL)
        completed = run_process(*mine_by, damaged, "--out", "bad", cwd=tmp_path, ok=False)
    assert checksums(tmp_path / "out") == checksums(tmp_path / "alone")
    assert completed.returncode == 1
    (line,) = [line for line in completed.stderr.splitlines() if line.startswith("error: ")]
    assert f"{damaged}: the file is cut short or damaged after" in line
    assert ("\n  seen on " in completed.stderr) == (where != "local[2]")
    assert "Traceback" not in completed.stderr
    assert "\tat org.apache" not in completed.stderr
