"""Timelines aligned with pages, file by file: `align_file`, then `keep_pairs`.

How one page is aligned is said in `align_page`, the rules of which pairs are kept in `align_keep`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builders import rows
from builders.schema import arrow_schema, regrouped
from builders.timeqa.align_files import in_order, pieces
from builders.timeqa.align_keep import DROPPED_ORDER, Kept, keep_pairs
from builders.timeqa.align_page import Alignment, Named, align_page, align_piece

__all__ = [
    "DROPPED_ORDER",
    "Alignment",
    "Kept",
    "Named",
    "align_file",
    "align_page",
    "keep_pairs",
]

_ROWS = 65_536
"""Rows of a row group."""


def align_file(
    pages: Path, segments: Path, out: Path, settings: Alignment, jobs: int = 1
) -> Mapping[str, int]:
    """Align a file of `rows.NamedSegment`, sorted by subject, with one of `rows.Page`, by item.

    Writes `aligned.parquet` (`rows.AlignedSegment`, in the order of the segments) and
    `dropped.parquet` (`rows.Dropped`: the segments whose subject has no page, reason `no_page`)
    into the folder `out`. Memory holds a few pages a process; the bytes do not depend on `jobs`.
    Returns the number of rows of each. `UserError`: see `align_files.pieces`.
    """
    out.mkdir(parents=True, exist_ok=True)
    kinds = {"aligned": rows.AlignedSegment, "dropped": rows.Dropped}
    counts = dict.fromkeys(kinds, 0)
    writers = {
        name: pq.ParquetWriter(out / f"{name}.parquet", arrow_schema(row), compression="zstd")
        for name, row in kinds.items()
    }
    held: dict[str, list[pa.RecordBatch]] = {name: [] for name in kinds}
    try:
        for found in in_order(align_piece, pieces(pages, segments), settings, jobs):
            for name, some in zip(kinds, found, strict=True):
                held[name] += some
                counts[name] += sum(b.num_rows for b in some)
                if sum(b.num_rows for b in held[name]) >= _ROWS:
                    held[name] = list(_write(writers[name], held[name], _ROWS))
        for name in kinds:
            for rest in _write(writers[name], held[name], _ROWS):
                writers[name].write_batch(rest)
    finally:
        for writer in writers.values():
            writer.close()
    return counts


def _write(
    writer: pq.ParquetWriter, held: Sequence[pa.RecordBatch], size: int
) -> Iterator[pa.RecordBatch]:
    """Write whole row groups of what is held; yields the rest."""
    for group in regrouped(held, size):
        if group.num_rows == size:
            writer.write_table(group, row_group_size=size)
        else:
            yield from group.to_batches()
