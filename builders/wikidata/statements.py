"""From the time qualifiers of one statement to the intervals in which it held, as raw rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import zip_longest
from typing import Literal, NamedTuple

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.rows import Dropped, Rank
from factdrift.builders.wikidata.parts import RawStatement

SnakKind = Literal["value", "somevalue", "novalue"]

START, END, POINT = "P580", "P582", "P585"
EARLIEST, LATEST = "P1319", "P1326"
LATEST_START, EARLIEST_END, LATEST_END = "P8555", "P8554", "P12506"
TIMES = (START, END, POINT, EARLIEST, LATEST, LATEST_START, EARLIEST_END, LATEST_END)
"""The qualifiers that say when a statement held."""

_SPAN = frozenset((START, END))

UNKNOWN = PartialDate(date.min, date.max)
"""Any day: what stands at an edge of the calendar bounds nothing."""


class Snak(NamedTuple):
    """One time; `date` is None where it is not a value, or one too coarse to use."""

    kind: SnakKind
    date: PartialDate | None


Times = Mapping[str, Sequence[Snak]]
"""The time qualifiers of a statement by property id."""


class Validity(NamedTuple):
    """When a statement held; the columns of `rows.StatedFact` of the same names say the rest."""

    start_first: date | None
    start_last: date | None
    end_first: date | None
    end_last: date | None
    end_open: bool
    sighting: bool


UNDATED = Validity(None, None, None, None, True, False)
"""All time: of a statement without any time, or with one that contradicts itself."""


class StatedTimes(NamedTuple):
    """What a dated statement says: its intervals, and whether one contradicted itself."""

    intervals: list[Validity]
    contradictory: bool


def stated_intervals(times: Times) -> StatedTimes:
    """The intervals that the time qualifiers of a dated statement state.

    Several starts and ends that surely alternate are one interval a pair, the last one open where
    an end is lacking, else start and end lie somewhere in the span of what is given. Points count
    only where neither stands beside them: one sighting each, which began by its last day and ended
    on its first or later (of a relation whose facts are points, it held on one day of these:
    `facts.stated`). Start and end narrow each other.

    Source: TimeQA (arXiv 2108.06314) section 2.1; DynamicTempLAMA (arXiv 2302.12297) section 3.
    """
    starts, ends = _dates(times.get(START, ())), _dates(times.get(END, ()))
    if _SPAN.issuperset(times) and len(starts) < 2 > len(ends):  # nearly all are so
        end = ends[0] if ends else None
        one = _interval(starts[0] if starts else UNKNOWN, end, sighting=False)
        return StatedTimes([one] if one else [], not one)
    given: dict[str, Sequence[PartialDate]] = dict.fromkeys(TIMES, ())
    given |= {p: _dates(snaks) for p, snaks in times.items()}
    points = given[POINT]
    start_bound, end_bound, point_bound = _bounds(given)
    found: list[tuple[PartialDate, PartialDate | None]]
    sighting = bool(points) and not starts and not ends
    if sighting:
        seen = [_both(point, point_bound) for point in points]
        found = [
            (PartialDate(date.min, p.last), PartialDate(p.first, date.max))
            if p.first <= p.last
            else (p, None)
            for p in seen
        ]
    elif len(starts) > 1 and _alternate(starts, ends):
        found = [*zip_longest(starts, ends)]
    else:
        ended = ends or given[EARLIEST_END] or given[LATEST_END] or (given[LATEST] and not starts)
        found = [(_hull(starts), _hull(ends) if ended else None)]
    made = [
        _interval(_both(start, start_bound), end and _both(end, end_bound), sighting)
        for start, end in found
    ]
    return StatedTimes([one for one in made if one], None in made)


def describe_times(times: Times) -> str:
    """Time qualifiers as text for people: `P580 2019-01-01/2019-12-31, P582 somevalue`."""
    return ", ".join(
        f"{p} {s.date.first}/{s.date.last}" if s.date else f"{p} {s.kind}"
        for p in TIMES
        for s in times.get(p, ())
    )


class LifeDate(NamedTuple):
    """A date of birth, inception, death or dissolution, with the rank of its statement."""

    rank: str | None
    snak: Snak


def life_boundary(given: Iterable[Sequence[LifeDate]], latest: bool) -> PartialDate | None:
    """The day on which an entity began (`latest`) or ended, out of the dates of two properties.

    Of one property's dates those of preferred rank count, else all, as their hull; a deprecated
    one never. None: no date; `UNKNOWN`: some day.
    """
    found = []
    for dates in given:
        stated = [d for d in dates if d.rank != "deprecated" and d.snak.kind != "novalue"]
        if stated:
            best = [d for d in stated if d.rank == "preferred"] if len(stated) > 1 else ()
            days = [d.snak.date or UNKNOWN for d in best or stated]
            found.append(days[0] if len(days) == 1 else _hull(days))
    if len(found) < 2:
        return found[0] if found else None
    pick = max if latest else min
    return PartialDate(*map(pick, zip(*found, strict=True)))


def _dates(snaks: Sequence[Snak]) -> list[PartialDate]:
    if len(snaks) == 1 and snaks[0].date:
        return [snaks[0].date]
    return sorted(s.date or UNKNOWN for s in snaks if s.kind != "novalue")


def _bounds(given: Mapping[str, Sequence[PartialDate]]) -> tuple[PartialDate, ...]:
    """What the qualifiers of earliest and latest dates leave to start, end and point."""
    if not any(given[p] for p in TIMES[3:]):
        return UNKNOWN, UNKNOWN, UNKNOWN

    def since(name: str) -> PartialDate:
        return PartialDate(_hull(given[name]).first, date.max)

    def until(name: str) -> PartialDate:
        return PartialDate(date.min, _hull(given[name]).last)

    start, end, point = until(LATEST_START), _both(since(EARLIEST_END), until(LATEST_END)), UNKNOWN
    between = _both(since(EARLIEST), until(LATEST))
    if given[START] and not given[END]:
        start = _both(start, between)
    elif given[END] and not given[START]:
        end = _both(end, between)
    elif given[POINT] and not given[START]:
        point = between
    else:
        start, end = _both(start, since(EARLIEST)), _both(end, until(LATEST))
    return start, end, point


def _alternate(starts: Sequence[PartialDate], ends: Sequence[PartialDate]) -> bool:
    """Whether sorted starts and ends surely alternate; the last start may have no end."""
    return (
        len(starts) - len(ends) in (0, 1)
        and all(s.first <= e.last for s, e in zip(starts, ends, strict=False))
        and all(e.last < s.first for e, s in zip(ends, starts[1:], strict=False))
    )


def _both(one: PartialDate, other: PartialDate) -> PartialDate:
    return PartialDate(max(one.first, other.first), min(one.last, other.last))


def _hull(dates: Sequence[PartialDate]) -> PartialDate:
    """The span of all dates; `UNKNOWN` where there is none."""
    if not dates:
        return UNKNOWN
    return PartialDate(min(d.first for d in dates), max(d.last for d in dates))


def _interval(start: PartialDate, end: PartialDate | None, sighting: bool) -> Validity | None:
    """Start and end without the days that the other rules out; None where no day is left."""
    until = end or UNKNOWN
    start_last = min(start.last, until.last)
    end_first = max(until.first, start.first) if end else date.min
    if start.first > start_last or until.first > until.last or end_first > until.last:
        return None
    return Validity(
        None if start.first == date.min else start.first,
        None if start_last == date.max else start_last,
        None if end_first == date.min else end_first,
        None if until.last == date.max else until.last,
        end is None,
        sighting,
    )


class StatementRows:
    """Raw rows of statements, what was dropped and what was counted (`P54/deprecated`)."""

    def __init__(self) -> None:
        self.statements: list[RawStatement] = []
        self.dropped: list[Dropped] = []
        self.counts: Counter[str] = Counter()
        self.line = 0
        """What is read now: the line of a dump, or 0."""

    def add(
        self,
        name: str,
        subject: str,
        relation: str,
        target: str | None,
        rank: str | None,
        times: Times,
    ) -> None:
        """Add a statement about an item, or about an unknown one where `target` is None.

        `name` is its id; a rank that is not preferred is normal.
        """
        line = self.line
        usual: Rank = "preferred" if rank == "preferred" else "normal"
        if not times or not any(times.values()):
            raw = RawStatement(name, subject, relation, target, *UNDATED, usual, "undated", line)
            self.statements.append(raw)
            return
        if any(s.kind == "value" and s.date is None for snaks in times.values() for s in snaks):
            self.counts[f"{relation}/coarse_time"] += 1
        stated = stated_intervals(times)
        for one in stated.intervals:
            raw = RawStatement(name, subject, relation, target, *one, usual, None, line)
            self.statements.append(raw)
        if stated.contradictory:
            self.drop("contradictory", name, subject, relation, describe_times(times))
            why: Literal["contradictory"] = "contradictory"
            raw = RawStatement(name, subject, relation, target, *UNDATED, usual, why, line)
            self.statements.append(raw)

    def drop(self, reason: str, name: str, subject: str, relation: str, detail: str) -> None:
        """Drop a statement, with at most 200 characters of why."""
        place = (name, subject, relation)
        self.dropped.append(Dropped("mine", reason, *place, None, None, detail[:200]))
