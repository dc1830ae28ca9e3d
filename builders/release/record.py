"""`factdrift record`: a recipe's road up to the next prompts without a recorded answer."""

import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from factdrift.builders.core.config import display_path, replace_models
from factdrift.builders.core.engine import ready
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.steps import Workspace
from factdrift.builders.generate.recorded import Recorded, Recording
from factdrift.builders.generate.recording import (
    REQUESTS,
    AnswersMissingError,
    RecordingDesk,
    read_answers,
    while_recording,
    write_texts,
)
from factdrift.builders.recipes.recipe import Recipe, recipe_name
from factdrift.builders.release.release import (
    ReleaseOptions,
    chosen_recipes,
    start_run,
    with_corrections,
    with_days_found,
)

_EXAMPLES = 3
"""Ids that a message names: enough to look them up, few enough for a line."""
TEXTS = "prompts"
"""The folder of the prompts as texts, beside the file of requests."""


@dataclass(frozen=True)
class RecordOptions:
    """How answers are recorded.

    `folder`: for requests and answers; `texts`: whether the prompts are written as texts, too;
    `day`: the day of the answers, by default today; `prune`: whether answers that no prompt of
    these recipes asks for are removed at the end.
    """

    folder: Path
    texts: bool = False
    day: date | None = None
    prune: bool = False


def record(
    recipe_names: Sequence[str], record_options: RecordOptions, options: ReleaseOptions
) -> Path:
    """Take the answers of the folder into the recording, and write the requests still open.

    Returns the file that the user needs next: the requests, or the recording where every prompt is
    answered. The recipes have to share one file of
    recordings. `UserError` where an answer is none, or where a recipe has no recorded model.
    """
    chosen = chosen_recipes(recipe_names, options)
    options = with_corrections(with_days_found(options, chosen), chosen)
    path = _recordings_of(chosen)
    recording = _start(path, chosen, record_options)
    desk = RecordingDesk(record_options.folder, recording)
    taken_count = take_answers(desk, options.say)
    if taken_count:
        recording.day = record_options.day or datetime.now(UTC).date()
        recording.write(path)
    workspace = Workspace(options.build, options.say, options.engine, options.jobs, options.memory)
    with workspace.lock():
        ready(options.engine, options.build / "scratch")
        unasked_datasets: list[str] = []
        for recipe_path, recipe in chosen.items():
            answers_before = desk.answer_count
            _follow(recipe_path, recipe, desk, replace(workspace, steps={}), options)
            if desk.answer_count == answers_before:
                unasked_datasets.append(recipe.dataset)
    desk.close()
    if record_options.prune and not desk.requests and not options.limit:
        prune(desk, unasked_datasets, options.say)
    recording.write(path)
    next_command = shlex.join(["factdrift", "release", *recipe_names])
    _report(desk, path, record_options, next_command, options.say)
    return record_options.folder / REQUESTS if desk.requests else path


def prune(desk: RecordingDesk, unasked_datasets: Sequence[str], say: Callable[[str], None]) -> None:
    """Remove the recorded answers that no prompt of this round asked for.

    `UserError` if some datasets asked nothing, as their questions are made already: what they use
    would seem to be unused.
    """
    if unasked_datasets:
        names = ", ".join(unasked_datasets)
        hint_text = "give another --build, or take its folder `questions-…` away"
        raise UserError(f"no prompt of {names} was asked: its questions exist", hint=hint_text)
    unused = desk.recording.answers.keys() - desk.used
    for name in unused:
        del desk.recording.answers[name]
    say(f"  {len(unused):,} answers that no prompt asks for are removed")


def _recordings_of(chosen: dict[Path, Recipe]) -> Path:
    """The one file of recordings that the recipes name."""
    paths: dict[Path, None] = {}
    for recipe_path, recipe in chosen.items():
        models = _recorded_models(recipe)
        if not models:
            error_text = "no model of this recipe is `recorded`"
            hint_text = "write `backend: recorded` with `model` and `recordings` in its place"
            raise UserError(error_text, where=display_path(recipe_path), hint=hint_text)
        paths |= {settings.recordings: None for settings in models}
    if len(paths) > 1:
        names = ", ".join(display_path(path) for path in paths)
        raise UserError(f"several files of recordings: {names}", hint="record one after the other")
    return next(iter(paths))


def _recorded_models(recipe: Recipe) -> list[Recorded]:
    models: list[Recorded] = []

    def note(settings: Recorded) -> Recorded:
        models.append(settings)
        return settings

    replace_models(recipe.build, Recorded, note)
    return models


def _start(path: Path, chosen: dict[Path, Recipe], record_options: RecordOptions) -> Recording:
    """Return the recording so far, or a new one; `UserError` where it is another model's."""
    model_names = {model.model for recipe in chosen.values() for model in _recorded_models(recipe)}
    if len(model_names) > 1:
        raise UserError(f"one recording is of one model, not of {', '.join(sorted(model_names))}")
    (model_name,) = model_names
    day = record_options.day or datetime.now(UTC).date()
    recording = Recording.read(path) if path.is_file() else Recording(model_name, day)
    if recording.model != model_name:
        error_text = f"these are answers of {recording.model}, the recipe names {model_name}"
        hint_text = "answers of another model go into another file: `recordings` in the recipe"
        raise UserError(error_text, where=display_path(path), hint=hint_text)
    names = {recipe_name(recipe_path, recipe) for recipe_path, recipe in chosen.items()}
    recording.recipes = sorted({*recording.recipes, *names})
    return recording


def take_answers(desk: RecordingDesk, say: Callable[[str], None]) -> int:
    """Take the folder's answers into the recording; return how many are new or changed."""
    answer_files = read_answers(desk.folder)
    answers = desk.recording.answers
    unknown = [name for name in answer_files.unknown if name not in answers]
    for name in unknown:
        del answer_files.answers[name]
    if unknown:
        say(f"  {len(unknown):,} answers have the id of no request: {_examples(unknown)}")
    new = [name for name, text in answer_files.answers.items() if answers.get(name) != text]
    changed_count = sum(name in answers for name in new)
    answers.update(answer_files.answers)
    if new:
        changed_text = f", {changed_count:,} of them instead of others" if changed_count else ""
        say(f"  {len(new):,} answers taken{changed_text}")
    return len(new)


def _examples(names: Sequence[str]) -> str:
    return ", ".join(names[:_EXAMPLES]) + ", …" * (len(names) > _EXAMPLES)


def _follow(
    recipe_path: Path,
    recipe: Recipe,
    desk: RecordingDesk,
    workspace: Workspace,
    options: ReleaseOptions,
) -> None:
    """Build a recipe up to the first prompts that have no answer, which the desk writes."""
    options.say(f"{recipe.dataset}: {display_path(recipe_path)}")
    build = replace_models(recipe.build, Recorded, lambda model: while_recording(model, desk))
    run = start_run(recipe_path, recipe, workspace, options)
    try:
        build.build(run)
    except AnswersMissingError:
        return  # the report says it


def _report(
    desk: RecordingDesk,
    path: Path,
    record_options: RecordOptions,
    next_command: str,
    say: Callable[[str], None],
) -> None:
    if desk.useless:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in desk.useless.most_common())
        say(f"  of no use are {reasons}: {_examples(desk.useless_ids)}")
    texts_folder = record_options.folder / TEXTS
    shutil.rmtree(texts_folder, ignore_errors=True)
    say(f"  {len(desk.recording.answers):,} answers in {display_path(path)}")
    if not desk.requests:
        say(f"  every prompt has its answer; next: {next_command}")
        return
    requests_path = record_options.folder / REQUESTS
    say(f"  {len(desk.requests):,} prompts wait for their answers: {display_path(requests_path)}")
    if record_options.texts:
        article_count = write_texts(requests_path, texts_folder)
        say(f"  the same to read, by article: {article_count:,} in {display_path(texts_folder)}")
    folder_text = display_path(record_options.folder)
    say(f'  put the answers ({{"id": "…", "text": "…"}}, a line each, *.jsonl) into {folder_text}')
    say("  and run the same command again")
