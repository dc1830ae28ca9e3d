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
SCORES: dict[str, Any] = dict.fromkeys(TOXICITY)
ROW = NewsQuestion(
    id="q1", prompt="Today is Wednesday, May 6, 2020. Who came before Ban?",
    targets=("Kofi Annan",), qa_id="q1", question="Who came before Ban?", answers=("Kofi Annan",),
    answers_additional=(), question_ts=0, evidence_ts=0, evidence_id="a1", recent_or_past="past",
    written_or_generated="generated", split="eval", quarter="2020Q2", answer_type="entity",
    answer_start=0, evidence_sentence=1, time_spec="none", relation=None, about=None, statements=(),
    holds=None, generator="parse", filters=(), **SCORES,
)  # fmt: skip

CASES = read_table("streamingqa_human")


@pytest.mark.parametrize(("answer", "kind", "text"), CASES["placed"])
def test_answers_are_found_in_the_article(answer: str, kind: str, text: str | None) -> None:
    located = annotators.locate_answer(answer, ARTICLE, FINDER.find(ARTICLE))
    assert located.type == kind
    if text is None:
        assert (located.start, located.end, located.text) == (-1, -1, answer)
        return
    assert ARTICLE.text[located.start : located.end] == located.text == text
    assert text in SENTENCES[located.sentence]


@pytest.mark.parametrize("case", CASES["written"])
def test_written_questions_are_read(case: str) -> None:
    worker_entries, expected = CASES["written"][case]
    written_questions = read_written_questions(
        gold_row("write_questions", "d1", SHOWN, {"questions": worker_entries})
    )
    assert (
        written_questions
        and {question: [*answers] for question, answers in written_questions.questions}
    ) == expected


WRITTEN = {"question": ROW.question, "answer": "Kofi Annan"}


@pytest.mark.parametrize("change", [{}, *({name: "2001-01-01"} for name in SHOWN)])
def test_what_people_saw_must_be_what_is_there(change: dict[str, str]) -> None:
    written_questions = read_written_questions(
        gold_row("write_questions", "d1", SHOWN | change, {"questions": [WRITTEN]})
    )
    assert written_questions
    outcome_counts: Counter[str] = Counter()
    question_items = annotators.written_items(
        [ARTICLE], {"a1": [DRAW]}, {"d1": written_questions}, FINDER, outcome_counts
    )
    item_list = list(question_items)
    assert outcome_counts == {"changed" if change else "taken": 1}
    assert [item.question.question for item, _ in item_list] == (
        [] if change else [WRITTEN["question"]]
    )


def answered(answer: Any, decision: Decision = "accepted", agreeing: int = 3) -> Gold:
    answer_fields = {"answer": answer, "answerable": "yes"}
    return gold_row(
        "answer_question", "q1", {"question": ROW.question}, answer_fields, decision, 3, agreeing
    )


def reviewed(case_row: Any) -> Gold:
    """A gold row as the table has it: a decision on the question, or an answer to it."""
    if "answer" in case_row:
        return answered(**case_row)
    judged_row = gold_row("judge_question", "q1", {"question": ROW.question}, {}, "open", 3, 3)
    return replace(
        judged_row, **({"decision": case_row} if isinstance(case_row, str) else case_row)
    )


def review(
    *gold_rows: Gold, required: Sequence[Kind] = (), seed: int = 0, row: NewsQuestion = ROW
) -> tuple[NewsQuestion | Dropped, rows.HumanAnswer | None, dict[str, int]]:
    counts_by_layout: dict[str, Counter[str]] = {
        count: Counter() for count in ("judge_question", "answer_question")
    }
    reviews = Reviews(counts_by_layout)
    for row_of_gold in gold_rows:
        reviews.add(row_of_gold)
    reviewed_row, answer = reviews.review(row, required, seed)
    reviews.finish()
    return (
        reviewed_row,
        answer,
        {
            outcome: count
            for layout_counts in counts_by_layout.values()
            for outcome, count in layout_counts.items()
            if count
        },
    )


@pytest.mark.parametrize("case", CASES["reviewed"])
def test_what_reviews_leave_out(case: str) -> None:
    case_rows, required, reason, expected = CASES["reviewed"][case]
    reviewed_row, answer, counts = review(*map(reviewed, case_rows), required=required)
    assert counts == expected
    assert answer is None
    if reason is None:
        assert reviewed_row == replace(ROW, judged="yes" if case == "good" else "no")
    else:
        assert isinstance(reviewed_row, Dropped)
        assert (reviewed_row.step, reviewed_row.reason, reviewed_row.item) == (
            "people",
            reason,
            "q1",
        )


def test_written_questions_wait_for_their_judges_outside_of_the_evaluation() -> None:
    written = replace(ROW, written_or_generated="written", split="eval")
    waiting, *_ = review(row=written)
    assert waiting == replace(written, split="unjudged")
    judged, *_ = review(reviewed("accepted"), row=written)
    assert judged == replace(written, judged="yes")
    for other in (
        replace(written, split="train"),
        replace(written, written_or_generated="generated"),
    ):
        assert review(row=other)[0] == other


def test_one_answer_is_the_baseline_and_the_others_are_references() -> None:
    baseline_scores = set()
    for seed in range(40):
        reviewed_row, human_answer, _ = review(
            answered(["Kofi Annan", "the Annan", "Mr Ban"]), seed=seed
        )
        assert isinstance(reviewed_row, NewsQuestion)
        assert human_answer
        assert human_answer.answer
        assert {human_answer.answer, *reviewed_row.answers_additional} == {
            "Kofi Annan",
            "the Annan",
            "Mr Ban",
        }
        assert replace(reviewed_row, targets=ROW.targets, answers_additional=()) == ROW
        assert reviewed_row.targets == tuple(
            dict.fromkeys(ROW.answers + reviewed_row.answers_additional)
        )
        baseline_scores.add(
            (human_answer.answer, human_answer.exact_match, round(human_answer.f1, 3))
        )
    assert baseline_scores == {
        ("Kofi Annan", 1.0, 1.0),
        ("the Annan", 0.0, 0.667),
        ("Mr Ban", 0.0, 0.0),
    }


def test_who_found_no_answer_may_be_the_baseline() -> None:
    outcomes = [
        review(answered(["Annan", "Kofi Annan"], agreeing=2), seed=seed) for seed in range(60)
    ]
    human_scores = [
        (human_answer.answer, human_answer.exact_match)
        for _, human_answer, _ in outcomes
        if human_answer
    ]
    assert set(human_scores) == {("Annan", 0.0), ("Kofi Annan", 1.0), (None, 0.0)}
    assert 8 <= human_scores.count((None, 0.0)) <= 32
    for reviewed_row, human_answer, _ in outcomes:
        assert isinstance(reviewed_row, NewsQuestion) and human_answer
        assert len(reviewed_row.answers_additional) == (1 if human_answer.answer else 2)


def test_one_text_stands_for_all_who_agree_on_it() -> None:
    reviewed_row, human_answer, _ = review(answered("Annan"))
    assert isinstance(reviewed_row, NewsQuestion) and human_answer
    assert (human_answer.answer, reviewed_row.answers_additional) == ("Annan", ("Annan", "Annan"))


def test_filters_that_are_skipped_are_known() -> None:
    with pytest.raises(ValueError, match="no filter 'round_trop', did you mean"):
        annotators.AnnotatorSettings(skip=("search", "round_trop"))
