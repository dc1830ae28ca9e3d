"""Cases and made-up data that lie in `tests/tables`, as TSV or YAML."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).with_name("tables")


def read_table(name: str) -> Any:
    """What a YAML file holds, or the rows of a TSV file below its line of heads, each as long.

    A cell that begins with a quotation mark is JSON; a line that begins with `# ` is a remark.
    """
    if (path := FOLDER / f"{name}.yaml").is_file():
        return yaml.safe_load(path.read_text("utf-8"))
    head, *lines = (FOLDER / f"{name}.tsv").read_text("utf-8").rstrip("\n").split("\n")
    rows = [line.split("\t") for line in lines if line and not line.startswith("# ")]
    width = head.count("\t") + 1
    return [[_read(cell) for cell in row] + [""] * (width - len(row)) for row in rows]


def _read(cell: str) -> Any:
    return json.loads(cell) if cell.startswith('"') else cell


def column_of(rows: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    """One column of the rows of a table, or one field of records."""
    return [row[name] for row in rows]


def table_cases(name: str) -> list[Any]:
    """Rows for `parametrize`; the first cell of a row is its name, and a value, too."""
    return [pytest.param(*row, id=row[0]) for row in read_table(name)]


def case_lists(name: str) -> dict[str, list[Any]]:
    """The lists of a YAML file for `parametrize`, each the cases of a test."""
    read = read_table(name)
    return {
        list_name: [pytest.param(*row, id=str(row)) for row in rows]
        for list_name, rows in read.items()
    }
