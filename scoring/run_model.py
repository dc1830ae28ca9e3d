"""Ask a model about the rows of a release, in batches, and write its predictions.

Each answer is cached in the build folder as it comes, so that a killed run continues where it
stopped and a second run asks nothing. Rows are read in windows: memory holds one.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import factdrift
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.progress import Progress, progress
from factdrift.builders.generate.backends import MODEL_POINT, CachedModel
from factdrift.builders.generate.batch_files import BatchChat
from factdrift.builders.generate.prompts import ModelSettings, PromptedModel
from factdrift.builders.generate.protocol import Kind
from factdrift.builders.generate.transformers_models import Transformers
from factdrift.builders.release.manifest import Manifest, load_manifest
from factdrift.builders.release.tasks import answer_gaps
from factdrift.builders.rows.frames import read_frames
from factdrift.builders.rows.roles import ColumnRoles
from factdrift.builders.text.prompts import merge_targets as each_once
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.scoring.local_models import GenerativeModel, MaskedModel
from factdrift.scoring.predictions import Prediction, write_about, write_predictions
from factdrift.scoring.questions import question_configs, unknown_name_error
from factdrift.scoring.sampling import ChosenSplit, Distractors, row_relation, stratified_sample
from factdrift.scoring.views import RowPrompter, View, ViewRow, answer_names

WINDOW = 512
"""Rows in memory at most; also a server's, whose calls run side by side."""
# The most accepted answers, and as many earlier ones, whose likelihood is asked: each costs a
# forward pass. A guess that the samples do not contradict: few rows have more names.
_MAX_SCORED_NAMES = 8
# What helps where asking again does not: the same number of tokens cuts the same answer.
_REMEDIES = {"cut_off": "raise --new-tokens"}


@dataclass(frozen=True, kw_only=True)
class ModelOrder:
    """The options of `factdrift run-model`.

    `configs`, `splits`: all that suit the view where none is named; `limit`: rows of each config,
    drawn by `seed` so that every model gets the same. `prompts`: a file of frames, `bare`, or the
    project's own.
    """

    release: Path
    settings: ModelSettings
    say: Callable[[str], None]
    view: View | None = None
    configs: Sequence[str] = ()
    splits: Sequence[str] = ()
    limit: int | None = None
    prompts: str | None = None
    blank: str | None = None
    distractors: int = 20
    seed: int = 0
    out: Path | None = None
    build: Path = Path("build")
    offline: bool = False


def model_settings(
    backend: str, option_values: Mapping[str, object], given_options: Collection[str] = ()
) -> ModelSettings:
    """Return the settings of a backend, from those of the values that it has fields for.

    `given_options` are the names of the values that a person chose; the others are defaults.
    `UserError`: there is no such backend, it has no field for a given option, or a value is wrong.
    """
    settings = MODEL_POINT.find(backend)
    if settings is BatchChat:
        raise UserError("the backend `batch` is for recipes", hint="take `openai` here")
    own_values = {
        field_name: option_value
        for field_name, option_value in option_values.items()
        if field_name in settings.model_fields
    }
    for option_name in sorted(given_options):
        if option_name not in settings.model_fields:
            taken = ", ".join(
                f"--{name.replace('_', '-')}" for name in own_values if name != "stop"
            )
            raise UserError(
                f"--{option_name.replace('_', '-')}: the backend `{backend}` has no such option",
                hint=f"it takes {taken}",
            )
    if "model" not in own_values and settings.model_fields["model"].is_required():
        raise UserError(f"--model: the backend `{backend}` needs one")
    try:
        return settings.model_validate({"backend": backend} | own_values)
    except ValidationError as error:
        first_error = error.errors()[0]
        option_name = (
            str(first_error["loc"][0]).replace("_", "-") if first_error["loc"] else "options"
        )
        raise UserError(f"--{option_name}: {first_error['msg']}") from None


def run_model(order: ModelOrder) -> Path:
    """Ask the model and write the predictions; their file.

    `UserError` before any work: PyTorch, the model, a config, or a view that does not suit them.
    """
    kind = order.settings.kind()
    model_view = order.view or ("mask" if kind == "masked" else "generate")
    _check(model_view, kind, order.settings)
    manifest = load_manifest(order.release)
    chosen_splits = _chosen(manifest, order, model_view)
    prompter = RowPrompter(
        view=model_view,
        frames=read_frames(order.prompts, manifest.examples, answer_gaps(manifest)),
        gaps=answer_gaps(manifest),
        blank=order.blank,
        characters=order.settings.characters,
        masked=kind == "masked",
        writes=order.settings.only_writes,
    )
    answer_folder = order.build / "work" / "predictions"
    model = CachedModel(
        _model(order, model_view, kind), answer_folder, offline=order.offline, texts_only=True
    )
    predictions_file = order.out or _path(manifest, order, model_view)
    predictions_file.parent.mkdir(parents=True, exist_ok=True)
    model_run = _Run(order, prompter, model, chosen_splits)
    # a view that does not suit is told before weights are loaded
    first_rows = {
        chosen_split.config: first_row
        for chosen_split in chosen_splits
        for first_row in islice(model_run.rows(chosen_split), 1)
    }
    if not first_rows:
        raise UserError("no row has answers to choose among", where=display_path(order.release))
    for first_row in first_rows.values():
        prompter.question(first_row)
    model_run.left_out = 0
    with progress(model_run.total(), "rows", predictions_file.name, model_run.cost) as bar:
        prediction_count = write_predictions(predictions_file, model_run.predictions(bar))
    _say_beside(predictions_file, manifest, order, prompter, kind, prediction_count)
    order.say(
        f"{prediction_count:,} predictions in {display_path(predictions_file)}: "
        f"{model.hits:,} kept before; {model_run.cost()}"
    )
    for reason, answer_count in model_run.useless.most_common():
        remedy = _REMEDIES.get(reason, "run it again to ask them again")
        order.say(f"  {answer_count:,} without a usable answer ({reason}): {remedy}")
    if model_run.left_out:
        order.say(f"  {model_run.left_out:,} rows with nothing to choose among are left out")
    if model.usage.cut:
        order.say(f"  {model.usage.cut:,} texts were longer than the model reads and were cut")
    return predictions_file


class _Run:
    """One run: rows in, predictions out."""

    def __init__(
        self,
        order: ModelOrder,
        asking: RowPrompter,
        model: CachedModel,
        chosen_splits: Sequence[ChosenSplit],
    ) -> None:
        self.order, self.asking, self.model, self.chosen = order, asking, model, chosen_splits
        self.useless: Counter[str] = Counter()
        self.left_out = 0
        self._wanted = (
            stratified_sample(order.release, chosen_splits, order.limit, order.seed)
            if order.limit
            else None
        )
        self._distractors = (
            Distractors(order.release, chosen_splits, order.seed)
            if asking.view == "likelihood"
            else None
        )

    def cost(self) -> str:
        """Return a line with the calls and tokens of this run."""
        model_usage = self.model.usage
        token_text = (
            f"{model_usage.tokens_read:,} tokens read, {model_usage.tokens_written:,} written"
        )
        return f"{model_usage.calls:,} calls, {token_text}"

    def total(self) -> int:
        """Return the number of rows that are asked."""
        if self._wanted is not None:
            return sum(map(len, self._wanted.values()))
        return sum(chosen_split.split.rows for chosen_split in self.chosen)

    def predictions(self, bar: Progress) -> Iterator[Prediction]:
        """A prediction for each row, in the order of the release.

        Of the prompts of a window those of one length are asked together; a run that goes on after
        a kill forms the same batches.
        """
        row_flow = (row for chosen_split in self.chosen for row in self.rows(chosen_split))
        self.model.on_answer = lambda: bar.advance(1)
        while row_window := list(islice(row_flow, WINDOW)):
            model_questions = [self.asking.question(row) for row in row_window]
            prompt_texts = [self.asking.prompt(question) for question in model_questions]
            distinct_prompts, misses_before = (
                sorted({*prompt_texts}, key=lambda answer_text: (len(answer_text), answer_text)),
                self.model.misses,
            )
            answer_by_prompt = dict(
                zip(distinct_prompts, self.model.complete(distinct_prompts), strict=True)
            )
            bar.advance(len(row_window) - (self.model.misses - misses_before))
            for row, question, prompt_text in zip(
                row_window, model_questions, prompt_texts, strict=True
            ):
                result = answer_by_prompt[prompt_text]
                if result.text is None:
                    self.useless[result.reason or "empty"] += 1
                yield self.asking.prediction(row, question, result.text)

    def rows(self, chosen_split: ChosenSplit) -> Iterator[ViewRow]:
        """The rows of one split that are asked."""
        wanted_ids = None if self._wanted is None else self._wanted[chosen_split.config]
        roles = chosen_split.columns
        row_columns = [
            roles.prompt,
            roles.targets,
            roles.context,
            roles.choices,
            chosen_split.relation,
        ]
        if self._distractors:
            row_columns += [roles.answers, roles.previous, roles.neutral]
        for row in chosen_split.rows(
            self.order.release, ["id", *filter(None, row_columns)], WINDOW
        ):
            if wanted_ids is not None and row["id"] not in wanted_ids:
                continue
            candidates = self._candidates(row, chosen_split)
            # Of a config that has choices some rows may have none: their own table has too few.
            lacks_choices = (
                self.asking.view == "choices" and roles.choices and not row[roles.choices]
            )
            if lacks_choices or (self._distractors and len(candidates) < 2):
                self.left_out += 1
            else:
                yield ViewRow(
                    id=row["id"],
                    config=chosen_split.config,
                    split=chosen_split.split.name,
                    prompt=row[roles.prompt],
                    context=row[roles.context] if roles.context else "",
                    candidates=candidates,
                    choices=tuple(row[roles.choices]) if roles.choices else (),
                    relation=row_relation(row, chosen_split),
                )

    def _candidates(self, row: Mapping[str, Any], chosen_split: ChosenSplit) -> tuple[str, ...]:
        """Accepted answers, those of before, and distractors; none where no answer is accepted."""
        targets = row[chosen_split.columns.targets]
        if self._distractors is None or not targets:
            return ()
        accepted_names = {normalize_or_keep(answer_text) for answer_text in targets}
        best_names = [
            answer_text
            for answer_text in answer_names(row[chosen_split.columns.answers])
            if normalize_or_keep(answer_text) in accepted_names
        ]
        previous_names, neutral_names = (
            answer_names(row[answer_column]) if answer_column else []
            for answer_column in (chosen_split.columns.previous, chosen_split.columns.neutral)
        )
        right_answers = [
            *(best_names or targets)[:_MAX_SCORED_NAMES],
            *previous_names[:_MAX_SCORED_NAMES],
        ]
        right_answers = [
            answer_text
            for answer_text in right_answers
            if normalize_or_keep(answer_text) in accepted_names or answer_text not in neutral_names
        ]
        excluded_names, distractor_count = (
            [*targets, *previous_names, *neutral_names],
            self.order.distractors,
        )
        wrong_answers = self._distractors.of(
            row["id"], row_relation(row, chosen_split), excluded_names, distractor_count
        )
        return each_once(right_answers, wrong_answers)


def _check(model_view: View, kind: Kind, settings: ModelSettings) -> None:
    """`UserError` where a view is nothing for this model."""
    model_views: tuple[View, ...] = ("generate", "likelihood", "choices")
    if kind == "masked":
        model_views = ("mask", "rank", "likelihood", "choices")
    elif settings.only_writes:
        model_views = ("generate", "choices")
    if model_view not in model_views:
        model = f"the backend {settings.backend!r}" if settings.only_writes else f"a {kind} model"
        model_text = "a server" if settings.backend == "openai" else model
        raise UserError(
            f"{model_text} has no view {model_view!r}",
            hint=f"its views are {', '.join(model_views)}",
        )


def _chosen(manifest: Manifest, order: ModelOrder, view: View) -> list[ChosenSplit]:
    """Return the splits that are asked.

    Raises `UserError` if no config suits the view, or if there is no such split.
    """
    configs = question_configs(manifest, order.release, order.configs or None)
    suited_configs = [
        (config, roles)
        for config, roles in configs
        if order.configs or _suits_view(roles, view)  # what the user names is asked in any view
    ]
    if not suited_configs:
        other_view = "choices" if any(roles.choices for _, roles in configs) else "generate"
        hint_text = f"its configs suit the view {other_view!r}"
        raise UserError(
            f"no config for the view {view!r}", where=display_path(order.release), hint=hint_text
        )
    chosen_splits = []
    split_names = set()
    for config, roles in suited_configs:
        for split in config.splits:
            split_names.add(split.name)
            if split.rows and (not order.splits or split.name in order.splits):
                chosen_splits.append(ChosenSplit(config.name, roles, split))
    for split_name in order.splits:
        if split_name not in split_names:
            known_names = sorted(split_names)
            raise unknown_name_error(
                f"no split {split_name!r}", split_name, known_names, order.release
            )
    return chosen_splits


def _suits_view(roles: ColumnRoles, view: View) -> bool:
    """Whether a view asks a config unless told otherwise: choices where it has some."""
    if roles.free and view == "generate":
        return True
    return (roles.choices is not None) == (view == "choices")


def _model(order: ModelOrder, model_view: View, kind: Kind) -> PromptedModel:
    settings = order.settings
    if settings.only_writes or model_view == "generate":
        return settings.open(order.seed)
    if not isinstance(settings, Transformers):
        raise TypeError(f"{type(settings).__name__}: only subclasses of Transformers give numbers")
    return (MaskedModel if kind == "masked" else GenerativeModel)(
        settings, model_view, kind, order.blank
    )


def _path(manifest: Manifest, order: ModelOrder, model_view: View) -> Path:
    """Return the path of the predictions.

    Its stem has no dot, because the description beside it has the same stem.
    """
    release_name = f"{manifest.dataset}-{manifest.version}"
    model = Path(order.settings.model).name
    file_name = "".join(
        character if character.isalnum() or character in "-_" else "-"
        for character in f"{release_name}-{model}-{model_view}"
    )
    return Path("predictions") / f"{file_name}.jsonl"


def _say_beside(
    predictions_file: Path,
    manifest: Manifest,
    order: ModelOrder,
    prompter: RowPrompter,
    kind: Kind,
    prediction_count: int,
) -> None:
    """Write the file that says what the predictions are of; no path and no key is in it."""
    settings = order.settings.model_dump(mode="json", exclude={"prompts", "key_variable", "model"})
    model = order.settings.model
    how_asked = {"frames": prompter.frames.identity, "distractors": order.distractors}
    how_asked |= {"blank": order.blank}
    description = {
        "model": Path(model).name if Path(model).exists() else model,
        "dataset": manifest.dataset,
        "version": manifest.version,
        "view": prompter.view,
        "kind": kind,
        "settings": settings,
        "asked": how_asked,
        **{
            field_name: getattr(order, field_name)
            for field_name in ("configs", "splits", "limit", "seed")
        },
        "rows": prediction_count,
        "code_version": factdrift.__version__,
    }
    write_about(predictions_file, description)
