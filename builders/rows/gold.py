"""Gold rows: what people's judgments came to, as `factdrift judgments` wrote it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.rows import Gold

FILE = "gold.parquet"
_ROWS = 256
"""Rows read at a time: each may show a whole page."""


class NoGoldError(UserError):
    """No gold row of the layouts that are asked for: nobody has judged such items yet."""


def find_gold(given: Sequence[str], *layouts: str) -> list[Path]:
    """The gold tables that are named: a file, a layout's folder, or the folder of them all.

    Of several, those with rows of `layouts`, where any are given; `NoGoldError`: none has.
    """
    found: dict[Path, None] = {}
    for name in given:
        path = Path(name)
        inside = sorted(path.glob(f"*/{FILE}")) if not (path / FILE).is_file() else [path / FILE]
        found.update(dict.fromkeys(inside if path.is_dir() and inside else [path]))
    hint = "factdrift judgments results.jsonl writes it"
    files = find_files(list(found), lambda n: n == FILE, "gold table", hint)
    kept = [path for path in files if _holds(path, layouts)]
    if not kept:
        raise _no_gold(files, layouts)
    return kept


def read_gold(files: Sequence[Path], *layouts: str) -> Iterator[Gold]:
    """The gold rows of these layouts, file by file, each sorted by row.

    `UserError`: a file is no gold table; `NoGoldError`: no row of the layouts is in any.
    """
    any_found = False
    for path in files:
        try:
            for row in typed_rows(path, Gold, _ROWS):
                if row.layout in layouts:
                    any_found = True
                    yield row
        except (pa.ArrowInvalid, OSError, ValueError) as error:
            hint = f"give the {FILE} that factdrift judgments wrote"
            text = f"not a gold table: {error}".splitlines()[0]
            raise UserError(text, where=display_path(path), hint=hint) from None
    if not any_found:
        raise _no_gold(files, layouts)


def _holds(path: Path, layouts: Sequence[str]) -> bool:
    """Whether rows of a layout are in a table; what is no gold table is for `read_gold` to say."""
    try:
        table = pq.read_table(path, columns=["layout"])
    except (pa.ArrowInvalid, OSError):
        return True
    known = "layout" in table.column_names
    return not layouts or not known or not set(layouts).isdisjoint(table["layout"].to_pylist())


def _no_gold(files: Sequence[Path], layouts: Sequence[str]) -> NoGoldError:
    names = " or ".join(layouts)
    hint = "factdrift hits LAYOUT and factdrift judgments results.jsonl make them"
    where = display_path(files[0]) + (f" and {len(files) - 1} others" if len(files) > 1 else "")
    return NoGoldError(f"no gold rows of {names}", where=where, hint=hint)


def gold_answers(gold: Gold) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers of a gold row and what people saw; both empty where either is no JSON object."""
    try:
        answers, seen = json.loads(gold.answers), json.loads(gold.shown)
        json.dumps([answers, seen], ensure_ascii=False).encode()  # no half characters
    except (ValueError, RecursionError):
        return {}, {}
    return (answers, seen) if isinstance(answers, dict) and isinstance(seen, dict) else ({}, {})


def outcome_lines(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line for each layout that had gold rows: how many, by outcome."""
    parts = {
        layout: ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(by_outcome.items()) if n)
        for layout, by_outcome in counts.items()
    }
    return [f"  gold rows of {layout}: {what}" for layout, what in parts.items() if what]
