"""Which rows are asked, and in which order.

Rows that ask about a time up to the day in `after.json` beside this file, if there is one, are left
out. The others come in the order of a hash, so that the first few are of every split.
"""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any


def inside(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column; a dot leads into a struct."""
    value: Any = row
    for name in column.split("."):
        value = None if value is None else value.get(name)
    return value


def time_of(row: Mapping[str, Any], columns: list[str]) -> date | None:
    """The first of the columns that is not null, as a day; a dot leads into a struct."""
    for column in columns:
        value = inside(row, column)
        if isinstance(value, int):
            return datetime.fromtimestamp(value, UTC).date()
        if isinstance(value, date):
            return value
    return None


def is_after(row: Mapping[str, Any], day: date, columns: list[str]) -> bool:
    """Whether a row asks about a time after a day; one that asks about no time does not."""
    asked = time_of(row, columns)
    return asked is not None and asked > day


def order_key(row_id: str) -> bytes:
    """What rows are ordered by: a hash of their id."""
    return sha256(row_id.encode()).digest()


def spread(docs: Any) -> Any:
    """What lm-eval asks for: the rows of a `datasets.Dataset` in their order."""
    row_ids = docs["id"]
    return docs.select(sorted(range(len(row_ids)), key=lambda place: order_key(row_ids[place])))


def keep(docs: Any) -> Any:
    """As `spread`, without the rows that ask about a time up to the day."""
    settings = json.loads(Path(__file__).with_name("after.json").read_text("utf-8"))
    day = date.fromisoformat(settings["after"])
    return spread(docs.filter(partial(is_after, day=day, columns=settings["time"])))
