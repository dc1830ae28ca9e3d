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
            h.subject.id: spec_oracle.timeline(h, SNAPSHOT.toordinal()) for h in self.histories
        }
        self.facts, self.gaps, *more = tables(duck, folder, self.histories, SNAPSHOT)
        made = timeline.timeline(duck, self.facts, self.gaps, *more)
        self.line = timeline.TimelineTables(duck.keep(made.segments), duck.keep(made.gaps))


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
    made = both.duck.rows(both.line.segments.select(_COLUMNS))
    found = Counter(tuple(row.values()) for row in made)
    expected = Counter(
        tuple(getattr(segment, c) for c in _COLUMNS)
        for history in both.histories
        for segment in segment_rows(history, both.lines[history.subject.id], SNAPSHOT)
    )
    assert sorted((found - expected).items(), key=repr)[:5] == []
    assert sorted((expected - found).items(), key=repr)[:5] == []


def test_statements_of_segments(both: Both) -> None:
    """Every statement of a named object is in a segment or a gap of its object, or began later."""
    told = both.duck.rows(both.line.segments.select("subject", "statements"))
    behind = {s for row in told for s in row["statements"]}
    behind |= {row["statement"] for row in both.duck.rows(both.line.gaps.select("statement"))}
    stated = both.facts.select("statement", "start_first").union(
        both.gaps.select("statement", "start_first")
    )
    missing = [
        row for row in both.duck.rows(stated.distinct())
        if row["statement"] not in behind and not (row["start_first"] or date.min) > SNAPSHOT
    ]  # fmt: skip
    births = {h.subject.id for h in both.histories if h.subject.born or h.subject.died}
    assert [row for row in missing if row["statement"].split("$")[0] not in births] == []


Row = tuple[str, ...]


@cache
def spoken(kind: Granularity, first: int) -> str:
    """The name of the period that begins on a day."""
    return str(Period.of(date.fromordinal(first), kind))


def expected_rows(
    history: History, both: Both, kind: Granularity, undated: Undated, at: timeline.WhenCounted
) -> list[Row]:
    """The deltas and drops of one history by the oracle."""
    rows: list[Row] = []
    line = both.lines[history.subject.id]
    for period, c in spec_oracle.comparisons(
        line, kind, random_histories.FIRST_YEAR, SNAPSHOT.toordinal(), undated, at
    ):
        place = (history.subject.id, spoken(kind, period.first))
        if c.split is None:
            continue
        if c.dropped:
            rows.append((*place, "dropped", CAUSES[str(c.cause)]))
            continue
        sets = (c.answers, c.added, c.removed, c.possible_answers, c.still_true)
        rows.append((*place, c.split, *(" ".join(sorted(one)) for one in sets)))
    return rows


@pytest.mark.parametrize(
    ("kind", "undated", "at"),
    [*RUNS[:2], *(pytest.param(*one, marks=pytest.mark.slow) for one in RUNS[2:])],
)
def test_period_diff(
    both: Both, kind: Granularity, undated: Undated, at: timeline.WhenCounted
) -> None:
    """Every row and every drop with its reason."""
    low = Period.of(date(random_histories.FIRST_YEAR, 1, 1), kind)
    high = Period.of(SNAPSHOT, kind) + -1
    met = period_diff.compare(both.line.segments, periods(low, high), both.line.gaps, undated, at)
    met = both.duck.keep(period_diff.drop_nothing_added(met) if at == "end" else met)
    sets = ("answers", "added", "removed", "possible_answers", "still_true")
    found: set[Row] = set()
    for row in both.duck.rows(period_diff.delta_rows(met)):
        place = (row["subject"], str(Period(kind, row["period"])), row["split"])
        found.add((*place, *(" ".join(sorted(row[c])) for c in sets)))
    for row in both.duck.rows(period_diff.dropped_rows(met, kind)):
        found.add((row["subject"], row["period"], "dropped", row["reason"]))
    expected = {row for h in both.histories for row in expected_rows(h, both, kind, undated, at)}
    assert sorted(found - expected)[:5] == []
    assert sorted(expected - found)[:5] == []
    assert len({row[3] for row in found if row[2] == "dropped"}) >= 4
