"""Whether something surely, perhaps or not held at a time: the one algebra of uncertain intervals.

A segment of a timeline is known up to its *readings*. Its start is some day from `start_first` to
`start_last`, its end some day from `end_first` to `end_last`, and the start is not after the end.
An unknown boundary is null in tables and None in Python: an unknown `start_first` or `end_first`
reaches back without limit, an unknown `start_last` or `end_last` reaches forward without limit. A
rival and a gap are *doubtful*: they have one reading more, that they never held at all.

A question about an interval is CERTAIN if the answer is yes under every reading, NO if it is yes
under none, and POSSIBLE otherwise. `Interval` answers for single values, with days as dates or as
ordinals, and `IntervalColumns` for tables of either engine; a property test holds both equal to a
walk over all readings. Both expect boundaries that are *narrowed* by each other, as timelines have
them: `start_last` is not after `end_last`, and `end_first` not before `start_first`.

Dates of unknown boundaries can be compared and sorted by the engine only when they are days. The
steps that need that put the ends of the calendar in their place with `with_calendar_ends`, and no
other module knows these days.

After: SPEC, section 1, "A fact against a period".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows

DATES = ("start_first", "start_last", "end_first", "end_last")
"""The columns of an interval."""

FIRST_DAY, LAST_DAY = ibis.literal(date.min), ibis.literal(date.max)
"""The ends of the calendar, which stand for unknown boundaries while an engine compares days."""

Day = TypeVar("Day", date, int)


class Certainty(Enum):
    """The three values of an answer about an uncertain interval."""

    CERTAIN = "certain"
    POSSIBLE = "possible"
    NO = "no"

    @classmethod
    def of(cls, is_certain: bool, is_possible: bool) -> "Certainty":
        """The three-valued answer of two tests.

        CERTAIN if the answer is yes under every reading of the dates, POSSIBLE if under some, NO if
        under none.
        """
        if is_certain:
            return cls.CERTAIN
        return cls.POSSIBLE if is_possible else cls.NO


@dataclass(frozen=True, slots=True)
class Interval(Generic[Day]):
    """The days on which a fact may have started and ended; None is an unknown boundary.

    `doubtful` says that the fact may never have held, `is_open` that no end is stated.
    """

    start_first: Day | None
    start_last: Day | None
    end_first: Day | None
    end_last: Day | None
    doubtful: bool = False
    is_open: bool = False

    @property
    def boundaries(self) -> tuple[Day | None, Day | None, Day | None, Day | None]:
        """The four days in the order of `DATES`."""
        return self.start_first, self.start_last, self.end_first, self.end_last

    def begins_by(self, day: Day) -> Certainty:
        """Whether it began on this day or before it."""
        return self._answer(_surely(self.start_last, day), _maybe(self.start_first, day))

    def lasts_until(self, day: Day) -> Certainty:
        """Whether it ended on this day or after it."""
        return self._answer(_surely(day, self.end_first), _maybe(day, self.end_last))

    def holds_within(self, first_day: Day, last_day: Day) -> Certainty:
        """Whether it held on some day of a window."""
        return self._answer(
            _surely(self.start_last, last_day) and _surely(first_day, self.end_first),
            _maybe(self.start_first, last_day) and _maybe(first_day, self.end_last),
        )

    def holds_throughout(self, first_day: Day, last_day: Day) -> Certainty:
        """Whether it held on every day of a window."""
        return self._answer(
            _surely(self.start_last, first_day) and _surely(last_day, self.end_first),
            _maybe(self.start_first, first_day) and _maybe(last_day, self.end_last),
        )

    def starts_within(self, first_day: Day, last_day: Day) -> Certainty:
        """Whether its start lies in a window."""
        return self._answer(
            _surely(first_day, self.start_first) and _surely(self.start_last, last_day),
            _maybe(first_day, self.start_last) and _maybe(self.start_first, last_day),
        )

    def ends_within(self, first_day: Day, last_day: Day) -> Certainty:
        """Whether its end lies in a window."""
        return self._answer(
            _surely(first_day, self.end_first) and _surely(self.end_last, last_day),
            _maybe(first_day, self.end_last) and _maybe(self.end_first, last_day),
        )

    def precedes(self, later_one: "Interval[Day]", days: int = 0) -> Certainty:
        """Whether it ended before another began, with at least this number of days between them."""
        shortest_gap = _length(self.end_last, later_one.start_first)
        longest_gap = _length(self.end_first, later_one.start_last)
        return self._answer(
            shortest_gap is not None and shortest_gap >= days + 2,
            longest_gap is None or longest_gap >= days + 2,
            later_one.doubtful,
        )

    def overlaps(self, other_interval: "Interval[Day]", days: int = 1) -> Certainty:
        """Whether both held on at least this number of common days."""
        # The overlap reaches from the later start to the earlier end, so it has `days` days if each
        # pair of a start and an end has. Under the worst reading both intervals are as short and as
        # far apart as they can be, under the best one all boundaries are outermost. A length of
        # None is unbounded: never certain, and always possible.
        shortest_lengths = [
            _length(self.start_last, other_interval.end_first),
            _length(other_interval.start_last, self.end_first),
        ]
        if days > 1:  # an interval of one day or more has one day in any case
            shortest_lengths += [
                _length(term.start_last, term.end_first) for term in (self, other_interval)
            ]
        both_intervals = (self, other_interval)
        longest_lengths = [
            _length(late.start_first, early.end_last)
            for late in both_intervals
            for early in both_intervals
        ]
        return self._answer(
            all(length is not None and length >= days for length in shortest_lengths),
            all(length is None or length >= days for length in longest_lengths),
            other_interval.doubtful,
        )

    def narrowed(self) -> "Interval[Day]":
        """The same readings, with each boundary narrowed by the other one."""
        start_last, end_first = self.start_last, self.end_first
        if self.end_last is not None and not _surely(start_last, self.end_last):
            start_last = self.end_last
        if self.start_first is not None and not _surely(self.start_first, end_first):
            end_first = self.start_first
        return replace(self, start_last=start_last, end_first=end_first)

    def _answer(
        self, is_certain: bool, is_possible: bool, other_doubtful: bool = False
    ) -> Certainty:
        return Certainty.of(is_certain and not (self.doubtful or other_doubtful), is_possible)


def segment_interval(segment: rows.Segment | rows.Gap) -> Interval[date]:
    """The interval of a segment or gap, with dates; one without a stated end is `is_open`."""
    return Interval(
        segment.start_first,
        segment.start_last,
        segment.end_first,
        segment.end_last,
        isinstance(segment, rows.Gap) or segment.rival,
        segment.end_open,
    )


def row_interval(row: Mapping[str, date | None], doubtful: bool = False) -> Interval[date]:
    """The interval of a row with the columns `DATES`."""
    start_first, start_last, end_first, end_last = (row[date_name] for date_name in DATES)
    return Interval(start_first, start_last, end_first, end_last, doubtful)


def _surely(earlier: Day | None, later: Day | None) -> bool:
    """Whether a day is surely not after another; false if one of them is unknown."""
    return earlier is not None and later is not None and earlier <= later


def _maybe(earlier: Day | None, later: Day | None) -> bool:
    """Whether a day may be not after another, as it may where one of them is unknown."""
    return earlier is None or later is None or earlier <= later


def _length(first_day: Day | None, last_day: Day | None) -> int | None:
    """Return the number of days from one day to another, both counted; None if one is unknown."""
    if first_day is None or last_day is None:
        return None
    if isinstance(first_day, date) and isinstance(last_day, date):
        return last_day.toordinal() - first_day.toordinal() + 1
    return int(last_day) - int(first_day) + 1


class CertaintyColumns(NamedTuple):
    """The three values as two columns without nulls; certain is possible too."""

    certain: ir.BooleanValue
    possible: ir.BooleanValue


class IntervalColumns(NamedTuple):
    """The possible days of starts and ends, as columns of a table; null is an unknown boundary.

    `doubtful` says which rows may never have held; if it is None, all held.
    """

    start_first: ir.DateValue
    start_last: ir.DateValue
    end_first: ir.DateValue
    end_last: ir.DateValue
    doubtful: ir.BooleanValue | None = None

    @classmethod
    def of(
        cls, table: ir.Table, prefix: str = "", doubtful: ir.BooleanValue | None = None
    ) -> "IntervalColumns":
        """The columns `DATES` of a table, each with a prefix."""
        start_first, start_last, end_first, end_last = (
            table[prefix + column_name] for column_name in DATES
        )
        return cls(start_first, start_last, end_first, end_last, doubtful)

    def holds_within(self, first_day: ir.DateValue, last_day: ir.DateValue) -> CertaintyColumns:
        """Whether they held on some day of a window."""
        return self._answer(
            _surely_column(self.start_last, last_day) & _surely_column(first_day, self.end_first),
            _maybe_column(self.start_first, last_day) & _maybe_column(first_day, self.end_last),
        )

    def holds_throughout(self, first_day: ir.DateValue, last_day: ir.DateValue) -> CertaintyColumns:
        """Whether they held on every day of a window."""
        return self._answer(
            _surely_column(self.start_last, first_day) & _surely_column(last_day, self.end_first),
            _maybe_column(self.start_first, first_day) & _maybe_column(last_day, self.end_last),
        )

    def starts_within(self, first_day: ir.DateValue, last_day: ir.DateValue) -> CertaintyColumns:
        """Whether their starts lie in a window."""
        return self._answer(
            _surely_column(first_day, self.start_first) & _surely_column(self.start_last, last_day),
            _maybe_column(first_day, self.start_last) & _maybe_column(self.start_first, last_day),
        )

    def ends_within(self, first_day: ir.DateValue, last_day: ir.DateValue) -> CertaintyColumns:
        """Whether their ends lie in a window."""
        return self._answer(
            _surely_column(first_day, self.end_first) & _surely_column(self.end_last, last_day),
            _maybe_column(first_day, self.end_last) & _maybe_column(self.end_first, last_day),
        )

    def precedes(self, later_ones: "IntervalColumns", days: int = 0) -> CertaintyColumns:
        """Whether they ended before others began, with at least this number of days between."""
        certainly_precede = _length_column(self.end_last, later_ones.start_first) >= days + 2
        possibly_precede = _length_column(self.end_first, later_ones.start_last) >= days + 2
        return self._answer(
            certainly_precede.fill_null(False),
            possibly_precede.fill_null(True),
            later_ones.doubtful,
        )

    def overlaps(self, other_intervals: "IntervalColumns", days: int = 1) -> CertaintyColumns:
        """Whether both held on at least this number of common days; see `Interval.overlaps`."""
        shortest_lengths = [
            _length_column(self.start_last, other_intervals.end_first),
            _length_column(other_intervals.start_last, self.end_first),
        ]
        if days > 1:
            shortest_lengths += [
                _length_column(term.start_last, term.end_first) for term in (self, other_intervals)
            ]
        both_intervals = (self, other_intervals)
        longest_lengths = [
            _length_column(late.start_first, early.end_last)
            for late in both_intervals
            for early in both_intervals
        ]
        return self._answer(
            ibis.and_(*((length >= days).fill_null(False) for length in shortest_lengths)),
            ibis.and_(*((length >= days).fill_null(True) for length in longest_lengths)),
            other_intervals.doubtful,
        )

    def ranges(
        self,
        window: "TimeWindow",
        start_place: Callable[[ir.DateValue], ir.Value] = lambda day: day,
        end_place: Callable[[ir.DateValue], ir.Value] = lambda day: day,
    ) -> "Ranges":
        """The places of a window at which they hold perhaps and surely.

        Places are days, or the numbers of periods that follow one another. `start_place` gives the
        place of a first day, and `end_place` the last place that a last day reaches.
        """
        certain_first = ibis.greatest(
            start_place(self.start_last).fill_null(window.after), window.first
        )
        if self.doubtful is not None:
            certain_first = ibis.ifelse(self.doubtful, window.after, certain_first)
        return Ranges(
            ibis.greatest(start_place(self.start_first).fill_null(window.first), window.first),
            ibis.least(end_place(self.end_last).fill_null(window.last), window.last),
            certain_first,
            ibis.least(end_place(self.end_first).fill_null(window.before), window.last),
        )

    def _answer(
        self,
        are_certain: ir.BooleanValue,
        are_possible: ir.BooleanValue,
        others_doubtful: ir.BooleanValue | None = None,
    ) -> CertaintyColumns:
        for are_doubtful in (self.doubtful, others_doubtful):
            if are_doubtful is not None:
                are_certain &= ~are_doubtful
        return CertaintyColumns(are_certain, are_possible)


class TimeWindow(NamedTuple):
    """The first and the last place of a window, and the places next to them outside."""

    first: ir.Value | int
    last: ir.Value | int
    before: ir.Value | int
    after: ir.Value | int


class Ranges(NamedTuple):
    """The places at which a fact is possible, and those at which it is certain.

    It is possible from `first` to `last`, and certain from `certain_first` to `certain_last`. If
    `certain_first` is after `certain_last`, it is certain nowhere.
    """

    first: ir.Value
    last: ir.Value
    certain_first: ir.Value
    certain_last: ir.Value


def with_calendar_ends(table: ir.Table, columns: Sequence[str] = DATES) -> ir.Table:
    """The table with the ends of the calendar in place of unknown boundaries.

    Columns that end in `first` get the first day, the others the last one.
    """
    return table.mutate(
        **{
            column_name: table[column_name].fill_null(calendar_end(column_name))
            for column_name in columns
        }
    )


def without_calendar_ends(table: ir.Table, columns: Sequence[str] = DATES) -> ir.Table:
    """The table with nulls in place of the ends of the calendar: undoes `with_calendar_ends`."""
    return table.mutate(
        **{
            column_name: table[column_name].nullif(calendar_end(column_name))
            for column_name in columns
        }
    )


def calendar_end(column_name: str) -> ir.DateValue:
    """The day that stands for an unknown boundary of a column."""
    return FIRST_DAY if column_name.endswith("first") else LAST_DAY


def _surely_column(earlier: ir.DateValue, later: ir.DateValue) -> ir.BooleanValue:
    return (earlier <= later).fill_null(False)


def _maybe_column(earlier: ir.DateValue, later: ir.DateValue) -> ir.BooleanValue:
    return (earlier <= later).fill_null(True)


def _length_column(first_day: ir.DateValue, last_day: ir.DateValue) -> ir.IntegerValue:
    return last_day.delta(first_day, unit="day") + 1
