"""The steps that datasets of facts share: from a dump to facts, and the timelines made of them."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import ClassVar

import ibis
import ibis.expr.types as ir

from factdrift.builders import rows
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run, Source
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import release_columns, snapshot_diff, timeline
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.relations import (
    Classes,
    Relation,
    Relations,
    property_of,
    relations_with_own,
)
from factdrift.builders.facts.stated import SUBCLASS, Stated
from factdrift.builders.wikidata.finish import TABLES, read_summary
from factdrift.builders.wikidata.steps import Mine, MinedFolder

FACT_ORDER = (
    "subject", "relation", "object", "start_first", "start_last", "end_first", "end_last",
    "end_open", "point", "sighting", "rank", "statement",
)  # fmt: skip
"""Total order of facts."""
GAP_ORDER = (*(c for c in FACT_ORDER if c not in ("point", "sighting")), "reason")
"""Total order of gaps."""
COUNTS = "counts.json"
"""What was counted on the way from a dump to the facts of some relations: name -> number."""
DROPPED_ORDER = ("step", "reason", "item", "subject", "relation", "period", "score", "detail")
"""Total order of dropped rows, for `Engine.write`."""
_WORTH_SAYING = 100_000_000
"""Bytes of a dump from which the time that reading takes is said before."""
_A_MINUTE = 45e6 * 60
"""Bytes of a gz dump that one process and its thread read in a minute (see `bench/mine.py`)."""
_ROWS = {"facts": rows.Fact, "gaps": rows.Gap, "entities": rows.Entity, "dropped": rows.Dropped}


class Facts(Step):
    """Facts, gaps, entities and dropped statements of some relations, out of mined statements.

    `pointwise`, `undated`: those of them whose facts are points, and that keep undated statements;
    `classes`: of those that ask for them, what subject and object are.
    """

    name: ClassVar[str] = "facts"

    mined: Mine | MinedFolder
    relations: tuple[str, ...]
    pointwise: tuple[str, ...]
    undated: tuple[str, ...]
    classes: Mapping[str, tuple[Classes | None, Classes | None]] = {}

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write a Parquet file for each table, and `mined.json` with what was counted."""
        folder = workspace.folder(self.mined)
        with workspace.engine() as eng:
            selection = (self.relations, self.pointwise, self.undated, self.classes)
            tables = Stated(eng, folder, *selection)
            written = {
                name: eng.write(table, out / f"{name}.parquet", _ROWS[name], order)
                for name, table, order in (
                    ("facts", tables.facts, FACT_ORDER),
                    ("gaps", tables.gaps, GAP_ORDER),
                    ("entities", tables.named, ("id",)),
                    ("dropped", tables.dropped, DROPPED_ORDER),
                )
            }
            undated = tables.gaps.filter(tables.gaps.reason == "undated")
            reasons = [
                (row["reason"], row["n"])
                for table in (undated, tables.dropped)
                for row in eng.rows(table.group_by("reason").agg(n=table.count()))
            ]
        of_reason = dict(reasons)
        counts = self._counted(folder)
        of_reason["undated"] = counts["undated"] + of_reason.get("undated", 0)
        text = json.dumps({**counts, **of_reason, **written}, indent=1, sort_keys=True)
        (out / COUNTS).write_text(text + "\n", "utf-8")

    def _counted(self, folder: Path) -> Counter[str]:
        """What was read in all, and what mining counted for these relations."""
        summary = read_summary(folder / TABLES[-1])
        counts = Counter[str](summary["counts"])
        counts["statements"] = 0
        for relation in dict.fromkeys(map(property_of, self.relations)):
            counts.update(summary["relations"].get(relation, {}))
        return counts


class Timelines(Step):
    """The timelines of some relations, with every end closed that nobody stated.

    `timelines.parquet` (`rows.Segment`) and `gaps.parquet` (`rows.Gap`). `rules`: by property id.
    """

    name: ClassVar[str] = "timelines"

    facts: Facts
    rules: Mapping[str, timeline.TimeRule]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Merge the facts of these relations into segments."""
        with workspace.engine() as eng:
            mined = read_dump(eng, workspace.folder(self.facts), self.rules)
            line = timeline.timeline(eng, *mined, self.rules)
            eng.write(line.segments, out / "timelines.parquet", rows.Segment, timeline.ORDER)
            eng.write(line.gaps, out / "gaps.parquet", rows.Gap, timeline.GAP_ORDER)


def read_dump(eng: Engine, folder: Path, relations: Collection[str]) -> snapshot_diff.Dump:
    """What a mined folder says of some relations."""
    held = eng.read(folder / "facts.parquet", rows.Fact)
    gaps = eng.read(folder / "gaps.parquet", rows.Gap)
    relation_ids = sorted(relations)
    named_entities = eng.read(folder / "entities.parquet", rows.Entity)
    return snapshot_diff.Dump(
        held.filter(held.relation.isin(relation_ids)),
        gaps.filter(gaps.relation.isin(relation_ids)),
        named_entities,
    )


def all_relations(run: Run) -> Relations:
    """Every relation that has a template: the project's, and those of `--templates`."""
    return relations_with_own(run.templates)


def properties_to_mine(relations: Mapping[str, Relation]) -> dict[str, bool]:
    """The properties to mine for these relations, with whether their undated statements are kept.

    Classes need their subclasses.
    """
    needed: dict[str, bool] = {}
    for relation in relations.values():
        is_kept = relation.undated == "keep"
        needed[relation.property] = needed.get(relation.property, False) or is_kept
    if any(relation.subject_class or relation.object_class for relation in relations.values()):
        needed[SUBCLASS] = True
    return needed


def facts_step(run: Run, name: str, relations: Mapping[str, Relation]) -> Facts:
    """What an input says of these relations: a dump, or a folder that is mined already.

    `UserError` where that folder was mined without what these relations need.
    """
    with_undated = tuple(
        sorted(
            relation_id for relation_id, relation in relations.items() if relation.undated == "keep"
        )
    )
    return Facts(
        mined=_mined(run, run.inputs[name], properties_to_mine(relations)),
        relations=tuple(relations),
        pointwise=tuple(
            relation_id
            for relation_id, relation in relations.items()
            if relation.mode == "pointwise"
        ),
        undated=with_undated,
        classes={
            relation_id: (relation.subject_class, relation.object_class)
            for relation_id, relation in relations.items()
            if relation.subject_class or relation.object_class
        },
    )


def _mined(run: Run, source: Source, needed: Mapping[str, bool]) -> Mine | MinedFolder:
    if not source.mined:
        # All that keep them, so that one mining serves every recipe.
        undated = [
            property_id
            for property_id, is_kept in properties_to_mine(all_relations(run)).items()
            if is_kept
        ]
        step = Mine(dump=source, undated=tuple(sorted(undated)))
        _say_before(run, step)
        return step
    summary = read_summary(source.mined / TABLES[-1])
    if summary["asked"] is not None and (missing := sorted(set(needed) - set(summary["asked"]))):
        raise UserError(
            f"it was not mined for {', '.join(missing)}",
            where=source.mined,
            hint="mine them too, or leave them out of the recipe's relations",
        )
    if missing := sorted(
        {property_id for property_id in needed if needed[property_id]} - set(summary["undated"])
    ):
        raise UserError(
            f"it was mined without the undated statements of {', '.join(missing)}",
            where=source.mined,
            hint="mine it again with templates that say `undated: keep`, or leave them out",
        )
    return MinedFolder(tables=source)


def _say_before(run: Run, step: Mine) -> None:
    """Say that a dump will be read, how long that takes, and why it is read again where it is."""
    workspace = run.workspace
    if (workspace.root / f"{step.name}-{step.key}").is_dir():
        return
    size = sum(file.stat().st_size for file in step.dump.files)
    if size < _WORTH_SAYING:
        return
    text = f"  {step.dump.name}: {size / 1e9:.1f} GB are read, about {size / _A_MINUTE:.0f} minutes"
    earlier = [
        read_summary(path) for path in sorted(workspace.root.glob(f"{step.name}-*/{TABLES[-1]}"))
    ]
    same = [
        summary["undated"] for summary in earlier if summary["snapshot"] == str(step.dump.snapshot)
    ]
    new = set(step.undated).difference(*same) if same else set()
    if new:
        text += f" again, for the undated statements of {', '.join(sorted(new))}"
    workspace.say(text)


def timelines_step(of: Facts, relations: Mapping[str, Relation]) -> Timelines:
    """The timelines of these relations."""
    return Timelines(facts=of, rules=time_rules(relations))


def time_rules(relations: Mapping[str, Relation]) -> dict[str, timeline.TimeRule]:
    """What the templates of the relations say of time."""
    shared_fields = set(timeline.TimeRule.model_fields)
    return {
        relation_id: timeline.TimeRule.model_validate(relation.model_dump(include=shared_fields))
        for relation_id, relation in relations.items()
    }


def relation_labels(relations: Mapping[str, Relation]) -> dict[str, str]:
    """The name of each relation."""
    return {relation_id: relation.label for relation_id, relation in relations.items()}


def released_segments(segments: ir.Table) -> ir.Table:
    """Segments with an id, which names the object's first, second, … segment, and their dates."""
    order = [segments[column].asc(nulls_first=True) for column in (*DATES, "statements")]
    by = ibis.window(group_by=list(timeline.KEY), order_by=order)
    placed = segments.mutate(place=ibis.row_number().over(by))
    return release_columns.with_valid_dates(
        release_columns.with_content_ids(placed, (*timeline.KEY, "place"))
    )


def newest_entities(eng: Engine, folders: Sequence[Path]) -> ir.Table:
    """The entities of one or more folders of facts, oldest first; of each, what the newest says."""
    newest, *older = (
        eng.read(folder / "entities.parquet", rows.Entity) for folder in reversed(folders)
    )
    for table in older:
        newest = newest.union(table.anti_join(newest, "id"))
    return newest


def read_dropped(eng: Engine, *folders: Path) -> ir.Table:
    """What was left out on the way to these facts (`rows.Dropped`)."""
    dropped_tables = (eng.read(folder / "dropped.parquet", rows.Dropped) for folder in folders)
    return reduce(ir.Table.union, dropped_tables)
