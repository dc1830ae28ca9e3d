"""What changed from period to period: the step of `dynamic-templama` before its cloze rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

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

_ORDER = ("split", "period", "relation", "subject")


class ComparisonRules(Strict):
    """How the answers of periods are compared, and which comparisons are left out.

    `at`: whether the answers of a period are those of its last day, which a model has to know anew
    where they are `updated`, or of any day, as in the paper, where a change adds the new answer and
    only then takes the old one; `min_objects`: the least number of different objects that a subject
    has over its history; `subjects_per_relation`: so many subjects of a relation, the most popular
    ones, all with null; `require_pages`: whether subject and answers have to have an English
    Wikipedia page; `undated`: whether objects stated without any date are accepted where nothing
    changes (and drop what changes), are doubts, or are ignored, as in the paper; `vacant`: whether
    to drop what is `new` or `deleted` where no stated object says nothing, or where the subject or
    an object began or ended in between; `name_overlap`: whether to drop pairs whose subject's name
    shares a word with an answer's.
    """

    at: timeline.WhenCounted = "end"
    min_objects: int = Field(default=2, ge=1)
    subjects_per_relation: int | None = Field(default=1000, ge=1)
    require_pages: bool = True
    undated: period_diff.Undated = "accept"
    vacant: Literal["keep", "drop"] = "drop"
    name_overlap: Literal["keep", "drop"] = "drop"


class PeriodChanges(ComparisonRules, Step):
    """What became of each answer set from one period to the next.

    `deltas.parquet` (`rows.NamedDelta`), `timelines.parquet` (`rows.ReleasedSegment`) of all that
    is asked about, and `dropped.parquet`. `relations`: property id -> label; `silent`: those whose
    absence of an object says nothing.
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
        """Compare the answer sets of neighbouring periods, and give them their names."""
        mined, lines = workspace.folder(self.facts), workspace.folder(self.timelines)
        with workspace.engine() as eng:
            entities = eng.read(mined / "entities.parquet", rows.Entity)
            segments = eng.read(lines / "timelines.parquet", rows.Segment)
            gaps = eng.read(lines / "gaps.parquet", rows.Gap)
            comparisons = period_diff.compare(
                segments,
                self.periods(),
                gaps,
                self.undated,
                self.at,
                [
                    relation_id
                    for relation_id, rule in self.timelines.rules.items()
                    if rule.undated == "doubt"
                ],
            )
            comparisons = eng.keep(self._chosen(eng, eng.keep(comparisons), segments, entities))
            kept_deltas = eng.keep(period_diff.delta_rows(comparisons))
            eng.write(
                _named(kept_deltas, entities), out / "deltas.parquet", rows.NamedDelta, _ORDER
            )
            drops = steps.read_dropped(eng, mined)
            left_out = period_diff.dropped_rows(comparisons, self.granularity)
            drops = left_out.select(drops.columns).union(drops)
            eng.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)
            asked_about = segments.semi_join(kept_deltas, ["subject", "relation"])
            table = release_columns.with_labels(
                steps.released_segments(asked_about), entities, self.relations
            )
            eng.write(table, out / "timelines.parquet", rows.ReleasedSegment, timeline.ORDER)

    def periods(self) -> list[Period]:
        """The periods of the window; the first has nothing before it to be compared with."""
        return periods(Period.parse(self.first), Period.parse(self.last))

    def _chosen(
        self, eng: Engine, comparisons: ir.Table, segments: ir.Table, entities: ir.Table
    ) -> ir.Table:
        """The comparisons, with a reason for each that this dataset leaves out."""
        if self.at == "end":
            comparisons = period_diff.drop_nothing_added(comparisons)
        if self.vacant == "drop":
            comparisons = period_diff.drop_uninformative_absence(comparisons, self.silent)
            comparisons = period_diff.drop_life_changes(comparisons, entities, self.granularity)
        comparisons = period_diff.drop_few_objects(comparisons, segments, self.min_objects)
        if self.require_pages:
            comparisons = period_diff.drop_without_pages(comparisons, entities)
        if self.name_overlap == "drop":
            comparisons = period_diff.drop_matching(
                comparisons,
                name_overlap.name_giveaways(eng.keep(comparisons), entities),
                "name_overlap",
            )
        if self.subjects_per_relation is not None:
            comparisons = period_diff.drop_less_popular(
                comparisons, entities, self.subjects_per_relation
            )
        return comparisons


def _named(deltas: ir.Table, entities: ir.Table) -> ir.Table:
    """Deltas with the names of their subject and of every object in them (`rows.NamedDelta`)."""
    pair = ["subject", "relation"]
    every_object = deltas.answers.concat(deltas.previous_answers, deltas.possible_answers)
    items = deltas.select(*pair, item=every_object.unnest())
    items = items.distinct()
    named_items = items.join(entities, items.item == entities.id)
    answer = ibis.struct(
        {"id": named_items.id, "label": named_items.label, "aliases": named_items.aliases}
    )
    item_names = named_items.group_by(pair).agg(names=answer.collect())
    subjects = entities.select(
        "sitelinks", "statements", subject="id", subject_label="label", subject_facts="facts"
    )
    return deltas.join(item_names, pair).join(subjects, "subject")
