"""The algebra of uncertain intervals: tables, single values, and a walk over all readings agree."""

from collections.abc import Callable
from datetime import date, timedelta
from itertools import product
from typing import Any, NamedTuple

import ibis
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from factdrift.builders.facts.intervals import Certainty, Interval, IntervalColumns

DAYS = 4
"""Days of the calendar on which boundaries lie; a question may reach two days beyond it."""
LIMITLESS = DAYS + 4
"""How far an unknown boundary reaches: as far as any question, which is a start that leaves a gap
of three days after an end on the last day of the calendar."""
BASE = date(2020, 1, 10).toordinal()

Reading = tuple[int, int] | None
"""First and last day; None: it never held."""


class Question(NamedTuple):
    """One question as a method of both classes, and as a predicate over single readings."""

    method: str
    takes_other: bool
    holds: Callable[..., bool]


QUESTIONS = [
    Question("begins_by", False, lambda held, first, last: held[0] <= first),
    Question("lasts_until", False, lambda held, first, last: held[1] >= first),
    Question("holds_within", False, lambda held, first, last: held[0] <= last and held[1] >= first),
    Question(
        "holds_throughout", False, lambda held, first, last: held[0] <= first and held[1] >= last
    ),
    Question("starts_within", False, lambda held, first, last: first <= held[0] <= last),
    Question("ends_within", False, lambda held, first, last: first <= held[1] <= last),
    Question("precedes", True, lambda held, later, days: later[0] - held[1] - 1 >= days),
    Question(
        "overlaps",
        True,
        lambda held, beside, days: min(held[1], beside[1]) - max(held[0], beside[0]) + 1 >= days,
    ),
]
ONE_DAY = ("begins_by", "lasts_until")
"""Questions about one day, which `IntervalColumns` asks as windows of one day or not at all."""


def readings(interval: Interval[int]) -> list[Reading]:
    """Every start with every end that is not before it."""
    known_days = [
        -LIMITLESS if interval.start_first is None else interval.start_first,
        LIMITLESS if interval.start_last is None else interval.start_last,
        -LIMITLESS if interval.end_first is None else interval.end_first,
        LIMITLESS if interval.end_last is None else interval.end_last,
    ]
    start_days, end_days = (
        range(known_days[0], known_days[1] + 1),
        range(known_days[2], known_days[3] + 1),
    )
    all_readings: list[Reading] = [
        (start_day, end_day)
        for start_day, end_day in product(start_days, end_days)
        if start_day <= end_day
    ]
    return [*all_readings, None] if interval.doubtful else all_readings


def by_readings(question: Question, interval: Interval[int], *arguments: Any) -> Certainty:
    """The answer by walking over all readings."""
    if question.takes_other:
        other_interval, day_count = arguments
        answers = {
            held_reading is not None
            and other_reading is not None
            and question.holds(held_reading, other_reading, day_count)
            for held_reading, other_reading in product(readings(interval), readings(other_interval))
        }
    else:
        answers = {
            held_reading is not None and question.holds(held_reading, *arguments)
            for held_reading in readings(interval)
        }
    return Certainty.of(False not in answers, True in answers)


@st.composite
def intervals(draw: st.DrawFn) -> Interval[int]:
    """Boundaries of a few days, some of them unknown, narrowed by each other."""
    day = st.integers(0, DAYS)
    start_days, end_days = (sorted((draw(day), draw(day))) for _ in range(2))
    if start_days[0] > end_days[1]:  # no reading would have its start before its end
        start_days, end_days = end_days, start_days
    boundary_days = [
        None if draw(st.integers(0, 3)) == 0 else boundary_day
        for boundary_day in (*start_days, *end_days)
    ]
    return Interval(
        boundary_days[0], boundary_days[1], boundary_days[2], boundary_days[3], draw(st.booleans())
    ).narrowed()


windows = st.tuples(st.integers(-2, DAYS + 2), st.integers(-2, DAYS + 2)).map(
    lambda days: (min(days), max(days))
)


def as_dates(interval: Interval[int]) -> Interval[date]:
    """The same with dates in place of small numbers."""
    boundary_dates = [
        None if day_number is None else to_date(day_number) for day_number in interval.boundaries
    ]
    return Interval(
        boundary_dates[0],
        boundary_dates[1],
        boundary_dates[2],
        boundary_dates[3],
        interval.doubtful,
    )


def to_date(day_number: int) -> date:
    """The day with this number of the small calendar."""
    return date.fromordinal(BASE) + timedelta(day_number)


@settings(max_examples=200, deadline=None)
@given(intervals(), intervals(), windows, st.integers(0, 3))
def test_single_values_and_readings(
    first_interval: Interval[int],
    second_interval: Interval[int],
    window: tuple[int, int],
    day_count: int,
) -> None:
    for question in QUESTIONS:
        arguments: tuple[Any, ...] = (
            (second_interval, day_count) if question.takes_other else window
        )
        if question.method == "overlaps" and day_count == 0:
            continue  # no days in common are no overlap that anybody asks for
        expected_answer = by_readings(question, first_interval, *arguments)
        given_arguments = arguments[:1] if question.method in ONE_DAY else arguments
        assert getattr(first_interval, question.method)(*given_arguments) is expected_answer, (
            question,
            first_interval,
        )
        dated_arguments = [
            as_dates(argument)
            if isinstance(argument, Interval)
            else argument
            if question.takes_other
            else to_date(argument)
            for argument in given_arguments
        ]
        assert (
            getattr(as_dates(first_interval), question.method)(*dated_arguments) is expected_answer
        ), (question, first_interval)


ROW = st.tuples(intervals(), intervals(), windows)
COLUMNS = ("start_first", "start_last", "end_first", "end_last")


@settings(max_examples=6, deadline=None, phases=[Phase.generate])  # shrinking tables is slow
@given(st.lists(ROW, min_size=40, max_size=60), st.integers(1, 3))
def test_tables_and_single_values(
    cases: list[tuple[Interval[int], Interval[int], tuple[int, int]]], day_count: int
) -> None:
    check_tables(cases, day_count)


def check_tables(
    cases: list[tuple[Interval[int], Interval[int], tuple[int, int]]],
    day_count: int,
) -> None:
    """Both classes give the same answers to all questions about these rows."""
    columns: dict[str, list[Any]] = {"number": list(range(len(cases)))}
    for prefix in ("", "other_"):
        case_intervals = [as_dates(case[1] if prefix else case[0]) for case in cases]
        for column_name, boundary_days in zip(
            COLUMNS,
            zip(*(interval.boundaries for interval in case_intervals), strict=True),
            strict=True,
        ):
            columns[prefix + column_name] = list(boundary_days)
        columns[prefix + "doubtful"] = [interval.doubtful for interval in case_intervals]
    for window_place, window_column in enumerate(("first", "last")):
        columns[window_column] = [to_date(case[2][window_place]) for case in cases]
    column_types = {
        window_column: pa.date32()
        for window_column in columns
        if window_column.endswith(("first", "last"))
    }
    column_arrays = {
        window_column: pa.array(boundary_days, column_types.get(window_column))
        for window_column, boundary_days in columns.items()
    }
    interval_table = ibis.memtable(pa.table(column_arrays))
    first_columns = IntervalColumns.of(interval_table, doubtful=interval_table.doubtful)
    second_columns = IntervalColumns.of(interval_table, "other_", interval_table.other_doubtful)
    answer_columns: dict[str, ibis.Value] = {}
    for question in QUESTIONS:
        if question.method in ONE_DAY:
            continue
        arguments = (
            (second_columns, day_count)
            if question.takes_other
            else (interval_table["first"], interval_table["last"])
        )
        answer = getattr(first_columns, question.method)(*arguments)
        answer_columns |= {f"{question.method}:certain": answer.certain}
        answer_columns |= {f"{question.method}:possible": answer.possible}
    answer_rows = interval_table.select("number", **answer_columns).to_pyarrow().to_pylist()
    for row in answer_rows:
        first_interval, second_interval, window = cases[row["number"]]
        for question in QUESTIONS:
            if question.method in ONE_DAY:
                continue
            case_arguments: tuple[Any, ...] = (
                (second_interval, day_count) if question.takes_other else window
            )
            expected_answer = getattr(first_interval, question.method)(*case_arguments)
            certain, possible = (
                row[f"{question.method}:{answer_name}"] for answer_name in ("certain", "possible")
            )
            assert possible or not certain
            assert Certainty.of(certain, possible) is expected_answer, (
                question,
                first_interval,
                case_arguments,
            )


YEAR_2020 = (date(2020, 1, 1), date(2020, 12, 31))
ON_1_MAY = (date(2020, 5, 1), date(2020, 5, 1))
APRIL_2020 = (date(2020, 4, 1), date(2020, 4, 30))
PERIODS = [
    # A start known to the year is certain for the year, and only possible for its quarters.
    ((*YEAR_2020, None, None), (date(2020, 1, 1), date(2020, 3, 31)), Certainty.POSSIBLE),
    ((*YEAR_2020, date(2020, 12, 31), None), YEAR_2020, Certainty.CERTAIN),
    # A fact whose start is unknown is certain around its end alone.
    ((None, date(2020, 5, 1), *ON_1_MAY), ON_1_MAY, Certainty.CERTAIN),
    ((None, date(2020, 5, 1), *ON_1_MAY), APRIL_2020, Certainty.POSSIBLE),
    ((None, None, *ON_1_MAY), (date(2020, 5, 2), date(2020, 6, 1)), Certainty.NO),
]


@pytest.mark.parametrize(("boundaries", "period", "expected"), PERIODS)
def test_a_fact_against_a_period(
    boundaries: tuple[date | None, date | None, date | None, date | None],
    period: tuple[date, date],
    expected: Certainty,
) -> None:
    assert Interval(*boundaries).holds_within(*period) is expected
