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
    ("total", "unit", "lines_read", "line"),
    [
        (4_000_000, "B", 1_000_000, "reading: 1.00M of 4.00MB (25%) in 00:00, 00:00 left"),
        (None, "B", 1500, "reading: 1.50kB in 00:00"),
        (5000, "articles", 1234, "reading: 1234 of 5000 articles (25%) in 00:00, 00:00 left, odd"),
    ],
)
def test_a_line(
    total: int | None,
    unit: str,
    lines_read: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "EVERY", 0.0)
    with progress(total, unit, "reading", (lambda: "odd") if "odd" in line else None) as bar:
        bar.advance(lines_read)
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1] == line


def test_a_terminal_gets_a_bar() -> None:
    program_text = (
        "import time; from factdrift.builders.core.progress import progress\n"
        "with progress(100, 'B', 'reading') as bar:\n"
        "    for _ in range(15): time.sleep(0.1); bar.advance(5)\n"
    )
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))  # a new one has no columns, so no room for a bar
    lines_read = subprocess.run(
        [sys.executable, "-c", program_text], stderr=theirs, stdout=subprocess.PIPE
    )
    assert select.select([ours], [], [], 5)[0]
    terminal_text = os.read(ours, 10_000).decode()
    os.close(theirs)
    os.close(ours)
    assert lines_read.returncode == 0
    assert not lines_read.stdout
    assert "reading" in terminal_text
    assert "%|" in terminal_text
