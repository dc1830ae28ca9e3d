"""How far a long step has come, on stderr: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Never, TextIO

from factdrift.builders.core.errors import printable

__outside_step_keys__ = True

if TYPE_CHECKING:
    from tqdm import tqdm

EVERY = 10.0
"""Seconds between plain lines; a shorter step says nothing."""


class Progress:
    """What `progress` yields."""

    def __init__(self, bar: "tqdm[Never]", more: Callable[[], str] | None) -> None:
        self._bar, self._more = bar, more

    def advance(self, amount: int) -> None:
        """Say that `n` more units are done."""
        if self._more:
            self._bar.set_postfix_str(self._more(), refresh=False)
        self._bar.update(amount)


@contextmanager
def progress(
    total: int | None, unit: str, label: str, more: Callable[[], str] | None = None
) -> Iterator[Progress]:
    """Report a step of `total` units (None: unknown), with the time that is left.

    `unit` is a word (`articles`) or `B` for bytes, printed as kB, MB, GB; `more` says what else
    there is to tell at that moment. Nothing is ever written to stdout, and off a terminal nothing
    at all for a step of less than ten seconds.
    """
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread beside processes that are forked
    terminal = sys.stderr.isatty()
    whole, left = (" of {total_fmt}", " ({percentage:.0f}%)") if total else ("", "")
    line = f"{{desc}}: {{n_fmt}}{whole}{{unit}}{left} in {{elapsed}}"
    line += (", {remaining} left" if total else "") + "{postfix}"
    with tqdm(
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=terminal or unit == "B",
        desc=label,
        file=sys.stderr if terminal else _Lines(sys.stderr),
        dynamic_ncols=terminal,
        leave=not terminal,
        delay=1.0 if terminal else EVERY,
        mininterval=0.1 if terminal else EVERY,
        miniters=None if terminal else 0,
        bar_format=None if terminal else line,
    ) as bar:
        yield Progress(bar, more)


class _Lines:
    """A stream on which each state of a bar is a line of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        if line := text.strip():
            print(line, file=self._stream, flush=True)

    def flush(self) -> None:
        self._stream.flush()


def say(line: str) -> None:
    """Tell the user what is going on."""
    print(printable(line), file=sys.stderr, flush=True)


def echo(line: str) -> None:
    """Print a line of a result to standard output."""
    print(printable(line), flush=True)
