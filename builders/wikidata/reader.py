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
from typing import TYPE_CHECKING, Any, NamedTuple

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import clear_place, disk_errors
from factdrift.builders.core.limits import LONGEST_LINE
from factdrift.builders.core.parallel import AHEAD, ordered_map
from factdrift.builders.core.seals import sealed
from factdrift.builders.wikidata.documents import DumpRows
from factdrift.builders.wikidata.parts import BadLine, Blocks, Tables, pack_tables, write_part
from factdrift.builders.wikidata.shards import (
    BLOCK_SIZE,
    Block,
    BlockCutter,
    line_spans,
    open_shard,
)

if TYPE_CHECKING:  # working processes start in three quarters of the time without `requests`
    from factdrift.builders.core.streams import RemoteFile

_FRAME = b" \t\r\n,[]\xef\xbb\xbf"
"""Bytes around an entity on its line: the array's brackets, commas, a byte order mark."""
_NO_ENTITY = (ValueError, RecursionError)
_COMMA, _OPEN, _CLOSE = b",{}"
TO_LINES = "jq -c '(.entities? // .)[]' FILE > dump.jsonl"
"""Makes lines of a document that is a list of entities, or `{"entities": {id: entity}}`."""
_SWITCH = 0.0002
"""Seconds that a thread waits before it asks the running one for the interpreter's lock."""


@dataclass(frozen=True)
class Tuning:
    """Sizes that do not change the results; tests make them small.

    `block` and `longest` are the bytes of a block and of the longest line. A part is written after
    `blocks` blocks or `rows` rows, whichever comes first; a run that is killed loses so much.
    """

    block: int = BLOCK_SIZE
    longest: int = LONGEST_LINE
    blocks: int = 64
    rows: int = 50_000


class Share(NamedTuple):
    """The part of a dump that one of several machines reads: share `place` (from 0) of `total`.

    Whole files are shared where there are enough of them, else the blocks of each file.
    """

    place: int = 0
    total: int = 1


class DumpReading(NamedTuple):
    """The files of a dump, the folder for its parts, and how and by which machine it is read.

    Where `remote` has files, these are read from their addresses, and `files` are their names.
    """

    files: tuple[Path, ...]
    parts: Path
    undated: tuple[str, ...]
    tuning: Tuning
    share: Share = Share()
    remote: "tuple[RemoteFile, ...]" = ()
    tells_deprecated: bool = False
    """Whether deprecated statements of the relations `undated` are told one by one."""

    def size(self, file_number: int) -> int:
        """Return the bytes of a file."""
        if self.remote:
            return self.remote[file_number].size
        return self.files[file_number].stat().st_size

    def has(self, file: int, block: int) -> bool:
        """Whether this block belongs to the share that is read here."""
        share = self.share
        return (file if len(self.files) >= share.total else block) % share.total == share.place


class RemainingWork(NamedTuple):
    """The work that remains: `covered` blocks are in parts; `files` have blocks that are not."""

    covered: Blocks
    files: list[int]


class BlockRows(NamedTuple):
    """The content of one block of a shard: its numbers of lines and rows, and the packed rows."""

    shard: int
    block: int
    lines: int
    rows: int
    tables: Tables
    counts: Counter[str]
    bad: list[BadLine]


class FilledBuffer(NamedTuple):
    """A block of a shard, and the number of the buffer that holds it."""

    shard: int
    block: Block
    buffer: int


def read_dump(
    dump_reading: DumpReading,
    remaining: RemainingWork,
    advance: Callable[[int], None],
    *,
    jobs: int = 1,
) -> None:
    """Write parts for the work that remains, and call `advance` with the bytes of files read.

    `jobs` is the number of processes; 1 starts none. `UserError` as in `mine`; the blocks that were
    read before the error are kept.
    """
    writer, read_errors = _BlockWriter(dump_reading), list[UserError]()

    def filled_buffers() -> Iterator[FilledBuffer]:
        free_buffers = deque(range(len(buffers.views)))
        try:
            for file_number in remaining.files:
                yield from _blocks_of(
                    dump_reading, file_number, remaining, buffers.views, free_buffers, jobs, advance
                )
        except UserError as error:  # told when what was read before it is kept
            read_errors.append(error)

    buffer_count = 1 if jobs == 1 else jobs * AHEAD + 1
    hint_text = "a rerun goes on where this run stopped"
    switch_interval = sys.getswitchinterval()
    with closing(
        Buffers(buffer_count, dump_reading.tuning.longest + dump_reading.tuning.block)
    ) as buffers:
        if jobs == 1:
            # The thread that decompresses asks for the interpreter's lock a few times a block;
            # where it has to wait the usual 5 ms for it, reading takes half as long again.
            sys.setswitchinterval(_SWITCH)
            results = ordered_map(
                partial(read_block, dump_reading, buffers.views), filled_buffers(), jobs=1
            )
        else:
            worker_arguments = (dump_reading, buffers)
            results = ordered_map(
                _read_in_worker,
                filled_buffers(),
                jobs=jobs,
                initializer=_begin_worker,
                initargs=worker_arguments,
                hint=hint_text,
            )
        try:
            with closing(results):
                for block_rows in results:
                    writer.add(block_rows)
        except (KeyboardInterrupt, UserError):
            writer.flush()
            raise
        finally:
            sys.setswitchinterval(switch_interval)
    writer.flush()
    if read_errors:
        raise read_errors[0]


def _blocks_of(
    dump_reading: DumpReading,
    file_number: int,
    remaining: RemainingWork,
    buffer_views: list[memoryview],
    free_buffers: deque[int],
    jobs: int,
    advance: Callable[[int], None],
) -> Iterator[FilledBuffer]:
    """The blocks of one file that no part covers, each in the next buffer of the ring."""
    covered_here = remaining.covered.get(file_number, {})
    with closing(
        open_shard(
            dump_reading.files[file_number],
            threads=1 if jobs == 1 else 0,
            remote=dump_reading.remote[file_number] if dump_reading.remote else None,
        )
    ) as shard:
        cutter = BlockCutter(shard, dump_reading.tuning.block, dump_reading.tuning.longest)
        position_before = 0
        while block := cutter.fill(buffer_views[free_buffers[0]]):
            advance(shard.position() - position_before)
            position_before = shard.position()
            if block.number not in covered_here and dump_reading.has(file_number, block.number):
                yield FilledBuffer(file_number, block, free_buffers[0])
                free_buffers.rotate(-1)
        advance(shard.position() - position_before)
    shard_summary = {"blocks": cutter.number, "unclosed": cutter.opened and not cutter.closed}
    summary_path = dump_reading.parts / f"shard-{file_number:06}.json"
    # shares may end at the same time
    temporary_path = clear_place(summary_path.with_suffix(f".{dump_reading.share.place}.tmp"))
    temporary_path.write_text(json.dumps(sealed(shard_summary)), "utf-8")
    temporary_path.replace(summary_path)


def read_block(
    dump_reading: DumpReading, buffer_views: list[memoryview], filled: FilledBuffer
) -> BlockRows:
    """The rows of a block. `UserError` where the first block of a file has no entity at all."""
    shard, block, buffer = filled
    dump_rows = DumpRows(dump_reading.undated, dump_reading.tells_deprecated)
    bad_lines = [(1, "line_too_long", f"{block.too_long:,} bytes")] if block.too_long else []
    line_number, first_place = len(bad_lines), (shard << 24 | block.number) << 24
    collector_enabled = gc.isenabled()
    gc.disable()  # rows have no cycles; looking for some takes an eighth of the time of reading
    try:
        block_text = buffer_views[buffer][: block.end]
        for start, stop in line_spans(block_text):
            line_number += 1
            if stop - start > dump_reading.tuning.longest:
                bad_lines.append((line_number, "line_too_long", f"{stop - start:,} bytes"))
                continue
            try:
                if entity_line := _entity_of(block_text, start, stop):
                    dump_rows.add_line(entity_line, first_place + line_number)
            except _NO_ENTITY as error:
                detail = f"{stop - start:,} bytes: {error}"[:200]
                bad_lines.append((line_number, "malformed_line", detail))
    finally:
        if collector_enabled:
            gc.enable()
    first_malformed = next(
        (entity_line for entity_line in bad_lines if entity_line[1] == "malformed_line"), None
    )
    if block.number == 0 and first_malformed and not dump_rows.counts:
        hint_text = (
            "a dump is a JSON array with one entity a line, or JSON lines; of other JSON, such as "
            f"that of Special:EntityData, `{TO_LINES}` makes one"
        )
        where = dump_reading.files[shard]
        raise UserError(
            f"no entity: {first_malformed[2]}", where=where, line=first_malformed[0], hint=hint_text
        )
    return BlockRows(
        shard,
        block.number,
        line_number,
        len(dump_rows.entities) + len(dump_rows.statements) + len(bad_lines),
        pack_tables(dump_rows.statements, dump_rows.entities, dump_rows.dropped),
        dump_rows.counts,
        [BadLine(shard, block.number, *entity_line) for entity_line in bad_lines],
    )


def _entity_of(block_text: memoryview, start: int, stop: int) -> memoryview | bytes:
    """The entity on one line, without the brackets and commas of the array; it may be empty."""
    if stop > start and block_text[stop - 1] == _COMMA:
        stop -= 1
    line = block_text[start:stop]
    if line and line[0] == _OPEN and line[-1] == _CLOSE:
        return line
    return bytes(line).strip(_FRAME)


class _BlockWriter:
    """Writes the rows of blocks, many blocks as one part."""

    def __init__(self, dump_reading: DumpReading) -> None:
        self._given = dump_reading
        self._held: list[BlockRows] = []

    def add(self, new_block: BlockRows) -> None:
        """Hold one more block, and write all held blocks once they are enough."""
        self._held.append(new_block)
        tuning = self._given.tuning
        if (
            len(self._held) >= tuning.blocks
            or sum(block_rows.rows for block_rows in self._held) >= tuning.rows
        ):
            self.flush()

    def flush(self) -> None:
        """Write the held blocks as one part. `UserError` where the disk is full or read-only."""
        held_blocks, self._held = self._held, []
        if not held_blocks:
            return
        blocks: Blocks = {}
        counts: Counter[str] = Counter()
        for block_rows in held_blocks:
            blocks.setdefault(block_rows.shard, {})[block_rows.block] = block_rows.lines
            counts.update(block_rows.counts)
        parts, part_name = self._given.parts, f"{held_blocks[0].shard:06}-{held_blocks[0].block:08}"
        bad_lines = [line for block_rows in held_blocks for line in block_rows.bad]
        with disk_errors(parts):
            write_part(
                parts,
                part_name,
                [block_rows.tables for block_rows in held_blocks],
                counts=counts,
                blocks=blocks,
                bad=bad_lines,
            )


# --- Processes ----------------------------------------------------------------------------------


class Buffers:
    """Memory that this process shares with its workers; most of each buffer is never touched.

    It is one file without a name that is passed to the other processes. The file goes with the last
    process that holds it, however that process ends.
    """

    def __init__(self, count: int, size: int, file: int | None = None) -> None:
        self._count, self._size = count, size
        self._file = _open_shared_file(count * size) if file is None else file
        shared_memory = memoryview(mmap.mmap(self._file, count * size))
        self.views = [shared_memory[index * size : (index + 1) * size] for index in range(count)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _attach_buffers, (self._count, self._size, DupFd(self._file))

    def close(self) -> None:
        """Close the file; the memory is freed with the last view of it."""
        os.close(self._file)


def _open_shared_file(size: int) -> int:
    if sys.platform == "linux":
        file = os.memfd_create("blocks")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, size)
    return file


def _attach_buffers(count: int, size: int, file: Any) -> Buffers:
    return Buffers(count, size, file.detach())


_block_reader: Callable[[FilledBuffer], BlockRows]
"""In a worker process: `read_block` for the dump and the buffers of this process."""


def _begin_worker(dump_reading: DumpReading, buffers: Buffers) -> None:
    global _block_reader
    _block_reader = partial(read_block, dump_reading, buffers.views)


def _read_in_worker(filled: FilledBuffer) -> BlockRows:
    return _block_reader(filled)
