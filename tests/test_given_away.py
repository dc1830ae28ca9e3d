"""The answer is given away: one table of cases for every mode, and for the rules over tables."""

import ibis
import pytest

from factdrift.builders.facts import names as over_tables
from factdrift.builders.text.given_away import Mode, gives_away, names, significant
from factdrift.builders.text.words import word_tokens

MODES: tuple[Mode, ...] = ("span", "name", "squad", "word", "overlap")

CASES: list[tuple[str, str, str]] = [
    # text, answer, the modes that say that it is given away
    ("Who leads Russia?", "US", "overlap"),
    ("Who leads the U.S.?", "the US", "span squad"),
    ("Who leads the US?", "the U.S.", "span squad"),
    ("Who governs New York?", "New York", "span name squad word overlap"),
    ("Which city lies in New South York?", "New York", "word overlap"),
    ("Lumen Field", "Lumen Technologies", "word overlap"),
    ("Rose of Lima", "Lim", "overlap"),
    ("Mongolia", "Mongolian", "overlap"),
    ("Djibouti", "djibouti", "span name squad word overlap"),
    ("Leeds United F.C.", "Arsenal F.C.", ""),
    ("Who owns The Times?", "The Times", "span name squad word overlap"),
    ("Who owns Times New Roman?", "The Times", "span squad word overlap"),
    ("Who paid 2.5 million?", "5 million", "name word overlap"),
    ("Who paid 1,000 pounds?", "1000", "span squad"),
    ("Where is Peru's capital?", "Peru", "span name word overlap"),
    ("Who plays for Atlético?", "Atletico", "span name word overlap"),
    ("Which band is The Who?", "who", "span name squad overlap"),
    ("Who wrote it?", "", "overlap"),
    ("Which album is by The The?", "The The", "name word overlap"),
    ("Kia Center", "Kia", "span name squad word overlap"),
    ("Kia-Center", "Kia", "span name word overlap"),
    ("Arena of the AC Milan", "AC", "span name squad word overlap"),
    ("Zakia Center", "Kia", "overlap"),
    ("kia center", "Kia", "span name squad overlap"),
    ("Kia Center", "kia", "span name squad overlap"),
    ("Leeds FC", "Bari FC", ""),
    ("FC Ust", "Ust FC", ""),
    ("U2 3D", "U2", "span name squad word overlap"),
    ("The A-Ha story", "A Ha", "span name word overlap"),
]


@pytest.mark.parametrize(("text", "answer", "modes"), CASES)
def test_modes(text: str, answer: str, modes: str) -> None:
    assert [m for m in MODES if gives_away(text, ["Zzz", answer], m)] == modes.split()


@pytest.mark.parametrize(("text", "answer", "modes"), CASES)
def test_names_made_ready_say_what_the_modes_say(text: str, answer: str, modes: str) -> None:
    own, said = names(answer, ()), word_tokens(text)
    assert own.named_in(text) == ("name" in modes.split())
    subject, every = significant(said), frozenset(said)
    whole = "name" in modes.split() or (bool(own.words) and own.words <= subject)
    assert own.given_away(subject, every, (), text) == whole
    assert own.given_away(frozenset(), frozenset(), said, text) == ("name" in modes.split())


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
    assert names(label, ()).given_away(words, words, (), f"Where was {subject}?") == given


def test_an_alias_of_two_letters_is_no_name() -> None:
    assert not names("Indiana", ("IN",)).named_in("Who governed it in 2005?")
    assert names("Indiana", ("Ind.",)).named_in("Who governed Ind. in 2005?")


def test_over_tables_as_over_texts() -> None:
    """Accents aside, which are folded in texts alone."""
    cases = [c for c in CASES if c[0].isascii() and c[1]]
    columns = {"text": [c[0] for c in cases], "answer": [c[1] for c in cases]}
    table = ibis.memtable(columns)
    found = over_tables.overlap(table.text, table.answer)
    rows = table.mutate(found=found).to_pyarrow().to_pylist()
    assert len(rows) == len(cases)
    for row in rows:
        assert row["found"] == gives_away(row["text"], [row["answer"]], "overlap"), row
