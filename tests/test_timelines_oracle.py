"""Timelines and period diff against the oracle: many random histories at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import ibis.expr.types as ir
import pytest

from factdrift.builders.core.dates import Granularity, Period, periods
from factdrift.builders.core.engine import Engine
from factdrift.builders.facts import learned, period_diff, timeline
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.period_diff import Undated
from factdrift.builders.facts.time_rules import TimeRule
from factdrift.builders.facts.timeline import REASONS
from factdrift.builders.facts.vacancies import certain_vacancies
from tests import random_histories, spec_oracle
from tests.history_tables import segment_rows, tables
from tests.spec_oracle import History
from tests.tables import column_of

SNAPSHOT = random_histories.SNAPSHOT
# of the quick test, and of the slow one, in which rare meetings of rules come up too
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
    **{
        cause: REASONS[cause]
        for cause in ("rival", "possible", "contradictory", "undated", "stale")
    },
    "unlabelled": REASONS["unlabelled_object"],
    "nothing_added": "nothing_added",
}


class Both:
    """Some histories, their lines by the oracle, and their timelines by the product."""

    def __init__(self, duck: Engine, folder: Path, seed: int, count: int) -> None:
        self.duck = duck
        self.histories = list(random_histories.histories(seed, count))
        offices = spec_oracle.Offices(self.histories, SNAPSHOT.toordinal())
        self.lines = {
            history.subject.id: spec_oracle.timeline(history, SNAPSHOT.toordinal(), offices)
            for history in self.histories
        }
        self.facts, self.gaps, self.entities, self.rules = tables(
            duck, folder, self.histories, SNAPSHOT
        )
        fresh_timelines = timeline.timeline(duck, self.facts, self.gaps, self.entities, self.rules)
        self.line = timeline.TimelineTables(
            duck.keep(fresh_timelines.segments), duck.keep(fresh_timelines.gaps)
        )


@pytest.fixture(
    scope="module", params=[SOME, pytest.param(MANY, marks=pytest.mark.slow)], ids=["some", "many"]
)
def both_timelines(
    request: pytest.FixtureRequest, duck: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Both:
    count = request.param
    return Both(duck, tmp_path_factory.mktemp("tables"), 7 if count == SOME else 11, count)


_COLUMNS = ["subject", "object", *DATES, "end_open", "end_inferred", "rival", "stale_until"]


def days_of(rows: Iterable[dict[str, Any]], is_sure: bool) -> dict[tuple[str, str], str]:
    """The days on which each object surely held, or may have held, as runs of days."""
    days_by_object: dict[tuple[str, str], set[int]] = defaultdict(set)
    names = ("start_last", "end_first") if is_sure else ("start_first", "end_last")
    far = (date(2100, 1, 1), date(1900, 1, 1)) if is_sure else (date(1900, 1, 1), date(2100, 1, 1))
    for row in rows:
        if not (is_sure and row["rival"]):
            first, last = row[names[0]] or far[0], row[names[1]] or far[1]
            days = range(max(first, date(1900, 1, 1)).toordinal(), last.toordinal() + 1)
            days_by_object[row["subject"], row["object"]].update(days)
    return {
        key: " ".join(
            str(date.fromordinal(day)) for day in sorted(days) if not {day - 1, day + 1} <= days
        )
        for key, days in days_by_object.items()
        if days
    }


def test_segments(both_timelines: Both) -> None:
    """Every segment with its days and flags; where terms overlap shortly, the days of objects."""
    cut_subjects = {
        subject
        for subject, line in both_timelines.lines.items()
        if any(line_segment.doubts for line_segment in line.segments)
    }
    found_rows = both_timelines.duck.rows(both_timelines.line.segments.select(_COLUMNS))
    expected_rows = [
        {column_name: getattr(segment, column_name) for column_name in _COLUMNS}
        for history in both_timelines.histories
        for segment in segment_rows(history, both_timelines.lines[history.subject.id], SNAPSHOT)
    ]
    found_segments, expected_segments = (
        Counter(tuple(row.values()) for row in rows if row["subject"] not in cut_subjects)
        for rows in (found_rows, expected_rows)
    )
    assert sorted((found_segments - expected_segments).items(), key=repr)[:5] == []
    assert sorted((expected_segments - found_segments).items(), key=repr)[:5] == []
    for is_sure in (True, False):
        found_days, expected_days = (
            set(days_of((row for row in rows if row["subject"] in cut_subjects), is_sure).items())
            for rows in (found_rows, expected_rows)
        )
        assert sorted(found_days - expected_days)[:5] == []
        assert sorted(expected_days - found_days)[:5] == []
    assert len(cut_subjects) > len(both_timelines.histories) / 100


def test_statements_of_segments(both_timelines: Both) -> None:
    """Every statement of a named object is in a segment or a gap of its object, or began later."""
    stated_rows = both_timelines.duck.rows(
        both_timelines.line.segments.select("subject", "statements")
    )
    used_statements = {statement_id for row in stated_rows for statement_id in row["statements"]}
    used_statements |= set(
        column_of(
            both_timelines.duck.rows(both_timelines.line.gaps.select("statement")), "statement"
        )
    )
    stated_table = both_timelines.facts.select("statement", "start_first").union(
        both_timelines.gaps.select("statement", "start_first")
    )
    unused_rows = [
        row for row in both_timelines.duck.rows(stated_table.distinct())
        if row["statement"] not in used_statements
        and not (row["start_first"] or date.min) > SNAPSHOT
    ]  # fmt: skip
    subjects_with_lives = {
        history.subject.id
        for history in both_timelines.histories
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
    both_timelines: Both,
    kind: Granularity,
    undated: Undated,
    when_counted: timeline.WhenCounted,
) -> list[Row]:
    """The deltas and drops of one history by the oracle."""
    rows: list[Row] = []
    oracle_timeline = both_timelines.lines[history.subject.id]
    for period, comparison in spec_oracle.comparisons(
        oracle_timeline,
        kind,
        random_histories.FIRST_YEAR,
        SNAPSHOT.toordinal(),
        "doubt" if history.relation.undated == "doubt" else undated,
        when_counted,
    ):
        row_start = (history.subject.id, spoken(kind, period.first))
        if comparison.dropped:
            rows.append((*row_start, "dropped", CAUSES[str(comparison.cause)]))
        if comparison.dropped or comparison.split is None:
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


def compared(
    both_timelines: Both, kind: Granularity, undated: Undated, when_counted: timeline.WhenCounted
) -> ir.Table:
    """The product's comparisons over all periods."""
    first_period = Period.of(date(random_histories.FIRST_YEAR, 1, 1), kind)
    last_period = Period.of(SNAPSHOT, kind) + -1
    return period_diff.compare(
        both_timelines.line.segments,
        periods(first_period, last_period),
        both_timelines.line.gaps,
        undated,
        when_counted,
        {relation for relation, rule in both_timelines.rules.items() if rule.undated == "doubt"},
    )


@pytest.mark.parametrize(
    ("kind", "undated", "when_counted"),
    [*RUNS[:2], *(pytest.param(*run, marks=pytest.mark.slow) for run in RUNS[2:])],
)
def test_period_diff(
    both_timelines: Both, kind: Granularity, undated: Undated, when_counted: timeline.WhenCounted
) -> None:
    """Every row and every drop with its reason."""
    comparisons = compared(both_timelines, kind, undated, when_counted)
    comparisons = both_timelines.duck.keep(
        period_diff.drop_nothing_added(comparisons) if when_counted == "end" else comparisons
    )
    set_columns = ("answers", "added", "removed", "possible_answers", "still_true")
    found_rows: set[Row] = set()
    for row in both_timelines.duck.rows(period_diff.delta_rows(comparisons)):
        row_start = (row["subject"], str(Period(kind, row["period"])), row["split"])
        found_rows.add(
            (*row_start, *(" ".join(sorted(row[column_name])) for column_name in set_columns))
        )
    for row in both_timelines.duck.rows(period_diff.dropped_rows(comparisons, kind)):
        found_rows.add((row["subject"], row["period"], "dropped", row["reason"]))
    oracle_rows = {
        row
        for history in both_timelines.histories
        for row in expected_rows(history, both_timelines, kind, undated, when_counted)
    }
    assert sorted(found_rows - oracle_rows)[:5] == []
    assert sorted(oracle_rows - found_rows)[:5] == []
    assert len({row[3] for row in found_rows if row[2] == "dropped"}) >= 4


def vacancy_rows(
    subject_id: str, both_timelines: Both, kind: Granularity, when_counted: timeline.WhenCounted
) -> Iterator[tuple[str, str, str, bool]]:
    """The new and deleted rows of a subject, and whether each stands at a certain vacancy."""
    snapshot_day = SNAPSHOT.toordinal()
    line, first_year = both_timelines.lines[subject_id], random_histories.FIRST_YEAR
    previous_period = spec_oracle.periods(kind, first_year, snapshot_day)[0]
    for period, comparison in spec_oracle.comparisons(
        line, kind, first_year, snapshot_day, when_counted=when_counted
    ):
        vacant_period = period if comparison.split == "deleted" else previous_period
        if comparison.split in ("new", "deleted") and not comparison.dropped:
            is_certain = spec_oracle.is_vacant(line, vacant_period.last)
            yield subject_id, spoken(kind, period.first), comparison.split, is_certain
        previous_period = period


@pytest.mark.parametrize(
    ("kind", "when_counted"),
    [("month", "end"), pytest.param("quarter", "end", marks=pytest.mark.slow)],
)
def test_vacancies(
    both_timelines: Both, kind: Granularity, when_counted: timeline.WhenCounted
) -> None:
    """The new and deleted rows of exclusive relations stand at certain vacancies."""
    exclusive_ids = {relation for relation, rule in both_timelines.rules.items() if rule.exclusive}
    comparisons = both_timelines.duck.keep(compared(both_timelines, kind, "accept", when_counted))
    vacant_days = both_timelines.duck.keep(
        period_diff.vacant_days(comparisons, exclusive_ids, kind)
    )
    vacancies = certain_vacancies(
        both_timelines.duck,
        vacant_days,
        both_timelines.line.segments,
        both_timelines.line.gaps,
        both_timelines.facts,
        exclusive_ids,
    )
    certain_comparisons = period_diff.drop_unsure_vacancies(
        comparisons, vacant_days, both_timelines.duck.keep(vacancies)
    )
    found_rows = {
        (row["subject"], str(Period(kind, row["period"])), row["split"])
        for row in both_timelines.duck.rows(period_diff.delta_rows(certain_comparisons))
        if row["relation"] in exclusive_ids and row["split"] in ("new", "deleted")
    }
    judged_rows: set[tuple[Any, ...]] = set()
    for history in both_timelines.histories:
        if history.relation.id in exclusive_ids:
            judged_rows.update(vacancy_rows(history.subject.id, both_timelines, kind, when_counted))
    oracle_rows = {row[:3] for row in judged_rows if row[3]}
    assert sorted(found_rows - oracle_rows)[:5] == []
    assert sorted(oracle_rows - found_rows)[:5] == []
    assert 0 < len(oracle_rows) < len(judged_rows)


@pytest.mark.parametrize(("usually", "share"), [("one", "0.8"), (None, "0.95")])
def test_learned_times(
    both_timelines: Both, tmp_path: Path, usually: Literal["one"] | None, share: str
) -> None:
    """The times learned from histories in which most open terms end."""
    histories = [
        replace(
            history,
            facts=tuple(
                printed_text for number, printed_text in enumerate(history.facts)
                if printed_text.end or (int(history.subject.id[1:]) + number) % 9 == 0
            ),
        )
        for history in both_timelines.histories
    ]  # fmt: skip
    facts, _, entities, _ = tables(both_timelines.duck, tmp_path, histories, SNAPSHOT)
    rules = {
        relation: TimeRule(open_for="learned", usually=usually) for relation in both_timelines.rules
    }
    found_times = {
        learned_time.relation: learned_time
        for learned_time in learned.learned_times(both_timelines.duck, facts, entities, rules)
    }
    days_by_relation: dict[str, Fraction | None] = {}
    for relation in rules:
        lengths = spec_oracle.term_lengths(
            (history for history in histories if history.relation.id == relation),
            SNAPSHOT.toordinal(),
        )
        days = spec_oracle.learned_days(lengths, Fraction(share))
        learned_time = found_times[relation]
        found_counts = (learned_time.closed, learned_time.open)
        assert found_counts == (len(lengths.closed), len(lengths.open)), relation
        assert (learned_time.days is None) == (days is None), relation
        # SPEC does not say how half a day between two middles is rounded.
        assert days is None or abs((learned_time.days or 0) - days) < 1, relation
        days_by_relation[relation] = days
    assert any(days_by_relation.values())
    # of many histories every relation has enough terms
    assert len(both_timelines.histories) > SOME or not all(days_by_relation.values())
