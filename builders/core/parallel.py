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
from types import TracebackType
from typing import Any, TypeVar

from factdrift.builders.core.errors import UserError

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
    `UserError`: see `WorkerPool`.
    """
    if jobs <= 1:
        if initializer:
            initializer(*initargs)
        yield from map(work, items)
        return
    waiting: deque[Future[T]] = deque()
    with WorkerPool(jobs, initializer=initializer, initargs=initargs, hint=hint) as processes:
        for item in items:
            if len(waiting) >= jobs * ahead:
                yield waiting.popleft().result()
            waiting.append(processes.submit(work, item))
        while waiting:
            yield waiting.popleft().result()


class WorkerPool:
    """So many processes, each started when there is work for it; to be used as a context.

    They never hear Ctrl-C, not even while they start: the calling process ends them, and they end
    with it even if it is killed. At the end of the context they finish what they were given; where
    it fails they are stopped at once. `UserError` at its end where one of them has died: `hint`
    says what else there is to know.
    """

    def __init__(
        self,
        jobs: int,
        *,
        initializer: Callable[..., None] | None = None,
        initargs: tuple[Any, ...] = (),
        hint: str = "",
    ) -> None:
        self._hint = "if memory ran out, give fewer jobs" + (f"; {hint}" if hint else "")
        resource_tracker.ensure_running()  # its start would undo what `interrupt_later` does
        self._pool = ProcessPoolExecutor(
            jobs,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(initializer, initargs),
        )

    def submit(self, work: Callable[..., T], *given: Any) -> Future[T]:
        """Have `work(*given)` done; `work` is a function of a module. Any thread may call this."""
        with interrupt_later():
            return self._pool.submit(work, *given)

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if error is not None:
            # what Python 3.14 calls `terminate_workers`
            for process in list((getattr(self._pool, "_processes", None) or {}).values()):
                process.terminate()
        self._pool.shutdown(cancel_futures=error is not None)
        if isinstance(error, BrokenProcessPool):
            raise UserError("a working process died", hint=self._hint) from None


@contextmanager
def interrupt_later() -> Iterator[None]:
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
