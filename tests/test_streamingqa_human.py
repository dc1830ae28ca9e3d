"""From the sample news over written, judged and answered questions to the next releases."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.release.compare import compare
from factdrift.builders.rows import Decision, Gold
from tests.asking_rows import check
from tests.conftest import ROOT, run_cli
from tests.gold_rows import batch_items, config_rows, figure_rows, gold_row, write_gold
from tests.tables import column_of, keyed_by_id

RECIPE = ROOT / "builders/recipes/streamingqa.yaml"
SKIPPED = {"answer_not_in_article", "context_reference", "round_trip", "search"}
VAGUE = "Where did he go with them that day?"
OWN = "in words of my own"
WRITTEN = "wmt-question-dates 1.0.0"
DECISIONS: tuple[Decision, ...] = ("accepted", "disputed", "accepted", "rejected", "open")
Row = Mapping[str, Any]


class Run:
    """Releases: `a` without people, `b` with written questions, `c` with reviews of both kinds."""

    def __init__(self, sample: Path, folder: Path) -> None:
        self.folder, self.build = folder, folder / "build"
        shutil.copytree(sample / "build", self.build)
        shutil.copytree(sample / "releases/streamingqa", folder / "releases/streamingqa")
        self.a = folder / "releases/streamingqa/1.0.0"
        self.dates = sample / "releases/wmt-question-dates/1.0.0"
        self.wrote: list[Gold] = []
        self.draws = {
            row["id"]: row
            for subset in ("recent", "past")
            for row in config_rows(self.dates, subset)
        }
        self.write_questions()
        self.b = self.release("1.1.0")
        self.judged: dict[str, Decision] = {}
        self.answered: dict[str, list[str]] = {}
        self.review()
        self.c = self.release("2.0.0")

    def release(self, version: str) -> Path:
        cli_words = ("--gold", self.folder / "judgments", "--out", self.folder / "releases")
        run_cli("release", RECIPE, *cli_words, "--build", self.build)
        return self.folder / "releases/streamingqa" / version

    def write_questions(self) -> None:
        """Questions like those of the backend, one in own words, one that says too little."""
        rows_by_article: dict[str, list[Row]] = {}
        for row in config_rows(self.a, "all"):
            rows_by_article.setdefault(row["evidence_id"], []).append(row)
        batch_options: dict[str, Any] = {"out": self.folder / "hits", "number": 150}
        items_by_config = [
            batch_items("write_questions", self.dates, config=config, **batch_options)
            for config in ("recent", "past")
        ]
        items = [item for config_items in items_by_config for item in config_items]
        for item in items:
            article_rows = rows_by_article.get(self.draws[item.row]["article"], [])
            entries = [
                {"question": row["question"], "answer": row["answers"][0]}
                for row in article_rows[:2]
            ]
            if entries:
                two_workers = [*entries, {"question": VAGUE, "answer": "home"}]
                second_entries = [{**entries[0], "answer": OWN}]
                answers = {"questions": [two_workers, second_entries]}
                self.wrote.append(gold_row(*shown(item), answers, judgments=2, dataset=WRITTEN))
        first_item, second_item, *_ = items
        right_answers = {"questions": [{"question": "Who was it in Paris?", "answer": "Ann"}]}
        other_days = {**second_item.fields, "question_day": "2020-01-01"}
        written_ids = {first_item.row for first_item in self.wrote}
        free_ids = [item.row for item in items if item.row not in written_ids]
        useless_rows = [
            gold_row("write_questions", "0" * 16, first_item.fields, right_answers),
            gold_row("write_questions", free_ids[0], other_days, right_answers),
            gold_row("write_questions", free_ids[1], first_item.fields, {"questions": [7, []]}),
            gold_row("write_questions", free_ids[2], first_item.fields, right_answers, "open"),
        ]
        write_gold(self.folder / "judgments/write_questions", [*self.wrote, *useless_rows])

    def review(self) -> None:
        """Of those drawn from release B every third is bad; of answers every kind is there."""
        judge_items = batch_items("judge_question", self.b, self.folder / "hits", number=200)
        gold_rows = []
        for number, item in enumerate(judge_items):
            decision = DECISIONS[number % len(DECISIONS)]
            self.judged[item.row] = decision
            verdict = {"verdict": "good" if decision == "accepted" else "bad"}
            gold_rows.append(gold_row(*shown(item), verdict, decision, 3, 3))
        stale_fields = {**judge_items[0].fields, "question": "Who else?"}
        row = next(
            question_row["id"]
            for question_row in config_rows(self.b, "all")
            if question_row["id"] not in self.judged
        )
        gold_rows.append(
            gold_row("judge_question", row, stale_fields, {"verdict": "bad"}, "rejected", 3, 3)
        )
        gold_rows.append(
            gold_row("judge_question", "0" * 16, stale_fields, {"verdict": "bad"}, "rejected", 3, 3)
        )
        write_gold(self.folder / "judgments/judge_question", gold_rows)
        rows_by_id = keyed_by_id(config_rows(self.b, "all"))
        gold_rows = []
        answer_items = batch_items("answer_question", self.b, self.folder / "hits", number=90)
        for number, item in enumerate(answer_items):
            right_answer = rows_by_id[item.row]["answers"][0]
            answer_variants = [
                [right_answer, "the " + right_answer, "Nobody"],
                [right_answer] * 3,
                ["No", right_answer],
                [],
            ]
            given_answers = self.answered[item.row] = answer_variants[number % 4]
            answer_fields = (
                {"answer": right_answer if number % 4 == 1 else given_answers}
                if given_answers
                else {}
            )
            answers = {"answerable": "yes" if given_answers else "no", **answer_fields}
            answer_decision: Decision = "accepted" if given_answers else "rejected"
            gold_rows.append(
                gold_row(*shown(item), answers, answer_decision, 3, len(given_answers) or 2)
            )
        gold_rows.append(gold_row("answer_question", "0" * 16, item.fields, {"answer": ["Who"]}))
        write_gold(self.folder / "judgments/answer_question", gold_rows)


def shown(item: Any) -> tuple[str, str, Mapping[str, Any]]:
    layout = {"article_day": "write_questions", "article_date": "answer_question"}
    name = next(
        (layout[field_name] for field_name in item.fields if field_name in layout), "judge_question"
    )
    return name, item.row, item.fields


@pytest.fixture(scope="module")
def annotated_run(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(sample, tmp_path_factory.mktemp("people"))


@pytest.mark.slow
def test_written_questions_are_added_and_nothing_else_changes(annotated_run: Run) -> None:
    changed = compare(annotated_run.a, annotated_run.b)
    assert changed.level == "minor"
    assert set(changed.totals()) == {"added"}
    rows_before = keyed_by_id(config_rows(annotated_run.a, "all"))
    rows_after = keyed_by_id(config_rows(annotated_run.b, "all"))
    assert {id_: rows_after[id_] for id_ in rows_before} == rows_before
    expected_answers = {}
    for written_row in annotated_run.wrote:
        two_workers, second_entries = json.loads(written_row.answers)["questions"]
        for entry in two_workers:
            given_answers = [
                worker_entry["answer"]
                for worker_entry in (entry, *second_entries)
                if worker_entry["question"] == entry["question"]
            ]
            expected_answers[written_row.row, entry["question"]] = given_answers
    written_rows = [row for id_, row in rows_after.items() if id_ not in rows_before]
    assert len(written_rows) > 100
    assert set(column_of(written_rows, "recent_or_past")) == {"recent", "past"}
    for row in written_rows:
        (draw,) = (
            draw_row
            for (draw_id, question), given_answers in expected_answers.items()
            if question == row["question"]
            and given_answers == list(row["answers"])
            and (draw_row := annotated_run.draws[draw_id])["article"] == row["evidence_id"]
            and seconds(draw_row["question_day"]) == row["question_ts"]
        )
        assert row["question"] != VAGUE
        assert (row["written_or_generated"], row["generator"]) == ("written", "people")
        assert draw["split"] == "eval"  # people write for the evaluation alone
        assert (row["split"], row["judged"]) == ("unjudged", "no")
        assert row["quarter"] == draw["quarter"]
        drawn = (draw["subset"], seconds(draw["article_day"]))
        assert (row["recent_or_past"], row["evidence_ts"]) == drawn
        assert row["time_spec"] in ("own", "none")
        assert not SKIPPED & set(row["filters"])
        assert "toxicity" in row["filters"]
        assert row["toxicity_profanity"] is not None
    dropped_counts = {
        figure_row["filter"]: figure_row["dropped"]
        for figure_row in figure_rows(annotated_run.b, "written_filters")
    }
    assert sum(dropped_counts.values()) == len(expected_answers) - len(written_rows)
    outcomes = {
        (figure_row["layout"], figure_row["outcome"]): figure_row["rows"]
        for figure_row in figure_rows(annotated_run.b, "gold")
    }
    expected = dict.fromkeys(("changed", "no_such_row", "not_understood", "open"), 1)
    expected["taken"] = len(annotated_run.wrote)
    assert outcomes == {
        ("write_questions", name): row_count for name, row_count in expected.items()
    }


def seconds(day: Any) -> int:
    return int((day - type(day)(1970, 1, 1)).days) * 86_400


@pytest.mark.slow
def test_judged_and_answered_rows_are_what_changes(annotated_run: Run) -> None:
    rows_before = keyed_by_id(config_rows(annotated_run.b, "all"))
    rows_after = keyed_by_id(config_rows(annotated_run.c, "all"))
    judged_bad = {
        row
        for row, decision in annotated_run.judged.items()
        if decision in ("rejected", "disputed")
    }
    unanswerable = {
        row for row, given_answers in annotated_run.answered.items() if not given_answers
    }
    assert judged_bad - unanswerable
    assert unanswerable - judged_bad
    assert set(rows_after) == set(rows_before) - judged_bad - unanswerable
    judged_written = [
        row for row in annotated_run.judged if rows_before[row]["written_or_generated"] == "written"
    ]
    assert judged_written
    baseline = keyed_by_id(config_rows(annotated_run.c, "human_baseline"))
    assert check(annotated_run.c)["all"] == len(rows_after)
    for row_id, row in rows_after.items():
        given_answers = list(annotated_run.answered.get(row_id, []))
        differ = {name for name in row if row[name] != rows_before[row_id][name]}
        differ -= {"judged", "split"}  # of what was judged, also from `unjudged` into `eval`
        if not given_answers:
            assert not differ
            assert row_id not in baseline
            continue
        assert differ <= {"answers_additional", "targets"}
        answers_before = rows_before[row_id]["answers_additional"]
        baseline_row, new_references = (
            baseline[row_id],
            list(row["answers_additional"])[len(answers_before) :],
        )
        assert sorted(given_answers) == sorted(
            [*new_references, *([baseline_row["answer"]] if baseline_row["answer"] else [])]
        )
        references = [*row["answers"], *answers_before, *new_references]
        assert baseline_row["exact_match"] == (
            baseline_row["answer"] in references or baseline_row["answer"] == "the " + references[0]
        )
        assert baseline_row["exact_match"] <= baseline_row["f1"]
    assert set(baseline) == {row_id for row_id in rows_after if annotated_run.answered.get(row_id)}
    added_counts = {
        len(rows_after[row_id]["answers_additional"])
        - len(rows_before[row_id]["answers_additional"])
        for row_id in baseline
    }
    assert added_counts == {1, 2}
    assert any(row["answer"] is None for row in baseline.values())


@pytest.mark.slow
def test_only_judged_rows_where_that_is_asked(annotated_run: Run, tmp_path: Path) -> None:
    text = RECIPE.read_text("utf-8").replace("../../samples", str(ROOT / "samples"))
    recipe_path = tmp_path / "streamingqa.yaml"
    recipe_path.write_text(
        text.replace("  people:\n", "  people:\n    judged: [written]\n"), "utf-8"
    )
    cli_words = ("--gold", annotated_run.folder / "judgments", "--build", annotated_run.build)
    run_cli("release", recipe_path, *cli_words, "--out", tmp_path / "two")
    kept_rows, all_rows = (
        config_rows(row, "all") for row in (tmp_path / "two/streamingqa/1.0.0", annotated_run.c)
    )
    written_rows = [row for row in kept_rows if row["written_or_generated"] == "written"]
    assert {annotated_run.judged.get(row["id"]) for row in written_rows} == {"accepted"}
    generated_rows = [
        [row for row in release_rows if row["written_or_generated"] != "written"]
        for release_rows in (kept_rows, all_rows)
    ]
    assert generated_rows[0] == generated_rows[1]
