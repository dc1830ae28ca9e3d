"""What is made of dated passages: corpora, streams, sessions, and answers of simple memories."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from factdrift import score
from factdrift.builders.core.errors import UserError
from factdrift.reasoning.as_of.difficulty import (
    RESULTS,
    DifficultyTables,
    difficulty_statistics,
    easy_rules,
    measure_difficulty,
)
from factdrift.reasoning.as_of.memories import Prose, TermsHeard
from factdrift.scoring.export import FormatName, export_release
from factdrift.scoring.memories import answer_by_name
from factdrift.scoring.option_values import Baseline, MemoryName
from factdrift.scoring.predictions import numbered_rows
from factdrift.scoring.retrieval import score_run
from factdrift.scoring.score import Scores
from factdrift.scoring.search_baselines import search_passages
from tests.dated_release import dated_release, passages, questions

TABLES = ("passages", "stated", "questions")
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dated_release(tmp_path_factory.mktemp("dated"))


@pytest.fixture(scope="module")
def folder(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every layout of the release, in a folder each."""
    folder = tmp_path_factory.mktemp("layouts")
    names: tuple[FormatName, ...] = ("beir", "dpr", "mteb", "stream", "longmemeval")
    for name in names:
        export_release(release, name, folder / name, lambda text: None)
    return folder


def lines(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def judged(folder: Path) -> dict[tuple[str, str], int]:
    with (folder / "beir/qrels/test.tsv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    return {(row["query-id"], row["corpus-id"]): int(row["score"]) for row in rows}


def test_judgments_are_2_1_and_0_and_nothing_later_is_judged(folder: Path) -> None:
    expected = {
        (question.id, passage_id): score
        for question in questions()
        if question.kind != "abstain"
        for score, ids in (
            *((2, question.evidence), (1, question.supporting), (0, question.stale)),
        )
        for passage_id in ids
    }
    assert judged(folder) == expected
    days = {
        passage["_id"]: passage["metadata"]["day"]
        for passage in lines(folder / "beir/corpus.jsonl")
    }
    assert len(days) == len(passages())
    queries = {query["_id"]: query["metadata"] for query in lines(folder / "beir/queries.jsonl")}
    assert queries.keys() == {"q1", "q2", "q3"}
    assert queries["q2"]["day"] == "2020-04-01" and queries["q2"]["kind"] == "older"
    for query_id, passage_id in expected:
        assert days[passage_id] <= queries[query_id]["asked_on"]
    for question in json.loads((folder / "dpr/test.json").read_text("utf-8")):
        listed = [row["passage_id"] for row in question["positive_ctxs"]]
        assert listed == sorted(listed, key=lambda name: -expected[question["id"], name])
        assert {row["score"] for row in question["positive_ctxs"]} <= {1, 2}
        for row in question["hard_negative_ctxs"]:
            assert expected[question["id"], row["passage_id"]] == 0


def test_a_stream_has_text_alone_and_keys_lie_beside_it(folder: Path) -> None:
    stream = lines(folder / "stream/stream.jsonl")
    fields = {event["kind"]: tuple(event) for event in stream}
    assert fields["passage"] == ("kind", "id", "day", "text")
    assert fields["question"] == ("kind", "id", "day", "text", "prompt")
    order = [(event["day"], event["kind"], event["id"]) for event in stream]
    assert order == sorted(order) and len(order) == len(passages()) + len(questions())
    keys = lines(folder / "stream/stated.jsonl")
    assert [row["id"] for row in keys] == [
        event["id"] for event in stream if event["id"] in {row["id"] for row in keys}
    ]
    assert sum(row["kind"] == "passage" for row in keys) == 6
    assert not any("object" in row or "targets" in row for row in keys if row["kind"] == "question")


SESSION_TYPES = {
    *("single-session-user", "single-session-assistant", "single-session-preference"),
    *("temporal-reasoning", "knowledge-update", "multi-session"),
}


@pytest.fixture(scope="module")
def sessions(folder: Path) -> dict[str, Mapping[str, Any]]:
    rows = json.loads((folder / "longmemeval/longmemeval.json").read_text("utf-8"))
    return {row["question_id"]: row for row in rows}


def test_sessions_are_dated_and_none_is_later_than_the_question(
    sessions: dict[str, Mapping[str, Any]],
) -> None:
    assert sessions.keys() == {"q1", "q2", "q3", "q4_abs"}
    for row in sessions.values():
        assert row["question_type"] in SESSION_TYPES
        dates, ids = row["haystack_dates"], row["haystack_session_ids"]
        assert len(dates) == len(ids) == len(row["haystack_sessions"]) == len(set(ids))
        assert dates == sorted(dates) and dates[-1] < row["question_date"]
        assert row["answer_session_ids"] == [name for name in ids if "answer" in name]
        for session_id, turns in zip(ids, row["haystack_sessions"], strict=True):
            assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2)
            marked = ["has_answer" in turn for turn in turns]
            assert marked == ["answer" in session_id] * len(turns)
    assert len(sessions["q2"]["haystack_sessions"]) == 40
    assert sessions["q2"]["question_date"] == "2021/09/30 (Thu) 23:59"
    assert sessions["q4_abs"]["answer"].startswith("Nothing that was published by 20 January 2019")


def test_most_sessions_are_hay(release: Path, tmp_path: Path) -> None:
    size = 4
    export_release(release, "longmemeval", tmp_path, lambda text: None, sessions=size)
    questions_by_id = {question.id: question for question in questions()}
    articles_of_stale = 0
    for row in json.loads((tmp_path / "longmemeval.json").read_text("utf-8")):
        assert len(row["haystack_sessions"]) <= size
        assert len(row["answer_session_ids"]) <= size // 2
        stale = questions_by_id[row["question_id"].removesuffix("_abs")].stale
        stale_texts = [passage.text for passage in passages() if passage.id in stale]
        stale_count = 0
        for turns in row["haystack_sessions"]:
            stale_count += any(text in turn["content"] for turn in turns for text in stale_texts)
        assert stale_count <= size // 4
        articles_of_stale += stale_count
    assert articles_of_stale, "none is tried"


def test_a_session_is_an_article_and_says_which_turn_answers(
    sessions: dict[str, Mapping[str, Any]],
) -> None:
    row = sessions["q3"]  # of which only a passage of an earlier day is known
    (place,) = [i for i, name in enumerate(row["haystack_session_ids"]) if "answer" in name]
    turns = row["haystack_sessions"][place]
    assert [turn["has_answer"] for turn in turns] == [False, False, True, False]
    assert turns[2]["content"].endswith("Ann Arden leads the Bank of Rome, it said.")
    texts = str(row["haystack_sessions"])
    assert "Ann led it in 2019" not in texts  # not judged: neither evidence nor hay
    assert "Cid Cole became head" in texts  # stale


def test_a_corpus_that_is_not_there(release: Path, tmp_path: Path) -> None:
    def export(config: str | None, name: FormatName = "stream", **options: Any) -> None:
        export_release(release, name, tmp_path / "x", lambda text: None, config=config, **options)

    with pytest.raises(UserError, match=r"statement-passages.*\n.*statements: yes"):
        export("statements")
    with pytest.raises(UserError, match="no corpus 'prose'"):
        export("prose")
    with pytest.raises(UserError, match="--sessions goes with"):
        export(None, sessions=3)
    statements = dated_release(tmp_path / "other", "statement-")
    with pytest.raises(UserError, match=r"no rows of passages\n.*--config statements"):
        export_release(statements, "stream", tmp_path / "y", lambda text: None)
    export_release(statements, "stream", tmp_path / "y", lambda text: None, config="statements")
    stream = lines(tmp_path / "y/stream.jsonl")
    order = [(event["kind"], event["id"]) for event in stream]
    # half of what is corrected is deleted, too, before its correction is heard
    deletions = [name for kind, name in order if kind == "deletion"]
    assert deletions == ["wb"] and "text" not in stream[order.index(("deletion", "wb"))]
    assert order.index(("deletion", "wb")) < order.index(("passage", "wb-back"))
    assert answer_by_name("validity", tmp_path / "y", tmp_path / "answers.jsonl") == 4


def test_a_memory_forgets_what_is_deleted() -> None:
    event = {"id": "wb", "day": "2021-05-06", "text": "Cid Cole became head of the Bank of Rome."}
    fact = {"subject": "Q1", "relation": "P488", "object": "Cid Cole", "since": "2021-05-06"}
    question = {
        "day": "2021-06-01",
        "text": "Who was the head of the Bank of Rome?",
        "subject": "Q1",
        "relation": "P488",
        "as_of": "2021-06-01",
    }
    for memory in (TermsHeard(), Prose()):
        memory.hear({**event, "facts": [fact]})
        assert memory.answer(question) == "Cid Cole"
        memory.forget({"kind": "deletion", "id": "wb", "day": "2021-06-15"})
        assert memory.answer(question) == ""


def scored(release: Path, answers: dict[str, str], out: Path) -> dict[str | None, dict[str, float]]:
    """Kind -> the shares of verdicts, None for all kinds."""
    score(release, answers, out=out)
    return {row.kind: dict(row.shares) for row in Scores.read(out).shares}


def test_verdicts_are_shares_of_all_questions(release: Path, tmp_path: Path) -> None:
    answers = {"q1": "Ann Arden", "q2": "Cid Cole", "q3": "Ann Arden", "q4": ""}
    shares = scored(release, answers, tmp_path / "a")
    assert shares[None] == {
        "current": 0.5,
        "stale": 0.25,
        "early": 0.25,
        "abstained": 0.0,
        "wrong": 0.0,
    }
    assert shares["older"]["early"] == shares["older"]["current"] == 0.5
    assert shares["abstain"]["current"] == 1.0  # to abstain is right where nothing says it
    answers = {"q1": "unknown", "q2": "Zoe", "q3": "Bob Bell", "q4": "Bob Bell"}
    shares = scored(release, answers, tmp_path / "b")
    assert all(sum(part.values()) == 1 for part in shares.values())
    assert (shares[None]["abstained"], shares[None]["wrong"]) == (0.25, 0.5)
    assert shares["abstain"]["wrong"] == 1.0


def test_hypotheses_of_longmemeval_are_scored(
    release: Path, sessions: dict[str, Mapping[str, Any]], tmp_path: Path
) -> None:
    hypotheses = tmp_path / "hypotheses.jsonl"
    rows = [{"question_id": name, "hypothesis": "Ann Arden"} for name in sessions]
    hypotheses.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    score(release, hypotheses, out=tmp_path / "scores")
    (shares, *_) = Scores.read(tmp_path / "scores").shares
    assert (shares.shares["current"], shares.shares["wrong"]) == (0.25, 0.25)
    hypotheses.write_text(json.dumps(rows[0]), "utf-8")
    assert [row.id for _, row in numbered_rows(hypotheses)] == ["q1"]


def test_memories_answer_a_stream(folder: Path, tmp_path: Path) -> None:
    targets = {question.id: "".join(question.targets) for question in questions()}
    for name in get_args(MemoryName):
        out = tmp_path / f"{name}.jsonl"
        assert answer_by_name(name, folder / "stream", out) == 4
        answers = {line["id"]: line["prediction"] for line in lines(out)}
        newest = {"q2": "Cid Cole", "q3": "Cid Cole"} if name == "last" else {}
        assert answers == targets | newest


def test_what_a_memory_is_told_is_of_the_same_stream(folder: Path, tmp_path: Path) -> None:
    stream = tmp_path / "stream.jsonl"
    stream.write_text((folder / "stream/stream.jsonl").read_text("utf-8"), "utf-8")
    assert answer_by_name("prose", stream, tmp_path / "a.jsonl") == 4
    with pytest.raises(UserError, match=r"stated.jsonl: no such file"):
        answer_by_name("last", stream, tmp_path / "b.jsonl")
    keys = (folder / "stream/stated.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "stated.jsonl").write_text("".join(keys[1:]), "utf-8")
    with pytest.raises(UserError, match="nothing is told of q4"):
        answer_by_name("last", stream, tmp_path / "b.jsonl")
    (tmp_path / "stated.jsonl").write_text("".join([*keys, keys[0]]), "utf-8")
    with pytest.raises(UserError, match=r"stated.jsonl:11: it tells of q4"):
        answer_by_name("last", stream, tmp_path / "b.jsonl")
    stream.write_text('{"kind": "note", "id": "1", "day": "2020-01-01", "text": ""}\n', "utf-8")
    with pytest.raises(UserError, match=r"stream.jsonl:1: no line of a stream: kind"):
        answer_by_name("prose", stream, tmp_path / "c.jsonl")


@pytest.mark.parametrize("by", ["bm25", "day", "newest", "guess"])
def test_nothing_later_than_the_asking_is_searched(
    by: Baseline, folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run.trec"
    search_passages(folder / "beir", run, by)
    queries = {query["_id"]: query["metadata"] for query in lines(folder / "beir/queries.jsonl")}
    days = {row["_id"]: row["metadata"]["day"] for row in lines(folder / "beir/corpus.jsonl")}
    results = [line.split() for line in run.read_text("utf-8").splitlines()]
    limit = "asked_on" if by == "bm25" else "day"
    assert results and all(days[row[2]] <= queries[row[0]][limit] for row in results)
    (scores,) = score_run(folder / "beir", run)
    assert scores.measures["later@10"].mean == 0
    if by == "guess":
        assert [row[2] for row in results if row[3] == "1"] == ["a3-0_0", "a3-0_0", "a1-0_1"]


def test_results_of_the_future_are_counted(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    run.write_text("q1 Q0 a4-0_0 1 9 x\nq1 Q0 a1-0_1 2 8 x\nq1 Q0 a2-0_0 3 7 x\n", "utf-8")
    (scores,) = score_run(folder / "beir", run)
    means = {name: round(interval.mean, 4) for name, interval in scores.measures.items()}
    assert means["later@10"] == round(0.1 / 3, 4) and means["misled"] == round(1 / 3, 4)
    assert means["recall@10"] == round(0.5 / 3, 4)


def test_the_card_says_how_hard_it_is(release: Path, tmp_path: Path) -> None:
    tables = [next((release / "data" / name).glob("*.parquet")) for name in TABLES]
    (tmp_path / "work").mkdir()
    measure_difficulty(DifficultyTables(*tables), tmp_path / "work", tmp_path, 0)
    searches, rules, kinds = difficulty_statistics(tmp_path / RESULTS)
    assert [row["search"] for row in searches.rows] == ["bm25", "day", "newest", "guess"]
    assert {row["share found among 100"] for row in searches.rows} == {1.0}
    current = {row["memory"]: row["share current"] for row in rules.rows}
    assert current == {"guess": 1.0, "prose": 1.0, "last": 0.5, "validity": 1.0}
    assert {row["kind"]: row["share of all"] for row in kinds.rows}["older"] == 0.5
    assert easy_rules(tmp_path / RESULTS) == [("guess", 1.0), ("prose", 1.0)]
