"""The step of `dynamic-templama` that gives every prompt one answer."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.core.tables import period_first_day, period_last_day, period_text
from factdrift.builders.facts import namesakes, steps, timeline
from factdrift.builders.templama.steps import PeriodChanges

_ORDER = ("split", "period", "relation", "subject")


class ToldApart(Step):
    """Names the subjects of comparisons so that no other one is meant (see `facts.namesakes`).

    Writes `deltas.parquet` (`rows.ToldDelta`) without the comparisons that would have two
    answers, which are in `dropped.parquet`, `timelines.parquet` (`rows.ReleasedSegment`) of the
    subjects and relations that still have a row, and `namesakes.OFFICES`. `alike` has the relations
    that share texts.
    """

    name: ClassVar[str] = "told-apart"

    changes: PeriodChanges
    alike: Mapping[str, str]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Compare every row with the other subjects that its text may mean."""
        changes = self.changes
        changes_folder = workspace.folder(changes)
        with workspace.engine() as eng:
            deltas = eng.keep(eng.read(changes_folder / "deltas.parquet", rows.NamedDelta))
            entities = eng.read(workspace.folder(changes.facts) / "entities.parquet", rows.Entity)
            offices = namesakes.read_offices(eng, workspace.folder(changes.facts.mined))
            period_name = period_text(deltas.period, changes.granularity)
            deltas = deltas.mutate(
                period_name=period_name,
                key=deltas.subject + "/" + deltas.relation + "/" + period_name,
            )
            told = namesakes.tell_apart(
                eng,
                out,
                self._asked(deltas),
                namesakes.read_held(eng, workspace.folder(changes.timelines)),
                entities,
                offices,
                self.alike,
            )
            kept_deltas = namesakes.not_ambiguous(deltas, told, "key")
            kept_deltas = eng.keep(namesakes.with_subject_names(kept_deltas, told))
            eng.write(kept_deltas, out / "deltas.parquet", rows.ToldDelta, _ORDER)
            released = eng.read(changes_folder / "timelines.parquet", rows.ReleasedSegment)
            released = released.semi_join(kept_deltas, ["subject", "relation"])
            eng.write(released, out / "timelines.parquet", rows.ReleasedSegment, timeline.ORDER)
            ambiguous = told.ambiguous.join(deltas.select("key", "period_name"), "key")
            dropped_rows = namesakes.dropped_rows(ambiguous, self.name, ambiguous.period_name)
            eng.write(dropped_rows, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)
            namesakes.write_offices(eng, offices, out)

    def _asked(self, deltas: ir.Table) -> ir.Table:
        """Return the rows with the days that they ask about: of `deleted` the period before."""
        asked_period = deltas.period - (deltas.split == "deleted").cast("int64")
        granularity = self.changes.granularity
        first_day = period_first_day(asked_period, granularity)
        last_day = period_last_day(asked_period, granularity)
        return deltas.select(
            "key",
            "subject",
            "relation",
            "answers",
            first=last_day if self.changes.at == "end" else first_day,
            last=last_day,
        )
