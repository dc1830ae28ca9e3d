"""Cases as tables in text files beside the tests: TSV, a row a line, or YAML, a list a test."""

from pathlib import Path
from typing import Any

import pytest
import yaml


def cells(name: str) -> list[list[str]]:
    """The rows of `tests/NAME.tsv` below its head, each as long; `#` begins a remark."""
    head, *lines = Path(__file__).with_name(f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [row + [""] * (head.count("\t") + 1 - len(row)) for row in rows]


def cases(name: str) -> list[Any]:
    """The same for `parametrize`; the first cell of a row is its name, and a value, too."""
    return [pytest.param(*row, id=row[0]) for row in cells(name)]


def lists(name: str) -> dict[str, list[Any]]:
    """The lists of `tests/NAME.yaml`, each the cases of a test."""
    found = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text("utf-8"))
    return {of: [pytest.param(*row, id=str(row)) for row in rows] for of, rows in found.items()}
