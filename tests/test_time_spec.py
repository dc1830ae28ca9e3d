"""Time specifications: which a question has, which it is given, and where."""

from datetime import date

import pytest

from factdrift.builders.text.en.questions import insert_time, time_ago
from factdrift.builders.text.en.verbs import simple_past
from factdrift.filters.time_spec import add_time_spec
from tests.tables import read_table
from tests.test_filters_run import question


@pytest.mark.parametrize(("article_day", "question_day", "expected_text"), read_table("time_ago"))
def test_ago(article_day: str, question_day: str, expected_text: str) -> None:
    assert (
        time_ago(date.fromisoformat(article_day), date.fromisoformat(question_day)) == expected_text
    )


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("take", "took"),
        ("ban", "banned"),
        ("stop", "stopped"),
        ("visit", "visited"),
        ("move", "moved"),
        ("try", "tried"),
        ("play", "played"),
        ("admit", "admitted"),
    ],
)
def test_the_simple_past_of_a_verb(base: str, expected: str) -> None:
    assert simple_past(base) == expected


@pytest.mark.parametrize(("question", "expected"), read_table("time_put"))
def test_a_time_at_the_head_or_the_end(question: str, expected: str) -> None:
    assert insert_time(question, "in May 2017") == expected


def test_nothing_to_put() -> None:
    assert insert_time("Who won?", "") == "Who won?"


@pytest.mark.parametrize(
    "text",
    [
        "During which years was Martti Ahtisaari president of Finland?",
        "Since when has Jeremy Corbyn been a member of parliament?",
        "In which year did Spain win the World Cup?",
        "Who was the first black president of South Africa?",
    ],
)
def test_a_question_for_a_time_is_given_none(text: str) -> None:
    assert add_time_spec(question(text=text, past=True, kind="phrase"), 1).kind == "none"


def test_specify() -> None:
    past_questions = [
        question(id=f"q{number}", text="Who won the vote in Croatia?", past=True)
        for number in range(400)
    ]
    timed_questions = [add_time_spec(past_question, seed=1) for past_question in past_questions]
    absolute_count = sum(timed_question.kind == "absolute" for timed_question in timed_questions)
    assert 160 < absolute_count < 240
    assert {timed_question.text for timed_question in timed_questions} == {
        "Who won the vote in Croatia in May 2017?",
        "Who won the vote in Croatia 2 years ago?",
    }
    assert [
        add_time_spec(past_question, seed=1) for past_question in reversed(past_questions)
    ] == timed_questions[::-1]
    assert [
        add_time_spec(past_question, seed=2) for past_question in past_questions
    ] != timed_questions
    own_time = question(text="Who won the vote in 2016?", past=True)
    assert add_time_spec(own_time, 1).kind == "own"
    assert add_time_spec(question(text="Who won the vote?"), 1).kind == "none", "recent"
    assert (
        add_time_spec(question(text="Who won the vote?", past=True, kind="date"), 1).kind == "none"
    )
    long_question = question(text="For how long did Frank Lampard sign a contract?", past=True)
    assert add_time_spec(long_question, 1).kind in ("absolute", "relative"), (
        "he signed more than one"
    )
