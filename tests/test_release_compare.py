"""Two releases row by row: what each change is called and which version it asks for."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.release.compare import Difference, compare
from factdrift.builders.release.notes import notes
from factdrift.builders.rows import Cloze
from tests.release_sample import BASE, Sample, cloze, edit, edited, publish, segment

FIRST = BASE["unchanged"]["2021Q3"]
rows = list(FIRST)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("old")).folder


def without(*ids: str) -> list[Cloze]:
    return [row for row in rows if row.id not in ids]


def unchanged(*rows_now: Cloze) -> Sample:
    """The sample with other rows in the first split of `unchanged`."""
    return edited("unchanged", "2021Q3", rows_now)


def segments(**splits: list[int]) -> Sample:
    """The sample with other rows without ids."""
    now = {name: [segment(n) for n in numbers] for name, numbers in splits.items()}
    return Sample({**BASE, "segments": now})


one, *others = rows
LEFT, LATER = without("0002-2021Q3"), BASE["unchanged"]["2021Q4"]
BOTH = {**BASE["updated"], "2021Q3": [cloze(2, "updated"), cloze(7, "updated")]}
WITHIN = {"2021Q3": LEFT, "2021Q4": [replace(rows[2], period="2021Q4"), *LATER]}
moved_across = Sample({**unchanged(*LEFT).rows, "updated": BOTH})
moved_within = Sample({**BASE, "unchanged": WITHIN})
KEPT = {name: splits for name, splits in BASE.items() if name != "updated"}
EDITED = edited("segments", "all_time", [segment(n) for n in (1, 3, 3)] + [segment(2, object="Q8")])
INTO_EMPTY = edited("updated", "2021Q4", [cloze(7, "updated", "2021Q4")])
CASES: list[tuple[str, Sample, str]] = [
    ("none", Sample(BASE), ""),
    ("patch", Sample(BASE, title="Other"), ""),
    ("patch", Sample(BASE, libraries={"pyarrow": "2"}), ""),
    ("patch", Sample(BASE, drops=("a",)), ""),
    ("patch", unchanged(*rows[::-1]), ""),
    ("patch", unchanged(replace(one, query="_X_?"), *others), "unchanged rendered 1"),
    ("patch", unchanged(replace(one, sitelinks=99), *others), "unchanged measured 1"),
    ("patch", unchanged(replace(one, sitelinks=9, query="?"), *others), "unchanged rendered 1"),
    ("minor", unchanged(*rows, cloze(9)), "unchanged added 1"),
    ("minor", INTO_EMPTY, "updated added 1"),
    ("minor", Sample({**BASE, "unchanged": {**BASE["unchanged"], "2022Q1": []}}), ""),
    ("minor", Sample({**BASE, "new": {"2021Q3": [cloze(8, "new")]}}), "new added 1"),
    ("major", unchanged(replace(one, added=("Q1",), query="?"), *others), "unchanged edited 1"),
    ("major", unchanged(replace(one, answers=()), *others), "unchanged edited 1"),
    ("major", unchanged(*without("0001-2021Q3")), "unchanged removed 1"),
    ("major", moved_within, "unchanged moved 1"),
    ("major", moved_across, "updated moved 1"),
    ("major", Sample(KEPT), "updated removed 1"),
    ("major", Sample({**KEPT, "updated": {"2021Q3": BASE["updated"]["2021Q3"]}}), ""),
    ("minor", segments(all_time=[1, 2, 3, 3, 4]), "segments added 1"),
    ("major", segments(all_time=[1, 2, 3]), "segments removed 1"),
    ("major", EDITED, "segments added 1 removed 1"),
    ("major", segments(all_time=[1], b=[2, 3, 3]), "segments moved 3"),
    ("minor", segments(all_time=[1, 2, 3, 3], a=[1]), "segments added 1"),
]
"""The level of a change, the new release, and the changes of rows in one config."""


@pytest.mark.parametrize(("level", "sample", "told"), CASES)
def test_changes(old: Path, tmp_path: Path, level: str, sample: Sample, told: str) -> None:
    config, *words = told.split() or [""]
    counts = {change: int(n) for change, n in zip(words[::2], words[1::2], strict=True)}
    new = publish(tmp_path, sample).folder
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
    changed = unchanged(replace(one, sitelinks=99, added=("Q1",)), *others)
    (row,) = differences(old, tmp_path / "edit", changed)
    place = ["unchanged", "2021Q3"]
    before, now = {"added": [], "sitelinks": 0}, {"added": ["Q1"], "sitelinks": 99}
    names = ["added", "sitelinks"]
    assert [*row] == [field.name for field in fields(Difference)]
    assert [*row.values()] == ["0000-2021Q3", "edited", *place, *place, names, before, now]
    (row,) = differences(old, tmp_path / "move", moved_across)
    assert (row["old_config"], row["new_config"]) == ("unchanged", "updated")
    assert (row["changed"], row["old"]["split"]) == (["split"], "unchanged")
    ended = Sample({"segments": {"a": [segment(1, end_last=segment(1).snapshot, end_open=False)]}})
    open_ = publish(tmp_path / "old", Sample({"segments": {"a": [segment(1)]}})).folder
    by_change = {row["change"]: row for row in differences(open_, tmp_path, ended)}
    assert by_change["removed"]["old"]["end_last"] is None
    assert by_change["added"]["new"]["end_last"] == "2026-02-02"


def test_columns_are_major(old: Path, tmp_path: Path) -> None:
    """The rows of a table whose columns changed are compared on what both have."""
    new = publish(tmp_path, segments(all_time=[])).folder
    text = (new / "manifest.json").read_text()
    (new / "manifest.json").write_text(text.replace('"views"', '"sights"'))
    found = compare(old, new)
    told = {"unchanged: column views removed", "unchanged: column sights added"}
    assert told <= {*found.columns}
    assert (found.level, {*found.rows}) == ("major", {"segments"})


def test_a_summary_and_paths_with_any_characters(old: Path, tmp_path: Path) -> None:
    sample = edited("unchanged", "2021Q3", [*rows[1:], cloze(8), cloze(9)])
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


TEAM = "member of sports team"


def test_notes_for_readers(old: Path, tmp_path: Path) -> None:
    """Corrected, moved, added and removed rows, and why a pair was dropped."""
    other = replace(one.answers[0], label="Club | *Other*")
    left = [replace(one, answers=(other,)), replace(rows[4], sitelinks=99)]
    updated = {
        "2021Q3": [*BASE["updated"]["2021Q3"], rows[2]],
        "2021Q4": [cloze(9, "updated", "2021Q4")],
    }
    made = Sample({**unchanged(*left).rows, "updated": updated})
    new = publish(tmp_path, made, "2.0.0").folder
    edit(new, "inputs.0.snapshot", "2026-05-02")
    diff = tmp_path / "diff.parquet"
    found = [*notes(old, new, compare(old, new, diff), diff)]
    assert found[0] == "# sample 2.0.0" and found[2].startswith("After 1.0.0, a major version: ")
    assert "- dump: `d.json.gz` of 2026-05-02, after that of 2026-02-02" in found
    start = found.index("| rows of | added | removed | edited | moved | measured anew |")
    assert [line for line in found[start + 2 :] if line and not line.startswith("|:--")] == [
        "| `unchanged` | 0 | 2 | 1 | 0 | 1 |",
        "| `updated` | 1 | 0 | 0 | 1 | 0 |",
        "## Corrected in `unchanged`",
        "| subject | relation | split | changed | answers before | answers now |",
        f"| Person 0 | {TEAM} | 2021Q3 | answers | Club 0 | Club \\| \\*Other\\* |",
        "## Corrected in `updated`",
        "| subject | relation | split | changed | answers before | answers now |",
        f"| Person 2 | {TEAM} | 2021Q3 | was in unchanged/2021Q3 | Club 2 | Club 2 |",
        "## Added to `updated`",
        "| subject | relation | split | before | since |",
        f"| Person 9 | {TEAM} | 2021Q4 | Club 9 | – |",
        "## Removed",
        "| config | subject | relation | rows | reasons in this release |",
        f"| `unchanged` | Person 1 | {TEAM} | 1 | `in_doubt` |",
        f"| `unchanged` | Person 3 | {TEAM} | 1 | "
        "another split or answer takes its place, or its fact is gone |",
        "- `in_doubt`: The dates leave open whether the answer held at that time.",
    ]
