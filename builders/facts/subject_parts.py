"""Tables made part by part of their subjects, where the whole would not fit into memory.

DuckDB moves what does not fit to disk, but not all of it: lists that are collected, and what
several joins and windows of one query hold at a time, have to fit. What is made of the rows of one
subject alone can be made of a part of the subjects at a time, with the same rows in the end.
"""

from collections.abc import Callable, Iterator
from typing import Any

import ibis
import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine


def subject_parts(engine: Engine, *tables: ir.Table | None) -> Iterator[tuple[Any, ...]]:
    """Yield tables with a column `subject` in as many parts as the engine wants.

    A subject is in the same part of all tables. A table that is None stays so.
    """
    part_count = engine.parts
    for part in range(part_count):
        if part_count == 1:
            yield tables
        else:
            yield tuple(
                None if table is None else _part(table, part, part_count) for table in tables
            )


def keep_in_parts(
    engine: Engine, make: Callable[..., ir.Table], *tables: ir.Table | None
) -> ir.Table:
    """Return `engine.keep(make(*tables))`, made part by part.

    `make` takes the tables, and each row that it makes has to depend on one subject alone.
    """
    parts = [engine.keep(make(*part)) for part in subject_parts(engine, *tables)]
    return parts[0] if len(parts) == 1 else ibis.union(*parts)


def _part(table: ir.Table, part: int, part_count: int) -> ir.Table:
    # Hashes can be negative, and their remainders then are, too.
    remainder = table.subject.hash() % part_count
    return table.filter(remainder.abs() == part)
