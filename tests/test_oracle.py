"""The oracle of SPEC sections 1 and 2 against enumeration; cases by hand are in spec_cases.tsv."""

import random
from collections import Counter
from datetime import date
from itertools import product

import pytest

from tests import random_histories, spec_oracle
from tests.spec_oracle import Fact, Life, Point, Reading, Stated

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


def test_random_histories() -> None:
    """The same seed gives the same; every case that the oracle knows comes up."""
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
        seen.update(changes.values())
    splits = {f"{s} {d}" for s in ("unchanged", "updated", "new", "deleted") for d in (True, False)}
    kinds = {"new", "added", "obsolete", "static", "corrected", "removed"}
    flags = {"state", "point", "sighting", "end_open", "end_inferred", "doubtful", "co_held"}
    gaps = {"undated", "contradictory", "unlabelled", "possible_answers"}
    assert {k for k, n in seen.items() if n >= 10} >= splits | kinds | flags | gaps, seen
