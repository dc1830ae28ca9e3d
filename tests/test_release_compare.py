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
from tests.tables import FOLDER, names_of


@pytest.fixture(scope="module")
def old_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("old")).folder


CASES: list[list[Any]] = yaml.safe_load((FOLDER / "changes.yaml").read_text("utf-8"))
OTHERS = [1, 2, 3, 4]
MOVED = {"unchanged/2021Q3": [0, 1, 3, 4], "updated/2021Q3": [2, 7]}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_changes(old_folder: Path, tmp_path: Path, case: list[Any]) -> None:
    level, splits, notes_text, *settings = case
    config, *expected_words = notes_text.split() or [""]
    change_counts = {
        change: int(row_count)
        for change, row_count in zip(expected_words[::2], expected_words[1::2], strict=True)
    }
    new_folder = publish(tmp_path, changed(splits, **dict(*settings))).folder
    diff = tmp_path / "diff.parquet"
    release_diff = compare(old_folder, new_folder, diff)
    assert (release_diff.rows, release_diff.level) == (
        {config: change_counts} if change_counts else {},
        level,
    )
    difference_table = pq.read_table(diff)
    assert difference_table.schema.equals(arrow_schema(Difference))
    assert difference_table.num_rows == sum(change_counts.values())
    swap = {"added": "removed", "removed": "added"}
    assert compare(new_folder, old_folder).totals() == {
        swap.get(change_name, change_name): row_count
        for change_name, row_count in change_counts.items()
    }


def differences(old_folder: Path, tmp_path: Path, sample: Sample) -> list[dict[str, Any]]:
    new_folder = publish(tmp_path, sample).folder
    compare(old_folder, new_folder, tmp_path / "diff.parquet")
    release_diff = pq.read_table(tmp_path / "diff.parquet").to_pylist()
    return [
        diff_row | {side: json.loads(diff_row[side] or "null") for side in ("old", "new")}
        for diff_row in release_diff
    ]


def test_what_a_difference_says(old_folder: Path, tmp_path: Path) -> None:
    """Of an edit, a move, and a value where there was none."""
    edit = changed({"unchanged/2021Q3": [{"n": 0, "sitelinks": 99, "added": ["Q1"]}, *OTHERS]})
    (diff_row,) = differences(old_folder, tmp_path / "edit", edit)
    place = ["unchanged", "2021Q3"]
    old_bytes, new_row = {"added": [], "sitelinks": 0}, {"added": ["Q1"], "sitelinks": 99}
    names = ["added", "sitelinks"]
    assert [*diff_row] == names_of(fields(Difference))
    assert [*diff_row.values()] == [
        "0000-2021Q3",
        "edited",
        *place,
        *place,
        names,
        old_bytes,
        new_row,
    ]
    (diff_row,) = differences(old_folder, tmp_path / "move", changed(MOVED))
    assert (diff_row["old_config"], diff_row["new_config"]) == ("unchanged", "updated")
    assert (diff_row["changed"], diff_row["old"]["split"]) == (["split"], "unchanged")
    ended = Sample({"segments": {"a": [segment(1, end_last=segment(1).snapshot, end_open=False)]}})
    open_ = publish(tmp_path / "old", Sample({"segments": {"a": [segment(1)]}})).folder
    by_change = {diff_row["change"]: diff_row for diff_row in differences(open_, tmp_path, ended)}
    assert by_change["removed"]["old"]["end_last"] is None
    assert by_change["added"]["new"]["end_last"] == "2026-02-02"


def test_columns_are_major(old_folder: Path, tmp_path: Path) -> None:
    """The rows of a table whose columns changed are compared on what both have."""
    new_folder = publish(tmp_path, changed({"segments/all_time": []})).folder
    cell_text = (new_folder / "manifest.json").read_text()
    (new_folder / "manifest.json").write_text(cell_text.replace('"views"', '"sights"'))
    release_diff = compare(old_folder, new_folder)
    notes_text = {"unchanged: column views removed", "unchanged: column sights added"}
    assert notes_text <= {*release_diff.columns}
    assert (release_diff.level, {*release_diff.rows}) == ("major", {"segments"})


def test_a_summary_and_paths_with_any_characters(old_folder: Path, tmp_path: Path) -> None:
    sample = changed({"unchanged/2021Q3": [*OTHERS, 8, 9]})
    new_folder = publish(tmp_path / "a [1]*'b' c=d?", sample, "2.0.0").folder
    cell_text = compare(old_folder, new_folder).summary()
    assert cell_text.splitlines()[0] == "1.0.0 -> 2.0.0: major: 2 rows added, 1 row removed"
    assert "  unchanged: 2 added, 1 removed" in cell_text
    assert cell_text.endswith(
        "2021Q3.parquet, tasks/inspect/tasks.json, tasks/lm-eval (5)"
    )  # by folder
    (new_folder / "data/unchanged/2021Q3.parquet").write_text("x")
    manifest = (new_folder / "manifest.json").read_text()
    for cell_text, refusal in (
        (manifest, r"cannot be compared (.|\s)*factdrift verify says"),
        (manifest.replace('"sample"', '"other"'), "two datasets, sample and other"),
        ("{", "broken manifest"),
    ):
        (new_folder / "manifest.json").write_text(cell_text)
        with pytest.raises(UserError, match=refusal):
            compare(old_folder, new_folder)


def test_notes_for_readers(
    old_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corrected, moved, added and removed rows, and why a pair was dropped."""
    other_answer = Answer("Q1000", "Club | *Other*", ("C0", "the club"))
    old_rows = [{"n": 0, "answers": [other_answer]}, {"n": 4, "sitelinks": 99}]
    moved = [7, {"n": 2, "split": "unchanged"}]
    splits = {"unchanged/2021Q3": old_rows, "updated/2021Q3": moved, "updated/2021Q4": [9]}
    new_folder = publish(tmp_path, changed(splits), "2.0.0").folder
    edit(new_folder, "inputs.0.snapshot", "2026-05-02")
    diff = tmp_path / "diff.parquet"
    release_diff = [
        *release_notes(old_folder, new_folder, compare(old_folder, new_folder, diff), diff)
    ]
    assert release_diff == (FOLDER / "notes.md").read_text("utf-8").split("\n")
    for shown_count, more_count in ((2, 0), (1, 1)):
        monkeypatch.setattr("factdrift.builders.release.notes.SHOWN_ROWS", shown_count)
        fewer = [*release_notes(old_folder, new_folder, compare(old_folder, new_folder), diff)]
        assert fewer.count("… and 1 more.") == more_count
