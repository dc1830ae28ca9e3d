"""How far a long step has come, on stderr: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Never, Protocol, TextIO

from factdrift.builders.core.errors import printable

if TYPE_CHECKING:
    from tqdm import tqdm

QUIET = 1.0
"""Seconds before the first plain line: a shorter step says nothing."""
EVERY = 10.0
"""Seconds between plain lines."""


class Progress(Protocol):
    """What `progress` yields."""

    def advance(self, n: int) -> None:
        """Say that `n` more units are done."""


@contextmanager
def progress(
    total: int | None, unit: str, label: str, more: Callable[[], str] | None = None
) -> Iterator[Progress]:
    """Report a step of `total` units (None: unknown), with the time that is left.

    `unit` is a word (`articles`) or `B` for bytes, printed as kB, MB, GB; `more` says what else
    there is to tell at that moment. Nothing is ever written to stdout, and off a terminal nothing
    at all for a step of less than a second.
    """
    stream = sys.stderr
    if not stream.isatty():
        lines = _Lines(total, unit, label, stream, more)
        yield lines
        lines.close()
        return
    from tqdm import tqdm

    with tqdm(
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=True,
        desc=label,
        file=stream,
        dynamic_ncols=True,
        leave=False,
        delay=QUIET,
    ) as bar:
        yield _Bar(bar, more)


class _Bar:
    def __init__(self, bar: "tqdm[Never]", more: Callable[[], str] | None) -> None:
        self._bar, self._more = bar, more

    def advance(self, n: int) -> None:
        if self._more:
            self._bar.set_postfix_str(self._more(), refresh=False)
        self._bar.update(n)


class _Lines:
    def __init__(
        self,
        total: int | None,
        unit: str,
        label: str,
        stream: TextIO,
        more: Callable[[], str] | None = None,
    ) -> None:
        self._total, self._unit, self._label, self._stream = total, unit, label, stream
        self._more = more
        self._began = time.monotonic()
        self._due = self._began + QUIET
        self._done = 0
        self._spoke = False

    def advance(self, n: int) -> None:
        self._done += n
        now = time.monotonic()
        if now >= self._due:
            self._due = now + EVERY
            self._say(now)

    def close(self) -> None:
        if self._spoke:
            took = _clock(time.monotonic() - self._began)
            self._print(f"{_amount(self._done, self._unit)} in {took}")

    def _say(self, now: float) -> None:
        self._spoke = True
        text = _amount(self._done, self._unit)
        if self._total:
            text += f" of {_amount(self._total, self._unit)}"
            if self._done:
                left = (now - self._began) * max(self._total - self._done, 0) / self._done
                text += f" ({self._done / self._total:.0%}), {_clock(left)} left"
        self._print(f"{text}; {self._more()}" if self._more else text)

    def _print(self, text: str) -> None:
        print(f"{self._label}: {text}", file=self._stream, flush=True)


def _amount(n: float, unit: str) -> str:
    """`1,234 articles`, `56.7 MB`."""
    if unit != "B":
        return f"{n:,.0f} {unit}"
    prefixes = ["", "k", "M", "G", "T"]
    while n >= 1000 and len(prefixes) > 1:
        n /= 1000
        prefixes.pop(0)
    return f"{n:.1f} {prefixes[0]}B" if prefixes[0] else f"{n:.0f} B"


def _clock(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02} min"


def say(line: str) -> None:
    """Tell the user what is going on."""
    print(printable(line), file=sys.stderr, flush=True)


def echo(line: str) -> None:
    """Print a line of a result to standard output."""
    print(printable(line), flush=True)
