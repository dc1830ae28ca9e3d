"""The `temporal-facts` dataset: dated facts, timelines, and what changed since an older dump."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import card, release_columns, snapshot_diff, steps, timeline
from factdrift.builders.facts.relations import select_relations
from factdrift.builders.facts.steps import Facts, Timelines

_TABLES: dict[str, tuple[type[Any], str]] = {
    "facts": (rows.ReleasedFact, "Dated facts as stated, with the snapshots that state them."),
    "timelines": (rows.ReleasedSegment, "The facts of one object merged into segments."),
    "changes": (rows.ReleasedChange, "What became of each fact between the two snapshots."),
}


class TemporalFacts(DatasetBuilder):
    """Facts of the named relations from `dump`; with `older`, the difference between the two.

    `relations`: property ids, of which each has a template.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ("chen-etal-2021-dataset", "margatina-etal-2023-dynamic")

    changing_configs: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "changes": ("new", "obsolete", "returned")
    }
    builder: Literal["temporal-facts"]
    relations: tuple[str, ...]

    def build(self, run: Run) -> Dataset:
        """Mine, merge, compare and name; the tables are `facts`, `timelines`, `changes`."""
        relations = select_relations(steps.all_relations(run), self.relations, run.templates)
        input_names = ["older", "dump"] if "older" in run.inputs else ["dump"]
        fact_steps = [steps.facts_step(run, name, relations) for name in input_names]
        newest, *older = reversed(fact_steps)
        timelines_step = steps.timelines_step(run, newest, relations, older)
        tables_folder = run.folder(
            NamedFacts(
                facts=tuple(fact_steps),
                timelines=timelines_step,
                relations=steps.relation_labels(relations),
            )
        )
        fact_folders = {
            name: run.folder(step) for name, step in zip(input_names, fact_steps, strict=True)
        }
        table_files = {name: tables_folder / f"{name}.parquet" for name in _TABLES}
        return Dataset(
            tables=tuple(
                Table(name, *_TABLES[name], {"full": FromParquet(table_path)})
                for name, table_path in table_files.items()
                if table_path.exists()
            ),
            dropped=(FromParquet(tables_folder / "dropped.parquet"),),
            statistics=(
                *card.learned_times(run, timelines_step),
                card.mining(fact_folders, run.workspace.say),
            ),
            plots=(card.facts_by_relation(table_files["facts"]),),
        )


class NamedFacts(Step):
    """Facts, timelines and changes with names; `relations`: property id -> label.

    `facts`: those of one dump, or of two, the older first; `timelines` are of the newest.
    """

    name: ClassVar[str] = "named-facts"

    facts: tuple[Facts, ...]
    timelines: Timelines
    relations: Mapping[str, str]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write a table for each config, and `dropped.parquet`."""
        fact_folders = [workspace.folder(facts_step) for facts_step in self.facts]
        with workspace.engine() as eng:
            dumps = [steps.read_dump(eng, folder, self.relations) for folder in fact_folders]
            entities = eng.keep(steps.newest_entities(eng, fact_folders))

            def write(table_name: str, table: ir.Table, total_order: Sequence[str]) -> None:
                table = release_columns.with_labels(table, entities, self.relations)
                eng.write(table, out / f"{table_name}.parquet", _TABLES[table_name][0], total_order)

            seen_facts = release_columns.with_valid_dates(
                snapshot_diff.seen(eng, [dump.facts for dump in dumps])
            )
            write(
                "facts",
                release_columns.with_content_ids(seen_facts, snapshot_diff.CONTENT),
                snapshot_diff.SEEN_ORDER,
            )
            segments = eng.read(
                workspace.folder(self.timelines) / "timelines.parquet", rows.Segment
            )
            write("timelines", steps.released_segments(segments), timeline.ORDER)
            if len(dumps) == 2:
                rules = self.timelines.timed_rules(workspace)
                fact_changes = snapshot_diff.changes(eng, dumps[0], dumps[1], rules)
                fact_changes = release_columns.with_content_ids(
                    fact_changes, snapshot_diff.CHANGE_ORDER
                )
                write("changes", fact_changes, snapshot_diff.CHANGE_ORDER)
            left_out = steps.read_dropped(eng, *fact_folders)
            eng.write(left_out, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)


def named_timelines(run: Run, relations: Sequence[str], source: str = "dump") -> NamedFacts:
    """The step that makes the timelines of some relations of a dump, with names.

    `relations`: ids that have templates, such as `P286` or `P54-club`; `source`: the input's name
    in the recipe. The folder of the step has `timelines.parquet`, whose rows are `ReleasedSegment`,
    and `facts.parquet` and `dropped.parquet`. `UserError`: a relation has no template.
    """
    chosen_relations = select_relations(steps.all_relations(run), relations, run.templates)
    facts_step = steps.facts_step(run, source, chosen_relations)
    return NamedFacts(
        facts=(facts_step,),
        timelines=steps.timelines_step(run, facts_step, chosen_relations),
        relations=steps.relation_labels(chosen_relations),
    )
