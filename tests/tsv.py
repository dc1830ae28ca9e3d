"""Cases as tables in text files beside the tests: a row a line, its cells apart by tabs."""

from pathlib import Path
from typing import Any

import pytest


def cells(name: str) -> list[list[str]]:
    """The rows of `tests/NAME.tsv` below its head, each as long; `#` begins a remark."""
    head, *lines = Path(__file__).with_name(f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [row + [""] * (head.count("\t") + 1 - len(row)) for row in rows]


def cases(name: str) -> list[Any]:
    """The same for `parametrize`; the first cell of a row is its name, and a value, too."""
    return [pytest.param(*row, id=row[0]) for row in cells(name)]
