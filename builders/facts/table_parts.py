"""Tables made part by part of their subjects, where the whole would not fit into memory.

DuckDB moves what does not fit to disk, but not all of it: lists that are collected, and what
several joins and windows of one query hold at a time, have to fit. What is made of the rows of one
subject alone can be made of a part of the subjects at a time, with the same rows in the end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine


def table_parts(
    engine: Engine, *tables: ir.Table | None, by: str = "subject"
) -> Iterator[tuple[Any, ...]]:
    """Yield tables in as many parts as the engine wants, by a column that all of them have.

    It holds ids, or their numbers in some of the tables. Rows with the same id are in the same part
    of all tables. A table that is None stays so.
    """
    part_count = engine.parts
    for part in range(part_count):
        if part_count == 1:
            yield tables
        else:
            yield tuple(
                None if table is None else _part(table, by, part, part_count) for table in tables
            )


def keep_in_parts(
    engine: Engine, make: Callable[..., ir.Table], *tables: ir.Table | None, by: str = "subject"
) -> ir.Table:
    """Return `engine.keep(make(*tables))`, made part by part.

    `make` takes the tables, and each row that it makes has to depend on the rows of one id alone.
    """
    return joined([engine.keep(make(*part)) for part in table_parts(engine, *tables, by=by)])


def make_of_parts(
    engine: Engine, make: Callable[..., Sequence[ir.Table]], parts: Iterable[tuple[Any, ...]]
) -> list[ir.Table]:
    """Return the tables that `make` makes of each part, each with the rows of all parts.

    They are stored if there are several parts, so that only one part is worked at at a time.
    """
    part_list = list(parts)
    if len(part_list) == 1:
        return [*make(*part_list[0])]
    stored_tables = [list(map(engine.keep, make(*part))) for part in part_list]
    return [joined(tables) for tables in zip(*stored_tables, strict=True)]


def joined(parts: Sequence[ir.Table]) -> ir.Table:
    """Return the rows of all parts of a table."""
    return parts[0] if len(parts) == 1 else ibis.union(*parts)


def _part(table: ir.Table, by: str, part: int, part_count: int) -> ir.Table:
    item_id = table[by]
    if item_id.type().is_integer():
        item_id = ibis.literal("Q") + item_id.cast("string")
    # Hashes can be negative, and their remainders then are, too.
    remainder = item_id.fill_null("").hash() % part_count
    return table.filter(remainder.abs() == part)
