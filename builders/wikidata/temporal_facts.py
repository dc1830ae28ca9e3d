"""The `temporal-facts` dataset: dated facts, timelines, and what changed since an older dump."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import ibis.expr.types as ir

from builders import rows
from builders.citations import CHEN_2021, MARGATINA_2023
from builders.cloze.templates import Relation, select
from builders.dataset import Dataset, FromParquet, Table
from builders.run import DatasetBuilder, Run
from builders.store import Made, code_digest
from builders.wikidata import figures, present, snapshot_diff, steps, timeline

_TABLES: dict[str, tuple[type[Any], str]] = {
    "facts": (rows.ReleasedFact, "Dated facts as stated, with the snapshots that state them."),
    "timelines": (rows.ReleasedSegment, "The facts of one object merged into segments."),
    "changes": (rows.ReleasedChange, "What became of each fact between the two snapshots."),
}


class TemporalFacts(DatasetBuilder):
    """Facts of the named relations from `dump`; with `older`, the difference between the two."""

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (CHEN_2021, MARGATINA_2023)

    builder: Literal["temporal-facts"]
    relations: tuple[str, ...]

    def build(self, run: Run) -> Dataset:
        """Mine, merge, compare and name; the tables are `facts`, `timelines`, `changes`."""
        relations = select(steps.all_relations(run), self.relations, run.templates)
        names = ["older", "dump"] if "older" in run.inputs else ["dump"]
        mined = [steps.mined(run, name, relations) for name in names]
        timelines = steps.segments(run, mined[-1], relations)
        made = _named(run, mined, timelines, relations)
        tables = [name for name in _TABLES if (made.path / f"{name}.parquet").exists()]
        return Dataset(
            tables=tuple(
                Table(name, row, about, {"full": FromParquet(made.path / f"{name}.parquet")})
                for name, (row, about) in _TABLES.items()
                if name in tables
            ),
            dropped=(FromParquet(made.path / "dropped.parquet"),),
            figures=(figures.mining(dict(zip(names, mined, strict=True))),),
            plots=(figures.facts_by_relation(made.path / "facts.parquet"),),
        )


def _named(
    run: Run, mined: Sequence[Made], timelines: Made, relations: Mapping[str, Relation]
) -> Made:
    exclusive = [r for r, template in relations.items() if template.exclusive]

    def make(out: Path) -> None:
        with steps.open_engine(run) as eng:
            tables = [eng.read(m.path / "facts.parquet", rows.Fact) for m in mined]
            tables = [t.filter(t.relation.isin(list(relations))) for t in tables]
            entities = eng.keep(steps.entities(eng, mined))

            def write(name: str, table: ir.Table, order: Sequence[str]) -> None:
                table = present.labelled(table, entities, relations)
                eng.write(table, out / f"{name}.parquet", _TABLES[name][0], order)

            seen = present.dated(snapshot_diff.seen(eng, tables))
            write("facts", present.identified(seen, _FACT), snapshot_diff.SEEN_ORDER)
            segments = eng.read(timelines.path / "timelines.parquet", rows.Segment)
            write("timelines", steps.released(segments), timeline.ORDER)
            if len(tables) == 2:
                changes = snapshot_diff.changes(eng, tables[0], tables[1], exclusive)
                changes = present.identified(changes, timeline.KEY)
                write("changes", changes, snapshot_diff.CHANGE_ORDER)
            drops = [steps.dropped(eng, m, relations) for m in mined]
            left_out = drops[0].union(*drops[1:]) if drops[1:] else drops[0]
            eng.write(left_out, out / "dropped.parquet", rows.Dropped, steps.DROPPED_ORDER)

    return run.store.step(
        "named-facts",
        make,
        version=code_digest(snapshot_diff, timeline, present, steps, rows),
        parameters={"relations": {r: t.label for r, t in relations.items()}},
        inputs=[timelines.key, *(m.key for m in mined)],
    )


_FACT = (
    "statement", "subject", "relation", "object",
    "start_first", "start_last", "end_first", "end_last", "end_open", "point",
)  # fmt: skip
