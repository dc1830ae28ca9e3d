"""Progress off a terminal: plain lines, and none for what is quick; on one, a bar."""

import os
import select
import subprocess
import sys
import termios

import pytest

from factdrift.builders.core import progress as module
from factdrift.builders.core.progress import progress


def test_a_quick_step_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(10, "B", "reading") as bar:
        bar.advance(10)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("total", "unit", "done", "line"),
    [
        (4_000_000, "B", 1_000_000, "reading: 1.0 MB of 4.0 MB (25%), 0 s left"),
        (None, "B", 1500, "reading: 1.5 kB"),
        (None, "B", 15, "reading: 15 B"),
        (5000, "articles", 1234, "reading: 1,234 articles of 5,000 articles (25%), 0 s left"),
        (10, "B", 0, "reading: 0 B of 10 B"),
        (None, "B", 2_500_000_000_000, "reading: 2.5 TB"),
    ],
)
def test_a_line(
    total: int | None,
    unit: str,
    done: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "QUIET", 0.0)
    with progress(total, unit, "reading") as bar:
        bar.advance(done)
        bar.advance(0)
    out, err = capsys.readouterr()
    assert not out
    first, last = err.splitlines()
    assert first == line
    assert last == f"{line.split(' of ')[0]} in 0 s"


def test_a_terminal_gets_a_bar() -> None:
    code = (
        "import time; from factdrift.builders.core.progress import progress\n"
        "with progress(100, 'B', 'reading') as bar:\n"
        "    for _ in range(15): time.sleep(0.1); bar.advance(5)\n"
    )
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))  # a new one has no columns, so no room for a bar
    done = subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE)
    assert select.select([ours], [], [], 5)[0]
    shown = os.read(ours, 10_000).decode()
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert not done.stdout
    assert "reading" in shown
    assert "%|" in shown
