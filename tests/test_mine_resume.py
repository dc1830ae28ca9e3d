"""Runs that are killed, stopped or lose a process; a rerun goes on and gives the same bytes."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.reader import Tuning
from tests.dumps import array, compressed, world
from tests.test_mine import run, sums

SLOW = pytest.mark.slow
TUNING = Tuning(block=1 << 17, longest=1 << 17, blocks=1)
SCRIPT = """
import sys
from pathlib import Path
from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.reader import Tuning

if __name__ == "__main__":
    folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
    try:
        mine(sorted(folder.glob("shard-*")), folder / "out", undated=["P27"],
             snapshot="2026-01-01", jobs=jobs, tuning=Tuning(1 << 17, 1 << 17, 1), say=print)
    except UserError as error:
        sys.exit(f"UserError: {error}")
"""


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards of about 70 blocks, and in `expected` the tables of them."""
    folder = tmp_path_factory.mktemp("resume")
    given = [{**entity, "descriptions": "x" * 60_000} for entity in world(420)]
    for n, form in enumerate(("json", "json.gz", "json")):
        compressed(array(given[n * 150 : (n + 1) * 150]), folder / f"shard-{n}.{form}")
    run(sorted(folder.glob("shard-*")), folder / "expected")
    return folder


@pytest.fixture
def folder(shards: Path, tmp_path: Path) -> Path:
    """A folder with these shards."""
    for path in shards.glob("shard-*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "run.py").write_text(SCRIPT)
    return tmp_path


def start(folder: Path, jobs: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(folder / "run.py"), str(folder), str(jobs)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def parts(folder: Path) -> int:
    return len(list((folder / "out").glob("build/parts-*/0*")))


def first_is_whole(folder: Path) -> bool:
    """Whether the first shard was read to its end, and the parts of all its blocks are there."""
    for about in (folder / "out").glob("build/parts-*/shard-000000.json"):
        blocks = json.loads(about.read_text())["blocks"]
        return bool(blocks == len(list(about.parent.glob("000000-*"))))
    return False


def until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something holds; the process must not have ended before."""
    end = time.monotonic() + 300
    while not true() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    assert process.poll() is None, process.communicate()[1]


def killed(folder: Path, jobs: int, at: Callable[[], bool]) -> None:
    """A run that is killed as soon as something holds."""
    process = start(folder, jobs)
    until(at, process)
    process.kill()
    process.communicate()


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes that read for this one; multiprocessing has another, the resource tracker."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = {int(p): Path(f"/proc/{p}/cmdline").read_bytes() for p in found}
    return [p for p, line in lines.items() if b"resource_tracker" not in line]


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process that ends by itself wrote; only one that hangs takes so long."""
    return process.communicate(timeout=300)


def rerun(folder: Path, jobs: int) -> str:
    process = start(folder, jobs)
    said, errors = ended(process)
    assert process.returncode == 0, errors
    assert "Exception ignored" not in errors
    return said


def same(folder: Path, shards: Path) -> bool:
    return sums(folder / "out") == sums(shards / "expected")


@pytest.mark.parametrize(("jobs", "again"), [pytest.param(1, 2, marks=SLOW), (2, 1)])
def test_killed_in_the_middle(jobs: int, again: int, folder: Path, shards: Path) -> None:
    killed(folder, jobs, lambda: first_is_whole(folder) and parts(folder) > 80)
    assert not (folder / "out/mined.json").exists()
    done = parts(folder)
    # a shard that is done is not opened again: nobody sees that it is gone to rack and ruin
    size = (folder / "shard-0.json").stat().st_size
    (folder / "shard-0.json").write_bytes(b"!" * size)
    going_on = re.search(r"going on: (\d+) blocks and \d+ whole files", rerun(folder, again))
    assert going_on
    assert int(going_on[1]) >= done
    assert same(folder, shards)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_reading_process_that_is_killed_is_an_error(folder: Path, shards: Path) -> None:
    process = start(folder, 2)
    until(lambda: parts(folder) > 25, process)
    os.kill(children(process)[0], signal.SIGKILL)
    errors = ended(process)[1]
    assert process.returncode == 1
    assert "UserError: a working process died" in errors
    assert "a rerun goes on where this run stopped" in errors
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    assert "going on" in rerun(folder, 2)
    assert same(folder, shards)


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=SLOW), 2])
def test_ctrl_c_stops_cleanly(jobs: int, folder: Path, shards: Path) -> None:
    process = start(folder, jobs)
    until(lambda: parts(folder) > 50, process)
    os.killpg(process.pid, signal.SIGINT)
    errors = ended(process)[1]
    assert process.returncode == 1
    lines = [line for line in errors.splitlines() if not line.startswith("reading the dump: ")]
    assert "\n".join(lines).startswith("UserError: stopped\n  run the same command again")
    assert "Traceback" not in errors
    assert "going on" in rerun(folder, jobs)
    assert same(folder, shards)


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs /proc")
def test_nothing_outlives_a_run_that_is_killed(folder: Path) -> None:
    """No process, and no memory with a name that nobody would remove."""
    process = start(folder, 2)
    until(lambda: parts(folder) > 20 and len(children(process)) == 2, process)
    readers = children(process)

    def maps() -> list[str]:
        return [Path(f"/proc/{pid}/maps").read_text() for pid in (process.pid, *readers)]

    until(lambda: all("memfd:blocks" in one for one in maps()), process)
    assert not any("/dev/shm/psm_" in one for one in maps())
    process.kill()
    process.communicate()
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in readers):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_two_runs_in_one_folder(folder: Path) -> None:
    paths = sorted(folder.glob("shard-*"))
    process = start(folder, 1)
    until(lambda: parts(folder) > 10, process)
    with pytest.raises(UserError, match="another run is at work"):
        run(paths, folder / "out", tuning=TUNING)
    process.kill()
    process.communicate()


@SLOW
def test_tasks_of_a_killed_run_are_waited_for(folder: Path, shards: Path) -> None:
    killed(folder, 1, lambda: parts(folder) > 10)
    [half] = (folder / "out/build").glob("parts-*")
    with (half / ".reading").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        second = start(folder, 1)
        time.sleep(1)
        assert second.poll() is None
        assert not (folder / "out/mined.json").exists()
    errors = ended(second)[1]
    assert second.returncode == 0, errors
    assert same(folder, shards)


def test_other_relations_or_files_start_anew(folder: Path) -> None:
    paths = sorted(folder.glob("shard-*"))
    killed(folder, 1, lambda: parts(folder) > 10)
    said: list[str] = []
    run(paths, folder / "other", work=folder / "out/build", undated=["P54"], tuning=TUNING)
    run(paths[1:], folder / "fewer", work=folder / "out/build", tuning=TUNING, say=said.append)
    assert not said
