"""Gold tables: found by folder or file, read by layout, refused where they are none."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import find_inputs, read_recipe
from factdrift.builders.rows.gold import find_gold, gold_answers, read_gold
from tests.conftest import ROOT
from tests.gold_rows import gold_row, write_gold


def made(tmp: Path, layout: str, row: str) -> Path:
    return write_gold(tmp / "judgments" / layout, [gold_row(layout, row, {}, {})]) / "gold.parquet"


def test_found_by_file_by_layout_and_all_together(tmp_path: Path) -> None:
    paraphrases, verified = made(tmp_path, "paraphrase", "a"), made(tmp_path, "verify_facts", "b")
    assert find_gold([str(paraphrases)]) == find_gold([str(paraphrases.parent)]) == [paraphrases]
    assert find_gold([str(tmp_path / "judgments")]) == [paraphrases, verified]
    assert find_gold([str(tmp_path / "judgments")], "verify_facts", "other") == [verified]
    assert [gold.row for gold in read_gold([paraphrases, verified], "verify_facts")] == ["b"]
    assert [
        gold.row for gold in read_gold([paraphrases, verified], "verify_facts", "paraphrase")
    ] == ["a", "b"]


def test_what_is_no_gold_is_said(tmp_path: Path) -> None:
    gold_file = made(tmp_path, "paraphrase", "a")
    other_table, text, empty = (
        tmp_path / name for name in ("other.parquet", "text.parquet", "empty")
    )
    pq.write_table(pa.table({"id": ["a"]}), other_table)
    text.write_text("nothing")
    empty.mkdir()
    for path, message in (
        (gold_file, "no gold rows of verify_facts"),
        (other_table, "not a gold table"),
        (text, "not a gold table"),
    ):
        with pytest.raises(UserError, match=message):
            list(read_gold([path], "verify_facts"))
    for path, message in (
        (empty, "no gold table in"),
        (tmp_path / "no", "no such file"),
    ):
        with pytest.raises(UserError, match=message):
            find_gold([str(path)])


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000])
def test_answers_that_are_no_object_say_nothing(text: str) -> None:
    right_row = gold_row("paraphrase", "a", {}, {"paraphrase": "x"})
    assert gold_answers(right_row) == ({"paraphrase": "x"}, {})
    for wrong_row in (replace(right_row, answers=text), replace(right_row, shown=text)):
        assert gold_answers(wrong_row) == ({}, {})


def test_gold_stands_beside_the_recipes_own_inputs(tmp_path: Path) -> None:
    gold_file = made(tmp_path, "verify_facts", "b")
    path = ROOT / "builders/recipes/timeqa.yaml"
    recipe, store = read_recipe(path), Workspace(tmp_path / "build", lambda _: None)
    assert not recipe.waits_for(["gold"])
    without = find_inputs(recipe, path, {}, None, store)
    assert "gold" not in without
    inputs = find_inputs(recipe, path, {"gold": [str(gold_file)]}, None, store)
    assert inputs["dump"] == without["dump"]
    assert inputs["gold"].files == (gold_file,)
    assert inputs["gold"].snapshot == max(
        input_source.snapshot for input_source in without.values()
    )
