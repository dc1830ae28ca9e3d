"""The whole run on one page: recipe, inputs, build, publish, verify."""

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

import factdrift
from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.config import display_path
from factdrift.builders.core.corrections import FILE as CORRECTIONS
from factdrift.builders.core.corrections import NO_CORRECTIONS, Corrections
from factdrift.builders.core.dataset import Input, Meta
from factdrift.builders.core.engine import EngineName, ready
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource, writable
from factdrift.builders.core.hints import MissingExtraError
from factdrift.builders.core.inputs import INPUTS
from factdrift.builders.core.parallel import told_map
from factdrift.builders.core.progress import is_verbose, is_watched, say_at_once
from factdrift.builders.core.progress import say as tell
from factdrift.builders.core.reach import reach
from factdrift.builders.core.run import Run, RunInputs
from factdrift.builders.core.sizes import divided_size
from factdrift.builders.core.steps import NotMadeError, Plan, Workspace
from factdrift.builders.core.tidy import note_use
from factdrift.builders.facts.relations import are_ours, template_texts
from factdrift.builders.facts.steps import CORRECTED, Facts
from factdrift.builders.recipes.datasets import prose_of
from factdrift.builders.recipes.dumps import resolve_inputs
from factdrift.builders.recipes.recipe import FOLDER as RECIPES
from factdrift.builders.recipes.recipe import (
    Recipe,
    find_inputs,
    find_recipe,
    read_recipe,
    recipe_name,
    recipes,
    require_inputs,
)
from factdrift.builders.release.continuity import (
    EarlierRelease,
    earlier_release,
    with_changed_corrections,
)
from factdrift.builders.release.errata import (
    ReleaseErrata,
    checked_corrections,
    refuse_forgotten,
    release_errata,
)
from factdrift.builders.release.judging import judge_outcome
from factdrift.builders.release.manifest import OWN_TEMPLATES, load_manifest, own_sha256
from factdrift.builders.release.outcome import Outcome, overview_lines
from factdrift.builders.release.people import people_statistics
from factdrift.builders.release.publish import NothingLeftError, write_release
from factdrift.builders.release.verify import verify_release
from factdrift.builders.release.version import Version
from factdrift.builders.rows.gold import NoGoldError
from factdrift.builders.wikipedia.inputs import check_pages

if TYPE_CHECKING:
    from factdrift.builders.generate.costs import Terms
    from factdrift.builders.generate.prompts import ModelSettings

TEMPLATES = resource("templates")
MODEL_OPTIONS = ("model", "base_url", "key_variable")
"""Settings of a model that a command line names, and with which a release is made again."""
_NEW_TOKENS = 2000
"""Tokens of an answer at most, of a model that a command line names: four questions with their
sentences have 600; a model that reasons first needs more."""
_BATCH_FOLDER = Path("batches")
"""Where a batch named on a command line has its files of calls and results."""
# The module whose libraries show in a release beside those of its steps.
_WRITING = "factdrift.builders.release.publish"


@dataclass(frozen=True)
class ReleaseOptions:
    """The options of the command line that hold for every recipe of a run."""

    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    snapshot: str | None = None
    build: Path = Path("build")
    templates: Path = TEMPLATES
    say: Callable[[str], None] = tell
    version: str | None = None
    out: Path = Path("releases")
    engine: EngineName = "duckdb"
    jobs: int = 2
    memory: str = "4GB"
    limit: int | None = None
    rows: int | None = None
    """The rows that a model is to write."""
    model: "ModelSettings | None" = None
    """The model that takes the place of those in the recipes."""
    terms: "Terms | None" = None
    """What models may cost; without terms nobody is asked."""
    since: str | None = None
    """The version whose rows stay as it published them, `last`, or a release folder."""
    corrections_file: Path | None = None
    """The file of corrections; by default `corrections.yaml`, where that is there."""
    corrections: Corrections | None = None
    """The corrections of a release that is made again; with them no file is read."""
    rebuild: str | None = None
    """The command that the manifest names, where it is not to be told from the options."""


def chosen_recipes(
    recipe_names: Sequence[str | Path], options: ReleaseOptions
) -> dict[Path, Recipe]:
    """The named recipes by their paths, or those that the inputs given suit.

    A recipe is named by its path, or by its name where it is a bundled one.
    Without a name: where no input is given, every bundled recipe that names all its inputs, else
    every bundled recipe that waits for just these. Where gold rows alone are given, all that take
    some, but those whose layouts nobody has worked on yet.
    """
    chosen = {
        recipe_path: read_recipe(recipe_path) for recipe_path in map(find_recipe, recipe_names)
    }
    if not recipe_names:
        for recipe_path, recipe in recipes().items():
            if _suits_inputs(recipe, options.given):
                chosen[recipe_path] = recipe
        if not chosen:
            raise UserError(
                f"no bundled recipe makes something of {', '.join(options.given)} alone"
            )
    return {
        recipe_path: _with_options(recipe, recipe_path, options)
        for recipe_path, recipe in chosen.items()
    }


def with_days_found(options: ReleaseOptions, chosen: Mapping[Path, Recipe]) -> ReleaseOptions:
    """Return options whose inputs are named by addresses where they were named by days.

    A release says by which command it is made again, and `latest` would be another dump then.
    """
    kinds = {
        input_name: recipe_input.kind
        for recipe in chosen.values()
        for input_name, recipe_input in recipe.inputs.items()
    }
    return replace(options, given=resolve_inputs(options.given, kinds, options.say))


def with_corrections(options: ReleaseOptions, chosen: Mapping[Path, Recipe]) -> ReleaseOptions:
    """Return options with the corrections, which are looked up in the releases that are there.

    Raises `UserError` for entries that are wrong, and if the last release of a dataset was made
    with one that is gone.
    """
    if options.corrections is not None:
        return options
    corrections_file = options.corrections_file
    if corrections_file is None and CORRECTIONS.is_file():
        corrections_file = CORRECTIONS
    datasets = [recipe.dataset for recipe in chosen.values()]
    corrections = NO_CORRECTIONS
    if corrections_file is not None:
        corrections = checked_corrections(corrections_file, options.out, datasets)
        number = len(corrections.corrections)
        counted = f"{number:,} correction{'s' * (number != 1)}"
        options.say(f"{display_path(corrections_file)}: {counted}")
    for recipe in chosen.values():
        version = options.version or recipe.version
        refuse_forgotten(recipe.dataset, options.out / recipe.dataset, version, corrections)
    return replace(options, corrections=corrections)


def _with_options(recipe: Recipe, recipe_path: Path, options: ReleaseOptions) -> Recipe:
    """Return a recipe with the model and the number of rows that the options say."""
    build = recipe.build
    if options.model is not None:
        build = build.with_model(options.model)
    if options.rows is not None:
        if options.limit is not None:
            raise UserError("--rows and --limit exclude each other", where=recipe_path)
        build = build.with_rows(options.rows)
    recipe = recipe if build is recipe.build else recipe.model_copy(update={"build": build})
    return _limited(recipe, options.limit) if options.limit else recipe


def _suits_inputs(recipe: Recipe, given_names: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the given inputs alone make a run include a bundled recipe."""
    if recipe.waits_for(given_names):
        return False
    if not given_names:
        return True
    if set(given_names) == {"gold"}:
        return "gold" in recipe.inputs
    # a recipe that has all its inputs without these would make the same rows again
    return bool(recipe.waits_for(())) and all(name in recipe.inputs for name in given_names)


def _limited(recipe: Recipe, rows: int) -> Recipe:
    """Return a recipe for a few rows: a dataset of its own, with versions of its own."""
    limit_update = {
        "dataset": f"{recipe.dataset}-limit-{rows}",
        "version": "auto",
        "build": recipe.build.limited(rows),
    }
    return recipe.model_copy(update=limit_update)


def release_all(recipe_names: Sequence[str | Path], options: ReleaseOptions) -> list[Outcome]:
    """Build recipes: the named ones, or those that the inputs given suit.

    Each ends with a table of what was made, several with a table of them all. A recipe that has no
    rows is skipped with a message, if it is one of several that nobody named. Small builds, such as
    those of the samples, go on where one of them fails, and are made side by side by `options.jobs`
    processes; others are made one after the other, and stop there.
    """
    chosen = chosen_recipes(recipe_names, options)
    if options.version and options.version != "auto":
        Version.parse(options.version)
    options = with_days_found(options, chosen)
    require_inputs(chosen, options.given)
    writable(options.out)
    options = with_corrections(options, chosen)
    workspace = Workspace(options.build, options.say, options.engine, options.jobs, options.memory)
    may_fail = len(chosen) > 1 and _are_small(chosen, options)
    # the lines of a verbose run have their times, and stand among what libraries log
    processes = min(options.jobs, len(chosen)) if may_fail and not is_verbose() else 1
    share = shared_options(options, processes)
    builds = [
        _Build(
            recipe_path,
            recipe.dataset,
            share,
            _whole_earlier(options, recipe.dataset),
            workspace.folders_by_key,
            processes > 1 and is_watched(),
        )
        for recipe_path, recipe in chosen.items()
    ]
    with workspace.lock():
        ready(options.engine, options.build / "scratch")
        if processes > 1:
            options.say(f"{len(builds)} recipes, {processes} at a time, each told when it is done")
        results = told_map(_release_anew, builds, jobs=processes, say=options.say)
        outcomes, failed_datasets = _outcomes(
            builds, results, bool(recipe_names), may_fail, options
        )
    for line in overview_lines(outcomes) if len(outcomes) > 1 else ():
        options.say(line)
    if failed_datasets:
        _tell_finished(outcomes, options)
        raise UserError(
            f"{len(failed_datasets)} of {len(chosen)} recipes failed: {', '.join(failed_datasets)}",
            hint="their errors stand above; mend them, and the same command makes the rest",
        )
    return outcomes


def _outcomes(
    builds: Sequence["_Build"],
    results: Iterator[Outcome | UserError],
    are_named: bool,
    may_fail: bool,
    options: ReleaseOptions,
) -> tuple[list[Outcome], list[str]]:
    """Return the outcomes of builds, and the datasets of those that failed, as told meanwhile.

    What has no rows, or lacks packages, is left out if nobody named it and another one has some.
    The first error of another kind is raised, unless builds `may_fail`.
    """
    outcomes: list[Outcome] = []
    failed_datasets: list[str] = []
    for build, result in zip(builds, results, strict=True):
        is_last_hope = build is builds[-1] and not (outcomes or failed_datasets)
        if isinstance(result, Outcome):
            outcomes.append(result)
        elif isinstance(result, _NO_RELEASE) and not (are_named or is_last_hope):
            options.say(f"warning: {build.dataset} is left out: {result}")
        elif may_fail and not is_last_hope:
            options.say(f"error: {build.dataset}: {result}")
            failed_datasets.append(build.dataset)
        else:
            _tell_finished(outcomes, options)
            raise result
    return outcomes, failed_datasets


def _tell_finished(outcomes: Sequence[Outcome], options: ReleaseOptions) -> None:
    """Say which releases of a run are whole, where a later one fails."""
    for outcome in outcomes:
        options.say(f"finished: {display_path(outcome.folder)}")


@dataclass(frozen=True)
class _Build:
    """One recipe of a run, as it goes to a process of its own, and the release it goes on from."""

    recipe_path: Path
    dataset: str
    options: ReleaseOptions
    earlier: EarlierRelease | None
    folders_by_key: dict[str, Path]
    """The folders of steps that builds before it in the same process have opened."""
    is_announced: bool
    """Whether it says when it begins, because its other lines are told when it is done."""

    def release(self, recipe: Recipe) -> Outcome:
        """Build the recipe and publish it."""
        options = self.options
        workspace = Workspace(
            options.build,
            options.say,
            options.engine,
            options.jobs,
            options.memory,
            folders_by_key=self.folders_by_key,
        )
        with _allowing(options.terms) if options.terms else nullcontext():
            return _release(self.recipe_path, recipe, workspace, options, self.earlier)


_NO_RELEASE = (MissingExtraError, NoGoldError, NothingLeftError)
"""Errors for which one of several recipes is left out."""


def _are_small(chosen: Mapping[Path, Recipe], options: ReleaseOptions) -> bool:
    """Whether recipes are bundled ones that are built from the samples that they name.

    Other builds take hours, need the processes and the memory for their inputs, show how far they
    are, or ask what they may cost.
    """
    may_ask = options.model is not None or (options.terms and options.terms.budget is not None)
    are_bundled = all(recipe_path.parent == RECIPES for recipe_path in chosen)
    return are_bundled and not options.given and not may_ask and options.engine == "duckdb"


def shared_options(options: ReleaseOptions, processes: int) -> ReleaseOptions:
    """Return the options of each of so many processes that build side by side.

    A build among others starts no processes of its own, for who ends it would not know of them.
    """
    memory = divided_size(options.memory, processes)
    return replace(options, say=tell, jobs=1, memory=memory) if processes > 1 else options


def _release_anew(build: _Build) -> Outcome:
    """Read the recipe of a build, whose class is made anew in each process, and build it."""
    if build.is_announced:
        say_at_once(f"  building {build.dataset}")
    recipe = read_recipe(build.recipe_path)
    return build.release(_with_options(recipe, build.recipe_path, build.options))


def _allowing(terms: "Terms") -> AbstractContextManager[None]:
    from factdrift.builders.generate.costs import allowing

    return allowing(terms)


def _whole_earlier(options: ReleaseOptions, dataset: str) -> EarlierRelease | None:
    """Return the release whose rows are to stay, None for none; `UserError` if it was changed."""
    if options.since is None:
        return None
    earlier = earlier_release(options.since, dataset, options.out)
    if earlier is None:
        options.say(f"{dataset}: --since {options.since}: there is no version yet")
        return None
    if problems := verify_release(earlier.folder):
        hint_text = "factdrift verify says all; bring a whole copy of the release"
        raise UserError(
            f"was changed since: {problems[0]}", where=display_path(earlier.folder), hint=hint_text
        )
    return with_changed_corrections(earlier, options.corrections or NO_CORRECTIONS)


def _release(
    recipe_path: Path,
    recipe: Recipe,
    workspace: Workspace,
    options: ReleaseOptions,
    earlier: EarlierRelease | None,
) -> Outcome:
    say, start = options.say, time.monotonic()
    # the release says which version it goes on from, and not `last`
    options = replace(options, since=earlier.manifest.version if earlier else None)
    say(f"{recipe.dataset}: {display_path(recipe_path)}")
    run = start_run(recipe_path, recipe, workspace, options)
    with workspace.damage_told():
        dataset = recipe.build.build(run)
        gold = [
            input_file
            for source in run.inputs.values()
            if source.about.kind == "gold"
            for input_file in source.files
        ]
        people = people_statistics(gold)
        dataset = replace(dataset, statistics=(*dataset.statistics, *people))
        say("  release: writing")
        meta = _meta(recipe_path, recipe, run, options)
        errata = _errata(recipe.dataset, run, options.corrections or NO_CORRECTIONS)
        version = options.version or recipe.version
        published = write_release(dataset, meta, options.out, version, errata, earlier)
        for correction in errata.unused():
            say(
                f"warning: correction {correction.id!r}: this release would not have the row "
                f"{correction.row} anyway"
            )
    release_problems = verify_release(published.folder)
    if release_problems:
        raise AssertionError("\n".join(["the release does not verify:", *release_problems]))
    note_use(
        workspace.root,
        recipe.dataset,
        published.folder,
        workspace.steps,
        own_sha256(published.folder),
    )
    say(f"  {published.summary}")
    if since := load_manifest(published.folder).since:
        say(
            f"  as {since.version} published them: {since.reworded:,} rows in its words, and "
            f"{since.kept:,} that the new sources leave in doubt"
        )
    say(f"  verified: {display_path(published.folder)}")
    outcome = judge_outcome(
        published, dataset, recipe.build, options.given.get("news", ()), time.monotonic() - start
    )
    for line in outcome.lines(every_split=is_verbose()):
        say(line)
    return outcome


def _errata(dataset: str, run: Run, corrections: Corrections) -> ReleaseErrata:
    """Return the corrections of a release, with what its facts had of those of statements."""
    facts_folders = [
        run.folder(step) for step in run.workspace.steps.values() if isinstance(step, Facts)
    ]
    counts_by_dump = [
        json.loads((folder / CORRECTED).read_text("utf-8")) for folder in facts_folders
    ]
    for change in run.corrections if counts_by_dump else ():
        if not any(counts[change.entry]["stated"] for counts in counts_by_dump):
            run.workspace.say(
                f"warning: correction {change.entry!r}: no dump here has the statement "
                f"{change.statement}; if Wikidata mended it, withdraw the correction"
            )
    return release_errata(
        corrections,
        dataset,
        [
            {entry: entry_counts["of_relations"] for entry, entry_counts in counts.items()}
            for counts in counts_by_dump
        ],
    )


@dataclass(frozen=True)
class PlannedRelease:
    """What a run of a recipe would make: its steps, whether each is there, and what comes later."""

    dataset: str
    recipe: Path
    steps: tuple[tuple[str, bool], ...]
    later: str

    def lines(self) -> Iterator[str]:
        """Yield a line for the recipe, for each step, and for what follows."""
        yield f"{self.dataset}: {display_path(self.recipe)}"
        for folder_name, is_made in self.steps:
            yield f"  {'there  ' if is_made else 'to make'}  {folder_name}"
        yield f"  {self.later}"

    def data(self) -> dict[str, object]:
        """Return the same as JSON data."""
        step_entries = [
            {"step": folder_name, "made": is_made} for folder_name, is_made in self.steps
        ]
        return {
            "dataset": self.dataset,
            "recipe": self.recipe,
            "steps": step_entries,
            "later": self.later,
        }


def planned_steps(
    recipe_names: Sequence[str | Path], options: ReleaseOptions
) -> Iterator[PlannedRelease]:
    """Yield the steps that a run of each of these recipes would make; make nothing."""
    chosen = chosen_recipes(recipe_names, options)
    options = with_corrections(with_days_found(options, chosen), chosen)
    for recipe_path, recipe in chosen.items():
        workspace = Plan(options.build, options.say)
        later_steps = "release"
        try:
            recipe.build.build(start_run(recipe_path, recipe, workspace, options))
        except NotMadeError as error:
            later_steps = f"what comes after {error} is known when it is made"
        except (MissingExtraError, NoGoldError) as error:
            later_steps = f"left out: {error}"
        steps = [
            (f"{step.name}-{step_key}", workspace.is_made(step))
            for step_key, step in workspace.steps.items()
        ]
        yield PlannedRelease(recipe.dataset, recipe_path, tuple(steps), later_steps)


def start_run(
    recipe_path: Path, recipe: Recipe, workspace: Workspace, options: ReleaseOptions
) -> Run:
    """Find the inputs of a recipe and check them; return the run that builds it."""
    inputs = find_inputs(recipe, recipe_path, options.given, options.snapshot, workspace)
    facts = next(
        (source.snapshot for source in inputs.values() if source.about.kind == "wikidata"), None
    )
    for source in inputs.values():
        if source.about.kind == "pages":
            check_pages(source.files, source.snapshot, facts, workspace.say)
    return Run(
        recipe=recipe_path,
        inputs=RunInputs(inputs, recipe_path),
        templates=options.templates,
        workspace=workspace,
        seed=recipe.seed,
        corrections=(options.corrections or NO_CORRECTIONS).of_statements(),
    )


def rebuild_command(recipe_path: Path, recipe: Recipe, options: ReleaseOptions) -> str:
    """The command that makes the release again, with the names of files and no path to them.

    It holds in a checkout and in an installation: a bundled recipe is named by its name alone.
    """
    command_words = ["factdrift", "release", recipe_name(recipe_path, recipe)]
    for name, paths in options.given.items():
        for input_path in paths:
            input_file = Path(without_credentials(input_path)).name or without_credentials(
                input_path
            )
            command_words += (
                [f"--{name}", input_file] if name in INPUTS else ["--input", f"{name}={input_file}"]
            )
    if options.snapshot:
        command_words += ["--snapshot-date", options.snapshot]
    if not are_ours(options.templates):
        command_words += ["--templates", OWN_TEMPLATES]
    if options.model is not None:
        command_words += model_words(options.model)
    if options.since:
        command_words += ["--since", options.since]
    for name, number in (("limit", options.limit), ("rows", options.rows)):
        if number:
            command_words += [f"--{name}", str(number)]
    return shlex.join(command_words)


def named_model(backend: str, values: Mapping[str, object]) -> "ModelSettings":
    """Return the settings of the model that a command line names; paths are those of the shell.

    Raises `UserError` if the backend is not known, has no such option, or a value is wrong.
    """
    from factdrift.builders.generate.backends import MODEL_POINT  # half a second of most starts

    settings_type = MODEL_POINT.find(backend)
    for name in values:
        if name not in settings_type.model_fields:
            option = f"--{name.replace('_', '-')}"
            raise UserError(f"{option}: the backend {backend!r} has no such option")
    own_values = dict(values)
    if "new_tokens" in settings_type.model_fields:
        own_values.setdefault("new_tokens", _NEW_TOKENS)
    if "chat" in settings_type.model_fields:
        own_values.setdefault("chat", True)
    if "folder" in settings_type.model_fields:
        own_values.setdefault("folder", _BATCH_FOLDER)
    try:
        return settings_type.model_validate({"backend": backend} | own_values)
    except ValidationError as error:
        first_error = error.errors()[0]
        name = str(first_error["loc"][0]) if first_error["loc"] else "model"
        raise UserError(f"--{name.replace('_', '-')}: {first_error['msg']}") from None


def model_words(settings: "ModelSettings") -> list[str]:
    """The options that name a model; a folder goes without the path to it."""
    values = settings.model_dump(mode="json", include=set(MODEL_OPTIONS))
    model_words = ["--backend", settings.backend]
    for name in MODEL_OPTIONS:
        if name in values and name in settings.model_fields_set:
            model_words += [f"--{name.replace('_', '-')}", str(values[name])]
    return model_words


def _meta(recipe_path: Path, recipe: Recipe, run: Run, options: ReleaseOptions) -> Meta:
    """Return what the card, the manifest and Croissant state about a release beside its rows."""
    input_days = [source.snapshot for source in run.inputs.values()]
    input_entries = resource("data_cards/papers.bib").read_text("utf-8").strip().split("\n\n")
    paper_citations = {entry.partition("{")[2].partition(",")[0]: entry for entry in input_entries}
    code_version = [reach(_WRITING), *(step.code() for step in run.workspace.steps.values())]
    libraries = {
        name: version for step_code in code_version for name, version in step_code.libraries.items()
    }
    return Meta(
        dataset=recipe.dataset,
        title=recipe.title,
        summary=recipe.summary,
        builder=recipe.build.builder,
        licence=recipe.licence,
        published=max(input_days),
        prose=prose_of(type(recipe.build), recipe.prose or recipe.build.builder),
        recipe=recipe_path.read_text("utf-8"),
        seed=recipe.seed,
        rebuild=options.rebuild or rebuild_command(recipe_path, recipe, options),
        code_version=factdrift.__version__,
        libraries=dict(sorted(libraries.items())),
        parameters=recipe.build.model_dump(mode="json"),
        templates={} if are_ours(options.templates) else template_texts(options.templates),
        inputs=tuple(
            Input(
                name=source.name,
                file=input_file.name,
                sha256=sha256,
                bytes=input_file.stat().st_size,
                licence=source.about.licence,
                snapshot=source.snapshot,
                homepage=source.about.homepage,
                note=source.about.note,
            )
            for source in run.inputs.values()
            for input_file, sha256 in zip(source.files, source.sha256, strict=True)
        ),
        citations=tuple(paper_citations[step_key] for step_key in recipe.build.citations),
        tasks=recipe.build.tasks,
        tags=recipe.tags,
        homepage=recipe.homepage,
        creators=recipe.creators,
    )
