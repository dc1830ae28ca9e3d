"""Histories of `tests.spec_oracle` as the tables that the reading of a dump leaves."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
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
from tests.spec_oracle import MAX_DAY, MIN_DAY, History, Point, Statement, Timeline


@dataclass
class Tables:
    """The facts, gaps and entities of some histories, and the rules of their relations."""

    facts: list[Fact] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    entities: dict[str, Entity] = field(default_factory=dict)
    rules: dict[str, TimeRule] = field(default_factory=dict)

    def read(self, engine: Engine, folder: Path) -> tuple[ir.Table, ir.Table, ir.Table, Rules]:
        """As tables of an engine, with the rules."""
        folder.mkdir(exist_ok=True, parents=True)
        made: dict[type[Any], list[Any]] = {
            Fact: self.facts,
            Gap: self.gaps,
            Entity: list(self.entities.values()),
        }
        paths = {
            row: parquet(folder / f"{row.__name__}.parquet", row, r) for row, r in made.items()
        }
        facts, gaps, entities = (engine.read(path, row) for row, path in paths.items())
        return facts, gaps, entities, self.rules


def tables(histories: Iterable[History], snapshot: date) -> Tables:
    """What a dump of that day says of the histories, each of which has a subject of its own."""
    made = Tables()
    for history in histories:
        relation = history.relation
        made.rules[relation.id] = TimeRule(
            exclusive=relation.exclusive,
            ends_with=relation.ends_with,  # type: ignore[arg-type]
            undated=relation.undated,  # type: ignore[arg-type]
            open_for=relation.open_for,
        )
        for one in (history.subject, *history.objects.values()):
            if one.labelled or one.dates:
                made.entities[one.id] = _entity(one)
        for number, statement in enumerate(history.statements):
            if statement.rank != "deprecated" and history.subject.labelled:
                _add(made, history, f"{history.subject.id}${number}", statement, snapshot)
    return made


def _add(made: Tables, history: History, name: str, said: Statement, snapshot: date) -> None:
    labelled = history.objects[said.object].labelled
    place: dict[str, Any] = {
        "statement": name,
        "subject": history.subject.id,
        "relation": history.relation.id,
        "object": said.object,
        "rank": said.rank,
        "snapshot": snapshot,
    }
    always: dict[str, Any] = {**dict.fromkeys(_BOUNDS), "end_open": True}
    read = spec_oracle.read_statement(said, history.relation.mode)
    if read.undated and labelled and history.relation.undated == "keep":
        made.facts.append(Fact(**place, **always, point=False, sighting=False))
    elif read.undated:
        made.gaps.append(Gap(**place, **always, reason="undated"))
    if read.contradictions:
        made.gaps.append(Gap(**place, **always, reason="contradictory"))
    for one in read.facts:
        dates = {**_dates(one.start, one.end), "end_open": one.end is None}
        if labelled:
            kind: dict[str, Any] = {
                "point": one.kind == "point",
                "sighting": one.kind == "sighting",
            }
            made.facts.append(Fact(**place, **dates, **kind))
        else:
            made.gaps.append(Gap(**place, **dates, reason="unlabelled_object"))


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
    reasons: dict[str, GapReason] = {
        "undated": "undated",
        "contradictory": "contradictory",
        "unlabelled": "unlabelled_object",
    }
    for one in line.gaps:
        days = _dates(Point(one.first, MAX_DAY), Point(MIN_DAY, one.last))
        yield Gap(
            "s", history.subject.id, history.relation.id, one.object, **days,
            end_open=False, reason=reasons[one.reason], rank="normal", snapshot=snapshot,
        )  # fmt: skip


_BOUNDS = ("start_first", "start_last", "end_first", "end_last")


def _dates(start: Point, end: Point | None) -> dict[str, Any]:
    days = (*start, *(end or (MIN_DAY, MAX_DAY)))
    edges = (MIN_DAY, MAX_DAY, MIN_DAY, MAX_DAY)
    return {
        name: None if day == edge else date.fromordinal(day)
        for name, day, edge in zip(_BOUNDS, days, edges, strict=True)
    }


def _entity(one: spec_oracle.Entity) -> Entity:
    began = spec_oracle.life_date(one, spec_oracle.BIRTHS, later=True)
    ended = spec_oracle.life_date(one, spec_oracle.DEATHS, later=False)
    days = [None if d is None else date.fromordinal(d)
            for p in (began, ended) for d in (p or (None, None))]  # fmt: skip
    return Entity(one.id, one.id if one.labelled else "", (), one.id, 1, 1, 1, *days)  # type: ignore[arg-type]
