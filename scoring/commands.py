"""The commands that use a release; `builders.cli` has them beside its own."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from factdrift.builders.core import keys
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.options import (
    TEMPLATES,
    AsJson,
    Build,
    Jobs,
    Memory,
    Snapshot,
    Templates,
    listed_relations,
)
from factdrift.builders.core.progress import echo, echo_json, say
from factdrift.scoring.export import FormatName
from factdrift.scoring.export.id_forms import IdForm
from factdrift.scoring.option_values import (
    QUICK_ENDPOINT,
    QUICK_RELATIONS,
    Baseline,
    MemoryName,
)


def score(
    release: Annotated[Path, typer.Argument(help="A release folder; for a run, one of beir.")],
    *,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="JSON lines, JSON, CSV or Parquet of id and prediction, or a harness's logs."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Instead, what was retrieved, in TREC's form, for export --format beir."),
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="Last day that the model knows of; adds scores by lag behind it.",
        ),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(help="A config of the release; by default all that ask. Repeatable."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Name of the model; else of the predictions.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the scores.",
            show_default="scores/<dataset>/<model>, or scores/<folder>/<run>",
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Leave out rows without a prediction, and predictions of unknown rows.",
        ),
    ] = False,
    rouge: Annotated[bool, typer.Option("--rouge", help="Adds ROUGE-L.")] = False,
    share: Annotated[
        Path | None,
        typer.Option(help="Folder that gets the answers and figures in a form to be shared."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score predictions against a release: metrics by split, period, relation and more."""
    if (run is None) is (predictions is None):
        raise UserError("give either --predictions FILE or --run FILE")
    if run is not None:
        from factdrift.scoring import retrieval

        split_scores = retrieval.score_run(release, run)
        scores_folder = out or Path("scores") / release.resolve().name / run.stem
        retrieval.write_retrieval(split_scores, scores_folder)
        for note in retrieval.retrieval_notes(split_scores):
            say(note)
        if as_json:
            echo_json(retrieval.scores_data(split_scores))
            return
        for line in retrieval.retrieval_lines(split_scores):
            echo(line)
        echo(f"all of it: {scores_folder}")
        return
    from factdrift.scoring.score import ScoreOptions, score_predictions
    from factdrift.scoring.summary import summary_lines

    assert predictions is not None
    score_options = ScoreOptions(
        release=release,
        file=predictions,
        out=out,
        configs=tuple(config) if config else None,
        cutoff=_day(cutoff),
        model=model,
        partial=partial,
        rouge=rouge,
        say=say,
    )
    scores = score_predictions(score_options)
    if as_json:
        echo_json({"folder": scores.folder, **scores.summary})
    for line in () if as_json else summary_lines(scores):
        echo(line)
    if not as_json:
        say(f"next: factdrift report {display_path(scores.folder)} --to report")
    if share is not None:
        from factdrift.scoring import results

        say(f"to be shared: {results.share_results(score_options, scores, share)}")


def search(
    folder: Annotated[Path, typer.Argument(help="A folder of export --format beir.")],
    *,
    out: Annotated[Path, typer.Option(help="File of the run, in TREC's form.")],
    by: Annotated[
        Baseline,
        typer.Option(
            help="bm25; day: none after a query's day; newest: ten of these by day; guess: the "
            "newest of these with all words with capitals; embedding."
        ),
    ] = "bm25",
    model: Annotated[
        Path | None, typer.Option(help="Folder of a sentence model, for embedding.")
    ] = None,
) -> None:
    """Search a corpus for its queries, by BM25 or by embeddings: baselines of retrieval."""
    from factdrift.scoring.search_baselines import search_passages

    say(f"{search_passages(folder, out, by, model):,} results")
    echo(str(out))


def memory(
    name: Annotated[
        MemoryName,
        typer.Argument(
            help="last, validity: told the facts; prose: reads; guess: a rule that knows nothing."
        ),
    ],
    stream: Annotated[Path, typer.Argument(help="A folder of export --format stream.")],
    out: Annotated[Path, typer.Argument(help="A .jsonl or .parquet file of its answers.")],
) -> None:
    """Send a stream through a simple memory: what a memory of yours is compared with."""
    from factdrift.scoring.memories import answer_by_name

    say(f"{answer_by_name(name, stream, out):,} answers")
    echo(str(out))


def results(
    release: Annotated[Path, typer.Argument(help="The release that they are of.")],
    folders: Annotated[list[Path], typer.Argument(help="Folders that score --share wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check results that somebody shares: score their answers again, and refuse what differs."""
    from factdrift.scoring.results import check_results, known_until

    checked = []
    for folder in folders:
        results = check_results(folder, release)
        last_known = known_until(results)
        checked.append(
            {
                "model": results.model,
                "dataset": results.dataset,
                "version": results.version,
                "last_known": last_known,
            }
        )
        if not as_json:
            model_and_release = f"{results.model}: {results.dataset} {results.version}"
            echo(f"{model_and_release}, knows what changed until {last_known or '–'}: fits")
    if as_json:
        echo_json(checked)


def baselines(
    release: Annotated[Path, typer.Argument(help="A release folder.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder that gets the answers of each as predictions.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Of these, rows of each config, as of run-model.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score answers that know nothing: those of before, the longest held, the most frequent."""
    from factdrift.scoring.baselines import baseline_lines, baseline_shares, write_baselines

    if as_json:
        echo_json(baseline_shares(release))
    for line in () if as_json else baseline_lines(release):
        echo(line)
    answer_files = list(write_baselines(release, out, limit)) if out else []
    for path in answer_files:
        say(f"answers: {path}")
    # a guess whose figures are shown: that of the answers before has rows right by what they are
    predictions_name = next(
        (path for path in answer_files if path.stem == "most-frequent"), Path("FILE")
    )
    say(f"next: factdrift score {release} --predictions {predictions_name}")


def _print_series(is_asked: bool) -> None:
    if is_asked:
        from factdrift.scoring.fuar import EXAMPLE

        echo(EXAMPLE.rstrip("\n"))
        raise typer.Exit


def fuar(
    series: Annotated[
        Path,
        typer.Argument(
            help="A YAML file that names folders of scores, model by model; --example prints one."
        ),
    ],
    *,
    example: Annotated[
        bool,
        typer.Option(
            "--example",
            callback=_print_series,
            is_eager=True,
            help="Print such a file, to be edited, and stop.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """What a series of models forgot over what it gained: FUAR of continual learning.

    It starts with: factdrift fuar --example > series.yaml
    """
    from factdrift.scoring.fuar import series_scores

    scores = series_scores(series)
    if as_json:
        echo_json(scores.as_data())
    for line in () if as_json else scores.lines():
        echo(line)


def report(
    scores: Annotated[list[Path], typer.Argument(help="Folders that factdrift score made.")],
    *,
    to: Annotated[Path, typer.Option(help="Folder of the page and its figures.")] = Path("report"),
) -> None:
    """Show the scores of one or several models, or of retrieval runs, on one page."""
    from factdrift.scoring.report import write_report

    page_path = write_report(scores, to)
    say("open this page in a browser:")
    echo(str(page_path))


def _day(day_text: str | None, option: str = "--cutoff") -> date | None:
    try:
        return None if day_text is None else date.fromisoformat(day_text)
    except ValueError as error:
        raise UserError(f"{option}: not a day: {day_text!r}", hint="write 2024-06-30") from error


def run_model(
    context: typer.Context,
    release: Annotated[Path, typer.Argument(help="A release folder.")],
    *,
    model: Annotated[
        str | None,
        typer.Option(
            help="Name on the Hub, folder, .gguf, or a server's name for it.",
            show_default="the backend's, where it has one",
        ),
    ] = None,
    backend: Annotated[
        str, typer.Option(help="`transformers`: this machine; `openai`: a server; or a package's.")
    ] = "transformers",
    view: Annotated[
        Literal["generate", "mask", "rank", "likelihood", "choices"] | None,
        typer.Option(
            help="generate: it writes. For masked models, mask: 1 to 5 masks filled from the left; "
            "rank: single tokens. likelihood: of the answers. choices: of each choice.",
            show_default="generate, or mask",
        ),
    ] = None,
    config: Annotated[list[str] | None, typer.Option(help="Configs; else all that suit.")] = None,
    split: Annotated[list[str] | None, typer.Option(help="Splits; else all.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Rows of each config, drawn by the seed.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Commit of the model on the Hub.")] = None,
    base_url: Annotated[
        str, typer.Option(help="Address of a server, up to /v1.")
    ] = "https://api.openai.com/v1",
    key_variable: Annotated[
        str, typer.Option(help="Environment variable that holds the server's key, if any.")
    ] = "OPENAI_API_KEY",
    chat: Annotated[
        bool, typer.Option("--chat", help="Use the tokenizer's chat template.")
    ] = False,
    completion: Annotated[
        bool, typer.Option("--completion", help="A server's base model: no chat, it goes on.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processors that a model here uses; else all.")
    ] = None,
    prompts: Annotated[
        str | None, typer.Option(help="A file of prompts, or `bare`.", show_default="the project's")
    ] = None,
    blank: Annotated[
        str | None,
        typer.Option(help="What a model that writes gets for the gap: <extra_id_0> for T5."),
    ] = None,
    distractors: Annotated[
        int,
        typer.Option(min=1, help="Other answers of the relation whose likelihood is asked, too."),
    ] = 20,
    batch: Annotated[int, typer.Option(min=1, help="Texts at a time.")] = 8,
    concurrency: Annotated[int, typer.Option(min=1, help="Calls of a server at a time.")] = 4,
    new_tokens: Annotated[
        int, typer.Option(min=1, help="Longest answer, in tokens; a base model ends at a newline.")
    ] = 16,
    temperature: Annotated[float, typer.Option(min=0, help="0: the likeliest text.")] = 0.0,
    characters: Annotated[
        int, typer.Option(min=200, help="Characters of a page that are shown at most.")
    ] = 4000,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps or auto.")] = "cpu",
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16", "auto"],
        typer.Option(help="How the model's numbers are held."),
    ] = "float32",
    seed: Annotated[int, typer.Option(help="Draws rows, and texts with a temperature.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="A .jsonl or .parquet file.", show_default="in predictions/")
    ] = None,
    build: Annotated[Path, typer.Option(help="Where answers are kept.")] = Path("build"),
    offline: Annotated[
        bool, typer.Option("--offline", help="Only what was answered before.")
    ] = False,
) -> None:
    """Ask a model about the rows of a release, and write its predictions."""
    from factdrift.scoring.run_model import ModelOrder, model_settings
    from factdrift.scoring.run_model import run_model as run

    common_settings = {
        "model": model,
        "new_tokens": new_tokens,
        "temperature": temperature,
        "characters": characters,
        "stop": ("\n",),
    }
    server_settings = {
        "base_url": base_url,
        "key_variable": key_variable,
        "concurrency": concurrency,
    }
    server_settings |= {"completion": completion}
    local_settings = {
        "revision": revision,
        "batch": batch,
        "dtype": dtype,
        "device": device,
        "chat": chat,
    }
    local_settings |= {"threads": threads}
    keys.grant(key_variable, base_url)
    option_values = common_settings | server_settings | local_settings
    if model is None:
        del option_values["model"]
    # `ParameterSource` is compared by name: typer may bundle a click of its own, and members of the
    # enums of two copies are never equal
    given_options = {
        option_name
        for option_name in option_values
        if getattr(context.get_parameter_source(option_name), "name", "") == "COMMANDLINE"
    }
    settings = model_settings(backend, option_values, given_options)
    predictions_file = run(
        ModelOrder(
            release=release,
            settings=settings,
            say=say,
            view=view,
            configs=config or (),
            splits=split or (),
            limit=limit,
            prompts=prompts,
            blank=blank,
            distractors=distractors,
            seed=seed,
            out=out,
            build=build,
            offline=offline,
        )
    )
    echo(str(predictions_file))


def export(
    folder: Annotated[Path, typer.Argument(help="A release folder.")],
    *,
    name: Annotated[FormatName, typer.Option("--format", help="The dataset that it is to be.")],
    to: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the files.", show_default="exports/<format>/<dataset>-<version>"
        ),
    ] = None,
    passages: Annotated[
        Path | None, typer.Option("--corpus", help="The text of news: a folder of corpus.")
    ] = None,
    ids: Annotated[
        IdForm,
        typer.Option(help="streamingqa: original (eval-0, eval-1, …) or the ids of the rows."),
    ] = "original",
    config: Annotated[
        str | None,
        typer.Option(
            help="as-of: text, or statements, sentences made from facts.", show_default="text"
        ),
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option(min=2, help="longmemeval: sessions of a question.", show_default="40"),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="knowedit, zsre, mquake: what the model answered before it is edited."),
    ] = None,
) -> None:
    """Write a release as the files of an original dataset, for the code that reads these."""
    from factdrift.scoring.export import export_release

    written = export_release(folder, name, to, say, passages, ids, config, sessions, predictions)
    echo(str(written))


def quick(
    *,
    window: Annotated[
        tuple[str, str],
        typer.Option(
            metavar="4 quarters",
            help="Full periods before the day (months, quarters, years), or 2025Q1 2025Q4.",
        ),
    ] = ("4", "quarters"),
    day: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD", help="The day before which periods end.", show_default="today"
        ),
    ] = None,
    relations: Annotated[
        str, typer.Option(help="Relations with a template: P54-club,P39-office,…")
    ] = QUICK_RELATIONS,
    endpoint: Annotated[
        str, typer.Option(help="A SPARQL endpoint with Wikidata's data.")
    ] = QUICK_ENDPOINT,
    user_agent: Annotated[
        str | None,
        typer.Option(
            help="Needed: your tool and a contact, 'my-lab/1.0 (mailto:me@example.org)'.",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Ask no endpoint: take the bundled sample, to try it.")
    ] = False,
    road: Annotated[
        Literal["auto", "pages", "whole"],
        typer.Option(help="How it is asked; auto: as its host is known to like it, else pages."),
    ] = "auto",
    minutes: Annotated[
        float, typer.Option(min=1, help="Ask the endpoint nothing more after so long.")
    ] = 240,
    snapshot: Annotated[
        str | None,
        typer.Option(
            "--snapshot-date",
            "--snapshot",
            metavar="YYYY-MM-DD",
            help="Day of the endpoint's data.",
            show_default="as it says",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Asked about the rows: a name on the Hub, folder, or a server's name."),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            help="`transformers`: this machine; `openai`: a server; or a package's.",
            show_default="transformers, or openai with --base-url",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the model's server, up to /v1.")
    ] = None,
    key_variable: Annotated[
        str, typer.Option(help="Environment variable that holds the server's key, if any.")
    ] = "OPENAI_API_KEY",
    limit: Annotated[
        int, typer.Option(min=1, help="Rows of each config that the model is asked.")
    ] = 500,
    out: Annotated[Path, typer.Option(help="Folder of everything.")] = Path("quick"),
    as_json: AsJson = False,
    templates: Templates = TEMPLATES,
    jobs: Jobs = 2,
    memory: Memory = "2GB",
) -> None:
    """Make last quarter's benchmark from an endpoint, without a dump, and test a model on it.

    A release, answers, scores and a report; the same command goes on where it was stopped. The
    default relations are about 200,000 statements beside those of P54-club, 1.6 million: minutes
    from QLever, an evening from Wikidata's own endpoint; a count and the requests are said first.
    """
    from factdrift.scoring.quick import SAMPLE_DAY, QuickOrder, make_quickly, window_periods
    from factdrift.scoring.run_model import model_settings

    last_day = _day(day, "--day") or (SAMPLE_DAY if sample else datetime.now(UTC).date())
    settings = None
    if model is not None:
        server_values = {} if base_url is None else {"base_url": base_url}
        if base_url is not None:
            server_values["key_variable"] = key_variable
            keys.grant(key_variable, base_url)
        backend_name = backend or ("transformers" if base_url is None else "openai")
        # an answer is a name: one line, as of `run-model`
        answer_values = {"model": model, "new_tokens": 16, "temperature": 0.0, "stop": ("\n",)}
        settings = model_settings(backend_name, answer_values | server_values, server_values)
    elif backend is not None or base_url is not None:
        raise UserError("--backend and --base-url are about a model", hint="name it: --model NAME")
    order = QuickOrder(
        endpoint=None if sample else endpoint,
        user_agent=user_agent,
        relations=listed_relations(relations),
        periods=window_periods(window, last_day),
        road=road,
        minutes=minutes,
        snapshot=_day(snapshot, "--snapshot-date"),
        settings=settings,
        limit=limit,
        out=out,
        templates=templates,
        jobs=jobs,
        memory=memory,
        say=say,
    )
    result = make_quickly(order)
    if as_json:
        echo_json(result._asdict())
        return
    for line in result.lines():
        say(line)
    echo(str(result.release))


_AUDIT_DUMP = "A Wikidata dump; latest, or a day: 2026-11-09; or sample: ours. Repeatable."


def audit(
    file: Annotated[Path, typer.Argument(help="JSON lines, JSON, CSV, TSV or Parquet.")],
    *,
    dump: Annotated[list[str], typer.Option(metavar="PATH", help=_AUDIT_DUMP)],
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="The day to judge by.",
            show_default="the date of the row, else the day of the dump",
        ),
    ] = None,
    subject: Annotated[
        str | None, typer.Option(help="The column with ids of subjects: Q42.")
    ] = None,
    relation: Annotated[
        str | None, typer.Option(help="The column of the property: P54, or its name.")
    ] = None,
    property_id: Annotated[
        str | None, typer.Option("--property", help="Instead, the property of all rows: P54.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option(help="The column of answers: ids or names, one or a list.")
    ] = None,
    answer_ids: Annotated[
        str | None, typer.Option(help="The column of the answers' ids, beside their names.")
    ] = None,
    date_column: Annotated[
        str | None, typer.Option("--date", help="The column of dates: 2019, 2019-Q3, 2019-07-24.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write the table as of the day, and what changed.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the result.", show_default="audits/<file>")
    ] = None,
    snapshot: Snapshot = None,
    templates: Templates = TEMPLATES,
    build: Build = Path("build"),
    as_json: AsJson = False,
    jobs: Jobs = 2,
    memory: Memory = "600MB",
) -> None:
    """Say of each row of a published table whether its answer still holds, by a Wikidata dump."""
    from factdrift.scoring.audit.forms import column_choice
    from factdrift.scoring.audit.run import AuditOptions
    from factdrift.scoring.audit.run import audit as run_audit
    from factdrift.scoring.audit.summary import summary_table

    out = out or Path("audits") / file.stem
    columns = column_choice(subject, relation, property_id, answers, answer_ids, date_column)
    audit_options = AuditOptions(
        file=file,
        dump=dump,
        out=out,
        say=say,
        as_of=_day(as_of, "--as-of"),
        snapshot=snapshot,
        columns=columns,
        repair=repair,
        templates=templates,
        build=build,
        jobs=jobs,
        memory=memory,
    )
    audit_summary = run_audit(audit_options)
    if as_json:
        echo_json(asdict(audit_summary))
        return
    for line in summary_table(audit_summary):
        say(line)
    echo(str(out))


ALL: tuple[Callable[..., None], ...] = (
    *(audit, export, quick, run_model, score, results, baselines, search, memory, report, fuar),
)
