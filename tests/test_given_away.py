"""The answer is given away: one table of cases for every rule, and for the rules over tables."""

import ibis
import pytest

from factdrift.builders.facts import name_overlap as over_tables
from factdrift.builders.text.given_away import (
    contains_as_scored,
    object_names,
    overlaps,
    padded_words,
    significant_words,
)
from factdrift.builders.text.words import word_tokens
from tests.tables import read_table

CASES = read_table("given_away_cases")


@pytest.mark.parametrize(("text", "answer", "modes"), CASES)
def test_modes(text: str, answer: str, modes: str) -> None:
    assert contains_as_scored(text, answer) == ("squad" in modes.split())
    assert overlaps(text, answer) == ("overlap" in modes.split())


@pytest.mark.parametrize(("text", "answer", "modes"), CASES)
def test_names_made_ready_say_what_the_modes_say(text: str, answer: str, modes: str) -> None:
    answer_names, printed_text, has_name = (
        object_names(answer, ()),
        word_tokens(text),
        "name" in modes.split(),
    )
    subject, there = significant_words(printed_text), padded_words(printed_text)
    assert answer_names.given_away(subject, there) == (
        has_name or (bool(answer_names.words) and answer_names.words <= subject)
    )
    assert answer_names.given_away(frozenset(), there) == has_name


@pytest.mark.parametrize(
    ("subject", "label", "is_given_away"),
    [
        ("Manchester United", "Manchester", True),
        ("Chicago Blackhawks", "Chicago Stadium", False),
        ("New York Rangers", "New York City", False),
        ("University of Oxford", "Oxford", True),
    ],
)
def test_a_subject_gives_away_what_it_has_all_words_of(
    subject: str, label: str, is_given_away: bool
) -> None:
    subject_words = significant_words(word_tokens(subject))
    question_words = padded_words(word_tokens(f"Where was {subject}?"))
    assert object_names(label, ()).given_away(subject_words, question_words) == is_given_away


def test_an_alias_of_two_letters_is_no_name() -> None:
    assert not object_names("Indiana", ("IN",)).given_away(frozenset(), " who governed it in 2005 ")
    assert object_names("Indiana", ("Ind.",)).given_away(frozenset(), " who governed ind in 2005 ")


def test_over_tables_as_over_texts() -> None:
    """Accents aside, which are folded in texts alone."""
    cases = [plain_case for plain_case in CASES if plain_case[0].isascii() and plain_case[1]]
    columns = {
        "text": [plain_case[0] for plain_case in cases],
        "answer": [plain_case[1] for plain_case in cases],
    }
    answers = ibis.memtable(columns)
    found_overlaps = over_tables.labels_overlap(answers.text, answers.answer)
    overlap_rows = answers.mutate(found=found_overlaps).to_pyarrow().to_pylist()
    assert len(overlap_rows) == len(cases)
    for row in overlap_rows:
        assert row["found"] == overlaps(row["text"], row["answer"]), row
