"""The commands for work by people; `builders.cli` has them beside its own."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_origin

import typer

from factdrift.annotation.order import (
    BandRule,
    BatchOrder,
    BatchPlace,
    ImportOrder,
    PeopleOrder,
    ServingOrder,
)
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.inputs import with_inputs, without_day
from factdrift.builders.core.options import AsJson
from factdrift.builders.core.progress import echo, echo_json, say

Until = Annotated[
    str | None, typer.Option(metavar="YYYY-MM-DD", help="Last day of the news that are searched.")
]


def hits(
    *,
    order: BatchOrder,
    given: Mapping[str, list[str]],
    until: Until = None,
    expert: Annotated[
        bool,
        typer.Option(
            "--expert", help="Write the batch of what an expert has to check of workers' batches."
        ),
    ] = False,
) -> None:
    """Draw rows and write a batch of HITs for a platform.

    Articles come from --news, by default the samples; pages from --pages, a Parquet file, by
    default those of the release.
    """
    from factdrift.annotation.hits import batch_summary, make_batch, make_expert_batches
    from factdrift.builders.recipes.recipe import fetched
    from factdrift.builders.wikidata.shards import snapshot_day

    page_sources = without_day(given.get("pages", ()))[0]
    page_files = fetched("pages", page_sources, order.build / "inputs", say)
    if len(page_files) > 1:
        raise UserError("HITs take one file of pages", hint="a Parquet file with all of them")
    order = replace(
        order,
        news=_news(given, order.build),
        pages=Path(page_files[0]) if page_files else None,
        until=snapshot_day([], until) if until else None,
        say=say,
    )
    for written_batch in make_expert_batches(order) if expert else [make_batch(order)]:
        for summary_line in batch_summary(*written_batch):
            say(summary_line)
        echo(str(written_batch[0]))


def _news(given_inputs: Mapping[str, list[str]], build_folder: Path) -> list[str]:
    from factdrift.builders.recipes.recipe import fetched

    news_files = fetched(
        "news", without_day(given_inputs.get("news", ()))[0], build_folder / "inputs", say
    )
    return news_files or [str(resource("samples/news"))]


def judgments(
    results: Annotated[
        list[str] | None,
        typer.Argument(help="Results: files, globs, folders; without, what is there anew."),
    ] = None,
    *,
    order: ImportOrder,
) -> None:
    """Read results of a platform into judgments and gold rows."""
    from factdrift.annotation.results import import_results

    import_report = import_results(results or [], order, say)
    for report_line in import_report.lines():
        say(report_line)
    for written_path in import_report.written:
        echo(written_path)
    if results and not import_report.taken:
        raise UserError("no submission could be taken", where=order.out / "refused.jsonl")


def receive(
    *,
    order: ServingOrder,
    given: Mapping[str, list[str]],
    until: Until = None,
    build: Annotated[Path, typer.Option(help="Where a search index is kept.")] = Path("build"),
) -> None:
    """Serve a batch to workers and take their answers (extra serve).

    With --until, experts may search the news (--news, by default the samples) as often as they
    want; each query and what was opened is in their answers.
    """
    from factdrift.annotation.items import TextSources
    from factdrift.annotation.receive.server import serve
    from factdrift.builders.core.steps import Workspace
    from factdrift.builders.wikidata.shards import snapshot_day

    find_passages = None
    if until:
        last_day, news_files = snapshot_day([], until), _news(given, build)
        find_passages = TextSources(news_files, None, last_day, Workspace(build, say)).searcher()
    serve(order, find_passages, say)


def bands(
    dataset: Annotated[
        str, typer.Argument(help="A dataset, a release folder or a file, with toxicity scores.")
    ] = "streamingqa",
    *,
    place: BatchPlace,
    rule: BandRule,
) -> None:
    """Find toxicity thresholds by people's judgments: the next batch, or the thresholds."""
    from factdrift.annotation.hits import batch_summary
    from factdrift.annotation.thresholds import LAYOUT, find_thresholds

    batch_order = BatchOrder(layout=LAYOUT, dataset=dataset, **{**vars(place), "say": say})
    threshold_report = find_thresholds(batch_order, rule)
    for report_line in [
        *threshold_report.lines(),
        *(batch_summary(*threshold_report.batch) if threshold_report.batch else []),
    ]:
        say(report_line)
    if threshold_report.batch or threshold_report.snippet:
        batch_folder = threshold_report.batch[0] if threshold_report.batch else None
        echo(str(batch_folder or threshold_report.snippet))


def layouts(
    layout: Annotated[
        Path | None, typer.Argument(help="A folder of layouts, or one; by default ours.")
    ] = None,
) -> None:
    """Check the HIT layouts and list them with their pay, and with the plans that accept work."""
    from factdrift.annotation.page import check_layouts
    from factdrift.annotation.quality.plans import layout_plans

    for layout_line in [*check_layouts(layout), *layout_plans(layout)]:
        echo(layout_line)


def _flatten_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose dataclasses are told by options, one for each of their annotated fields."""

    def run(**option_values: Any) -> None:
        filled_dataclasses = {
            parameter_name: _fill_dataclass(dataclass_type, option_values)
            for parameter_name, dataclass_type in order_types.items()
        }
        command(**filled_dataclasses, **option_values)

    command_parameters = inspect.signature(command, eval_str=True).parameters.values()
    order_types = {
        parameter.name: parameter.annotation
        for parameter in command_parameters
        if is_dataclass(parameter.annotation)
    }
    option_parameters = [
        option_parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in command_parameters
        for option_parameter in (
            _options(parameter.annotation) if parameter.name in order_types else [parameter]
        )
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(option_parameters)  # type: ignore[attr-defined]
    return run


def _options(dataclass_type: Any) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(dataclass_type, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            yield from _options(parameter.annotation)
        elif get_origin(parameter.annotation) is Annotated:
            yield parameter


def _fill_dataclass(dataclass_type: Any, option_values: dict[str, Any]) -> Any:
    field_parameters = inspect.signature(dataclass_type, eval_str=True).parameters.values()
    inner_dataclasses = {
        parameter.name: _fill_dataclass(parameter.annotation, option_values)
        for parameter in field_parameters
        if is_dataclass(parameter.annotation)
    }
    option_names = {
        parameter.name
        for parameter in field_parameters
        if get_origin(parameter.annotation) is Annotated
    }
    return dataclass_type(
        **inner_dataclasses,
        **{option_name: option_values.pop(option_name) for option_name in option_names},
    )


def rehearse(
    batch: Annotated[Path, typer.Argument(help="Folder of a batch: hits/<layout>/<number>.")],
    results: Annotated[Path, typer.Argument(help="File of JSON lines for the answers.")],
) -> None:
    """Answer a batch of one of our layouts with made-up answers, to see the way before paying."""
    from factdrift.annotation.rehearsal import rehearse as answer_batch

    say(f"{answer_batch(batch, results)} submissions")
    echo(str(results))


def people(*, order: PeopleOrder, as_json: AsJson = False) -> None:
    """List who takes part, exclude or readmit somebody, or erase all that somebody did.

    Exclude sets work aside, erase removes it with every line that names the person.
    """
    from factdrift.annotation.erasure import change_people, list_people

    if as_json:
        if order.action != "list":
            raise UserError("--json is for people list", hint=f"leave it out of {order.action}")
        echo_json([asdict(person_work) for person_work in list_people(order)])
        return
    for people_line in change_people(order):
        echo(people_line)


ALL: tuple[Callable[..., None], ...] = (
    with_inputs(_flatten_options(hits), "news", "pages"),
    _flatten_options(judgments),
    with_inputs(_flatten_options(receive), "news"),
    _flatten_options(bands),
    layouts,
    rehearse,
    _flatten_options(people),
)
