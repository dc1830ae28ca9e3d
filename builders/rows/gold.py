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
# Few, because each row may hold a whole page.
_ROWS_AT_ONCE = 256
"""Rows read at a time."""


class NoGoldError(UserError):
    """There is no gold row of the layouts in question: nobody has judged such items yet."""


def find_gold(locations: Sequence[str], *layouts: str) -> list[Path]:
    """Return the gold tables at these locations.

    A location is a gold table, the folder of a layout, or the folder that holds the layouts'
    folders. Where `layouts` are given, only tables with rows of them are returned; `NoGoldError`
    where no table has any.
    """
    gold_paths: dict[Path, None] = {}
    for location in locations:
        gold_path = Path(location)
        # The folder of a layout has its table inside, the folder of the layouts one level deeper.
        tables_inside = (
            sorted(gold_path.glob(f"*/{FILE}"))
            if not (gold_path / FILE).is_file()
            else [gold_path / FILE]
        )
        gold_paths.update(
            dict.fromkeys(tables_inside if gold_path.is_dir() and tables_inside else [gold_path])
        )
    hint_text = "factdrift judgments results.jsonl writes it"
    gold_files = find_files(
        list(gold_paths), lambda file_name: file_name == FILE, "gold table", hint_text
    )
    matching_files = [gold_path for gold_path in gold_files if _holds(gold_path, layouts)]
    if not matching_files:
        raise _no_gold(gold_files, layouts)
    return matching_files


def read_gold(files: Sequence[Path], *layouts: str) -> Iterator[Gold]:
    """Yield the gold rows of these layouts, file by file; each file is sorted by row.

    `UserError` where a file is no gold table, and `NoGoldError` where no file has such a row.
    """
    any_found = False
    for gold_path in files:
        try:
            for gold_row in typed_rows(gold_path, Gold, _ROWS_AT_ONCE):
                if gold_row.layout in layouts:
                    any_found = True
                    yield gold_row
        except (pa.ArrowInvalid, OSError, ValueError) as error:
            hint_text = f"give the {FILE} that factdrift judgments wrote"
            mistake_text = f"not a gold table: {error}".splitlines()[0]
            raise UserError(mistake_text, where=display_path(gold_path), hint=hint_text) from None
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
    layout_names = " or ".join(layouts)
    hint_text = "factdrift hits LAYOUT and factdrift judgments results.jsonl make them"
    where = display_path(files[0]) + (f" and {len(files) - 1} others" if len(files) > 1 else "")
    return NoGoldError(f"no gold rows of {layout_names}", where=where, hint=hint_text)


def gold_answers(gold: Gold) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answers of a gold row and the fields that people saw.

    Both are empty where either of them is not a JSON object.
    """
    try:
        answers, seen_fields = json.loads(gold.answers), json.loads(gold.shown)
        # Half a surrogate pair is valid JSON and no valid text: encoding it raises a ValueError.
        json.dumps([answers, seen_fields], ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return {}, {}
    return (
        (answers, seen_fields)
        if isinstance(answers, dict) and isinstance(seen_fields, dict)
        else ({}, {})
    )


def outcome_lines(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a line for each layout that had gold rows, with the number of rows by outcome."""
    outcome_texts = {
        layout: ", ".join(
            f"{row_count:,} {outcome_name}"
            for outcome_name, row_count in sorted(by_outcome.items())
            if row_count
        )
        for layout, by_outcome in counts.items()
    }
    return [
        f"  gold rows of {layout}: {outcome_text}"
        for layout, outcome_text in outcome_texts.items()
        if outcome_text
    ]
