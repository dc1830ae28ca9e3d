"""Which dates of a sentence state that something began, and which that it ended."""

import pytest

from factdrift.builders.facts.boundary_sides import sided_dates
from factdrift.builders.text.dates import DateMention, TextDates, dates_in
from factdrift.builders.text.en.verbs import verb_forms
from tests.tables import read_table


@pytest.mark.parametrize(("sentence", "start_texts", "end_texts"), read_table("boundary_sides"))
def test_a_date_states_a_boundary_on_its_side(
    sentence: str, start_texts: str, end_texts: str
) -> None:
    text = sentence.replace("[", "").replace("]", "")
    name = sentence.index("["), sentence.index("]") - 1
    stated_sides = sided_dates(text, dates_in(text), name)

    def written(mentions: tuple[DateMention, ...]) -> str:
        return " ".join(text[mention.start : mention.end] for mention in mentions)

    assert (written(stated_sides.starts), written(stated_sides.ends)) == (start_texts, end_texts)


@pytest.mark.parametrize(
    ("text", "start_count", "end_count"),
    [
        ("He left in 2009.", 0, 1),
        ("He came to the club in 2003.", 1, 0),
        ("He left Hull in 2009.", 0, 0),
        ("He won in 2009.", 0, 0),
    ],
)
def test_a_sentence_beside_the_name_counts_where_it_names_nobody(
    text: str, start_count: int, end_count: int
) -> None:
    stated_sides = sided_dates(text, dates_in(text), None)
    assert (len(stated_sides.starts), len(stated_sides.ends)) == (start_count, end_count)


def test_a_moment_is_no_boundary() -> None:
    text = "She won the Japan Prize in 1994."
    stated_sides = sided_dates(text, dates_in(text), (12, 23))
    assert (stated_sides.starts, stated_sides.ends, len(stated_sides.moments)) == ((), (), 1)


def test_dates_are_counted_from_the_paragraph() -> None:
    paragraph = "He sang. He joined Leeds in 2003."
    stated_sides = sided_dates(paragraph[9:], dates_in(paragraph), (10, 15), 9)
    assert len(stated_sides.starts) == 1
    assert sided_dates("", TextDates((), ()), None).starts == ()


@pytest.mark.parametrize(
    ("base_form", "other_forms"),
    [
        ("join", "joins joined joining"),
        ("leave", "leaves left leaving"),
        ("marry", "marries married marrying"),
        ("die", "dies died dying"),
        ("begin", "begins began begun beginning"),
        ("transfer", "transfers transferred transferring"),
    ],
)
def test_the_forms_of_a_verb(base_form: str, other_forms: str) -> None:
    assert " ".join(verb_forms(base_form)) == other_forms
