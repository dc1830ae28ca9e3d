"""Histories of `tests.spec_oracle` as the tables that the reading of a dump leaves."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import ibis.expr.types as ir

from factdrift.builders.core.engine import Engine
from factdrift.builders.facts.time_rules import Rules, TimeRule
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
    rows_by_type: dict[type, dict[str, Any]] = {Fact: {}, Gap: {}, Entity: {}}
    rules = {}
    for history in histories:
        told_relation = history.relation
        rules[told_relation.id] = TimeRule.model_validate(
            {column: getattr(told_relation, column) for column in TimeRule.model_fields}
        )
        for entity in (history.subject, *history.objects.values()):
            life_days = (
                [date.fromordinal(day_number) for day_number in life or ()]
                for life in (entity.born, entity.died)
            )
            life = [day for days in life_days for day in days or (None, None)]
            if entity.labelled or entity.born or entity.died:
                label = entity.id if entity.labelled else ""
                days = life[0], life[1], life[2], life[3]
                rows_by_type[Entity][entity.id] = Entity(
                    entity.id, label, (), entity.id, 1, 1, 1, *days
                )
        for fact_number, stated_fact in enumerate(history.facts):
            name = f"{history.subject.id}${fact_number}"
            row = _row(history, name, stated_fact, snapshot)
            rows_by_type[type(row)][name] = row
    folder.mkdir(exist_ok=True, parents=True)
    facts, gaps, entities = (
        eng.read(parquet(folder / f"{row.__name__}.parquet", row, [*type_rows.values()]), row)
        for row, type_rows in rows_by_type.items()
    )
    return facts, gaps, entities, rules


def _row(history: History, name: str, stated_fact: spec_oracle.Fact, snapshot: date) -> Fact | Gap:
    labelled = history.objects[stated_fact.object].labelled
    place: dict[str, Any] = {
        "statement": name,
        "subject": history.subject.id,
        "relation": history.relation.id,
        "object": stated_fact.object,
        "rank": stated_fact.rank,
        "snapshot": snapshot,
        **_dates(stated_fact.start, stated_fact.end),
        "end_open": stated_fact.end is None,
    }
    keeps_undated = (
        stated_fact.reason == "undated" and labelled and history.relation.undated == "keep"
    )
    if keeps_undated or (labelled and not stated_fact.reason):
        return Fact(
            **place, point=stated_fact.kind == "point", sighting=stated_fact.kind == "sighting"
        )
    return Gap(**place, reason=REASONS[stated_fact.reason or "unlabelled"])


def segment_rows(history: History, line: Timeline, snapshot: date) -> Iterator[Segment]:
    """The segments of a timeline as rows, all of the statement `s`."""
    for whole_segment in line.segments:
        for held_piece in pieces(whole_segment):
            stale_until = held_piece.stale_until
            yield Segment(
                history.subject.id, history.relation.id, held_piece.object,
                **_dates(held_piece.start, held_piece.end),
                end_open=held_piece.end_open, end_inferred=held_piece.end_inferred,
                rival=held_piece.doubtful, statements=("s",), snapshot=snapshot,
                stale_until=date.fromordinal(stale_until) if stale_until else None,
            )  # fmt: skip


def pieces(whole: spec_oracle.Segment) -> Iterator[spec_oracle.Segment]:
    """A segment cut where days of it are in doubt, those days as rivals."""
    days = sorted(whole.doubts)
    start = whole.start
    for first_day in [day for day in days if day - 1 not in whole.doubts]:
        last_day = next(day for day in days if day >= first_day and day + 1 not in whole.doubts)
        run = Point(first_day, last_day)
        if run.first > start.last:
            yield replace(whole, start=start, end=Point(run.first - 1, run.first - 1))
            start = Point(run.first, run.first)
        ends_in_doubt = run.last >= whole.end.first
        end = whole.end if ends_in_doubt else Point(run.last, run.last)
        yield replace(whole, start=start, end=end, doubtful=True)
        if ends_in_doubt:
            return
        start = Point(run.last + 1, run.last + 1)
    yield replace(whole, start=start)


def gap_rows(history: History, line: Timeline, snapshot: date) -> Iterator[Gap]:
    """The gaps of a timeline as rows, all of the statement `s`."""
    for entity in line.gaps:
        days = _dates(Point(entity.first, MAX_DAY), Point(MIN_DAY, entity.last))
        yield Gap(
            "s", history.subject.id, history.relation.id, entity.object, **days,
            end_open=False, reason=REASONS[entity.reason], rank="normal", snapshot=snapshot,
        )  # fmt: skip


def _dates(start: Point, end: Point | None) -> dict[str, date | None]:
    names = ("start_first", "start_last", "end_first", "end_last")
    return dict(zip(names, [*_days(start), *_days(end or UNKNOWN)], strict=True))


def _days(point: Point) -> Iterator[date | None]:
    """Its first and last day; None: unknown."""
    for day, edge in zip(point, UNKNOWN, strict=True):
        yield None if day == edge else date.fromordinal(day)
