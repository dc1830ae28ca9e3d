"""Time-sensitive questions judged by reading them: every reading of every segment, one by one.

Nothing is shared with the builder: a question's time is parsed back from its text, a segment is a
set of possible (first day, last day) pairs, and what is said of it must be so in all of them.
"""

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product

from factdrift.builders.rows import AlignedSegment, Gap

MONTHS = list(calendar.month_name)
UNIT = r"(?:(?:(?P<day{n}>\d{{1,2}}) )?(?P<month{n}>[A-Z][a-z]+) )?(?:AD )?(?P<year{n}>\d{{1,4}})"
TIME = re.compile(
    r"(?:in the (?P<part>early|late) (?P<decade>\d{3}0)s)"
    "|(?:(?P<kind>in|on|before|after) " + UNIT.format(n=1) + ")"
    "|(?:(?P<pair>from|between) " + UNIT.format(n=2) + " (?:to|and) " + UNIT.format(n=3) + ")"
)
# the most days of a unit; a part of a decade has four years
DAY, MONTH, YEAR, PART = 1, 31, 366, 1461


@dataclass(frozen=True)
class Unit:
    first: date
    last: date
    length: int
    """At most that many days: the precision it is printed with."""


@dataclass(frozen=True)
class AskedTime:
    """A specifier as its text says it; `before` and `after` have one unit, `in` too."""

    kind: str
    units: tuple[Unit, ...]

    def days(self) -> tuple[date | None, date | None]:
        if self.kind == "before":
            return None, self.units[0].first - timedelta(1)
        if self.kind == "after":
            return self.units[0].last + timedelta(1), None
        return self.units[0].first, self.units[-1].last


def asked_time(text: str) -> AskedTime:
    """The time that a specifier's text means."""
    outcomes = TIME.fullmatch(text)
    assert outcomes, f"no time: {text!r}"
    if outcomes["part"]:
        year = int(outcomes["decade"])
        first, last = (year, year + 3) if outcomes["part"] == "early" else (year + 7, year + 9)
        return AskedTime("in", (Unit(date(first, 1, 1), date(last, 12, 31), PART),))
    if outcomes["pair"]:
        return AskedTime("between", (_unit(outcomes, 2), _unit(outcomes, 3)))
    segment_row = _unit(outcomes, 1)
    assert (outcomes["kind"] == "on") == (segment_row.length == DAY) or outcomes["kind"] in (
        "before",
        "after",
    )
    return AskedTime("in" if outcomes["kind"] == "on" else outcomes["kind"], (segment_row,))


def _unit(outcomes: re.Match[str], unit_number: int) -> Unit:
    year = int(outcomes[f"year{unit_number}"])
    if not outcomes[f"month{unit_number}"]:
        return Unit(date(year, 1, 1), date(year, 12, 31), YEAR)
    month = MONTHS.index(outcomes[f"month{unit_number}"])
    if not outcomes[f"day{unit_number}"]:
        last = calendar.monthrange(year, month)[1]
        return Unit(date(year, month, 1), date(year, month, last), MONTH)
    day = date(year, month, int(outcomes[f"day{unit_number}"]))
    return Unit(day, day, DAY)


def precision(first: date | None, last: date | None) -> int:
    """Days that a boundary is known to, as the unit it can be printed with."""
    if first is None or last is None:
        return YEAR
    days = (last - first).days + 1
    return DAY if days == 1 else MONTH if days <= MONTH else YEAR


def readings(
    segment_row: AlignedSegment | Gap, days: Iterable[date]
) -> Iterator[tuple[date, date]]:
    """First and last day of a segment under each reading that could differ on these days."""
    lowest, highest = date(1, 1, 1), date(9999, 12, 31)
    starts = segment_row.start_first or lowest, segment_row.start_last or highest
    if segment_row.end_open:
        # its relation may trust an open one for some years only
        ends = min(segment_row.end_first or segment_row.snapshot, segment_row.snapshot), highest
        if segment_row.start_first and segment_row.start_first > segment_row.snapshot:
            ends = segment_row.start_first, highest
    else:
        ends = segment_row.end_first or lowest, segment_row.end_last or highest
    edges = {*starts, *ends}
    for day in days:
        edges |= {day - timedelta(1), day, day + timedelta(1)}
    for start, end in product(sorted(edges), repeat=2):
        if starts[0] <= start <= starts[1] and ends[0] <= end <= ends[1] and start <= end:
            yield start, end


def verdict(segment_row: AlignedSegment | Gap, time: AskedTime, snapshot: date) -> bool | None:
    """Whether a segment answers a time under every reading (True), none, or some (None)."""
    days = [
        unit_day for time_unit in time.units for unit_day in (time_unit.first, time_unit.last)
    ] + [snapshot]
    outcomes = {
        _answers(start_day, end_day, segment_row.end_open, time, snapshot)
        for start_day, end_day in readings(segment_row, days)
    }
    if isinstance(segment_row, AlignedSegment) and segment_row.rival:
        outcomes.add(False)  # another object may have held its place
    return outcomes.pop() if len(outcomes) == 1 else None


def _answers(start: date, end: date, is_open: bool, time: AskedTime, snapshot: date) -> bool | None:
    first_unit, last_unit = time.units[0], time.units[-1]
    if time.kind == "in":
        return start <= first_unit.last and end >= first_unit.first
    if time.kind == "before":
        return start < first_unit.first
    if time.kind == "after":
        if end <= first_unit.last:
            return False
        return True if max(start, first_unit.last + timedelta(1)) <= min(end, snapshot) else None
    between = max(start, first_unit.last + timedelta(1)) <= min(end, last_unit.first - timedelta(1))
    same = first_unit.first <= start <= first_unit.last and last_unit.first <= end <= last_unit.last
    if between or same or (start <= first_unit.first and end >= last_unit.last):
        return True
    if end < first_unit.first or start > last_unit.last:
        return False
    if (start < first_unit.first and end <= first_unit.last) or (
        start >= last_unit.first and (end > last_unit.last or is_open)
    ):
        return False
    return None


def answers(
    segments: Sequence[AlignedSegment], gaps: Sequence[Gap], time: AskedTime, snapshot: date
) -> set[int] | None:
    """The places of the segments that surely answer; None: one or a gap is in doubt."""
    outcomes = set()
    for segment_index, segment_row in enumerate(segments):
        holds = verdict(segment_row, time, snapshot)
        if holds is None:
            return None
        if holds:
            outcomes.add(segment_index)
    if any(verdict(gap, time, snapshot) is not False for gap in gaps):
        return None
    return outcomes
