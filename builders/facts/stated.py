"""From the mined statements of every relation to the facts and gaps of those asked for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, Self, get_args

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine

_GAPS = get_args(rows.GapReason)
_DATES = ("start_first", "start_last", "end_first", "end_last")


@dataclass(frozen=True)
class Stated:
    """What one dump says of some relations.

    `mined`: their `rows.Statement`; `entities`, `drops`: all its `rows.Entity` and `rows.Dropped`;
    `pointwise`: the relations whose sightings are points; `undated`: those that keep undated
    statements as facts.
    """

    mined: ir.Table
    entities: ir.Table
    drops: ir.Table
    relations: Collection[str]
    pointwise: Collection[str]
    undated: Collection[str]

    @classmethod
    def read(
        cls,
        eng: Engine,
        folder: Path,
        relations: Collection[str],
        pointwise: Collection[str] = (),
        undated: Collection[str] = (),
    ) -> Self:
        """What a mined folder says of some relations."""
        mined = eng.read(folder / "statements.parquet", rows.Statement)
        entities = eng.read(folder / "entities.parquet", rows.Entity)
        drops = eng.read(folder / "dropped.parquet", rows.Dropped)
        asked = eng.keep(mined.filter(_among(mined.relation, relations)))
        return cls(asked, entities, drops, relations, pointwise, undated)

    @cached_property
    def statements(self) -> ir.Table:
        """The statements of these relations, sightings as points where they are; `fact`: is one."""
        table = self.mined
        labelled = self.entities.select(labelled="id")
        table = table.left_join(labelled, table.object == labelled.labelled)
        happens = _among(table.relation, self.pointwise)
        point = table.sighting & happens
        # What happens does not go on for ever: with a start alone, it ended on an unknown day.
        begun = table.start_first.notnull() | table.start_last.notnull()
        ended = happens & table.end_open & begun
        # A sighting lies between the first day of its end and the last of its start.
        table = table.mutate(
            point=point,
            sighting=table.sighting & ~point,
            start_first=ibis.ifelse(point, table.end_first, table.start_first),
            end_first=ibis.ifelse(ended, table.start_first, table.end_first),
            end_last=ibis.ifelse(point, table.start_last, table.end_last),
            end_open=table.end_open & ~ended,
        )
        nowhere = table.point & table.reason.isnull() & (table.start_first > table.end_last)
        reason = ibis.ifelse(nowhere.fill_null(False), "contradictory", table.reason)
        known = table.labelled.notnull() & _among(table.relation, self.undated)
        return table.mutate(
            reason=reason,
            nowhere=nowhere.fill_null(False),
            fact=reason.isnull() | ((reason == "undated") & known),
        )

    @cached_property
    def facts(self) -> ir.Table:
        """`rows.Fact`: what has an object with a name, and a time or no need of one."""
        return self.statements.filter("fact").select(_columns(rows.Fact))

    @cached_property
    def gaps(self) -> ir.Table:
        """`rows.Gap`: what may have held.

        Undated statements are gaps beside dated ones of the same subject and relation, and where
        the relation keeps them but the object has no name.
        """
        table = self.statements
        pair = ("subject", "relation")
        dated = table.filter(table.reason.isnull() | (table.reason != "undated"))
        table = table.filter(~table.fact & table.reason.isin(_GAPS))
        kept = (table.reason != "undated") | _among(table.relation, self.undated)
        beside = table.filter(~kept).semi_join(dated, pair)
        table = table.filter(kept).union(beside)
        no_day = ibis.null("date")
        table = table.mutate(
            end_open=table.end_open | table.nowhere,
            **{c: ibis.ifelse(table.nowhere, no_day, table[c]) for c in _DATES},
        )
        return table.select(_columns(rows.Gap)).distinct()

    @property
    def named(self) -> ir.Table:
        """`rows.Entity`: what facts and gaps name, and the relations."""
        used = [t[c].name("id").as_table() for t in (self.facts, self.gaps) for c in _NAMING]
        ids = reduce(ir.Table.union, used).distinct()
        wanted = _among(self.entities.id, self.relations)
        others = self.entities.filter(~wanted).semi_join(ids, "id")
        return others.union(self.entities.filter(wanted))

    @property
    def dropped(self) -> ir.Table:
        """`rows.Dropped`: statements that are no facts, and lines that could not be read."""
        table = self.statements
        unnamed = (table.reason == "undated") & _among(table.relation, self.undated)
        told = ~table.reason.isin(["undated", "contradictory"]) | unnamed | table.nowhere
        table = table.filter(~table.fact & told)
        unnamed = table.reason == "undated"
        left_out = table.select(
            step=ibis.literal("mine"),
            reason=ibis.ifelse(unnamed, "unlabelled_object", table.reason),
            item="statement",
            subject="subject",
            relation="relation",
            period=ibis.null("string"),
            score=ibis.null("float64"),
            detail=ibis.ifelse(
                table.kind.isnull(), table.object, table.object + " (" + table.kind + ")"
            ),
        ).distinct()
        drops = self.drops
        drops = drops.filter(drops.relation.isnull() | _among(drops.relation, self.relations))
        return drops.union(left_out.select(drops.columns))


_NAMING = ("subject", "object")


def _columns(row: Any) -> Sequence[str]:
    return [field.name for field in fields(row)]


def _among(column: ir.StringColumn, values: Collection[str]) -> ir.BooleanValue:
    return column.isin(sorted(values)) if values else ibis.literal(False)
