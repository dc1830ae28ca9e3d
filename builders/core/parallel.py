"""Work in several processes, with results in the order of the items and bounded memory."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from multiprocessing import resource_tracker
from types import ModuleType
from typing import Any, TypeVar

from factdrift.builders.core.collector import collect_seldom
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.progress import escape_reports, told_to

__outside_step_keys__ = True

Item = TypeVar("Item")
T = TypeVar("T")
AHEAD = 2
"""Items for each process at a time: one to work on, and the next, so that it never waits."""


def ordered_map(
    work: Callable[[Item], T],
    items: Iterable[Item],
    *,
    jobs: int,
    ahead: int = AHEAD,
    initializer: Callable[..., None] | None = None,
    initargs: tuple[Any, ...] = (),
    hint: str = "",
) -> Generator[T, None, None]:
    """Yield `work(item)` for all items in order, computed by `jobs` processes.

    With one job or fewer no process is started. `work` and `initializer` are functions of a module,
    or partials of them. At most `jobs * ahead` items are read before the result of the first of
    them is yielded, so memory does not grow with their number. If the caller stops or something
    fails, all processes end.

    The processes ignore Ctrl-C, also while they start: the calling process ends them, and they end
    with it even if it is killed. Raises `UserError` if one of them dies; `hint` is added to its
    message.
    """
    if jobs <= 1:
        if initializer:
            initializer(*initargs)
        yield from map(work, items)
        return
    process_pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(initializer, initargs),
    )
    waiting_results: deque[Future[T]] = deque()
    try:
        for item in items:
            if len(waiting_results) >= jobs * ahead:
                yield waiting_results.popleft().result()
            with _interrupt_later(), _main_hidden():
                waiting_results.append(process_pool.submit(work, item))
        while waiting_results:
            yield waiting_results.popleft().result()
    except BaseException as error:
        # Python 3.14 has this as `terminate_workers`
        for process in list((getattr(process_pool, "_processes", None) or {}).values()):
            process.terminate()
        process_pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            hint = "if memory ran out, give fewer jobs" + (f"; {hint}" if hint else "")
            raise UserError("a working process died", hint=hint) from None
        raise
    process_pool.shutdown()


def told_map(
    work: Callable[[Item], T],
    items: Sequence[Item],
    *,
    jobs: int,
    say: Callable[[str], None],
) -> Generator[T | UserError, None, None]:
    """Yield the same as `ordered_map`, of a few items whose work says lines on its way.

    What it says in a process is told by `say` before its result is yielded, so that the lines of
    one item stay together, in the order of the items; bars are not shown. With one job, the lines
    are told at once. A `UserError` is yielded in place of a result, and the other items go on.
    """
    if jobs <= 1:
        for item in items:
            try:
                yield work(item)
            except UserError as error:
                yield error
        return
    # who is done takes the next, however long the first one takes
    told_results = ordered_map(partial(_with_lines, work), items, jobs=jobs, ahead=len(items))
    with closing(told_results):
        for lines, result in told_results:
            for line in lines:
                say(line)
            yield result


def _with_lines(work: Callable[[Item], T], item: Item) -> tuple[list[str], T | UserError]:
    """Do a work in a process beside others; return what it said and what it came to."""
    escape_reports()
    lines: list[str] = []
    with told_to(lines.append):
        try:
            return lines, work(item)
        except UserError as error:
            return lines, error
        except Exception as error:  # a bug, whose traceback goes on
            error.add_note("\n".join(lines))
            raise


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block; a process that is started in it inherits the block."""
    resource_tracker.ensure_running()  # its start, with the first spawned process, unblocks again
    in_main_thread = threading.current_thread() is threading.main_thread()
    heard_signals: list[int] = []
    previous_handler = (
        signal.signal(signal.SIGINT, lambda number, _: heard_signals.append(number))
        if in_main_thread
        else None
    )
    blocked_signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked_signals)
        if in_main_thread:
            signal.signal(signal.SIGINT, previous_handler)
        if heard_signals:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Hide the program's main module from a process that is started in the block.

    It would run that module again, to know what it defines: a user's script without a guard for
    `__main__` would begin to build the same release. Here the work is a function of a module.
    """
    main_module = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main_module


def _begin(initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    """Prepare a working process."""
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process says when to stop
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_caller, daemon=True).start()
    if initializer:
        initializer(*initargs)


def _end_with_caller() -> None:
    calling_process = multiprocessing.parent_process()
    assert calling_process is not None
    calling_process.join()
    os._exit(1)
