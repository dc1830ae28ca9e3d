"""What the lines of an archive hold, as tables on disk; files are read in parallel."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.wmt.archive import line_blocks
from factdrift.builders.wmt.lines import parse_block

_ROWS = 65_536
"""Rows that are written at a time, or a few more."""
_STORED: dict[str, Any] = {"compression": "lz4", "use_dictionary": False}
_RAW = pa.schema(
    {
        "row": pa.int64(),
        "file": pa.int32(),
        "line": pa.int64(),
        "day": pa.int32(),
        "sentences": pa.int32(),
        "sha256": pa.binary(32),
        "signature": pa.binary(),
    }
)
_BAD = pa.schema(
    {"file": pa.int32(), "line": pa.int64(), "reason": pa.string(), "detail": pa.string()}
)


class ArchiveFile(NamedTuple):
    """A file to read: its number in the archive, and the last day its articles can be of."""

    number: int
    path: Path
    last: date


def write_raw(
    files: Sequence[ArchiveFile], folder: Path, near: bool, jobs: int, block: int
) -> list[int]:
    """Write `raw-N.parquet` (articles) and `bad-N.parquet` (other lines); how many articles
    each file has before any is left out.

    `row` of a raw table is the number of articles of its file before it. With more jobs each
    process reads its own files: to hand a block to another process takes as long as to parse it.
    `near`: with signatures. `UserError`: see `blocks`, or a process that died.
    """
    sizes = {f: f.path.stat().st_size for f in files}
    total = sum(sizes.values())
    read = partial(_read_file, folder=folder, near=near, block=block)
    with progress(total, "B", "reading the archive") as bar:
        if jobs <= 1 or len(files) < 2 or total <= 2 * block:
            return [read(f, advance=bar.advance) for f in files]
        largest_first = sorted(files, key=lambda f: (-sizes[f], f.number))
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
) -> int:
    number = file.number
    lines = articles = 0
    good: list[tuple[Any, ...]] = []
    bad: list[tuple[Any, ...]] = []
    with (
        pq.ParquetWriter(folder / f"raw-{number}.parquet", _RAW, **_STORED) as raw,
        pq.ParquetWriter(folder / f"bad-{number}.parquet", _BAD, **_STORED) as rest,
    ):
        for found in line_blocks(file.path, block):
            parsed = parse_block(found.data, found.form, file.last, near)
            for row, (line, *about) in enumerate(parsed.articles, articles):
                good.append((row, number, lines + line, *about))
            bad += [(number, lines + line, *why) for line, *why in parsed.bad]
            lines += parsed.lines
            articles += len(parsed.articles)
            for writer, rows in ((raw, good), (rest, bad)):
                if len(rows) >= _ROWS:
                    writer.write_table(_table(rows, writer.schema))
                    rows.clear()
            advance(found.read)
        raw.write_table(_table(good, _RAW))
        rest.write_table(_table(bad, _BAD))
    return articles


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
