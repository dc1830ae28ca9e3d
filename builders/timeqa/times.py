"""The times that questions ask about: what they select, how they are drawn, how they are worded.

A unit of time is a whole day, month, year or part of a decade, an interval of days. A segment is
known up to readings: its start is some day of [start_first, start_last], its end one of [end_first,
end_last], the start not after the end. A specifier *selects* a segment if the segment answers it
under every reading, *rejects* it if under none; all else is *in doubt*. Days are ordinals, as of
`date.toordinal`; an unknown bound is None (see `builders.facts.intervals`).

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

from factdrift.builders.core.hashing import RandomStream
from factdrift.builders.facts.intervals import Certainty, Interval, segment_interval
from factdrift.builders.rows import AlignedSegment, Gap, Segment, Specifier
from factdrift.builders.text import dates

DAY, MONTH, YEAR, PART = 0, 1, 2, 3
"""Grains, from fine to coarse; a part is the years 0 to 3 or 7 to 9 of a decade."""
HardKind = Literal["in", "between", "before", "after", "decade"]
"""What a hard question may ask: a specifier, or *in* the early or late part of a decade."""
FAR = 10**9
"""The number of an unknown boundary in the seeds of draws."""
_FORMS = {DAY: "day", MONTH: "month", YEAR: "year"}
_PARTS = ((0, 3), (7, 9))
"""First and last year of the early and of the late part of a decade."""
_ERA = date(1000, 1, 1).toordinal()
"""No part of a decade before this day has a name."""
_MOST = date.max.toordinal()
_SHORT = 62
"""A segment of fewer days gives `in` its first month."""
_AROUND = 4 * 366
"""Days before and after a point in time from which questions about it take their units."""
_REACH = 3653
"""Days before a pair's first day, or after its last, in which nothing may be asked for."""
_YOUTH = 18 * 366
"""Days after its beginning in which nobody asks what a subject did, nor who led it."""
_THOUSAND = 1000

_date = lru_cache(1 << 16)(date.fromordinal)
DayRange = tuple[int, int]
"""First and last day, as ordinals."""


class TimeUnit(NamedTuple):
    """A unit of time; `number` is its index among the units of its grain (see `unit`)."""

    grain: int
    number: int
    first: int
    last: int


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
        first = date(number // 12, number % 12 + 1, 1)
        following = date((number + 1) // 12, (number + 1) % 12 + 1, 1)
        return TimeUnit(MONTH, number, first.toordinal(), following.toordinal() - 1)
    years = number, number
    if grain == PART:
        begins, ends = _PARTS[number % 2]
        years = number // 2 * 10 + begins, number // 2 * 10 + ends
    first, last = date(years[0], 1, 1), date(years[1], 12, 31)
    return TimeUnit(grain, number, first.toordinal(), last.toordinal())


def unit_index(grain: int, day: int) -> int:
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
    day_range = first.toordinal(), last.toordinal()
    for grain in (DAY, MONTH, YEAR):
        time_unit = unit(grain, unit_index(grain, day_range[0]))
        if (time_unit.first, time_unit.last) == day_range:
            return time_unit
    return None


def day_interval(one: Segment | Gap) -> Interval[int]:
    """The interval of a segment or gap in ordinals, each boundary narrowed by the other.

    An open segment holds until its snapshot day, maybe longer.
    """
    dates = segment_interval(one)
    days = [None if day is None else day.toordinal() for day in dates.boundaries]
    end_last = None if dates.is_open else days[3]
    is_open = dates.is_open and not dates.doubtful
    return Interval(days[0], days[1], days[2], end_last, dates.doubtful, is_open).narrowed()


def seed_numbers(interval: Interval[int]) -> tuple[int, int, int, int]:
    """What an interval is called in the seeds of draws; other numbers would draw other questions.

    An unknown boundary is `FAR` days away, and so are the last start and first end of what is
    doubtful.
    """
    start_first, start_last, end_first, end_last = interval.boundaries
    return (
        -FAR if start_first is None else start_first,
        FAR if start_last is None or interval.doubtful else start_last,
        -FAR if end_first is None or interval.doubtful else end_first,
        FAR if end_last is None else end_last,
    )


def select(
    time: Time, spans: Sequence[Interval[int]], snapshot: int, touching: bool = False
) -> list[int] | None:
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

    `touching`: `between` selects what holds on some day of it, its two units included: right
    inside a segment, where what else holds in A or B holds at the same time.
    """
    chosen = []
    for i, span in enumerate(spans):
        answer = _answers(time, span, snapshot, touching)
        if answer is Certainty.CERTAIN:
            chosen.append(i)
        elif answer is Certainty.POSSIBLE:
            return None
    return chosen


def _answers(time: Time, span: Interval[int], snapshot: int, touching: bool) -> Certainty:
    """Whether a span answers a time; see `select` for the rules."""
    kind, first, last = time
    if kind == "before":
        assert last
        return span.begins_by(last.first - 1)
    if kind == "after":
        assert first
        answer = span.lasts_until(first.last + 1)
        known = first.last < snapshot and span.begins_by(snapshot) is Certainty.CERTAIN
        return answer if known or answer is Certainty.NO else Certainty.POSSIBLE
    assert first and last
    inside = span.holds_within(first.first, last.last)
    if kind == "in" or touching or inside is Certainty.NO:
        return inside
    return _answers_between(first, last, span)


def _answers_between(first: TimeUnit, last: TimeUnit, span: Interval[int]) -> Certainty:
    """Whether a span that may hold from one unit to another answers *between* them."""
    has_room = last.first - first.last > 1
    if has_room and span.holds_within(first.last + 1, last.first - 1) is Certainty.CERTAIN:
        return Certainty.CERTAIN
    if span.holds_throughout(first.first, last.last) is Certainty.CERTAIN:
        return Certainty.CERTAIN
    starts = span.starts_within(first.first, first.last)
    if starts is Certainty.CERTAIN is span.ends_within(last.first, last.last):
        return Certainty.CERTAIN
    is_predecessor = (
        span.begins_by(first.first - 1) is Certainty.CERTAIN
        and span.lasts_until(first.last + 1) is Certainty.NO
    )
    is_successor = span.begins_by(last.first - 1) is Certainty.NO and (
        span.is_open or span.lasts_until(last.last + 1) is Certainty.CERTAIN
    )
    return Certainty.NO if is_predecessor or is_successor else Certainty.POSSIBLE


class Timeline:
    """The segments and gaps of one pair as numbers.

    `spans`: of the segments, then of the gaps. `starts`, `ends`: the boundaries of each segment
    that can be printed, None where unknown, coarser than a year, or not a stated day, month or
    year. The end of an open segment, and one inferred from a successor, is never printed.
    `begun`, `ended`: the first start and the last end are of a segment and stated by the page;
    beside others nobody said that nothing held.
    """

    def __init__(self, segments: Sequence[AlignedSegment], gaps: Sequence[Gap]) -> None:
        self.spans = [*map(day_interval, segments), *map(day_interval, gaps)]
        self.open = [segment.end_open for segment in segments]
        self.starts = [stated_unit(item.start_first, item.start_last) for item in segments]
        self.ends = [_printed_end(segment) for segment in segments]
        self.snapshot = max((segment.snapshot.toordinal() for segment in segments), default=0)
        starts = [span.start_first for span in self.spans]
        ends = [span.end_last for span in self.spans]
        known_starts = [day for day in starts if day is not None]
        known_ends = [day for day in ends if day is not None]
        # Unknown where one of them is: that one may lie outside of all others.
        self.first = min(known_starts, default=None) if None not in starts else None
        self.last = max(known_ends, default=None) if None not in ends else None
        first_starts, last_ends = [], []
        for segment, span in zip(segments, self.spans, strict=False):
            if span.start_first == self.first:
                first_starts.append(segment.start_stated)
            if span.end_last == self.last:
                last_ends.append(segment.end_stated and not segment.end_inferred)
        self.begun = bool(first_starts) and all(first_starts)
        self.ended = bool(last_ends) and all(last_ends)

    def inside(self, index: int) -> DayRange:
        """The days strictly between the boundaries of a segment, up to the snapshot day."""
        span = self.spans[index]
        first, last = _MOST + 1, 0  # no day, where no day is sure
        if span.start_last is not None and not span.doubtful:
            first = span.start_last + 1
        if span.end_first is not None and not span.doubtful:
            last = min(span.end_first - (not span.is_open), self.snapshot)
        return first, last


def _printed_end(segment: AlignedSegment) -> TimeUnit | None:
    """The unit in which a segment ended, if questions may print it."""
    if segment.end_open or segment.end_inferred:
        return None
    return stated_unit(segment.end_first, segment.end_last)


def easy_times(timeline: Timeline, segment_index: int, pointwise: bool) -> list[Time]:
    """The times of easy questions about a segment, from its own boundaries, the best first.

    There are none where no boundary can be printed.
    """
    start_unit, end_unit = timeline.starts[segment_index], timeline.ends[segment_index]
    if timeline.open[segment_index] and start_unit:
        in_start = _in_unit(start_unit)
        return [in_start] if pointwise else [Time("after", start_unit, None), in_start]
    if pointwise or start_unit is None or end_unit is None or start_unit == end_unit:
        known_unit = start_unit or end_unit
        return [_in_unit(known_unit)] if known_unit else []
    if end_unit.last - start_unit.first < _SHORT and start_unit.grain != YEAR:
        return [_in_unit(unit(MONTH, unit_index(MONTH, start_unit.first)))]
    if start_unit.last >= end_unit.first:
        return [_in_unit(start_unit if start_unit.grain > end_unit.grain else end_unit)]
    return [Time("between", start_unit, end_unit)]


def hard_time(
    timeline: Timeline,
    segment_index: int,
    kind: HardKind,
    pointwise: bool,
    months: float,
    draws: RandomStream,
) -> Time | None:
    """The time of a hard question about a segment, of this kind; None: none has room.

    The time lies inside the segment; but of the first segment, of which alone it is asked,
    `before` may name a time up to its last day, and of the last one `after` a time from its first
    day on (of an open one from the day after, as its easy question names its start).
    `pointwise`: a point in time has no inside, so `between` names a unit before it and one after
    it, `before` a later unit, `after` an earlier one and `decade` the part that it lies in.
    `months`: the chance that a month is named where a year would do.
    """
    span, inside = timeline.spans[segment_index], timeline.inside(segment_index)
    if kind == "before" and span.start_first != timeline.first:
        return None
    if kind == "after" and span.end_last != timeline.last:
        return None
    by_month = draws.next_below(_THOUSAND) < months * _THOUSAND
    start_unit, end_unit = timeline.starts[segment_index], timeline.ends[segment_index]
    if pointwise:
        return _hard_time_of_point(start_unit or end_unit, kind, by_month, draws)
    if kind == "decade":
        return _decade_part_within(inside, draws)
    if kind == "before" and end_unit:
        inside = inside[0], min(end_unit.last, timeline.snapshot)
    if kind == "after" and not span.is_open and start_unit:
        inside = start_unit.first, inside[1]
    return _draw_time(kind, inside, inside, by_month, draws)


def _decade_part_within(days: DayRange, draws: RandomStream) -> Time | None:
    """One of the early and late parts of decades that lie wholly in these days."""
    first, last = days
    parts = [part for part in _parts(first, last) if first <= part.first and part.last <= last]
    return _in_unit(parts[draws.next_below(len(parts))]) if parts else None


def _hard_time_of_point(
    point: TimeUnit | None, kind: HardKind, by_month: bool, draws: RandomStream
) -> Time | None:
    """The time of a hard question about a point in time; see `hard_time`."""
    if point is None or kind == "in":
        return None
    if kind == "decade":
        for part in _parts(point.first, point.last):
            if part.first <= point.first and point.last <= part.last:
                return _in_unit(part)
        return None
    earlier = point.first - _AROUND, point.first - 1
    return _draw_time(kind, earlier, (point.last + 1, point.last + _AROUND), by_month, draws)


def outside_time(
    timeline: Timeline, months: float, life: tuple[date | None, date | None], draws: RandomStream
) -> Time | None:
    """A time at most ten years before the first segment of a pair, or after the last.

    It ends by the snapshot day and lies in the `life` of the subject (first and last day), before
    the first segment also after its youth. None: the page states neither the first start, nor the
    last end, or no unit of time has room.
    """
    until = min(timeline.snapshot, life[1].toordinal()) if life[1] else timeline.snapshot
    sides = []
    if timeline.begun and timeline.first is not None and life[0]:
        born = life[0].toordinal() + _YOUTH
        sides.append((max(timeline.first - _REACH, born), min(timeline.first - 1, until)))
    if timeline.ended and timeline.last is not None:
        sides.append((timeline.last + 1, min(timeline.last + _REACH, until)))
    if not sides:
        return None
    side = sides[draws.next_below(len(sides))]
    by_month = draws.next_below(_THOUSAND) < months * _THOUSAND
    two = _draw_time("between", side, side, by_month, draws) if draws.next_below(2) else None
    return two or _draw_time("in", side, side, by_month, draws)


def _draw_time(
    kind: HardKind, earlier: DayRange, later: DayRange, by_month: bool, draws: RandomStream
) -> Time | None:
    """A time of months or years: `after` and `in` take theirs from the earlier days.

    `before` takes its unit from the later days, `between` one from each, the first before the
    second. A month is named where the days hold no year, or not two of them.
    """
    earlier_units = units_within(*earlier)
    later_units = earlier_units if later == earlier else units_within(*later)
    min_count = 2 if kind == "between" and earlier == later else 1
    grain = YEAR
    first_numbers, second_numbers = earlier_units[1], later_units[1]
    if by_month or len(first_numbers) < min_count or len(second_numbers) < min_count:
        grain, first_numbers, second_numbers = MONTH, earlier_units[0], later_units[0]
    if len(first_numbers) < min_count or len(second_numbers) < min_count:
        return None
    first_number, second_number = (
        first_numbers[draws.next_below(len(first_numbers))],
        second_numbers[draws.next_below(len(second_numbers))],
    )
    if kind == "before":
        return Time("before", None, unit(grain, second_number))
    if kind != "between":
        return (
            Time("after", unit(grain, first_number), None)
            if kind == "after"
            else _in_unit(unit(grain, first_number))
        )
    if first_number == second_number:
        first_number = first_numbers[
            (first_numbers.index(first_number) + 1 + draws.next_below(len(first_numbers) - 1))
            % len(first_numbers)
        ]
    return Time(
        "between",
        unit(grain, min(first_number, second_number)),
        unit(grain, max(first_number, second_number)),
    )


def _parts(first: int, last: int) -> list[TimeUnit]:
    """The early and late parts of the decades that these days touch."""
    first, last = max(first, _ERA), min(last, _MOST)
    if first > last:
        return []
    numbers = range(_date(first).year // 10 * 2, _date(last).year // 10 * 2 + 2)
    return [unit(PART, number) for number in numbers]


def _in_unit(time_unit: TimeUnit) -> Time:
    return Time("in", time_unit, time_unit)


@lru_cache(1 << 16)
def unit_text(unit: TimeUnit) -> str:
    """`5 May 2005`, `May 2005`, `2005`, `the early 1990s`; `AD 37`."""
    if unit.grain == PART:
        form = ("early_decade", "late_decade")[unit.number % 2]
        return dates.format_date(date(unit.number // 2 * 10, 1, 1), form)
    return dates.format_date(date.fromordinal(unit.first), _FORMS[unit.grain])


def time_text(time: Time, easy: bool) -> str:
    """A time in words: in 2005, on 5 May 2005, before June 2009, after 2010.

    Two units are `from 2003 to 2009` where they are a segment's own boundaries (easy), else
    `between 2003 and 2009`.
    """
    first, last = time.first, time.last
    if time.specifier == "before" and last:
        return dates.with_preposition("before", last=unit_text(last))
    assert first
    if time.specifier == "after" or last is None:
        return dates.with_preposition("after", unit_text(first))
    if time.specifier == "in":
        return dates.with_preposition("on" if first.grain == DAY else "in", unit_text(first))
    return dates.with_preposition("from" if easy else "between", unit_text(first), unit_text(last))
