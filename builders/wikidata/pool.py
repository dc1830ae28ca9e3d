"""Who reads the blocks: this process itself, or a few others that share memory with it.

The calling process decompresses into a small number of buffers; each is lent to a reader and
comes back. So memory stays the same however long the dump is.
"""

import contextlib
import fcntl
import mmap
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from builders.errors import UserError
from builders.wikidata.blocks import Block
from builders.wikidata.memory import Memory
from builders.wikidata.reader import Reader, Tuning

_AHEAD = 2
"""Blocks that a reader is given at a time: the one it parses, and the next."""

_PATIENCE = 0.0002
"""Seconds that a thread waits before it asks the running one for the interpreter's lock."""
READING = ".reading"
"""The file, in the folder of parts, that reading processes hold a lock on."""


class Slot(NamedTuple):
    """One buffer."""

    number: int
    view: memoryview


class Work(NamedTuple):
    """What a `Reader` is made of."""

    files: tuple[Path, ...]
    parts: Path
    relations: dict[str, bool]
    tuning: Tuning


class Pool(Protocol):
    """Takes blocks, in any number of processes; `finish` when all are given, `close` always."""

    def slot(self) -> Slot:
        """A free buffer; waits for one."""

    def read(self, shard: int, block: Block, slot: Slot) -> None:
        """Have the block in this buffer read."""

    def finish(self) -> None:
        """Wait until everything given is read and written to parts."""

    def close(self) -> None:
        """End; what was not written is lost."""


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """What is started here never hears Ctrl-C, not even while it starts: the parent ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Alone:
    """The pool of one process: the calling one, with a thread of its own for gz.

    That thread asks for the interpreter's lock a few times a block; where it has to wait the
    usual 5 ms for it each time, reading takes half as long again.
    """

    def __init__(self, work: Work) -> None:
        self._patience = sys.getswitchinterval()
        sys.setswitchinterval(_PATIENCE)
        self._reader = Reader(*work)
        room = work.tuning.longest + work.tuning.block
        self._slot = Slot(0, memoryview(mmap.mmap(-1, room)))

    def slot(self) -> Slot:
        return self._slot

    def read(self, shard: int, block: Block, slot: Slot) -> None:
        self._reader.read(shard, block, slot.view)

    def finish(self) -> None:
        self._reader.flush()

    def close(self) -> None:
        sys.setswitchinterval(self._patience)


class Processes:
    """A pool of `jobs` other processes.

    They are forked where that is safe, before any thread starts; else they are spawned. A
    forked one closes `private`, a file descriptor.
    `UserError` where one of them dies or stops at something that the user can mend.
    """

    def __init__(self, jobs: int, work: Work, private: int) -> None:
        fork = _alone() and "fork" in multiprocessing.get_all_start_methods()
        context: BaseContext = multiprocessing.get_context("fork" if fork else "spawn")
        room = work.tuning.longest + work.tuning.block
        self._memory = Memory(jobs * _AHEAD + 1, room, fork)
        self._free = [Slot(n, view) for n, view in enumerate(self._memory.views)]
        self._load: dict[Connection, int] = {}
        self._process: dict[Connection, Any] = {}
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            inherited: tuple[Connection | int, ...] = ()
            if fork:
                inherited = (private, ours, *self._process)
            task = _Task(work, self._memory, inherited)
            process = context.Process(target=_work, args=(theirs, task), daemon=True)  # type: ignore[attr-defined]
            with _deaf_to_ctrl_c():
                process.start()
            theirs.close()
            self._process[ours] = process
            self._load[ours] = 0

    def slot(self) -> Slot:
        while not self._free:
            self._receive()
        return self._free.pop()

    def read(self, shard: int, block: Block, slot: Slot) -> None:
        while True:
            reader = min(self._load, key=self._load.__getitem__)
            if self._load[reader] < _AHEAD:
                break
            self._receive()
        self._load[reader] += 1
        self._send(reader, (shard, block, slot.number))

    def finish(self) -> None:
        for reader in list(self._load):
            self._send(reader, None)
        while self._load:
            self._receive()

    def close(self) -> None:
        for reader, process in self._process.items():
            reader.close()
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()
        self._free.clear()
        self._memory.close()

    def _send(self, reader: Connection, job: Any) -> None:
        try:
            reader.send(job)
        except OSError:
            self._receive_from(reader)  # says why it is gone, if it could

    def _receive(self) -> None:
        for reader in wait(list(self._load)):
            assert isinstance(reader, Connection)  # noqa: S101
            self._receive_from(reader)

    def _receive_from(self, reader: Connection) -> None:
        try:
            said = reader.recv()
        except (EOFError, OSError):
            process = self._process[reader]
            process.join(5)
            del self._load[reader]
            raise UserError(
                f"a reading process died (exit code {process.exitcode})",
                hint="if memory ran out, give fewer jobs; a rerun goes on where this run stopped",
            ) from None
        if isinstance(said, int):
            self._load[reader] -= 1
            self._free.append(Slot(said, self._memory.views[said]))
            return
        del self._load[reader]
        if isinstance(said, Exception):
            raise said


class _Task(NamedTuple):
    work: Work
    memory: Memory
    inherited: tuple[Connection | int, ...]
    """What a forked process must close: the ends of other pipes, and the lock."""


def _work(pipe: Connection, task: _Task) -> None:
    """The life of a reading process; it ends when the calling one does, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process says when to stop
    for held in task.inherited:
        os.close(held) if isinstance(held, int) else held.close()
    lock = (task.work.parts / READING).open("w")  # held until this process ends
    fcntl.flock(lock, fcntl.LOCK_SH)
    reader = Reader(*task.work)
    with contextlib.suppress(OSError):
        try:
            while (job := pipe.recv()) is not None:
                shard, block, slot = job
                reader.read(shard, block, task.memory.views[slot])
                pipe.send(slot)
            reader.flush()
            pipe.send(None)
        except EOFError:
            return
        except UserError as error:
            pipe.send(error)
        except Exception:
            pipe.send(RuntimeError(f"in a reading process:\n{traceback.format_exc()}"))


def _alone() -> bool:
    """Whether this process has but one thread, so that it may fork."""
    tasks = Path("/proc/self/task")
    if tasks.is_dir():
        return sum(1 for _ in tasks.iterdir()) == 1
    return threading.active_count() == 1
