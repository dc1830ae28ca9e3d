"""Which dates of a sentence state that something began, and which that it ended."""

import pytest

from factdrift.builders.facts.boundary_sides import sided_dates
from factdrift.builders.text.dates import DateMention, TextDates, dates_in
from factdrift.builders.text.en.tense import verb_forms
from tests.tables import read_table


@pytest.mark.parametrize(("sentence", "starts", "ends"), read_table("boundary_sides"))
def test_a_date_states_a_boundary_on_its_side(sentence: str, starts: str, ends: str) -> None:
    text = sentence.replace("[", "").replace("]", "")
    name = sentence.index("["), sentence.index("]") - 1
    sided = sided_dates(text, dates_in(text), name)

    def written(mentions: tuple[DateMention, ...]) -> str:
        return " ".join(text[mention.start : mention.end] for mention in mentions)

    assert (written(sided.starts), written(sided.ends)) == (starts, ends)


@pytest.mark.parametrize(
    ("text", "starts", "ends"),
    [
        ("He left in 2009.", 0, 1),
        ("He came to the club in 2003.", 1, 0),
        ("He left Hull in 2009.", 0, 0),
        ("He won in 2009.", 0, 0),
    ],
)
def test_a_sentence_beside_the_name_counts_where_it_names_nobody(
    text: str, starts: int, ends: int
) -> None:
    sided = sided_dates(text, dates_in(text), None)
    assert (len(sided.starts), len(sided.ends)) == (starts, ends)


def test_a_moment_is_no_boundary() -> None:
    text = "She won the Japan Prize in 1994."
    sided = sided_dates(text, dates_in(text), (12, 23))
    assert (sided.starts, sided.ends, len(sided.moments)) == ((), (), 1)


def test_dates_are_counted_from_the_paragraph() -> None:
    paragraph = "He sang. He joined Leeds in 2003."
    sided = sided_dates(paragraph[9:], dates_in(paragraph), (10, 15), 9)
    assert len(sided.starts) == 1
    assert sided_dates("", TextDates((), ()), None).starts == ()


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("join", "joins joined joining"),
        ("leave", "leaves left leaving"),
        ("marry", "marries married marrying"),
        ("die", "dies died dying"),
        ("begin", "begins began begun beginning"),
        ("transfer", "transfers transferred transferring"),
    ],
)
def test_the_forms_of_a_verb(base: str, forms: str) -> None:
    assert " ".join(verb_forms(base)) == forms
