"""The oracle of SPEC sections 1 and 2: SPEC's examples, the named hard cases, and enumeration."""

import json
import random
from collections import Counter
from datetime import date
from itertools import product

import pytest

from tests import random_histories, spec_oracle
from tests.spec_oracle import (
    Entity,
    Fact,
    History,
    Life,
    Point,
    Reading,
    Relation,
    Snak,
    Stated,
    Statement,
    Time,
    Timeline,
)

SNAPSHOT = date(2026, 2, 2)


def snak(text: str) -> Snak:
    """`2020`, `2020-09`, `2020-09-01`, `2010s`, `1900c`, `44BCE`, `?` somevalue, `-` novalue."""
    if text in "?-":
        return {"?": "somevalue", "-": "novalue"}[text]
    if text.endswith("BCE"):
        return Time(-int(text[:-3]))
    if text[-1] in "sc":
        return Time(int(text[:-1]), 0, 0, 8 if text[-1] == "s" else 7)
    year, month, day = (int(p) for p in [*text.split("-"), "0", "0"][:3])
    return Time(year, month, day, 9 + (month > 0) + (day > 0))


SHORT = {
    "start": "P580", "end": "P582", "at": "P585", "earliest": "P1319", "latest": "P1326",
    "latest_start": "P8555", "earliest_end": "P8554", "latest_end": "P12506",
}  # fmt: skip


def says(name: str, rank: str = "normal", **dates: str) -> Statement:
    """A statement; several values are parted by spaces."""
    stated = {SHORT[q]: tuple(snak(t) for t in v.split()) for q, v in dates.items()}
    return Statement(name, rank, stated)


def prefers(name: str, **dates: str) -> Statement:
    return says(name, "preferred", **dates)


def line(
    *statements: Statement,
    subject: dict[str, str] | None = None,
    objects: dict[str, dict[str, str]] | None = None,
    nameless: str = "",
    snapshot: date = SNAPSHOT,
    **settings: object,
) -> Timeline:
    """The timeline of a pair; life dates as {property: date}."""

    def entity(name: str, dates: dict[str, str]) -> Entity:
        told = {p: tuple(("normal", snak(t)) for t in v.split()) for p, v in dates.items()}
        return Entity(name, name not in nameless.split(), told)

    relation = Relation("P1", **settings)  # type: ignore[arg-type]
    named = {s.object: entity(s.object, (objects or {}).get(s.object, {})) for s in statements}
    history = History(entity("subject", subject or {}), relation, statements, named)
    return spec_oracle.timeline(history, snapshot.toordinal())


def period(text: str) -> Point:
    """`2020`, `2020Q3` or `2020-09`."""
    if "Q" in text:
        year, quarter = (int(p) for p in text.split("Q"))
        first, last = (year, 3 * quarter - 2), (year, 3 * quarter)
    else:
        parts = [int(p) for p in text.split("-")]
        first, last = (parts[0], parts[-1] if parts[1:] else 1), (parts[0], (parts[1:] or [12])[0])
    return Point(date(*first, 1).toordinal(), spec_oracle.last_of_month(*last))


def value(of: Timeline, text: str) -> str:
    """What a period holds, as `A B` or `A ?B`: doubt of any kind behind a question mark."""
    found = spec_oracle.held(of, period(text))
    return " ".join(
        [*sorted(found.certain), *(f"?{o}" for o in sorted(found.possible - found.certain))]
    )


def sole(*statements: Statement, **settings: object) -> Timeline:
    """The timeline of a pair whose relation is exclusive."""
    return line(*statements, exclusive=True, **settings)  # type: ignore[arg-type]


RONALDO = line(
    says("Juventus", start="2018-07-10", end="2021-08-31"),
    says("Manchester", start="2021-08-31", end="2022-11-22"),
)
ITALY = sole(
    says("Conte", start="2018-06-01", end="2021-02-13"),
    says("Draghi", start="2021-02-13", end="2022-10-22"),
)
SPD = (
    says("Esken", start="2019-12-06", end="2025-06-27"),
    says("Walter-Borjans", start="2019-12-06", end="2021-12-11"),
    says("Klingbeil", start="2021-12-11"),
    says("Bas", start="2025-06-27"),
)
GERMANY = {"GDR": {"P576": "1990-10-03"}}

VALUES: list[tuple[str, Timeline, dict[str, str]]] = [
    ("ronaldo", RONALDO,
     {"2021Q2": "Juventus", "2021Q3": "Juventus Manchester", "2021Q4": "Manchester"}),
    ("italy", ITALY, {"2020Q4": "Conte", "2021Q1": "Conte Draghi", "2021Q2": "Draghi"}),
    ("year precise start", line(says("A", start="2019"), snapshot=date(2021, 1, 1)),
     {"2018": "", "2019": "A", "2019Q1": "?A", "2019Q4": "A", "2020Q1": "A"}),
    ("unknown start", line(says("A", end="2019-05-05")),
     {"2018": "?A", "2019Q1": "?A", "2019Q2": "A", "2019Q3": ""}),
    ("somevalue end", line(says("A", start="2019-05-05", end="?")), {"2019Q2": "A", "2025": "?A"}),
    ("rivals of unsure order", sole(says("A", start="2020"), says("B", start="2020-09-01")),
     {"2019": "", "2020Q1": "?A", "2020": "?A ?B", "2020Q3": "?A ?B", "2025Q4": "?A ?B"}),
    ("never closed", sole(says("A", start="2015-01-01"), says("B", start="2020-09-01")),
     {"2015Q1": "A", "2018": "?A", "2020Q3": "B ?A", "2020Q4": "B"}),
    ("a successor that is closed itself",
     sole(says("A", start="2010-01-01"), says("B", start="2015-01-01", end="2016-01-01")),
     {"2012": "?A", "2015": "B ?A", "2017": ""}),
    ("preferred is never closed", sole(prefers("A", start="2015"), says("B", start="2020")),
     {"2019": "A", "2021": "A ?B"}),
    ("preferred beside unsure order",
     sole(prefers("A", start="2020"), says("B", start="2020-09-01")),
     {"2020": "A ?B", "2021": "A ?B"}),
    ("preferred closes earlier normal", sole(says("A", start="2015"), prefers("B", start="2020")),
     {"2015": "A", "2017": "?A", "2021": "B"}),
    ("preferred co-holders",
     sole(prefers("A", start="2021-12-11"), prefers("B", start="2025-06-27")),
     {"2024Q4": "A", "2025Q2": "A B", "2025Q4": "A B"}),
    ("co-holders by history", sole(*SPD),
     {"2020Q1": "Esken Walter-Borjans", "2022Q1": "Esken ?Klingbeil", "2025Q4": "?Bas ?Klingbeil"}),
    ("a handover day is no overlap",
     sole(says("A", start="2010-01-01", end="2012-01-01"), says("B", start="2012-01-01"),
          says("C", start="2014-01-01")),
     {"2012Q1": "A B", "2013": "?B", "2014Q1": "C ?B", "2015": "C"}),
    ("a successor after the snapshot closes nobody",
     sole(says("A", start="2015"), says("B", start="2026-06-01")), {"2025": "A"}),
    ("contradictory beside good",
     line(says("A", start="2015", end="2010"), says("B", start="2012", end="2020")),
     {"2008": "?A", "2015": "B ?A", "2022": "?A"}),
    ("undated preferred beside dated normal",
     line(says("rubl", start="1995-05-10", end="2000-10-29"), prefers("somoni")),
     {"1999": "rubl ?somoni", "2001": "?somoni"}),
    ("a dead subject",
     line(says("King's", start="1931"), subject={"P569": "1912-06-23", "P570": "1954-06-07"}),
     {"1911": "", "1954": "King's", "1954Q3": "", "2013": ""}),
    ("a death within a year", line(says("A", start="1931"), subject={"P570": "1954"}),
     {"1953": "A", "1954": "A", "1954Q1": "A", "1954Q2": "?A", "1955": ""}),
    ("a dissolved object", line(says("GDR", start="1950"), objects=GERMANY),
     {"1989": "GDR", "1990": "GDR", "1991": "", "2024": ""}),
    ("what outlives", line(says("A", start="1950"), subject={"P570": "1954"}, ends_with=()),
     {"2024": "A"}),
    ("born after the start", line(says("A", start="1980"), subject={"P569": "1980-10-01"}),
     {"1980Q3": "", "1980Q4": "A"}),
    ("wholly before the birth", line(says("A", start="1950", end="1960"), subject={"P569": "1980"}),
     {"1955": "", "1980": "?A", "2000": "?A"}),
    ("an undated gap ends with the life", line(says("A"), subject={"P569": "1980", "P570": "1990"}),
     {"1979": "", "1980": "?A", "1990": "?A", "1991": ""}),
    ("yearly nominations",
     line(*(says("prize", at=str(y)) for y in (1928, 1929, 1931)), mode="pointwise"),
     {"1928": "prize", "1928Q2": "?prize", "1929": "prize", "1930": "", "1931": "prize"}),
    ("a sighting of an owner", line(says("fund", at="2015-09-30")),
     {"2015Q2": "?fund", "2015Q3": "fund", "2015Q4": "?fund", "2025": "?fund"}),
    ("sightings are not one stay", line(says("A", at="2015"), says("A", at="2017")),
     {"2015": "A", "2016": "?A", "2017": "A"}),
    ("a sighting inside", line(says("A", at="2015"), says("A", start="2010", end="2020")),
     {"2009": "", "2015Q1": "A", "2021": ""}),
    ("an acting head",
     sole(says("A", start="2010-01-01", end="2015-01-01"),
          says("B", start="2015-01-02", end="2015-03-01"),
          says("A", start="2015-03-02")),
     {"2014Q4": "A", "2015Q1": "A B", "2015-02": "B", "2015Q2": "A", "2025": "A"}),
    ("two terms in years with another between",
     sole(says("Berhalter", start="2018", end="2022"),
          says("Hudson", start="2023-01-04", end="2023-05-30"),
          says("Berhalter", start="2023", end="2024-07-10")),
     {"2022": "Berhalter", "2023Q1": "Hudson ?Berhalter", "2023Q4": "Berhalter"}),
    ("a head of state who died",
     sole(says("Elizabeth", start="1952-02-06", end="2022-09-08"),
          prefers("Charles", start="2022-09-08"),
          objects={"Elizabeth": {"P570": "2022-09-08"}}),
     {"2022Q2": "Elizabeth", "2022Q3": "Charles Elizabeth", "2022Q4": "Charles"}),
    ("bounds beside a start", line(says("A", start="?", earliest="1950", latest="1955")),
     {"1949": "", "1950": "?A", "1955": "A", "2000": "A"}),
    ("bounds alone", line(says("A", earliest="1950", latest="1955")),
     {"1949": "", "1952": "?A", "1956": ""}),
    ("a latest start alone leaves it open", line(says("A", latest_start="1950")),
     {"1940": "?A", "1950": "A", "2000": "A"}),
    ("an earliest end", line(says("A", start="1940", earliest_end="1950")),
     {"1940": "A", "1950Q1": "A", "1950Q2": "?A", "2000": "?A"}),
    ("pairs in one statement", line(says("A", start="2010 2014", end="2012 2016")),
     {"2011": "A", "2013": "", "2015": "A"}),
    ("no pairs in one statement", line(says("A", start="2010 2012", end="2014")),
     {"2010": "?A", "2012": "A", "2013": "A", "2015": ""}),
    ("a nameless successor",
     sole(says("A", start="2010"), says("B", start="2015"), nameless="B"),
     {"2014": "A", "2016": "A ?B"}),
    ("a successor closes a gap",
     sole(says("A", start="2010"), says("B", start="2015"), nameless="A"),
     {"2012": "?A", "2015": "B ?A", "2016": "B"}),
    ("no pairs that share a day",
     line(says("A", start="2010 2012-01-01", end="2012-01-01 2014")), {"2011": "?A", "2012": "A"}),
    ("a successor who will begin",
     sole(says("A", start="2015"), says("B", start="2026-06-01", end="2030")), {"2025": "A"}),
    ("a stated end after the death",
     line(says("A", start="2010", end="2020"), subject={"P570": "2015"}),
     {"2018": "A"}),
    ("wholly after the death", line(says("A", start="2018", end="2019"), subject={"P570": "2015"}),
     {"2014": "?A", "2018": ""}),
    ("years BCE and later than 9999", line(says("A", start="44BCE", end="12000")),
     {"2000": "A"}),
    ("deprecated", line(says("A", "deprecated", start="2010")), {"2012": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), [c[1:] for c in VALUES], ids=[c[0] for c in VALUES])
def test_what_a_period_holds(found: Timeline, expected: dict[str, str]) -> None:
    assert {p: value(found, p) for p in expected} == expected


SOMONI = (says("rubl", start="1995-05-10", end="2000-10-29"), prefers("somoni"))
TWO = (says("A", start="2010", end="2020"), says("B"))
COMPARED = [
    (RONALDO, "2021Q2 2021Q3", "accept", ("updated", False, "+Manchester -", "")),
    (RONALDO, "2021Q3 2021Q4", "accept", ("updated", False, "+ -Juventus", "")),
    (RONALDO, "2022Q1 2022Q2", "accept", ("unchanged", False, "+ -", "")),
    (RONALDO, "2018Q2 2018Q3", "accept", ("new", False, "+Juventus -", "")),
    (RONALDO, "2022Q4 2023Q1", "accept", ("deleted", False, "+ -Manchester", "")),
    (line(*SOMONI), "2000Q4 2001Q1", "accept", ("deleted", True, "+ -", "")),
    (line(*SOMONI), "2000Q4 2001Q1", "doubt", ("deleted", True, "+ -", "")),
    (line(*SOMONI), "2000Q4 2001Q1", "ignore", ("deleted", False, "+ -rubl", "")),
    (line(*TWO), "2014 2015", "accept", ("unchanged", False, "+ -", "B")),
    (line(*TWO), "2014 2015", "doubt", ("unchanged", True, "+ -", "")),
    (line(*TWO), "2014 2015", "ignore", ("unchanged", False, "+ -", "")),
    (line(*TWO, nameless="B"), "2014 2015", "accept", ("unchanged", True, "+ -", "")),
    (line(*TWO, undated="keep"), "2014 2015", "accept", ("unchanged", False, "+ -", "B")),
    (line(says("fund", at="2015-09-30")), "2015Q3 2015Q4", "accept", ("deleted", True, "+ -", "")),
    (line(says("A", start="2015", end="2010"), says("B", start="2012", end="2020")), "2014 2015",
     "ignore", ("unchanged", True, "+ -", "")),
    (line(says("A", start="2015", end="2010"), says("A", start="2012", end="2020")), "2014 2015",
     "accept", ("unchanged", False, "+ -", "")),
    (line(says("A", start="2012", end="2013")), "2018 2019", "accept", (None, False, "+ -", "")),
]  # fmt: skip


@pytest.mark.parametrize(("of", "pair", "undated", "expected"), COMPARED)
def test_comparison(
    of: Timeline, pair: str, undated: str, expected: tuple[str | None, bool, str, str]
) -> None:
    before, after = (period(p) for p in pair.split())
    found = spec_oracle.compare(of, before, after, undated)
    change = f"+{' '.join(sorted(found.added))} -{' '.join(sorted(found.removed))}"
    accepted = " ".join(sorted(found.possible_answers))
    assert (found.split, found.dropped, change, accepted) == expected
    if found.split == "deleted" and not found.dropped:
        assert found.answers == found.removed  # "deleted": the gold answers are A_t


def test_points() -> None:
    """Julian days, and Julian years, which keep their year."""

    def span(time: Time) -> tuple[date, date]:
        first, last = spec_oracle.point(time)
        return date.fromordinal(first), date.fromordinal(last)

    assert span(Time(1582, 10, 4, 11, True)) == (date(1582, 10, 14),) * 2
    assert span(Time(1900, 2, 29, 11, True)) == (date(1900, 3, 13),) * 2
    assert span(Time(1917, 10, 25, 11, True)) == (date(1917, 11, 7),) * 2
    assert span(Time(1385, 0, 0, 9, True)) == (date(1385, 1, 1), date(1385, 12, 31))
    assert span(Time(2015, 0, 0, 8)) == (date(2010, 1, 1), date(2019, 12, 31))
    assert span(Time(2020, 2, 0, 10)) == (date(2020, 2, 1), date(2020, 2, 29))
    assert span(Time(-44, 3, 15, 11)) == (date.min,) * 2
    assert span(Time(12000)) == (date.max,) * 2
    assert spec_oracle.point(Time(1900, 0, 0, 7)) == spec_oracle.UNKNOWN


def test_segments() -> None:
    """Merging needs every reading; inferred ends are told; sightings inside a state go."""
    touching = line(says("A", start="2010-01-01", end="2012-03-31"), says("A", start="2012-04-01"))
    assert len(touching.segments) == 1
    assert touching.segments[0].end_open
    apart = line(says("A", start="2010-01-01", end="2012-03-31"), says("A", start="2012-04-02"))
    assert len(apart.segments) == 2
    assert len(line(says("A", start="2010", end="2012"), says("A", start="2012")).segments) == 2
    assert len(line(says("A", at="2015"), says("A", start="2010", end="2020")).segments) == 1
    assert len(line(says("A", at="2010"), says("A", start="2010", end="2020")).segments) == 2
    closed = line(says("A", start="2015"), says("B", start="2020-09-01"), exclusive=True)
    assert [(s.end_inferred, s.end_open) for s in closed.segments] == [(True, False), (False, True)]
    assert closed.segments[0].end == (date(2015, 1, 1).toordinal(), date(2020, 9, 1).toordinal())
    assert line(*SPD, exclusive=True).co_held


def test_preferred_life_dates() -> None:
    """ "Of several dates of birth or death the preferred rank counts, else their hull"."""
    one: tuple[str, Snak] = ("normal", Time(1950))
    other: tuple[str, Snak] = ("preferred", Time(1954))
    best = spec_oracle.life_date(Entity("Q1", True, {"P570": (one, other)}), ("P570",), False)
    assert best == spec_oracle.point(Time(1954))
    hull = Entity("Q1", True, {"P570": (one, ("normal", Time(1954)), ("deprecated", Time(1960)))})
    both = spec_oracle.life_date(hull, ("P570",), False)
    assert both == (date(1950, 1, 1).toordinal(), date(1954, 12, 31).toordinal())


T_OLD = date(2023, 1, 2)
CHANGES = [
    (None, says("A", start="2024"), "new"),
    (None, says("A", start="2023"), "added"),  # it may have begun on the first of January
    (None, says("A", start="2010"), "added"),
    (None, says("A"), "added"),
    (says("A", start="2010"), None, "removed"),
    (says("A", start="2010", end="2024"), None, "obsolete"),
    (says("A", start="2010", end="2012"), None, "removed"),
    (says("A", start="2010"), says("A", start="2010"), "static"),
    (says("A", start="2010"), says("A", start="2010", end="2024"), "obsolete"),
    (says("A", start="2010"), says("A", start="2010", end="2015"), "corrected"),
    (says("A", start="2010", end="2012"), says("A", start="2010", end="2012"), "static"),
    (says("A", start="2010", end="2012"), says("A", start="2010", end="2013"), "corrected"),
    (says("A"), says("A"), "static"),
]


@pytest.mark.parametrize(("before", "after", "kind"), CHANGES)
def test_snapshot_diff(before: Statement | None, after: Statement | None, kind: str) -> None:
    def dump(statement: Statement | None) -> History:
        stated = () if statement is None else (statement,)
        return History(Entity("Q1"), Relation(), stated, {"A": Entity("A")})

    found = spec_oracle.snapshot_diff(
        dump(before), dump(after), T_OLD.toordinal(), SNAPSHOT.toordinal()
    )
    assert {name: change.kind for name, change in found.items()} == {"A": kind}


# ---------------------------------------------------------------- every reading, enumerated

DAYS = range(1, 9)
"""A toy calendar: what lies beyond its last day is read as its last day."""
PERIODS = [Point(a, b) for a in DAYS for b in DAYS if a <= b < DAYS[-1]]
NOW = DAYS[-1]
World = dict[int, tuple[int, int]]


def toy_point(rng: random.Random) -> Point:
    first = rng.choice(DAYS)
    return Point(first, min(DAYS[-1], first + rng.choice((0, 0, 0, 1, 2))))


def days(p: Point) -> range:
    return range(p.first, p.last + 1)


Toy = tuple[str, Point, Point | None, Point | None]
"""An object, its start, its end if stated, its death if any."""


def worlds(toys: list[Toy], exclusive: bool, births: Point | None) -> list[World]:
    """Every reading of all the statements together, by SPEC's sentences on one world.

    None of them where a statement has no reading at all. In an exclusive relation an open fact
    with a sure successor ends on any day from its start to the successor's, alive.
    """
    options: list[list[tuple[int, int | None]]] = []
    for _, start, end, death in toys:
        births_of = days(births) if births and start.last >= births.first else [0]
        one: set[tuple[int, int | None]] = set()
        for s, b, d in product(days(start), births_of, days(death) if death else [NOW]):
            if s < b:
                continue
            if end is None and s <= d:
                one.add((s, min(d, NOW)))
            if end is not None:
                one |= {(s, e) for e in days(end) if s <= e}
        options.append(sorted(one, key=str))
    found: list[World] = []
    for choice in product(*options):
        ends: list[range] = []
        for i, (name, start, end, _) in enumerate(toys):
            s, e = choice[i]
            assert e is not None
            closers = [
                choice[j][0]
                for j, (other, begin, _, _) in enumerate(toys)
                if other != name and begin.first > start.last
            ]
            closed = exclusive and end is None and closers
            ends.append(range(s, min(e, *closers) + 1) if closed else range(e, e + 1))
        found += [
            {i: (choice[i][0], e) for i, e in enumerate(last)} for last in product(*ends)
        ]  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(250))
def test_the_algebra_is_every_reading(seed: int) -> None:
    """Segments before merging hold in a period as the enumeration of all worlds says."""
    rng = random.Random(seed)
    births = toy_point(rng) if rng.random() < 0.3 else None
    if births is not None:
        births = Point(min(births.first, 3), min(births.last, 4))
    toys: list[Toy] = []
    for i in range(rng.randint(1, 3)):
        end = toy_point(rng) if rng.random() < 0.5 else None
        death = toy_point(rng) if end is None and rng.random() < 0.4 else None
        toys.append((f"{i}", toy_point(rng), end, death))
    exclusive = rng.random() < 0.6
    facts: list[tuple[Fact, Life]] = []
    for name, start, end, death in toys:
        points = {"P580": [start]} | ({} if end is None else {"P582": [end]})
        read = spec_oracle.read_points(name, "normal", points, "accumulate")
        life = Life(births, None, death)
        within = [spec_oracle.lived(f, life) for f in read.facts]
        if not within or within[0] is None:
            return  # a contradiction: it is a gap, and tested as such
        facts.append((within[0], life))
    plain = [f for f, _ in facts]
    if exclusive and spec_oracle.has_co_holders(plain):
        exclusive = False
    # The enumeration takes starts that births and deaths have narrowed to see who is surely later.
    toys = [(n, f.start, e, d) for (n, _, e, d), f in zip(toys, plain, strict=True)]
    every = worlds(toys, exclusive, births)
    assert every
    stated = [Stated(f.object, Reading((f,)), life) for f, life in facts]
    line = spec_oracle.line_of(stated, exclusive, NOW)
    for i, (name, *_) in enumerate(toys):
        (segment,) = [s for s in line.segments if s.object == name]
        for p in PERIODS:
            holds = {w[i][0] <= p.last and w[i][1] >= p.first for w in every}
            possible = spec_oracle.possible(segment.start.first, segment.end.last, p)
            assert segment.doubtful or spec_oracle.certain(segment, p) == (holds == {True})
            assert segment.doubtful or possible == (True in holds)


@pytest.mark.parametrize("seed", range(100))
def test_touching_and_overlapping_are_every_reading(seed: int) -> None:
    """Merging and guard (b) ask every reading of both."""
    rng = random.Random(seed)
    terms: list[tuple[Point, Point]] = []
    while len(terms) < 2:
        left = spec_oracle.narrowed(toy_point(rng), toy_point(rng))
        if left is not None:
            terms.append(left)
    readings = [[(s, e) for s in days(a) for e in days(b) if s <= e] for a, b in terms]
    pairs = list(product(*readings))
    segments = [spec_oracle.Segment("A", "state", *t) for t in terms]
    facts = [Fact(name, "normal", "term", *t) for name, t in zip("AB", terms, strict=True)]
    assert spec_oracle.touch(*segments) == all(
        s1 <= e2 + 1 and s2 <= e1 + 1 for (s1, e1), (s2, e2) in pairs
    )
    assert spec_oracle.surely_overlap(*facts) == all(
        s1 < e2 and s2 < e1 for (s1, e1), (s2, e2) in pairs
    )


def test_sighting_is_every_reading() -> None:
    """ "it held on a day inside the point, it began at or before it and ended at or after it"."""
    for at in (Point(3, 3), Point(3, 5), Point(2, 6)):
        (fact,) = spec_oracle.read_points("A", "normal", {"P585": [at]}, "accumulate").facts
        assert fact.end is not None
        every = [
            (s, e) for s in DAYS for e in DAYS if any(s <= day <= e for day in days(at))
        ]  # fmt: skip
        segment = spec_oracle.Segment("A", "sighting", fact.start, fact.end)
        for p in PERIODS:
            holds = {s <= p.last and e >= p.first for s, e in every}
            assert spec_oracle.certain(segment, p) == (holds == {True})
            assert spec_oracle.possible(fact.start.first, fact.end.last, p) == (True in holds)


# ---------------------------------------------------------------- the generator


def test_random_histories() -> None:
    """The same seed gives the same; every case that the oracle knows comes up; lines are JSON."""
    some = list(random_histories.histories(7, 1500))
    assert some == list(random_histories.histories(7, 1500))
    snapshot = random_histories.SNAPSHOT.toordinal()
    seen: Counter[str] = Counter()
    for history in some:
        found = spec_oracle.timeline(history, snapshot)
        seen["co_held"] += found.co_held
        seen.update(g.reason for g in found.gaps)
        for s in found.segments:
            seen.update(
                [s.kind, *(f for f in ("end_open", "end_inferred", "doubtful") if getattr(s, f))]
            )
        for _, row in spec_oracle.comparisons(found, "quarter", 2014, snapshot):
            seen[f"{row.split} {row.dropped}"] += 1
            seen["possible_answers"] += bool(row.possible_answers)
        before = random_histories.earlier(history, 7, date(2021, 6, 1))
        changes = spec_oracle.snapshot_diff(before, history, date(2021, 6, 1).toordinal(), snapshot)
        seen.update(c.kind for c in changes.values())
    splits = {f"{s} {d}" for s in ("unchanged", "updated", "new", "deleted") for d in (True, False)}
    kinds = {"new", "added", "obsolete", "static", "corrected", "removed"}
    flags = {"state", "point", "sighting", "end_open", "end_inferred", "doubtful", "co_held"}
    gaps = {"undated", "contradictory", "unlabelled", "possible_answers"}
    assert {k for k, n in seen.items() if n >= 10} >= splits | kinds | flags | gaps, seen


def test_lines_say_the_same_as_the_history() -> None:
    """Statements read back from the JSON lines are those of the histories."""

    def back(found: dict[str, object]) -> Snak:
        if found["snaktype"] != "value":
            return str(found["snaktype"])
        told = found["datavalue"]["value"]  # type: ignore[index]
        sign = -1 if told["time"][0] == "-" else 1
        year, month, day = (int(p) for p in told["time"][1:].split("T")[0].split("-"))
        julian = told["calendarmodel"].endswith("Q1985786")
        return Time(sign * year, month, day, told["precision"], julian)

    some = list(random_histories.histories(3, 200))
    text = "".join(random_histories.dump_lines(some))
    entities = {e["id"]: e for e in json.loads(text)}
    for history in some:
        claims = entities[history.subject.id]["claims"]
        read = tuple(
            Statement(
                c["mainsnak"]["datavalue"]["value"]["id"],
                c["rank"],
                {q: tuple(back(s) for s in v) for q, v in c.get("qualifiers", {}).items()},
            )
            for c in claims[history.relation.id]
        )
        assert read == history.statements
        for one in (history.subject, *history.objects.values()):
            stated = entities[one.id]["claims"]
            dates = {
                p: tuple((c["rank"], back(c["mainsnak"])) for c in stated[p])
                for p in stated
                if p in spec_oracle.BIRTHS + spec_oracle.DEATHS
            }
            assert dates == one.dates
            assert bool(entities[one.id]["labels"]) == one.labelled
