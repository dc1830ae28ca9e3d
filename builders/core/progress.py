"""What users see: progress of long steps on stderr, messages, results, and errors of the program.

Every message is written by `say` or `echo`, which escape control characters: texts of others, such
as a label or an answer of a server, would otherwise tell a terminal what to do. `say` writes to
stderr what the program tells on its way; `echo` writes to stdout the result alone, such as the
folder that was made, so that `$(factdrift release …)` is that folder. How much is said on the way
is set by `set_loudness`.
"""

import json
import logging
import re
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Never, TextIO

from factdrift.builders.core.errors import printable

__outside_step_keys__ = True

if TYPE_CHECKING:
    from tqdm import tqdm

EVERY = 10.0
"""Seconds between plain lines: few enough lines for a log. A shorter step prints nothing."""
Loudness = Literal["quiet", "usual", "verbose"]
"""`quiet`: warnings, errors and questions alone; `verbose`: with times, and what libraries log."""
_URGENT = re.compile(r"\s*(?:warning|error): |.*\[y/N\]")
"""The beginning of a line that is said in any case.

It matches `warning: no row in 2021Q3` and `  go on? [y/N]`, but not `  mine: reused`.
"""


_BAR_LOCK = threading.RLock()


class _Voice:
    """How loud the program is, and when it began."""

    loudness: Loudness = "usual"
    start = time.monotonic()
    listener: Callable[[str], None] | None = None


def set_loudness(loudness: Loudness) -> None:
    """Set how much `say` and `progress` write from now on, and what of libraries' logs is said."""
    _Voice.loudness = loudness
    logging.root.setLevel(logging.INFO if loudness == "verbose" else logging.WARNING)


def is_verbose() -> bool:
    """Whether the user wants to see what is usually left out."""
    return _Voice.loudness == "verbose"


class Progress:
    """The bar of one step, as `progress` yields it."""

    def __init__(self, bar: "tqdm[Never]", more: Callable[[], str] | None) -> None:
        self._bar, self._more = bar, more

    def expect(self, total: int) -> None:
        """Report that the step has another number of units than was thought."""
        self._bar.total = max(total, self._bar.n)

    def advance(self, amount: int) -> None:
        """Report that more units are done."""
        if self._more:
            self._bar.set_postfix_str(printable(self._more()), refresh=False)
        self._bar.update(amount)


@contextmanager
def progress(
    total: int | None, unit: str, label: str, more: Callable[[], str] | None = None
) -> Iterator[Progress]:
    """Report the progress of a step of `total` units, with the remaining time.

    `total` is None if it is not known. `unit` is a word such as `articles`, or `B` for bytes, which
    are printed as kB, MB or GB. `more` returns further text for the line. Nothing is written to
    stdout, and nothing at all by a quiet program. Without a terminal, a step of less than ten
    seconds prints nothing.
    """
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread beside processes that are forked
    # Its own lock is one of the system's, for bars of several processes: of a process that is
    # ended, it would be left behind.
    tqdm.set_lock(_BAR_LOCK)
    on_terminal = sys.stderr.isatty()
    total_part, percent_part = (" of {total_fmt}", " ({percentage:.0f}%)") if total else ("", "")
    line_format = f"{{desc}}: {{n_fmt}}{total_part}{{unit}}{percent_part} in {{elapsed}}"
    line_format += (", {remaining} left" if total else "") + "{postfix}"
    with tqdm(
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=on_terminal or unit == "B",
        desc=printable(label),
        file=sys.stderr if on_terminal else _Lines(sys.stderr),
        dynamic_ncols=on_terminal,
        leave=not on_terminal,
        delay=1.0 if on_terminal else EVERY,  # a bar that vanishes at once would only flicker
        mininterval=0.1 if on_terminal else EVERY,
        miniters=None if on_terminal else 0,
        bar_format=None if on_terminal else line_format,
        disable=_Voice.loudness == "quiet" or _Voice.listener is not None,
    ) as bar:
        yield Progress(bar, more)


class _Lines:
    """A stream that writes each state of a bar as a line of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        if line := text.strip():
            print(printable(line), file=self._stream, flush=True)

    def flush(self) -> None:
        self._stream.flush()


@contextmanager
def told_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Hand what `say` is given in the block to a function, and show no bars.

    So a process beside others keeps its lines until it is its turn.
    """
    _Voice.listener = listener
    try:
        yield
    finally:
        _Voice.listener = None


def is_interactive() -> bool:
    """Whether somebody sits at a terminal who reads questions and answers them."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say(line: str) -> None:
    """Print a line for the user to stderr, with control characters escaped.

    A quiet program says warnings, errors and questions alone, by how their lines begin.
    """
    if _Voice.listener is not None:
        _Voice.listener(line)
        return
    if _Voice.loudness == "quiet" and not _URGENT.match(line):
        return
    if _Voice.loudness == "verbose":
        line = f"{time.monotonic() - _Voice.start:8.1f} s  {line}"
    _complain(line)


def is_watched() -> bool:
    """Whether somebody at a terminal sees what `say` tells on the way."""
    return sys.stderr.isatty() and _Voice.loudness != "quiet"


def say_at_once(line: str) -> None:
    """Print a line, though others of this process wait until it is its turn (see `told_to`)."""
    _complain(line)


def _complain(line: str) -> None:
    """Print a line to stderr, however quiet the program is."""
    print(printable(line), file=sys.stderr, flush=True)


def echo(line: str) -> None:
    """Print a line of a result to stdout, with control characters escaped."""
    print(printable(line), flush=True)


def echo_json(result: Any) -> None:
    """Print a result as JSON to stdout, days and paths as texts, control characters escaped."""
    # JSON escapes all control characters but this one
    print(json.dumps(result, indent=2, default=str).replace("\x7f", "\\u007f"), flush=True)


class _SaidLog(logging.Handler):
    """Prints what libraries log: warnings and errors, and all they report to a verbose program."""

    def emit(self, record: logging.LogRecord) -> None:
        _complain(self.format(record))


def escape_reports() -> None:
    """Let tracebacks, warnings and logs of this process be printed with their texts escaped, too.

    They quote the texts that something went wrong with.
    """

    def say_traceback(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        _complain("".join(traceback.format_exception(kind, error, trace)).rstrip())

    def say_warning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del file, line
        _complain(warnings.formatwarning(message, category, filename, lineno).rstrip())

    sys.excepthook = say_traceback
    warnings.showwarning = say_warning
    if not logging.root.handlers:
        logging.root.addHandler(_SaidLog())
