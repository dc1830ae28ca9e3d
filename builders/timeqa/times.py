"""The times that questions ask about: what they select, how they are drawn, how they are worded.

A unit of time is a whole day, month, year or part of a decade, an interval of days. A segment is
known up to readings: its start is some day of [start_first, start_last], its end one of [end_first,
end_last], the start not after the end. A specifier *selects* a segment if the segment answers it
under every reading, *rejects* it if under none; all else is *in doubt*. Days are ordinals, as of
`date.toordinal`; an unknown bound is `FAR` days away.

Easy questions print the boundaries of a segment, hard ones moments inside it. Such a moment may be
finer than the boundaries, for it is certain: June 2004 is inside 2003 to 2005. What is drawn is a
hash of what is asked about, never of what was asked before, so that a question does not depend on
the rows around it.

After: TimeQA (paper 001), section 2.2 (in, between, before, after); the rules are ours.
"""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple

from factdrift.builders.core.hashing import Draws
from factdrift.builders.rows import AlignedSegment, Gap, Segment, Specifier
from factdrift.builders.text import dates

DAY, MONTH, YEAR, PART = 0, 1, 2, 3
"""Grains, from fine to coarse; a part is the years 0 to 3 or 7 to 9 of a decade."""
HardKind = Literal["in", "between", "before", "after", "decade"]
"""What a hard question may ask: a specifier, or *in* the early or late part of a decade."""
FAR = 10**9
_MOST = date.max.toordinal()
_AROUND = 3
"""Most units between a point in time and the unit that a question about it names."""
_EDGE = 366 * (_AROUND + 2)
"""Days at either end of the calendar that have no such units."""
_YOUTH = 18 * 366
"""Days after its beginning in which nobody asks what a subject did, nor who led it."""
_FORMS = {DAY: "day", MONTH: "month", YEAR: "year"}
_PARTS = ((0, 3), (7, 9))
"""First and last year of the early and of the late part of a decade."""
_ERA = date(1000, 1, 1).toordinal()
"""No part of a decade before this day has a name."""
_THOUSAND = 1000

_date = lru_cache(1 << 16)(date.fromordinal)


class TimeUnit(NamedTuple):
    """A unit of time; `number` is its index among the units of its grain (see `unit`)."""

    grain: int
    number: int
    first: int
    last: int


class Bounds(NamedTuple):
    """The bounds of a segment or gap in days; `open`: no end is stated."""

    start_first: int
    start_last: int
    end_first: int
    end_last: int
    open: bool


class Time(NamedTuple):
    """A specifier with its units: `in` has one, twice; `before` no first, `after` no last."""

    specifier: Specifier
    first: TimeUnit | None
    last: TimeUnit | None

    def days(self) -> tuple[date | None, date | None]:
        """First and last day asked about: `between` counts both units, `before` excludes its."""
        if self.specifier == "before" and self.last:
            return None, _date(self.last.first - 1)
        if self.specifier == "after" and self.first:
            return _date(self.first.last + 1), None
        assert self.first and self.last
        return _date(self.first.first), _date(self.last.last)


@lru_cache(1 << 16)
def unit(grain: int, number: int) -> TimeUnit:
    """The unit with this index.

    The ordinal of a day; year * 12 + month - 1; the year; decade * 2, for its late part one more.
    """
    if grain == DAY:
        return TimeUnit(DAY, number, number, number)
    if grain == MONTH:
        first = date(number // 12, number % 12 + 1, 1).toordinal()
        after = date((number + 1) // 12, (number + 1) % 12 + 1, 1).toordinal()
        return TimeUnit(MONTH, number, first, after - 1)
    if grain == PART:
        from_, to = _PARTS[number % 2]
        year = number // 2 * 10
        first = date(year + from_, 1, 1).toordinal()
        return TimeUnit(PART, number, first, date(year + to, 12, 31).toordinal())
    return TimeUnit(
        YEAR, number, date(number, 1, 1).toordinal(), date(number + 1, 1, 1).toordinal() - 1
    )


def index(grain: int, day: int) -> int:
    """The index of the unit of this grain that a day lies in."""
    if grain == DAY:
        return day
    when = date.fromordinal(day)
    return when.year if grain == YEAR else when.year * 12 + when.month - 1


def units_within(first: int, last: int) -> tuple[range, range]:
    """Indexes of the months and years of the calendar that lie wholly in these days."""
    first, last = max(first, 2), min(last, _MOST - 366)
    if first > last:
        return range(0), range(0)
    before, after = date.fromordinal(first - 1), date.fromordinal(last + 1)
    months = range(before.year * 12 + before.month, after.year * 12 + after.month - 1)
    return months, range(before.year + 1, after.year)


@lru_cache(1 << 16)
def stated_unit(first: date | None, last: date | None) -> TimeUnit | None:
    """The unit that a boundary states; None: unknown, a decade, or any other interval.

    The first and the last day of the calendar stand for all beyond it, so they are no units.
    """
    if first is None or last is None or first == date.min or last.year == date.max.year:
        return None
    if first == last:
        return unit(DAY, first.toordinal())
    if first.day == 1 and first.year == last.year:
        for grain in (MONTH, YEAR):
            found = unit(grain, index(grain, first.toordinal()))
            if found.first == first.toordinal() and found.last == last.toordinal():
                return found
    return None


def bounds(segment: Segment) -> Bounds:
    """The bounds of a segment, each narrowed by the other: no end before the start.

    An open one holds until its snapshot day, maybe longer; a rival surely holds on no day.
    """
    if segment.rival:
        return gap_bounds(segment)
    start_first = -FAR if segment.start_first is None else segment.start_first.toordinal()
    start_last = FAR if segment.start_last is None else segment.start_last.toordinal()
    end_first = -FAR if segment.end_first is None else segment.end_first.toordinal()
    end_last = FAR
    if segment.end_last is not None and not segment.end_open:
        end_last = segment.end_last.toordinal()
    return Bounds(
        start_first,
        min(start_last, end_last),
        max(start_first, end_first),
        end_last,
        segment.end_open,
    )


def gap_bounds(gap: Gap | Segment) -> Bounds:
    """The bounds of what certainly holds on no day: all that it may touch is in doubt."""
    return Bounds(
        -FAR if gap.start_first is None else gap.start_first.toordinal(),
        FAR,
        -FAR,
        FAR if gap.end_open or gap.end_last is None else gap.end_last.toordinal(),
        False,
    )


def select(time: Time, spans: Sequence[Bounds], snapshot: int) -> list[int] | None:
    """The indexes of the spans that a time selects, ascending; None: one or more are in doubt.

    *in T*: it certainly holds on some day of T; rejected: under no reading.
    *between A and B* (and *from A to B*): it certainly holds on a day after A and before B, or it
    certainly starts in A and ends in B, or it certainly holds from A's first day to B's last.
    Rejected: no reading touches the days from A to B; or it only touches them, a predecessor
    that began before A and ends in A or earlier, or a successor that starts in B or later and
    ends after B or is open.
    *before T*: it certainly holds on some day before T; rejected: it starts in T or later.
    *after T*: it certainly holds on some day after T up to the snapshot day, the last one of
    which anything is known; rejected: it ends in T or earlier.
    """
    if time.specifier == "between" and time.first and time.last:
        return _select_between(time.first, time.last, spans)
    if time.specifier == "before" and time.last:
        return _select_before(time.last.first, spans)
    if time.specifier == "after" and time.first:
        return _select_after(time.first.last, spans, snapshot)
    assert time.first
    return _select_in(time.first.first, time.first.last, spans)


def select_touching(time: Time, spans: Sequence[Bounds]) -> list[int] | None:
    """The indexes of the spans that hold on some day of a `between`, its two units included.

    None: one or more are in doubt. This is wider than `select`, which leaves out what ends in A or
    begins in B: right for the boundaries of a segment, but what else holds in A or B inside one
    holds at the same time.
    """
    assert time.first and time.last
    return _select_in(time.first.first, time.last.last, spans)


def _select_in(first: int, last: int, spans: Sequence[Bounds]) -> list[int] | None:
    chosen = []
    for i, (start_first, start_last, end_first, end_last, _) in enumerate(spans):
        if start_last <= last and end_first >= first:
            chosen.append(i)
        elif start_first <= last and end_last >= first:
            return None
    return chosen


def _select_between(a: TimeUnit, b: TimeUnit, spans: Sequence[Bounds]) -> list[int] | None:
    _, _, a_first, a_last = a
    _, _, b_first, b_last = b
    room = b_first - a_last > 1
    chosen = []
    for i, (start_first, start_last, end_first, end_last, is_open) in enumerate(spans):
        if start_first > b_last or end_last < a_first:
            continue
        if (
            (room and start_last < b_first and end_first > a_last)
            or (start_last <= a_first and end_first >= b_last)
            or (
                a_first <= start_first
                and start_last <= a_last
                and b_first <= end_first
                and end_last <= b_last
            )
        ):
            chosen.append(i)
            continue
        predecessor = start_last < a_first and end_last <= a_last
        successor = start_first >= b_first and (is_open or end_first > b_last)
        if not predecessor and not successor:
            return None
    return chosen


def _select_before(first: int, spans: Sequence[Bounds]) -> list[int] | None:
    chosen = []
    for i, span in enumerate(spans):
        if span.start_last < first:
            chosen.append(i)
        elif span.start_first < first:
            return None
    return chosen


def _select_after(last: int, spans: Sequence[Bounds], snapshot: int) -> list[int] | None:
    chosen = []
    for i, span in enumerate(spans):
        if span.end_first > last and span.start_last <= snapshot and last < snapshot:
            chosen.append(i)
        elif span.end_last > last:
            return None
    return chosen


class Timeline:
    """The segments and gaps of one pair as numbers.

    `spans`: of the segments, then of the gaps. `starts`, `ends`: the boundaries of each segment
    that can be printed, None where unknown, coarser than a year, or not a stated day, month or
    year. The end of an open segment, and one inferred from a successor, is never printed. `ended`:
    the last end is stated, by the data and by the page where it names the segment's object; after
    another one nobody said that nothing held.
    """

    def __init__(self, segments: Sequence[AlignedSegment], gaps: Sequence[Gap]) -> None:
        self.spans = [bounds(s) for s in segments] + [gap_bounds(g) for g in gaps]
        self.open = [s.end_open for s in segments]
        self.starts = [stated_unit(s.start_first, s.start_last) for s in segments]
        self.ends = [
            None if s.end_open or s.end_inferred else stated_unit(s.end_first, s.end_last)
            for s in segments
        ]
        self.snapshot = max((s.snapshot.toordinal() for s in segments), default=0)
        self.first = min((s.start_first for s in self.spans), default=-FAR)
        self.last = max((s.end_last for s in self.spans), default=FAR)
        at_last = zip(segments, self.spans, strict=False)
        self.ended = not any(
            b.end_last == self.last and (s.end_inferred or (s.end_stated is False))
            for s, b in at_last
        )

    def is_of_segment(self, place: int, day: int) -> bool:
        """Whether a bound of some segment, and not of a gap alone, is this day."""
        return any(s[place] == day for s in self.spans[: len(self.open)])

    def inside(self, i: int) -> tuple[int, int]:
        """The days strictly between the boundaries of a segment, up to the snapshot day."""
        span = self.spans[i]
        return span.start_last + 1, min(span.end_first - (not span.open), self.snapshot)


def easy_times(line: Timeline, i: int, pointwise: bool, short: int) -> list[Time]:
    """The times of easy questions about a segment, from its own boundaries, the best first.

    There are none where no boundary can be printed. `short`: a segment of fewer days is asked about
    by its first month.
    """
    a, b = line.starts[i], line.ends[i]
    span = line.spans[i]
    if line.open[i] and a:
        if pointwise:
            return [_in_unit(a)]
        return [Time("after", a, None), _in_unit(a)]
    if pointwise or a is None or b is None or a == b:
        known = a or b
        return [_in_unit(known)] if known else []
    if span.end_last - span.start_first < short and a.grain != YEAR:
        return [_in_unit(unit(MONTH, index(MONTH, a.first)))]
    if a.last >= b.first:
        return [_in_unit(a if a.grain > b.grain else b)]
    return [Time("between", a, b)]


def hard_time(
    line: Timeline, i: int, kind: HardKind, pointwise: bool, months: float, draws: Draws
) -> Time | None:
    """The time of a hard question about a segment, of this kind; None: none has room.

    The time lies inside the segment. `before` is only asked of the first segment, at a moment
    inside it or at its end, `after` only of the last one, at a moment inside it or at its start.
    `pointwise`: a point in time has no inside, so `between` names a unit before it and one after
    it, `before` a later unit, `after` an earlier one and `decade` the part that it lies in.
    `months`: the chance that a month is named where a year would do.
    """
    if kind == "before" and line.spans[i].start_first != line.first:
        return None
    if kind == "after" and line.spans[i].end_last != line.last:
        return None
    by_month = draws.below(_THOUSAND) < months * _THOUSAND
    if kind == "decade":
        return _draw_part(line, i, pointwise, draws)
    if pointwise:
        return _around_point(line, i, kind, by_month, draws)
    first, last = line.inside(i)
    if kind == "between":
        return _draw_between(first, last, by_month, draws)
    edge = _edge(line, i, kind)
    fine = edge is not None and (edge.grain != YEAR or not by_month)
    drawn = None if fine and draws.below(2) else _draw_unit(first, last, by_month, draws)
    moment = drawn or edge
    if moment is None:
        return None
    if kind == "before":
        return Time("before", None, moment)
    return Time("after", moment, None) if kind == "after" else _in_unit(moment)


def outside_time(
    line: Timeline, years: int, months: float, life: tuple[int, int], draws: Draws
) -> Time | None:
    """A time at most `years` years before the first segment or gap of a pair, or after the last.

    It ends by the snapshot day and lies in the `life` of the subject (first and last day), before
    the first segment also after its youth. None: the first start or that of the life, and the last
    end, are unknown, or no unit of time has room.
    """
    reach = years * 1461 // 4
    born, until = life[0] + _YOUTH, min(line.snapshot, life[1])
    sides = []
    if min(line.first, life[0]) > -FAR and line.is_of_segment(0, line.first):
        sides.append((max(line.first - reach, born), min(line.first - 1, until)))
    if line.last < FAR and line.ended and line.is_of_segment(3, line.last):
        sides.append((line.last + 1, min(line.last + reach, until)))
    if not sides:
        return None
    first, last = sides[draws.below(len(sides))]
    by_month = draws.below(_THOUSAND) < months * _THOUSAND
    if draws.below(2) and (two := _draw_between(first, last, by_month, draws)):
        return two
    moment = _draw_unit(first, last, by_month, draws)
    return _in_unit(moment) if moment else None


def _draw_unit(first: int, last: int, by_month: bool, draws: Draws) -> TimeUnit | None:
    """A month or year that lies wholly in these days."""
    grain, units = _units(first, last, 1, by_month)
    return unit(grain, units[draws.below(len(units))]) if units else None


def _draw_between(first: int, last: int, by_month: bool, draws: Draws) -> Time | None:
    """Two months or years in these days, the first before the second."""
    grain, units = _units(first, last, 2, by_month)
    if not units:
        return None
    a, b = draws.below(len(units)), draws.below(len(units) - 1)
    b += b >= a
    return Time("between", unit(grain, units[min(a, b)]), unit(grain, units[max(a, b)]))


def _units(first: int, last: int, least: int, by_month: bool) -> tuple[int, range]:
    """A grain of which at least so many units lie in these days, and their indexes, or none."""
    months, years = units_within(first, last)
    if len(years) >= least and not by_month:
        return YEAR, years
    return MONTH, months if len(months) >= least else range(0)


def _draw_part(line: Timeline, i: int, pointwise: bool, draws: Draws) -> Time | None:
    """An early or late part of a decade: inside a segment, or the one that holds a point."""
    if pointwise:
        at = line.starts[i] or line.ends[i]
        first, last = (at.first, at.last) if at else (1, 0)
    else:
        first, last = line.inside(i)
    first, last = max(first, _ERA), min(last, _MOST)
    if first > last:
        return None
    numbers = range(_date(first).year // 10 * 2, _date(last).year // 10 * 2 + 2)
    found = [
        part
        for part in (unit(PART, number) for number in numbers)
        if (
            part.first <= first and last <= part.last
            if pointwise
            else first <= part.first and part.last <= last
        )
    ]
    return _in_unit(found[draws.below(len(found))]) if found else None


def _around_point(
    line: Timeline, i: int, kind: HardKind, by_month: bool, draws: Draws
) -> Time | None:
    """A time that something of one point in time lies between, before or after."""
    at = line.starts[i] or line.ends[i]
    if at is None or kind == "in" or not _EDGE < at.first < date.max.toordinal() - _EDGE:
        return None
    if at.grain == DAY:
        at = unit(MONTH, index(MONTH, at.first))
    if at.grain == YEAR and by_month:
        months = 12 * _AROUND
        earlier = unit(MONTH, index(MONTH, at.first) - 1 - draws.below(months))
        later = unit(MONTH, index(MONTH, at.last) + 1 + draws.below(months))
    else:
        earlier = unit(at.grain, at.number - 1 - draws.below(_AROUND))
        later = unit(at.grain, at.number + 1 + draws.below(_AROUND))
    if kind == "between":
        return Time("between", earlier, later)
    return Time("before", None, later) if kind == "before" else Time("after", earlier, None)


def _edge(line: Timeline, i: int, kind: HardKind) -> TimeUnit | None:
    """The end of a segment, for `before`, or its start, for `after`; None: unfit.

    It is unfit where the segment need not reach beyond it. An open segment has no `after` its
    start, for that is its easy question.
    """
    span = line.spans[i]
    if kind == "before" and (end := line.ends[i]) and span.start_last < end.first:
        return end
    if kind == "after" and not span.open and (begun := line.starts[i]):
        return begun if span.end_first > begun.last else None
    return None


def _in_unit(at: TimeUnit) -> Time:
    return Time("in", at, at)


@lru_cache(1 << 16)
def unit_text(unit: TimeUnit) -> str:
    """`5 May 2005`, `May 2005`, `2005`, `the early 1990s`; `AD 37`."""
    if unit.grain == PART:
        form = ("early_decade", "late_decade")[unit.number % 2]
        return dates.written(date(unit.number // 2 * 10, 1, 1), form)
    return dates.written(date.fromordinal(unit.first), _FORMS[unit.grain])


def time_text(time: Time, easy: bool) -> str:
    """A time in words: in 2005, on 5 May 2005, before June 2009, after 2010.

    Two units are `from 2003 to 2009` where they are a segment's own boundaries (easy), else
    `between 2003 and 2009`.
    """
    first, last = time.first, time.last
    if time.specifier == "before" and last:
        return dates.asked("before", last=unit_text(last))
    assert first
    if time.specifier == "after" or last is None:
        return dates.asked("after", unit_text(first))
    if time.specifier == "in":
        return dates.asked("on" if first.grain == DAY else "in", unit_text(first))
    return dates.asked("from" if easy else "between", unit_text(first), unit_text(last))
