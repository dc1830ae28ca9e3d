"""The time qualifiers of a statement against the intervals in which it held."""

from datetime import date

import pytest

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.statements import (
    LifeDate,
    Snak,
    SnakKind,
    StatedTimes,
    StatementRows,
    Validity,
    life_boundary,
    stated_intervals,
)
from tests import histories
from tests.tables import read_table


def day(text: str) -> PartialDate:
    """`2019`, `2019-07`, `2019-07-24`, or `first/last` of such."""
    low, _, high = text.partition("/")
    return PartialDate(histories.day(low)[0], histories.day(high or low)[1])


def snaks(text: str) -> list[Snak]:
    """`2019 ? - *`: a value, somevalue, novalue, a value too coarse to use."""
    special: dict[str, tuple[SnakKind, None]] = {
        "?": ("somevalue", None),
        "-": ("novalue", None),
        "*": ("value", None),
    }
    return [
        Snak(*special[time_text]) if time_text in special else Snak("value", day(time_text))
        for time_text in text.split()
    ]


def interval(text: str) -> Validity:
    """`start..end`; `?` unknown, `open` no end stated; `@day` a sighting; `/2019`: no first day."""
    if text[0] == "@":
        seen_day = None if text == "@?" else day(text[1:])
        return Validity(
            None, seen_day and seen_day.last, seen_day and seen_day.first, None, False, True
        )
    start, end = text.split("..")
    return Validity(*side(start), *side("?" if end == "open" else end), end == "open", False)


def side(text: str) -> tuple[date | None, date | None]:
    if text == "?":
        return None, None
    low, slash, high = text.partition("/")
    first = day(low).first if low else None
    return first, (day(high).last if high else None) if slash else day(low).last


def times(text: str) -> dict[str, list[Snak]]:
    """`s 2019 2020; e ?; p 2018`: P580, P582, P585; the bounds by their ids."""
    names = {"s": "P580", "e": "P582", "p": "P585"}
    snaks_by_property = {}
    for part in filter(None, text.split("; ")):
        name, _, values = part.partition(" ")
        snaks_by_property[names.get(name, name)] = snaks(values)
    return snaks_by_property


@pytest.mark.parametrize(("snak_text", "expected"), read_table("statement_times"))
def test_what_a_statement_says(snak_text: str, expected: str) -> None:
    stated_times = stated_intervals(times(snak_text))
    if expected == "@/2005-12-31!":  # seen in 2005, and ended in 2007 at the earliest
        time_text = Validity(None, date(2005, 12, 31), date(2007, 1, 1), None, False, True)
        assert stated_times == StatedTimes([time_text], False)
    elif expected == "!":
        assert stated_times == StatedTimes([], True)
    else:
        assert stated_times == StatedTimes(
            [interval(expected_text) for expected_text in expected.split()], False
        )


@pytest.mark.parametrize(
    ("snak_text", "expected"),
    [("s 2019; e 2020", False), ("s ?; e -", False), ("s *; e 2020", True), ("p *", True)],
)
def test_unusable_times_are_counted(snak_text: str, expected: bool) -> None:
    claims = StatementRows()
    claims.add("Q1$a", "Q1", "P6", "Q2", None, times(snak_text))
    assert claims.counts["P6/coarse_time"] == expected


@pytest.mark.parametrize(("snak_text", "began", "ended"), read_table("life_dates"))
def test_when_something_began_or_ended(snak_text: str, began: str, ended: str) -> None:
    """Dates of two properties; `!` is a preferred one, `~` a deprecated one."""
    ranks = {"!": "preferred", "~": "deprecated"}
    dates = [
        [
            LifeDate(ranks.get(time_text[-1], "normal"), snaks(time_text.rstrip("!~"))[0])
            for time_text in group.split()
        ]
        for group in snak_text.split(";")
    ]
    life_day = [life_boundary(dates, latest) for latest in (True, False)]
    assert life_day == [None if text == "-" else day(text) for text in (began, ended)]
