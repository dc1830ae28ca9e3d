"""Runs that are killed, stopped or lose a process; a rerun goes on and gives the same bytes."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.reader import Tuning
from tests.conftest import checksums, start_process
from tests.dumps import shards, world
from tests.test_mine import run

SLOW = pytest.mark.slow
# about 70 blocks of a small dump: a run can be killed in its middle
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
        mine(sorted((folder / "dump").iterdir()), folder / "out", undated=["P27"],
             snapshot="2026-01-01", jobs=jobs, tuning=Tuning(1 << 17, 1 << 17, 1), say=print)
    except UserError as error:
        sys.exit(f"UserError: {error}")
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards of about 70 blocks, and in `expected` the tables of them."""
    folder = tmp_path_factory.mktemp("resume")
    dump_entities = [{**entity, "padding": "x" * 60_000} for entity in world(420)]
    run(shards(dump_entities, folder, "json", "json.gz", "json"), folder / "expected")
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A folder with these shards."""
    shutil.copytree(whole / "dump", tmp_path / "dump")
    (tmp_path / "run.py").write_text(SCRIPT)
    return tmp_path


def start(folder: Path, jobs: int) -> subprocess.Popen[str]:
    return start_process(sys.executable, folder / "run.py", folder, jobs)


def parts(folder: Path) -> int:
    return len(list((folder / "out").glob("build/parts-*/0*")))


def first_is_whole(folder: Path) -> bool:
    """Whether the first shard was read to its end, and the parts of all its blocks are there."""
    for summary_path in (folder / "out").glob("build/parts-*/shard-000000.json"):
        blocks = json.loads(summary_path.read_text())["blocks"]
        return bool(blocks == len(list(summary_path.parent.glob("000000-*"))))
    return False


def until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something holds; the process must not have ended before."""
    end = time.monotonic() + 300
    while not true() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    assert process.poll() is None, process.communicate()[1]


def killed(folder: Path, jobs: int, is_time: Callable[[], bool]) -> None:
    """A run that is killed as soon as something holds."""
    process = start(folder, jobs)
    until(is_time, process)
    process.kill()
    process.communicate()


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes that read for this one; multiprocessing has another, the resource tracker."""
    child_ids = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = {
        int(process_id): Path(f"/proc/{process_id}/cmdline").read_bytes()
        for process_id in child_ids
    }
    return [process_id for process_id, line in lines.items() if b"resource_tracker" not in line]


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process that ends by itself wrote; only one that hangs takes so long."""
    return process.communicate(timeout=300)


def rerun(folder: Path, whole: Path, jobs: int) -> str:
    """What a second run says, which makes the tables."""
    process = start(folder, jobs)
    printed_text, errors = ended(process)
    assert process.returncode == 0, errors
    assert "Exception ignored" not in errors
    assert checksums(folder / "out") == checksums(whole / "expected")
    return printed_text


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs /proc")
@pytest.mark.parametrize(
    ("how", "jobs", "again"),
    [
        ("killed", 2, 1),
        ("a reader is killed", 2, 2),
        pytest.param("ctrl-c", 2, 2, marks=SLOW),
        pytest.param("killed", 1, 2, marks=SLOW),
        pytest.param("ctrl-c", 1, 1, marks=SLOW),
    ],
)
def test_a_stopped_run_goes_on(how: str, jobs: int, again: int, folder: Path, whole: Path) -> None:
    """No process outlives it, nor memory with a name that nobody would remove."""
    process = start(folder, jobs)
    until(lambda: first_is_whole(folder) and parts(folder) > 80, process)
    process.send_signal(signal.SIGSTOP)  # so that it does not end meanwhile
    readers = children(process)
    assert len(readers) == (jobs if jobs > 1 else 0)
    maps = [Path(f"/proc/{pid}/maps") for pid in readers]
    until(lambda: all("memfd:blocks" in path.read_text() for path in maps), process)
    with pytest.raises(UserError, match="another run is at work"):
        run(sorted((folder / "dump").iterdir()), folder / "out", tuning=TUNING)
    if how == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)
    else:
        os.kill(process.pid if how == "killed" else readers[0], signal.SIGKILL)
    process.send_signal(signal.SIGCONT)
    errors = [line for line in ended(process)[1].splitlines() if "reading the dump: " not in line]
    assert process.returncode == (-signal.SIGKILL if how == "killed" else 1)
    if how != "killed":
        what = "stopped" if how == "ctrl-c" else "a working process died"
        assert errors[0] == f"UserError: {what}"
        assert "run the same command again" in errors[1] or "a rerun goes on" in errors[1]
        assert len(errors) == 2
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in readers):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert not (folder / "out/mined.json").exists()
    part_names = parts(folder)
    # a shard that is done is not opened again: nobody sees that it is gone to rack and ruin
    (folder / "dump/0.json").write_bytes(b"!" * (folder / "dump/0.json").stat().st_size)
    going_on = re.search(r"going on: (\d+) blocks and \d+ whole", rerun(folder, whole, again))
    assert going_on
    assert int(going_on[1]) >= part_names


@SLOW
def test_tasks_of_a_killed_run_are_waited_for(folder: Path, whole: Path) -> None:
    killed(folder, 1, lambda: parts(folder) > 10)
    [half] = (folder / "out/build").glob("parts-*")
    with (half / ".reading").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        second_run = start(folder, 1)
        time.sleep(1)
        assert second_run.poll() is None
        assert not (folder / "out/mined.json").exists()
    errors = ended(second_run)[1]
    assert second_run.returncode == 0, errors
    assert checksums(folder / "out") == checksums(whole / "expected")


@pytest.mark.slow
def test_other_relations_or_files_start_anew(folder: Path) -> None:
    paths = sorted((folder / "dump").iterdir())
    killed(folder, 1, lambda: parts(folder) > 10)
    printed_text: list[str] = []
    run(paths, folder / "other", work=folder / "out/build", undated=["P54"], tuning=TUNING)
    run(
        paths[1:],
        folder / "fewer",
        work=folder / "out/build",
        tuning=TUNING,
        say=printed_text.append,
    )
    assert not printed_text
