"""Time specifications: which a question has, which it is given, and where."""

from datetime import date

import pytest

from factdrift.builders.rows import Question
from factdrift.builders.text.en.questions import insert_times, time_ago
from factdrift.builders.text.en.verbs import simple_past
from factdrift.filters.time_spec import add_time_specs
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
    assert insert_times([question], ["in May 2017"]) == [expected]


def test_nothing_to_put() -> None:
    questions = ["Who won?", "Who lost?"]
    assert insert_times(questions, ["", "in 2017"]) == ["Who won?", "Who lost in 2017?"]


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
    assert kind_of(question(text=text, past=True, kind="phrase")) == "none"


def test_specify() -> None:
    past_questions = [
        question(id=f"q{number}", text="Who won the vote in Croatia?", past=True)
        for number in range(400)
    ]
    timed_questions = add_time_specs(past_questions, seed=1)
    absolute_count = sum(timed_question.kind == "absolute" for timed_question in timed_questions)
    assert 160 < absolute_count < 240
    assert {timed_question.text for timed_question in timed_questions} == {
        "Who won the vote in Croatia in May 2017?",
        "Who won the vote in Croatia 2 years ago?",
    }
    assert add_time_specs(past_questions[::-1], seed=1) == timed_questions[::-1]
    assert add_time_specs(past_questions, seed=2) != timed_questions
    assert kind_of(question(text="Who won the vote in 2016?", past=True)) == "own"
    assert kind_of(question(text="Who won the vote?")) == "none", "recent"
    assert kind_of(question(text="Who won the vote?", past=True, kind="date")) == "none"
    long_question = question(text="For how long did Frank Lampard sign a contract?", past=True)
    assert kind_of(long_question) in ("absolute", "relative"), "he signed more than one"


def kind_of(one_question: Question) -> str:
    """The kind of the time specification that a question gets."""
    (timed_question,) = add_time_specs([one_question], seed=1)
    return timed_question.kind


def test_a_question_gets_the_same_time_alone_and_beside_others() -> None:
    texts = [question_text for question_text, _ in read_table("time_put")]
    texts += ["Who leads Nokia?", "Who will lead Nokia?", "Who won in 2016?", "When did it open?"]
    past_questions = [
        question(id=f"q{number}", text=text, past=True) for number, text in enumerate(texts * 3)
    ]
    alone = [add_time_specs([past_question], seed=1)[0] for past_question in past_questions]
    assert add_time_specs(past_questions, seed=1) == alone
    assert {timed.kind for timed in alone} == {"absolute", "relative", "own", "none"}
