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

_START_AND_END = frozenset((START, END))

UNKNOWN = PartialDate(date.min, date.max)
"""Any day. A first or last day of the calendar stands for no bound."""


class Snak(NamedTuple):
    """One time value; `date` is None where there is no value, or one that is too coarse to use."""

    kind: SnakKind
    date: PartialDate | None


Times = Mapping[str, Sequence[Snak]]
"""The time qualifiers of a statement by property id."""


class Validity(NamedTuple):
    """When a statement held; `rows.StatedFact` describes the columns, which have the same names."""

    start_first: date | None
    start_last: date | None
    end_first: date | None
    end_last: date | None
    end_open: bool
    sighting: bool


UNDATED = Validity(None, None, None, None, True, False)
"""No bound at all, for a statement without a time or with times that contradict each other."""


class StatedTimes(NamedTuple):
    """The intervals of a dated statement, and whether one of them contradicted itself."""

    intervals: list[Validity]
    contradictory: bool


def stated_intervals(times: Times) -> StatedTimes:
    """The intervals that the time qualifiers of a dated statement state.

    Several starts and ends that surely alternate make one interval a pair; the last one is open
    where its end is missing. Starts and ends that do not alternate make one interval, and both its
    days lie somewhere in the span of the dates that are stated. Points count only without a start
    or end beside them. Each point is one sighting: the fact began by the last day of the point and
    ended on its first day or later. (Where the facts of a relation are points, the fact held on one
    day of these: `facts.stated`.) Start and end narrow each other.

    Source: TimeQA (arXiv 2108.06314) section 2.1; DynamicTempLAMA (arXiv 2302.12297) section 3.
    """
    starts, ends = _dates(times.get(START, ())), _dates(times.get(END, ()))
    if _START_AND_END.issuperset(times) and len(starts) < 2 > len(ends):  # nearly all are so
        end = ends[0] if ends else None
        interval = _interval(starts[0] if starts else UNKNOWN, end, sighting=False)
        return StatedTimes([interval] if interval else [], not interval)
    return _intervals_of_all_times(times, starts, ends)


def _intervals_of_all_times(
    times: Times, starts: Sequence[PartialDate], ends: Sequence[PartialDate]
) -> StatedTimes:
    """The intervals where a statement has several starts or ends, or other time qualifiers."""
    dates: dict[str, Sequence[PartialDate]] = dict.fromkeys(TIMES, ())
    for property_id, snaks in times.items():
        dates[property_id] = _dates(snaks)
    start_bound, end_bound, point_bound = _bounds(dates)
    sighting = bool(dates[POINT]) and not starts and not ends
    stated: list[tuple[PartialDate, PartialDate | None]]
    if sighting:
        stated = [_sighted(_both(point, point_bound)) for point in dates[POINT]]
    elif len(starts) > 1 and _alternate(starts, ends):
        stated = [*zip_longest(starts, ends)]
    else:
        stated = [(_hull(starts), _hull(ends) if _has_ended(dates) else None)]
    intervals: list[Validity] = []
    contradictory = False
    for start, end in stated:
        bounded_end = end and _both(end, end_bound)
        interval = _interval(_both(start, start_bound), bounded_end, sighting)
        if interval:
            intervals.append(interval)
        else:
            contradictory = True
    return StatedTimes(intervals, contradictory)


def _has_ended(dates: Mapping[str, Sequence[PartialDate]]) -> bool:
    """Whether the dates state an end or a bound of an end.

    The latest day of an undated period bounds the end if no start is stated.
    """
    if dates[END] or dates[EARLIEST_END] or dates[LATEST_END]:
        return True
    return bool(dates[LATEST]) and not dates[START]


def _sighted(point: PartialDate) -> tuple[PartialDate, PartialDate | None]:
    """Return the start and end of a fact that is known to have held on some day of `point`.

    Such a fact began by the last day of `point`, and ended on its first day or later.
    """
    # An empty `point` contradicts itself. It goes on as the start, and so yields no interval.
    if point.first > point.last:
        return point, None
    return PartialDate(date.min, point.last), PartialDate(point.first, date.max)


def describe_times(times: Times) -> str:
    """Time qualifiers as text for people: `P580 2019-01-01/2019-12-31, P582 somevalue`."""
    return ", ".join(
        f"{property_id} {snak.date.first}/{snak.date.last}"
        if snak.date
        else f"{property_id} {snak.kind}"
        for property_id in TIMES
        for snak in times.get(property_id, ())
    )


class LifeDate(NamedTuple):
    """A date of birth, inception, death or dissolution, with the rank of its statement."""

    rank: str | None
    snak: Snak


def life_boundary(
    dates_by_property: Iterable[Sequence[LifeDate]], latest: bool
) -> PartialDate | None:
    """The day on which an entity began (`latest`) or ended, from the dates of two properties.

    Where both properties have dates, the later span counts for a beginning and the earlier one for
    an end. Returns None where no date is stated, and `UNKNOWN` where an unknown day is stated.
    """
    property_spans = []
    for dates in dates_by_property:
        if span := _property_span(dates):
            property_spans.append(span)
    if len(property_spans) < 2:
        return property_spans[0] if property_spans else None
    pick = max if latest else min
    return PartialDate(*map(pick, zip(*property_spans, strict=True)))


def _property_span(dates: Sequence[LifeDate]) -> PartialDate | None:
    """The span of the dates of one property: of those of preferred rank, if any, else of all."""
    stated = [
        life_date
        for life_date in dates
        if life_date.rank != "deprecated" and life_date.snak.kind != "novalue"
    ]
    if len(stated) > 1:
        stated = [life_date for life_date in stated if life_date.rank == "preferred"] or stated
    days = [life_date.snak.date or UNKNOWN for life_date in stated]
    if len(days) < 2:
        return days[0] if days else None
    return _hull(days)


def _dates(snaks: Sequence[Snak]) -> list[PartialDate]:
    if len(snaks) == 1 and snaks[0].date:
        return [snaks[0].date]
    return sorted(snak.date or UNKNOWN for snak in snaks if snak.kind != "novalue")


def _bounds(dates_by_property: Mapping[str, Sequence[PartialDate]]) -> tuple[PartialDate, ...]:
    """The bounds that earliest and latest dates (P1319, …) set for start, end and point."""
    if not any(dates_by_property[property_id] for property_id in TIMES[3:]):
        return UNKNOWN, UNKNOWN, UNKNOWN

    def since(name: str) -> PartialDate:
        return PartialDate(_hull(dates_by_property[name]).first, date.max)

    def until(name: str) -> PartialDate:
        return PartialDate(date.min, _hull(dates_by_property[name]).last)

    start_bound, end_bound, point_bound = (
        until(LATEST_START),
        _both(since(EARLIEST_END), until(LATEST_END)),
        UNKNOWN,
    )
    stated_bounds = _both(since(EARLIEST), until(LATEST))
    if dates_by_property[START] and not dates_by_property[END]:
        start_bound = _both(start_bound, stated_bounds)
    elif dates_by_property[END] and not dates_by_property[START]:
        end_bound = _both(end_bound, stated_bounds)
    elif dates_by_property[POINT] and not dates_by_property[START]:
        point_bound = stated_bounds
    else:
        start_bound, end_bound = (
            _both(start_bound, since(EARLIEST)),
            _both(end_bound, until(LATEST)),
        )
    return start_bound, end_bound, point_bound


def _alternate(starts: Sequence[PartialDate], ends: Sequence[PartialDate]) -> bool:
    """Whether sorted starts and ends surely alternate; the last start may have no end."""
    return (
        len(starts) - len(ends) in (0, 1)
        and all(start.first <= end.last for start, end in zip(starts, ends, strict=False))
        and all(end.last < start.first for end, start in zip(ends, starts[1:], strict=False))
    )


def _both(days: PartialDate, bound: PartialDate) -> PartialDate:
    """The days that two spans share; its first day is after its last where they share none."""
    return PartialDate(max(days.first, bound.first), min(days.last, bound.last))


def _hull(dates: Sequence[PartialDate]) -> PartialDate:
    """The span of all dates; `UNKNOWN` where there is none."""
    if not dates:
        return UNKNOWN
    return PartialDate(
        min(day_range.first for day_range in dates), max(day_range.last for day_range in dates)
    )


def _interval(start: PartialDate, end: PartialDate | None, sighting: bool) -> Validity | None:
    """Start and end, each without the days that the other rules out; None where no day is left."""
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
        """The line of the dump that is being read; 0 for rows of no dump."""

    def add(
        self,
        statement_id: str,
        subject: str,
        relation: str,
        object_id: str | None,
        rank: str | None,
        times: Times,
    ) -> None:
        """Add a statement about an item, or about an unknown one where `target` is None.

        `name` is its id; a rank that is not preferred is normal.
        """
        dump_line = self.line
        known_rank: Rank = "preferred" if rank == "preferred" else "normal"
        if not times or not any(times.values()):
            statement = RawStatement(
                statement_id,
                subject,
                relation,
                object_id,
                *UNDATED,
                known_rank,
                "undated",
                dump_line,
            )
            self.statements.append(statement)
            return
        if any(
            snak.kind == "value" and snak.date is None for snaks in times.values() for snak in snaks
        ):
            self.counts[f"{relation}/coarse_time"] += 1
        stated_times = stated_intervals(times)
        for interval in stated_times.intervals:
            statement = RawStatement(
                statement_id, subject, relation, object_id, *interval, known_rank, None, dump_line
            )
            self.statements.append(statement)
        if stated_times.contradictory:
            self.drop("contradictory", statement_id, subject, relation, describe_times(times))
            reason: Literal["contradictory"] = "contradictory"
            statement = RawStatement(
                statement_id, subject, relation, object_id, *UNDATED, known_rank, reason, dump_line
            )
            self.statements.append(statement)

    def drop(
        self, reason: str, statement_id: str, subject: str, relation: str, detail: str
    ) -> None:
        """Drop a statement, with at most 200 characters of why."""
        statement_place = (statement_id, subject, relation)
        self.dropped.append(Dropped("mine", reason, *statement_place, None, None, detail[:200]))
