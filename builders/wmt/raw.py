"""The lines of an archive as tables on disk; files are read in parallel."""

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
"""The rows that are written at a time, or a few more."""
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
BAD_LINES = pa.schema(
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
    """Write `raw-N.parquet` (articles) and `bad-N.parquet` (other lines) for each file.

    Returns how many articles each file has before any is left out. `row` in a raw table is the
    number of articles before this one in its file. With `near`, the articles get signatures, which
    take several times as long as reading: only then do several jobs read, each process its own
    files, because handing a block to another process takes as long as parsing it. `UserError` as in
    `line_blocks`, or where a process died.
    """
    file_sizes = {archive_file: archive_file.path.stat().st_size for archive_file in files}
    total_bytes = sum(file_sizes.values())
    read_file = partial(_read_file, folder=folder, near=near, block=block)
    with progress(total_bytes, "B", "reading the archive") as progress_bar:
        if not near or jobs <= 1 or len(files) < 2 or total_bytes <= 2 * block:
            return [read_file(archive_file, advance=progress_bar.advance) for archive_file in files]
        largest_first = sorted(
            files, key=lambda archive_file: (-file_sizes[archive_file], archive_file.number)
        )
        counts_by_file = {}
        file_counts = ordered_map(
            read_file, largest_first, jobs=min(jobs, len(files)), ahead=len(files)
        )
        for file, article_count in zip(largest_first, file_counts, strict=True):
            counts_by_file[file] = article_count
            progress_bar.advance(file_sizes[file])
        return [counts_by_file[archive_file] for archive_file in files]


def _read_file(
    file: ArchiveFile,
    folder: Path,
    near: bool,
    block: int,
    advance: Callable[[int], None] = lambda byte_count: None,
) -> int:
    file_number = file.number
    line_count = article_count = 0
    article_rows: list[tuple[Any, ...]] = []
    bad_rows: list[tuple[Any, ...]] = []
    with (
        pq.ParquetWriter(folder / f"raw-{file_number}.parquet", _RAW, **_STORED) as raw_writer,
        pq.ParquetWriter(folder / f"bad-{file_number}.parquet", BAD_LINES, **_STORED) as bad_writer,
    ):
        for line_block in line_blocks(file.path, block):
            parsed = parse_block(line_block.data, line_block.form, file.last, near)
            for row_number, (line_number, *fields) in enumerate(parsed.articles, article_count):
                article_rows.append((row_number, file_number, line_count + line_number, *fields))
            bad_rows += [
                (file_number, line_count + line_number, *why) for line_number, *why in parsed.bad
            ]
            line_count += parsed.lines
            article_count += len(parsed.articles)
            for writer, rows in ((raw_writer, article_rows), (bad_writer, bad_rows)):
                if len(rows) >= _ROWS:
                    writer.write_table(_table(rows, writer.schema))
                    rows.clear()
            advance(line_block.read)
        raw_writer.write_table(_table(article_rows, _RAW))
        bad_writer.write_table(_table(bad_rows, BAD_LINES))
    return article_count


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
