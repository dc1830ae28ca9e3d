"""The `temporal-facts` dataset: dated facts, timelines, and what changed since an older dump."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import card, present, snapshot_diff, steps, timeline
from factdrift.builders.facts.relations import select
from factdrift.builders.facts.steps import Facts, Timelines

_ROWS: dict[str, type[Any]] = {
    "facts": rows.ReleasedFact,
    "timelines": rows.ReleasedSegment,
    "changes": rows.ReleasedChange,
}
_ABOUT = {
    "facts": "Dated facts as stated, with the snapshots that state them.",
    "timelines": "The facts of one object merged into segments.",
    "changes": "What became of each fact between the two snapshots.",
}


class TemporalFacts(DatasetBuilder):
    """Facts of the named relations from `dump`; with `older`, the difference between the two.

    `relations`: property ids, of which each has a template.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ("chen-etal-2021-dataset", "margatina-etal-2023-dynamic")

    builder: Literal["temporal-facts"]
    relations: tuple[str, ...]

    def build(self, run: Run) -> Dataset:
        """Mine, merge, compare and name; the tables are `facts`, `timelines`, `changes`."""
        relations = select(steps.all_relations(run), self.relations, run.templates)
        names = ["older", "dump"] if "older" in run.inputs else ["dump"]
        facts = [steps.facts(run, name, relations) for name in names]
        made = run.folder(
            NamedFacts(
                facts=tuple(facts),
                timelines=steps.timelines(facts[-1], relations),
                relations=steps.labels(relations),
            )
        )
        tables = [name for name in _ROWS if (made / f"{name}.parquet").exists()]
        folders = {name: run.folder(one) for name, one in zip(names, facts, strict=True)}
        return Dataset(
            tables=tuple(
                Table(name, _ROWS[name], _ABOUT[name], {"full": FromParquet(_file(made, name))})
                for name in tables
            ),
            dropped=(FromParquet(_file(made, "dropped")),),
            statistics=(card.mining(folders),),
            plots=(card.facts_by_relation(_file(made, "facts")),),
        )


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


class NamedFacts(Step):
    """Facts, timelines and changes with names; `relations`: property id -> label.

    `facts`: those of one dump, or of two, the older first; `timelines` are of the newest.
    """

    name: ClassVar[str] = "named-facts"

    facts: tuple[Facts, ...]
    timelines: Timelines
    relations: Mapping[str, str]

    def make(self, out: Path, at: Workspace) -> None:
        """Write a table for each config, and `dropped.parquet`."""
        folders = [at.folder(one) for one in self.facts]
        with at.engine() as eng:
            dumps = [steps.dump(eng, folder, self.relations) for folder in folders]
            entities = eng.keep(steps.entities(eng, folders))

            def write(name: str, table: ir.Table, order: Sequence[str]) -> None:
                table = present.labelled(table, entities, self.relations)
                eng.write(table, out / f"{name}.parquet", _ROWS[name], order)

            seen = present.dated(snapshot_diff.seen(eng, [one.facts for one in dumps]))
            write("facts", present.identified(seen, _FACT), snapshot_diff.SEEN_ORDER)
            segments = eng.read(at.folder(self.timelines) / "timelines.parquet", rows.Segment)
            write("timelines", steps.released(segments), timeline.ORDER)
            if len(dumps) == 2:
                changes = snapshot_diff.changes(eng, dumps[0], dumps[1], self.timelines.rules)
                changes = present.identified(changes, timeline.KEY)
                write("changes", changes, snapshot_diff.CHANGE_ORDER)
            drops = [steps.dropped(eng, folder) for folder in folders]
            left_out = drops[0].union(*drops[1:]) if drops[1:] else drops[0]
            eng.write(left_out, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)


_FACT = (
    "statement", "subject", "relation", "object",
    "start_first", "start_last", "end_first", "end_last", "end_open", "point", "sighting",
)  # fmt: skip
