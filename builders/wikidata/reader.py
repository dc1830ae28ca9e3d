"""Read the blocks of a dump into raw parts, in this process or in a few that share memory with it.

The calling process decompresses into a few buffers, and writes what comes back of each. So memory
stays the same however long the dump is, and a process that outlives a killed run does no harm.
"""

import gc
import json
import mmap
import os
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.parallel import AHEAD, ordered_map
from factdrift.builders.wikidata.documents import DumpRows
from factdrift.builders.wikidata.parts import BadLine, Blocks, Tables, pack_tables, write_part
from factdrift.builders.wikidata.shards import (
    BLOCK_SIZE,
    LONGEST_LINE,
    Block,
    BlockCutter,
    line_spans,
    open_shard,
)

_FRAME = b" \t\r\n,[]\xef\xbb\xbf"
"""What may stand around an entity on its line: the array's brackets, commas, a byte order mark."""
_NO_ENTITY = (ValueError, RecursionError)
_COMMA, _OPEN, _CLOSE = b",{}"
_SWITCH = 0.0002
"""Seconds that a thread waits before it asks the running one for the interpreter's lock."""


@dataclass(frozen=True)
class Tuning:
    """Sizes that change no result; tests make them small.

    `block` and `longest` are bytes of a block and of the longest line; a part is written every
    `blocks` blocks or `rows` rows, whichever comes first: so much is lost when a run is killed.
    """

    block: int = BLOCK_SIZE
    longest: int = LONGEST_LINE
    blocks: int = 64
    rows: int = 50_000


class Share(NamedTuple):
    """What one of several machines reads of a dump: its `place`, from 0, `of` so many.

    Whole files are shared where there are enough of them, else the blocks of each.
    """

    place: int = 0
    of: int = 1


class DumpReading(NamedTuple):
    """The files of a dump, the folder for its parts, and how and by whom it is read."""

    files: tuple[Path, ...]
    parts: Path
    undated: tuple[str, ...]
    tuning: Tuning
    share: Share = Share()

    def has(self, file: int, block: int) -> bool:
        """Whether this block is to be read here."""
        share = self.share
        return (file if len(self.files) >= share.of else block) % share.of == share.place


class RemainingWork(NamedTuple):
    """What is left to read: `covered`, the blocks that parts hold, and the `files` with others."""

    covered: Blocks
    files: list[int]


class BlockRows(NamedTuple):
    """What one block of a shard holds: its number of lines, and of rows, and these, packed."""

    shard: int
    block: int
    lines: int
    rows: int
    tables: Tables
    counts: Counter[str]
    bad: list[BadLine]


class FilledBuffer(NamedTuple):
    """A block of a shard, and the number of the buffer that it lies in."""

    shard: int
    block: Block
    buffer: int


def read_dump(
    given: DumpReading, left: RemainingWork, advance: Callable[[int], None], *, jobs: int = 1
) -> None:
    """Make parts of what is left; `advance` is told how many bytes of files have been read.

    `jobs`: processes; 1 starts none. `UserError`: see `mine`; what was read before it is kept.
    """
    writer, failed = _BlockWriter(given), list[UserError]()

    def blocks() -> Iterator[FilledBuffer]:
        ring = deque(range(len(buffers.views)))
        try:
            for n in left.files:
                yield from _blocks_of(given, n, left, buffers.views, ring, jobs, advance)
        except UserError as error:  # told when what was read before it is kept
            failed.append(error)

    count = 1 if jobs == 1 else jobs * AHEAD + 1
    hint = "a rerun goes on where this run stopped"
    switch = sys.getswitchinterval()
    with closing(Buffers(count, given.tuning.longest + given.tuning.block)) as buffers:
        if jobs == 1:
            # The thread that decompresses asks for the interpreter's lock a few times a block;
            # where it has to wait the usual 5 ms for it, reading takes half as long again.
            sys.setswitchinterval(_SWITCH)
            results = ordered_map(partial(read_block, given, buffers.views), blocks(), jobs=1)
        else:
            begin = (given, buffers)
            results = ordered_map(
                _read_there, blocks(), jobs=jobs, initializer=_begin, initargs=begin, hint=hint
            )
        try:
            with closing(results):
                for found in results:
                    writer.add(found)
        except (KeyboardInterrupt, UserError):
            writer.flush()
            raise
        finally:
            sys.setswitchinterval(switch)
    writer.flush()
    if failed:
        raise failed[0]


def _blocks_of(
    given: DumpReading,
    number: int,
    left: RemainingWork,
    views: list[memoryview],
    ring: deque[int],
    jobs: int,
    advance: Callable[[int], None],
) -> Iterator[FilledBuffer]:
    """The blocks of one file that no part covers, each in the next buffer of the ring."""
    covered = left.covered.get(number, {})
    with closing(open_shard(given.files[number], threads=1 if jobs == 1 else 0)) as shard:
        cutter = BlockCutter(shard, given.tuning.block, given.tuning.longest)
        before = 0
        while block := cutter.fill(views[ring[0]]):
            advance(shard.position() - before)
            before = shard.position()
            if block.number not in covered and given.has(number, block.number):
                yield FilledBuffer(number, block, ring[0])
                ring.rotate(-1)
        advance(shard.position() - before)
    about = {"blocks": cutter.number, "unclosed": cutter.opened and not cutter.closed}
    path = given.parts / f"shard-{number:06}.json"
    temporary = path.with_suffix(f".{given.share.place}.tmp")  # shares may end at the same time
    temporary.write_text(json.dumps(about), "utf-8")
    temporary.replace(path)


def read_block(given: DumpReading, views: list[memoryview], filled: FilledBuffer) -> BlockRows:
    """What a block holds. `UserError` where the first one of a file holds no entity at all."""
    shard, block, buffer = filled
    rows = DumpRows(given.undated)
    bad = [(1, "line_too_long", f"{block.too_long:,} bytes")] if block.too_long else []
    number, place = len(bad), (shard << 24 | block.number) << 24
    collecting = gc.isenabled()
    gc.disable()  # rows have no cycles; looking for some takes an eighth of the time of reading
    try:
        text = views[buffer][: block.end]
        for start, stop in line_spans(text):
            number += 1
            if stop - start > given.tuning.longest:
                bad.append((number, "line_too_long", f"{stop - start:,} bytes"))
                continue
            try:
                if line := _entity_of(text, start, stop):
                    rows.read(line, place + number)
            except _NO_ENTITY as error:
                detail = f"{stop - start:,} bytes: {error}"[:200]
                bad.append((number, "malformed_line", detail))
    finally:
        if collecting:
            gc.enable()
    first = next((line for line in bad if line[1] == "malformed_line"), None)
    if block.number == 0 and first and not rows.counts:
        hint = "a dump is a JSON array with one entity a line, or JSON lines"
        where = given.files[shard]
        raise UserError(f"no entity: {first[2]}", where=where, line=first[0], hint=hint)
    return BlockRows(
        shard,
        block.number,
        number,
        len(rows.entities) + len(rows.statements) + len(bad),
        pack_tables(rows.statements, rows.entities, rows.dropped),
        rows.counts,
        [BadLine(shard, block.number, *line) for line in bad],
    )


def _entity_of(text: memoryview, start: int, stop: int) -> memoryview | bytes:
    """What stands on one line without the array's frame, which may be nothing."""
    if stop > start and text[stop - 1] == _COMMA:
        stop -= 1
    line = text[start:stop]
    if line and line[0] == _OPEN and line[-1] == _CLOSE:
        return line
    return bytes(line).strip(_FRAME)


class _BlockWriter:
    """Writes what blocks hold, many of them as one part."""

    def __init__(self, given: DumpReading) -> None:
        self._given = given
        self._held: list[BlockRows] = []

    def add(self, read: BlockRows) -> None:
        """Hold one more block, and write all that are held where they are enough."""
        self._held.append(read)
        tuning = self._given.tuning
        if len(self._held) >= tuning.blocks or sum(r.rows for r in self._held) >= tuning.rows:
            self.flush()

    def flush(self) -> None:
        """Write what is held as a part. `UserError` where the disk does not take it."""
        held, self._held = self._held, []
        if not held:
            return
        blocks: Blocks = {}
        counts: Counter[str] = Counter()
        for one in held:
            blocks.setdefault(one.shard, {})[one.block] = one.lines
            counts.update(one.counts)
        parts, name = self._given.parts, f"{held[0].shard:06}-{held[0].block:08}"
        bad = [line for one in held for line in one.bad]
        with disk_errors(parts):
            write_part(
                parts, name, *(one.tables for one in held), counts=counts, blocks=blocks, bad=bad
            )


# --- Processes ----------------------------------------------------------------------------------


class Buffers:
    """Memory that this process and its readers see; the most of each buffer is never touched.

    It is one file without a name: other processes are handed it, and it is gone with the last of
    them, however that ends.
    """

    def __init__(self, count: int, size: int, file: int | None = None) -> None:
        self._count, self._size = count, size
        self._file = _nameless(count * size) if file is None else file
        held = memoryview(mmap.mmap(self._file, count * size))
        self.views = [held[n * size : (n + 1) * size] for n in range(count)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _attached, (self._count, self._size, DupFd(self._file))

    def close(self) -> None:
        """Let go of the file; memory goes with the last view of it."""
        os.close(self._file)


def _nameless(size: int) -> int:
    if sys.platform == "linux":
        file = os.memfd_create("blocks")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, size)
    return file


def _attached(count: int, size: int, file: Any) -> Buffers:
    return Buffers(count, size, file.detach())


_here: Callable[[FilledBuffer], BlockRows]
"""Of a reading process: `read_block` of its dump and buffers."""


def _begin(given: DumpReading, buffers: Buffers) -> None:
    global _here
    _here = partial(read_block, given, buffers.views)


def _read_there(filled: FilledBuffer) -> BlockRows:
    return _here(filled)
