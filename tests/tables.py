"""The cases that lie in `tests/tables`, a line each below a line of heads."""

import json
from pathlib import Path

FOLDER = Path(__file__).with_name("tables")


def table(name: str) -> list[list[str]]:
    """The rows of a table; a cell that begins with a quotation mark is JSON, and `#` a remark."""
    _, *lines = (FOLDER / f"{name}.tsv").read_text("utf-8").split("\n")
    cells = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [[json.loads(cell) if cell.startswith('"') else cell for cell in row] for row in cells]
