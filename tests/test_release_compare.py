"""Two releases row by row: what each change is called and which version it asks for."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.release.compare import Difference, compare
from factdrift.builders.release.notes import release_notes
from factdrift.builders.rows import Answer
from tests.release_sample import Sample, changed, edit, publish, segment
from tests.tables import FOLDER


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("old")).folder


CASES: list[list[Any]] = yaml.safe_load((FOLDER / "changes.yaml").read_text("utf-8"))
OTHERS = [1, 2, 3, 4]
MOVED = {"unchanged/2021Q3": [0, 1, 3, 4], "updated/2021Q3": [2, 7]}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_changes(old: Path, tmp_path: Path, case: list[Any]) -> None:
    level, splits, told, *settings = case
    config, *words = told.split() or [""]
    counts = {change: int(n) for change, n in zip(words[::2], words[1::2], strict=True)}
    new = publish(tmp_path, changed(splits, **dict(*settings))).folder
    diff = tmp_path / "diff.parquet"
    found = compare(old, new, diff)
    assert (found.rows, found.level) == ({config: counts} if counts else {}, level)
    table = pq.read_table(diff)
    assert table.schema.equals(arrow_schema(Difference))
    assert table.num_rows == sum(counts.values())
    swap = {"added": "removed", "removed": "added"}
    assert compare(new, old).totals() == {swap.get(k, k): n for k, n in counts.items()}


def differences(old: Path, tmp_path: Path, sample: Sample) -> list[dict[str, Any]]:
    new = publish(tmp_path, sample).folder
    compare(old, new, tmp_path / "diff.parquet")
    found = pq.read_table(tmp_path / "diff.parquet").to_pylist()
    return [
        row | {side: json.loads(row[side] or "null") for side in ("old", "new")} for row in found
    ]


def test_what_a_difference_says(old: Path, tmp_path: Path) -> None:
    """Of an edit, a move, and a value where there was none."""
    edit = changed({"unchanged/2021Q3": [{"n": 0, "sitelinks": 99, "added": ["Q1"]}, *OTHERS]})
    (row,) = differences(old, tmp_path / "edit", edit)
    place = ["unchanged", "2021Q3"]
    before, now = {"added": [], "sitelinks": 0}, {"added": ["Q1"], "sitelinks": 99}
    names = ["added", "sitelinks"]
    assert [*row] == [field.name for field in fields(Difference)]
    assert [*row.values()] == ["0000-2021Q3", "edited", *place, *place, names, before, now]
    (row,) = differences(old, tmp_path / "move", changed(MOVED))
    assert (row["old_config"], row["new_config"]) == ("unchanged", "updated")
    assert (row["changed"], row["old"]["split"]) == (["split"], "unchanged")
    ended = Sample({"segments": {"a": [segment(1, end_last=segment(1).snapshot, end_open=False)]}})
    open_ = publish(tmp_path / "old", Sample({"segments": {"a": [segment(1)]}})).folder
    by_change = {row["change"]: row for row in differences(open_, tmp_path, ended)}
    assert by_change["removed"]["old"]["end_last"] is None
    assert by_change["added"]["new"]["end_last"] == "2026-02-02"


def test_columns_are_major(old: Path, tmp_path: Path) -> None:
    """The rows of a table whose columns changed are compared on what both have."""
    new = publish(tmp_path, changed({"segments/all_time": []})).folder
    text = (new / "manifest.json").read_text()
    (new / "manifest.json").write_text(text.replace('"views"', '"sights"'))
    found = compare(old, new)
    told = {"unchanged: column views removed", "unchanged: column sights added"}
    assert told <= {*found.columns}
    assert (found.level, {*found.rows}) == ("major", {"segments"})


def test_a_summary_and_paths_with_any_characters(old: Path, tmp_path: Path) -> None:
    sample = changed({"unchanged/2021Q3": [*OTHERS, 8, 9]})
    new = publish(tmp_path / "a [1]*'b' c=d?", sample, "2.0.0").folder
    text = compare(old, new).summary()
    assert text.splitlines()[0] == "1.0.0 -> 2.0.0: major: 2 rows added, 1 row removed"
    assert "  unchanged: 2 added, 1 removed" in text
    assert text.endswith("2021Q3.parquet, tasks/inspect/tasks.json, tasks/lm-eval (5)")  # by folder
    (new / "data/unchanged/2021Q3.parquet").write_text("x")
    manifest = (new / "manifest.json").read_text()
    for text, refusal in (
        (manifest, r"cannot be compared (.|\s)*factdrift verify says"),
        (manifest.replace('"sample"', '"other"'), "two datasets, sample and other"),
        ("{", "broken manifest"),
    ):
        (new / "manifest.json").write_text(text)
        with pytest.raises(UserError, match=refusal):
            compare(old, new)


def test_notes_for_readers(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrected, moved, added and removed rows, and why a pair was dropped."""
    other = Answer("Q1000", "Club | *Other*", ("C0", "the club"))
    left = [{"n": 0, "answers": [other]}, {"n": 4, "sitelinks": 99}]
    moved = [7, {"n": 2, "split": "unchanged"}]
    splits = {"unchanged/2021Q3": left, "updated/2021Q3": moved, "updated/2021Q4": [9]}
    new = publish(tmp_path, changed(splits), "2.0.0").folder
    edit(new, "inputs.0.snapshot", "2026-05-02")
    diff = tmp_path / "diff.parquet"
    found = [*release_notes(old, new, compare(old, new, diff), diff)]
    assert found == (FOLDER / "notes.md").read_text("utf-8").split("\n")
    for shown, more in ((2, 0), (1, 1)):
        monkeypatch.setattr("factdrift.builders.release.notes.SHOWN_ROWS", shown)
        fewer = [*release_notes(old, new, compare(old, new), diff)]
        assert fewer.count("… and 1 more.") == more
