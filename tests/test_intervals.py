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
LIMITLESS = DAYS + 3
"""How far an unknown boundary reaches: further than every question."""
BASE = date(2020, 1, 10).toordinal()

Reading = tuple[int, int] | None
"""First and last day; None: it never held."""


class Question(NamedTuple):
    """One question as a method of both classes, and as a predicate over single readings."""

    method: str
    takes_other: bool
    about: Callable[..., bool]


QUESTIONS = [
    Question("begins_by", False, lambda held, first, last: held[0] <= first),
    Question("lasts_until", False, lambda held, first, last: held[1] >= first),
    Question("holds_within", False, lambda held, first, last: held[0] <= last and held[1] >= first),
    Question(
        "holds_throughout", False, lambda held, first, last: held[0] <= first and held[1] >= last
    ),
    Question("starts_within", False, lambda held, first, last: first <= held[0] <= last),
    Question("ends_within", False, lambda held, first, last: first <= held[1] <= last),
    Question("precedes", True, lambda held, other, days: other[0] - held[1] - 1 >= days),
    Question(
        "overlaps",
        True,
        lambda held, other, days: min(held[1], other[1]) - max(held[0], other[0]) + 1 >= days,
    ),
]
ONE_DAY = ("begins_by", "lasts_until")
"""Questions about one day, which `IntervalColumns` asks as windows of one day or not at all."""


def readings(interval: Interval[int]) -> list[Reading]:
    """Every start with every end that is not before it."""
    known = [
        -LIMITLESS if interval.start_first is None else interval.start_first,
        LIMITLESS if interval.start_last is None else interval.start_last,
        -LIMITLESS if interval.end_first is None else interval.end_first,
        LIMITLESS if interval.end_last is None else interval.end_last,
    ]
    starts, ends = range(known[0], known[1] + 1), range(known[2], known[3] + 1)
    found: list[Reading] = [(start, end) for start, end in product(starts, ends) if start <= end]
    return [*found, None] if interval.doubtful else found


def by_readings(question: Question, interval: Interval[int], *arguments: Any) -> Certainty:
    """The answer by walking over all readings."""
    if question.takes_other:
        other, days = arguments
        answers = {
            held is not None and beside is not None and question.about(held, beside, days)
            for held, beside in product(readings(interval), readings(other))
        }
    else:
        answers = {
            held is not None and question.about(held, *arguments) for held in readings(interval)
        }
    return Certainty.of(False not in answers, True in answers)


@st.composite
def intervals(draw: st.DrawFn) -> Interval[int]:
    """Boundaries of a few days, some of them unknown, narrowed by each other."""
    day = st.integers(0, DAYS)
    start, end = (sorted((draw(day), draw(day))) for _ in range(2))
    if start[0] > end[1]:  # no reading would have its start before its end
        start, end = end, start
    known = [None if draw(st.integers(0, 3)) == 0 else bound for bound in (*start, *end)]
    return Interval(known[0], known[1], known[2], known[3], draw(st.booleans())).narrowed()


windows = st.tuples(st.integers(-2, DAYS + 2), st.integers(-2, DAYS + 2)).map(
    lambda days: (min(days), max(days))
)


def as_dates(interval: Interval[int]) -> Interval[date]:
    """The same with dates in place of small numbers."""
    days = [None if number is None else to_date(number) for number in interval.boundaries]
    return Interval(days[0], days[1], days[2], days[3], interval.doubtful)


def to_date(number: int) -> date:
    """The day with this number of the small calendar."""
    return date.fromordinal(BASE) + timedelta(number)


@settings(max_examples=200, deadline=None)
@given(intervals(), intervals(), windows, st.integers(0, 3))
def test_single_values_and_readings(
    one: Interval[int], other: Interval[int], window: tuple[int, int], days: int
) -> None:
    for question in QUESTIONS:
        arguments: tuple[Any, ...] = (other, days) if question.takes_other else window
        if question.method == "overlaps" and days == 0:
            continue  # no days in common are no overlap that anybody asks for
        wanted = by_readings(question, one, *arguments)
        given_arguments = arguments[:1] if question.method in ONE_DAY else arguments
        assert getattr(one, question.method)(*given_arguments) is wanted, (question, one)
        dates = [
            as_dates(a) if isinstance(a, Interval) else a if question.takes_other else to_date(a)
            for a in given_arguments
        ]
        assert getattr(as_dates(one), question.method)(*dates) is wanted, (question, one)


ROW = st.tuples(intervals(), intervals(), windows)
COLUMNS = ("start_first", "start_last", "end_first", "end_last")


@settings(max_examples=6, deadline=None, phases=[Phase.generate])  # shrinking tables is slow
@given(st.lists(ROW, min_size=40, max_size=60), st.integers(1, 3))
def test_tables_and_single_values(
    cases: list[tuple[Interval[int], Interval[int], tuple[int, int]]], days: int
) -> None:
    check_tables(cases, days)


def check_tables(
    cases: list[tuple[Interval[int], Interval[int], tuple[int, int]]],
    days: int,
) -> None:
    """Both classes give the same answers to all questions about these rows."""
    columns: dict[str, list[Any]] = {"number": list(range(len(cases)))}
    for prefix in ("", "other_"):
        some = [as_dates(case[1] if prefix else case[0]) for case in cases]
        for column, values in zip(
            COLUMNS, zip(*(interval.boundaries for interval in some), strict=True), strict=True
        ):
            columns[prefix + column] = list(values)
        columns[prefix + "doubtful"] = [interval.doubtful for interval in some]
    for place, name in enumerate(("first", "last")):
        columns[name] = [to_date(case[2][place]) for case in cases]
    types = {name: pa.date32() for name in columns if name.endswith(("first", "last"))}
    arrays = {name: pa.array(values, types.get(name)) for name, values in columns.items()}
    table = ibis.memtable(pa.table(arrays))
    ours = IntervalColumns.of(table, doubtful=table.doubtful)
    others = IntervalColumns.of(table, "other_", table.other_doubtful)
    made: dict[str, ibis.Value] = {}
    for question in QUESTIONS:
        if question.method in ONE_DAY:
            continue
        arguments = (others, days) if question.takes_other else (table["first"], table["last"])
        answer = getattr(ours, question.method)(*arguments)
        made |= {f"{question.method}:certain": answer.certain}
        made |= {f"{question.method}:possible": answer.possible}
    rows = table.select("number", **made).to_pyarrow().to_pylist()
    for row in rows:
        one, other, window = cases[row["number"]]
        for question in QUESTIONS:
            if question.method in ONE_DAY:
                continue
            asked: tuple[Any, ...] = (other, days) if question.takes_other else window
            wanted = getattr(one, question.method)(*asked)
            certain, possible = (row[f"{question.method}:{v}"] for v in ("certain", "possible"))
            assert possible or not certain
            assert Certainty.of(certain, possible) is wanted, (question, one, asked)


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


@pytest.mark.parametrize(("boundaries", "period", "wanted"), PERIODS)
def test_a_fact_against_a_period(
    boundaries: tuple[date | None, date | None, date | None, date | None],
    period: tuple[date, date],
    wanted: Certainty,
) -> None:
    assert Interval(*boundaries).holds_within(*period) is wanted
