"""From the mined statements of every relation to the facts and gaps of those asked for."""

from collections.abc import Collection, Mapping
from functools import cached_property, reduce
from pathlib import Path
from types import MappingProxyType
from typing import get_args

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.relations import Classes, property_of
from factdrift.builders.facts.release_columns import as_dropped
from factdrift.builders.facts.timeline import PAIR

SUBCLASS = "P279"
"""The property by which a class is a subclass of another."""
_GAPS = get_args(rows.GapReason)


class Stated:
    """What the dump of a mined folder says of some relations.

    `pointwise`: those whose sightings are points; `undated`: those that keep undated statements as
    facts; `classes`: of those that ask for them, what subject and object are.
    """

    def __init__(
        self,
        eng: Engine,
        folder: Path,
        relations: Collection[str],
        pointwise: Collection[str] = (),
        undated: Collection[str] = (),
        classes: Mapping[str, tuple[Classes | None, Classes | None]] = MappingProxyType({}),
    ) -> None:
        self.pointwise, self.undated = sorted(pointwise), sorted(undated)
        self.properties = sorted(set(map(property_of, relations)))
        mined = eng.read(folder / "statements.parquet", rows.Statement)
        self.entities = eng.read(folder / "entities.parquet", rows.Entity)
        self.drops = eng.read(folder / "dropped.parquet", rows.Dropped)
        # Relations that hold part of a property have its statements under their own name.
        parts = [r for r in relations if r in classes or r != property_of(r)]
        asked = mined.filter(mined.relation.isin(sorted(set(relations).difference(parts))))
        for relation in sorted(parts):
            one = mined.filter(mined.relation == property_of(relation))
            one = one.mutate(relation=ibis.literal(relation))
            for role, wanted in zip(_NAMING, classes.get(relation, (None, None)), strict=True):
                if wanted:
                    one = _of_classes(eng, one, role, wanted, self.entities, mined)
            asked = asked.union(one)
        self.mined = eng.keep(asked)

    @cached_property
    def statements(self) -> ir.Table:
        """The statements of these relations, sightings as points where they are; `fact`: is one."""
        table, entities = self.mined, self.entities
        labelled = entities.filter(has_label(entities.label)).select(labelled="id")
        table = table.left_join(labelled, table.object == labelled.labelled)
        happens = table.relation.isin(self.pointwise)
        point = table.sighting & happens
        # What happens does not go on for ever: with a start alone, it held then.
        begun = table.start_first.notnull() | table.start_last.notnull()
        started = happens & table.end_open & begun & ~point
        # A sighting lies between the first day of its end and the last of its start.
        table = table.mutate(
            point=point | started,
            sighting=table.sighting & ~point,
            start_first=ibis.ifelse(point, table.end_first, table.start_first),
            end_first=ibis.ifelse(started, table.start_first, table.end_first),
            end_last=ibis.ifelse(point | started, table.start_last, table.end_last),
            end_open=table.end_open & ~started,
        )
        nowhere = table.point & table.reason.isnull() & (table.start_first > table.end_last)
        reason = ibis.ifelse(nowhere.fill_null(False), "contradictory", table.reason)
        known = table.labelled.notnull() & table.relation.isin(self.undated)
        return table.mutate(
            reason=reason,
            nowhere=nowhere.fill_null(False),
            fact=reason.isnull() | ((reason == "undated") & known),
        )

    @cached_property
    def facts(self) -> ir.Table:
        """`rows.Fact`: what has an object with a name, and a time or no need of one."""
        return self.statements.filter("fact").select(arrow_schema(rows.Fact).names)

    @cached_property
    def gaps(self) -> ir.Table:
        """`rows.Gap`: what may have held.

        Undated statements are gaps beside dated ones of the same subject and relation, and where
        the relation keeps them but the object has no name.
        """
        table = self.statements
        dated = table.filter(table.reason.isnull() | (table.reason != "undated"))
        table = table.filter(~table.fact & table.reason.isin(_GAPS))
        kept = (table.reason != "undated") | table.relation.isin(self.undated)
        beside = table.filter(~kept).semi_join(dated, PAIR)
        table = table.filter(kept).union(beside)
        no_day = ibis.null("date")
        table = table.mutate(
            end_open=table.end_open | table.nowhere,
            **{c: ibis.ifelse(table.nowhere, no_day, table[c]) for c in DATES},
        )
        return table.select(arrow_schema(rows.Gap).names).distinct()

    @property
    def named(self) -> ir.Table:
        """`rows.Entity`: what facts and gaps name, and the relations."""
        used = [t[c].name("id").as_table() for t in (self.facts, self.gaps) for c in _NAMING]
        ids = reduce(ir.Table.union, used).distinct()
        wanted = self.entities.id.isin(self.properties)
        others = self.entities.filter(~wanted).semi_join(ids, "id")
        return others.union(self.entities.filter(wanted))

    @property
    def dropped(self) -> ir.Table:
        """`rows.Dropped`: statements that are no facts, and lines that could not be read."""
        table = self.statements
        unnamed = (table.reason == "undated") & table.relation.isin(self.undated)
        doubtful = ~table.reason.isin(["undated", "contradictory"]) | unnamed | table.nowhere
        table = table.filter(~table.fact & doubtful)
        unnamed = table.reason == "undated"
        shown = table.object + " (" + table.kind + ")"
        dropped = as_dropped(
            table,
            "mine",
            reason=ibis.ifelse(unnamed, "unlabelled_object", table.reason),
            item=table.statement,
            detail=ibis.ifelse(table.kind.isnull(), table.object, shown),
        ).distinct()
        drops = self.drops
        drops = drops.filter(drops.relation.isnull() | drops.relation.isin(self.properties))
        return drops.union(dropped)


def _of_classes(
    eng: Engine,
    statements: ir.Table,
    role: str,
    wanted: Classes,
    entities: ir.Table,
    mined: ir.Table,
) -> ir.Table:
    """The statements whose `role` is of these classes, and of no excluded one.

    Those of a thing of which the dump names no class are of none: they get the reason
    `class_unknown` where a class is asked for, and stay where classes are only excluded.
    """
    edges = mined.filter((mined.relation == SUBCLASS) & mined.object.notnull())
    edges = eng.keep(edges.select("subject", "object").distinct())
    # An office is a subclass, not an instance.
    names = ibis.array([entities.id]).concat(entities.classes)
    every = entities.select("id", in_class=names.unnest())
    others = every.filter(_within(eng, every.in_class, edges, wanted.without)).select("id")
    if wanted.of:
        there = every.filter(_within(eng, every.in_class, edges, wanted.of))
        rest = entities.anti_join(there, "id")
        classed = (rest.classes.length() > 0) | rest.id.isin(edges.subject)
        unknown = rest.filter(~classed).select(unclassed="id")
        others = others.union(rest.filter(classed).select("id"))
        found = statements.left_join(unknown, statements[role] == unknown.unclassed)
        reason = ibis.ifelse(found.unclassed.notnull(), "class_unknown", ibis.null("string"))
        statements = found.mutate(reason=found.reason.fill_null(reason)).drop("unclassed")
    return statements.anti_join(others.distinct().rename(**{role: "id"}), role)


def _within(
    eng: Engine, classes: ir.StringColumn, edges: ir.Table, roots: Collection[str]
) -> ir.BooleanValue:
    """Whether classes are these or subclasses of them, at any remove."""
    found = edges.filter(edges.object.isin(sorted(roots))).select(id="subject").distinct()
    size = -1
    while roots:
        found = eng.keep(found)
        (row,) = eng.rows(found.aggregate(n=found.count()))
        if row["n"] == size:
            break
        size = row["n"]
        below = edges.filter(edges.object.isin(found.id)).select(id="subject")
        found = found.union(below, distinct=True)
    return classes.isin(sorted(roots)) | classes.isin(found.id)


_NAMING = ("subject", "object")
