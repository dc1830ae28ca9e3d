"""The time qualifiers of a statement against the intervals in which it held."""

from datetime import date

import pytest

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.statements import (
    Claims,
    Kind,
    LifeDate,
    Snak,
    StatedTimes,
    Validity,
    held,
    life,
)
from tests import histories


def day(text: str) -> PartialDate:
    """`2019`, `2019-07`, `2019-07-24`, or `first/last` of such."""
    low, _, high = text.partition("/")
    return PartialDate(histories.day(low)[0], histories.day(high or low)[1])


def snaks(text: str) -> list[Snak]:
    """`2019 ? - *`: a value, somevalue, novalue, a value too coarse to use."""
    special: dict[str, tuple[Kind, None]] = {
        "?": ("somevalue", None),
        "-": ("novalue", None),
        "*": ("value", None),
    }
    return [Snak(*special[t]) if t in special else Snak("value", day(t)) for t in text.split()]


def interval(text: str) -> Validity:
    """`start..end`; `?` unknown, `open` no end stated; `@day` a sighting; `/2019`: no first day."""
    if text[0] == "@":
        seen = None if text == "@?" else day(text[1:])
        return Validity(None, seen and seen.last, seen and seen.first, None, False, True)
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
    found = {}
    for part in filter(None, text.split("; ")):
        name, _, values = part.partition(" ")
        found[names.get(name, name)] = snaks(values)
    return found


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("s 2019; e 2020", "2019..2020"),
        ("s 2019", "2019..open"),
        ("s 2019; e -", "2019..open"),
        ("s 2019; e ?", "2019..2019-01-01/"),
        ("s 2019; e *", "2019..2019-01-01/"),
        ("e 2020", "/2020..2020"),
        ("s ?; e 2020", "/2020..2020"),
        ("s -; e 2020", "/2020..2020"),
        ("s ?", "?..open"),
        ("e ?", "?..?"),
        ("e -", "?..open"),
        ("s -; e -", "?..open"),
        ("s *", "?..open"),
        ("p -", "?..open"),
        # a point alone; beside a start or an end it says nothing
        ("p 2019-07-24", "@2019-07-24"),
        ("p 2021 2019", "@2019 @2021"),
        ("p 2019 ?", "@? @2019"),
        ("p *", "@?"),
        ("s 2019; p 2015", "2019..open"),
        ("e ?; p 2015", "?..?"),
        ("e -; p 2019", "@2019"),
        # start and end narrow each other
        ("s 2019; e 2019-03", "2019-01-01/2019-03-31..2019-03"),
        ("s 2019-06; e 2019", "2019-06..2019-06-01/2019-12-31"),
        ("s 2019-07-24; e 2019-07-24", "2019-07-24..2019-07-24"),
        ("s 2020; e 2019", "!"),
        ("s 2019-07-24; e 2019-07-23", "!"),
        # several that alternate are pairs, in whatever order they stand
        ("s 2000 2010; e 2005 2015", "2000..2005 2010..2015"),
        ("s 2010 2000; e 2015 2005", "2000..2005 2010..2015"),
        ("s 2000 2005-07-01; e 2005-06-30 2009", "2000..2005-06-30 2005-07-01..2009"),
        # else all lies somewhere within all
        ("s 2000 2005; e 2005 2009", "2000-01-01/2005-12-31..2005-01-01/2009-12-31"),
        ("s 2000 2010; e 2005", "2000..2005 2010..open"),
        ("s 2000 2004; e 2005", "2000-01-01/2004-12-31..2005"),
        ("s 2000 2010", "2000-01-01/2010-12-31..open"),
        ("s 2000 ?; e 2005 2015", "/2015-12-31..2005-01-01/2015-12-31"),
        ("s 2000; e 2005 ?", "2000..2000-01-01/"),
        ("s 2010 2020; e 2000 2001", "!"),
        # bounds: beside one point they bound that, alone and beside both start and end
        ("s ?; P1319 1950; P1326 1955", "1950-01-01/1955-12-31..open"),
        ("e ?; P1319 1950; P1326 1955", "/1955-12-31..1950-01-01/1955-12-31"),
        ("p ?; P1319 1950; P1326 1955", "@1950-01-01/1955-12-31"),
        ("s 2000; e ?; P1319 2000-06; P1326 2005", "2000-06-01/2000-12-31..2000-06-01/2005-12-31"),
        ("P1319 1950", "1950-01-01/..open"),
        ("P1319 1950; P1326 1955", "1950-01-01/1955-12-31..1950-01-01/1955-12-31"),
        ("P1326 1955", "/1955-12-31../1955-12-31"),
        ("s 2000; P12506 2004", "2000..2000-01-01/2004-12-31"),
        ("s 2000; P8554 2004", "2000..2004-01-01/"),
        ("P8555 2004", "/2004-12-31..open"),
        ("s 2005; P8555 2004", "!"),
        ("p 2005; P8554 2007", "@/2005-12-31!"),
    ],
)
def test_what_a_statement_says(given: str, expected: str) -> None:
    found = held(times(given))
    if expected == "@/2005-12-31!":  # seen in 2005, and ended in 2007 at the earliest
        one = Validity(None, date(2005, 12, 31), date(2007, 1, 1), None, False, True)
        assert found == StatedTimes([one], False)
    elif expected == "!":
        assert found == StatedTimes([], True)
    else:
        assert found == StatedTimes([interval(e) for e in expected.split()], False)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("s 2019; e 2020", False), ("s ?; e -", False), ("s *; e 2020", True), ("p *", True)],
)
def test_unusable_times_are_counted(given: str, expected: bool) -> None:
    claims = Claims()
    claims.claim("Q1$a", "Q1", "P6", "Q2", None, times(given))
    assert claims.counts["P6/coarse_time"] == expected


@pytest.mark.parametrize(
    ("given", "began", "ended"),
    [
        ("", None, None),
        ("-", None, None),
        ("1960~", None, None),
        ("1960", "1960", "1960"),
        ("?", "0001-01-01/9999-12-31", "0001-01-01/9999-12-31"),
        ("*", "0001-01-01/9999-12-31", "0001-01-01/9999-12-31"),
        ("- 1960", "1960", "1960"),
        # of one property the preferred ones, else the hull of all but the deprecated
        ("1960 1962-03", "1960-01-01/1962-03", "1960-01-01/1962-03"),
        ("1960 1962!", "1962", "1962"),
        ("1960 1962! 1964!", "1962/1964", "1962/1964"),
        ("1960 1962~", "1960", "1960"),
        ("1960 ?", "0001-01-01/9999-12-31", "0001-01-01/9999-12-31"),
        # of two what begins later and what ends sooner
        ("1960; 1970", "1970", "1960"),
        ("1970!; 1960", "1970", "1960"),
        ("1960; 1960-05", "1960-05-01/1960-12-31", "1960-01-01/1960-05-31"),
        ("; 1970", "1970", "1970"),
    ],
)
def test_when_something_began_or_ended(given: str, began: str | None, ended: str | None) -> None:
    """Dates of two properties; `!` is a preferred one, `~` a deprecated one."""
    ranks = {"!": "preferred", "~": "deprecated"}
    dates = [
        [LifeDate(ranks.get(one[-1], "normal"), snaks(one.rstrip("!~"))[0]) for one in some.split()]
        for some in given.split(";")
    ]
    found = [life(dates, latest) for latest in (True, False)]
    assert found == [text and day(text) for text in (began, ended)]
