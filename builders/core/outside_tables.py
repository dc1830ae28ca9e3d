"""Parquet files from outside, read in bounded memory.

Compression and dictionaries let a megabyte of Parquet stand for gigabytes. So a file is refused
that unpacks to far more than honest ones do (`core.limits`), by what its own table of contents says
and by what is read; and as few rows are read at a time as fit into memory where each of them may be
as long as the longest text of a dictionary.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factdrift.builders.core.limits import LARGEST_BATCH, check_unpacked

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# A page's header begins with its kind and its unpacked size, each an integer (type 5) of Thrift's
# compact protocol whose field number is one more than that of the last.
_INTEGER_FIELD = 0x15
_ROW_BYTES = 256
"""Bytes that a row counts for at least. A row without values takes none, so that ten kilobytes can
hold a million of them, each of which is read and dropped with a reason. Rows with a title or an id
of their own take ten packed."""
_HEADER_START = 16
"""Bytes that hold both: two marks and two numbers of at most five bytes."""


def bounded_batches(
    table: "pq.ParquetFile",
    path: Path,
    size: int,
    columns: Sequence[str],
    row_groups: Sequence[int] | None = None,
) -> "Iterator[pa.RecordBatch]":
    """The rows of some columns, `size` of them at a time or fewer.

    `UserError`: the file unpacks to far more than its size.
    """
    file_size = path.stat().st_size
    check_unpacked(file_size, table.metadata.num_rows * _ROW_BYTES, path)
    unpacked = 0
    for group in range(table.num_row_groups) if row_groups is None else row_groups:
        group_size = min(size, _rows_at_once(table, path, group, columns, file_size))
        for batch in table.iter_batches(group_size, row_groups=[group], columns=list(columns)):
            unpacked += max(batch.nbytes, batch.num_rows * _ROW_BYTES)
            check_unpacked(file_size, unpacked, path)
            yield batch


def _rows_at_once(
    table: "pq.ParquetFile", path: Path, group: int, columns: Sequence[str], file_size: int
) -> int:
    """The rows that fit into memory even if each has the longest value of a dictionary."""
    contents = table.metadata.row_group(group)
    all_chunks = [contents.column(number) for number in range(contents.num_columns)]
    chunks = [chunk for chunk in all_chunks if chunk.path_in_schema.split(".")[0] in columns]
    packed = min(file_size, sum(chunk.total_compressed_size for chunk in chunks))
    check_unpacked(packed, sum(chunk.total_uncompressed_size for chunk in chunks), path)
    row_bytes = 0
    with path.open("rb") as file:
        for chunk in chunks:
            if page_size := _dictionary_size(file, chunk):
                check_unpacked(packed, page_size, path)
                values_in_row = max(1, chunk.num_values // max(contents.num_rows, 1))
                row_bytes += page_size * values_in_row
    return max(1, LARGEST_BATCH // max(row_bytes, 1))


def _dictionary_size(file: Any, chunk: Any) -> int:
    """The unpacked bytes of a column's dictionary; 0 where it has none."""
    if not chunk.has_dictionary_page or chunk.dictionary_page_offset is None:
        return 0
    file.seek(chunk.dictionary_page_offset)
    header = file.read(_HEADER_START)
    if header[:1] != bytes([_INTEGER_FIELD]):
        return 0
    _, place = _number(header, 1)
    if header[place : place + 1] != bytes([_INTEGER_FIELD]):
        return 0
    return max(0, _number(header, place + 1)[0])


def _number(header: bytes, place: int) -> tuple[int, int]:
    """A number as Thrift writes it, seven bits a byte, and the place behind it."""
    bits = shift = 0
    while place < len(header):
        byte = header[place]
        place += 1
        bits |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return (bits >> 1) ^ -(bits & 1), place
