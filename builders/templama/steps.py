"""The step of `dynamic-templama` that compares the answers of neighbouring periods."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import ibis
import ibis.expr.types as ir
from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.dates import Granularity, Period, periods
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import name_overlap, period_diff, release_columns, steps, timeline
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.table_parts import joined, make_of_parts, table_parts
from factdrift.builders.facts.vacancies import certain_vacancies

_ORDER = ("split", "period", "relation", "subject")


class ComparisonRules(Strict):
    """How the answers of periods are compared, and which comparisons are left out.

    `at`: whether the answers of a period are those of its last day (`end`) or of any day (`during`,
    as in the paper), where a change adds the new answer in one period and removes the old one in
    the next.
    `min_objects`: the least number of different objects in the history of a subject.
    `subjects_per_relation`: the number of subjects of each relation, the most popular ones; all of
    them with null.
    `require_pages`: whether the subject and each answer need an English Wikipedia page.
    `undated`: whether objects without any date are right where nothing changes and drop what
    changes (`accept`), are possible answers (`doubt`), or are left out, as in the paper (`ignore`).
    `vacant`: whether to drop `new` and `deleted` comparisons where the absence of an object says
    nothing, or where the subject or an object began or ended in between.
    `name_overlap`: whether to drop comparisons in which the names of subject and answer share a
    word.
    """

    at: timeline.WhenCounted = "end"
    min_objects: int = Field(default=2, ge=1)
    subjects_per_relation: int | None = Field(default=1000, ge=1)
    require_pages: bool = True
    undated: period_diff.Undated = "accept"
    vacant: Literal["keep", "drop"] = "drop"
    name_overlap: Literal["keep", "drop"] = "drop"


class _Stated(NamedTuple):
    """What a dump states, and the timelines made of it."""

    facts: ir.Table
    segments: ir.Table
    gaps: ir.Table
    entities: ir.Table


class PeriodChanges(ComparisonRules, Step):
    """Compares the answer set of each period with that of the previous one.

    Writes `deltas.parquet` (`rows.NamedDelta`), `timelines.parquet` (`rows.ReleasedSegment`) of the
    subjects and relations in them, and `dropped.parquet`. `relations` maps a property id to its
    label. `silent` are the relations in which the absence of an object says nothing. In exclusive
    ones it says something at a certain vacancy alone (see `vacancies`).
    """

    name: ClassVar[str] = "deltas"

    facts: Facts
    timelines: Timelines
    first: str
    last: str
    granularity: Granularity
    relations: Mapping[str, str]
    silent: tuple[str, ...]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Compare the answer sets of neighbouring periods and add the names of items."""
        facts_folder, timelines_folder = (
            workspace.folder(self.facts),
            workspace.folder(self.timelines),
        )
        with workspace.engine() as eng:
            facts = eng.read(facts_folder / "facts.parquet", rows.Fact)
            entities = eng.read(facts_folder / "entities.parquet", rows.Entity)
            segments = eng.read(timelines_folder / "timelines.parquet", rows.Segment)
            gaps = eng.read(timelines_folder / "gaps.parquet", rows.Gap)
            parts = [
                _Stated(some_facts, some_segments, some_gaps, entities)
                for some_facts, some_segments, some_gaps in table_parts(eng, facts, segments, gaps)
            ]
            compared_parts = [eng.keep(self._compared(eng, stated)) for stated in parts]
            if self.subjects_per_relation is not None:
                less_popular = period_diff.less_popular_pairs(
                    joined(compared_parts), entities, self.subjects_per_relation
                )
                _drop_pairs(eng, compared_parts, eng.keep(less_popular), "less_popular")
            both_parts = zip(compared_parts, parts, strict=True)
            named_deltas, released_segments = make_of_parts(
                eng, partial(self._released, eng), both_parts
            )
            eng.write(named_deltas, out / "deltas.parquet", rows.NamedDelta, _ORDER)
            eng.write(
                released_segments, out / "timelines.parquet", rows.ReleasedSegment, timeline.ORDER
            )
            dropped_rows = steps.read_dropped(eng, facts_folder)
            dropped_here = period_diff.dropped_rows(joined(compared_parts), self.granularity)
            dropped_rows = dropped_here.select(dropped_rows.columns).union(dropped_rows)
            eng.write(dropped_rows, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)

    def _compared(self, eng: Engine, stated: _Stated) -> ir.Table:
        """Compare the neighbouring periods of some subjects, and say which are left out."""
        comparisons = period_diff.compare(
            stated.segments, self.periods(), stated.gaps, self.undated, self.at, self._doubting()
        )
        comparisons = period_diff.drop_few_objects(
            eng.keep(comparisons), stated.segments, self.min_objects
        )
        if self.vacant == "drop":
            comparisons = self._without_silence(eng, eng.keep(comparisons), stated)
        return self._chosen(eng, eng.keep(comparisons), stated.entities)

    def _released(
        self, eng: Engine, comparisons: ir.Table, stated: _Stated
    ) -> tuple[ir.Table, ir.Table]:
        """Return the differences of some subjects with names, and the timelines behind them."""
        delta_rows = eng.keep(period_diff.delta_rows(comparisons))
        asked_segments = stated.segments.semi_join(delta_rows, ["subject", "relation"])
        entities = stated.entities
        if eng.parts > 1:
            # each part would hold the names of all items to find its own among them
            asked_segments = eng.keep(asked_segments)
            item_ids = ibis.union(
                asked_segments.select(id="subject"),
                asked_segments.select(id="object"),
                _named_items(delta_rows).select(id="item"),
            )
            entities = eng.keep(entities.semi_join(item_ids, "id"))
        released_segments = release_columns.with_labels(
            steps.released_segments(asked_segments), entities, self.relations
        )
        return _named(delta_rows, entities), released_segments

    def periods(self) -> list[Period]:
        """Return the periods of the window; the first one is only compared with."""
        return periods(Period.parse(self.first), Period.parse(self.last))

    def _doubting(self) -> list[str]:
        """Return the relations whose undated statements put a comparison in doubt."""
        return [
            relation_id
            for relation_id, timeline_rule in self.timelines.rules.items()
            if timeline_rule.undated == "doubt"
        ]

    def _without_silence(self, eng: Engine, comparisons: ir.Table, stated: _Stated) -> ir.Table:
        """Drop the `new` and `deleted` rows where the absence of an object says nothing."""
        exclusive_ids = [
            relation_id for relation_id, rule in self.timelines.rules.items() if rule.exclusive
        ]
        comparisons = period_diff.drop_uninformative_absence(comparisons, self.silent)
        comparisons = eng.keep(comparisons)
        days = eng.keep(period_diff.vacant_days(comparisons, exclusive_ids, self.granularity))
        gaps = period_diff.gaps_that_count(stated.gaps, self.undated, self._doubting())
        vacancies = certain_vacancies(
            eng, days.select("subject", "relation", "day").distinct(),
            stated.segments, gaps, stated.facts, exclusive_ids,
        )  # fmt: skip
        comparisons = period_diff.drop_unsure_vacancies(comparisons, days, eng.keep(vacancies))
        return period_diff.drop_life_changes(
            comparisons, stated.entities, self.granularity, exclusive_ids
        )

    def _chosen(self, eng: Engine, comparisons: ir.Table, entities: ir.Table) -> ir.Table:
        """Return the comparisons with a drop reason where this dataset leaves one out."""
        if self.at == "end":
            comparisons = period_diff.drop_nothing_added(comparisons)
        if self.require_pages:
            comparisons = period_diff.drop_without_pages(comparisons, entities)
        if self.name_overlap == "drop":
            comparisons = period_diff.drop_matching(
                comparisons,
                name_overlap.name_giveaways(eng.keep(comparisons), entities),
                "name_overlap",
            )
        return comparisons


def _drop_pairs(eng: Engine, compared_parts: list[ir.Table], pairs: ir.Table, reason: str) -> None:
    """Put into the place of each part the same part without these pairs."""
    for part_number, comparisons in enumerate(compared_parts):
        compared_parts[part_number] = eng.keep(
            period_diff.drop_matching(comparisons, pairs, reason)
        )


def _named_items(deltas: ir.Table) -> ir.Table:
    """Return `subject`, `relation` and each `item` that a delta of them names as an object."""
    all_objects = deltas.answers.concat(deltas.previous_answers, deltas.possible_answers)
    return deltas.select("subject", "relation", item=all_objects.unnest()).distinct()


def _named(deltas: ir.Table, entities: ir.Table) -> ir.Table:
    """Add the names of the subject and of every object to each delta (`rows.NamedDelta`)."""
    pair_columns = ["subject", "relation"]
    named_items = _named_items(deltas)
    item_names = named_items.join(entities, named_items.item == entities.id)
    answer_struct = ibis.struct(
        {"id": item_names.id, "label": item_names.label, "aliases": item_names.aliases}
    )
    pair_names = item_names.group_by(pair_columns).agg(names=answer_struct.collect().sort())
    subject_columns = entities.select(
        "sitelinks", "statements", subject="id", subject_label="label", subject_facts="facts"
    )
    return deltas.join(pair_names, pair_columns).join(subject_columns, "subject")
