"""What a time specifier selects from a timeline: yes, no or in doubt.

A unit of time is a whole day, month or year, an interval of days. A segment is known up to
readings: its start is some day of [start_first, start_last], its end one of [end_first, end_last],
the start not after the end. A specifier *selects* a segment if the segment answers it under every
reading, *rejects* it if under none; all else is *in doubt*. Days are ordinals, as of
`date.toordinal`; an unknown bound is `FAR` days away.

After: TimeQA (paper 001), section 2.2 (in, between, before, after); the rules are ours.
"""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from builders.rows import Gap, Segment, Specifier

DAY, MONTH, YEAR = 0, 1, 2
"""Grains, from fine to coarse."""
FAR = 10**9
_MOST = date.max.toordinal()


_date = lru_cache(1 << 16)(date.fromordinal)


class Unit(NamedTuple):
    """A day, month or year. `number` counts units of its grain without a gap."""

    grain: int
    number: int
    first: int
    last: int


class Span(NamedTuple):
    """The bounds of a segment or gap in days; `open`: no end is stated."""

    start_first: int
    start_last: int
    end_first: int
    end_last: int
    open: bool


class Time(NamedTuple):
    """A specifier with its units: `in` has one, twice; `before` no first, `after` no last."""

    specifier: Specifier
    first: Unit | None
    last: Unit | None

    def days(self) -> tuple[date | None, date | None]:
        """First and last day asked about: `between` counts both units, `before` excludes its."""
        if self.specifier == "before" and self.last:
            return None, _date(self.last.first - 1)
        if self.specifier == "after" and self.first:
            return _date(self.first.last + 1), None
        assert self.first and self.last  # noqa: S101
        return _date(self.first.first), _date(self.last.last)


@lru_cache(1 << 16)
def unit(grain: int, number: int) -> Unit:
    """The unit with this index: the ordinal of a day, year * 12 + month - 1, or the year."""
    if grain == DAY:
        return Unit(DAY, number, number, number)
    if grain == MONTH:
        first = date(number // 12, number % 12 + 1, 1).toordinal()
        after = date((number + 1) // 12, (number + 1) % 12 + 1, 1).toordinal()
        return Unit(MONTH, number, first, after - 1)
    return Unit(
        YEAR, number, date(number, 1, 1).toordinal(), date(number + 1, 1, 1).toordinal() - 1
    )


def index(grain: int, day: int) -> int:
    """The index of the unit of this grain that holds a day."""
    if grain == DAY:
        return day
    when = date.fromordinal(day)
    return when.year if grain == YEAR else when.year * 12 + when.month - 1


def within(first: int, last: int) -> tuple[range, range, range]:
    """Indexes of the days, months and years that lie wholly in these days.

    None are made beyond the calendar.
    """
    first, last = max(first, 2), min(last, _MOST - 366)
    if first > last:
        return range(0), range(0), range(0)
    before, after = date.fromordinal(first - 1), date.fromordinal(last + 1)
    months = range(before.year * 12 + before.month, after.year * 12 + after.month - 1)
    return range(first, last + 1), months, range(before.year + 1, after.year)


@lru_cache(1 << 16)
def stated(first: date | None, last: date | None) -> Unit | None:
    """A boundary as the unit it states; None: unknown, a decade, or a hull of another shape.

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


def span(segment: Segment) -> Span:
    """The bounds of a segment, each narrowed by the other: no end before the start.

    An open one holds until its snapshot day, maybe longer.
    """
    start_first = -FAR if segment.start_first is None else segment.start_first.toordinal()
    start_last = FAR if segment.start_last is None else segment.start_last.toordinal()
    end_first = -FAR if segment.end_first is None else segment.end_first.toordinal()
    end_last = FAR
    if segment.end_last is not None and not segment.end_open:
        end_last = segment.end_last.toordinal()
    return Span(
        start_first,
        min(start_last, end_last),
        max(start_first, end_first),
        end_last,
        segment.end_open,
    )


def gap_span(gap: Gap) -> Span:
    """The bounds of a gap, which is certain nowhere: all that it may touch is in doubt."""
    return Span(
        -FAR if gap.start_first is None else gap.start_first.toordinal(),
        FAR,
        -FAR,
        FAR if gap.end_open or gap.end_last is None else gap.end_last.toordinal(),
        False,
    )


def select(time: Time, spans: Sequence[Span], snapshot: int) -> list[int] | None:
    """The places of the spans that a time selects, ascending; None: one or more are in doubt.

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
        return _between(time.first, time.last, spans)
    if time.specifier == "before" and time.last:
        return _before(time.last.first, spans)
    if time.specifier == "after" and time.first:
        return _after(time.first.last, spans, snapshot)
    assert time.first  # noqa: S101
    return _in(time.first.first, time.first.last, spans)


def touched(time: Time, spans: Sequence[Span]) -> list[int] | None:
    """The places of the spans that hold on some day of a `between`, its two units too.

    None: one or more are in doubt. Wider than `select`, which leaves out who went in A or came in
    B: right for the boundaries of a segment, but inside one, something else that holds in A or B
    is beside it, neither before nor after.
    """
    assert time.first and time.last  # noqa: S101
    return _in(time.first.first, time.last.last, spans)


def _in(first: int, last: int, spans: Sequence[Span]) -> list[int] | None:
    chosen = []
    for i, (start_first, start_last, end_first, end_last, _) in enumerate(spans):
        if start_last <= last and end_first >= first:
            chosen.append(i)
        elif start_first <= last and end_last >= first:
            return None
    return chosen


def _between(a: Unit, b: Unit, spans: Sequence[Span]) -> list[int] | None:
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


def _before(first: int, spans: Sequence[Span]) -> list[int] | None:
    chosen = []
    for i, one in enumerate(spans):
        if one.start_last < first:
            chosen.append(i)
        elif one.start_first < first:
            return None
    return chosen


def _after(last: int, spans: Sequence[Span], snapshot: int) -> list[int] | None:
    chosen = []
    for i, one in enumerate(spans):
        if one.end_first > last and one.start_last <= snapshot and last < snapshot:
            chosen.append(i)
        elif one.end_last > last:
            return None
    return chosen
