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
    return [one.question for one in questions(article(*sentences, **more))]


@pytest.mark.parametrize(("text", "wanted"), ASKED)
def test_what_is_asked(text: str, wanted: dict[str, str]) -> None:
    made = article(text)
    found = {one.question: one for one in questions(made)}
    assert {q: found[q].answer.text for q in wanted if q in found} == wanted, list(found)
    for one in found.values():
        assert made.text[one.answer.start : one.answer.end] == one.answer.text
        timeless = one.question.startswith("When") or "born" in one.question
        assert one.has_time != timeless


@pytest.mark.parametrize("text", CASES["no_clauses"])
def test_what_is_asked_nothing(text: str) -> None:
    assert not questions(article(text))


def test_a_person_is_named_in_full() -> None:
    text = "James joined the Los Angeles Lakers in 2018."
    assert not any("LeBron" in question for question in asked(text))
    found = asked("LeBron James spoke.", text)
    assert "When did LeBron James join the Los Angeles Lakers?" in found


@pytest.mark.parametrize(("before", "known"), CASES["surnames"])
def test_a_surname_that_the_tagger_does_not_know(before: str, known: bool) -> None:
    found = asked(before, "Ardern became leader of the Labour Party in August 2017.")
    assert found == ["When did Mary Ardern become leader of the Labour Party?"] * known


def test_only_who_did_it_and_to_whom_is_filled_up() -> None:
    met = "Ann Lee met Mauricio Pochettino."
    assert not asked(met, "Nokia bought Withings under Pochettino in 2016.")


def test_a_name_that_the_headline_alone_has_is_none() -> None:
    text = "Mallory joined the Los Angeles Lakers in 2018."
    assert not asked(text, headline="Justice Department Sues Mallory")


def test_the_time_is_read() -> None:
    (one,) = [q for q in questions(article(ASKED[3][0])) if q.question.startswith("When")]
    assert (one.time.first, one.time.last) == (date(2018, 2, 1), date(2018, 2, 28))
