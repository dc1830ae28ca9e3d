"""The commands for what comes before a release: raw sources, templates, packages of your own."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.inputs import is_remote, without_day
from factdrift.builders.core.options import (
    TEMPLATES,
    AsJson,
    Jobs,
    Memory,
    Snapshot,
    Templates,
    listed_relations,
)
from factdrift.builders.core.progress import echo, echo_json, say

if TYPE_CHECKING:
    from factdrift.builders.core.streams import RemoteFile
    from factdrift.builders.facts.relations import Relation
    from factdrift.builders.wikidata.finish import MinedTables
    from factdrift.builders.wikidata.mine import DumpReader
    from factdrift.builders.wikidata.reader import Share
    from factdrift.builders.wikidata.sparql import RoadName


def mine(
    dump: Annotated[
        list[str] | None,
        Argument(
            help="Dump files, globs of shards, or folders; PATH@2026-11-09: of a day; or latest, "
            "or 2026-11-09: Wikidata's own; or sample: ours."
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
    road: Annotated[
        Literal["auto", "pages", "whole"],
        Option(help="How an endpoint is asked; auto: as its host is known to like it, else pages."),
    ] = "auto",
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
    stream: Annotated[
        bool,
        Option("--stream", help="Read an address as it comes: the dump is not kept on the disk."),
    ] = False,
    snapshot: Snapshot = None,
    templates: Templates = TEMPLATES,
    jobs: Jobs = 2,
    memory: Memory = "600MB",
) -> None:
    """Mine the dated statements of a Wikidata dump, or of some relations at a SPARQL endpoint."""
    from factdrift.builders.facts.mined_properties import properties_to_mine
    from factdrift.builders.facts.relations import relations_with_own, select_relations

    relation_ids = listed_relations(relations)
    relation_table = relations_with_own(templates)
    chosen_relations = (
        select_relations(relation_table, relation_ids, templates)
        if relation_ids
        else relation_table.whole()
    )
    if bool(dump) is bool(endpoint):
        raise UserError("give either dump files or --endpoint")
    _refuse_mixed(bool(endpoint), stream, relation_ids, road)
    dump_reader = _reading(engine, shards, jobs, out, alone=bool(endpoint or shard or stream))
    dump_paths, snapshot_text = _snapshot_of_dump(dump or [], snapshot)
    mined_tables: MinedTables | None
    if endpoint:
        mined_tables = _mine_endpoint(
            endpoint, out, chosen_relations, user_agent, road, snapshot_text, memory
        )
    else:
        properties = properties_to_mine(chosen_relations)
        undated = [relation for relation, keeps_undated in properties.items() if keeps_undated]
        mine_options = {"undated": undated, "snapshot": snapshot_text, "jobs": jobs, "say": say}
        dump_files = _dump_files(dump_paths, stream, out)
        mined_tables = _mine_dump(dump_files, out, shard, dump_reader, memory, mine_options)
    if mined_tables is not None:
        statement_count = mined_tables.counts["counts"]["statements"]
        say(f"{statement_count:,} statements of {mined_tables.snapshot}")
    echo(str(out))


def _refuse_mixed(asks_endpoint: bool, stream: bool, relation_ids: list[str], road: str) -> None:
    """Raise `UserError` for an option of dumps beside an endpoint, or the other way round."""
    if asks_endpoint:
        if stream:
            raise UserError("--stream is for a dump", hint="leave --endpoint or --stream out")
        return
    if relation_ids:
        # tables of a dump serve all recipes, which need different relations
        raise UserError("a dump is mined for every relation", hint="leave --relations out")
    if road != "auto":
        raise UserError("--road is for an endpoint", hint="give --endpoint, or leave --road out")


def _mine_endpoint(
    endpoint: str,
    out: Path,
    relations: "Mapping[str, Relation]",
    user_agent: str | None,
    road: "RoadName",
    snapshot_text: str | None,
    memory: str,
) -> "MinedTables":
    """Mine some relations at an endpoint, and of classes what these need."""
    from factdrift.builders.facts.mined_properties import properties_to_ask
    from factdrift.builders.wikidata.shards import snapshot_day
    from factdrift.builders.wikidata.sparql import mine_sparql

    asked_properties, needs_classes = properties_to_ask(relations)
    return mine_sparql(
        endpoint,
        out,
        relations=asked_properties,
        classes=needs_classes,
        road=road,
        user_agent=user_agent,
        cache=out / "answers",
        snapshot=snapshot_day([], snapshot_text) if snapshot_text else None,
        memory=memory,
        say=say,
    )


def _snapshot_of_dump(dump: list[str], snapshot: str | None) -> tuple[list[str], str | None]:
    """Return the paths of a dump without their day, and the day of the paths or the option."""
    dump_paths, path_day = without_day(dump)
    if path_day and snapshot not in (None, path_day):
        raise UserError(f"two days are given: {path_day} and {snapshot}")
    return dump_paths, snapshot or path_day


def _dump_files(
    dump_paths: Sequence[str], stream: bool, out: Path
) -> "Sequence[str] | Sequence[RemoteFile]":
    """Return the files of a dump, fetched if they lie elsewhere, or to be read as they come."""
    if not stream and all(Path(path).exists() and not is_remote(path) for path in dump_paths):
        return dump_paths  # without the import below, which takes longer than to read 100 MB
    from factdrift.builders.recipes.recipe import fetched, streamed

    if stream:
        return streamed("wikidata", dump_paths, say)
    return fetched("wikidata", dump_paths, out / "inputs", say)


def _mine_dump(
    dump_files: "Sequence[str] | Sequence[RemoteFile]",
    out: Path,
    shard: str | None,
    dump_reader: "DumpReader | None",
    memory: str,
    mine_options: dict[str, Any],
) -> "MinedTables | None":
    """Mine a dump or one share of it, or merge shares; return the tables, or None after a share."""
    from factdrift.builders.wikidata.mine import SHARE_FILE, merge_shares, mine_share
    from factdrift.builders.wikidata.mine import mine as mine_dump

    share_folders = [
        Path(file)
        for file in dump_files
        if isinstance(file, str) and (Path(file) / SHARE_FILE).is_file()
    ]
    if share_folders and dump_reader:
        error_text = "these are shares that have been read"
        raise UserError(error_text, where=share_folders[0], hint="leave --engine out to merge them")
    if share_folders:
        return merge_shares(
            share_folders, out, memory=memory, jobs=mine_options["jobs"], say=mine_options["say"]
        )
    if shard:
        mine_share(dump_files, out, _share(shard), **mine_options)
        say(f"share {shard}; when all are there: factdrift mine FOLDER… --out MINED")
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
        hint_text = "leave --endpoint, --shard and --stream out"
        raise UserError("--engine is for a whole dump on the disk", hint=hint_text)
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


def dumps(
    publisher: Annotated[
        list[str] | None, Argument(help="wikidata, wikipedia, news; by default all.")
    ] = None,
    *,
    wiki: Annotated[str, Option(metavar="LANG", help="Which Wikipedia: en, de, simple, …")] = "en",
    as_json: AsJson = False,
) -> None:
    """Say which days Wikidata, Wikipedia and WMT's news have dumps of, with sizes and checksums."""
    from factdrift.builders.recipes.dump_lists import dump_lines, dump_lists

    lists = dump_lists(publisher or [], wiki, say)
    if as_json:
        echo_json(lists)
        return
    for line in dump_lines(lists):
        echo(line)


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
        say(f"{comparison.rows:,} rows with their text")
        if comparison.changed or comparison.missing:
            say(
                f"{comparison.changed:,} rows have another text in these pages, "
                f"{comparison.missing:,} no page"
            )
        echo(str(out))
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
    echo(str(out))


def templates(
    names: Annotated[
        list[str] | None,
        Argument(help="Relations to print, P54 with all its parts; by default all."),
    ] = None,
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
    """Check the relation templates and print an example of each; or import some from a table.

    A template is a file P….yaml of sentences: factdrift new relation P3300 writes one to edit.
    """
    from factdrift.builders.facts.template_files import check, import_templates

    if (table is None) is not (out is None):
        raise UserError("--import FILE.csv and --out FOLDER go together")
    if table and out:
        template_paths = import_templates(table, out)
        say(
            f"{len(template_paths)} templates; set mode, exclusive and undated where they differ; "
            "timeqa asks what has `questions:`, temporal-reasoning what has `phrases:`"
        )
        for line in check(out):
            say(line)
        echo(str(out))
        return
    for line in check(templates, names or ()):
        echo(line)


def new(
    kind: Annotated[
        str,
        Argument(help="dataset, relation, filter, backend, platform, task; alone: a dataset."),
    ],
    name: Annotated[
        str | None, Argument(help="Its name: two-hop; of a relation, its property: P3300.")
    ] = None,
    *,
    out: Annotated[
        Path | None, Option(help="Where it goes.", show_default="here; of a relation, my-templates")
    ] = None,
) -> None:
    """Write the skeleton of an extension of your own: a package, or a relation's template."""
    from factdrift.builders.recipes.new import next_step, write_skeleton

    if name is None:  # as version 0.2 had it: `factdrift new two-hop`
        kind, name = "dataset", kind
    out = out or Path("my-templates" if kind == "relation" else ".")
    written = write_skeleton(kind, name, out)
    say(next_step(kind, written))
    echo(str(written))


def docs(
    page: Annotated[
        str | None, Argument(help="A page by its name, such as score; without one, a list of all.")
    ] = None,
) -> None:
    """Print a page of the documentation, or the list of its pages."""
    from factdrift.builders.core.pages import documentation_pages, page_text, page_title

    if page is not None:
        echo(page_text(page).rstrip("\n"))
        return
    for name, path in documentation_pages().items():
        echo(f"{name:<14}{page_title(path)}")


ALL: tuple[Callable[..., None], ...] = (dumps, mine, corpus, templates, new, docs)
