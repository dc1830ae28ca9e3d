"""Work on the blocks of archives, in this process or in a few others, answers in order."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from builders.errors import UserError
from builders.progress import progress
from builders.wmt.archive import BLOCK, Block, Form, blocks

T = TypeVar("T")
A = TypeVar("A")
_AHEAD = 2
"""Blocks a process is given at a time; so memory stays the same however long the archive is."""


class Place(NamedTuple):
    """Where a block lies: number of the file, number of lines before it."""

    file: int
    first: int


def over_blocks(
    files: Sequence[Path],
    work: Callable[[bytes, Form, A], T],
    about: Callable[[Place, Block], A | None],
    *,
    jobs: int = 1,
    block: int = BLOCK,
    label: str = "reading the archive",
) -> Iterator[tuple[Place, T]]:
    """`work(data, form, argument)` of every block, in the order of the archive.

    `about(place, block)` gives the argument, None: the block is passed over. With
    more than one job this process decompresses and the others work; `work` has to be a function
    of a module. An archive of a block or two starts no process. `UserError`: see `blocks`, or a
    process that died.
    """
    total = sum(f.stat().st_size for f in files)
    with progress(total, "B", label) as bar:
        if jobs <= 1 or total <= 2 * block:
            for place, found in _each(files, block, bar.advance):
                argument = about(place, found)
                if argument is not None:
                    yield place, work(found.data, found.form, argument)
            return
        waiting: deque[tuple[Place, Future[T]]] = deque()
        with processes(jobs) as pool:
            for place, found in _each(files, block, bar.advance):
                argument = about(place, found)
                if argument is None:
                    continue
                if len(waiting) >= jobs * _AHEAD:
                    done, future = waiting.popleft()
                    yield done, future.result()
                waiting.append((place, pool.submit(work, found.data, found.form, argument)))
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes; what they have not begun at the end is left. `UserError`: one died."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    try:
        yield pool
    except BrokenProcessPool:
        hint = "if memory ran out, give fewer jobs"
        raise UserError("a reading process died", hint=hint) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """A working process leaves Ctrl-C to the calling one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _each(
    files: Sequence[Path], size: int, advance: Callable[[int], None]
) -> Iterator[tuple[Place, Block]]:
    for number, path in enumerate(files):
        first = 0
        for found in blocks(path, size):
            yield Place(number, first), found
            first += found.lines()
            advance(found.read)
