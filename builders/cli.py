"""The command line: `python -m builders` and the console script `factdrift`."""

import re
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from annotation import commands
from builders.errors import UserError
from builders.files import ROOT
from builders.progress import say

app = typer.Typer(
    help="Rebuild temporal-knowledge benchmarks from raw sources.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Templates = Annotated[Path, typer.Option(help="Folder of the relation templates.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes.")]


def _size(text: str) -> str:
    """A size as DuckDB takes it."""
    if not re.fullmatch(r"\d+(?:\.\d+)? ?[KMGT]i?B", text, re.IGNORECASE):
        raise typer.BadParameter("write a size: 600MB, 2GB")
    return text


Memory = Annotated[
    str,
    typer.Option(help="Limit for tables in memory; beyond it, on disk: 600MB.", callback=_size),
]
Snapshot = Annotated[
    str | None,
    typer.Option(metavar="YYYY-MM-DD", help="Day of the dump, where its name does not say."),
]


@app.command()
def release(
    recipe: Annotated[
        list[Path] | None, typer.Argument(help="Recipes; by default all that need no argument.")
    ] = None,
    *,
    dump: Annotated[
        list[str] | None,
        typer.Option(help="A dump, a glob or folder of shards, or a mined folder. Repeatable."),
    ] = None,
    older: Annotated[str | None, typer.Option(help="An older dump, to compare with.")] = None,
    news: Annotated[
        list[str] | None, typer.Option(help="News archives: files, globs, folders. Repeatable.")
    ] = None,
    keep: Annotated[str | None, typer.Option(help="A list of article ids to keep.")] = None,
    pages: Annotated[
        list[str] | None,
        typer.Option(help="Wikipedia dumps, JSONL or Parquet of pages. Repeatable."),
    ] = None,
    trex: Annotated[
        list[str] | None, typer.Option(help="T-REx files of LAMA, or folders. Repeatable.")
    ] = None,
    gold: Annotated[
        list[str] | None,
        typer.Option(help="What people said: judgments/, a layout's folder in it. Repeatable."),
    ] = None,
    snapshot_date: Snapshot = None,
    version: Annotated[
        str | None, typer.Option(help="1.2.3, or auto for the smallest that the rule allows.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where releases go.")] = Path("releases"),
    build: Annotated[Path, typer.Option(help="Where intermediate tables are kept.")] = Path(
        "build"
    ),
    templates: Templates = ROOT / "templates",
    engine: Annotated[
        Literal["duckdb", "spark"], typer.Option(help="What runs the tables.")
    ] = "duckdb",
    jobs: Jobs = 2,
    memory: Memory = "4GB",
) -> None:
    """Build recipes into versioned releases."""
    from builders.release.release import Options, release_all

    named = {
        "dump": dump,
        "older": older and [older],
        "news": news,
        "keep": keep and [keep],
        "pages": pages,
        "trex": trex,
        "gold": gold,
    }
    given = {name: paths for name, paths in named.items() if paths}
    options = Options(
        given=given,
        snapshot=snapshot_date,
        version=version,
        out=out,
        build=build,
        templates=templates,
        engine=engine,
        jobs=jobs,
        memory=memory,
        say=say,
    )
    release_all(recipe or [], options)


@app.command()
def mine(
    dump: Annotated[
        list[str] | None, typer.Argument(help="Dump files, globs of shards, or folders.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for facts.parquet and entities.parquet.")],
    endpoint: Annotated[
        str | None, typer.Option(help="A SPARQL endpoint instead of a dump.")
    ] = None,
    user_agent: Annotated[
        str | None, typer.Option(help="For the endpoint: your tool and a contact.")
    ] = None,
    relations: Annotated[
        str | None, typer.Option(help="P54,P39,…; by default every relation with a template.")
    ] = None,
    snapshot_date: Snapshot = None,
    templates: Templates = ROOT / "templates",
    jobs: Jobs = 2,
    memory: Memory = "600MB",
) -> None:
    """Mine dated facts from a Wikidata dump or a SPARQL endpoint."""
    from builders.cloze.templates import load_relations, select
    from builders.wikidata.shards import find_shards, snapshot_of

    known = load_relations(templates)
    named = None if relations is None else re.findall(r"[^\s,]+", relations)
    if named == []:
        raise UserError("--relations names none", hint="write P54,P39, or leave it out for all")
    chosen = select(known, named, templates) if named else known
    wanted = {relation: template.undated == "keep" for relation, template in chosen.items()}
    if bool(dump) is bool(endpoint):
        raise UserError("give either dump files or --endpoint")
    if endpoint:
        from builders.wikidata.sparql import mine_sparql

        day = snapshot_of([], snapshot_date) if snapshot_date else None
        mined = mine_sparql(
            endpoint,
            out,
            relations=wanted,
            user_agent=user_agent,
            cache=out / "answers",
            snapshot=day,
            memory=memory,
        )
    else:
        from builders.wikidata.mine import mine as mine_dump

        shards = find_shards(dump or [])
        day = snapshot_of(shards, snapshot_date)
        mined = mine_dump(
            shards, out, relations=wanted, snapshot=day, jobs=jobs, memory=memory, say=say
        )
    say(f"{mined.counts['counts'].get('facts', 0):,} facts of {mined.snapshot} in {out}")


@app.command()
def corpus(
    archives: Annotated[list[str], typer.Argument(help="News archives: files, globs, folders.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for passages.parquet.")],
    until: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day; a quarter's corpus ends so.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="A list of article ids to keep.")] = None,
    near_duplicates: Annotated[
        float, typer.Option(help="Similarity from which an article is left out; 0: none.")
    ] = 0.0,
    jobs: Jobs = 2,
    memory: Memory = "600MB",
) -> None:
    """Rebuild the passages that questions are answered from, out of your own archives."""
    from builders.wikidata.shards import snapshot_of
    from builders.wmt.passages import write_passages

    made = write_passages(
        archives,
        out,
        until=snapshot_of([], until) if until else None,
        keep=keep,
        near_duplicates=near_duplicates,
        jobs=jobs,
        memory=memory,
        say=say,
    )
    say(f"{made.counts.get('passages', 0):,} passages in {out}")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="A release folder.")],
) -> None:
    """Check a release folder against its manifest."""
    from builders.release.verify import verify_release

    problems = verify_release(folder)
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise UserError(f"{len(problems)} problem(s)", where=folder)
    typer.echo(f"{folder}: whole and unchanged")


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(help="A release folder.")],
    new: Annotated[Path, typer.Argument(help="Another release folder of the same dataset.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Write the differing rows here, as Parquet.")
    ] = None,
) -> None:
    """Say what changed between two releases, by id."""
    from builders.release.compare import compare

    typer.echo(compare(old, new, out).summary())


@app.command()
def templates(folder: Templates = ROOT / "templates") -> None:
    """Check the relation templates and print an example of each."""
    from builders.cloze.check import check

    for line in check(folder):
        typer.echo(line)


for command in commands.ALL:
    app.command()(command)


_INTERRUPTED = 130
"""The exit status that Typer gives Ctrl-C."""


def main() -> None:
    """Run the command line; a `UserError` is one message and exit status 1."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            typer.echo("interrupted: the same command goes on from here", err=True)
        raise
