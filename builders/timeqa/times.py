"""The times that questions ask about: what they select, how they are drawn, how they are worded.

A unit of time is a whole day, month, year or part of a decade. A segment has several readings: it
starts on some day of [start_first, start_last] and ends on some day of [end_first, end_last], and
it does not start after its end. A specifier *selects* a segment that answers it under every
reading, and *rejects* a segment that answers it under none. All other segments are *in doubt*. Days
are ordinals as `date.toordinal` gives them; an unknown bound is None (see
`builders.facts.intervals`).

Easy questions print the boundaries of a segment, hard ones moments inside it. Such a moment may be
finer than the boundaries, for it is certain: June 2004 is inside 2003 to 2005. The seed of a draw
is a hash of the segment that is asked about, never of earlier draws, so that a question does not
depend on the rows around it.

After: TimeQA (paper 001), section 2.2 (in, between, before, after); the rules are ours.
"""

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple

from factdrift.builders.core.hashing import RandomStream
from factdrift.builders.facts.intervals import Certainty, Interval, segment_interval
from factdrift.builders.rows import AlignedSegment, Gap, Segment, Specifier
from factdrift.builders.text import dates

DAY, MONTH, YEAR, PART = 0, 1, 2, 3
"""The grains of units, from fine to coarse. A part is three or four years of a decade."""
HardKind = Literal["in", "between", "before", "after", "decade"]
"""A hard question asks with a specifier, or *in* the early or late part of a decade."""
FAR = 10**9
"""The number of an unknown boundary in the seeds of draws."""
_FORMS = {DAY: "day", MONTH: "month", YEAR: "year"}
# First and last year of the early and of the late part of a decade, by the last digit: the early
# 1990s are 1990 to 1993, the late 1990s 1997 to 1999. The paper does not say which years it means.
_PARTS = ((0, 3), (7, 9))
# No part of a decade before this day has a usual name: `the early 940s` is none.
_FIRST_DECADE_DAY = date(1000, 1, 1).toordinal()
_LAST_DAY = date.max.toordinal()
# A segment of fewer days is asked about by its first month: two months have 62 days at most, and
# `between 5 May 2005 and 3 June 2005` would be an odd question.
_SHORT = 62
# Days before and after a point in time from which questions about it take their units: four years,
# a guess; further away `before` and `after` would not be about this point any more.
_AROUND = 4 * 366
# Days before a pair's first day or after its last that questions without an answer may ask about:
# ten years.
_REACH = 3653
# Days after the beginning of a subject in which nobody asks what it did, nor who led it: for a
# person these are the first 18 years, without an office or employer.
_YOUTH = 18 * 366
# Chances of months are drawn in thousandths.
_THOUSAND = 1000

_date = lru_cache(1 << 16)(date.fromordinal)
DayRange = tuple[int, int]
"""First and last day, as ordinals."""


class TimeUnit(NamedTuple):
    """A whole unit of time with its first and last day.

    `number` is the index of the unit among the units of its grain (see `unit`).
    """

    grain: int
    number: int
    first: int
    last: int


class Time(NamedTuple):
    """A specifier with its units.

    `in` has the same unit twice, `before` has no first unit, and `after` has no last one.
    """

    specifier: Specifier
    first: TimeUnit | None
    last: TimeUnit | None

    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day that the time asks about; None where it is open on that side.

        `in` and `between` include their units. `before 2005` ends on the last day of 2004, and
        `after 2005` begins on the first day of 2006.
        """
        if self.specifier == "before" and self.last:
            return None, _date(self.last.first - 1)
        if self.specifier == "after" and self.first:
            return _date(self.first.last + 1), None
        assert self.first and self.last
        return _date(self.first.first), _date(self.last.last)


@lru_cache(1 << 16)
def unit(grain: int, number: int) -> TimeUnit:
    """The unit of a grain with this index.

    A day has its ordinal as index, a month `year * 12 + month - 1`, and a year itself. The early
    part of a decade has `decade * 2` (398 for the early 1990s), the late part one more.
    """
    if grain == DAY:
        return TimeUnit(DAY, number, number, number)
    if grain == MONTH:
        first = date(number // 12, number % 12 + 1, 1)
        next_month = date((number + 1) // 12, (number + 1) % 12 + 1, 1)
        return TimeUnit(MONTH, number, first.toordinal(), next_month.toordinal() - 1)
    years = number, number
    if grain == PART:
        first_year, last_year = _PARTS[number % 2]
        years = number // 2 * 10 + first_year, number // 2 * 10 + last_year
    first, last = date(years[0], 1, 1), date(years[1], 12, 31)
    return TimeUnit(grain, number, first.toordinal(), last.toordinal())


def unit_index(grain: int, day: int) -> int:
    """The index of the day, month or year that a day lies in (see `unit`)."""
    if grain == DAY:
        return day
    calendar_day = date.fromordinal(day)
    return calendar_day.year if grain == YEAR else calendar_day.year * 12 + calendar_day.month - 1


def units_within(first: int, last: int) -> tuple[range, range]:
    """The indexes of the months and of the years that lie wholly in these days."""
    # The calendar's first and last days have no neighbours that `date` can hold.
    first, last = max(first, 2), min(last, _LAST_DAY - 366)
    if first > last:
        return range(0), range(0)
    day_before, day_after = date.fromordinal(first - 1), date.fromordinal(last + 1)
    months = range(
        day_before.year * 12 + day_before.month, day_after.year * 12 + day_after.month - 1
    )
    return months, range(day_before.year + 1, day_after.year)


@lru_cache(1 << 16)
def stated_unit(first: date | None, last: date | None) -> TimeUnit | None:
    """The day, month or year that a boundary with this first and last day states.

    Returns None where the boundary is unknown, or where its days are no such unit (a decade, a
    quarter). The first and the last day of the calendar stand for all time beyond it, so they do
    not count as units either.
    """
    if first is None or last is None or first == date.min or last.year == date.max.year:
        return None
    day_range = first.toordinal(), last.toordinal()
    for grain in (DAY, MONTH, YEAR):
        time_unit = unit(grain, unit_index(grain, day_range[0]))
        if (time_unit.first, time_unit.last) == day_range:
            return time_unit
    return None


def day_interval(segment_or_gap: Segment | Gap) -> Interval[int]:
    """Return the interval of a segment or gap with days as ordinals, for arithmetic with times.

    The tables end an open segment with the day of the dump, as no dump knows more. Here its last
    possible end is unknown, because the fact may go on after that day. Each boundary is narrowed by
    the other one (see `intervals`).
    """
    dates = segment_interval(segment_or_gap)
    boundary_days = [None if day is None else day.toordinal() for day in dates.boundaries]
    end_last = None if dates.is_open else boundary_days[3]
    # Whoever asks for `is_open` takes the fact to hold at the snapshot. A rival or a gap may never
    # have held, so it does not count as open.
    is_open = dates.is_open and not dates.doubtful
    return Interval(
        boundary_days[0], boundary_days[1], boundary_days[2], end_last, dates.doubtful, is_open
    ).narrowed()


def seed_numbers(interval: Interval[int]) -> tuple[int, int, int, int]:
    """The four numbers that stand for an interval in the seeds of draws.

    An unknown boundary is `FAR` days away. So are the last start and the first end of a doubtful
    interval. Other numbers would draw other questions.
    """
    start_first, start_last, end_first, end_last = interval.boundaries
    return (
        -FAR if start_first is None else start_first,
        FAR if start_last is None or interval.doubtful else start_last,
        -FAR if end_first is None or interval.doubtful else end_first,
        FAR if end_last is None else end_last,
    )


def select(
    time: Time, spans: Sequence[Interval[int]], snapshot: int, counts_touching: bool = False
) -> list[int] | None:
    """The indexes of the spans that a time selects, ascending, or None where one is in doubt.

    - *in T* selects a span that certainly holds on some day of T. It rejects a span that holds on
      no day of T under any reading.
    - *between A and B* (and *from A to B*) selects a span that certainly holds on a day after A and
      before B, one that certainly starts in A and ends in B, and one that certainly holds from A's
      first day to B's last. It rejects a span that touches the days from A to B under no reading.
      It also rejects one that only touches them: a predecessor, which began before A and ends in A
      or earlier, and a successor, which starts in B or later and ends after B or is open.
    - *before T* selects a span that certainly holds on some day before T. It rejects a span that
      starts in T or later.
    - *after T* selects a span that certainly holds on some day after T up to the snapshot day, as
      nothing is known of later days. It rejects a span that ends in T or earlier.

    With `counts_touching` *between* selects every span that holds on some day from A's first to B's
    last. This is right where A and B lie inside a segment: whatever else holds in A or B then holds
    at the same time as the segment.
    """
    selected_indexes = []
    for span_index, span in enumerate(spans):
        answer = _answers(time, span, snapshot, counts_touching)
        if answer is Certainty.CERTAIN:
            selected_indexes.append(span_index)
        elif answer is Certainty.POSSIBLE:
            return None
    return selected_indexes


def _answers(time: Time, span: Interval[int], snapshot: int, counts_touching: bool) -> Certainty:
    """Whether a span certainly, possibly or never answers a time; see `select` for the rules."""
    specifier, first_unit, last_unit = time
    if specifier == "before":
        assert last_unit
        return span.begins_by(last_unit.first - 1)
    if specifier == "after":
        assert first_unit
        certainty = span.lasts_until(first_unit.last + 1)
        is_known = first_unit.last < snapshot and span.begins_by(snapshot) is Certainty.CERTAIN
        return certainty if is_known or certainty is Certainty.NO else Certainty.POSSIBLE
    assert first_unit and last_unit
    inside = span.holds_within(first_unit.first, last_unit.last)
    if specifier == "in" or counts_touching or inside is Certainty.NO:
        return inside
    return _answers_between(first_unit, last_unit, span)


def _answers_between(first_unit: TimeUnit, last_unit: TimeUnit, span: Interval[int]) -> Certainty:
    """Whether a span that may hold from one unit to another answers *between* them."""
    has_room = last_unit.first - first_unit.last > 1
    if (
        has_room
        and span.holds_within(first_unit.last + 1, last_unit.first - 1) is Certainty.CERTAIN
    ):
        return Certainty.CERTAIN
    if span.holds_throughout(first_unit.first, last_unit.last) is Certainty.CERTAIN:
        return Certainty.CERTAIN
    starts = span.starts_within(first_unit.first, first_unit.last)
    if starts is Certainty.CERTAIN is span.ends_within(last_unit.first, last_unit.last):
        return Certainty.CERTAIN
    is_predecessor = (
        span.begins_by(first_unit.first - 1) is Certainty.CERTAIN
        and span.lasts_until(first_unit.last + 1) is Certainty.NO
    )
    is_successor = span.begins_by(last_unit.first - 1) is Certainty.NO and (
        span.is_open or span.lasts_until(last_unit.last + 1) is Certainty.CERTAIN
    )
    return Certainty.NO if is_predecessor or is_successor else Certainty.POSSIBLE


class Timeline:
    """The segments and gaps of one pair as numbers.

    `spans` are the intervals of the segments and then those of the gaps. `starts` and `ends` are
    the boundaries of the segments that questions may print; a boundary is None where it is unknown
    or no stated day, month or year. The end of an open segment is never printed, nor is an end that
    was inferred from a successor. `first` and `last` are the outermost days, or None. `begun` tells
    that the first start is that of a segment and that the page states it, and `ended` tells the
    same of the last end. Only then does anybody say that nothing held before or after.
    """

    def __init__(self, segments: Sequence[AlignedSegment], gaps: Sequence[Gap]) -> None:
        self.spans = [*map(day_interval, segments), *map(day_interval, gaps)]
        self.open = [segment.end_open for segment in segments]
        self.starts = [stated_unit(item.start_first, item.start_last) for item in segments]
        self.ends = [_printed_end(segment) for segment in segments]
        self.snapshot = max((segment.snapshot.toordinal() for segment in segments), default=0)
        self.first = _outermost(min, [span.start_first for span in self.spans])
        self.last = _outermost(max, [span.end_last for span in self.spans])
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
        first_day, last_day = _LAST_DAY + 1, 0  # no day, where no day is sure
        if span.start_last is not None and not span.doubtful:
            first_day = span.start_last + 1
        if span.end_first is not None and not span.doubtful:
            last_day = min(span.end_first - (not span.is_open), self.snapshot)
        return first_day, last_day


def _outermost(choose: Callable[[list[int]], int], days: Sequence[int | None]) -> int | None:
    """The first or last of some days, or None where one is unknown and may lie outside the rest."""
    known_days = [day for day in days if day is not None]
    return choose(known_days) if known_days and len(known_days) == len(days) else None


def _printed_end(segment: AlignedSegment) -> TimeUnit | None:
    """The unit in which a segment ended, if questions may print it."""
    if segment.end_open or segment.end_inferred:
        return None
    return stated_unit(segment.end_first, segment.end_last)


def easy_times(timeline: Timeline, segment_index: int, pointwise: bool) -> list[Time]:
    """The times of easy questions about a segment, made of its own boundaries, the best first.

    The list is empty where no boundary can be printed. `pointwise` says that a segment is a point
    in time, as a winner of a prize is.
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
    month_chance: float,
    draws: RandomStream,
) -> Time | None:
    """Draw the time of a hard question of this kind about a segment.

    Returns None if no month, year or part of a decade has room in the days that it is drawn from.
    All days are numbers, as of `date.toordinal`. The time lies inside the segment, with two
    exceptions. `before`, which is asked of the first
    segment alone, may name a time up to the last day of the segment. `after`, which is asked of the
    last segment alone, may name a time from its first day on (of an open segment from the day
    after, as its easy question names its start).

    A segment that is a point in time (`pointwise`) has no inside. A question about it names a unit
    before it and one after it (`between`), a later unit (`before`), an earlier unit (`after`), or
    the part of a decade in which it lies (`decade`). `month_chance`, from 0 to 1, is the chance
    that a month is named although a year would do.
    """
    span, inside = timeline.spans[segment_index], timeline.inside(segment_index)
    if kind == "before" and span.start_first != timeline.first:
        return None
    if kind == "after" and span.end_last != timeline.last:
        return None
    by_month = draws.next_below(_THOUSAND) < month_chance * _THOUSAND
    start_unit, end_unit = timeline.starts[segment_index], timeline.ends[segment_index]
    if pointwise:
        return _hard_time_of_point(start_unit or end_unit, kind, by_month, draws)
    if kind == "decade":
        return _decade_part_within(inside, draws)
    if kind == "before" and end_unit:
        inside = inside[0], min(end_unit.last, timeline.snapshot)
    if kind == "after" and not span.is_open and start_unit:
        inside = start_unit.first, inside[1]
    # `_draw_time` takes earlier and later days. Here both are the inside of the segment; about a
    # point in time they are the days before it and the days after it.
    return _draw_time(kind, inside, inside, by_month, draws)


def _decade_part_within(days: DayRange, draws: RandomStream) -> Time | None:
    """Draw one of the early and late parts of decades that lie wholly in these days."""
    first, last = days
    decade_parts = []
    for decade_part in _parts(first, last):
        if first <= decade_part.first and decade_part.last <= last:
            decade_parts.append(decade_part)
    return _in_unit(decade_parts[draws.next_below(len(decade_parts))]) if decade_parts else None


def _hard_time_of_point(
    point: TimeUnit | None, kind: HardKind, by_month: bool, draws: RandomStream
) -> Time | None:
    """The time of a hard question about a point in time; see `hard_time`."""
    if point is None or kind == "in":
        return None
    if kind == "decade":
        for decade_part in _parts(point.first, point.last):
            if decade_part.first <= point.first and point.last <= decade_part.last:
                return _in_unit(decade_part)
        return None
    earlier_days = point.first - _AROUND, point.first - 1
    return _draw_time(kind, earlier_days, (point.last + 1, point.last + _AROUND), by_month, draws)


def outside_time(
    timeline: Timeline,
    month_chance: float,
    life: tuple[date | None, date | None],
    draws: RandomStream,
) -> Time | None:
    """Draw a time at most ten years before the first segment of a pair or after the last one.

    The time ends by the snapshot day and lies in the `life` of the subject (its first and last
    day). A time before the first segment also lies after the subject's youth. Returns None where
    the page states neither the first start nor the last end, and where no unit of time has room.
    """
    last_day = min(timeline.snapshot, life[1].toordinal()) if life[1] else timeline.snapshot
    sides = []
    if timeline.begun and timeline.first is not None and life[0]:
        born = life[0].toordinal() + _YOUTH
        sides.append((max(timeline.first - _REACH, born), min(timeline.first - 1, last_day)))
    if timeline.ended and timeline.last is not None:
        sides.append((timeline.last + 1, min(timeline.last + _REACH, last_day)))
    if not sides:
        return None
    chosen_side = sides[draws.next_below(len(sides))]
    by_month = draws.next_below(_THOUSAND) < month_chance * _THOUSAND
    between_time = None
    if draws.next_below(2):
        between_time = _draw_time("between", chosen_side, chosen_side, by_month, draws)
    return between_time or _draw_time("in", chosen_side, chosen_side, by_month, draws)


def _draw_time(
    kind: HardKind,
    earlier_days: DayRange,
    later_days: DayRange,
    by_month: bool,
    draws: RandomStream,
) -> Time | None:
    """Draw a time of months or years, or None where the days have no room for it.

    `after` and `in` take their unit from the earlier days, and `before` from the later ones.
    `between` takes one from each, the first before the second. A month is named where the days hold
    no year, or not the two years that `between` needs.
    """
    earlier_units = units_within(*earlier_days)
    later_units = earlier_units if later_days == earlier_days else units_within(*later_days)
    min_count = 2 if kind == "between" and earlier_days == later_days else 1
    grain = YEAR
    first_numbers, second_numbers = earlier_units[1], later_units[1]
    if by_month or len(first_numbers) < min_count or len(second_numbers) < min_count:
        grain, first_numbers, second_numbers = MONTH, earlier_units[0], later_units[0]
    if len(first_numbers) < min_count or len(second_numbers) < min_count:
        return None
    first_number = first_numbers[draws.next_below(len(first_numbers))]
    second_number = second_numbers[draws.next_below(len(second_numbers))]
    if kind == "before":
        return Time("before", None, unit(grain, second_number))
    if kind == "after":
        return Time("after", unit(grain, first_number), None)
    if kind != "between":
        return _in_unit(unit(grain, first_number))
    if first_number == second_number:
        # Go on by one to all but one, around the end, to each other unit with the same chance.
        step = 1 + draws.next_below(len(first_numbers) - 1)
        other_index = (first_numbers.index(first_number) + step) % len(first_numbers)
        first_number = first_numbers[other_index]
    earlier_number, later_number = sorted((first_number, second_number))
    return Time("between", unit(grain, earlier_number), unit(grain, later_number))


def _parts(first: int, last: int) -> list[TimeUnit]:
    """The early and late parts of the decades that these days touch."""
    first, last = max(first, _FIRST_DECADE_DAY), min(last, _LAST_DAY)
    if first > last:
        return []
    numbers = range(_date(first).year // 10 * 2, _date(last).year // 10 * 2 + 2)
    return [unit(PART, number) for number in numbers]


def _in_unit(time_unit: TimeUnit) -> Time:
    return Time("in", time_unit, time_unit)


@lru_cache(1 << 16)
def unit_text(time_unit: TimeUnit) -> str:
    """A unit in words: `5 May 2005`, `May 2005`, `2005`, `AD 37`, `the early 1990s`."""
    if time_unit.grain == PART:
        date_form = ("early_decade", "late_decade")[time_unit.number % 2]
        return dates.format_date(date(time_unit.number // 2 * 10, 1, 1), date_form)
    return dates.format_date(date.fromordinal(time_unit.first), _FORMS[time_unit.grain])


def time_text(time: Time, is_easy: bool) -> str:
    """A time in words: `in 2005`, `on 5 May 2005`, `before June 2009`, `after 2010`.

    Two units are `from 2003 to 2009` in an easy question, where they are the boundaries of a
    segment. In a hard question they are `between 2003 and 2009`.
    """
    first_unit, last_unit = time.first, time.last
    if time.specifier == "before" and last_unit:
        return dates.with_preposition("before", last=unit_text(last_unit))
    assert first_unit
    if time.specifier == "after" or last_unit is None:
        return dates.with_preposition("after", unit_text(first_unit))
    if time.specifier == "in":
        return dates.with_preposition(
            "on" if first_unit.grain == DAY else "in", unit_text(first_unit)
        )
    return dates.with_preposition(
        "from" if is_easy else "between", unit_text(first_unit), unit_text(last_unit)
    )
