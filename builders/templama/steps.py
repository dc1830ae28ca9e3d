"""What changed from period to period: the step of `dynamic-templama` before its cloze rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.dates import Granularity, Period
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import names, period_diff, present, steps, timeline
from factdrift.builders.facts.steps import Facts, Timelines

_ORDER = ("split", "period", "relation", "subject")


class PeriodChanges(Step):
    """What became of each answer set from one period to the next.

    `deltas.parquet` (`rows.NamedDelta`), `timelines.parquet` (`rows.ReleasedSegment`) of all that
    is asked about, and `dropped.parquet`. `relations`: property id -> label; `silent`: those whose
    absence of an object says nothing. The other fields are parameters of the dataset.
    """

    name: ClassVar[str] = "deltas"

    facts: Facts
    timelines: Timelines
    first: str
    last: str
    granularity: Granularity
    relations: Mapping[str, str]
    silent: tuple[str, ...]
    at: timeline.At
    min_objects: int
    subjects_per_relation: int | None
    require_pages: bool
    include_possible: bool
    undated: period_diff.Undated
    vacant: Literal["keep", "drop"]
    name_overlap: Literal["keep", "drop"]

    def make(self, out: Path, at: Workspace) -> None:
        """Compare the answer sets of neighbouring periods, and give them their names."""
        mined, lines = at.folder(self.facts), at.folder(self.timelines)
        with at.engine() as eng:
            entities = eng.read(mined / "entities.parquet", rows.Entity)
            segments = eng.read(lines / "timelines.parquet", rows.Segment)
            gaps = eng.read(lines / "gaps.parquet", rows.Gap)
            met = period_diff.compare(
                segments,
                self.periods(),
                gaps,
                self.include_possible,
                self.undated,
                self.at,
                [r for r, rule in self.timelines.rules.items() if rule.undated == "doubt"],
            )
            met = eng.keep(self._chosen(eng, eng.keep(met), segments, entities))
            kept = eng.keep(period_diff.deltas(met))
            eng.write(_named(kept, entities), out / "deltas.parquet", rows.NamedDelta, _ORDER)
            drops = steps.dropped(eng, mined)
            left_out = period_diff.dropped(met, self.granularity)
            drops = left_out.select(drops.columns).union(drops)
            eng.write(drops, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)
            asked_about = segments.semi_join(kept, ["subject", "relation"])
            table = present.labelled(steps.released(asked_about), entities, self.relations)
            eng.write(table, out / "timelines.parquet", rows.ReleasedSegment, timeline.ORDER)

    def periods(self) -> list[Period]:
        """The periods of the window; the first has nothing before it to be compared with."""
        first, last = Period.parse(self.first), Period.parse(self.last)
        return [Period(self.granularity, i) for i in range(first.index, last.index + 1)]

    def _chosen(
        self, eng: Engine, met: ir.Table, segments: ir.Table, entities: ir.Table
    ) -> ir.Table:
        """The comparisons, with a reason for each that this dataset leaves out."""
        if self.at == "end":
            met = period_diff.nothing_added(met)
        if self.vacant == "drop":
            met = period_diff.held_always(met, self.silent)
            met = period_diff.lived(met, entities, self.granularity)
        met = period_diff.at_least(met, segments, self.min_objects)
        if self.require_pages:
            met = period_diff.with_pages(met, entities)
        if self.name_overlap == "drop":
            met = period_diff.drop(met, names.alike(eng.keep(met), entities), "name_overlap")
        if self.subjects_per_relation is not None:
            met = period_diff.most_popular(met, entities, self.subjects_per_relation)
        return met


def _named(deltas: ir.Table, entities: ir.Table) -> ir.Table:
    """Deltas with the names of their subject and of every object in them (`rows.NamedDelta`)."""
    pair = ["subject", "relation"]
    every = deltas.answers.concat(deltas.previous_answers, deltas.possible_answers)
    items = deltas.select(*pair, item=every.unnest())
    items = items.distinct()
    met = items.join(entities, items.item == entities.id)
    answer = ibis.struct({"id": met.id, "label": met.label, "aliases": met.aliases})
    named = met.group_by(pair).agg(names=answer.collect())
    subjects = entities.select(
        "sitelinks", "statements", subject="id", subject_label="label", subject_facts="facts"
    )
    return deltas.join(named, pair).join(subjects, "subject")
