"""The decision rule on every combination of answers, and what an expert's gold row comes to."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.ckl.checks import (
    cloze_doubts,
    cuts_name,
    is_undated_day,
    is_within,
    text_doubts,
)
from factdrift.builders.ckl.clozes import checked_cloze
from factdrift.builders.ckl.easy import is_longer_name, mask_word
from factdrift.builders.ckl.gold import DropError
from factdrift.builders.ckl.lama import (
    ExpertJudgment,
    MarkedPassage,
    decide,
    expert_judgments,
    locate_mark,
)
from factdrift.builders.core.schema import batches
from factdrift.builders.rows import Article, Gold
from factdrift.builders.wmt.passages import passage_texts, printable_id
from tests.tables import read_table

N = None
DECIDED: dict[tuple[str | None, ...], tuple[str, str]] = {
    ("yes", "different", N, N): ("updated", "supported"),
    ("yes", "same", N, N): ("discarded", "known_prediction"),
    ("no", N, "no", N): ("new", "not_found"),
    ("no", N, "yes", "different"): ("updated", "found"),
    ("no", N, "yes", "same"): ("discarded", "known_answer"),
}
"""The paper's five outcomes: supported, prediction is, found, other is."""

IS = (N, "same", "different")
SAID = (N, "yes", "no")


def test_every_combination() -> None:
    combinations = [*product(SAID, IS, SAID, IS), ("perhaps", N, N, N), ("no", N, "yes", "x")]
    refused_fates = ("refused", "contradictory")
    assert {path: decide(*path) for path in combinations} == {
        path_taken: DECIDED.get(path_taken, refused_fates) for path_taken in combinations
    }


KEY = f"20180115000000000000\x00\x01{'ab' * 32}\x00\x01"
SENTENCES = ("Headline", *(f"Sentence {n} says that Ann Lee leads Acme." for n in range(1, 9)))
OLD = Article(KEY, date(2018, 1, 15), SENTENCES, "\n".join(SENTENCES))
RESULTS = [{"text": text, "id": printable_id(name)} for name, text in passage_texts(OLD)]
SHOWN = {"cloze": "[BLANK] leads Acme.", "new_answer": "Bo Ek", "prediction": "Ann Lee"}
SUPPORTED: dict[str, Any] = {
    "statement": ["[BLANK] leads Acme."],
    "supported": "yes",
    "prediction_is": "different",
}


def marked(words: str, passage: int = 0) -> dict[str, Any]:
    start = str(RESULTS[passage]["text"]).index(words)
    return {"paragraph": passage, "start": start, "end": start + len(words), "text": words}


def gold_of(folder: Path, said: dict[str, Any], **fields_seen: Any) -> Path:
    """A table with one gold row of these answers."""
    fields = {
        key: value
        for key, value in ({**SHOWN, "results": RESULTS} | fields_seen).items()
        if value is not None
    }
    answers = dict(said)
    decision = answers.pop("decision", "accepted")
    numbers = answers.pop("judgments", 2), answers.pop("agreeing", 2)
    json_texts = json.dumps(answers), json.dumps(fields)
    gold_row = Gold("a", "ckl_expert", "d 1.0.0", decision, *json_texts, *numbers)
    path = folder / "gold.parquet"
    pq.write_table(pa.Table.from_batches(list(batches(Gold, [gold_row]))), path)
    return path


UNTIL = date(2020, 4, 30)


def one(folder: Path, answers: dict[str, Any], until: date = UNTIL, **fields_seen: Any) -> Any:
    """The judgment of a row, or the reason why there is none."""
    judgments, dropped_rows = expert_judgments([gold_of(folder, answers, **fields_seen)], until)
    return judgments[0] if judgments else dropped_rows[0].reason


def test_evidence_is_placed_in_its_article(tmp_path: Path) -> None:
    for marked_words, passage in (("Sentence 2 says", 0), ("says that Ann Lee leads Acme", 1)):
        answers = SUPPORTED | {"evidence": marked(marked_words, passage)}
        judgment = one(tmp_path, answers)
        assert isinstance(judgment, ExpertJudgment)
        assert judgment.marked
        place = locate_mark(judgment.marked, {KEY: OLD})
        assert (place.article, place.day) == (KEY, date(2018, 1, 15))
        assert OLD.text[place.start : place.end] == marked_words
        assert judgment.old_answer == "Ann Lee"


DAY = str(RESULTS[0]["text"]).index("Headline")
"""Characters of a passage before its article's words."""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"article": "another"}, "no_old_article"),
        ({"number": 9}, "bad_evidence"),
        ({"passage": "another"}, "bad_evidence"),
        ({"start": 0, "end": DAY}, "bad_evidence"),
        ({"start": 0, "end": DAY + 1}, None),
    ],
)
def test_evidence_that_is_not_in_its_article(changes: dict[str, Any], reason: str | None) -> None:
    marked_passage = MarkedPassage(KEY, OLD.day, 0, str(RESULTS[0]["text"]), DAY, DAY + 4)
    try:
        evidence = locate_mark(replace(marked_passage, **changes), {KEY: OLD})
    except DropError as why:
        assert why.reason == reason
    else:
        assert (reason, evidence.start, evidence.end) == (None, 0, 1)


def test_alike_answers_that_two_experts_tell_apart(tmp_path: Path) -> None:
    assert one(tmp_path, FOUND | {"other_answer": "Bo"}).old_answer == "Bo"


EVIDENCE = {"evidence": marked("Ann Lee leads Acme")}
FOUND = {
    "statement": ["[BLANK] leads Acme."],
    "supported": "no",
    "found": "yes",
    "other_is": "different",
    "other_answer": "Cy Orr",
    "other_evidence": marked("Ann Lee leads Acme"),
}
TWO = ["[BLANK] leads Acme."] * 2
BOTH = SUPPORTED | EVIDENCE | {"statement": TWO}
DIFFER = {"supported": ["yes", "no"], "found": [None, "no"]}
"""Two experts: one takes the prediction for supported, the other finds nothing."""
REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (SUPPORTED, {}, "missing_evidence"),
    (SUPPORTED | EVIDENCE, {"prediction": N}, "contradictory"),
    (SUPPORTED | EVIDENCE, {"prediction": "the Bo Ek."}, "contradictory"),
    (SUPPORTED | EVIDENCE | {"statement": ["Ann leads [BLANK] and [BLANK]."]}, {}, "not_one_blank"),
    (SUPPORTED | EVIDENCE | {"statement": []}, {}, "damaged_gold"),
    (BOTH | {"prediction_is": ["same", "different"]}, {}, "known_prediction"),
    (BOTH | DIFFER, {}, "contradictory"),
    (BOTH | {"prediction_is": ["different", None], **DIFFER}, {}, "experts_differ"),
    (BOTH | {"keep": ["yes", "discard"]}, {}, "discarded"),
    (FOUND | {"other_answer": ["Cy Orr", "Di Fo"], "statement": TWO}, {}, "experts_differ"),
    (SUPPORTED | EVIDENCE | {"found": "no"}, {}, "contradictory"),
    (SUPPORTED | EVIDENCE | {"supported": 7}, {}, "damaged_gold"),
    (SUPPORTED | EVIDENCE | {"statement": ["\ud800 leads [BLANK]."]}, {}, "damaged_gold"),
    (SUPPORTED | EVIDENCE | {"decision": "open"}, {}, "open"),
    (SUPPORTED | EVIDENCE | {"decision": "disputed"}, {}, "disputed"),
    (SUPPORTED | EVIDENCE | {"judgments": 1}, {}, "open"),
    (FOUND | {"other_answer": "Bo", "agreeing": 1}, {}, "answers_alike"),
    (SUPPORTED | EVIDENCE, {"results": N}, "bad_evidence"),
    (SUPPORTED | EVIDENCE, {"results": ["Ann Lee leads Acme"]}, "bad_evidence"),
    (SUPPORTED | {"evidence": marked("Ann") | {"paragraph": 9}}, {}, "bad_evidence"),
    (SUPPORTED | {"evidence": marked("Ann") | {"text": "Bob"}}, {}, "bad_evidence"),
    (SUPPORTED | {"evidence": marked("Ann") | {"start": -1}}, {}, "missing_evidence"),
    (FOUND | {"other_answer": " "}, {}, "missing_other_answer"),
    (FOUND | {"other_answer": "Bo Ek"}, {}, "contradictory"),
    (FOUND | {"other_evidence": None}, {}, "missing_other_evidence"),
]


@pytest.mark.parametrize(("answers", "fields_seen", "reason"), REFUSED)
def test_what_is_refused(
    tmp_path: Path, answers: dict[str, Any], fields_seen: dict[str, Any], reason: str
) -> None:
    assert one(tmp_path, answers, **fields_seen) == reason


def test_evidence_after_the_old_corpus_is_refused(tmp_path: Path) -> None:
    answers = SUPPORTED | EVIDENCE
    assert one(tmp_path, answers, until=date(2018, 1, 14)) == "evidence_not_old"
    assert isinstance(one(tmp_path, answers, until=date(2018, 1, 15)), ExpertJudgment)


def test_an_empty_prediction_is_not_supported_and_may_be_new(tmp_path: Path) -> None:
    for supported in ("no", "yes", None):  # whatever is said of what was not predicted
        answers = {"statement": ["[BLANK] leads Acme."], "supported": supported, "found": "no"}
        judgment = one(tmp_path, answers, prediction=None, results=None)
        assert isinstance(judgment, ExpertJudgment)
        assert (judgment.decision.fate, judgment.prediction, judgment.passages) == ("new", None, 0)


def test_an_expert_marks_in_a_passage_that_a_search_has_found(tmp_path: Path) -> None:
    opened = {"id": RESULTS[1]["id"], "text": RESULTS[1]["text"]}
    search = [{"query": "who leads Acme", "found": [opened["id"]], "opened": [opened]}]
    marked_passage = marked("says that Ann Lee leads Acme", 1)
    expert_answers = FOUND | {
        "statement": TWO,
        "other_answer": ["Ann Lee", "ann lee"],
        "searches": [search, None],
        "other_evidence": [marked_passage | {"paragraph": 1}, marked("Ann Lee leads Acme")],
    }
    judgment = one(tmp_path, expert_answers, prediction=None, results=RESULTS[:1])
    assert isinstance(judgment, ExpertJudgment)
    assert (judgment.searches, judgment.passages) == (("who leads Acme",), 2)
    assert judgment.marked and locate_mark(judgment.marked, {KEY: OLD}).article == KEY
    assert (
        one(tmp_path, expert_answers | {"searches": [None, None]}, results=RESULTS[:1])
        == "bad_evidence"
    )


def test_the_statement_that_an_expert_has_corrected_and_one_row_once(tmp_path: Path) -> None:
    statements = ["b [BLANK].", "a [BLANK].", "a [BLANK]."]
    expert_answers = {"statement": statements, "supported": "no", "found": "no"}
    assert one(tmp_path, expert_answers).statement == "a [BLANK]."
    judgments, dropped_rows = expert_judgments([gold_of(tmp_path, expert_answers)] * 2, UNTIL)
    assert (len(judgments), [dropped_row.reason for dropped_row in dropped_rows]) == (
        1,
        ["duplicate"],
    )


# What a cloze must clear before it stands for knowledge.

THIEM = "Dominic Thiem won the US Open. Merkel met Macron."
NAMES = "Donald Trump leads. Donald J. Trump spoke to The The."


def told(cloze: str, answer: str) -> str:
    """A worker's cloze of an answer that stands in `NAMES`."""
    start = NAMES.index(answer)
    span = {"start": start, "end": start + len(answer), "text": answer}
    draft_answers = {"cloze": cloze, "answer": span, "question": "Who?", "edited": "Who is it?"}
    checked_cloze(Article("a", date(2020, 1, 1), (NAMES,), NAMES), draft_answers, 1)
    return ""


def doubts(cloze: str, answer: str) -> list[str]:
    """What is doubtful in a cloze, its answer perhaps beside the one that it was made for."""
    answer, _, made_for = answer.partition("|")
    text_before = "Acme hired Bo " if answer == "Ek" else "The "
    return cloze_doubts(cloze, "Who is it?", answer, made_for or None, text_before, 2020)


CHECKS: dict[str, Callable[[str, str], bool | str | list[str]]] = {
    "undated day": lambda answer, _: is_undated_day(answer),
    "within": is_within,
    "cut name": lambda cloze, answer: cuts_name(cloze, THIEM, THIEM.index(answer) + len(answer)),
    "statement": lambda statement, _: text_doubts(statement, 2020),
    "cloze": doubts,
    "longer name": is_longer_name,
    "tells its answer": told,
    "masked": mask_word,
}


@pytest.mark.parametrize(("check", "text", "other_text", "expected"), read_table("ckl_checks"))
def test_checks_of_a_cloze(check: str, text: str, other_text: str, expected: str) -> None:
    try:
        check_outcome = CHECKS[check](text, other_text)
    except DropError as why:
        check_outcome = why.reason
    if isinstance(check_outcome, bool):
        check_outcome = "yes" if check_outcome else "no"
    assert (
        check_outcome if isinstance(check_outcome, str) else "|".join(check_outcome)
    ) == expected
