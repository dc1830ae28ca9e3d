"""Read the blocks of a dump into raw parts, in this process or in a few that share memory with it.

The calling process decompresses into a small number of buffers; each is lent to a reader and
comes back. So memory stays the same however long the dump is.
"""

import contextlib
import gc
import mmap
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, hold_shared
from factdrift.builders.core.parallel import interrupt_later
from factdrift.builders.wikidata.entities import Rows
from factdrift.builders.wikidata.parts import BadLine, Blocks, write_part
from factdrift.builders.wikidata.shards import LONGEST, SIZE, Block, lines

_FRAME = b" \t\r\n,[]\xef\xbb\xbf"
"""What may stand around an entity on its line: the array's brackets, commas, a byte order mark."""
_NO_ENTITY = (msgspec.MsgspecError, ValueError, RecursionError)
_COMMA, _OPEN, _CLOSE = b",{}"
_AHEAD = 2
"""Blocks that a reader is given at a time: the one it parses, and the next."""

_PATIENCE = 0.0002
"""Seconds that a thread waits before it asks the running one for the interpreter's lock."""
READING = ".reading"
"""The file, in the folder of parts, that reading processes hold a lock on."""


@dataclass(frozen=True)
class Tuning:
    """Sizes that change no result; tests make them small.

    `block` and `longest` are bytes of a block and of the longest line; a part is written every
    `blocks` blocks or `rows` rows, whichever comes first: so much is lost when a run is killed.
    """

    block: int = SIZE
    longest: int = LONGEST
    blocks: int = 64
    rows: int = 50_000


class Share(NamedTuple):
    """What one of several machines reads of a dump: its `place`, from 0, `of` so many.

    Whole files are shared where there are enough of them, else the blocks of each.
    """

    place: int = 0
    of: int = 1

    def has(self, files: int, file: int, block: int) -> bool:
        """Whether a block of one of so many files is in this share."""
        return (file if files >= self.of else block) % self.of == self.place


class DumpReading(NamedTuple):
    """The files of a dump, the folder for its parts, and how and by whom it is read."""

    files: tuple[Path, ...]
    parts: Path
    undated: tuple[str, ...]
    tuning: Tuning
    share: Share = Share()

    def has(self, file: int, block: int) -> bool:
        """Whether this block is to be read here."""
        return self.share.has(len(self.files), file, block)

    @property
    def room(self) -> int:
        """Bytes that a buffer for one block must have; the most of it is never touched."""
        return self.tuning.longest + self.tuning.block


class _Mark(NamedTuple):
    """How many rows there were before a block."""

    shard: int
    block: int
    statements: int
    entities: int
    dropped: int
    bad: int
    counts: Counter[str]


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Rows have no cycles; looking for some takes an eighth of the time of reading."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


class Reader:
    """Parses blocks and writes what they hold as parts, each under a name of its own."""

    def __init__(self, work: DumpReading) -> None:
        self._files, self._parts, self._undated, self._tuning, _ = work
        self._start()

    def _start(self) -> None:
        self._rows = Rows(self._undated)
        self._blocks: Blocks = {}
        self._bad: list[BadLine] = []
        self._before: _Mark | None = None
        self._held = 0

    def read(self, shard: int, block: Block, buffer: memoryview) -> None:
        """Add one block of a shard. `UserError` where the first one holds no entity at all."""
        before = self._before = self._mark(shard, block)
        number, place = 0, (shard << 24 | block.number) << 24
        if block.too_long:
            number = 1
            self._too_long(shard, block, 1, block.too_long)
        text = buffer[: block.end]
        with _no_collection():
            for start, stop in lines(text):
                number += 1
                try:
                    if stop - start > self._tuning.longest:
                        self._too_long(shard, block, number, stop - start)
                    else:
                        self._line(text, start, stop, place + number)
                except _NO_ENTITY as error:
                    detail = f"{stop - start:,} bytes: {error}"[:200]
                    bad = BadLine(shard, block.number, number, "malformed_line", detail)
                    self._bad.append(bad)
        if block.number == 0 and self._rows.counts == before.counts:
            self._refuse(shard, self._bad[before.bad :])
        self._blocks.setdefault(shard, {})[block.number] = number
        self._held += 1
        rows = len(self._rows.entities) + len(self._rows.statements) + len(self._bad)
        if self._held >= self._tuning.blocks or rows >= self._tuning.rows:
            self.flush()

    def _mark(self, shard: int, block: Block) -> "_Mark":
        rows = self._rows
        sizes = (len(rows.statements), len(rows.entities), len(rows.dropped), len(self._bad))
        return _Mark(shard, block.number, *sizes, Counter(rows.counts))

    def _drop_half_a_block(self) -> None:
        """Forget what Ctrl-C left of the block that was being read; a rerun reads it again."""
        mark = self._before
        if mark and mark.block not in self._blocks.get(mark.shard, {}):
            del self._rows.statements[mark.statements :]
            del self._rows.entities[mark.entities :]
            del self._rows.dropped[mark.dropped :]
            del self._bad[mark.bad :]
            self._rows.counts = mark.counts

    def _refuse(self, shard: int, bad: Sequence[BadLine]) -> None:
        """`UserError` for a file whose first block holds nothing but malformed lines."""
        first = next((line for line in bad if line.reason == "malformed_line"), None)
        if first:
            raise UserError(
                f"no entity: {first.detail}",
                where=self._files[shard],
                line=first.line,
                hint="a dump is a JSON array with one entity a line, or JSON lines",
            )

    def _too_long(self, shard: int, block: Block, line: int, length: int) -> None:
        detail = f"{length:,} bytes"
        self._bad.append(BadLine(shard, block.number, line, "line_too_long", detail))

    def _line(self, text: memoryview, start: int, stop: int, place: int) -> None:
        """Add what stands on one line, which may be nothing but the array's frame."""
        if stop > start and text[stop - 1] == _COMMA:
            stop -= 1
        line: memoryview | bytes = text[start:stop]
        if not line or line[0] != _OPEN or line[-1] != _CLOSE:
            line = bytes(line).strip(_FRAME)
            if not line:
                return
        self._rows.read(line, place)

    def flush(self) -> None:
        """Write what is held as a part. `UserError` where the disk does not take it."""
        self._drop_half_a_block()
        if not self._blocks:
            return
        shard = min(self._blocks)
        name = f"{shard:06}-{min(self._blocks[shard]):08}"
        rows = self._rows
        try:
            write_part(
                self._parts,
                name,
                statements=rows.statements,
                entities=rows.entities,
                dropped=rows.dropped,
                counts=rows.counts,
                blocks=self._blocks,
                bad=self._bad,
            )
        except OSError as error:
            hint = "make room; a rerun goes on where this run stopped"
            text = f"cannot be written: {error.strerror or error}"
            raise UserError(text, where=self._parts, hint=hint) from error
        self._start()


# --- Processes ----------------------------------------------------------------------------------


class Slot(NamedTuple):
    """One buffer."""

    number: int
    view: memoryview


class Memory:
    """Buffers that this process and its readers see; the most of each is never touched.

    They are one file without a name: forked processes inherit it, spawned ones are handed it, and
    it is gone with the last of them, however that ends.
    """

    def __init__(self, count: int, size: int, file: int | None = None) -> None:
        self._count, self._size = count, size
        self._file = _nameless(count * size) if file is None else file
        self._map = mmap.mmap(self._file, count * size)
        held = memoryview(self._map)
        self.views = [held[n * size : (n + 1) * size] for n in range(count)]
        held.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return _attached, (self._count, self._size, DupFd(self._file))

    def close(self) -> None:
        for view in self.views:
            view.release()
        self._map.close()
        os.close(self._file)


def _nameless(size: int) -> int:
    if sys.platform == "linux":
        file = os.memfd_create("blocks")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, size)
    return file


def _attached(count: int, size: int, file: Any) -> Memory:
    return Memory(count, size, file.detach())


class OneProcess:
    """The pool of one process: the calling one, with a thread of its own for gz.

    That thread asks for the interpreter's lock a few times a block; where it has to wait the
    usual 5 ms for it each time, reading takes half as long again.
    """

    def __init__(self, work: DumpReading) -> None:
        self._patience = sys.getswitchinterval()
        sys.setswitchinterval(_PATIENCE)
        self._reader = Reader(work)
        self._slot = Slot(0, memoryview(mmap.mmap(-1, work.room)))

    def slot(self) -> Slot:
        """A free buffer; waits for one."""
        return self._slot

    def read(self, shard: int, block: Block, slot: Slot) -> None:
        """Have the block in this buffer read."""
        self._reader.read(shard, block, slot.view)

    def finish(self) -> None:
        """Wait until everything given is read and written to parts."""
        self._reader.flush()

    def close(self) -> None:
        """End, always called; what was not written is lost."""
        sys.setswitchinterval(self._patience)


class Processes:
    """A pool of `jobs` other processes.

    They are forked where that is safe, before any thread starts; else they are spawned. A
    forked one closes `private`, a file descriptor.
    `UserError` where one of them dies or stops at something that the user can mend.
    """

    def __init__(self, jobs: int, work: DumpReading, private: int) -> None:
        fork = _alone() and "fork" in multiprocessing.get_all_start_methods()
        context: BaseContext = multiprocessing.get_context("fork" if fork else "spawn")
        self._memory = Memory(jobs * _AHEAD + 1, work.room)
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
            with interrupt_later():
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
            assert isinstance(reader, Connection)
            self._receive_from(reader)

    def _receive_from(self, reader: Connection) -> None:
        try:
            message = reader.recv()
        except (EOFError, OSError):
            process = self._process[reader]
            process.join(5)
            del self._load[reader]
            if process.exitcode == -signal.SIGINT:  # the terminal stops all of a group
                raise KeyboardInterrupt from None
            raise UserError(
                f"a reading process died (exit code {process.exitcode})",
                hint="if memory ran out, give fewer jobs; a rerun goes on where this run stopped",
            ) from None
        if isinstance(message, int):
            self._load[reader] -= 1
            self._free.append(Slot(message, self._memory.views[message]))
            return
        del self._load[reader]
        if isinstance(message, Exception):
            raise message


class _Task(NamedTuple):
    work: DumpReading
    memory: Memory
    inherited: tuple[Connection | int, ...]
    """What a forked process must close: the ends of other pipes, and the lock."""


def _work(pipe: Connection, task: _Task) -> None:
    """The life of a reading process; it ends when the calling one does, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process says when to stop
    for held in task.inherited:
        os.close(held) if isinstance(held, int) else held.close()
    reader = Reader(task.work)
    with contextlib.suppress(OSError):  # of a pipe whose other end is gone
        try:
            with disk_errors(task.work.parts):
                hold_shared(task.work.parts / READING)
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
