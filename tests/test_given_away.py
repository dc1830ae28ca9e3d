"""The answer is given away: one table of cases for every rule, and for the rules over tables."""

import ibis
import pytest

from factdrift.builders.facts import names as over_tables
from factdrift.builders.text.given_away import as_scored, names, overlaps, side_by_side, significant
from factdrift.builders.text.words import word_tokens
from tests.tables import read_table

CASES = read_table("given_away_cases")


@pytest.mark.parametrize(("text", "answer", "modes"), CASES)
def test_modes(text: str, answer: str, modes: str) -> None:
    assert as_scored(text, answer) == ("squad" in modes.split())
    assert overlaps(text, answer) == ("overlap" in modes.split())


@pytest.mark.parametrize(("text", "answer", "modes"), CASES)
def test_names_made_ready_say_what_the_modes_say(text: str, answer: str, modes: str) -> None:
    own, said, named = names(answer, ()), word_tokens(text), "name" in modes.split()
    subject, there = significant(said), side_by_side(said)
    assert own.given_away(subject, there) == (named or (bool(own.words) and own.words <= subject))
    assert own.given_away(frozenset(), there) == named


@pytest.mark.parametrize(
    ("subject", "label", "given"),
    [
        ("Manchester United", "Manchester", True),
        ("Chicago Blackhawks", "Chicago Stadium", False),
        ("New York Rangers", "New York City", False),
        ("University of Oxford", "Oxford", True),
    ],
)
def test_a_subject_gives_away_what_it_has_all_words_of(
    subject: str, label: str, given: bool
) -> None:
    words = significant(word_tokens(subject))
    asked = side_by_side(word_tokens(f"Where was {subject}?"))
    assert names(label, ()).given_away(words, asked) == given


def test_an_alias_of_two_letters_is_no_name() -> None:
    assert not names("Indiana", ("IN",)).given_away(frozenset(), " who governed it in 2005 ")
    assert names("Indiana", ("Ind.",)).given_away(frozenset(), " who governed ind in 2005 ")


def test_over_tables_as_over_texts() -> None:
    """Accents aside, which are folded in texts alone."""
    cases = [c for c in CASES if c[0].isascii() and c[1]]
    columns = {"text": [c[0] for c in cases], "answer": [c[1] for c in cases]}
    answers = ibis.memtable(columns)
    found = over_tables.overlap(answers.text, answers.answer)
    rows = answers.mutate(found=found).to_pyarrow().to_pylist()
    assert len(rows) == len(cases)
    for row in rows:
        assert row["found"] == overlaps(row["text"], row["answer"]), row
