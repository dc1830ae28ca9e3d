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
from factdrift.builders.core.corrections import StatementChange
from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run, Source
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import learned, release_columns, snapshot_diff, timeline
from factdrift.builders.facts.intervals import DATES
from factdrift.builders.facts.mined_properties import properties_to_mine
from factdrift.builders.facts.relations import (
    Classes,
    Relation,
    Relations,
    property_of,
    relations_with_own,
)
from factdrift.builders.facts.stated import Stated
from factdrift.builders.facts.time_rules import TimeRule, learning, with_learned
from factdrift.builders.wikidata.finish import PARTIAL, TABLES, mined_damage, read_summary
from factdrift.builders.wikidata.steps import Mine, MinedFolder

FACT_ORDER = (
    "subject", "relation", "object", "start_first", "start_last", "end_first", "end_last",
    "end_open", "point", "sighting", "rank", "statement",
)  # fmt: skip
"""Total order of facts, for `Engine.write`."""
GAP_ORDER = (
    *(column_name for column_name in FACT_ORDER if column_name not in ("point", "sighting")),
    "reason",
)
"""Total order of gaps, for `Engine.write`."""
COUNTS = "counts.json"
"""The file with the counts of a dump's lines, statements and facts: name -> number."""
CORRECTED = "corrected.json"
"""The file with what corrections of statements found, by entry (`corrected.applied`)."""
LEARNED = "learned.json"
"""The file with the learned times."""
UNSTATED = "unstated.txt"
"""The file with the ids of the relations of which a dump states nothing, one a line."""
DROPPED_ORDER = ("step", "reason", "item", "subject", "relation", "period", "score", "detail")
"""Total order of dropped rows, for `Engine.write`."""
UNCLASSED = "unclassed.json"
"""The file with the relations that ask for classes which no item of a dump has: id -> classes."""
# 100 MB are read in about two seconds, so that smaller dumps need no announcement.
_WORTH_SAYING = 100_000_000
"""Bytes of a dump from which on the user is told beforehand how long reading takes."""
_BYTES_A_MINUTE = 45e6 * 60
"""Bytes of a gz dump that one process and its thread read in a minute (see `bench/mine.py`)."""
_ROWS = {"facts": rows.Fact, "gaps": rows.Gap, "entities": rows.Entity, "dropped": rows.Dropped}


class Facts(Step):
    """The step that selects facts, gaps, entities and dropped statements of some relations.

    `pointwise` lists the relations whose facts are points, and `undated` those that keep undated
    statements. `classes` has the classes of subject and object for each relation that restricts
    them. `corrections` are those of statements, also of other relations.
    """

    name: ClassVar[str] = "facts"

    mined: Mine | MinedFolder
    relations: tuple[str, ...]
    pointwise: tuple[str, ...]
    undated: tuple[str, ...]
    classes: Mapping[str, tuple[Classes | None, Classes | None]] = {}
    corrections: tuple[StatementChange, ...] = ()

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write a Parquet file for each table, and `counts.json` with the counts."""
        mined_folder = workspace.folder(self.mined)
        with workspace.engine() as eng:
            selection = (self.relations, self.pointwise, self.undated, self.classes)
            stated_tables = Stated(eng, mined_folder, *selection, self.corrections)
            row_counts: dict[str, int] = {}

            def written(table_name: str, table: ir.Table, order: Sequence[str]) -> ir.Table:
                """Write a table and return it as a file, so that it is computed once."""
                path, row = out / f"{table_name}.parquet", _ROWS[table_name]
                row_counts[table_name] = eng.write(table, path, row, order)
                return eng.read(path, row)

            facts = written("facts", stated_tables.facts, FACT_ORDER)
            gaps = written("gaps", stated_tables.gaps, GAP_ORDER)
            written("entities", stated_tables.named(facts, gaps), ("id",))
            dropped_rows = written("dropped", stated_tables.dropped, DROPPED_ORDER)
            stated_relation_ids = {
                row["relation"] for row in eng.rows(facts.select("relation").distinct())
            }
            reason_counts = [
                (row["reason"], row["n"])
                for table in (gaps.filter(gaps.reason == "undated"), dropped_rows)
                for row in eng.rows(table.group_by("reason").agg(n=table.count()))
            ]
        count_by_reason = dict(reason_counts)
        mining_counts = self._counted(mined_folder)
        count_by_reason["undated"] = mining_counts["undated"] + count_by_reason.get("undated", 0)
        counts_text = json.dumps(
            {**mining_counts, **count_by_reason, **row_counts}, indent=1, sort_keys=True
        )
        (out / COUNTS).write_text(counts_text + "\n", "utf-8")
        applied_text = json.dumps(stated_tables.applied, indent=1, sort_keys=True)
        (out / CORRECTED).write_text(applied_text + "\n", "utf-8")
        stated_relations = read_summary(mined_folder / TABLES[-1])["relations"]
        unstated = [
            relation_id
            for relation_id in self.relations
            if not any(stated_relations.get(property_of(relation_id), {}).values())
        ]
        (out / UNSTATED).write_text(
            "".join(f"{relation_id}\n" for relation_id in unstated), "utf-8"
        )
        unclassed = self._unclassed(set(unstated), stated_relation_ids)
        (out / UNCLASSED).write_text(
            json.dumps(unclassed, indent=1, sort_keys=True) + "\n", "utf-8"
        )

    def _unclassed(self, unstated: set[str], with_facts: set[str]) -> dict[str, list[str]]:
        """Return the classes of each relation whose statements are of no item of them."""
        unclassed: dict[str, list[str]] = {}
        for relation_id, both_classes in self.classes.items():
            needed = sorted({item for classes in both_classes if classes for item in classes.of})
            if needed and relation_id not in unstated | with_facts:
                unclassed[relation_id] = needed
        return unclassed

    def _counted(self, mined_folder: Path) -> Counter[str]:
        """Add up the counts of the whole dump and those of these relations."""
        summary = read_summary(mined_folder / TABLES[-1])
        counts = Counter[str](summary["counts"])
        counts["statements"] = 0
        for relation in dict.fromkeys(map(property_of, self.relations)):
            counts.update(summary["relations"].get(relation, {}))
        return counts


class LearnedTimes(Step):
    """The step that learns how long open statements of some relations are trusted (see `learned`).

    `source` has the facts of the newest dump or endpoint, or is a file: the manifest of a release,
    or what this step wrote. `rules` are those of the relations that learn a time. The step writes
    `learned.json`, a list of `learned.LearnedTime`.
    """

    name: ClassVar[str] = "learned-times"

    source: Facts | Source
    rules: Mapping[str, TimeRule]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Count the terms of each relation by length, or read the file."""
        if isinstance(self.source, Source):
            times = learned.times_of_file(self.source.files[0], self.rules)
        else:
            with workspace.engine() as eng:
                dump = read_dump(eng, workspace.folder(self.source), self.rules)
                times = list(learned.learned_times(eng, dump.facts, dump.entities, self.rules))
        (out / LEARNED).write_text(learned.as_json(times), "utf-8")


class Timelines(Step):
    """The step that merges the facts of some relations into timelines (see `timeline`).

    Where a statement leaves the end of a fact open, the timeline closes it by the relation's rules.
    `rules` has these rules by the id of the relation, and `learned` the times that some of them
    ask for. The step writes `timelines.parquet` (`rows.Segment`) and `gaps.parquet` (`rows.Gap`).
    """

    name: ClassVar[str] = "timelines"

    facts: Facts
    rules: Mapping[str, TimeRule]
    learned: LearnedTimes | None = None

    def timed_rules(self, workspace: Workspace) -> dict[str, TimeRule]:
        """The rules, with the learned times."""
        return timed_rules(workspace, self.rules, self.learned)

    def make(self, out: Path, workspace: Workspace) -> None:
        """Merge the facts of these relations into segments."""
        with workspace.engine() as eng:
            mined_dump = read_dump(eng, workspace.folder(self.facts), self.rules)
            merged_timeline = timeline.timeline(eng, *mined_dump, self.timed_rules(workspace))
            eng.write(
                merged_timeline.segments, out / "timelines.parquet", rows.Segment, timeline.ORDER
            )
            eng.write(merged_timeline.gaps, out / "gaps.parquet", rows.Gap, timeline.GAP_ORDER)


def read_dump(eng: Engine, folder: Path, relations: Collection[str]) -> snapshot_diff.Dump:
    """Read the facts and gaps of some relations, and all entities, from a folder of facts."""
    all_facts = eng.read(folder / "facts.parquet", rows.Fact)
    all_gaps = eng.read(folder / "gaps.parquet", rows.Gap)
    relation_ids = sorted(relations)
    named_entities = eng.read(folder / "entities.parquet", rows.Entity)
    return snapshot_diff.Dump(
        all_facts.filter(all_facts.relation.isin(relation_ids)),
        all_gaps.filter(all_gaps.relation.isin(relation_ids)),
        named_entities,
    )


def all_relations(run: Run) -> Relations:
    """Every relation that has a template: the project's, and those of `--templates`."""
    return relations_with_own(run.templates)


def facts_step(run: Run, name: str, relations: Mapping[str, Relation]) -> Facts:
    """Return the step that makes the facts of these relations from an input of the recipe.

    The input is a dump, or a folder that has been mined already. Raises `UserError` if such a
    folder was mined without a property or the undated statements that these relations need.
    """
    with_undated = tuple(
        sorted(
            relation_id for relation_id, relation in relations.items() if relation.undated == "keep"
        )
    )
    own_properties = {relation.property for relation in relations.values()}
    return Facts(
        mined=_mined(run, run.inputs[name], properties_to_mine(relations), own_properties),
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
        corrections=run.corrections,
    )


def _mined(
    run: Run,
    source: Source,
    needed_properties: Mapping[str, bool],
    own_properties: Collection[str],
) -> Mine | MinedFolder:
    """Return the step that mines a dump, or the folder that was mined already.

    Raises `UserError` if a mined folder lacks properties, or undated statements, that the recipe
    needs.
    """
    if not source.mined:
        # Undated statements are mined for all relations that keep them, not only for those of this
        # recipe, so that the dump is read once for all recipes.
        undated_properties = [
            property_id
            for property_id, is_kept in properties_to_mine(all_relations(run)).items()
            if is_kept
        ]
        mine_step = Mine(dump=source, undated=tuple(sorted(undated_properties)))
        _say_before(run, mine_step)
        return mine_step
    summary = read_summary(source.mined / TABLES[-1])
    if damage := mined_damage(source.mined):
        hint_text = (
            "mine the dump again; after a change on purpose, take `sha256` and `seal` out of it"
        )
        raise UserError(f"was changed since: {damage}", where=source.mined, hint=hint_text)
    if summary["asked"] is not None and (
        missing_properties := sorted(set(needed_properties) - set(summary["asked"]))
    ):
        raise UserError(
            f"it was not mined for {', '.join(missing_properties)}",
            where=source.mined,
            hint="mine them too, or leave them out of the recipe's relations",
        )
    if partial_properties := sorted(set(own_properties).intersection(summary.get(PARTIAL, ()))):
        raise UserError(
            f"it has {', '.join(partial_properties)} only of what the other statements name",
            where=source.mined,
            hint=f"mine it as a relation: --relations {','.join(partial_properties)},…",
        )
    if missing_properties := sorted(
        {property_id for property_id in needed_properties if needed_properties[property_id]}
        - set(summary["undated"])
    ):
        raise UserError(
            f"it was mined without the undated statements of {', '.join(missing_properties)}",
            where=source.mined,
            hint="mine it again with templates that say `undated: keep`, or leave them out",
        )
    return MinedFolder(tables=source)


def _say_before(run: Run, mine_step: Mine) -> None:
    """Tell the user that a dump will be read, how long that takes, and why it is read again."""
    workspace = run.workspace
    if (workspace.root / f"{mine_step.name}-{mine_step.key}").is_dir():
        return
    dump_size = sum(file.stat().st_size for file in mine_step.dump.files)
    if dump_size < _WORTH_SAYING:
        return
    gigabytes, minutes = dump_size / 1e9, dump_size / _BYTES_A_MINUTE
    message_text = (
        f"  {mine_step.dump.name}: {gigabytes:.1f} GB are read, about {minutes:.0f} minutes"
    )
    earlier_summaries = [
        read_summary(summary_path)
        for summary_path in sorted(workspace.root.glob(f"{mine_step.name}-*/{TABLES[-1]}"))
    ]
    undated_before = [
        summary["undated"]
        for summary in earlier_summaries
        if summary["snapshot"] == str(mine_step.dump.snapshot)
    ]
    newly_undated = set(mine_step.undated).difference(*undated_before) if undated_before else set()
    if newly_undated:
        message_text += f" again, for the undated statements of {', '.join(sorted(newly_undated))}"
    workspace.say(message_text)


def timelines_step(
    run: Run, facts: Facts, relations: Mapping[str, Relation], older: Sequence[Facts] = ()
) -> Timelines:
    """Return the step that makes the timelines of these relations.

    `older` are the facts of older dumps of the run, the newest first.
    """
    rules = time_rules(relations)
    return Timelines(facts=facts, rules=rules, learned=learned_step(run, [facts, *older], rules))


def learned_step(
    run: Run, facts: Sequence[Facts], rules: Mapping[str, TimeRule]
) -> LearnedTimes | None:
    """Return the step that learns the times of relations that ask for one; None: none does.

    It reads the run's input `learned`, or else learns them from the newest facts, which come first.
    What is mined from an endpoint teaches as a dump does: it has all statements of its relations.
    """
    learning_rules = learning(rules)
    if not learning_rules:
        return None
    if "learned" in run.inputs:
        return LearnedTimes(source=run.inputs["learned"], rules=learning_rules)
    return LearnedTimes(source=facts[0], rules=learning_rules)


def read_learned(folder: Path) -> list[learned.LearnedTime]:
    """The times that the step `LearnedTimes` wrote."""
    return learned.read_times(folder / LEARNED)


def timed_rules(
    workspace: Workspace, rules: Mapping[str, TimeRule], learned_times: LearnedTimes | None
) -> dict[str, TimeRule]:
    """The rules with the learned times, as every step takes them that makes timelines."""
    if learned_times is None:
        return dict(rules)
    times = read_learned(workspace.folder(learned_times))
    return with_learned(rules, {time.relation: time.days for time in times if time.days})


def time_rules(relations: Mapping[str, Relation]) -> dict[str, TimeRule]:
    """Return the rules of time from the templates of these relations, by relation id."""
    shared_fields = set(TimeRule.model_fields)
    return {
        relation_id: TimeRule.model_validate(relation.model_dump(include=shared_fields))
        for relation_id, relation in relations.items()
    }


def relation_labels(relations: Mapping[str, Relation]) -> dict[str, str]:
    """The name of each relation."""
    return {relation_id: relation.label for relation_id, relation in relations.items()}


def released_segments(segments: ir.Table) -> ir.Table:
    """Add to segments their ids and their dates as texts.

    The id is made of subject, relation, object and the place of the segment among those of the
    object, so that it stays when the dates of a segment change.
    """
    by_time = [segments[column].asc(nulls_first=True) for column in (*DATES, "statements")]
    of_object = ibis.window(group_by=list(timeline.KEY), order_by=by_time)
    numbered_segments = segments.mutate(place=ibis.row_number().over(of_object))
    return release_columns.with_valid_dates(
        release_columns.with_content_ids(numbered_segments, (*timeline.KEY, "place"))
    )


def newest_entities(eng: Engine, folders: Sequence[Path]) -> ir.Table:
    """Merge the entities of folders of facts, which come oldest first.

    An entity that is in several of them has the labels and counts of the newest.
    """
    newest_table, *older_tables = (
        eng.read(facts_folder / "entities.parquet", rows.Entity)
        for facts_folder in reversed(folders)
    )
    for older_table in older_tables:
        newest_table = newest_table.union(older_table.anti_join(newest_table, "id"))
    return newest_table


def read_dropped(eng: Engine, *folders: Path) -> ir.Table:
    """Read the rows that were left out while these facts were made (`rows.Dropped`)."""
    dropped_tables = (
        eng.read(facts_folder / "dropped.parquet", rows.Dropped) for facts_folder in folders
    )
    return reduce(ir.Table.union, dropped_tables)
