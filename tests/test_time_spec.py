"""Time specifications: which a question has, which it is given, and where."""

from datetime import date

import pytest

from factdrift.builders.text.en.questions import insert_time, time_ago
from factdrift.filters.time_spec import add_time_spec
from tests.tables import read_table
from tests.test_filters_run import question


@pytest.mark.parametrize(("article", "asked", "said"), read_table("time_ago"))
def test_ago(article: str, asked: str, said: str) -> None:
    assert time_ago(date.fromisoformat(article), date.fromisoformat(asked)) == said


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
    past = [
        question(id=f"q{n}", text="Who won the vote in Croatia?", past=True) for n in range(400)
    ]
    made = [add_time_spec(q, seed=1) for q in past]
    absolute = sum(m.kind == "absolute" for m in made)
    assert 160 < absolute < 240
    assert {m.text for m in made} == {
        "Who won the vote in Croatia in May 2017?",
        "Who won the vote in Croatia 2 years ago?",
    }
    assert [add_time_spec(q, seed=1) for q in reversed(past)] == made[::-1]
    assert [add_time_spec(q, seed=2) for q in past] != made
    own = question(text="Who won the vote in 2016?", past=True)
    assert add_time_spec(own, 1).kind == "own"
    assert add_time_spec(question(text="Who won the vote?"), 1).kind == "none", "recent"
    assert (
        add_time_spec(question(text="Who won the vote?", past=True, kind="date"), 1).kind == "none"
    )
    long = question(text="For how long did Frank Lampard sign a contract?", past=True)
    assert add_time_spec(long, 1).kind in ("absolute", "relative"), "he signed more than one"
