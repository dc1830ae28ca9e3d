"""Kills, full disks, rivals, broken lines and bad servers, by the thousand: `make torture`.

Every case has a campaign and a number, and all that is random in it comes from the seed and these
two: `python -m torture --seed 1 --case kills/17` does one case again.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/torture"


class Outcome(NamedTuple):
    """What came of so many tries of one kind; `losses`: what was lost."""

    kind: str
    tried: int = 1
    losses: tuple[str, ...] = ()


class HangsError(BaseException):
    """Something took too long. No `except` of the program catches it."""


@contextmanager
def not_for_ever(seconds: int) -> Iterator[None]:
    """`HangsError` after so many seconds in the body; in a program's first thread alone."""

    def late(*_: object) -> None:
        raise HangsError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def scratch(work: Path) -> Iterator[Path]:
    """A new folder of one case, which is gone afterwards."""
    work.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=work, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
