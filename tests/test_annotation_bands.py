"""Toxicity thresholds band by band, with simulated judges, until every attribute stops."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from factdrift.annotation.batch import Item, read_batch
from factdrift.annotation.order import BandRule, BatchOrder
from factdrift.annotation.thresholds import ThresholdReport, find_thresholds
from factdrift.builders.core.config import load
from factdrift.builders.core.dataset import Dataset, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.publish import write_release
from factdrift.builders.rows import Dropped, NewsQuestion
from factdrift.filters.toxicity.scores import ATTRIBUTES, ToxicityScores
from factdrift.filters.toxicity_filter import Toxicity
from tests.annotation_workers import hand_in, take, work
from tests.release_sample import PROSE, Sample, from_rows, meta
from tests.test_streamingqa_human_reviews import ROW

TRUTH = {"insult": 0.815, "profanity": 0.92, "threat": 0.97, "sexually_explicit": 0.0}
"""Scores from which a row is toxic; for the others nothing is."""


def _score(attribute_name: str, row_number: int, table_rows: int) -> float | None:
    """Insult and threat evenly over 0 to 1; profanity with a gap; the other from 0.9 alone."""
    place = (
        (row_number * {"insult": 7, "threat": 11, "profanity": 13}.get(attribute_name, 1))
        % table_rows
    ) / table_rows
    if attribute_name == "profanity":
        return place if not 0.5 <= place < 0.9 else None
    if attribute_name == "sexually_explicit":
        return 0.9 + place / 10 if row_number < 60 else None
    return None if attribute_name in ("identity_attack", "severe_toxicity") else place


def _file(file_path: Path, table_rows: int = 1000, alike: int = 0) -> Path:
    """A JSONL file as a release has it; the first `alike` rows show the same."""
    lines = []
    for row_number in range(table_rows):
        band_row: dict[str, Any] = {"id": f"row{row_number:05}", "answers": ["answer"]}
        band_row["question"] = f"Question {0 if row_number < alike else row_number}?"
        scores = {
            f"toxicity_{attribute_name}": _score(attribute_name, row_number, table_rows)
            for attribute_name in ATTRIBUTES
        }
        lines.append(band_row | scores)
    return hand_in(file_path.parent, lines, file_path.name)


class _Judges:
    """Two people who know the truth of a file's rows by what they are shown."""

    def __init__(
        self, tmp_path: Path, dataset: Path | str, table_rows: int = 50, **more_values: Any
    ) -> None:
        self.folder, self.rule = tmp_path, BandRule(rows=table_rows)
        self.scores: dict[str, dict[str, float | None]] = {}
        for folder_name in ("build", "hits", "judgments"):
            option_name = "out" if folder_name == "hits" else folder_name
            more_values[option_name] = tmp_path / folder_name
        self.order = BatchOrder(layout="judge_toxicity", dataset=str(dataset), **more_values)

    def next(self, **more_values: Any) -> ThresholdReport:
        return find_thresholds(replace(self.order, **more_values), self.rule)

    def judge(
        self, threshold_report: ThresholdReport, workers: tuple[str, ...] = ("u", "v")
    ) -> None:
        """Do the whole batch and read it in."""
        assert threshold_report.batch
        results_path = self.folder / f"{threshold_report.batch[0].name}{''.join(workers)}.jsonl"
        work(threshold_report.batch[0], results_path, list(workers), self.says)
        take(self.folder, results_path)

    def says(self, worker_id: str, item: Item) -> dict[str, Any]:
        if item.answers is not None:
            return dict.fromkeys(ATTRIBUTES, False) | dict(item.answers)
        scores = self.scores[item.row]
        return {
            attribute_name: (scores[attribute_name] or 0) >= TRUTH.get(attribute_name, 2)
            for attribute_name in ATTRIBUTES
        }


def _of_file(tmp_path: Path, **more_values: Any) -> _Judges:
    file_path = _file(tmp_path / "questions.jsonl", **more_values)
    judges = _Judges(tmp_path, file_path, table_rows=20)
    for text_line in file_path.read_text("utf-8").splitlines():
        band_row = json.loads(text_line)
        judges.scores[band_row["id"]] = {
            attribute_name: band_row[f"toxicity_{attribute_name}"] for attribute_name in ATTRIBUTES
        }
    return judges


def _run(judges: _Judges, most: int = 20) -> tuple[ThresholdReport, int]:
    for turn in range(most):
        threshold_report = judges.next()
        if threshold_report.snippet:
            return threshold_report, turn
        judges.judge(threshold_report)
    raise AssertionError("it does not stop")


@pytest.mark.slow
def test_the_same_command_again_and_again_until_it_stops(tmp_path: Path) -> None:
    judges = _of_file(tmp_path)
    threshold_report, turns = _run(judges)
    # by hand: insult: 0.95, 0.90, 0.85 all toxic, 0.80 by 7 of 10, 0.75 and 0.70 clean: 0.75.
    # profanity: 0.95 toxic, 0.90 by 4 of 5, then no rows, 0.45 and 0.40 clean: 0.45.
    # threat: 0.95 by 3 of 5, 0.90 and 0.85 clean: 0.90. The last: nothing below 0.90: 0.90.
    thresholds = {attribute.name: attribute.threshold for attribute in threshold_report.attributes}
    expected_thresholds = {
        "insult": 0.75,
        "profanity": 0.45,
        "sexually_explicit": 0.90,
        "threat": 0.90,
    }
    assert thresholds == expected_thresholds
    assert turns == 6  # as many as insult has bands
    insult = next(
        attribute for attribute in threshold_report.attributes if attribute.name == "insult"
    )
    assert [band.low for band in insult.bands] == [0.95, 0.90, 0.85, 0.80, 0.75, 0.70]
    assert [(insult.rows[band.low], band.judged) for band in insult.bands] == [(20, 40)] * 6
    assert [band.toxic for band in insult.bands[:3]] == [40, 40, 40]
    assert threshold_report.batch is None and threshold_report.sent == 0
    assert threshold_report.snippet
    written_snippet = yaml.safe_load(threshold_report.snippet.read_text("utf-8"))
    assert written_snippet == {"thresholds": thresholds}
    assert judges.next() == threshold_report
    assert "insult: threshold 0.75" in threshold_report.lines()
    head = [
        text_line
        for text_line in threshold_report.snippet.read_text("utf-8").splitlines()
        if text_line[0] == "#"
    ]
    assert {
        f"# {text_line}"
        for text_line in threshold_report.lines()
        if not text_line.startswith("thresholds: ")
    } <= {*head}


def test_few_rows_are_enough(tmp_path: Path) -> None:
    judges = _Judges(tmp_path, tmp_path / "few.jsonl")
    scores = enumerate([0.99, 0.46, 0.47, 0.42])
    lines = [
        {"id": f"r{row_number}", "question": f"Q{row_number}?", "toxicity_insult": score}
        for row_number, score in scores
    ]
    hand_in(tmp_path, lines, "few.jsonl")
    judges.scores = {f"r{row_number}": dict.fromkeys(ATTRIBUTES) for row_number in range(4)}
    first_report = judges.next()
    judges.judge(first_report)
    threshold_report, _ = _run(judges)
    warned = "insult: of fewer than 50 judgments, too few: 0.95 (2), 0.45 (4)"
    assert threshold_report.lines()[2:4] == ["insult: threshold 0.95", warned]
    assert threshold_report.snippet
    text = threshold_report.snippet.read_text("utf-8")
    assert "up to 50 rows a band" in text
    assert "# insult: threshold 0.95" in text


def test_a_batch_has_the_next_bands_and_nothing_judged_before(tmp_path: Path) -> None:
    judges = _of_file(tmp_path)
    seen_rows: set[str] = set()
    for lows in ({0.95}, {0.90}):
        threshold_report = judges.next()
        assert threshold_report.batch
        table_rows = set()
        for hit in read_batch(threshold_report.batch[0]).hits:
            for item in hit.items:
                if item.row:
                    table_rows.add(item.row)
        assert table_rows & seen_rows == set()
        assert table_rows <= {
            band_row for attribute in threshold_report.attributes for band_row in attribute.lacking
        }
        assert {
            attribute.next_band for attribute in threshold_report.attributes if attribute.next_band
        } >= lows
        seen_rows |= table_rows
        judges.judge(threshold_report)


def test_a_batch_that_is_out_is_waited_for(tmp_path: Path) -> None:
    judges = _of_file(tmp_path)
    first_report = judges.next()
    waiting = judges.next()
    assert (waiting.batch, waiting.snippet) == (None, None)
    assert first_report.batch
    table_rows = first_report.batch[1].counts["items"]
    assert waiting.sent == table_rows
    judges.judge(first_report, ("u",))  # one judge of two
    assert judges.next().sent == table_rows
    same_report = judges.next(again=True)
    assert same_report.batch and same_report.batch[1].counts["items"] == table_rows
    judges.judge(same_report, ("v",))
    assert judges.next().batch


@pytest.mark.slow
def test_rows_that_show_the_same_are_judged_once(tmp_path: Path) -> None:
    judges = _of_file(tmp_path, alike=300)
    threshold_report, _ = _run(judges)
    assert threshold_report.snippet and len(threshold_report.attributes) == 4


def test_a_release_with_its_dropped_rows(tmp_path: Path) -> None:
    """Rows from 0.5 up were dropped: the bands above come from `dropped.parquet`."""
    row_count = 400
    kept_rows, lost = [], []
    judges = _Judges(tmp_path, "streamingqa", table_rows=10, releases=tmp_path / "releases")
    for row_number in range(row_count):
        attribute_name, score = f"{row_number:016x}", row_number / row_count
        judges.scores[attribute_name] = dict.fromkeys(ATTRIBUTES) | {"insult": score}
        question = f"Who said: {row_number}?"
        if score < 0.5:
            kept_rows.append(
                replace(
                    ROW,
                    id=attribute_name,
                    qa_id=attribute_name,
                    question=question,
                    toxicity_insult=score,
                )
            )
        else:
            scores = ToxicityScores(insult=score, threat=0.1)
            detail = f"{scores}: {question}"
            lost.append(
                Dropped("toxicity", "toxic_insult", attribute_name, None, None, None, score, detail)
            )
    lost.append(Dropped("length", "too_long", "ffff", None, None, None, 0.9, "insult=0.99: x"))
    order_with_release = replace(
        meta(Sample({})),
        dataset="streamingqa",
        prose=PROSE.parents[1] / "streamingqa" / "prose.md",
        parameters={"filters": [Toxicity().model_dump(mode="json")]},
    )
    question_table = Table(
        "all", NewsQuestion, "All.", {"eval": from_rows(NewsQuestion, kept_rows)}
    )
    write_release(
        Dataset((question_table,), (from_rows(Dropped, lost),)),
        order_with_release,
        tmp_path / "releases",
    )
    threshold_report, _ = _run(judges)
    # insult: toxic from 0.815: as above; threat: 0.1 for all that were dropped, never toxic: the
    # one band that it has is the last, and goes
    assert {attribute.name: attribute.threshold for attribute in threshold_report.attributes} == {
        "insult": 0.75,
        "threat": 0.1,
    }
    first_batch = read_batch(tmp_path / "hits/judge_toxicity/0001")
    shown_fields = [item.fields for hit in first_batch.hits for item in hit.items if item.row]
    assert {tuple(item_fields) for item_fields in shown_fields} == {("question",)}
    for item_fields in shown_fields:
        assert str(item_fields["question"]).startswith("Who said: ")
    assert threshold_report.snippet
    (written_filter,) = yaml.safe_load(threshold_report.snippet.read_text("utf-8"))
    assert written_filter["scorer"]["thresholds"] == {"insult": 0.75, "threat": 0.1}
    (tmp_path / "filter.yaml").write_text(yaml.safe_dump(written_filter), "utf-8")
    assert load(tmp_path / "filter.yaml", Toxicity).scorer.scorer == "local"


@pytest.mark.parametrize(
    ("band_row", "expected_message"),
    [
        ({"id": "a", "question": "Q?", "toxicity_insult": 1.5}, "not from 0 to 1"),
        ({"id": "a", "question": "Q?", "toxicity_insult": "high"}, "not from 0 to 1"),
        ({"id": "a", "question": "Q?"}, "no row of rows.jsonl has a score"),
    ],
)
def test_scores_that_are_none(
    tmp_path: Path, band_row: dict[str, object], expected_message: str
) -> None:
    with pytest.raises(UserError, match=expected_message):
        _Judges(tmp_path, hand_in(tmp_path, [band_row], "rows.jsonl")).next()
