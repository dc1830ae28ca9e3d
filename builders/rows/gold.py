"""Find and read gold rows, the results of people's judgments that `factdrift judgments` wrote."""

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
"""Rows read at a time: few, because each may hold a whole page."""


class NoGoldError(UserError):
    """There is no gold row of the layouts in question: nobody has judged such items yet."""


def find_gold(locations: Sequence[str], *layouts: str) -> list[Path]:
    """Return the gold tables at these locations.

    A location is a gold table, the folder of a layout, or the folder that holds the layouts'
    folders. Where `layouts` are given, only tables with rows of them are returned; `NoGoldError`
    where no table has any.
    """
    paths: dict[Path, None] = {}
    for name in locations:
        path = Path(name)
        inside = sorted(path.glob(f"*/{FILE}")) if not (path / FILE).is_file() else [path / FILE]
        paths.update(dict.fromkeys(inside if path.is_dir() and inside else [path]))
    hint = "factdrift judgments results.jsonl writes it"
    files = find_files(list(paths), lambda file_name: file_name == FILE, "gold table", hint)
    matching_files = [path for path in files if _holds(path, layouts)]
    if not matching_files:
        raise _no_gold(files, layouts)
    return matching_files


def read_gold(files: Sequence[Path], *layouts: str) -> Iterator[Gold]:
    """Yield the gold rows of these layouts, file by file; each file is sorted by row.

    `UserError` where a file is no gold table, and `NoGoldError` where no file has such a row.
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
    """Whether a table has rows of the layouts; true for a broken one, which `read_gold` reports."""
    try:
        table = pq.read_table(path, columns=["layout"])
    except (pa.ArrowInvalid, OSError):
        return True
    has_layouts = "layout" in table.column_names
    return (
        not layouts or not has_layouts or not set(layouts).isdisjoint(table["layout"].to_pylist())
    )


def _no_gold(files: Sequence[Path], layouts: Sequence[str]) -> NoGoldError:
    names = " or ".join(layouts)
    hint = "factdrift hits LAYOUT and factdrift judgments results.jsonl make them"
    where = display_path(files[0]) + (f" and {len(files) - 1} others" if len(files) > 1 else "")
    return NoGoldError(f"no gold rows of {names}", where=where, hint=hint)


def gold_answers(gold: Gold) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answers of a gold row and the fields that people saw.

    Both are empty where either of them is not a JSON object.
    """
    try:
        answers, seen = json.loads(gold.answers), json.loads(gold.shown)
        json.dumps([answers, seen], ensure_ascii=False).encode()  # no half characters
    except (ValueError, RecursionError):
        return {}, {}
    return (answers, seen) if isinstance(answers, dict) and isinstance(seen, dict) else ({}, {})


def outcome_lines(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a line for each layout that had gold rows, with the number of rows by outcome."""
    parts = {
        layout: ", ".join(
            f"{row_count:,} {outcome}"
            for outcome, row_count in sorted(by_outcome.items())
            if row_count
        )
        for layout, by_outcome in counts.items()
    }
    return [
        f"  gold rows of {layout}: {outcome_text}"
        for layout, outcome_text in parts.items()
        if outcome_text
    ]
