"""Recipes side by side: lines in order, errors in their places, steps made once, and any end."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import alone
from factdrift.builders.core.parallel import told_map
from factdrift.builders.core.progress import (
    Loudness,
    is_watched,
    progress,
    say,
    say_at_once,
    set_loudness,
)
from factdrift.builders.core.sizes import divided_size
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.release.release import ReleaseOptions, shared_options
from tests.conftest import checksums, start_process
from tests.test_core_parallel import alive


def tell_and_work(number: int) -> int:
    """Say lines that a process beside this one would say meanwhile; the first takes longest."""
    say(f"{number}: begins")
    time.sleep(0.4 if number == 0 else 0.01)
    if number == 2:
        raise UserError("two is refused")
    say(f"{number}: ends")
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_stay_together_and_one_error_stops_no_other(
    jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    results = list(told_map(tell_and_work, range(5), jobs=jobs, say=say))
    assert [str(result) for result in results] == ["0", "1", "two is refused", "3", "4"]
    assert capsys.readouterr().err.splitlines() == [
        f"{number}: {word}"
        for number in range(5)
        for word in ("begins", "ends")
        if (number, word) != (2, "ends")
    ]


def announce_and_work(begun_path: Path) -> str:
    """Say what begins and, as the first item, wait until another one has begun."""
    say_at_once(f"building {begun_path.name}")
    begun_path.touch()
    while begun_path.name == "0" and len([*begun_path.parent.iterdir()]) == 1:
        time.sleep(0.02)
    say(f"{begun_path.name} is done")
    return begun_path.name


def test_what_is_said_at_once_does_not_wait_for_its_turn(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    items = [tmp_path / str(number) for number in range(3)]
    assert list(told_map(announce_and_work, items, jobs=2, say=say)) == ["0", "1", "2"]
    lines = capfd.readouterr().err.splitlines()
    assert all(line.startswith("building ") for line in lines[:2])
    assert [line for line in lines if "done" in line] == [f"{item.name} is done" for item in items]


@pytest.mark.parametrize(
    ("is_terminal", "loudness", "watched"),
    [(True, "usual", True), (True, "quiet", False), (False, "usual", False)],
)
def test_only_who_sits_at_a_terminal_watches(
    is_terminal: bool, loudness: Loudness, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    set_loudness(loudness)
    try:
        assert is_watched() is watched
    finally:
        set_loudness("usual")


@pytest.mark.parametrize(
    ("memory", "parts", "part"),
    [
        ("4GB", 2, "2GB"),
        ("3 GB", 2, "1.5 GB"),
        ("600MB", 4, "150MB"),
        ("1.5GiB", 3, "0.5GiB"),
        ("4GB", 1, "4GB"),
        ("3000000MB", 2, "1500000MB"),
    ],
)
def test_the_memory_is_shared(memory: str, parts: int, part: str) -> None:
    assert divided_size(memory, parts) == part
    options = shared_options(ReleaseOptions(memory=memory, jobs=parts), parts)
    assert (options.memory, options.jobs) == (part, 1)


class Slow(Step):
    """A step that takes a while, and counts how often it is made."""

    name: ClassVar[str] = "slow"

    notes: str

    def make(self, out: Path, workspace: Workspace) -> None:
        Path(self.notes, str(os.getpid())).touch()
        time.sleep(0.5)
        (out / "table").write_text("made")


def use_slow(place: tuple[Path, Path, Path]) -> str:
    """Open the same step as a build beside this one, and take the checksum of another file."""
    root, notes, input_file = place
    workspace = Workspace(root, say)
    workspace.checksum(input_file)
    return (workspace.folder(Slow(notes=str(notes))) / "table").read_text()


def test_a_step_that_two_need_is_made_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    places = []
    for number in range(4):
        (tmp_path / f"input-{number}").write_text(f"text {number}")
        places.append((tmp_path / "build", notes, tmp_path / f"input-{number}"))
    results = list(told_map(use_slow, places, jobs=2, say=say))
    assert results == ["made"] * 4
    assert len([*notes.iterdir()]) == 1
    said_words = [line.split()[1] for line in capsys.readouterr().err.splitlines()]
    assert sorted(said_words) == ["making", "reused", "reused", "reused"]
    remembered = (tmp_path / "build" / "checksums.json").read_text()
    assert all(f"input-{number}" in remembered for number in range(4))


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    """However it ended: no file that it left behind holds another one up."""
    program_text = (
        "import sys, time\nfrom pathlib import Path\n"
        "from factdrift.builders.core.files import alone\n"
        "with alone(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)\n"
    )
    process = start_process(sys.executable, "-c", program_text, tmp_path / "locks" / "step")
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    with alone(tmp_path / "locks" / "step"):
        pass


def show_bar(folder: Path) -> None:
    """Work on something with a bar for ever."""
    with progress(3, "rows", "a step") as bar:
        bar.advance(1)
        (folder / str(os.getpid())).touch()
        time.sleep(600)


BARS = """
import sys
from pathlib import Path
from factdrift.builders.core.parallel import ordered_map
from tests.test_side_by_side import show_bar

try:
    list(ordered_map(show_bar, [Path(sys.argv[1])] * 4, jobs=2))
except KeyboardInterrupt:
    sys.exit("stopped")
"""


def test_a_bar_leaves_nothing_behind_in_a_process_that_is_ended(tmp_path: Path) -> None:
    """Bars had a lock of the system's each, and Python complained of those at its end."""
    process = start_process(sys.executable, "-c", BARS, tmp_path)
    wait_until(lambda: len([*tmp_path.iterdir()]) == 2, process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=300)[1] == "stopped\n"
    assert not alive(tmp_path)


def wait_until(has_happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that a process does; it must not end before."""
    while not has_happened():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


# --- Real recipes ---------------------------------------------------------------------------------

RECIPES = ("invariant-lama", "wmt-question-dates")


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes in which recipes are built."""
    ids = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [
        int(number)
        for number in ids
        if b"spawn_main" in Path("/proc", number, "cmdline").read_bytes()
    ]


def end_with_ctrl_c(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def end_a_child(process: subprocess.Popen[str]) -> None:
    os.kill(children(process)[0], signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "status", "last_lines"),
    [
        (end_with_ctrl_c, 130, "interrupted: the same command goes on from here\n"),
        (
            end_a_child,
            1,
            "error: a working process died\n  if memory ran out, give fewer jobs\n",
        ),
    ],
)
def test_a_run_that_is_ended_goes_on(
    end: Callable[[subprocess.Popen[str]], None],
    status: int,
    last_lines: str,
    sample: Path,
    tmp_path: Path,
) -> None:
    """Nothing is left but whole steps and releases, and nothing is said of what was cut off."""
    out, build = tmp_path / "releases", tmp_path / "build"
    words = ("-m", "factdrift", "release", *RECIPES, "--out", out, "--build", build)
    process = start_process(sys.executable, *words)
    # both are at work, one in a step
    wait_until(lambda: len([*build.glob(".*.tmp")]) > 0 and len(children(process)) == 2, process)
    time.sleep(1)
    process_ids = children(process)
    end(process)
    _, printed = process.communicate(timeout=300)
    assert process.returncode == status
    assert printed == "2 recipes, 2 at a time, each told when it is done\n" + last_lines
    assert not any(Path("/proc", str(number)).exists() for number in process_ids)
    assert {path.name for path in out.glob("*/*") if path.name != ".publishing"} <= {"1.0.0"}
    going_on = start_process(sys.executable, *words)
    stdout, _ = going_on.communicate(timeout=600)
    assert stdout.splitlines() == [str(out / name / "1.0.0") for name in RECIPES]
    for name in RECIPES:
        assert checksums(out / name) == checksums(sample / "releases" / name)


@pytest.mark.slow
def test_a_recipe_that_fails_is_told_in_its_place_and_the_others_are_whole(
    sample: Path, tmp_path: Path
) -> None:
    """The first one finds a version of its name that is no release."""
    out = tmp_path / "releases"
    (out / "invariant-lama" / "1.0.0").mkdir(parents=True)
    (out / "invariant-lama" / "1.0.0" / "manifest.json").write_text("{}")
    words = ("-m", "factdrift", "release", *RECIPES, "--out", out, "--build", tmp_path / "build")
    process = start_process(sys.executable, *words, "--version", "1.0.0")
    stdout, printed = process.communicate(timeout=600)
    assert (process.returncode, stdout) == (1, "")
    heads = [line for line in printed.splitlines() if re.match(r"[a-z]", line)]
    assert [line.split(":")[0] for line in heads] == [
        "invariant-lama",
        "error",
        "wmt-question-dates",
        "finished",
        "error",
    ]
    assert heads[1].startswith("error: invariant-lama: ") and "manifest.json" in heads[1]
    assert heads[-1] == "error: 1 of 2 recipes failed: invariant-lama"
    name = "wmt-question-dates"
    assert checksums(out / name) == checksums(sample / "releases" / name)
