"""The lines of an archive that are no article and those that were left out, in its order.

Both come in this order, and are merged as they are read: whatever the number of bad lines, some
tens of thousands are in memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import Dropped

_ROWS = 32_768
"""The rows that are read at a time."""
_MOST_LINES = 1 << 40
"""More lines than a file has."""
LINE_COLUMNS = pa.schema(
    {
        "file": pa.int32(),
        "line": pa.int64(),
        "reason": pa.string(),
        "score": pa.float64(),
        "detail": pa.string(),
    }
)
"""What is known of a line that is dropped."""


def dropped_rows(
    folder: Path, names: Sequence[str], left_out: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """`rows.Dropped` of the lines in `bad-N.parquet` and of the articles that were left out.

    `names` are the files of the archive; `left_out` has `LINE_COLUMNS`, sorted by file and line.
    """
    file_names = pa.array(names, pa.string())
    lines_left_out = (pa.Table.from_batches([batch]).cast(LINE_COLUMNS) for batch in left_out)
    for lines in _merged(_bad_lines(folder, len(names)), lines_left_out):
        for batch in lines.to_batches():
            yield _dropped(batch, file_names)


def _bad_lines(folder: Path, file_count: int) -> Iterator[pa.Table]:
    for number in range(file_count):
        with pq.ParquetFile(folder / f"bad-{number}.parquet") as file:
            for batch in file.iter_batches(_ROWS):
                scores = pa.nulls(batch.num_rows, pa.float64())
                lines = pa.Table.from_batches([batch]).append_column("score", scores)
                yield lines.select(LINE_COLUMNS.names)


def _merged(first: Iterator[pa.Table], second: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The rows of two flows of sorted tables as one flow of sorted tables."""
    first_table, second_table = _next_table(first), _next_table(second)
    while first_table.num_rows and second_table.num_rows:
        # up to here both are complete: what comes next in either is behind it
        bound = min(_place(first_table, -1), _place(second_table, -1))
        first_count, second_count = (
            _rows_up_to(first_table, bound),
            _rows_up_to(second_table, bound),
        )
        tables = [first_table.slice(0, first_count), second_table.slice(0, second_count)]
        yield pa.concat_tables(tables).sort_by([("file", "ascending"), ("line", "ascending")])
        first_table, second_table = first_table.slice(first_count), second_table.slice(second_count)
        first_table = first_table if first_table.num_rows else _next_table(first)
        second_table = second_table if second_table.num_rows else _next_table(second)
    for table, rest in ((first_table, first), (second_table, second)):
        if table.num_rows:
            yield table
        yield from rest


def _next_table(tables: Iterator[pa.Table]) -> pa.Table:
    """The next table that has rows; at the end one without."""
    return next((table for table in tables if table.num_rows), LINE_COLUMNS.empty_table())


def _place(lines: pa.Table, row: int) -> int:
    """The place of a line in the archive: later ones have larger numbers."""
    file_number, line_number = (int(lines[name][row].as_py()) for name in ("file", "line"))
    return file_number * _MOST_LINES + line_number


def _rows_up_to(lines: pa.Table, bound: int) -> int:
    """How many rows of a sorted table lie up to a place."""
    places = pc.add(pc.multiply(lines["file"].cast(pa.int64()), _MOST_LINES), lines["line"])
    return int(pc.sum(pc.less_equal(places, bound)).as_py())


def _dropped(lines: pa.RecordBatch, file_names: pa.Array) -> pa.RecordBatch:
    items = pc.binary_join_element_wise(
        file_names.take(lines["file"]), lines["line"].cast(pa.string()), ":"
    )
    columns = {"reason": lines["reason"], "item": items, "score": lines["score"]}
    columns |= {"step": pa.repeat("read", lines.num_rows), "detail": lines["detail"]}
    return pa.RecordBatch.from_arrays(
        [
            columns[field.name].cast(field.type)
            if field.name in columns
            else pa.nulls(lines.num_rows, field.type)
            for field in arrow_schema(Dropped)
        ],
        schema=arrow_schema(Dropped),
    )
