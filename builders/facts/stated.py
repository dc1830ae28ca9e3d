"""Facts and gaps of some relations, selected from the mined statements of all relations."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, reduce
from pathlib import Path
from types import MappingProxyType
from typing import get_args

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.corrections import DROP_STEP, StatementChange
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.core.tables import has_label
from factdrift.builders.facts.corrected import CORRECTED, applied, corrected, entries_of
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.relations import Classes, property_of
from factdrift.builders.facts.release_columns import as_dropped
from factdrift.builders.facts.timeline import PAIR
from factdrift.builders.wikidata.documents import SUBCLASS

_GAP_REASONS = get_args(rows.GapReason)


class Stated:
    """The facts, gaps and entities that a mined folder has for some relations.

    The sightings of the relations `pointwise` are points in time. The relations `undated` keep
    statements without a date as facts. `classes` has the classes of subject and object for each
    relation that restricts them; None does not restrict them. `corrections` come before all else.
    """

    def __init__(
        self,
        eng: Engine,
        folder: Path,
        relations: Collection[str],
        pointwise: Collection[str] = (),
        undated: Collection[str] = (),
        classes: Mapping[str, tuple[Classes | None, Classes | None]] = MappingProxyType({}),
        corrections: Sequence[StatementChange] = (),
    ) -> None:
        self.pointwise, self.undated = sorted(pointwise), sorted(undated)
        self.properties = sorted(set(map(property_of, relations)))
        mined_statements = eng.read(folder / "statements.parquet", rows.Statement)
        self.entities = eng.read(folder / "entities.parquet", rows.Entity)
        self.applied = applied(eng, mined_statements, corrections, self.properties)
        self.corrections = corrections
        mined_statements = corrected(eng, mined_statements, self.entities, corrections)
        self.drops = eng.read(folder / "dropped.parquet", rows.Dropped)
        # A relation that holds part of a property, as `P54-club` does, or that restricts classes,
        # gets a copy of the property's statements under its own name.
        part_relations = [
            relation_id
            for relation_id in relations
            if relation_id in classes or relation_id != property_of(relation_id)
        ]
        class_tree = _ClassTree(eng, self.entities, mined_statements)
        kept_statements = mined_statements.filter(
            mined_statements.relation.isin(sorted(set(relations).difference(part_relations)))
        )
        for part_relation in sorted(part_relations):
            part_statements = mined_statements.filter(
                mined_statements.relation == property_of(part_relation)
            )
            part_statements = part_statements.mutate(relation=ibis.literal(part_relation))
            for role, role_classes in zip(
                _NAMING, classes.get(part_relation, (None, None)), strict=True
            ):
                if role_classes:
                    part_statements = class_tree.select(part_statements, role, role_classes)
            kept_statements = kept_statements.union(part_statements)
        # The statements of these relations, each with the flag `fact`; all tables are made of them.
        self.statements = eng.keep(self._with_facts_told(kept_statements))

    def _with_facts_told(self, table: ir.Table) -> ir.Table:
        """Add `fact` and `nowhere`, and turn sightings of pointwise relations into points."""
        entities = self.entities
        labelled_entities = entities.filter(has_label(entities.label)).select(labelled="id")
        table = table.left_join(labelled_entities, table.object == labelled_entities.labelled)
        is_pointwise = table.relation.isin(self.pointwise)
        is_point = table.sighting & is_pointwise
        # A pointwise relation does not last: a fact with a start alone held at that time only.
        has_start = table.start_first.notnull() | table.start_last.notnull()
        only_started = is_pointwise & table.end_open & has_start & ~is_point
        # A sighting lies between the first day of its end and the last of its start.
        table = table.mutate(
            point=is_point | only_started,
            sighting=table.sighting & ~is_point,
            start_first=ibis.ifelse(is_point, table.end_first, table.start_first),
            end_first=ibis.ifelse(only_started, table.start_first, table.end_first),
            end_last=ibis.ifelse(is_point | only_started, table.start_last, table.end_last),
            end_open=table.end_open & ~only_started,
        )
        holds_nowhere = table.point & table.reason.isnull() & (table.start_first > table.end_last)
        reason = ibis.ifelse(holds_nowhere.fill_null(False), "contradictory", table.reason)
        keeps_undated = table.labelled.notnull() & table.relation.isin(self.undated)
        return table.mutate(
            reason=reason,
            nowhere=holds_nowhere.fill_null(False),
            fact=reason.isnull() | ((reason == "undated") & keeps_undated),
        )

    @cached_property
    def facts(self) -> ir.Table:
        """The facts (`rows.Fact`): their object has a name, and they have a date or need none."""
        return self.statements.filter("fact").select(arrow_schema(rows.Fact).names)

    @cached_property
    def gaps(self) -> ir.Table:
        """The gaps (`rows.Gap`): statements that are no facts, whose object may have held.

        An undated statement is a gap if the same subject and relation have a dated statement, too,
        or if the relation keeps undated statements but the object has no name.
        """
        table = self.statements
        says_nothing = table.reason.isin(["undated", CORRECTED])
        dated_statements = table.filter(table.reason.isnull() | ~says_nothing)
        table = table.filter(~table.fact & table.reason.isin(_GAP_REASONS))
        always_kept = (table.reason != "undated") | table.relation.isin(self.undated)
        beside_dated = table.filter(~always_kept).semi_join(dated_statements, PAIR)
        table = table.filter(always_kept).union(beside_dated)
        no_day = ibis.null("date")
        table = table.mutate(
            end_open=table.end_open | table.nowhere,
            **{
                column_name: ibis.ifelse(table.nowhere, no_day, table[column_name])
                for column_name in DATES
            },
        )
        return table.select(arrow_schema(rows.Gap).names).distinct()

    def named(self, facts: ir.Table, gaps: ir.Table) -> ir.Table:
        """The entities (`rows.Entity`) that facts and gaps name, and those of the relations.

        The tables are `facts` and `gaps`, as they were written.
        """
        used_columns = [
            source_table[naming_column].name("id").as_table()
            for source_table in (facts, gaps)
            for naming_column in _NAMING
        ]
        used_ids = reduce(ir.Table.union, used_columns).distinct()
        is_property = self.entities.id.isin(self.properties)
        used_entities = self.entities.filter(~is_property).semi_join(used_ids, "id")
        return used_entities.union(self.entities.filter(is_property))

    @property
    def dropped(self) -> ir.Table:
        """The dropped rows (`rows.Dropped`): statements that are no facts, and unreadable lines."""
        table = self.statements
        lacks_name = (table.reason == "undated") & table.relation.isin(self.undated)
        told_elsewhere = ["undated", "contradictory", CORRECTED]
        is_dropped = ~table.reason.isin(told_elsewhere) | lacks_name | table.nowhere
        table = table.filter(~table.fact & is_dropped)
        lacks_name = table.reason == "undated"
        object_and_kind = table.object + " (" + table.kind + ")"
        dropped_statements = as_dropped(
            table,
            "mine",
            reason=ibis.ifelse(lacks_name, "unlabelled_object", table.reason),
            item=table.statement,
            detail=ibis.ifelse(table.kind.isnull(), table.object, object_and_kind),
        ).distinct()
        mining_drops = self.drops
        mining_drops = mining_drops.filter(
            mining_drops.relation.isnull() | mining_drops.relation.isin(self.properties)
        )
        all_drops = mining_drops.union(dropped_statements)
        return all_drops.union(self._corrected()) if self.corrections else all_drops

    def _corrected(self) -> ir.Table:
        """The statements that corrections dropped (`rows.Dropped`); the detail is the entry."""
        table = self.statements.filter(self.statements.reason == CORRECTED)
        return as_dropped(
            table,
            DROP_STEP,
            reason=ibis.literal(CORRECTED),
            item=table.statement,
            detail=entries_of(table, self.corrections),
        ).distinct()


class _ClassTree:
    """The classes of items and their subclasses, as a dump states them."""

    def __init__(self, eng: Engine, entities: ir.Table, mined: ir.Table) -> None:
        self._eng, self._entities, self._mined = eng, entities, mined

    @cached_property
    def _subclass_edges(self) -> ir.Table:
        """Which class (`subject`) is a direct subclass of which (`object`)."""
        is_corrected = (self._mined.reason == CORRECTED).fill_null(False)
        is_edge = (self._mined.relation == SUBCLASS) & self._mined.object.notnull() & ~is_corrected
        return self._eng.keep(self._mined.filter(is_edge).select("subject", "object").distinct())

    def select(self, statements: ir.Table, role: str, role_classes: Classes) -> ir.Table:
        """Return the statements whose `role` belongs to these classes and to no excluded one.

        The dump may name no class of an item. Its statements get the reason `class_unknown` if a
        class is required, and they stay if classes are only excluded.
        """
        entities = self._entities
        # An office such as `head coach` is a subclass of another and an instance of nothing, so
        # that every item counts as one of its own classes.
        class_ids = ibis.array([entities.id]).concat(entities.classes)
        class_members = entities.select("id", in_class=class_ids.unnest())
        excluded_ids = class_members.filter(
            self._within(class_members.in_class, role_classes.without)
        ).select("id")
        if role_classes.of:
            wanted_ids = class_members.filter(self._within(class_members.in_class, role_classes.of))
            other_entities = entities.anti_join(wanted_ids, "id")
            has_class = (other_entities.classes.length() > 0) | other_entities.id.isin(
                self._subclass_edges.subject
            )
            without_class = other_entities.filter(~has_class).select(unclassed="id")
            excluded_ids = excluded_ids.union(other_entities.filter(has_class).select("id"))
            with_unclassed = statements.left_join(
                without_class, statements[role] == without_class.unclassed
            )
            class_reason = ibis.ifelse(
                with_unclassed.unclassed.notnull(), "class_unknown", ibis.null("string")
            )
            statements = with_unclassed.mutate(
                reason=with_unclassed.reason.fill_null(class_reason)
            ).drop("unclassed")
        return statements.anti_join(excluded_ids.distinct().rename(**{role: "id"}), role)

    def _within(self, classes: ir.StringColumn, roots: Collection[str]) -> ir.BooleanValue:
        """Return whether each class is one of the roots, or a direct or indirect subclass of one.

        Each turn of the loop adds the subclasses of those found so far, until there are no more.
        """
        if not roots:
            return ibis.literal(False)
        subclass_edges = self._subclass_edges
        known_subclasses = subclass_edges.filter(subclass_edges.object.isin(sorted(roots)))
        known_subclasses = known_subclasses.select(id="subject").distinct()
        known_count = -1
        while True:
            known_subclasses = self._eng.keep(known_subclasses)
            (count_row,) = self._eng.rows(known_subclasses.aggregate(n=known_subclasses.count()))
            if count_row["n"] == known_count:
                break
            known_count = count_row["n"]
            next_subclasses = subclass_edges.filter(subclass_edges.object.isin(known_subclasses.id))
            known_subclasses = known_subclasses.union(
                next_subclasses.select(id="subject"), distinct=True
            )
        return classes.isin(sorted(roots)) | classes.isin(known_subclasses.id)


_NAMING = ("subject", "object")
"""The columns that name an item."""
