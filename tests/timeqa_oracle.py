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
    found = TIME.fullmatch(text)
    assert found, f"no time: {text!r}"
    if found["part"]:
        year = int(found["decade"])
        first, last = (year, year + 3) if found["part"] == "early" else (year + 7, year + 9)
        return AskedTime("in", (Unit(date(first, 1, 1), date(last, 12, 31), PART),))
    if found["pair"]:
        return AskedTime("between", (_unit(found, 2), _unit(found, 3)))
    one = _unit(found, 1)
    assert (found["kind"] == "on") == (one.length == DAY) or found["kind"] in ("before", "after")
    return AskedTime("in" if found["kind"] == "on" else found["kind"], (one,))


def _unit(found: re.Match[str], n: int) -> Unit:
    year = int(found[f"year{n}"])
    if not found[f"month{n}"]:
        return Unit(date(year, 1, 1), date(year, 12, 31), YEAR)
    month = MONTHS.index(found[f"month{n}"])
    if not found[f"day{n}"]:
        last = calendar.monthrange(year, month)[1]
        return Unit(date(year, month, 1), date(year, month, last), MONTH)
    day = date(year, month, int(found[f"day{n}"]))
    return Unit(day, day, DAY)


def precision(first: date | None, last: date | None) -> int:
    """Days that a boundary is known to, as the unit it can be printed with."""
    if first is None or last is None:
        return YEAR
    days = (last - first).days + 1
    return DAY if days == 1 else MONTH if days <= MONTH else YEAR


def readings(one: AlignedSegment | Gap, days: Iterable[date]) -> Iterator[tuple[date, date]]:
    """First and last day of a segment under each reading that could differ on these days."""
    lowest, highest = date(1, 1, 1), date(9999, 12, 31)
    starts = one.start_first or lowest, one.start_last or highest
    if one.end_open:
        # its relation may trust an open one for some years only
        ends = min(one.end_first or one.snapshot, one.snapshot), highest
        if one.start_first and one.start_first > one.snapshot:
            ends = one.start_first, highest
    else:
        ends = one.end_first or lowest, one.end_last or highest
    edges = {*starts, *ends}
    for day in days:
        edges |= {day - timedelta(1), day, day + timedelta(1)}
    for start, end in product(sorted(edges), repeat=2):
        if starts[0] <= start <= starts[1] and ends[0] <= end <= ends[1] and start <= end:
            yield start, end


def verdict(one: AlignedSegment | Gap, time: AskedTime, snapshot: date) -> bool | None:
    """Whether a segment answers a time under every reading (True), none, or some (None)."""
    days = [d for u in time.units for d in (u.first, u.last)] + [snapshot]
    found = {_answers(s, e, one.end_open, time, snapshot) for s, e in readings(one, days)}
    if isinstance(one, AlignedSegment) and one.rival:
        found.add(False)  # another object may have held its place
    return found.pop() if len(found) == 1 else None


def _answers(start: date, end: date, is_open: bool, time: AskedTime, snapshot: date) -> bool | None:
    a, b = time.units[0], time.units[-1]
    if time.kind == "in":
        return start <= a.last and end >= a.first
    if time.kind == "before":
        return start < a.first
    if time.kind == "after":
        if end <= a.last:
            return False
        return True if max(start, a.last + timedelta(1)) <= min(end, snapshot) else None
    between = max(start, a.last + timedelta(1)) <= min(end, b.first - timedelta(1))
    same = a.first <= start <= a.last and b.first <= end <= b.last
    if between or same or (start <= a.first and end >= b.last):
        return True
    if end < a.first or start > b.last:
        return False
    if (start < a.first and end <= a.last) or (start >= b.first and (end > b.last or is_open)):
        return False
    return None


def answers(
    segments: Sequence[AlignedSegment], gaps: Sequence[Gap], time: AskedTime, snapshot: date
) -> set[int] | None:
    """The places of the segments that surely answer; None: one or a gap is in doubt."""
    found = set()
    for i, one in enumerate(segments):
        holds = verdict(one, time, snapshot)
        if holds is None:
            return None
        if holds:
            found.add(i)
    if any(verdict(gap, time, snapshot) is not False for gap in gaps):
        return None
    return found
