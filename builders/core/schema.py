"""Arrow schemas, column tables and Parquet files of the row types in `builders.rows`.

Arrow is imported inside functions, because it starts threads; the processes that read dumps need
the row types, but not Arrow.
"""

import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

T = TypeVar("T")

RENDERED = "rendered"
"""Marks a column that a template or a rule writes from the facts; a change of it is a patch."""

MEASURED = "measured"
"""Marks a column that is measured in the dump, such as popularity or the day of the dump.

It does not describe the fact, so a change of it is a patch.
"""
MEASURED_IF = "measured while "
"""A prefix of the name of a bool column: a column is `MEASURED` in rows where that one is true."""

ROW_GROUP = 65_536
"""Rows of a Parquet row group of every file that is written, but its last group: small enough to
be read one at a time, large enough to compress. It decides the bytes of a release's files."""
PAGE_ROW_GROUP = 256
"""The same where each row holds the text of a whole page, which is tens of kilobytes."""
BATCH_ROWS = 8192
"""Typed rows that are turned into Arrow at a time, and the row group of intermediate tables that
are appended to row by row: Python objects take far more memory than Arrow's columns."""

_SCALARS = {str: "string", int: "int64", float: "float64", bool: "bool", date: "date32"}
"""The names of Arrow types for simple Python types."""


class Column(NamedTuple):
    """One column as the card prints it.

    `rendered` says whether a template or a rule writes it. `measured` says in which rows it is
    measured in the dump: `*` in all rows, empty in none, otherwise in those where the bool column
    of this name is true.
    """

    name: str
    type: "pa.DataType"
    nullable: bool
    description: str
    rendered: bool
    measured: str


def _arrow(hint: Any) -> "tuple[pa.DataType, bool]":
    """Return the Arrow type of a type hint, and whether it can be null."""
    import pyarrow as pa

    origin, type_arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _arrow(type_arguments[0])
    if origin in (Union, types.UnionType):
        inner_hints = [argument for argument in type_arguments if argument is not type(None)]
        if len(inner_hints) == 1:
            return _arrow(inner_hints[0])[0], True
    if origin is Literal:
        return pa.string(), False
    if origin is tuple and len(type_arguments) == 2 and type_arguments[1] is Ellipsis:
        return pa.list_(pa.field("item", _arrow(type_arguments[0])[0], nullable=False)), False
    if isinstance(hint, type) and is_dataclass(hint):
        return pa.struct(list(arrow_schema(hint))), False
    if hint in _SCALARS:
        return pa.type_for_alias(_SCALARS[hint]), False
    raise TypeError(f"no Arrow type for {hint!r}")


def _measured(column_notes: Sequence[Any]) -> str:
    if MEASURED in column_notes:
        return "*"
    conditions = (note for note in column_notes[1:] if str(note).startswith(MEASURED_IF))
    return next((str(note).removeprefix(MEASURED_IF) for note in conditions), "")


@cache
def columns(row: Any) -> tuple[Column, ...]:
    """Return the columns of a row type in order, with their descriptions."""
    column_hints = get_type_hints(row, include_extras=True)
    column_list = []
    for field in fields(row):
        _, *column_notes = get_args(column_hints[field.name])
        arrow_type, nullable = _arrow(column_hints[field.name])
        column_list.append(
            Column(
                field.name,
                arrow_type,
                nullable,
                column_notes[0],
                RENDERED in column_notes,
                _measured(column_notes),
            )
        )
    return tuple(column_list)


@cache
def arrow_schema(row: Any) -> "pa.Schema":
    """Return the Arrow schema of a row type, in which columns without nulls are declared so."""
    import pyarrow as pa

    return pa.schema(
        [pa.field(column.name, column.type, column.nullable) for column in columns(row)]
    )


def batches(row: Any, rows: Iterable[Any], size: int = BATCH_ROWS) -> "Iterator[pa.RecordBatch]":
    """Yield typed rows as record batches of at most `size` rows."""
    import pyarrow as pa

    schema = arrow_schema(row)
    column_names = schema.names
    row_iterator = iter(rows)
    while chunk := list(islice(row_iterator, size)):
        column_arrays = [
            pa.array(
                [_plain(getattr(chunk_row, column_name)) for chunk_row in chunk],
                schema.field(column_name).type,
            )
            for column_name in column_names
        ]
        yield pa.RecordBatch.from_arrays(column_arrays, schema=schema)


def regrouped(flow: "Iterable[pa.RecordBatch]", size: int) -> "Iterator[pa.Table]":
    """Yield the rows in tables of `size` rows, of one chunk each; the last table has the rest."""
    import pyarrow as pa

    held_batches: list[pa.RecordBatch] = []
    held_rows = 0
    for batch in flow:
        while batch.num_rows:
            batch_part = batch.slice(0, size - held_rows)
            batch = batch.slice(batch_part.num_rows)
            held_batches.append(batch_part)
            held_rows += batch_part.num_rows
            if held_rows == size:
                yield pa.Table.from_batches(held_batches).combine_chunks()
                held_batches, held_rows = [], 0
    if held_batches:
        yield pa.Table.from_batches(held_batches).combine_chunks()


def declared(batch: "pa.RecordBatch", schema: "pa.Schema", where: str) -> "pa.RecordBatch":
    """Return the columns of a batch that a schema declares, cast to their types.

    Raises `ValueError` if a column is missing, cannot be cast, or has forbidden nulls, which
    casting does not notice. This is a bug in the code that made the rows.
    """
    import pyarrow as pa

    missing_columns = set(schema.names) - set(batch.schema.names)
    if missing_columns:
        raise ValueError(f"{where}: rows without {', '.join(sorted(missing_columns))}")
    column_arrays = []
    for field in schema:
        column_place = f"{where}: {field.name}"
        try:
            column_arrays.append(batch.column(field.name).cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ValueError(f"{column_place}: {error}") from error
        _refuse_nulls(column_arrays[-1], field, column_place)
    return pa.RecordBatch.from_arrays(column_arrays, schema=schema)


def _refuse_nulls(array: "pa.Array", field: "pa.Field", where: str) -> None:
    """Raise `ValueError` for nulls in a field that must not have any, or in a field inside it."""
    import pyarrow as pa

    if not field.nullable and array.null_count:
        raise ValueError(f"{where}: null in a column that has none")
    if pa.types.is_list(field.type):
        _refuse_nulls(array.flatten(), field.type.value_field, where)
    elif pa.types.is_struct(field.type):
        present_values = array.drop_null()
        for field_index, inner_field in enumerate(field.type):
            _refuse_nulls(
                present_values.field(field_index), inner_field, f"{where}.{inner_field.name}"
            )


def reading(path: Path) -> "pq.ParquetFile":
    """Open a Parquet file that is read batch by batch.

    pyarrow's reading ahead is off, because it holds every column chunk that it has read so far.
    """
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, pre_buffer=False)


def typed_rows(path: Path, row: type[T], size: int = BATCH_ROWS) -> Iterator[T]:
    """Yield the rows of a Parquet file as objects of their row type, `size` in memory at a time."""
    row_type: Any = row
    with reading(path) as file:
        for batch in file.iter_batches(size, columns=arrow_schema(row_type).names):
            yield from msgspec.convert(batch.to_pylist(), list[row_type])


class RowWriter:
    """Appends typed rows to a Parquet file."""

    def __init__(self, row: Any, writer: "pq.ParquetWriter", size: int) -> None:
        self._row, self._writer, self._size = row, writer, size
        self._waiting: list[Any] = []

    def append(self, row: Any) -> None:
        """Add a row; it is written with the next batch."""
        self._waiting.append(row)
        if len(self._waiting) >= self._size:
            self.flush()

    def flush(self) -> None:
        """Write the rows that have been appended since the last batch."""
        for batch in batches(self._row, self._waiting):
            self._writer.write_batch(batch)
        self._waiting = []


@contextmanager
def writing(path: Path, row: Any, size: int = BATCH_ROWS) -> Iterator[RowWriter]:
    """Open a Parquet file for typed rows, `size` of which are in memory at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, arrow_schema(row)) as writer:
        row_writer = RowWriter(row, writer, size)
        yield row_writer
        row_writer.flush()


def write_sorted(path: Path, row: Any, sorted_rows: Iterable[Any], *by: str) -> list[Any]:
    """Write typed rows to a Parquet file, sorted by some columns if any, and return them."""
    ordered_rows = sorted(sorted_rows, key=attrgetter(*by)) if by else [*sorted_rows]
    with writing(path, row) as file:
        for typed_row in ordered_rows:
            file.append(typed_row)
    return ordered_rows


def _plain(value: Any) -> Any:
    """Return a value with nested rows as dictionaries, which Arrow needs."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return [_plain(inner_value) for inner_value in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value
