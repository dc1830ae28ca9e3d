"""Columns of a release as SQL: those that roles name, which may lie in a struct."""

from collections.abc import Sequence

import pyarrow as pa

from factdrift.builders.core import duck


def column_sql(column: str) -> str:
    """Return a column as SQL; a dot leads into a struct."""
    return ".".join(map(duck.name, column.split(".")))


def column_type(schema: pa.Schema, column: str) -> pa.DataType:
    """Return the type of a column; a dot leads into a struct."""
    first_name, *inner_names = column.split(".")
    column_kind = schema.field(first_name).type
    for name in inner_names:
        column_kind = column_kind.field(name).type
    return column_kind


def day_sql(schema: pa.Schema, column: str) -> str:
    """Return a column of days, or of seconds since 1970, as a day in SQL."""
    day_expression = f"(TIMESTAMP '1970-01-01' + to_seconds({column_sql(column)}))::DATE"
    return (
        day_expression if pa.types.is_integer(column_type(schema, column)) else column_sql(column)
    )


def first_sql(columns: Sequence[str], type_name: str) -> str:
    """Return SQL for the first of some expressions that is not null."""
    return f"coalesce({', '.join([*columns, 'NULL'])})::{type_name}"


def joined_sql(column_names: Sequence[str]) -> str:
    """Return SQL that joins several columns to one text; null where one of them is null."""
    return " || '\t' || ".join(map(column_sql, column_names)) or "NULL::VARCHAR"
