"""What the lines of an archive hold, as tables on disk; files are read side by side."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import accumulate, groupby
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.progress import progress
from builders.wmt.archive import Block, blocks
from builders.wmt.lines import Parsed, parse, parse_given
from builders.wmt.near import BANDS
from builders.wmt.spread import Place, over_blocks, processes
from builders.wmt.tables import column

_LINES = 65_536
"""Lines whose columns are written at a time, or a few more."""
_KEPT = 16 << 20
"""The C library keeps what is freed up to twice the largest piece it saw freed; with less than a
few blocks it would give each back to the system, a tenth of the time of reading."""
_STORED: dict[str, Any] = {"compression": "lz4", "use_dictionary": False}
_BAD = pa.schema(
    {"file": pa.int32(), "line": pa.int64(), "reason": pa.string(), "detail": pa.string()}
)


class Task(NamedTuple):
    """A file to read: its number in the archive, and the last day its articles can be of."""

    number: int
    path: Path
    last: date


class Counts(NamedTuple):
    """What a file has: lines, and articles before any is left out."""

    lines: int
    articles: int


def write_raw(
    tasks: Sequence[Task], folder: Path, near: bool, jobs: int, block: int
) -> list[Counts]:
    """Write `raw-N.parquet` (articles) and `bad-N.parquet` (other lines); the counts of each file.

    `row` of a raw table is the number of articles of its file before it. With more jobs each
    process reads whole files: to hand a block to another process takes as long as to parse it.
    Only signatures (`near`) are so slow that blocks are handed out. `UserError`: see `blocks`, or
    a process that died.
    """
    sizes = {t: t.path.stat().st_size for t in tasks}
    total = sum(sizes.values())
    jobs = 1 if total <= 2 * block else jobs
    if near and jobs > 1:
        return _by_blocks(tasks, folder, jobs, block)
    with progress(total, "B", "reading the archive") as bar:
        if jobs <= 1 or len(tasks) < 2:
            return [_read_file(t, folder, near, block, bar.advance) for t in tasks]
        largest_first = iter(sorted(tasks, key=lambda t: (-sizes[t], t.number)))
        jobs = min(jobs, len(tasks))
        found = _side_by_side(largest_first, folder, block, jobs, bar.advance)
        return [found[t] for t in tasks]


def _side_by_side(
    waiting: Iterator[Task], folder: Path, block: int, jobs: int, advance: Callable[[int], None]
) -> dict[Task, Counts]:
    """Read files in other processes and in this one, each of which takes the next that waits."""
    lock = Lock()

    def told(n: int) -> None:
        with lock:
            advance(n)

    def here(task: Task) -> Counts:
        return _read_file(task, folder, False, block, told)

    def elsewhere(task: Task) -> Counts:
        counts = pool.submit(_read_file, task, folder, False, block).result()
        told(task.path.stat().st_size)
        return counts

    def read(how: Callable[[Task], Counts]) -> dict[Task, Counts]:
        try:
            return {task: how(task) for task in waiting}
        finally:
            deque(waiting, 0)  # where one failed, no other is begun

    with ThreadPoolExecutor(jobs - 1) as threads, processes(jobs - 1) as pool:
        others = [threads.submit(read, elsewhere) for _ in range(jobs - 1)]
        found = read(here)
        for other in others:
            found |= other.result()
    return found


def _by_blocks(tasks: Sequence[Task], folder: Path, jobs: int, block: int) -> list[Counts]:
    """Read with signatures: this process decompresses, others parse."""

    def about(place: Place, found: Block) -> tuple[date, bool]:
        return tasks[place.file].last, True

    counts = [Counts(0, 0)] * len(tasks)
    flow = over_blocks([t.path for t in tasks], parse_given, about, jobs=jobs, block=block)
    for file, found in groupby(flow, lambda pair: pair[0].file):
        counts[file] = _write(tasks[file].number, folder, True, (parsed for _, parsed in found))
    return counts


def _read_file(
    task: Task,
    folder: Path,
    near: bool,
    block: int,
    advance: Callable[[int], None] = lambda n: None,
) -> Counts:
    def flow() -> Iterator[Parsed]:
        bytes(_KEPT)
        for found in blocks(task.path, block):
            yield parse(found.data, found.form, task.last, near)
            advance(found.read)

    return _write(task.number, folder, near, flow())


def _write(number: int, folder: Path, near: bool, flow: Iterable[Parsed]) -> Counts:
    """Write what the blocks of one file hold."""
    lines = articles = 0
    with (
        pq.ParquetWriter(folder / f"raw-{number}.parquet", _raw_schema(near), **_STORED) as raw,
        pq.ParquetWriter(folder / f"bad-{number}.parquet", _BAD, **_STORED) as rest,
    ):
        for some in _portions(flow):
            firsts = list(accumulate((p.lines for p in some), initial=lines))
            numbers = _columns(number, some, firsts, articles, near)
            columns = [column(n, f.type) for n, f in zip(numbers, raw.schema, strict=True)]
            raw.write_table(pa.Table.from_arrays(columns, schema=raw.schema))
            bad = [
                (number, first + line, *why)
                for first, found in zip(firsts, some, strict=False)
                for line, *why in found.bad
            ]
            if bad:
                rest.write_table(pa.table(list(zip(*bad, strict=True)), schema=_BAD))
            lines = firsts[-1]
            articles += len(columns[0])
    return Counts(lines, articles)


def _portions(flow: Iterable[Parsed]) -> Iterator[list[Parsed]]:
    """The blocks in lists of a good many lines."""
    held: list[Parsed] = []
    for found in flow:
        held.append(found)
        if sum(p.lines for p in held) >= _LINES:
            yield held
            held = []
    if held:
        yield held


def _columns(
    file: int, some: list[Parsed], firsts: list[int], before: int, near: bool
) -> list[Any]:
    lines = [p.line.astype(np.int64) + first for p, first in zip(some, firsts, strict=False)]
    line = np.concatenate(lines)
    n = len(line)
    columns = [
        np.arange(before, before + n, dtype=np.int64),
        np.full(n, file, np.int32),
        line,
        np.concatenate([p.day for p in some]),
        np.concatenate([p.sentences for p in some]),
        *_words(b"".join([p.digests for p in some]), ">u8", 4),
    ]
    if near:
        columns += _words(b"".join([p.signatures for p in some]), "<u8", BANDS)
    return columns


def _words(data: bytes, kind: str, width: int) -> list[Any]:
    """Rows of so many 64-bit numbers, as columns."""
    numbers = np.frombuffer(data, kind).astype(np.uint64).reshape(-1, width)
    return list(numbers.T)


def _raw_schema(near: bool) -> pa.Schema:
    whole = {"row": pa.int64(), "file": pa.int32(), "line": pa.int64()}
    small = {"day": pa.int32(), "sentences": pa.int32()}
    bands = [f"b{i}" for i in range(BANDS)] if near else []
    numbers = [*(f"d{i}" for i in range(4)), *bands]
    return pa.schema(whole | small | dict.fromkeys(numbers, pa.uint64()))
