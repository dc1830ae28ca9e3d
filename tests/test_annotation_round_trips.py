"""Every layout on every platform: a batch out, simulated workers, results in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout, layout_names, load_layout
from factdrift.annotation.matching import hash_id
from tests.annotation_workers import hand_in, take
from tests.simulated_workers import Made, label_studio_export, mturk_csv, work, written
from tests.tables import column_of

PLATFORMS = ("static", "mturk", "label_studio")
WAYS = [
    pytest.param(name, platform, marks=[pytest.mark.slow] if number and place else [])
    for number, name in enumerate(layout_names())
    for place, platform in enumerate(PLATFORMS)
]
"""Every layout on one platform and every platform with one layout are quick."""


def export(works: Sequence[Made], hit_batch: HitBatch, layout: Layout, folder: Path) -> Path:
    """What comes back from the platform of a batch."""
    folder.mkdir(exist_ok=True)
    if hit_batch.platform == "mturk":
        file_path = folder / "Batch_1_batch_results.csv"
        mturk_csv(works, hit_batch, file_path)
    elif hit_batch.platform == "label_studio":
        file_path = folder / "project-1.json"
        label_studio_export(works, hit_batch, layout, file_path)
    else:
        file_path = hand_in(folder, works, "submissions.jsonl")
    return file_path


def told(works: Sequence[Made], platform: str) -> dict[tuple[str, str, str], list[Any]]:
    """What good workers have said, by HIT, item and hashed worker, in order."""
    told_values: dict[tuple[str, str, str], list[Any]] = {}
    for submission in works:
        name = submission["worker"]
        if platform == "label_studio":
            name = str(sum(name.encode()))
        worker_id = hash_id(b"a salt of sixteen", "worker", platform, name)
        for item, item_answers in submission["answers"].items():
            told_values.setdefault((submission["hit"], item, worker_id), []).append(item_answers)
    return told_values


@pytest.mark.slow
@pytest.mark.parametrize(("name", "platform"), WAYS)
def test_what_workers_say_arrives(
    name: str, platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTDRIFT_SALT", "a salt of sixteen")
    hits, out = tmp_path / "hits", tmp_path / "judgments"
    layout = load_layout(name)
    hit_batch = written(hits, name, platform)
    works = work(hit_batch, layout)
    results_path = export(works, hit_batch, layout, tmp_path / "results")
    import_report = take(tmp_path, results_path)
    whole_submission = platform != "label_studio"
    hit_size = (
        1 if whole_submission else len(hit_batch.hits[0].items)
    )  # every item is taken by itself, or a HIT
    assert import_report.refused == {}
    assert (import_report.taken, import_report.new) == (
        len(works) * hit_size,
        (len(works) - 1) * hit_size,
    )
    assert (
        import_report.further == hit_size
        if whole_submission
        else import_report.further + import_report.known == hit_size
    )
    table_rows = pq.read_table(out / name / "judgments.parquet").to_pylist()
    expected_answers = told(works, platform)
    got: dict[tuple[str, str, str], list[Any]] = {}
    for row in table_rows:
        assert (row["platform"], row["batch"], row["layout"]) == (platform, hit_batch.id, name)
        key = (row["hit"], row["item"], row["worker"])
        got.setdefault(key, []).append(json.loads(row["answers"]))
    for answers in (*expected_answers.values(), *got.values()):
        answers.sort(key=lambda item_answers: json.dumps(item_answers, sort_keys=True))
        if not whole_submission:  # who says the same of an item again says it once
            answers[:] = [
                item_answers
                for answer_number, item_answers in enumerate(answers)
                if item_answers not in answers[:answer_number]
            ]
    assert got == expected_answers
    assert set(column_of(table_rows, "seconds")) >= {0.4, 41.5}
    earlier_bytes = (out / name / "judgments.parquet").read_bytes()
    second_report = take(tmp_path, results_path)
    assert (second_report.new, second_report.known) == (0, len(works) * hit_size)
    assert (out / name / "judgments.parquet").read_bytes() == earlier_bytes
