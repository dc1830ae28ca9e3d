"""The commands that make releases, and look at them; `builders.cli` has them beside others."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError, on_a_line
from factdrift.builders.core.inputs import with_inputs
from factdrift.builders.core.options import (
    TEMPLATES,
    AsJson,
    Build,
    CorrectionsFile,
    Jobs,
    Memory,
    Recipes,
    Release,
    Snapshot,
    Templates,
)
from factdrift.builders.core.progress import echo, echo_json, say

if TYPE_CHECKING:
    from pydantic import JsonValue

    from factdrift.builders.core.corrections import Correction
    from factdrift.builders.generate.prompts import ModelSettings
    from factdrift.builders.release.outcome import Outcome

# What `push` and `publish` share.
HubRepository = Annotated[str, Option(help="Dataset repository on the Hub: me/mine.")]
Private = Annotated[
    bool, Option("--private", help="If the repository is made now: visible to its members alone.")
]
OwnCode = Annotated[
    bool, Option("--own-code", help="Also a release whose tasks/ has code that is not factdrift's.")
]


def _tell(
    problems: Sequence[str], problem_kind: str, folder: Path, is_printed: bool = False
) -> None:
    """Print problems, unless they are printed already; `UserError` where there are some."""
    for problem in () if is_printed else problems:
        echo(problem)
    if problems:
        raise UserError(f"{len(problems)} {problem_kind}", where=folder)


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
    since: Annotated[
        str | None,
        Option(
            metavar="VERSION",
            help="Keep rows of this version (last: the newest) that are still in the window.",
        ),
    ] = None,
    corrections: CorrectionsFile = None,
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
    as_json: AsJson = False,
) -> None:
    """Build recipes into versioned releases, and print their folders."""
    from factdrift.builders.release import unchanged

    model_values = {
        "model": model,
        "base_url": base_url,
        "key_variable": key_variable,
        "concurrency": concurrency,
    }
    asked_run = unchanged.AskedRun(
        recipes=recipe or (),
        given=given,
        out=out,
        build=build,
        templates=templates,
        corrections=corrections,
        options={"snapshot": snapshot, "version": version, "limit": limit, "rows": rows},
    )

    def make(say: Callable[[str], None]) -> "list[Outcome]":
        from factdrift.builders.generate.costs import Prices, Terms
        from factdrift.builders.release.release import ReleaseOptions, release_all

        release_options = ReleaseOptions(
            given=given,
            snapshot=snapshot,
            say=say,
            version=version,
            limit=limit,
            rows=rows,
            model=_named_model(backend, model_values),
            terms=Terms(Prices.read(prices), budget, yes),
            since=since,
            corrections_file=corrections,
            out=out,
            build=build,
            templates=templates,
            engine=engine,
            jobs=jobs,
            memory=memory,
        )
        return release_all(recipe or [], release_options)

    # what is asked of others, may cost something, or is compared with another release has no note
    unnoted = (*model_values.values(), budget, prices, since)
    is_plain = engine == "duckdb" and all(value is None for value in unnoted)
    outcomes = unchanged.outcomes(asked_run, make) if is_plain else make(say)
    if as_json:
        echo_json([outcome.data() for outcome in outcomes])
        return
    for outcome in outcomes:
        echo(str(outcome.folder))


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
    echo(str(record_answers(recipe, record_options, release_options)))


@with_inputs
def steps(
    recipe: Recipes = None,
    *,
    given: Mapping[str, list[str]],
    snapshot: Snapshot = None,
    corrections: CorrectionsFile = None,
    build: Build = Path("build"),
    templates: Templates = TEMPLATES,
    as_json: AsJson = False,
) -> None:
    """Say which steps a release would make anew, and which are there."""
    from factdrift.builders.release.release import ReleaseOptions, planned_steps

    release_options = ReleaseOptions(
        given, snapshot, build, templates, corrections_file=corrections
    )
    planned_releases = planned_steps(recipe or [], release_options)
    if as_json:
        echo_json([planned.data() for planned in planned_releases])
        return
    for planned in planned_releases:
        for line in planned.lines():
            echo(line)


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
    as_json: AsJson = False,
) -> None:
    """Make a release again from its manifest, and say whether it is the same to the byte."""
    from factdrift.builders.release.rebuild import rebuild_release
    from factdrift.builders.release.release import ReleaseOptions

    release_options = ReleaseOptions(
        given, out=out, build=build, templates=templates, jobs=jobs, memory=memory
    )
    differences = rebuild_release(folder, release_options)
    if as_json:
        echo_json({"release": folder, "same": not differences, "differences": differences})
    _tell(differences, "file(s) differ", folder, as_json)
    if not as_json:
        echo(f"{folder}: made again, the same to the byte")


def clean(
    *,
    build: Build = Path("build"),
    dry_run: Annotated[bool, Option("--dry-run", help="Say it, and remove nothing.")] = False,
    everything: Annotated[
        bool, Option("--all", help="Also what releases need, and answers of models.")
    ] = False,
    as_json: AsJson = False,
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
        for line in () if as_json else table(build_entries, everything):
            echo(line)
        kept_bytes = sum(entry.size for entry in build_entries if entry.stays(everything))
        size = (
            sum(entry.size for entry in build_entries) - kept_bytes
            if dry_run
            else remove(build_entries, everything)
        )
    if as_json:
        entries = [entry.data(everything) for entry in build_entries]
        echo_json({"removed": size, "kept": kept_bytes, "dry_run": dry_run, "entries": entries})
        return
    verb = "would be removed" if dry_run else "removed"
    echo(f"{size / 1e6:,.1f} MB {verb}, {kept_bytes / 1e6:,.1f} MB kept")


def verify(folder: Release, *, as_json: AsJson = False) -> None:
    """Check a release against its manifest, and the code in `tasks/` against this project's."""
    from factdrift.builders.release.task_code import compare_code
    from factdrift.builders.release.verify import not_covered, verify_release

    problems = verify_release(folder)
    task_code = None if problems else compare_code(folder)
    own_code = task_code.own if task_code else ()
    if as_json:
        unknown_code = task_code.unknown if task_code else ()
        echo_json(
            {
                "release": folder,
                "whole": not problems,
                "problems": problems,
                "own_code": own_code,
                "unknown_code": unknown_code,
            }
        )
    _tell(problems, "problem(s)", folder, as_json)
    if task_code and not as_json:
        echo(f"{folder}: whole and unchanged: it agrees with its manifest")
        if uncovered_line := not_covered(folder):
            echo(uncovered_line)
        for sentence in task_code.sentences():
            echo(f"{folder}: {sentence}")
    if own_code:
        hint_text = "it runs with all your rights when a harness reads tasks/: read it first"
        raise UserError(f"{len(own_code)} file(s) of code of its own", where=folder, hint=hint_text)


def diff(
    old: Release,
    new: Annotated[Path, Argument(help="Another release folder of the same dataset.")],
    *,
    out: Annotated[Path | None, Option(help="Write the differing rows here, as Parquet.")] = None,
    notes: Annotated[Path | None, Option(help="Write notes for readers here, as Markdown.")] = None,
    as_json: AsJson = False,
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
    if as_json:
        echo_json(asdict(comparison))
    else:
        echo(comparison.summary())


def why(
    row: Annotated[
        str, Argument(help="The id of a row, or the item or detail of what was left out.")
    ],
    folder: Release,
    *,
    given: Mapping[str, list[str]],
    config: Annotated[
        str | None, Option(help="The config of the row, where several have its id.")
    ] = None,
    as_json: AsJson = False,
    svg: Annotated[Path | None, Option(help="Draw the time lines here, too.")] = None,
    build: Annotated[
        Path | None,
        Option(
            help="Where intermediate tables are kept.",
            show_default="build, here or beside the folder of releases",
        ),
    ] = None,
    templates: Templates = TEMPLATES,
) -> None:
    """Say what stands behind a row: statements, dates, gaps, rules, texts; or why it was left out.

    --dump takes mined folders, --news archives; both are found in the build folder by themselves.
    """
    from factdrift.builders.core.files import disk_errors, replacing
    from factdrift.builders.release.why.drawing import svg as draw
    from factdrift.builders.release.why.explain import WhySources, explain
    from factdrift.builders.release.why.tables import build_folder
    from factdrift.builders.release.why.words import lines, plain_data

    sources = WhySources(
        build or build_folder(folder), templates, given.get("dump", []), given.get("news", [])
    )
    explanation = explain(row, folder, sources, config)
    if svg is not None:
        title = f"{explanation.id}: {explanation.release}"
        with disk_errors(svg), replacing(svg) as path:
            path.write_text(draw(title, explanation.histories, explanation.asked_time), "utf-8")
        say(f"time lines in {svg}")
    if as_json:
        echo_json(plain_data(explanation))
    for line in () if as_json else lines(explanation):
        echo(line)


def show(
    folder: Release,
    row: Annotated[
        list[str] | None, Argument(help="Ids of rows; without any, a few are drawn.")
    ] = None,
    *,
    config: Annotated[str | None, Option(help="Rows of this config alone.")] = None,
    split: Annotated[str | None, Option(help="Rows of this split alone.")] = None,
    rows: Annotated[int, Option(min=1, help="Rows of each config.")] = 3,
    columns: Annotated[
        str, Option(help="Columns, with commas between them.", show_default="prompt and answers")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Print a few rows of a release, of each config; or the whole rows of some ids."""
    from factdrift.builders.release.show import (
        DROPS,
        RowChoice,
        chosen_rows,
        empty_places,
        label_reader,
        shown_lines,
    )

    column_names = tuple(name.strip() for name in columns.split(",") if name.strip())
    choice = RowChoice(config, split, rows, tuple(row or ()), column_names)
    shown_rows = chosen_rows(folder, choice)
    if as_json:
        echo_json(
            [
                {"config": shown.config.name, "split": shown.split.name, "row": shown.values}
                for shown in shown_rows
            ]
        )
        return
    last_config = first_id = None
    with label_reader(folder, choice) as label_of:
        for shown in shown_rows:
            if shown.config.name != last_config:
                config_rows = f"{shown.config.row_count:,} rows"
                echo(f"{shown.config.name}, {config_rows}: {shown.config.description}")
            own_id = shown.values.get("item" if shown.config.name == DROPS else "id")
            last_config, first_id = shown.config.name, first_id or own_id
            for line in shown_lines(shown, label_of, all_columns=bool(row or column_names)):
                echo(line)
            echo("")
    for place in () if row else empty_places(folder, choice):
        echo(f"no rows in {place}")
    if first_id is not None:
        say(f"next: factdrift why {shlex.quote(first_id)} {display_path(folder)}")


def correct(
    item: Annotated[
        str | None,
        Argument(
            help="The id of a row, or of a statement of Wikidata; without it, entries are checked."
        ),
    ] = None,
    folder: Annotated[Path | None, Argument(help="The release folder that has it.")] = None,
    *,
    wrong: Annotated[str | None, Option(help="What is wrong.")] = None,
    source: Annotated[str | None, Option(help="What shows it: an address, a book.")] = None,
    by: Annotated[str | None, Option(help="Who says so.")] = None,
    drop: Annotated[bool, Option("--drop", help="Leave it out.")] = False,
    answer: Annotated[
        list[str] | None,
        Option(help="Of a row: what is right instead. Repeatable, the best first."),
    ] = None,
    start: Annotated[
        str | None, Option(metavar="DATE", help="Of a statement: another start: 2025-05-06, 2025.")
    ] = None,
    end: Annotated[
        str | None, Option(metavar="DATE", help="Of a statement: another end; open: it lasts.")
    ] = None,
    object_: Annotated[
        str | None, Option("--object", metavar="ITEM", help="Of a statement: another object: Q64.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        Option("--set", metavar="COLUMN=VALUE", help="Of a row: another value, JSON or a text."),
    ] = None,
    name: Annotated[
        str | None, Option(help="The id of the entry.", show_default="made of the row's")
    ] = None,
    issue: Annotated[
        Path | None, Option(help="Make the entry of an issue's text that the form wrote.")
    ] = None,
    from_: Annotated[
        Path | None, Option("--from", metavar="RELEASE", help="Take the entries that it cites.")
    ] = None,
    file: Annotated[Path, Option(help="The file of corrections.")] = Path("corrections.yaml"),
    out: Annotated[Path, Option(help="Where releases are, in which entries are looked up.")] = Path(
        "releases"
    ),
) -> None:
    """Write an entry of corrections.yaml for a row or statement, or check those that are there.

    The next release drops or mends what it is about, cites the entry, and says so in its notes.
    """
    from factdrift.builders.release import correcting
    from factdrift.builders.release.errata import checked_corrections

    parts = {"start": start, "end": end, "object": object_}
    if sum(place is not None for place in (item, issue, from_)) > 1:
        raise UserError("give one of ITEM, --issue and --from")
    entries: Sequence[Correction] = ()
    if from_ is not None:
        entries = correcting.entries_of_release(from_)
    elif issue is not None:
        words = correcting.words_of_issue(issue)
        entries = [correcting.new_entry(words, correcting.release_in(out, words.release))]
    elif item is not None:
        mend: dict[str, JsonValue] = {part: text for part, text in parts.items() if text}
        mend |= correcting.mended_values(set_ or [])
        words = correcting.CorrectionWords(
            item, None, wrong, source, by, drop, mend, answer or (), name
        )
        entries = [correcting.new_entry(words, folder)]
    if entries:
        added = correcting.add_entries(file, entries)
        for entry in added:
            say(f"  written into {on_a_line(str(file))}: {entry.id}")
            if entry.row is not None and folder is not None:
                _say_statements(entry.row, folder)
    corrections = checked_corrections(file, out, None)
    for line in correcting.described(corrections):
        echo(line)


def _say_statements(row_id: str, folder: Path) -> None:
    """Name the statements behind a row, whose correction would reach every dataset."""
    from factdrift.builders.release.correcting import statements_behind

    if statement_ids := statements_behind(row_id, folder):
        say("  if a statement of Wikidata behind it is wrong, correct that: all datasets get it")
        for statement_id in statement_ids:
            say(f"    {statement_id}")


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
    echo(str(out / harness))


def push(
    folder: Release,
    *,
    repo: HubRepository,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Say what would go; ask and send nothing.")
    ] = False,
    private: Private = False,
    own_code: OwnCode = False,
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


def publish(
    folder: Annotated[
        Path, Argument(help="A release folder, or a dataset's, for its newest version.")
    ],
    *,
    repo: HubRepository,
    picture: Annotated[
        Path | None,
        Option(help="A PNG for the top of the page.", show_default="the card's first plot"),
    ] = None,
    to: Annotated[
        Path | None,
        Option(help="Folder of the page.", show_default="published/<dataset>-<version>"),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Write the folder and say what would happen; send nothing.")
    ] = False,
    private: Private = False,
    own_code: OwnCode = False,
) -> None:
    """Push a release with a page: picture, code that loads it, changes over its versions."""
    from factdrift.builders.release.push import publish as upload

    page_folder = upload(
        folder,
        repo,
        to,
        say,
        picture=picture,
        dry_run=dry_run,
        private=private,
        own_code=own_code,
    )
    echo(str(page_folder))


ALL: tuple[Callable[..., None], ...] = (
    *(release, record, steps, rebuild, clean, verify, diff, show),
    with_inputs(why, "dump", "news"),
    *(correct, tasks, push, publish),
)
