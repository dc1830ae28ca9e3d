"""Histories of `tests.spec_oracle` as the tables that the reading of a dump leaves."""

from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.facts.timeline import Rules, TimeRule
from factdrift.builders.rows import Entity, Fact, Gap, Segment
from factdrift.builders.rows.facts import GapReason
from tests import spec_oracle
from tests.histories import parquet
from tests.spec_oracle import MAX_DAY, MIN_DAY, UNKNOWN, History, Point, Timeline

REASONS: dict[str, GapReason] = {
    "undated": "undated",
    "contradictory": "contradictory",
    "unlabelled": "unlabelled_object",
}
"""Of the oracle's gaps, as the rows have them."""


def tables(
    eng: Engine, folder: Path, histories: Iterable[History], snapshot: date
) -> tuple[ir.Table, ir.Table, ir.Table, Rules]:
    """The facts, gaps and entities that a dump of that day has of the histories, and the rules."""
    made: dict[type, dict[str, Any]] = {Fact: {}, Gap: {}, Entity: {}}
    rules = {}
    for history in histories:
        told = history.relation
        rules[told.id] = TimeRule.model_validate(
            {c: getattr(told, c) for c in ("exclusive", "ends_with", "undated", "open_for")}
        )
        for one in (history.subject, *history.objects.values()):
            known = ([date.fromordinal(d) for d in life or ()] for life in (one.born, one.died))
            life = [day for days in known for day in days or (None, None)]
            if one.labelled or one.born or one.died:
                label = one.id if one.labelled else ""
                days = life[0], life[1], life[2], life[3]
                made[Entity][one.id] = Entity(one.id, label, (), one.id, 1, 1, 1, *days)
        for number, said in enumerate(history.facts):
            name = f"{history.subject.id}${number}"
            row = _row(history, name, said, snapshot)
            made[type(row)][name] = row
    folder.mkdir(exist_ok=True, parents=True)
    facts, gaps, entities = (
        eng.read(parquet(folder / f"{row.__name__}.parquet", row, [*some.values()]), row)
        for row, some in made.items()
    )
    return facts, gaps, entities, rules


def _row(history: History, name: str, said: spec_oracle.Fact, snapshot: date) -> Fact | Gap:
    labelled = history.objects[said.object].labelled
    place: dict[str, Any] = {
        "statement": name,
        "subject": history.subject.id,
        "relation": history.relation.id,
        "object": said.object,
        "rank": said.rank,
        "snapshot": snapshot,
        **_dates(said.start, said.end),
        "end_open": said.end is None,
    }
    kept = said.reason == "undated" and labelled and history.relation.undated == "keep"
    if kept or (labelled and not said.reason):
        return Fact(**place, point=said.kind == "point", sighting=said.kind == "sighting")
    return Gap(**place, reason=REASONS[said.reason or "unlabelled"])


def segment_rows(history: History, line: Timeline, snapshot: date) -> Iterator[Segment]:
    """The segments of a timeline as rows, all of the statement `s`."""
    for one in line.segments:
        yield Segment(
            history.subject.id, history.relation.id, one.object, **_dates(one.start, one.end),
            end_open=one.end_open, end_inferred=one.end_inferred, rival=one.doubtful,
            statements=("s",), snapshot=snapshot,
        )  # fmt: skip


def gap_rows(history: History, line: Timeline, snapshot: date) -> Iterator[Gap]:
    """The gaps of a timeline as rows, all of the statement `s`."""
    for one in line.gaps:
        days = _dates(Point(one.first, MAX_DAY), Point(MIN_DAY, one.last))
        yield Gap(
            "s", history.subject.id, history.relation.id, one.object, **days,
            end_open=False, reason=REASONS[one.reason], rank="normal", snapshot=snapshot,
        )  # fmt: skip


def _dates(start: Point, end: Point | None) -> dict[str, date | None]:
    names = ("start_first", "start_last", "end_first", "end_last")
    return dict(zip(names, [*_days(start), *_days(end or UNKNOWN)], strict=True))


def _days(of: Point) -> Iterator[date | None]:
    """Its first and last day; None: unknown."""
    for day, edge in zip(of, UNKNOWN, strict=True):
        yield None if day == edge else date.fromordinal(day)
