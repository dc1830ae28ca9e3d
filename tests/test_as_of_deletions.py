"""What is deleted, who is asked nothing, and when what is of another time held."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from factdrift.builders.core.schema import typed_rows
from factdrift.builders.text.squad import verdict
from factdrift.reasoning.as_of.difficulty import (
    RESULTS,
    DifficultyTables,
    RuleResult,
    measure_difficulty,
)
from factdrift.reasoning.as_of.rows import DAY_VERDICTS
from factdrift.scoring.export import export_release
from factdrift.scoring.memories import answer_by_name, answer_stream
from factdrift.scoring.option_values import Baseline, MemoryName
from factdrift.scoring.retrieval import retrieval_lines, retrieval_notes, score_run
from factdrift.scoring.search_baselines import search_passages
from tests.dated_release import dated_release, questions

DELETED = "wb"
"""The statement that is taken back, on the day of its correction: 2021-06-15."""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dated_release(tmp_path_factory.mktemp("deletions"), "statement-")


@pytest.fixture(scope="module")
def folder(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deleted")
    for name in ("beir", "stream"):
        export_release(release, name, folder / name, lambda text: None, config="statements")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_card_and_the_tool_play_the_same_stream(
    release: Path, folder: Path, tmp_path: Path
) -> None:
    """Deletions, the order of facts and the names of a passage count alike on both roads."""
    table_files = []
    for name in ("passages", "stated", "questions"):
        table_files.append(next((release / "data" / f"statement-{name}").glob("*.parquet")))
    (tmp_path / "index").mkdir()
    measure_difficulty(DifficultyTables(*table_files), tmp_path / "index", tmp_path, 0)
    on_card = {
        (run_result.rule, run_result.question): run_result.verdict
        for run_result in typed_rows(tmp_path / RESULTS, RuleResult)
        if run_result.verdict is not None
    }
    by_tool: dict[tuple[str, str], str | None] = {}
    for memory_name in get_args(MemoryName):
        answers_file = tmp_path / f"{memory_name}.jsonl"
        answer_by_name(memory_name, folder / "stream", answers_file)
        answers = {line["id"]: line["prediction"] or "" for line in lines(answers_file)}
        for question in questions():
            known_names = question.targets, question.earlier, question.later
            judged_passages = verdict(answers[question.id], *known_names)
            by_tool[memory_name, question.id] = DAY_VERDICTS.get(judged_passages, judged_passages)
    assert on_card == by_tool


class Forgetful:
    """A memory that counts what it is told."""

    def __init__(self) -> None:
        self.deletions: list[str] = []

    def hear(self, passage: Mapping[str, Any]) -> None: ...

    def answer(self, question: Mapping[str, Any]) -> str:
        assert question["text"] in question["prompt"]
        return ""


class Forgetting(Forgetful):
    def forget(self, deletion: Mapping[str, Any]) -> None:
        self.deletions.append(deletion["id"])


@pytest.mark.parametrize(
    ("memory", "deletions", "is_warned"),
    [(Forgetful(), [], True), (Forgetting(), [DELETED], False)],
)
def test_a_memory_without_forget_is_told_of(
    memory: Forgetful,
    deletions: Sequence[str],
    is_warned: bool,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer_stream(memory, folder / "stream", tmp_path / "a.jsonl")
    assert memory.deletions == deletions
    assert ("1 passages were taken back" in capsys.readouterr().err) is is_warned


def test_an_export_says_what_a_user_has_to_know(release: Path, tmp_path: Path) -> None:
    said_lines: dict[str, str] = {}
    for name in ("beir", "stream"):
        printed_notes: list[str] = []
        export_release(release, name, tmp_path / name, printed_notes.append, config="statements")
        said_lines[name] = "\n".join(printed_notes)
    assert "1 questions that nothing answers are in unanswerable.jsonl" in said_lines["beir"]
    assert "3 queries have a day of asking" in said_lines["beir"]
    assert (
        "1 deletions" in said_lines["stream"] and "4 questions, each with" in said_lines["stream"]
    )
    (silent_memory,) = lines(tmp_path / "beir/unanswerable.jsonl")
    assert silent_memory["_id"] == "q4" and silent_memory["metadata"]["prompt"].endswith(
        silent_memory["text"]
    )
    asked = {query_record["_id"] for query_record in lines(tmp_path / "beir/queries.jsonl")}
    assert asked == {"q1", "q2", "q3"}


@pytest.mark.parametrize("by", ["bm25", "day", "newest", "guess"])
def test_what_is_deleted_is_not_found_from_then_on(
    by: Baseline, folder: Path, tmp_path: Path
) -> None:
    passage_records = {row["_id"]: row["metadata"] for row in lines(folder / "beir/corpus.jsonl")}
    assert [name for name in passage_records if "deleted_on" in passage_records[name]] == [DELETED]
    assert passage_records[DELETED]["deleted_on"] == "2021-06-15"
    query_record = {"_id": "x", "text": "Who became head of the Bank of Rome?", "metadata": {}}
    query_records = []
    for day in ("2021-06-14", "2021-06-15"):
        metadata = {"asked_on": day, "day": day}
        query_records.append(json.dumps({**query_record, "_id": day, "metadata": metadata}) + "\n")
    beir = tmp_path / "beir"
    beir.mkdir()
    (beir / "corpus.jsonl").write_bytes((folder / "beir/corpus.jsonl").read_bytes())
    (beir / "queries.jsonl").write_text("".join(query_records), "utf-8")
    search_passages(beir, tmp_path / "run.trec", by)
    search_results = [
        line.split() for line in (tmp_path / "run.trec").read_text("utf-8").splitlines()
    ]
    assert [row[0] for row in search_results if row[2] == DELETED] == ["2021-06-14"]


def test_when_a_passage_of_another_time_held(folder: Path) -> None:
    with (folder / "beir/stale.tsv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    passage_times = {(row["query-id"], row["corpus-id"]): row["when"] for row in rows}
    assert passage_times == {
        ("q1", "a1-0_1"): "stale",
        ("q2", "a1-0_1"): "stale",
        ("q2", "a4-0_0"): "early",
        ("q2", "a5-0_0"): "early",
        ("q2", "p2"): "stale",
        **{("q3", name): "early" for name in ("a2-0_0", "a3-0_0", "a4-0_0", "a5-0_0")},
    }


RUN = {
    "q1": ["a1-0_1", "a3-0_0"],  # stale above what proves
    "q2": ["a3-0_0", "a4-0_0", DELETED],  # proves above early; deleted when it was asked
    "q3": [],
}


def test_a_run_is_scored_by_time_and_kind(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    run.write_text(
        "".join(
            f"{query_record} Q0 {passage} {rank} {-rank} x\n"
            for query_record, passage_records in RUN.items()
            for rank, passage in enumerate(passage_records, 1)
        ),
        "utf-8",
    )
    (scores,) = score_run(folder / "beir", run)
    measured_shares = {
        name: (mean.n, round(mean.mean, 4)) for name, mean in scores.measures.items()
    }
    assert measured_shares["stale@10"] == (2, 0.05) and measured_shares["early@10"] == (2, 0.05)
    assert measured_shares["misled"] == (3, 0.3333) and scores.misled == {"q1": "a1-0_1"}
    assert measured_shares["deleted@10"] == (3, 0.0333) and measured_shares["later@10"] == (3, 0.0)
    assert {kind: means["misled"].n for kind, means in scores.kinds.items()} == {
        "newest": 1,
        "older": 2,
    }
    assert scores.kinds["newest"]["misled"].mean == 1 and scores.kinds["older"]["misled"].mean == 0
    (export_note,) = retrieval_notes([scores])
    assert "1 of 3 queries of test have no results" in export_note
    printed = "\n".join(retrieval_lines([scores]))
    for name in ("stale@10", "early@10", "misled", "later@10", "deleted@10"):
        assert f"\n{name}: " in printed
    run.write_text(
        "".join(f"{query_record} Q0 a5-0_0 1 1 x\n" for query_record in ("q1", "q2", "q3")), "utf-8"
    )
    (scores,) = score_run(folder / "beir", run)
    (export_note,) = retrieval_notes([scores])
    assert "published after the query was asked" in export_note
