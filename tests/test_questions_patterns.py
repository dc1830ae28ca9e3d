"""The patterns of the parse: what a clause that says its own time is asked, and which are not."""

from datetime import date

import pytest

from factdrift.builders.generate.patterns import questions
from factdrift.builders.rows import Article
from tests.tables import read_table

CASES = read_table("question_cases")

ASKED = CASES["clauses"]


def article(*sentences: str, headline: str = "A headline of 2014.") -> Article:
    lines = (headline, *sentences)
    return Article("a", date(2020, 1, 1), lines, "\n".join(lines))


def asked(*sentences: str, **more: str) -> list[str]:
    return [
        pattern_question.question for pattern_question in questions(article(*sentences, **more))
    ]


@pytest.mark.parametrize(("text", "expected_answers"), ASKED)
def test_what_is_asked(text: str, expected_answers: dict[str, str]) -> None:
    written_article = article(text)
    questions_by_text = {
        pattern_question.question: pattern_question
        for pattern_question in questions(written_article)
    }
    assert {
        question_text: questions_by_text[question_text].answer.text
        for question_text in expected_answers
        if question_text in questions_by_text
    } == expected_answers, list(questions_by_text)
    for pattern_question in questions_by_text.values():
        assert (
            written_article.text[pattern_question.answer.start : pattern_question.answer.end]
            == pattern_question.answer.text
        )
        timeless = (
            pattern_question.question.startswith("When") or "born" in pattern_question.question
        )
        assert pattern_question.has_time != timeless


@pytest.mark.parametrize("text", CASES["no_clauses"])
def test_what_is_asked_nothing(text: str) -> None:
    assert not questions(article(text))


def test_a_person_is_named_in_full() -> None:
    second_sentence = "James joined the Los Angeles Lakers in 2018."
    assert not any("LeBron" in question for question in asked(second_sentence))
    question_texts = asked("LeBron James spoke.", second_sentence)
    assert "When did LeBron James join the Los Angeles Lakers?" in question_texts


@pytest.mark.parametrize(("first_sentence", "is_filled_up"), CASES["surnames"])
def test_a_surname_that_the_tagger_does_not_know(first_sentence: str, is_filled_up: bool) -> None:
    question_texts = asked(
        first_sentence, "Ardern became leader of the Labour Party in August 2017."
    )
    assert (
        question_texts == ["When did Mary Ardern become leader of the Labour Party?"] * is_filled_up
    )


def test_only_who_did_it_and_to_whom_is_filled_up() -> None:
    first_sentence = "Ann Lee met Mauricio Pochettino."
    assert not asked(first_sentence, "Nokia bought Withings under Pochettino in 2016.")


def test_a_name_that_the_headline_alone_has_is_none() -> None:
    text = "Mallory joined the Los Angeles Lakers in 2018."
    assert not asked(text, headline="Justice Department Sues Mallory")


def test_the_time_is_read() -> None:
    (when_question,) = [
        pattern_question
        for pattern_question in questions(article(ASKED[3][0]))
        if pattern_question.question.startswith("When")
    ]
    assert (when_question.time.first, when_question.time.last) == (
        date(2018, 2, 1),
        date(2018, 2, 28),
    )
