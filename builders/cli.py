"""The command line: `python -m builders` and the console script `factdrift`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from builders.errors import UserError

app = typer.Typer(
    help="Rebuild temporal-knowledge benchmarks from raw sources.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ROOT = Path(__file__).resolve().parents[1]
Templates = Annotated[Path, typer.Option(help="Folder of the relation templates.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes.")]
Memory = Annotated[str, typer.Option(help="Limit for tables in memory; beyond it, on disk.")]
Snapshot = Annotated[
    str | None,
    typer.Option(metavar="YYYY-MM-DD", help="Day of the dump, where its name does not say."),
]


def say(line: str) -> None:
    """Tell the user what is going on; results go to standard output."""
    typer.echo(line, err=True)


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
    chosen = select(known, relations.split(","), templates) if relations else known
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
        )
    else:
        from builders.wikidata.mine import mine as mine_dump

        shards = find_shards(dump or [])
        day = snapshot_of(shards, snapshot_date)
        mined = mine_dump(shards, out, relations=wanted, snapshot=day, jobs=jobs, memory=memory)
    say(f"{mined.counts.get('facts', 0):,} facts of {mined.snapshot} in {out}")


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


@app.command()
def hits(
    layout: Annotated[str, typer.Argument(help="A layout by name, or its folder.")],
    *,
    platform: Annotated[str, typer.Option(help="static, mturk or label_studio.")],
    dataset: Annotated[
        str | None,
        typer.Option(
            help="A dataset, a release folder, a Parquet or JSONL file; else the layout's."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Rows at most.")] = 100,
    config: Annotated[str | None, typer.Option(help="A config of the release.")] = None,
    split: Annotated[str | None, typer.Option(help="A split of it; by default all.")] = None,
    news: Annotated[
        list[str] | None, typer.Option(help="News archives; by default the sample's. Repeatable.")
    ] = None,
    pages: Annotated[
        Path | None, typer.Option(help="A pages.parquet, for layouts of pages.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day of a searched corpus.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws other rows.")] = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Send rows that were sent before.")
    ] = False,
    post: Annotated[str | None, typer.Option(help="Address that takes submissions.")] = None,
    code: Annotated[str | None, typer.Option(help="Completion code to show at the end.")] = None,
    complete: Annotated[str | None, typer.Option(help="Link to show at the end.")] = None,
    split_pages: Annotated[
        bool, typer.Option("--split-pages", help="A page for each HIT, not one for all.")
    ] = False,
    submit: Annotated[
        str | None, typer.Option(help="The platform's own address, such as a sandbox.")
    ] = None,
    releases: Annotated[Path, typer.Option(help="Where releases are.")] = Path("releases"),
    build: Annotated[Path, typer.Option(help="Where a search index is kept.")] = Path("build"),
    out: Annotated[Path, typer.Option(help="Where batches go.")] = Path("hits"),
) -> None:
    """Draw rows and write a batch of HITs for a platform."""
    from annotation.hits import Order, make_batch, summary
    from annotation.platforms import Delivery
    from builders.wikidata.shards import snapshot_of

    order = Order(
        layout=layout,
        dataset=dataset,
        platform=platform,
        number=n,
        config=config,
        split=split,
        news=news or [str(ROOT / "samples" / "news")],
        pages=pages,
        until=snapshot_of([], until) if until else None,
        seed=seed,
        again=again,
        delivery=Delivery(post, code, complete, split_pages, submit),
        releases=releases,
        build=build,
        out=out,
        say=say,
    )
    for line in summary(*make_batch(order)):
        say(line)


@app.command()
def judgments(
    results: Annotated[list[str], typer.Argument(help="Results: files, globs, folders.")],
    *,
    platform: Annotated[
        str | None, typer.Option(help="Whose they are; by default each file says.")
    ] = None,
    feedback: Annotated[
        Path | None, typer.Option(help="Folder for what approves or rejects the work.")
    ] = None,
    hits: Annotated[Path, typer.Option(help="Where the batches are.")] = Path("hits"),
    out: Annotated[Path, typer.Option(help="Where judgments go.")] = Path("judgments"),
) -> None:
    """Read results of a platform into judgments and gold rows."""
    from annotation.results import import_results

    done = import_results(
        results, hits=hits, out=out, platform=platform, feedback=feedback, say=say
    )
    for line in done.lines():
        say(line)
    if not done.new + done.known + done.further:
        raise UserError("no submission could be taken", where=out / "refused.jsonl")


@app.command()
def mturk(
    action: Annotated[
        Literal["publish", "results", "decide"],
        typer.Argument(help="Make the HITs, fetch what was handed in, approve and reject it."),
    ],
    folder: Annotated[Path, typer.Argument(help="A batch; of decide, the folder of --feedback.")],
    *,
    production: Annotated[
        bool, typer.Option("--production", help="Spend money: not on the sandbox.")
    ] = False,
    days: Annotated[int, typer.Option(min=1, help="How long the HITs can be found.")] = 7,
    qualification: Annotated[
        list[str] | None, typer.Option(help="Id of one that workers need. Repeatable.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("results"),
    endpoint: Annotated[str | None, typer.Option(help="Another server, for tests.")] = None,
) -> None:
    """Use the API of Mechanical Turk (accounts from before 30 July 2026; extra mturk)."""
    from annotation.platforms import mturk_api as api
    from annotation.platforms.mturk_client import Site, connect

    site: Site = "production" if production else "sandbox"
    client = connect(site, endpoint)
    if action == "publish":
        wanted = qualification or []
        counts = api.publish(folder, client, site, days=days, qualifications=wanted, say=say)
    elif action == "decide":
        counts = api.decide(folder, client, site)
    else:
        path, number = api.fetch(folder, client, site, out)
        counts = {f"assignments in {path}": number}
    say(
        f"{site}: "
        + ", ".join(f"{n:,} {name}" for name, n in counts.items() if n or len(counts) < 2)
    )


@app.command()
def layouts(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of layouts, or one; by default ours.")
    ] = None,
) -> None:
    """Check the HIT layouts and list them with their pay."""
    from annotation.listing import check

    for line in check(folder):
        typer.echo(line)


def main() -> None:
    """Run the command line; a `UserError` is one message and exit status 1."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("interrupted: the same command goes on from here", err=True)
        sys.exit(130)
