"""Work in a few processes: results in the order of the items, in bounded memory."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from factdrift.builders.core.errors import UserError

__outside_step_keys__ = True

Given = TypeVar("Given")
T = TypeVar("T")
AHEAD = 2
"""Items that a process is given at a time: the one it works on, and the next."""


def ordered_map(
    work: Callable[[Given], T],
    items: Iterable[Given],
    *,
    jobs: int,
    ahead: int = AHEAD,
    initializer: Callable[..., None] | None = None,
    initargs: tuple[Any, ...] = (),
    hint: str = "",
) -> Generator[T, None, None]:
    """`work(item)` of every item, in order, by `jobs` processes; 1 or less starts none.

    `work` and `initializer` are functions of a module, or partials of them. At most `jobs * ahead`
    items are taken before the result of the first of them is yielded, so memory stays the same
    however many there are. Where the caller stops, or something fails, nothing is left running.

    The processes never hear Ctrl-C, not even while they start: the calling process ends them, and
    they end with it even if it is killed. `UserError` where one of them has died: `hint` says what
    else there is to know.
    """
    if jobs <= 1:
        if initializer:
            initializer(*initargs)
        yield from map(work, items)
        return
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(initializer, initargs),
    )
    waiting: deque[Future[T]] = deque()
    try:
        for item in items:
            if len(waiting) >= jobs * ahead:
                yield waiting.popleft().result()
            with _interrupt_later():
                waiting.append(pool.submit(work, item))
        while waiting:
            yield waiting.popleft().result()
    except BaseException as error:
        # what Python 3.14 calls `terminate_workers`
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            hint = "if memory ran out, give fewer jobs" + (f"; {hint}" if hint else "")
            raise UserError("a working process died", hint=hint) from None
        raise
    pool.shutdown()


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Ctrl-C is heard at the end: a process that is started here inherits that it is blocked."""
    resource_tracker.ensure_running()  # its start, with the first spawned process, unblocks again
    main = threading.current_thread() is threading.main_thread()
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number)) if main else None
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if main:
            signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _begin(initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    """Begin the life of a working process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process says when to stop
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_caller, daemon=True).start()
    if initializer:
        initializer(*initargs)


def _end_with_caller() -> None:
    caller = multiprocessing.parent_process()
    assert caller is not None
    caller.join()
    os._exit(1)
