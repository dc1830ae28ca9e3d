"""Kills, full disks, rivals, broken lines and bad servers, by the thousand: `make torture`.

Every case has a campaign and a number, and all that is random in it comes from the seed and these
two: `python -m torture --seed 1 --case kills/17` does one case again.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/torture"


@dataclass(frozen=True)
class Outcome:
    """What came of so many tries of one kind; `losses` says what was lost, none: all is well."""

    kind: str
    tried: int = 1
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Campaign:
    """Cases by number; one case may try several things. `prepare` makes what all of them need."""

    name: str
    what: str
    case: Callable[[Random, int, Path], Iterator[Outcome]]
    prepare: Callable[[Path], None] = field(default=lambda work: None)


def chance(seed: int, campaign: str, number: int) -> Random:
    """The generator of one case."""
    return Random(f"{seed}/{campaign}/{number}")


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
