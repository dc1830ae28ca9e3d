"""The figures of `docs/asof.md` are those of the sample's release."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.hooks import section
from factdrift.builders.cli import app
from factdrift.builders.release.manifest import load_manifest
from tests.house import ROOT

SEARCHES = {"day": "`day`", "newest": "`newest`", "guess": "`guess`", "": "| BM25 |"}
"""The options of `factdrift search --by`, and what only the line of the page for it has."""
TOLERANCE = 2.0
"""Per cent by which figures may differ: sentences of news are parsed with weights, whose last
digits are not the same on every processor."""
pytestmark = pytest.mark.slow


def page_table(mark: str) -> tuple[int, list[str], list[list[str]]]:
    """The number of questions, the columns and the lines of a table of the page.

    `mark` stands in the first column's name, before the number.
    """
    text = section((ROOT / "docs/asof.md").read_text("utf-8"), "How hard it is")
    table = next(part for part in text.split("\n\n") if mark in part.splitlines()[0])
    cells = [[*map(str.strip, line.strip("|").split("|"))] for line in table.splitlines()]
    header, _, *table_lines = cells
    number = re.search(r"(\d+) questions", header[0])
    assert number is not None
    return int(number[1]), header[1:], table_lines


def assert_near(page_cells: list[str], figures: list[float]) -> None:
    """Each figure of the page is the one of the release."""
    assert [float(cell) for cell in page_cells] == pytest.approx(figures, abs=TOLERANCE)


def test_memories_are_as_often_right_as_the_page_says(sample: Path) -> None:
    question_count, figure_columns, table_lines = page_table("in per cent")
    manifest = load_manifest(sample / "releases/as-of/1.0.0")
    rules = next(figure for figure in manifest.figures if figure.name == "rules").rows
    assert [line[0].strip("`") for line in table_lines] == [rule["memory"] for rule in rules]
    for line, rule in zip(table_lines, rules, strict=True):
        assert question_count == pytest.approx(rule["questions"], rel=0.02)
        assert_near(
            line[1:], [100 * float(str(rule[f"share {column}"])) for column in figure_columns]
        )


def test_searches_find_as_much_as_the_page_says(sample: Path, tmp_path: Path) -> None:
    question_count, figure_columns, table_lines = page_table("nDCG@10")
    assert len(table_lines) == len(SEARCHES)

    def run(*words: str) -> None:
        outcome = CliRunner().invoke(app, words)
        assert outcome.exit_code == 0, outcome.output

    beir = str(tmp_path / "beir")
    run("export", str(sample / "releases/as-of/1.0.0"), "--format", "beir", "--to", beir)
    for rule, mark in SEARCHES.items():
        trec = str(tmp_path / f"{rule}.trec")
        run("search", beir, *(["--by", rule] if rule else []), "--out", trec)
        scores = tmp_path / f"scores-{rule}"
        run("score", beir, "--run", trec, "--out", str(scores))
        (measures,) = json.loads((scores / "retrieval.json").read_bytes())
        (line,) = [line for line in table_lines if mark in f"| {line[0]} |"]
        assert question_count == pytest.approx(measures["measures"]["nDCG@10"]["n"], rel=0.02)
        assert_near(
            line[1:], [100 * measures["measures"][column]["mean"] for column in figure_columns]
        )
