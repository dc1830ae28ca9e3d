"""What a cloze must clear before it stands for knowledge."""

from contextlib import nullcontext
from datetime import date

import pytest

from factdrift.builders.ckl.checks import (
    cloze_doubts,
    cuts_name,
    is_undated_day,
    is_within,
    text_doubts,
)
from factdrift.builders.ckl.clozes import checked_cloze
from factdrift.builders.ckl.easy import is_longer_name, masked
from factdrift.builders.ckl.gold import DropError
from factdrift.builders.rows import Article


@pytest.mark.parametrize(
    ("answer", "is_day"),
    [
        *(("Sunday", True), ("on Sunday", True), ("Tuesday night", True), ("yesterday", True)),
        *(("last week", True), ("Sunday Times", False), ("Black Friday", False)),
        *(("Sunday, 3 May 2020", False), ("Wednesday Addams", False), ("", False)),
    ],
)
def test_weekdays_alone(answer: str, is_day: bool) -> None:
    assert is_undated_day(answer) is is_day


@pytest.mark.parametrize(
    ("one", "other", "within"),
    [
        *(("Boris Johnson", "Johnson", True), ("the BBC", "BBC", True), ("2", "20", False)),
        *(("Theresa May", "Boris Johnson", False), ("Iran", "Iranian", False)),
    ],
)
def test_answers_of_which_one_holds_the_other(one: str, other: str, within: bool) -> None:
    assert is_within(one, other) is is_within(other, one) is within


TEXT = "Dominic Thiem won the US Open. Merkel met Macron."


@pytest.mark.parametrize(
    ("cloze", "answer", "cut"),
    [
        ("[BLANK] Thiem won the US Open.", "Dominic", True),
        ("[BLANK] won the US Open.", "Dominic Thiem", False),
        ("Dominic Thiem won the [BLANK] Open.", "US", True),
        ("Dominic Thiem won the [BLANK].", "US Open", False),
        ("[BLANK] met Macron.", "Merkel", False),
    ],
)
def test_a_gap_that_cuts_a_name(cloze: str, answer: str, cut: bool) -> None:
    assert cuts_name(cloze, TEXT, TEXT.index(answer) + len(answer)) is cut


@pytest.mark.parametrize(
    ("statement", "doubtful"),
    [
        ("[BLANK] won on Thursday.", ["Thursday"]),
        ("[BLANK] won on Thursday, 7 May 2020.", []),
        ("[BLANK] won on 7 May 2020, and lost yesterday.", ["yesterday"]),
        ("[BLANK] won last week.", ["last week"]),
        ("[BLANK] won for the first time since 1990.", ["1990"]),
        ("[BLANK] won the cup of 2020 before 30,000 people.", []),
        ("[BLANK] has 2,019 members and will end in 2021.", []),
    ],
)
def test_what_is_doubtful_in_a_statement(statement: str, doubtful: list[str]) -> None:
    found = text_doubts(statement, 2020)
    assert len(found) == len(doubtful)
    assert all(word in text for word, text in zip(doubtful, found, strict=True))


@pytest.mark.parametrize(
    ("cloze", "answer", "written_for", "doubtful"),
    [
        ("[BLANK] leads Acme.", "Bo Ek", "Bo Ek", []),
        ("[BLANK] leads Acme.", "Bo Ek", "Ek", []),
        ("[BLANK] leads Acme.", "Bo Ek", None, []),
        ("[BLANK] leads Acme.", "Bo Ek", "Cy Orr", ["Cy Orr"]),
        ("Acme was founded in [BLANK].", "2012", "2012", ["2012"]),
        ("Acme is led by Bo [BLANK].", "Ek", "Ek", ["Bo"]),
        ("The [BLANK] won.", "Labour Party", "Labour Party", []),
    ],
)
def test_what_is_doubtful_in_a_cloze(
    cloze: str, answer: str, written_for: str | None, doubtful: list[str]
) -> None:
    before = "Acme hired Bo " if answer == "Ek" else "The "
    found = cloze_doubts(cloze, "Who is it?", answer, written_for, before, 2020)
    assert len(found) == len(doubtful)
    assert all(word in text for word, text in zip(doubtful, found, strict=True))


@pytest.mark.parametrize(
    ("longer", "word", "is_longer"),
    [
        ("Yoshihide Suga", "Suga", True),
        ("Suga", "Suga", False),
        ("Sugarland", "Suga", False),
        ("Suga", "Yoshihide Suga", False),
    ],
)
def test_a_word_that_is_a_part_of_an_offered_name(longer: str, word: str, is_longer: bool) -> None:
    assert is_longer_name(longer, word) is is_longer


NAMES = "Donald Trump leads. Donald J. Trump spoke to The The."


@pytest.mark.parametrize(
    ("cloze", "answer", "told"),
    [
        ("Donald [BLANK] Trump spoke.", "Donald Trump", False),
        ("Donald Trump is [BLANK].", "Donald Trump", True),
        ("[BLANK] is the Donald  Trump!", "Donald Trump", True),
        ("Trump [BLANK] Donald", "Donald Trump", False),
        ("[BLANK] spoke.", "The The", False),
    ],
)
def test_a_statement_tells_its_answer_on_one_side_of_the_gap(
    cloze: str, answer: str, told: bool
) -> None:
    start = NAMES.index(answer)
    marked = {"start": start, "end": start + len(answer), "text": answer}
    said = {"cloze": cloze, "answer": marked, "question": "Who?", "edited": "Who is it?"}
    with pytest.raises(DropError, match="answer_in_cloze") if told else nullcontext():
        checked_cloze(Article("a", date(2020, 1, 1), (NAMES,), NAMES), said, 1)


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Ann met Bo.", "Bo", "Ann met [BLANK]."),
        ("U.S. officials met.", "U.S.", "[BLANK] officials met."),
        ("Bo met Bo.", "Bo", "word_twice"),
        ("Bob met Ann.", "Bo", "word_lost"),
        ("bo met Ann.", "Bo", "word_lost"),
        ("It cost $5 (.*).", "(.*)", "It cost $5 [BLANK]."),
    ],
)
def test_masking(text: str, word: str, expected: str) -> None:
    try:
        found = masked(text, word)
    except DropError as why:
        found = why.reason
    assert found == expected
