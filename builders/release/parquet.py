"""Write rows as Parquet: the bytes are a function of the rows, not of how they were batched."""

from collections.abc import Iterator
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from factdrift.builders.core.dataset import FromParquet, RowSource
from factdrift.builders.core.schema import ROW_GROUP, arrow_schema, columns, declared, regrouped

_SMALL_FILE = 8 << 20
"""Bytes of a file that is read once for all of its splits, and not once for each: a sample's rows,
whose splits are many and small. In memory it takes some ten times as much."""


def write_split(
    parquet_path: Path, row_type: type, row_source: RowSource, group_rows: int = ROW_GROUP
) -> int:
    """Write one split, return its number of rows; no rows give a file with a schema alone.

    `group_rows` is the number of rows of a row group, and the most that memory holds.

    Columns are taken by name and cast to the row type's schema. `ValueError` where a column is
    missing or holds a null that the row type does not allow: a bug of the builder.
    """
    schema = described_schema(row_type)
    parquet_path.parent.mkdir(parents=True, exist_ok=True)
    row_count = 0
    with pq.ParquetWriter(
        parquet_path,
        schema,
        compression="zstd",
        write_page_index=True,
        use_content_defined_chunking=True,
    ) as parquet_writer:
        batch_flow = (
            declared(batch, schema, parquet_path.name)
            for batch in read_source(row_source, group_rows)
        )
        for batch_part in regrouped(batch_flow, group_rows):
            parquet_writer.write_table(batch_part, row_group_size=group_rows)
            row_count += batch_part.num_rows
    return row_count


def read_source(row_source: RowSource, batch_size: int = ROW_GROUP) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a source, in order; of a file, `batch_size` rows at most."""
    if not isinstance(row_source, FromParquet):
        yield from row_source()
        return
    file_facts = row_source.path.stat()
    if row_source.path.is_file() and file_facts.st_size <= _SMALL_FILE:
        table = _whole_table(row_source.path, file_facts.st_mtime_ns, file_facts.st_size)
        conditions = [
            pc.is_null(table.column(name))
            if column_value is None
            else pc.equal(table.column(name), column_value)
            for name, column_value in row_source.where.items()
        ]
        if conditions:
            table = table.filter(reduce(pc.and_, conditions))
        yield from table.to_batches(batch_size)
        return
    import pyarrow.dataset as ds  # which imports pandas, where that is installed

    row_filter: Any = None
    for name, column_value in row_source.where.items():
        test = (
            pc.field(name).is_null()
            if column_value is None
            else pc.field(name) == pc.scalar(column_value)
        )
        row_filter = test if row_filter is None else row_filter & test
    source_table = ds.dataset(row_source.path, format="parquet")
    few = {"batch_readahead": 2, "fragment_readahead": 1}  # memory before speed
    yield from source_table.scanner(filter=row_filter, batch_size=batch_size, **few).to_batches()


@lru_cache(maxsize=1)
def _whole_table(path: Path, _changed_at: int, _size: int) -> pa.Table:
    """Return all rows of a small file; of the last file only, whose splits are read in turn."""
    return pq.ParquetFile(path).read()


def described_schema(row_type: type) -> pa.Schema:
    """The schema of a row type, each column carrying its description as metadata."""
    return pa.schema(
        [
            schema_field.with_metadata({"description": column.description})
            for schema_field, column in zip(arrow_schema(row_type), columns(row_type), strict=True)
        ]
    )


def column_kinds(schema: pa.Schema) -> list[tuple[str, str]]:
    """Return the name and type of each column of a file, as the manifest writes them."""
    return [
        (schema_field.name, type_name(schema_field.type) + " or null" * schema_field.nullable)
        for schema_field in schema
    ]


def type_name(data_type: pa.DataType) -> str:
    """A type as the manifest and the card print it, the same under every pyarrow.

    `string`, `int64`, `list<struct<id: string, label: string>>`.
    """
    if pa.types.is_list(data_type):
        return f"list<{type_name(data_type.value_type)}>"
    if pa.types.is_struct(data_type):
        inner_type = ", ".join(
            f"{schema_field.name}: {type_name(schema_field.type)}" for schema_field in data_type
        )
        return f"struct<{inner_type}>"
    if pa.types.is_date32(data_type):
        return "date"
    return str(data_type)
