"""Tables from outside, row by row in bounded memory, and written again in their own form.

JSON lines, a JSON array, a JSON object of rows by question, CSV and TSV, Parquet: by the name of
the file, and JSON by its content.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import replacing
from factdrift.builders.core.outside_tables import bounded_batches
from factdrift.builders.core.records import plain_rows
from factdrift.builders.core.text_files import (
    BrokenEntry,
    Entry,
    is_table,
    json_entries,
    read_head,
    table_columns,
    table_rows,
)

Layout = Literal["lines", "array", "object", "table", "parquet"]
_BATCH = 1024
"""Rows of a Parquet file that are read at a time: rows of benchmarks have a few kilobytes."""


class TableRow(NamedTuple):
    """A row of a table: its number from 1, its line, its columns, and its key in an object."""

    number: int
    line: int
    record: dict[str, Any]
    key: str | None = None


def read_table(path: Path) -> Iterator[TableRow]:
    """The rows of a table. `UserError` with the line: a broken row, or one that is no object."""
    for number, (line, key, value) in enumerate(_values_of(path), 1):
        if not isinstance(value, dict):
            raise UserError("a row is no object with columns", where=display_path(path), line=line)
        yield TableRow(number, line, value, key)


def _values_of(path: Path) -> Iterator[tuple[int, str | None, Any]]:
    """The rows with their lines, and their keys in an object of rows."""
    if path.suffix.lower() == ".parquet":
        for number, record in enumerate(_parquet_records(path), 1):
            yield number, None, record
        return
    rows = table_rows(path) if is_table(path) else json_entries(path, json.loads)
    for entry in rows:
        if isinstance(entry, BrokenEntry):
            reason = f"{entry.reason}: {entry.detail}" if entry.detail else entry.reason
            raise UserError(reason, where=display_path(path), line=entry.line)
        if _holds_rows(entry):
            for key, record in entry.value.items():
                yield entry.line, key, record
        else:
            yield entry.line, None, entry.value


def _holds_rows(entry: Entry) -> bool:
    """Whether a value is an object of rows by question, as PAT-Questions has them."""
    if not isinstance(entry.value, dict) or not entry.value:
        return False
    records = list(entry.value.values())
    return (
        all(isinstance(record, dict) for record in records)
        and len({frozenset(record) for record in records[:2]}) == 1
        and len(records[0]) > 1
    )


def _parquet_records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with pq.ParquetFile(path, pre_buffer=False) as table:
            for batch in bounded_batches(table, path, _BATCH, table.schema_arrow.names):
                yield from plain_rows(batch)
    except (pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0] if str(error) else "no text"
        raise UserError(f"not a Parquet file ({text})", where=display_path(path)) from error


def layout_of(path: Path) -> Layout:
    """How a file holds its rows."""
    if path.suffix.lower() == ".parquet":
        return "parquet"
    if is_table(path):
        return "table"
    if read_head(path).lstrip().startswith("["):
        return "array"
    first_row = next(_values_of(path), None)
    return "object" if first_row and first_row[1] is not None else "lines"


RowWriting = Callable[[TableRow], None]


@contextmanager
def writing_like(source: Path, target: Path) -> Iterator[RowWriting]:
    """Write rows in the form of a table; the file appears when it is whole."""
    layout = layout_of(source)
    with replacing(target) as unfinished:
        if layout == "parquet":
            yield from _parquet_rows(source, unfinished)
        elif layout == "table":
            yield from _cell_rows(source, unfinished)
        else:
            yield from _json_rows(layout, unfinished)


def _json_rows(layout: Layout, target: Path) -> Iterator[RowWriting]:
    opening, closing = {"array": ("[", "\n]\n"), "object": ("{", "\n}\n")}.get(layout, ("", ""))
    separators = iter([opening])
    with target.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:

        def write(row: TableRow) -> None:
            text = json.dumps(row.record, ensure_ascii=False)
            if not text.isascii() and not text.isprintable():
                text = json.dumps(row.record)
            if not closing:
                file.write(text + "\n")
                return
            key_text = f"{json.dumps(row.key)}: " if row.key is not None else ""
            file.write(next(separators, ",") + "\n" + key_text + text)

        yield write
        file.write((next(separators, "") + closing) if closing else "")


def _cell_rows(source: Path, target: Path) -> Iterator[RowWriting]:
    columns = table_columns(source)
    first_line = read_head(source).partition("\n")[0]
    delimiter = max(",;\t", key=first_line.count)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        yield lambda row: writer.writerow(
            [cell_value(row.record.get(column)) for column in columns]
        )


def cell_value(value: object) -> object:
    """A value as a cell has it; lists as JSON."""
    if value is None:
        return ""
    is_nested = isinstance(value, list | dict)
    return json.dumps(value, ensure_ascii=False) if is_nested else value


def _parquet_rows(source: Path, target: Path) -> Iterator[RowWriting]:
    schema = pq.read_schema(source)
    waiting: list[Mapping[str, Any]] = []
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:

        def flush() -> None:
            columns = [_column(waiting, field) for field in schema]
            writer.write_table(pa.table(columns, schema=schema))
            waiting.clear()

        def write(row: TableRow) -> None:
            waiting.append(row.record)
            if len(waiting) == _BATCH:
                flush()

        yield write
        if waiting:
            flush()


def _column(records: list[Mapping[str, Any]], field: pa.Field) -> pa.Array:
    """A column of rows as the table has it; days and moments were read as texts."""
    values = [record.get(field.name) for record in records]
    if pa.types.is_temporal(field.type):
        return pa.array(values, pa.string()).cast(field.type)
    if pa.types.is_dictionary(field.type):
        return pa.array(values, field.type.value_type).dictionary_encode().cast(field.type)
    return pa.array(values, field.type)
