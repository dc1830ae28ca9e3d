"""An audit: table and dump to verdicts, summary, picture and, on request, the repaired table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.inputs import without_day
from factdrift.builders.core.run import RecipeInput, Source
from factdrift.builders.core.steps import Say, Workspace
from factdrift.builders.facts.relations import TEMPLATES, property_of, relations_with_own
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.time_rules import TimeRule
from factdrift.builders.recipes.recipe import FINDERS, fetched
from factdrift.builders.wikidata.finish import TABLES
from factdrift.builders.wikidata.shards import snapshot_day
from factdrift.builders.wikidata.steps import MineWithLookup
from factdrift.scoring.audit import listing, repair, summary
from factdrift.scoring.audit.forms import POPQA_PROPERTIES, ColumnChoice
from factdrift.scoring.audit.steps import (
    IDS,
    JUDGED,
    AskedFacts,
    JudgedFacts,
    asked_properties,
    property_names,
)


@dataclass(frozen=True)
class AuditOptions:
    """What `factdrift audit` is told; `columns`: None: a table of a known form."""

    file: Path
    dump: Sequence[str]
    out: Path
    say: Say
    as_of: date | None = None
    snapshot: str | None = None
    columns: ColumnChoice | None = None
    repair: bool = False
    templates: Path = TEMPLATES
    build: Path = Path("build")
    jobs: int = 2
    memory: str = "600MB"


def audit(options: AuditOptions) -> summary.Summary:
    """Judge the rows of a table by a dump, and write what was found into `out`.

    `UserError`: no such file, a broken row, columns of no known form, no row that can be linked, a
    day after that of the dump.
    """
    if not options.file.is_file():
        raise UserError("no such file", where=display_path(options.file))
    if options.file.resolve().parent == options.out.resolve():
        raise UserError(
            "the result would stand beside the table, and may take its place",
            where=display_path(options.out),
            hint="give another folder with --out",
        )
    workspace = Workspace(options.build, options.say, jobs=options.jobs, memory=options.memory)
    options.build.mkdir(parents=True, exist_ok=True)
    with workspace.lock():
        judged_file = workspace.folder(_judged_step(options, workspace)) / JUDGED
        options.out.mkdir(parents=True, exist_ok=True)
        stale_rows = listing.write_listings(options.file, judged_file, options.out)
        audit_summary = summary.write_summary(judged_file, options.out, options.as_of, stale_rows)
        if options.repair:
            changes = repair.write_repaired(
                options.file, judged_file, options.out, options.columns, options.as_of
            )
            audit_summary = audit_summary.with_repair(changes)
    summary.write_json(audit_summary, options.out)
    return audit_summary


def _judged_step(options: AuditOptions, workspace: Workspace) -> JudgedFacts:
    """The step that judges; the steps before it are made where they are needed to plan it."""
    relations = relations_with_own(options.templates)
    labels = {
        relation_id: relation.label
        for relation_id, relation in relations.items()
        if relation_id == property_of(relation_id)
    }
    table_facts = AskedFacts(
        table=options.file,
        suffix=options.file.suffix.lower(),
        columns=options.columns,
        properties={**property_names(labels), **POPQA_PROPERTIES},
    )
    asked_folder = workspace.folder(table_facts)
    properties = asked_properties(asked_folder)
    if not properties:
        raise UserError(
            "no row has the id of a subject, a property that is known, and an answer",
            where=display_path(options.file),
            hint="rows are looked up by the subject's Wikidata id, such as Q42, and P54 or a name",
        )
    dump = _dump(options, workspace)
    if options.as_of and options.as_of > dump.snapshot:
        error_text = f"--as-of {options.as_of} is after {dump.snapshot}, the day of the dump"
        raise UserError(error_text, hint="give an earlier day, or a newer dump")
    mined = MineWithLookup(dump=dump, undated=tuple(properties), ids=asked_folder / IDS)
    facts = Facts(mined=mined, relations=tuple(properties), pointwise=(), undated=tuple(properties))
    rules = {
        relation_id: TimeRule.model_validate(
            relations[relation_id].model_dump(include=set(TimeRule.model_fields))
        )
        if relation_id in relations
        else TimeRule()
        for relation_id in properties
    }
    kept_rules = {
        relation_id: rule.model_copy(update={"undated": "keep"})
        for relation_id, rule in rules.items()
    }
    keeps_undated = [
        relation_id
        for relation_id, rule in rules.items()
        if relation_id not in relations or rule.undated == "keep"
    ]
    return JudgedFacts(
        table_facts=table_facts,
        mined=mined,
        timelines=Timelines(facts=facts, rules=kept_rules),
        keeps_undated=tuple(keeps_undated),
        as_of=options.as_of,
    )


def _dump(options: AuditOptions, workspace: Workspace) -> Source:
    """The dump as a source. `UserError`: a mined folder, which does not say what a dump lacks."""
    paths, path_day = without_day(options.dump)
    local_paths = fetched("wikidata", paths, options.build / "inputs", options.say)
    files = FINDERS["wikidata"][0](local_paths)
    if {file.name for file in files} == set(TABLES):
        raise UserError(
            "a mined folder does not say which items the dump has",
            where=display_path(files[0].parent),
            hint="give the dump itself",
        )
    return Source(
        name="dump",
        files=tuple(files),
        sha256=tuple(map(workspace.checksum, files)),
        snapshot=snapshot_day(files, options.snapshot or path_day),
        about=RecipeInput(licence="CC0-1.0"),
    )
