"""Keep the rows that ask about a time after a day; both are in `after.json` beside this file."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any


def time_of(row: Mapping[str, Any], columns: list[str]) -> date | None:
    """The first of the columns that is not null, as a day; a dot leads into a struct."""
    for column in columns:
        value: Any = row
        for name in column.split("."):
            value = None if value is None else value.get(name)
        if isinstance(value, int):
            return datetime.fromtimestamp(value, UTC).date()
        if isinstance(value, date):
            return value
    return None


def is_after(row: Mapping[str, Any], day: date, columns: list[str]) -> bool:
    """Whether a row asks about a time after a day; one that asks about no time does not."""
    asked = time_of(row, columns)
    return asked is not None and asked > day


def keep(docs: Any) -> Any:
    """What lm-eval asks for: the rows of a `datasets.Dataset` that stay."""
    settings = json.loads(Path(__file__).with_name("after.json").read_text("utf-8"))
    day = date.fromisoformat(settings["after"])
    return docs.filter(partial(is_after, day=day, columns=settings["time"]))
