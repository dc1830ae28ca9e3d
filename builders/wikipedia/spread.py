"""Units read in this process or in a few others, their ends handed back in order."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

from builders.errors import UserError
from builders.wikipedia.reader import Ends, Reader, Task
from builders.wikipedia.units import Unit

_AHEAD = 2
"""Units a process is given at a time; so memory stays the same however long the files are."""
_reader: Reader | None = None


def _begin(task: Task) -> None:
    global _reader
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process says when to stop
    _reader = Reader(task)


def _read(unit: Unit) -> Ends:
    assert _reader is not None  # noqa: S101
    return _reader.read(unit)


class Pool:
    """Reads units with `jobs` processes; 1 starts none. `settle` is told of each, in order."""

    def __init__(self, task: Task, jobs: int, settle: Callable[[Unit, Ends], None]) -> None:
        self._settle, self._jobs = settle, jobs
        self._waiting: deque[tuple[Unit, Future[Ends]]] = deque()
        self._alone = Reader(task) if jobs == 1 else None
        self._pool: ProcessPoolExecutor | None = None
        if jobs > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                jobs, mp_context=context, initializer=_begin, initargs=(task,)
            )

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def read(self, unit: Unit, known: Ends | None = None) -> None:
        """Have a unit read, unless it is `known` from an earlier run."""
        if known is not None:
            future: Future[Ends] = Future()
            future.set_result(known)
        elif self._alone:
            future = Future()
            future.set_result(self._alone.read(unit))
        else:
            assert self._pool is not None  # noqa: S101
            try:
                future = self._pool.submit(_read, unit)
            except BrokenProcessPool:
                raise _died() from None
        self._waiting.append((unit._replace(data=b""), future))
        while len(self._waiting) > self._jobs * _AHEAD:
            self._next()

    def finish(self) -> None:
        """Wait for all that is being read, and for what `settle` gives to be read."""
        while self._waiting:
            self._next()

    def _next(self) -> None:
        unit, future = self._waiting.popleft()
        try:
            ends = future.result()
        except BrokenProcessPool:
            raise _died() from None
        self._settle(unit, ends)


def _died() -> UserError:
    hint = "if memory ran out, give fewer jobs; a rerun goes on where this run stopped"
    return UserError("a reading process died", hint=hint)
