"""Which times are asked about a segment: its boundaries (easy), moments inside it (hard).

Choices are hashes of what is asked about, never of what was asked before, so that a question does
not depend on the rows around it.
"""

from collections.abc import Sequence
from datetime import date
from hashlib import sha256

from builders.rows import AlignedSegment, Gap, Specifier
from builders.timeqa.specifiers import (
    DAY,
    FAR,
    MONTH,
    YEAR,
    Time,
    Unit,
    gap_span,
    index,
    span,
    stated,
    unit,
    within,
)

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_AROUND = 3
"""Units that a question looks back or ahead of something that happened at one time."""
_EDGE = 366 * (_AROUND + 2)
"""Days at either end of the calendar that have no such units."""


def start(*names: object) -> int:
    """64 bits of what is named: where the choices of one purpose begin."""
    return int.from_bytes(sha256("\t".join(map(str, names)).encode()).digest()[:8], "big")


class Draws:
    """Choices in a row, from 64 bits (SplitMix64, Steele and others 2014)."""

    __slots__ = ("state",)

    def __init__(self, state: int) -> None:
        self.state = state & _MASK

    def bits(self) -> int:
        """64 bits."""
        self.state = z = (self.state + _GOLDEN) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        return (self.bits() >> 32) * limit >> 32


class Timeline:
    """The segments and gaps of one pair as numbers.

    `spans`: of the segments, then of the gaps. `starts`, `ends`: the boundaries of each segment
    that can be printed, None where unknown, coarser than a year, or not a stated day, month or
    year. The end of an open segment, and one inferred from a successor, is never printed.
    """

    def __init__(self, segments: Sequence[AlignedSegment], gaps: Sequence[Gap]) -> None:
        self.spans = [span(s) for s in segments] + [gap_span(g) for g in gaps]
        self.open = [s.end_open for s in segments]
        self.starts = [stated(s.start_first, s.start_last) for s in segments]
        self.ends = [
            None if s.end_open or s.end_inferred else stated(s.end_first, s.end_last)
            for s in segments
        ]
        self.snapshot = max((s.snapshot.toordinal() for s in segments), default=0)
        self.first = min((s.start_first for s in self.spans), default=-FAR)
        self.last = max((s.end_last for s in self.spans), default=FAR)

    def grain(self, i: int) -> int:
        """The coarser precision of a segment's boundaries; the end of an open one has none."""
        known = (self.starts[i],) if self.open[i] else (self.starts[i], self.ends[i])
        return max(YEAR if u is None else u.grain for u in known)

    def inside(self, i: int) -> tuple[int, int]:
        """The days strictly between the boundaries of a segment, up to the snapshot day."""
        one = self.spans[i]
        return one.start_last + 1, min(one.end_first - (not one.open), self.snapshot)

    def at_once(self, i: int) -> Unit | None:
        """The one unit that a segment lies in, where its start and its end are the same."""
        return self.starts[i] if self.starts[i] == self.ends[i] else None


def easy(line: Timeline, i: int, pointwise: bool, short: int) -> list[Time]:
    """The times that a segment's own boundaries make, the best first; none: nothing to print.

    `short`: days up to which a segment that lasts gives `in` its first month or day.
    """
    a, b = line.starts[i], line.ends[i]
    one = line.spans[i]
    if line.open[i] and a:
        if pointwise:
            return [_in(a)]
        return [Time("after", a, None), _in(a)]
    if pointwise or a is None or b is None or a == b:
        known = a or b
        return [_in(known)] if known else []
    if one.end_last - one.start_first < short and a.grain != YEAR:
        return [_in(unit(MONTH, index(MONTH, a.first)))]
    if a.last >= b.first:
        return [_in(a if a.grain > b.grain else b)]
    return [Time("between", a, b)]


def hard(line: Timeline, i: int, kind: Specifier, pointwise: bool, draws: Draws) -> Time | None:
    """A time of this kind inside a segment, or beside something that happened at one time.

    `before` is asked of the first segment at a moment inside or at its end, `after` of the last
    one, inside or at its start. What happened at one time has no inside: `between` has it
    between two units, `before` and `after` look on from a unit later and back from one earlier.
    None: no such time has room.
    """
    if kind == "before" and line.spans[i].start_first != line.first:
        return None
    if kind == "after" and line.spans[i].end_last != line.last:
        return None
    if pointwise:
        return _beside(line, i, kind, draws)
    first, last = line.inside(i)
    grain = line.grain(i)
    if kind == "between":
        return between(grain, first, last, draws)
    edge = _edge(line, i, kind)
    moment = edge if edge and draws.below(2) else one_of(grain, first, last, draws) or edge
    if moment is None:
        return None
    if kind == "before":
        return Time("before", None, moment)
    return Time("after", moment, None) if kind == "after" else _in(moment)


def window(line: Timeline, years: int, draws: Draws) -> Time | None:
    """A time up to `years` years before all that is known of a pair, or after it.

    Never past the snapshot day, nor where the first start or the last end is unknown.
    """
    reach = years * 1461 // 4
    sides = []
    if line.first > -FAR and (a := _grain_at(line, 0)) is not None:
        sides.append((a, line.first - reach, min(line.first - 1, line.snapshot)))
    if line.last < FAR and (b := _grain_at(line, 1)) is not None:
        sides.append((b, line.last + 1, min(line.last + reach, line.snapshot)))
    if not sides:
        return None
    grain, first, last = sides[draws.below(len(sides))]
    if draws.below(2) and (two := between(grain, first, last, draws)):
        return two
    moment = one_of(grain, first, last, draws)
    return _in(moment) if moment else None


def one_of(grain: int, first: int, last: int, draws: Draws) -> Unit | None:
    """A unit that lies wholly in these days, no finer than `grain`."""
    found = _grains(grain, first, last, 1)
    if not found:
        return None
    chosen, units = found[draws.below(len(found))]
    return unit(chosen, units[draws.below(len(units))])


def between(grain: int, first: int, last: int, draws: Draws) -> Time | None:
    """Two units of one grain in these days, the first before the second."""
    found = _grains(grain, first, last, 2)
    if not found:
        return None
    chosen, units = found[draws.below(len(found))]
    a, b = draws.below(len(units)), draws.below(len(units) - 1)
    b += b >= a
    return Time("between", unit(chosen, units[min(a, b)]), unit(chosen, units[max(a, b)]))


def _grains(grain: int, first: int, last: int, least: int) -> list[tuple[int, range]]:
    """The grains that read well: years and months where `least` of them fit, else days."""
    days, months, years = within(first, last)
    found = []
    if len(years) >= least:
        found.append((YEAR, years))
    if grain <= MONTH and len(months) >= least:
        found.append((MONTH, months))
    if not found and grain == DAY and len(days) >= least:
        found.append((DAY, days))
    return found


def _beside(line: Timeline, i: int, kind: Specifier, draws: Draws) -> Time | None:
    at = line.at_once(i) or line.starts[i] or line.ends[i]
    if at is None or kind == "in" or not _EDGE < at.first < date.max.toordinal() - _EDGE:
        return None
    if at.grain == DAY:
        at = unit(MONTH, index(MONTH, at.first))
    earlier = unit(at.grain, at.number - 1 - draws.below(_AROUND))
    later = unit(at.grain, at.number + 1 + draws.below(_AROUND))
    if kind == "between":
        return Time("between", earlier, later)
    return Time("before", None, later) if kind == "before" else Time("after", earlier, None)


def _edge(line: Timeline, i: int, kind: Specifier) -> Unit | None:
    """The end of a segment, for `before`, and its start, for `after`, where the rest is beyond.

    "After its start" is the easy question of an open segment.
    """
    one = line.spans[i]
    if kind == "before" and (end := line.ends[i]) and one.start_last < end.first:
        return end
    if kind == "after" and not one.open and (begun := line.starts[i]):
        return begun if one.end_first > begun.last else None
    return None


def _grain_at(line: Timeline, side: int) -> int | None:
    """The precision of the first start, or of the last end; None where a gap has it."""
    edge, boundaries = (line.first, line.starts) if side == 0 else (line.last, line.ends)
    place = 0 if side == 0 else 3
    found = [
        YEAR if u is None else u.grain
        for u, one in zip(boundaries, line.spans, strict=False)
        if one[place] == edge
    ]
    return max(found) if found else None


def _in(one: Unit) -> Time:
    return Time("in", one, one)
