"""What the lines of an archive hold, as tables on disk; files are read in parallel."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.wmt.archive import blocks
from factdrift.builders.wmt.lines import ParsedLines, parse
from factdrift.builders.wmt.minhash import BANDS
from factdrift.builders.wmt.tables import column

_LINES = 65_536
"""Lines whose columns are written at a time, or a few more."""
_STORED: dict[str, Any] = {"compression": "lz4", "use_dictionary": False}
_BAD = pa.schema(
    {"file": pa.int32(), "line": pa.int64(), "reason": pa.string(), "detail": pa.string()}
)


class ArchiveFile(NamedTuple):
    """A file to read: its number in the archive, and the last day its articles can be of."""

    number: int
    path: Path
    last: date


class FileCounts(NamedTuple):
    """The lines of a file, and its articles before any is left out."""

    lines: int
    articles: int


def write_raw(
    files: Sequence[ArchiveFile], folder: Path, near: bool, jobs: int, block: int
) -> list[FileCounts]:
    """Write `raw-N.parquet` (articles) and `bad-N.parquet` (other lines); the counts of each file.

    `row` of a raw table is the number of articles of its file before it. With more jobs each
    process reads its own files: to hand a block to another process takes as long as to parse it.
    `near`: with signatures. `UserError`: see `blocks`, or a process that died.
    """
    sizes = {f: f.path.stat().st_size for f in files}
    total = sum(sizes.values())
    jobs = 1 if total <= 2 * block else jobs
    with progress(total, "B", "reading the archive") as bar:
        if jobs <= 1 or len(files) < 2:
            return [_read_file(f, folder, near, block, bar.advance) for f in files]
        largest_first = sorted(files, key=lambda f: (-sizes[f], f.number))
        read = partial(_read_file, folder=folder, near=near, block=block)
        counts = {}
        flow = ordered_map(read, largest_first, jobs=min(jobs, len(files)), ahead=len(files))
        for file, found in zip(largest_first, flow, strict=True):
            counts[file] = found
            bar.advance(sizes[file])
        return [counts[f] for f in files]


def _read_file(
    file: ArchiveFile,
    folder: Path,
    near: bool,
    block: int,
    advance: Callable[[int], None] = lambda n: None,
) -> FileCounts:
    def flow() -> Iterator[ParsedLines]:
        for found in blocks(file.path, block):
            yield parse(found.data, found.form, (file.last, near))
            advance(found.read)

    return _write(file.number, folder, near, flow())


def _write(number: int, folder: Path, near: bool, flow: Iterable[ParsedLines]) -> FileCounts:
    """Write what the blocks of one file hold, many lines at a time."""
    schema = _raw_schema(near)
    lines = articles = 0
    with (
        pq.ParquetWriter(folder / f"raw-{number}.parquet", schema, **_STORED) as raw,
        pq.ParquetWriter(folder / f"bad-{number}.parquet", _BAD, **_STORED) as rest,
    ):
        for portion in _portions(flow):
            firsts = list(accumulate((p.lines for p in portion), initial=lines))
            numbers = _columns(number, portion, firsts, articles, near)
            columns = [column(n, f.type) for n, f in zip(numbers, schema, strict=True)]
            raw.write_table(pa.Table.from_arrays(columns, schema=schema))
            bad = [
                (number, first + line, *why)
                for first, parsed in zip(firsts, portion, strict=False)
                for line, *why in parsed.bad
            ]
            if bad:
                rest.write_table(pa.table(list(zip(*bad, strict=True)), schema=_BAD))
            lines = firsts[-1]
            articles += len(columns[0])
    return FileCounts(lines, articles)


def _portions(flow: Iterable[ParsedLines]) -> Iterator[list[ParsedLines]]:
    """The blocks in lists of `_LINES` lines or a few more."""
    held: list[ParsedLines] = []
    for parsed in flow:
        held.append(parsed)
        if sum(p.lines for p in held) >= _LINES:
            yield held
            held = []
    if held:
        yield held


def _columns(
    file: int, portion: list[ParsedLines], firsts: list[int], before: int, near: bool
) -> list[Any]:
    """The columns of a raw table, in the order of its schema."""
    lines = [p.line.astype(np.int64) + first for p, first in zip(portion, firsts, strict=False)]
    n = sum(map(len, lines))
    columns = [
        np.arange(before, before + n, dtype=np.int64),
        np.full(n, file, np.int32),
        np.concatenate(lines),
        np.concatenate([p.day for p in portion]),
        np.concatenate([p.sentences for p in portion]),
        *_numbers(b"".join([p.digests for p in portion]), ">u8", 4),
    ]
    if near:
        columns += _numbers(b"".join([p.signatures for p in portion]), "<u8", BANDS)
    return columns


def _numbers(data: bytes, kind: str, width: int) -> list[Any]:
    """Rows of `width` 64-bit numbers, as columns."""
    return list(np.frombuffer(data, kind).astype(np.uint64).reshape(-1, width).T)


def _raw_schema(near: bool) -> pa.Schema:
    places = {"row": pa.int64(), "file": pa.int32(), "line": pa.int64()}
    about = {"day": pa.int32(), "sentences": pa.int32()}
    bands = [f"b{i}" for i in range(BANDS)] if near else []
    numbers = [*(f"d{i}" for i in range(4)), *bands]
    return pa.schema(places | about | dict.fromkeys(numbers, pa.uint64()))
