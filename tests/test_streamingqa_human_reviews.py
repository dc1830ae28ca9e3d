"""Written questions and reviews, case by case."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from factdrift.builders import rows
from factdrift.builders.rows import Decision, Dropped, Gold, NewsQuestion
from factdrift.builders.streamingqa import annotators
from factdrift.builders.streamingqa.annotators import Kind, Reviews, read_written_questions
from tests.filter_cases import FINDER
from tests.gold_rows import gold_row
from tests.tables import read_table

SENTENCES = (
    "Ban Ki-moon starts work",
    "The diplomat succeeded Kofi Annan of Ghana on 1 January 2007.",
    "Annan led the United Nations for ten years.",
)
ARTICLE = rows.Article("a1", date(2007, 1, 2), SENTENCES, "\n".join(SENTENCES))
DRAW = rows.Draw("d1", "a1", "eval", "past", date(2007, 1, 2), date(2020, 5, 6), "2020Q2")
SHOWN = {"question_day": "2020-05-06", "article_day": "2007-01-02", "article": ARTICLE.text}
TOXICITY = [name for name in NewsQuestion.__dataclass_fields__ if name.startswith("toxicity_")]
ROW = NewsQuestion(
    id="q1", prompt="Today is Wednesday, May 6, 2020. Who came before Ban?",
    targets=("Kofi Annan",), qa_id="q1", question="Who came before Ban?", answers=("Kofi Annan",),
    answers_additional=(), question_ts=0, evidence_ts=0, evidence_id="a1", recent_or_past="past",
    written_or_generated="generated", split="eval", quarter="2020Q2", answer_type="entity",
    answer_start=0, evidence_sentence=1, time_spec="none", relation=None, about=None, statements=(),
    holds=None, generator="parse", filters=(), **dict.fromkeys(TOXICITY),
)  # fmt: skip

CASES = read_table("streamingqa_human")


@pytest.mark.parametrize(("answer", "kind", "text"), CASES["placed"])
def test_answers_are_found_in_the_article(answer: str, kind: str, text: str | None) -> None:
    found = annotators.locate_answer(answer, ARTICLE, FINDER.find(ARTICLE))
    assert found.type == kind
    if text is None:
        assert (found.start, found.end, found.text) == (-1, -1, answer)
        return
    assert ARTICLE.text[found.start : found.end] == found.text == text
    assert text in SENTENCES[found.sentence]


@pytest.mark.parametrize("case", CASES["written"])
def test_written_questions_are_read(case: str) -> None:
    given, expected = CASES["written"][case]
    found = read_written_questions(gold_row("write_questions", "d1", SHOWN, {"questions": given}))
    assert (found and {q: [*answers] for q, answers in found.questions}) == expected


WRITTEN = {"question": ROW.question, "answer": "Kofi Annan"}


@pytest.mark.parametrize("change", [{}, *({name: "2001-01-01"} for name in SHOWN)])
def test_what_people_saw_must_be_what_is_there(change: dict[str, str]) -> None:
    one = read_written_questions(
        gold_row("write_questions", "d1", SHOWN | change, {"questions": [WRITTEN]})
    )
    assert one
    counts: Counter[str] = Counter()
    some = annotators.written_items([ARTICLE], {"a1": [DRAW]}, {"d1": one}, FINDER, counts)
    made = list(some)
    assert counts == {"changed" if change else "taken": 1}
    assert [item.question.question for item, _ in made] == ([] if change else [WRITTEN["question"]])


def answered(answer: Any, decision: Decision = "accepted", agreeing: int = 3) -> Gold:
    said = {"answer": answer, "answerable": "yes"}
    return gold_row(
        "answer_question", "q1", {"question": ROW.question}, said, decision, 3, agreeing
    )


def reviewed(given: Any) -> Gold:
    """A gold row as the table has it: a decision on the question, or an answer to it."""
    if "answer" in given:
        return answered(**given)
    one = gold_row("judge_question", "q1", {"question": ROW.question}, {}, "open", 3, 3)
    return replace(one, **({"decision": given} if isinstance(given, str) else given))


def review(
    *given: Gold, required: Sequence[Kind] = (), seed: int = 0, row: NewsQuestion = ROW
) -> tuple[NewsQuestion | Dropped, rows.HumanAnswer | None, dict[str, int]]:
    counts: dict[str, Counter[str]] = {n: Counter() for n in ("judge_question", "answer_question")}
    reviews = Reviews(counts)
    for one in given:
        reviews.add(one)
    after, answer = reviews.review(row, required, seed)
    reviews.finish()
    return after, answer, {k: n for c in counts.values() for k, n in c.items() if n}


@pytest.mark.parametrize("case", CASES["reviewed"])
def test_what_reviews_leave_out(case: str) -> None:
    given, required, reason, expected = CASES["reviewed"][case]
    after, answer, counts = review(*map(reviewed, given), required=required)
    assert counts == expected
    assert answer is None
    if reason is None:
        assert after == ROW
    else:
        assert isinstance(after, Dropped)
        assert (after.step, after.reason, after.item) == ("people", reason, "q1")


def test_one_answer_is_the_baseline_and_the_others_are_references() -> None:
    seen = set()
    for seed in range(40):
        after, own, _ = review(answered(["Kofi Annan", "the Annan", "Mr Ban"]), seed=seed)
        assert isinstance(after, NewsQuestion)
        assert own
        assert own.answer
        assert {own.answer, *after.answers_additional} == {"Kofi Annan", "the Annan", "Mr Ban"}
        assert replace(after, targets=ROW.targets, answers_additional=()) == ROW
        assert after.targets == tuple(dict.fromkeys(ROW.answers + after.answers_additional))
        seen.add((own.answer, own.exact_match, round(own.f1, 3)))
    assert seen == {("Kofi Annan", 1.0, 1.0), ("the Annan", 0.0, 0.667), ("Mr Ban", 0.0, 0.0)}


def test_who_found_no_answer_may_be_the_baseline() -> None:
    found = [review(answered(["Annan", "Kofi Annan"], agreeing=2), seed=s) for s in range(60)]
    owns = [(own.answer, own.exact_match) for _, own, _ in found if own]
    assert set(owns) == {("Annan", 0.0), ("Kofi Annan", 1.0), (None, 0.0)}
    assert 8 <= owns.count((None, 0.0)) <= 32
    for after, own, _ in found:
        assert isinstance(after, NewsQuestion) and own
        assert len(after.answers_additional) == (1 if own.answer else 2)


def test_one_text_stands_for_all_who_agree_on_it() -> None:
    after, own, _ = review(answered("Annan"))
    assert isinstance(after, NewsQuestion) and own
    assert (own.answer, after.answers_additional) == ("Annan", ("Annan", "Annan"))


def test_filters_that_are_skipped_are_known() -> None:
    with pytest.raises(ValueError, match="no filter 'round_trop', did you mean"):
        annotators.AnnotatorSettings(skip=("search", "round_trop"))
