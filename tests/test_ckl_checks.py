"""What a cloze must clear before it stands for knowledge."""

import pytest

from builders.ckl.checks import cuts_name, is_undated_day, is_within


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
