"""Gold tables: found by folder or file, read by layout, refused where they are none."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import batches
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import find_inputs, read_recipe, recipes
from factdrift.builders.rows import Gold
from factdrift.builders.rows.gold import find_gold, read_gold


def gold(row: str, layout: str) -> Gold:
    return Gold(row, layout, "timeqa 1.0.0", "accepted", "{}", "{}", 1, 1)


def table(folder: Path, *found: Gold) -> Path:
    folder.mkdir(parents=True)
    flow = list(batches(Gold, found))
    pq.write_table(pa.Table.from_batches(flow), folder / "gold.parquet")
    return folder / "gold.parquet"


def test_found_by_file_by_layout_and_all_together(tmp_path: Path) -> None:
    one = table(tmp_path / "judgments" / "paraphrase", gold("a", "paraphrase"))
    two = table(tmp_path / "judgments" / "verify_facts", gold("b", "verify_facts"))
    assert find_gold([str(one)]) == find_gold([str(one.parent)]) == [one]
    assert find_gold([str(tmp_path / "judgments")]) == [one, two]
    assert [g.row for g in read_gold([one, two], "verify_facts")] == ["b"]
    assert [g.row for g in read_gold([one, two], "verify_facts", "paraphrase")] == ["a", "b"]


def test_what_is_no_gold_is_said(tmp_path: Path) -> None:
    one = table(tmp_path / "paraphrase", gold("a", "paraphrase"))
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": ["a"]}), other)
    text = tmp_path / "text.parquet"
    text.write_text("nothing")
    for files, said in [
        ([one], "no gold rows of verify_facts"),
        ([other], "not a gold table"),
        ([text], "cannot be read"),
    ]:
        with pytest.raises(UserError, match=said):
            list(read_gold(files, "verify_facts"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no gold table in this folder"):
        find_gold([str(tmp_path / "empty")])
    with pytest.raises(UserError, match="no such file"):
        find_gold([str(tmp_path / "nothing")])


def test_gold_stands_beside_the_recipes_own_inputs(tmp_path: Path) -> None:
    one = table(tmp_path / "judgments" / "verify_facts", gold("b", "verify_facts"))
    path = next(p for p in recipes() if p.name == "timeqa.yaml")
    text = path.read_text("utf-8").replace("../../samples", str(path.parents[2] / "samples"))
    text = text.replace(
        "build:\n", "  gold: {kind: gold, licence: CC0-1.0, optional: true}\nbuild:\n", 1
    )
    if "kind: gold" not in path.read_text("utf-8"):
        path = tmp_path / "recipe.yaml"
        path.write_text(text)
    recipe = read_recipe(path)
    store = Workspace(tmp_path / "build", lambda _: None)
    assert not recipe.waits_for(["gold"])
    without = find_inputs(recipe, path, {}, None, store)
    assert "gold" not in without
    found = find_inputs(recipe, path, {"gold": [str(one)]}, None, store)
    assert found["dump"] == without["dump"]
    assert found["gold"].files == (one,)
    assert found["gold"].snapshot == max(source.snapshot for source in without.values())
