"""The commands for work by people; `builders.cli` has them beside its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.inputs import Kind, with_inputs, without_day
from factdrift.builders.core.progress import echo, say

Post = Annotated[str | None, typer.Option(help="Address that takes submissions.")]
Code = Annotated[str | None, typer.Option(help="Completion code to show at the end.")]
Complete = Annotated[str | None, typer.Option(help="Link to show at the end.")]
SplitPages = Annotated[
    bool, typer.Option("--split-pages", help="A page for each HIT, not one for all.")
]
Url = Annotated[str | None, typer.Option(help="Where the pages will be on the web.")]

PlatformName = Annotated[
    str, typer.Option("--platform", help="static, prolific, mturk or label_studio.")
]
Seed = Annotated[int, typer.Option(help="Draws other rows.")]
Releases = Annotated[Path, typer.Option(help="Where releases are.")]
HitsFolder = Annotated[Path, typer.Option("--out", help="Where batches go.")]


def hits(
    layout: Annotated[str, typer.Argument(help="A layout by name, or its folder.")],
    *,
    platform: PlatformName = "static",
    dataset: Annotated[
        str | None,
        typer.Option(
            help="A dataset, a release folder, a Parquet or JSONL file; else the layout's."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Rows of the batch at most.")] = 100,
    config: Annotated[str | None, typer.Option(help="A config of the release.")] = None,
    split: Annotated[str | None, typer.Option(help="A split of it; by default all.")] = None,
    given: Mapping[str, list[str]],
    until: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day of a searched corpus.")
    ] = None,
    seed: Seed = 0,
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
    url: Url = None,
    known: Annotated[
        Path | None,
        typer.Option(help="JSON lines of fields and answers: attention items of your own."),
    ] = None,
    expert: Annotated[
        bool,
        typer.Option(
            "--expert", help="Write the batch of what an expert has to check of workers' batches."
        ),
    ] = False,
    releases: Releases = Path("releases"),
    build: Annotated[Path, typer.Option(help="Where a search index is kept.")] = Path("build"),
    out: HitsFolder = Path("hits"),
    judgments: Annotated[
        Path, typer.Option(help="Where judgments are, for --expert and --open.")
    ] = Path("judgments"),
) -> None:
    """Draw rows and write a batch of HITs for a platform.

    Articles come from --news, by default the samples; pages from --pages, a Parquet file, by
    default those of the release.
    """
    from factdrift.annotation.hits import BatchOrder, make_batch, make_expert_batches, summary
    from factdrift.annotation.page import Delivery
    from factdrift.builders.recipes.recipe import fetched
    from factdrift.builders.wikidata.shards import snapshot_of

    kinds: tuple[Kind, Kind] = ("news", "pages")
    news, pages = (
        fetched(name, without_day(given.get(name, ()))[0], build / "inputs", say) for name in kinds
    )
    if len(pages) > 1:
        raise UserError("HITs take one file of pages", hint="a Parquet file with all of them")
    order = BatchOrder(
        layout=layout,
        dataset=dataset,
        platform=platform,
        number=n,
        config=config,
        split=split,
        news=news or [str(resource("samples/news"))],
        pages=Path(pages[0]) if pages else None,
        until=snapshot_of([], until) if until else None,
        seed=seed,
        again=again,
        undecided=undecided,
        known=known,
        delivery=Delivery(post, code, complete, split_pages, url),
        releases=releases,
        build=build,
        out=out,
        judgments=judgments,
        say=say,
    )
    for made in make_expert_batches(order) if expert else [make_batch(order)]:
        for line in summary(*made):
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
    participants: Annotated[
        Path | None, typer.Option(help="Prolific's export of the participants of a study.")
    ] = None,
    feedback: Annotated[
        Path | None, typer.Option(help="Folder for what approves or rejects the work.")
    ] = None,
    hits: Annotated[Path, typer.Option(help="Where the batches are.")] = Path("hits"),
    out: Annotated[Path, typer.Option(help="Where judgments go.")] = Path("judgments"),
) -> None:
    """Read results of a platform into judgments and gold rows."""
    from factdrift.annotation.results import import_results

    done = import_results(
        results or [],
        hits=hits,
        out=out,
        platform=platform,
        feedback=feedback,
        experts=experts,
        participants=participants,
        say=say,
    )
    for line in done.lines():
        say(line)
    if results and not done.taken:
        raise UserError("no submission could be taken", where=out / "refused.jsonl")


def receive(
    batch: Annotated[Path, typer.Argument(help="The folder of a batch of pages.")],
    *,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")
    ] = 8000,
    code: Annotated[
        str | None, typer.Option(help="Completion code, told once answers are on the disk.")
    ] = None,
    complete: Complete = None,
    base: Annotated[str, typer.Option(help="Path below which a proxy has it: /annotate.")] = "",
    proxy: Annotated[
        str, typer.Option(help="Addresses whose X-Forwarded headers are believed, or *.")
    ] = "127.0.0.1",
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="Minutes without a visit after which a HIT goes to others; by default six times "
            "those that it is paid for, 30 at least.",
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests a second from one address; 0: any number.")
    ] = 20.0,
    size: Annotated[int, typer.Option(min=1, help="Most bytes of a request.")] = 4 << 20,
    given: Mapping[str, list[str]],
    until: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="Let workers search the news up to this day."),
    ] = None,
    build: Annotated[Path, typer.Option(help="Where a search index is kept.")] = Path("build"),
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("results"),
) -> None:
    """Serve a batch to workers and take their answers (extra serve).

    With --until, experts may search the news (--news, by default the samples) as often as they
    want; each query and what was opened is in their answers.
    """
    from factdrift.annotation.items import TextSources
    from factdrift.annotation.receive.server import serve
    from factdrift.builders.core.steps import Workspace
    from factdrift.builders.recipes.recipe import fetched
    from factdrift.builders.wikidata.shards import snapshot_of

    find = None
    if until:
        news = fetched("news", without_day(given.get("news", ()))[0], build / "inputs", say)
        corpus = news or [str(resource("samples/news"))]
        last = snapshot_of([], until)
        find = TextSources(corpus, None, last, Workspace(build, say)).searcher()
    serve(
        batch,
        out,
        host=host,
        port=port,
        base=base,
        proxy=proxy,
        minutes=minutes,
        code=code,
        complete=complete,
        rate=rate,
        size=size,
        find=find,
        say=say,
    )


def bands(
    dataset: Annotated[
        str, typer.Argument(help="A dataset, a release folder or a file, with toxicity scores.")
    ] = "streamingqa",
    *,
    platform: PlatformName = "static",
    rows: Annotated[int, typer.Option(min=1, help="Rows a band.")] = 50,
    width: Annotated[
        float, typer.Option(min=0.01, max=0.5, help="Width of a band of scores.")
    ] = 0.05,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of toxic rows below which a band is clean.")
    ] = 0.30,
    seed: Seed = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Send rows once more that are not judged enough.")
    ] = False,
    post: Post = None,
    code: Code = None,
    complete: Complete = None,
    split_pages: SplitPages = False,
    url: Url = None,
    releases: Releases = Path("releases"),
    build: Annotated[Path, typer.Option(help="Where the rows of a batch go.")] = Path("build"),
    out: HitsFolder = Path("hits"),
    judgments: Annotated[Path, typer.Option(help="Where judgments are.")] = Path("judgments"),
) -> None:
    """Find toxicity thresholds by people's judgments: the next batch, or the thresholds."""
    from factdrift.annotation.hits import BatchOrder, summary
    from factdrift.annotation.page import Delivery
    from factdrift.annotation.thresholds import LAYOUT, BandRule, next_bands

    order = BatchOrder(
        layout=LAYOUT,
        dataset=dataset,
        platform=platform,
        seed=seed,
        again=again,
        delivery=Delivery(post, code, complete, split_pages, url),
        releases=releases,
        build=build,
        out=out,
        judgments=judgments,
        say=say,
    )
    done = next_bands(order, BandRule(rows, width, share))
    for line in [*done.lines(), *(summary(*done.batch) if done.batch else [])]:
        say(line)


def layouts(
    layout: Annotated[
        Path | None, typer.Argument(help="A folder of layouts, or one; by default ours.")
    ] = None,
) -> None:
    """Check the HIT layouts and list them with their pay."""
    from factdrift.annotation.page import check_layouts

    for line in check_layouts(layout):
        echo(line)


ALL: tuple[Callable[..., None], ...] = (
    with_inputs(hits, "news", "pages"),
    judgments,
    with_inputs(receive, "news"),
    bands,
    layouts,
)
