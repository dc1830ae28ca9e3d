"""Timelines and period diff against the oracle: many random histories at once."""

from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from factdrift.builders.core.dates import Granularity, Period, periods
from factdrift.builders.core.engine import Engine
from factdrift.builders.facts import period_diff, timeline
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.period_diff import Undated
from factdrift.builders.facts.timeline import REASONS
from tests import random_histories, spec_oracle
from tests.history_tables import segment_rows, tables
from tests.spec_oracle import History

SNAPSHOT = random_histories.SNAPSHOT
SOME, MANY = 700, 20_000
RUNS: list[tuple[Granularity, Undated, timeline.WhenCounted]] = [
    ("quarter", "accept", "end"),
    ("month", "doubt", "during"),
    ("month", "accept", "end"),
    ("year", "ignore", "during"),
    ("year", "accept", "end"),
    ("quarter", "accept", "during"),
]
CAUSES = {
    **{cause: REASONS[cause] for cause in ("rival", "possible", "contradictory", "undated")},
    "unlabelled": REASONS["unlabelled_object"],
    "nothing_added": "nothing_added",
}


class Both:
    """Some histories, their lines by the oracle, and their timelines by the product."""

    def __init__(self, duck: Engine, folder: Path, seed: int, count: int) -> None:
        self.duck = duck
        self.histories = list(random_histories.histories(seed, count))
        self.lines = {
            history.subject.id: spec_oracle.timeline(history, SNAPSHOT.toordinal())
            for history in self.histories
        }
        self.facts, self.gaps, *other_tables = tables(duck, folder, self.histories, SNAPSHOT)
        fresh_timelines = timeline.timeline(duck, self.facts, self.gaps, *other_tables)
        self.line = timeline.TimelineTables(
            duck.keep(fresh_timelines.segments), duck.keep(fresh_timelines.gaps)
        )


@pytest.fixture(
    scope="module", params=[SOME, pytest.param(MANY, marks=pytest.mark.slow)], ids=["some", "many"]
)
def both(
    request: pytest.FixtureRequest, duck: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Both:
    count = request.param
    return Both(duck, tmp_path_factory.mktemp("tables"), 7 if count == SOME else 11, count)


_COLUMNS = ["subject", "object", *DATES, "end_open", "end_inferred", "rival"]


def test_segments(both: Both) -> None:
    """Every segment with its days and flags."""
    segment_table = both.duck.rows(both.line.segments.select(_COLUMNS))
    found_segments = Counter(tuple(row.values()) for row in segment_table)
    expected_segments = Counter(
        tuple(getattr(segment, column_name) for column_name in _COLUMNS)
        for history in both.histories
        for segment in segment_rows(history, both.lines[history.subject.id], SNAPSHOT)
    )
    assert sorted((found_segments - expected_segments).items(), key=repr)[:5] == []
    assert sorted((expected_segments - found_segments).items(), key=repr)[:5] == []


def test_statements_of_segments(both: Both) -> None:
    """Every statement of a named object is in a segment or a gap of its object, or began later."""
    stated_rows = both.duck.rows(both.line.segments.select("subject", "statements"))
    used_statements = {statement_id for row in stated_rows for statement_id in row["statements"]}
    used_statements |= {
        row["statement"] for row in both.duck.rows(both.line.gaps.select("statement"))
    }
    stated_table = both.facts.select("statement", "start_first").union(
        both.gaps.select("statement", "start_first")
    )
    unused_rows = [
        row for row in both.duck.rows(stated_table.distinct())
        if row["statement"] not in used_statements
        and not (row["start_first"] or date.min) > SNAPSHOT
    ]  # fmt: skip
    subjects_with_lives = {
        history.subject.id
        for history in both.histories
        if history.subject.born or history.subject.died
    }
    assert [
        row for row in unused_rows if row["statement"].split("$")[0] not in subjects_with_lives
    ] == []


Row = tuple[str, ...]


@cache
def spoken(kind: Granularity, first_day: int) -> str:
    """The name of the period that begins on a day."""
    return str(Period.of(date.fromordinal(first_day), kind))


def expected_rows(
    history: History,
    both: Both,
    kind: Granularity,
    undated: Undated,
    when_counted: timeline.WhenCounted,
) -> list[Row]:
    """The deltas and drops of one history by the oracle."""
    rows: list[Row] = []
    oracle_timeline = both.lines[history.subject.id]
    for period, comparison in spec_oracle.comparisons(
        oracle_timeline,
        kind,
        random_histories.FIRST_YEAR,
        SNAPSHOT.toordinal(),
        undated,
        when_counted,
    ):
        row_start = (history.subject.id, spoken(kind, period.first))
        if comparison.split is None:
            continue
        if comparison.dropped:
            rows.append((*row_start, "dropped", CAUSES[str(comparison.cause)]))
            continue
        object_sets = (
            comparison.answers,
            comparison.added,
            comparison.removed,
            comparison.possible_answers,
            comparison.still_true,
        )
        rows.append(
            (
                *row_start,
                comparison.split,
                *(" ".join(sorted(object_set)) for object_set in object_sets),
            )
        )
    return rows


@pytest.mark.parametrize(
    ("kind", "undated", "when_counted"),
    [*RUNS[:2], *(pytest.param(*run, marks=pytest.mark.slow) for run in RUNS[2:])],
)
def test_period_diff(
    both: Both, kind: Granularity, undated: Undated, when_counted: timeline.WhenCounted
) -> None:
    """Every row and every drop with its reason."""
    first_period = Period.of(date(random_histories.FIRST_YEAR, 1, 1), kind)
    last_period = Period.of(SNAPSHOT, kind) + -1
    comparisons = period_diff.compare(
        both.line.segments,
        periods(first_period, last_period),
        both.line.gaps,
        undated,
        when_counted,
    )
    comparisons = both.duck.keep(
        period_diff.drop_nothing_added(comparisons) if when_counted == "end" else comparisons
    )
    set_columns = ("answers", "added", "removed", "possible_answers", "still_true")
    found_rows: set[Row] = set()
    for row in both.duck.rows(period_diff.delta_rows(comparisons)):
        row_start = (row["subject"], str(Period(kind, row["period"])), row["split"])
        found_rows.add(
            (*row_start, *(" ".join(sorted(row[column_name])) for column_name in set_columns))
        )
    for row in both.duck.rows(period_diff.dropped_rows(comparisons, kind)):
        found_rows.add((row["subject"], row["period"], "dropped", row["reason"]))
    oracle_rows = {
        row
        for history in both.histories
        for row in expected_rows(history, both, kind, undated, when_counted)
    }
    assert sorted(found_rows - oracle_rows)[:5] == []
    assert sorted(oracle_rows - found_rows)[:5] == []
    assert len({row[3] for row in found_rows if row[2] == "dropped"}) >= 4
