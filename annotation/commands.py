"""The commands for work by people; `builders.cli` has them beside its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from builders.errors import UserError
from builders.files import ROOT
from builders.progress import say

Post = Annotated[str | None, typer.Option(help="Address that takes submissions.")]
Code = Annotated[str | None, typer.Option(help="Completion code to show at the end.")]
Complete = Annotated[str | None, typer.Option(help="Link to show at the end.")]
SplitPages = Annotated[
    bool, typer.Option("--split-pages", help="A page for each HIT, not one for all.")
]
Submit = Annotated[str | None, typer.Option(help="The platform's own address, such as a sandbox.")]


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
        Path | None, typer.Option(help="Parquet of pages; by default those of the release.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day of a searched corpus.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws other rows.")] = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Send rows that were sent before.")
    ] = False,
    undecided: Annotated[
        bool,
        typer.Option("--open", help="Send only rows that were sent before and are not decided."),
    ] = False,
    post: Post = None,
    code: Code = None,
    complete: Complete = None,
    split_pages: SplitPages = False,
    submit: Submit = None,
    expert: Annotated[
        bool, typer.Option("--expert", help="What is drawn of workers' batches for an expert.")
    ] = False,
    releases: Annotated[Path, typer.Option(help="Where releases are.")] = Path("releases"),
    build: Annotated[Path, typer.Option(help="Where a search index is kept.")] = Path("build"),
    out: Annotated[Path, typer.Option(help="Where batches go.")] = Path("hits"),
    judgments: Annotated[
        Path, typer.Option(help="Where judgments are, for --expert and --open.")
    ] = Path("judgments"),
) -> None:
    """Draw rows and write a batch of HITs for a platform."""
    from annotation.hits import Order, make_batch, summary
    from annotation.platforms import Delivery
    from builders.wikidata.shards import snapshot_of

    delivery = Delivery(post, code, complete, split_pages, submit)
    if expert:
        from annotation.quality.expert_batch import make_expert_batches

        made = make_expert_batches(
            layout, platform, delivery=delivery, out=out, judgments=judgments, say=say
        )
        for one in made:
            for line in summary(*one):
                say(line)
        return
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
        undecided=undecided,
        delivery=delivery,
        releases=releases,
        build=build,
        out=out,
        judgments=judgments,
        say=say,
    )
    for line in summary(*make_batch(order)):
        say(line)


def judgments(
    results: Annotated[
        list[str] | None,
        typer.Argument(help="Results: files, globs, folders; without, what is there anew."),
    ] = None,
    *,
    platform: Annotated[
        str | None, typer.Option(help="Whose they are; by default each file says.")
    ] = None,
    experts: Annotated[
        Path | None, typer.Option(help="A file of experts' worker ids, one a line.")
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
        results or [],
        hits=hits,
        out=out,
        platform=platform,
        feedback=feedback,
        experts=experts,
        say=say,
    )
    for line in done.lines():
        say(line)
    if results and not done.taken:
        raise UserError("no submission could be taken", where=out / "refused.jsonl")


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


def bands(
    dataset: Annotated[
        str, typer.Argument(help="A dataset, a release folder or a file, with toxicity scores.")
    ] = "streamingqa",
    *,
    platform: Annotated[str, typer.Option(help="static, mturk or label_studio.")] = "static",
    rows: Annotated[int, typer.Option(min=1, help="Rows a band.")] = 50,
    width: Annotated[float, typer.Option(min=0.01, max=0.5, help="Width of a band.")] = 0.05,
    share: Annotated[float, typer.Option(min=0, max=1, help="Bands with less are clean.")] = 0.30,
    seed: Annotated[int, typer.Option(help="Draws other rows.")] = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Send rows once more that are not judged enough.")
    ] = False,
    post: Post = None,
    code: Code = None,
    complete: Complete = None,
    split_pages: SplitPages = False,
    submit: Submit = None,
    releases: Annotated[Path, typer.Option(help="Where releases are.")] = Path("releases"),
    build: Annotated[Path, typer.Option(help="Where the rows of a batch go.")] = Path("build"),
    out: Annotated[Path, typer.Option(help="Where batches go.")] = Path("hits"),
    judgments: Annotated[Path, typer.Option(help="Where judgments are.")] = Path("judgments"),
) -> None:
    """Find toxicity thresholds by people's judgments: the next batch, or the thresholds."""
    from annotation.bands import BandOrder, next_bands
    from annotation.hits import summary
    from annotation.platforms import Delivery

    order = BandOrder(
        dataset=dataset,
        platform=platform,
        rows=rows,
        width=width,
        share=share,
        seed=seed,
        again=again,
        delivery=Delivery(post, code, complete, split_pages, submit),
        releases=releases,
        build=build,
        out=out,
        judgments=judgments,
        say=say,
    )
    done = next_bands(order)
    for line in [*done.lines(), *(summary(*done.batch) if done.batch else [])]:
        say(line)


def layouts(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of layouts, or one; by default ours.")
    ] = None,
) -> None:
    """Check the HIT layouts and list them with their pay."""
    from annotation.listing import check

    for line in check(folder):
        typer.echo(line)


ALL: tuple[Callable[..., None], ...] = (hits, judgments, mturk, bands, layouts)
