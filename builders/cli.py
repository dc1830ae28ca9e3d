"""The command line: `python -m factdrift` and the console script `factdrift`."""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from typer import Argument, Option
from typer.core import TyperCommand

import factdrift
from factdrift.annotation import commands
from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import is_pipe, refusal, resource
from factdrift.builders.core.inputs import INPUTS, with_inputs, without_day, words
from factdrift.builders.core.progress import echo, say
from factdrift.scoring import commands as scoring
from factdrift.scoring.export import FormatName
from factdrift.scoring.export.id_forms import IdForm

if TYPE_CHECKING:
    from factdrift.builders.generate.prompts import ModelSettings
    from factdrift.builders.wikidata.finish import MinedTables
    from factdrift.builders.wikidata.mine import DumpReader
    from factdrift.builders.wikidata.reader import Share

app = typer.Typer(
    help="Rebuild temporal-knowledge benchmarks from raw sources.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        echo(f"factdrift {factdrift.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool,
        Option(
            "--version", callback=_show_version, is_eager=True, help="Say the version and stop."
        ),
    ] = False,
) -> None:
    """Rebuild temporal-knowledge benchmarks from raw sources."""


# the folder is shown in the help by words, because its path differs between machines
TEMPLATES = resource("templates")
Templates = Annotated[
    Path,
    Option(
        help="Folder of relation templates that add to the project's, or take their places.",
        show_default="the project's",
    ),
]
Recipes = Annotated[
    list[str] | None,
    Argument(help="Recipes by name or path; by default all that need no argument."),
]
Release = Annotated[Path, Argument(help="A release folder.")]
Build = Annotated[Path, Option(help="Where intermediate tables are kept.")]
Jobs = Annotated[int, Option(min=1, help="Processes that work side by side.")]


def _size(text: str) -> str:
    """Return a size in the notation of DuckDB."""
    # `600MB` and `1.5 GiB`, not `600` or `2G`
    if not re.fullmatch(r"\d+(?:\.\d+)? ?[KMGT]i?B", text, re.IGNORECASE):
        raise typer.BadParameter("write a size: 600MB, 2GB")
    return text


Memory = Annotated[
    str, Option(help="Memory for tables, such as 600MB; what needs more uses disk.", callback=_size)
]
Snapshot = Annotated[
    str | None,
    Option(
        "--snapshot-date",
        "--snapshot",
        metavar="YYYY-MM-DD",
        help="Day of the dump, or of the input whose name does not say it.",
    ),
]


class _Command(TyperCommand):
    """A command that refuses pipes, because reading one without a writer takes for ever."""

    def invoke(self, ctx: Any) -> Any:
        for parameter_value in ctx.params.values():
            for single_value in (
                parameter_value if isinstance(parameter_value, list) else [parameter_value]
            ):
                if isinstance(single_value, Path | str) and is_pipe(Path(single_value)):
                    raise UserError("this is a pipe, not a file", where=single_value)
        return super().invoke(ctx)


command = partial(app.command, cls=_Command)


def _tell(problems: Sequence[str], problem_kind: str, folder: Path) -> None:
    for problem in problems:
        echo(problem)
    if problems:
        raise UserError(f"{len(problems)} {problem_kind}", where=folder)


@command()
@with_inputs
def release(
    recipe: Recipes = None,
    *,
    given: Mapping[str, list[str]],
    snapshot: Snapshot = None,
    version: Annotated[
        str | None, Option(help="1.2.3, or auto for the smallest that the rule allows.")
    ] = None,
    limit: Annotated[
        int | None,
        Option(min=1, help="Generated questions at most: a few to look at before the whole."),
    ] = None,
    model: Annotated[
        str | None,
        Option(help="The model that writes the questions and judges them: a name, or a folder."),
    ] = None,
    backend: Annotated[
        str,
        Option(
            help="Where the model is: openai (any server of this protocol), batch (files for it), "
            "transformers (this machine), or a package's."
        ),
    ] = "openai",
    base_url: Annotated[
        str | None,
        Option(help="The server's address, up to /v1: http://localhost:11434/v1 for Ollama."),
    ] = None,
    key_variable: Annotated[
        str | None,
        Option(help="Environment variable with the server's key.", show_default="OPENAI_API_KEY"),
    ] = None,
    rows: Annotated[
        int | None,
        Option(min=1, help="Rows that the model is to write, of all splits together."),
    ] = None,
    concurrency: Annotated[
        int | None, Option(min=1, max=256, help="Calls of the server at a time.", show_default="4")
    ] = None,
    budget: Annotated[
        float | None, Option(min=0, metavar="USD", help="Stop before the calls cost more.")
    ] = None,
    yes: Annotated[
        bool, Option("--yes", help="Agree to what it will cost; nobody is asked.")
    ] = False,
    prices: Annotated[
        Path | None,
        Option(help="A file of prices like builders/generate/prices.yaml, before the project's."),
    ] = None,
    out: Annotated[Path, Option(help="Where releases go.")] = Path("releases"),
    build: Build = Path("build"),
    templates: Templates = TEMPLATES,
    engine: Annotated[
        str,
        Option(
            help="What runs the tables: duckdb, spark, or where a Spark is: spark://host:7077, "
            "local[4], or sc://host:15002 (Spark Connect)."
        ),
    ] = "duckdb",
    jobs: Jobs = 2,
    memory: Memory = "4GB",
) -> None:
    """Build recipes into versioned releases."""
    from factdrift.builders.generate.costs import Prices, Terms
    from factdrift.builders.release.release import ReleaseOptions, release_all

    model_values = {
        "model": model,
        "base_url": base_url,
        "key_variable": key_variable,
        "concurrency": concurrency,
    }
    release_options = ReleaseOptions(
        given=given,
        snapshot=snapshot,
        version=version,
        limit=limit,
        rows=rows,
        model=_named_model(backend, model_values),
        terms=Terms(Prices.read(prices), budget, yes),
        out=out,
        build=build,
        templates=templates,
        engine=engine,
        jobs=jobs,
        memory=memory,
    )
    release_all(recipe or [], release_options)


def _named_model(backend: str, values: Mapping[str, object]) -> "ModelSettings | None":
    """Return the model that the options name, and allow its key to go to its server."""
    from factdrift.builders.core import keys
    from factdrift.builders.release.release import named_model

    own_values = {name: value for name, value in values.items() if value is not None}
    if "model" not in own_values:
        if own_values:
            option = next(iter(own_values)).replace("_", "-")
            raise UserError(f"--{option} is about a model", hint="name it: --model NAME")
        return None
    if "base_url" in own_values and "key_variable" in own_values:
        # the user typed both
        keys.grant(str(own_values["key_variable"]), str(own_values["base_url"]))
    return named_model(backend, own_values)


@command()
@with_inputs
def record(
    recipe: Annotated[list[str], Argument(help="Recipes by name or path, of one recorded model.")],
    *,
    given: Mapping[str, list[str]],
    folder: Annotated[
        Path, Option(help="For requests.jsonl, and for the files of answers (*.jsonl) beside it.")
    ] = Path("recording"),
    text: Annotated[
        bool, Option("--text", help="Write the prompts as texts, too: a file an article.")
    ] = False,
    day: Annotated[
        str | None,
        Option(metavar="YYYY-MM-DD", help="Day of the answers.", show_default="today"),
    ] = None,
    limit: Annotated[
        int | None, Option(min=1, help="The prompts of so many questions, for a beginning.")
    ] = None,
    prune: Annotated[
        bool, Option("--prune", help="Remove answers that no prompt of these recipes asks for.")
    ] = False,
    snapshot: Snapshot = None,
    build: Build = Path("build"),
    templates: Templates = TEMPLATES,
    jobs: Jobs = 2,
    memory: Memory = "4GB",
) -> None:
    """Record a model's answers to the prompts of recipes, so that they need no model.

    Each run takes the answers that lie in the folder, and writes the prompts that wait for one.
    """
    from factdrift.builders.release.record import RecordOptions
    from factdrift.builders.release.record import record as record_answers
    from factdrift.builders.release.release import ReleaseOptions
    from factdrift.builders.wikidata.shards import snapshot_day

    release_options = ReleaseOptions(
        given, snapshot, build, templates, jobs=jobs, memory=memory, limit=limit
    )
    record_options = RecordOptions(
        folder, texts=text, day=snapshot_day([], day) if day else None, prune=prune
    )
    record_answers(recipe, record_options, release_options)


@command()
@with_inputs
def steps(
    recipe: Recipes = None,
    *,
    given: Mapping[str, list[str]],
    snapshot: Snapshot = None,
    build: Build = Path("build"),
    templates: Templates = TEMPLATES,
) -> None:
    """Say which steps a release would make anew, and which are there."""
    from factdrift.builders.release.release import ReleaseOptions, planned_steps

    release_options = ReleaseOptions(given, snapshot, build, templates)
    for line in planned_steps(recipe or [], release_options):
        echo(line)


@command()
@with_inputs
def rebuild(
    folder: Release,
    *,
    given: Mapping[str, list[str]],
    out: Annotated[Path, Option(help="Where the release made again goes.")] = Path("rebuilt"),
    build: Build = Path("build"),
    templates: Templates = TEMPLATES,
    jobs: Jobs = 2,
    memory: Memory = "4GB",
) -> None:
    """Make a release again from its manifest, and say whether it is the same to the byte."""
    from factdrift.builders.release.rebuild import rebuild_release
    from factdrift.builders.release.release import ReleaseOptions

    release_options = ReleaseOptions(
        given, out=out, build=build, templates=templates, jobs=jobs, memory=memory
    )
    _tell(rebuild_release(folder, release_options), "file(s) differ", folder)
    echo(f"{folder}: made again, the same to the byte")


@command()
def clean(
    *,
    build: Build = Path("build"),
    dry_run: Annotated[bool, Option("--dry-run", help="Say it, and remove nothing.")] = False,
    everything: Annotated[
        bool, Option("--all", help="Also what releases need, and answers of models.")
    ] = False,
) -> None:
    """Say what lies in the build folder, and remove what the newest releases do not need.

    A release that was moved or deleted since it was made needs nothing any more: what was mined
    for it goes, too. --dry-run says it before.
    """
    from factdrift.builders.core.files import locked
    from factdrift.builders.core.tidy import clean as remove
    from factdrift.builders.core.tidy import look, table

    build_entries = look(build)
    with locked(build, "wait for it to end"):
        for line in table(build_entries, everything):
            echo(line)
        kept_bytes = sum(entry.size for entry in build_entries if entry.stays(everything))
        size = (
            sum(entry.size for entry in build_entries) - kept_bytes
            if dry_run
            else remove(build_entries, everything)
        )
    verb = "would be removed" if dry_run else "removed"
    echo(f"{size / 1e6:,.1f} MB {verb}, {kept_bytes / 1e6:,.1f} MB kept")


@command()
def mine(
    dump: Annotated[
        list[str] | None,
        Argument(
            help="Dump files, globs of shards, or folders; PATH@2026-11-09: of a day; or latest, "
            "or 2026-11-09: Wikidata's own."
        ),
    ] = None,
    *,
    out: Annotated[Path, Option(help="Folder for statements.parquet and entities.parquet.")],
    endpoint: Annotated[str | None, Option(help="A SPARQL endpoint instead of a dump.")] = None,
    user_agent: Annotated[
        str | None, Option(help="For the endpoint: your tool and a contact.")
    ] = None,
    relations: Annotated[
        str | None, Option(help="Of an endpoint: P54,P39,…; by default all with a template.")
    ] = None,
    shard: Annotated[
        str | None,
        Option(help="I/N: read one of N shares of a dump; `mine` of all N folders merges."),
    ] = None,
    engine: Annotated[
        str,
        Option(
            help="Who reads a dump: duckdb (processes of this machine), spark, or where a Spark "
            "is: spark://host:7077, local[4], sc://host:15002. The tables are DuckDB's in any case."
        ),
    ] = "duckdb",
    shards: Annotated[
        int | None,
        Option(
            min=1, help="Tasks of a Spark that share the dump; by default one a file.", max=10**6
        ),
    ] = None,
    snapshot: Snapshot = None,
    templates: Templates = TEMPLATES,
    jobs: Jobs = 2,
    memory: Memory = "600MB",
) -> None:
    """Mine the dated statements of a Wikidata dump, or of some relations at a SPARQL endpoint."""
    from factdrift.builders.facts.relations import relations_with_own, select_relations
    from factdrift.builders.facts.steps import properties_to_mine
    from factdrift.builders.recipes.dumps import find_addresses
    from factdrift.builders.recipes.recipe import fetched
    from factdrift.builders.wikidata.shards import snapshot_day
    from factdrift.builders.wikidata.sparql import mine_sparql

    relation_ids = _relation_ids(relations)
    relation_table = relations_with_own(templates)
    chosen_relations = (
        select_relations(relation_table, relation_ids, templates)
        if relation_ids
        else relation_table.whole()
    )
    properties = properties_to_mine(chosen_relations)
    if bool(dump) is bool(endpoint):
        raise UserError("give either dump files or --endpoint")
    if dump and relation_ids:
        # tables of a dump serve all recipes, which need different relations
        raise UserError("a dump is mined for every relation", hint="leave --relations out")
    dump_reader = _reading(engine, shards, jobs, out, alone=bool(endpoint or shard))
    dump_paths, snapshot_text = _snapshot_of_dump(dump or [], snapshot)
    mined_tables: MinedTables | None
    if endpoint:
        mined_tables = mine_sparql(
            endpoint,
            out,
            relations=properties,
            user_agent=user_agent,
            cache=out / "answers",
            snapshot=snapshot_day([], snapshot_text) if snapshot_text else None,
            memory=memory,
        )
    else:
        undated = [relation for relation, keeps_undated in properties.items() if keeps_undated]
        mine_options = {"undated": undated, "snapshot": snapshot_text, "jobs": jobs, "say": say}
        dump_paths = find_addresses("wikidata", dump_paths, say)
        dump_files = fetched("wikidata", dump_paths, out / "inputs", say)
        mined_tables = _mine_dump(dump_files, out, shard, dump_reader, memory, mine_options)
    if mined_tables is not None:
        statement_count = mined_tables.counts["counts"]["statements"]
        say(f"{statement_count:,} statements of {mined_tables.snapshot} in {out}")


def _relation_ids(relations: str | None) -> list[str]:
    """Return the ids in `P54,P39` or `P54, P39`; none means all relations."""
    relation_ids = re.findall(r"[^\s,]+", relations or "")
    if relations is not None and not relation_ids:
        raise UserError("--relations names none", hint="write P54,P39, or leave it out for all")
    return relation_ids


def _snapshot_of_dump(dump: list[str], snapshot: str | None) -> tuple[list[str], str | None]:
    """Return the paths of a dump without their day, and the day of the paths or the option."""
    dump_paths, path_day = without_day(dump)
    if path_day and snapshot not in (None, path_day):
        raise UserError(f"two days are given: {path_day} and {snapshot}")
    return dump_paths, snapshot or path_day


def _mine_dump(
    dump_files: list[str],
    out: Path,
    shard: str | None,
    dump_reader: "DumpReader | None",
    memory: str,
    mine_options: dict[str, Any],
) -> "MinedTables | None":
    """Mine a dump or one share of it, or merge shares; return the tables, or None after a share."""
    from factdrift.builders.wikidata.mine import SHARE_FILE, merge_shares, mine_share
    from factdrift.builders.wikidata.mine import mine as mine_dump

    share_folders = [Path(file) for file in dump_files if (Path(file) / SHARE_FILE).is_file()]
    if share_folders and dump_reader:
        error_text = "these are shares that have been read"
        raise UserError(error_text, where=share_folders[0], hint="leave --engine out to merge them")
    if share_folders:
        return merge_shares(
            share_folders, out, memory=memory, jobs=mine_options["jobs"], say=mine_options["say"]
        )
    if shard:
        mine_share(dump_files, out, _share(shard), **mine_options)
        say(f"share {shard} in {out}; when all are there: factdrift mine FOLDER… --out MINED")
        return None
    return mine_dump(dump_files, out, memory=memory, reading=dump_reader, **mine_options)


def _reading(
    engine: str, shards: int | None, jobs: int, out: Path, alone: bool
) -> "DumpReader | None":
    """Return the reader of a dump on Spark, which must be reachable; None for processes."""
    if engine == "duckdb":
        if shards:
            hint_text = "give --engine spark, too; --shard I/N reads one share without Spark"
            raise UserError("--shards is for the tasks of a Spark", hint=hint_text)
        return None
    from factdrift.builders.core.engine import ready
    from factdrift.builders.wikidata.tasks import spark_reader

    if alone:
        raise UserError("--engine is for a whole dump", hint="leave --endpoint and --shard out")
    dump_reader = spark_reader(engine, shards, jobs)
    ready(engine, out / "build")
    return dump_reader


def _share(share_text: str) -> "Share":
    """Read a share such as `2/8`, the second of eight."""
    from factdrift.builders.wikidata.reader import Share

    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", share_text)
    index, share_count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= share_count:
        raise UserError(f"not a share: {share_text!r}", hint="write 1/3, 2/3, 3/3")
    return Share(index - 1, share_count)


@command()
def dumps(
    publisher: Annotated[
        list[str] | None, Argument(help="wikidata, wikipedia, news; by default all.")
    ] = None,
    *,
    wiki: Annotated[str, Option(metavar="LANG", help="Which Wikipedia: en, de, simple, …")] = "en",
    as_json: Annotated[
        bool, Option("--json", help="Print JSON, with addresses and checksums.")
    ] = False,
) -> None:
    """Say which days Wikidata, Wikipedia and WMT's news have dumps of, with sizes and checksums."""
    from factdrift.builders.recipes.dump_lists import dump_lines, dump_lists

    lists = dump_lists(publisher or [], wiki, say)
    for line in [json.dumps(lists, indent=2)] if as_json else dump_lines(lists):
        echo(line)


@command()
def corpus(
    archives: Annotated[
        list[str], Argument(help="News archives, or files of pages with --release.")
    ],
    *,
    out: Annotated[Path, Option(help="Folder for passages.parquet, or for the configs.")],
    release: Annotated[
        Path | None,
        Option(help="A release folder made with `text: false`: its pages' text is put back."),
    ] = None,
    until: Annotated[
        str | None,
        Option(metavar="YYYY-MM-DD", help="Last day of an article: the end of a quarter, say."),
    ] = None,
    keep: Annotated[Path | None, Option(help="A list of article ids to keep.")] = None,
    original: Annotated[
        bool, Option("--original", help="Passages to the letter as StreamingQA's own code.")
    ] = False,
    jobs: Jobs = 2,
    memory: Memory = "600MB",
) -> None:
    """Rebuild the texts that questions are answered from, out of your own archives or pages."""
    if release is not None:
        from factdrift.builders.release.contexts import restore_contexts

        comparison = restore_contexts(release, archives, out, jobs=jobs)
        say(f"{comparison.rows:,} rows with their text in {out}")
        if comparison.changed or comparison.missing:
            say(
                f"{comparison.changed:,} rows have another text in these pages, "
                f"{comparison.missing:,} no page"
            )
        return
    from factdrift.builders.wikidata.shards import snapshot_day
    from factdrift.builders.wmt.passages import write_passages

    write_passages(
        archives,
        out,
        until=snapshot_day([], until) if until else None,
        keep=keep,
        original=original,
        jobs=jobs,
        memory=memory,
        say=say,
    )


@command()
def verify(folder: Release) -> None:
    """Check a release against its manifest, and the code in `tasks/` against this project's."""
    from factdrift.builders.release.task_code import compare_code
    from factdrift.builders.release.verify import not_covered, verify_release

    _tell(verify_release(folder), "problem(s)", folder)
    echo(f"{folder}: whole and unchanged: it agrees with its manifest")
    if uncovered_line := not_covered(folder):
        echo(uncovered_line)
    task_code = compare_code(folder)
    for sentence in task_code.sentences():
        echo(f"{folder}: {sentence}")
    if task_code.own:
        hint_text = "it runs with all your rights when a harness reads tasks/: read it first"
        raise UserError(
            f"{len(task_code.own)} file(s) of code of its own", where=folder, hint=hint_text
        )


@command()
def diff(
    old: Release,
    new: Annotated[Path, Argument(help="Another release folder of the same dataset.")],
    *,
    out: Annotated[Path | None, Option(help="Write the differing rows here, as Parquet.")] = None,
    notes: Annotated[Path | None, Option(help="Write notes for readers here, as Markdown.")] = None,
) -> None:
    """Say what changed between two releases, by id."""
    from tempfile import TemporaryDirectory

    from factdrift.builders.core.files import disk_errors, replacing
    from factdrift.builders.release.compare import compare
    from factdrift.builders.release.notes import release_notes

    with TemporaryDirectory() as scratch:
        table = out or (Path(scratch) / "diff.parquet" if notes else None)
        comparison = compare(old, new, table)
        if notes is not None and table is not None:
            with disk_errors(notes), replacing(notes) as path:
                path.write_text("\n".join(release_notes(old, new, comparison, table)), "utf-8")
    echo(comparison.summary())


@command()
def tasks(
    folder: Release,
    *,
    harness: Annotated[
        Literal["lm-eval", "inspect"], Option("--for", help="Which harness is to run them.")
    ],
    path: Annotated[
        str | None, Option(help="Where the release lies: a folder, or me/mine[@1.0.0] on the Hub.")
    ] = None,
    after: Annotated[
        str | None, Option(metavar="YYYY-MM-DD", help="Only rows that ask about a later day.")
    ] = None,
    out: Annotated[Path, Option(help="Folder that the tasks go into.")] = Path("tasks"),
) -> None:
    """Write a release's harness tasks for another place, or for a model's cut-off."""
    from factdrift.builders.release.tasks import rewrite_tasks

    counts = rewrite_tasks(folder, harness, out, path, after)
    for config, rows in counts.items():
        say(f"  {config}: {rows:,} rows")
    say(f"tasks in {out / harness}")


@command()
def export(
    folder: Release,
    *,
    name: Annotated[FormatName, Option("--format", help="The dataset that it is to be.")],
    to: Annotated[
        Path | None,
        Option(help="Folder of the files.", show_default="exports/<format>/<dataset>-<version>"),
    ] = None,
    passages: Annotated[
        Path | None, Option("--corpus", help="The text of news: a folder of corpus.")
    ] = None,
    ids: Annotated[
        IdForm, Option(help="streamingqa: original (eval-0, eval-1, …) or the ids of the rows.")
    ] = "original",
    config: Annotated[
        str | None,
        Option(help="as-of: text, or statements, sentences made from facts.", show_default="text"),
    ] = None,
    sessions: Annotated[
        int | None,
        Option(min=2, help="longmemeval: sessions of a question.", show_default="40"),
    ] = None,
) -> None:
    """Write a release as the files of an original dataset, for the code that reads these."""
    from factdrift.scoring.export import export_release

    export_release(folder, name, to, say, passages, ids, config, sessions)


@command()
def push(
    folder: Release,
    *,
    repo: Annotated[str, Option(help="Dataset repository on the Hub: me/mine.")],
    dry_run: Annotated[
        bool, Option("--dry-run", help="Say what would go; ask and send nothing.")
    ] = False,
    private: Annotated[
        bool,
        Option("--private", help="If the repository is made now: visible to its members alone."),
    ] = False,
    own_code: Annotated[
        bool,
        Option("--own-code", help="Also a release whose tasks/ has code that is not factdrift's."),
    ] = False,
    croissant: Annotated[
        Path | None, Option(help="Write croissant.json with the Hub's addresses here.")
    ] = None,
) -> None:
    """Put a release on the Hugging Face Hub, with a tag; the token is HF_TOKEN."""
    from factdrift.builders.release.push import push as upload

    upload(
        folder,
        repo,
        say,
        dry_run=dry_run,
        private=private,
        own_code=own_code,
        croissant_file=croissant,
    )


@command()
def templates(
    *,
    templates: Templates = TEMPLATES,
    table: Annotated[
        Path | None,
        Option(
            "--import",
            metavar="FILE.csv",
            help="Make templates of a table: Wikidata ID, Relation, Template.",
        ),
    ] = None,
    out: Annotated[
        Path | None, Option(help="Folder for the imported templates; none is replaced.")
    ] = None,
) -> None:
    """Check the relation templates and print an example of each; or import some from a table."""
    from factdrift.builders.facts.template_files import check, import_templates

    if (table is None) is not (out is None):
        raise UserError("--import FILE.csv and --out FOLDER go together")
    if table and out:
        template_paths = import_templates(table, out)
        say(
            f"{len(template_paths)} templates in {out}; "
            "set mode, exclusive and undated where they differ"
        )
        templates = out
    for line in check(templates):
        echo(line)


@command()
def new(
    kind: Annotated[
        str, Argument(help="dataset, filter, backend, platform or task; alone: a dataset's name.")
    ],
    name: Annotated[str | None, Argument(help="Its name: two-hop.")] = None,
    *,
    out: Annotated[Path, Option(help="Where its folder goes.")] = Path(),
) -> None:
    """Write the skeleton of an extension of your own, as a package that factdrift finds."""
    from factdrift.builders.recipes.new import next_step, write_skeleton

    if name is None:  # as version 0.2 had it: `factdrift new two-hop`
        kind, name = "dataset", kind
    say(next_step(kind, write_skeleton(kind, name, out)))


for command_function in (*commands.ALL, *scoring.ALL):
    command()(command_function)


_INTERRUPTED_STATUS = 130
"""The exit status of Typer after Ctrl-C."""
_MAKE_PREFIX = "FACTDRIFT_"
"""The prefix of the variables of `make`; `FACTDRIFT_MAKE` lists their names."""
_MAKES_OWN = {"PYTHON", "VENV", "BIN", "JOBS", "SLOW", "BENCHES"}
"""Variables that the Makefile itself uses, so that they need not be options."""


def from_make(environment: Mapping[str, str]) -> dict[str, dict[str, str | list[str]]]:
    """Return the options of each command that variables of `make` set: `N=200` is `--n 200`.

    A variable has the name of an option or an argument in capitals. Raises `UserError` if no
    command has an option or argument of that name.
    """
    variable_names = set(environment.get(f"{_MAKE_PREFIX}MAKE", "").split())
    options_by_command: dict[str, dict[str, str | list[str]]] = {}
    known_variables = set(_MAKES_OWN)
    commands = getattr(typer.main.get_command(app), "commands", {})
    for command in commands.values() if variable_names else ():
        option_values = options_by_command.setdefault(command.name, {})
        for option in command.params:
            option_variables = {_variable(word) for word in option.opts}
            known_variables |= option_variables
            for variable_name in variable_names & option_variables:
                variable_text = environment.get(_MAKE_PREFIX + variable_name, "")
                if variable_text:
                    takes_several = option.multiple or option.nargs != 1
                    option_values[option.name] = (
                        words(variable_text) if takes_several else variable_text
                    )
    if wrong_names := sorted(variable_names - known_variables):
        near_name = did_you_mean(wrong_names[0], sorted(known_variables))
        input_names = ", ".join(f"{variable_name.upper()}=" for variable_name in INPUTS)
        hint_text = f"did you mean {near_name}=?" if near_name else f"inputs are {input_names}"
        raise UserError(f"no command knows the variable {wrong_names[0]}=", hint=hint_text)
    return options_by_command


def _variable(word: str) -> str:
    """Return the variable of make for an option: `SPLIT_PAGES` for `--split-pages`."""
    return word.lstrip("-").replace("-", "_").upper()


def main() -> None:
    """Run the command line. A `UserError` is printed as one message, with exit status 1.

    So are errors of the disk, which can be full anywhere. Ctrl-C raises `KeyboardInterrupt`, also
    if Typer or DuckDB turned it into something else; `factdrift.__main__` prints a line for it.
    """
    try:
        app(default_map=from_make(os.environ))
    except UserError as error:
        _end(error)
    except Exception as error:
        # at the beginning of its text alone: a message may quote a query with these words
        if _QUERY_STOPPED.search(str(error)):
            raise KeyboardInterrupt from None
        if (reason := refusal(error)) is None:
            if damage := _damage_of_releases(sys.argv[1:]):
                _end(damage)
            raise
        hint_text = "make room, or name another place; the same command goes on from here"
        _end(UserError(reason, where=getattr(error, "filename", None), hint=hint_text))
    except SystemExit as end:  # Typer catches Ctrl-C and exits
        if end.code == _INTERRUPTED_STATUS:
            raise KeyboardInterrupt from None
        raise


def _damage_of_releases(words: Sequence[str]) -> UserError | None:
    """Return what is wrong with a release that the command line names, or None if all are whole.

    A damaged table raises errors of many kinds in the libraries that read it. Only the checksums
    of the manifest tell these from bugs, which keep their traceback.
    """
    from factdrift.builders.release import manifest
    from factdrift.builders.release.verify import verify_release

    for word in words:
        folder = Path(word.partition("=")[2] if word.startswith("--") else word)
        if os.path.lexists(folder / manifest.FILE) and (problems := verify_release(folder)):
            hint_text = "factdrift verify says all that is wrong; bring a whole copy of the release"
            return UserError(f"the release is damaged: {problems[0]}", where=folder, hint=hint_text)
    return None


_QUERY_STOPPED = re.compile(r"\AQuery interrupted|\AINTERRUPT Error")
"""The beginning of DuckDB's error after Ctrl-C; not `Interrupted system call`."""


def _end(error: UserError) -> NoReturn:
    say(f"error: {error}")
    sys.exit(1)
