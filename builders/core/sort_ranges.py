"""Rows in ranges of their sort key, each small enough to be sorted in memory.

DuckDB moves to disk what it sorts, but not all that it needs for it, so that many rows do not fit
into memory. Here rows are stored as they come, a sample of their keys says where to cut, and each
row goes to a file of its range. Ranges can then be sorted one after another. Rows with equal keys
are in one range, so that the order of all rows does not depend on where they were cut.
"""

from collections.abc import Sequence
from math import ceil
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from factdrift.builders.core import duck

_SAMPLED_KEYS = 200
"""Sampled keys for each range. The sizes of ranges then differ by about a fifteenth."""
_VALUE_BYTES = 16
"""Bytes that a value takes in DuckDB's memory beside those of a text or of a list's elements."""
_FORMAT = "FORMAT parquet, COMPRESSION lz4"
_RANGE = "sort_range"
"""The name of the column with the number of the range; no row type has such a column."""


def store(
    connection: duckdb.DuckDBPyConnection, query: str, path: Path, row_group_bytes: int
) -> None:
    """Write the rows of a query to a Parquet file, as they come.

    Each thread holds rows of `row_group_bytes` until it writes them. Values are not replaced by
    numbers of a dictionary, so that the file tells how many bytes they take in memory.
    """
    options = f"DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE_BYTES {row_group_bytes}"
    connection.execute(f"COPY ({query}) TO {duck.text(str(path))} ({_FORMAT}, {options})")


def distribute(
    connection: duckdb.DuckDBPyConnection, path: Path, sort_values: Sequence[str], range_bytes: int
) -> list[list[Path]]:
    """Return the files of each range of the rows that `store` has written, in order.

    `sort_values` are the expressions of SQL that rows are sorted by, ascending, nulls first. The
    rows of a range take about `range_bytes` in memory. If all rows take no more, the stored file is
    the only range.
    """
    row_count, all_bytes = _sizes(path)
    range_count = ceil(all_bytes / range_bytes)
    if range_count <= 1:
        return [[path]]
    rows_a_range = ceil(row_count / range_count)
    source = duck.parquet(path)
    sort_directions = ", ".join(f"{value}, 'ASC NULLS FIRST'" for value in sort_values)
    # Its bytes sort as the values do, of whatever types they are.
    sort_key = f"create_sort_key({sort_directions})"
    sample_size = range_count * _SAMPLED_KEYS
    key_sample = f"SELECT {sort_key} FROM {source} USING SAMPLE {sample_size} ROWS"  # noqa: S608 - quoted
    sampled_keys = sorted(row[0] for row in connection.execute(key_sample).fetchall())
    first_keys = sorted(
        {sampled_keys[len(sampled_keys) * place // range_count] for place in range(1, range_count)}
    )
    folder = path.with_suffix("")
    # A thread holds so many rows of all ranges until it writes them.
    connection.execute(f"SET partitioned_write_flush_threshold = {rows_a_range}")
    keyed_rows = f"SELECT *, {sort_key} AS sort_key FROM {source}"  # noqa: S608 - quoted
    numbered_columns = f"* EXCLUDE (sort_key), {_range_number(first_keys)} AS {_RANGE}"
    numbered_rows = f"SELECT {numbered_columns} FROM ({keyed_rows})"  # noqa: S608 - quoted
    options = f"{_FORMAT}, PARTITION_BY ({_RANGE})"
    connection.execute(f"COPY ({numbered_rows}) TO {duck.text(str(folder))} ({options})")
    range_folders = sorted(folder.iterdir(), key=lambda inner: int(inner.name.rpartition("=")[2]))
    return [sorted(range_folder.iterdir()) for range_folder in range_folders]


def _sizes(path: Path) -> tuple[int, int]:
    """Return the number of rows of a stored file, and about how many bytes they take in memory."""
    metadata = pq.read_metadata(path)
    all_bytes = 0
    for group_number in range(metadata.num_row_groups):
        row_group = metadata.row_group(group_number)
        value_counts = (row_group.column(i).num_values for i in range(row_group.num_columns))
        all_bytes += row_group.total_byte_size + sum(value_counts) * _VALUE_BYTES
    return metadata.num_rows, all_bytes


def _range_number(first_keys: Sequence[bytes], lowest: int = 0) -> str:
    """Return SQL for the number of the range of a `sort_key`, found by halving.

    `first_keys` are the least keys of all ranges but the first one, whose number is `lowest`.
    """
    if not first_keys:
        return str(lowest)
    middle = len(first_keys) // 2
    below = _range_number(first_keys[:middle], lowest)
    above = _range_number(first_keys[middle + 1 :], lowest + middle + 1)
    middle_key = f"unhex('{first_keys[middle].hex()}')"
    return f"CASE WHEN sort_key < {middle_key} THEN {below} ELSE {above} END"
