"""Write rows as Parquet: the bytes are a function of the rows, not of how they were batched."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from factdrift.builders.core.dataset import FromParquet, RowSource
from factdrift.builders.core.schema import ROW_GROUP, arrow_schema, columns, declared, regrouped


def write_split(path: Path, row: type, source: RowSource, group: int = ROW_GROUP) -> int:
    """Write one split, return its number of rows; no rows give a file with a schema alone.

    `group` is the number of rows of a row group, and the most that memory holds.

    Columns are taken by name and cast to the row type's schema. `ValueError` where a column is
    missing or holds a null that the row type does not allow: a bug of the builder.
    """
    schema = described_schema(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        write_page_index=True,
        use_content_defined_chunking=True,
    ) as writer:
        flow = (declared(batch, schema, path.name) for batch in read_source(source, group))
        for part in regrouped(flow, group):
            writer.write_table(part, row_group_size=group)
            rows += part.num_rows
    return rows


def read_source(source: RowSource, size: int = ROW_GROUP) -> Iterator[pa.RecordBatch]:
    """The record batches of a source, in order, of at most `size` rows where it is a file."""
    if not isinstance(source, FromParquet):
        yield from source()
        return
    chosen: Any = None
    for name, value in source.where.items():
        test = pc.field(name).is_null() if value is None else pc.field(name) == pc.scalar(value)
        chosen = test if chosen is None else chosen & test
    table = ds.dataset(source.path, format="parquet")
    few = {"batch_readahead": 2, "fragment_readahead": 1}  # memory before speed
    yield from table.scanner(filter=chosen, batch_size=size, **few).to_batches()


def described_schema(row: type) -> pa.Schema:
    """The schema of a row type, each column carrying its description as metadata."""
    return pa.schema(
        [
            field.with_metadata({"description": column.description})
            for field, column in zip(arrow_schema(row), columns(row), strict=True)
        ]
    )


def column_kinds(schema: pa.Schema) -> list[tuple[str, str]]:
    """What the columns of a file are, as the manifest says it."""
    return [(field.name, type_name(field.type) + " or null" * field.nullable) for field in schema]


def type_name(kind: pa.DataType) -> str:
    """A type as the manifest and the card print it, the same under every pyarrow.

    `string`, `int64`, `list<struct<id: string, label: string>>`.
    """
    if pa.types.is_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        inner = ", ".join(f"{field.name}: {type_name(field.type)}" for field in kind)
        return f"struct<{inner}>"
    if pa.types.is_date32(kind):
        return "date"
    return str(kind)
