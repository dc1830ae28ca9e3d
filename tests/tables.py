"""Cases and made-up data that lie in `tests/tables`, as TSV or YAML."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

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
    cell_rows = [line.split("\t") for line in lines if line and not line.startswith("# ")]
    width = head.count("\t") + 1
    return [[_read(cell) for cell in row] + [""] * (width - len(row)) for row in cell_rows]


def _read(cell: str) -> Any:
    return json.loads(cell) if cell.startswith('"') else cell


class Named(Protocol):
    """What has a name, as a path, a column or a layout has."""

    @property
    def name(self) -> str: ...


class Identified(Protocol):
    """What has an id, as an item, an article or a judgment has."""

    @property
    def id(self) -> str: ...


def names_of(objects: Iterable[Named]) -> list[str]:
    """The name of each object, in their order."""
    return [named.name for named in objects]


def ids_of(objects: Iterable[Identified]) -> list[str]:
    """The id of each object, in their order."""
    return [identified.id for identified in objects]


def keyed_by_id(rows: Iterable[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Rows by their column `id`; of two with one id the later."""
    return {row["id"]: row for row in rows}


def column_of(rows: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    """One column of the rows of a table, or one field of records."""
    return [row[name] for row in rows]


def columns_of(rows: Iterable[Mapping[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """Some columns of the rows of a table: a tuple for each row."""
    return [tuple([row[name] for name in names]) for row in rows]


def table_cases(name: str) -> list[Any]:
    """Rows for `parametrize`; the first cell of a row is its name, and a value, too."""
    return [pytest.param(*row, id=row[0]) for row in read_table(name)]


def case_lists(name: str) -> dict[str, list[Any]]:
    """The lists of a YAML file for `parametrize`, each the cases of a test."""
    read_lists = read_table(name)
    return {
        list_name: [pytest.param(*row, id=str(row)) for row in case_rows]
        for list_name, case_rows in read_lists.items()
    }
