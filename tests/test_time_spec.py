"""Time specifications: which a question has, which it is given, and where."""

from datetime import date

import pytest

from factdrift.builders.text.en.questions import ago, put
from factdrift.filters.time_spec import specify
from tests.test_filters_run import question


@pytest.mark.parametrize(
    ("article", "asked", "said"),
    [
        ("2020-01-01", "2020-01-01", ""),
        ("2020-01-01", "2020-01-07", ""),
        ("2020-01-01", "2020-01-08", "a week ago"),
        ("2020-01-01", "2020-01-14", "a week ago"),
        ("2020-01-01", "2020-01-15", "2 weeks ago"),
        ("2020-01-01", "2020-02-26", "8 weeks ago"),
        ("2020-01-01", "2020-02-27", "2 months ago"),
        ("2019-01-31", "2020-01-30", "12 months ago"),
        ("2018-01-02", "2020-01-01", "23 months ago"),
        ("2018-01-01", "2020-01-01", "2 years ago"),
        ("2007-03-05", "2020-03-04", "13 years ago"),
        ("2008-10-10", "2020-07-20", "12 years ago"),
    ],
)
def test_ago(article: str, asked: str, said: str) -> None:
    assert ago(date.fromisoformat(article), date.fromisoformat(asked)) == said


HEAD = """
How many trains crossed the border for the first time in 56 years?
How many died in the worst storm since 1998?
How many died, according to the police?
Which airline cut flights because of the strike?
Who agreed to buy Yahoo?
Who said that Greece must pay?
Where did Obama decide to go?
Where did Marcelo Peralta die after contracting the virus?
Who was found guilty of murdering Jane Doe?
Which port received money that China lent?
Who died at the age of 41?
""".strip().splitlines()
END = """
Who won the election in Croatia?
Obama met whom in Rome?
Who leads Italy?
How many were killed in a raid on a house in Bahrain?
""".strip().splitlines()


@pytest.mark.parametrize("question", HEAD)
def test_a_time_at_the_head(question: str) -> None:
    assert put(question, "in May 2017") == f"In May 2017, {question[0].lower()}{question[1:]}"


@pytest.mark.parametrize("question", END)
def test_a_time_at_the_end(question: str) -> None:
    assert put(f"{question[:-1]} ?", "in May 2017") == f"{question[:-1]} in May 2017?"


def test_nothing_to_put() -> None:
    assert put("Who won?", "") == "Who won?"


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
    assert specify(question(text=text, past=True, kind="phrase"), 1).kind == "none"


def test_specify() -> None:
    past = [
        question(id=f"q{n}", text="Who won the vote in Croatia?", past=True) for n in range(400)
    ]
    made = [specify(q, seed=1) for q in past]
    absolute = sum(m.kind == "absolute" for m in made)
    assert 160 < absolute < 240
    assert {m.text for m in made} == {
        "Who won the vote in Croatia in May 2017?",
        "Who won the vote in Croatia 2 years ago?",
    }
    assert [specify(q, seed=1) for q in reversed(past)] == made[::-1]
    assert [specify(q, seed=2) for q in past] != made
    own = question(text="Who won the vote in 2016?", past=True)
    assert specify(own, 1).kind == "own"
    assert specify(question(text="Who won the vote?"), 1).kind == "none", "recent"
    assert specify(question(text="Who won the vote?", past=True, kind="date"), 1).kind == "none"
    long = question(text="For how long did Frank Lampard sign a contract?", past=True)
    assert specify(long, 1).kind in ("absolute", "relative"), "he signed more than one"
