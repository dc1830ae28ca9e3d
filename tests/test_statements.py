"""The time qualifiers of a statement against the intervals in which it held."""

from collections import Counter
from datetime import date
from random import Random
from typing import Any

import pytest

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.statements import (
    TIMES,
    Claims,
    Kind,
    LifeDate,
    Snak,
    StatedTimes,
    Validity,
    held,
    life,
)
from factdrift.builders.wikidata.times import point
from tests import histories, spec_oracle
from tests.dumps import GREGORIAN, JULIAN


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


def test_the_oracle_says_the_same_of_random_statements() -> None:
    """The readings of SPEC in `tests.spec_oracle`, on 5,000 statements with any qualifiers."""
    chance = Random(12)
    kinds = (9, 9, 9, 10, 11, 11, 8, 7, 12)
    seen = Counter[str]()

    def snak() -> spec_oracle.Snak:
        fate = chance.random()
        if fate < 0.12:
            return "somevalue" if fate < 0.07 else "novalue"
        year = chance.choice((chance.randint(1998, 2006), chance.randint(-3, 12), 9998))
        julian = chance.random() < 0.1
        month, of_month = chance.randint(1, 12), chance.randint(1, 31)
        precision = chance.choice(kinds)
        if year < 1 or julian:  # the oracle asks of no such day whether it exists
            of_month = min(of_month, 28)
        if year < 1 and precision == 8:
            precision = 9
        return spec_oracle.Time(year, month, of_month, precision, julian)

    for _ in range(5_000):
        names = chance.sample(TIMES[:3], chance.randint(0, 3))
        names += chance.sample(TIMES[3:], chance.choice((0, 0, 1, 2)))
        given = {p: tuple(snak() for _ in range(chance.choice((1, 1, 1, 2, 3)))) for p in names}
        if not given:
            continue
        found = held({p: [ours(s) for s in snaks] for p, snaks in given.items()})
        for mode in ("accumulate", "pointwise"):
            told = spec_oracle.read_statement(spec_oracle.Statement("Q1", "normal", given), mode)
            facts = sorted((f.start, f.end or (0, 0), f.kind) for f in told.facts)
            made = as_told(found, mode)
            assert sorted(made[0]) == facts, (given, mode)
            assert made[1] == bool(told.contradictions), (given, mode)
            seen.update(f.kind for f in told.facts)
            seen["contradictory"] += told.contradictions
    assert min(seen[k] for k in ("term", "point", "sighting", "contradictory")) > 300


def ours(snak: spec_oracle.Snak) -> Snak:
    if isinstance(snak, str):
        return Snak("somevalue" if snak == "somevalue" else "novalue", None)
    sign = "-" if snak.year < 0 or snak.year == 0 else "+"
    text = f"{sign}{abs(snak.year):04}-{snak.month:02}-{snak.day:02}T00:00:00Z"
    return Snak("value", point(text, snak.precision, JULIAN if snak.julian else GREGORIAN))


def as_told(found: StatedTimes, mode: str) -> tuple[list[Any], bool]:
    """Our intervals as the oracle's facts, those of points as `facts.stated` makes them."""
    facts, contradictory = [], found.contradictory
    for start_first, start_last, end_first, end_last, end_open, sighting in found.intervals:
        kind = "term"
        if sighting:
            kind = "point" if mode == "pointwise" else "sighting"
        if kind == "point":
            start_first, end_last = end_first, start_last
            if start_first and end_last and start_first > end_last:
                contradictory = True
                continue
        elif mode == "pointwise" and end_open and (start_first or start_last):
            kind, end_first, end_last, end_open = "point", start_first, start_last, False
        start = ((start_first or date.min).toordinal(), (start_last or date.max).toordinal())
        end = ((end_first or date.min).toordinal(), (end_last or date.max).toordinal())
        facts.append((start, (0, 0) if end_open else end, kind))
    return facts, contradictory


def test_the_oracle_says_the_same_of_lives() -> None:
    chance = Random(13)
    for _ in range(5_000):
        dates: dict[str, tuple[tuple[str, spec_oracle.Snak], ...]] = {}
        for p in ("P569", "P571"):
            values: list[spec_oracle.Snak] = ["somevalue", "novalue", spec_oracle.Time(1950)]
            values.append(spec_oracle.Time(1960, 2, 3, 11, chance.random() < 0.3))
            ranks = ("normal", "preferred", "deprecated", "normal")
            number = chance.choice((0, 1, 2, 3))
            dates[p] = tuple((chance.choice(ranks), chance.choice(values)) for _ in range(number))
        given = [[LifeDate(rank, ours(s)) for rank, s in dates[p]] for p in ("P569", "P571")]
        for latest in (True, False):
            told = spec_oracle.life_date(spec_oracle.Entity("Q1", True, dates), dates, latest)
            made = life(given, latest)
            assert (made and tuple(d.toordinal() for d in made)) == (told and tuple(told)), dates
