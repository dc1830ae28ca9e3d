"""FUAR over a series of models: what they forgot over what they gained (Jang et al. 2022).

A file names folders of scores, relative to itself, of each model in the order of its training;
`EXAMPLE` is one. `forgotten` is of the tasks T_i^F by i, so far as they are defined; `updated` and
`new` are of T_n^U and T_n^A, the same for all.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from factdrift.builders.core.config import Strict, display_path, load
from factdrift.builders.core.errors import UserError
from factdrift.scoring.score import Scores

EXAMPLE = """\
# What a series of models forgot over what it gained. Edit it, then: factdrift fuar series.yaml
# Folders are those that factdrift score wrote, relative to this file.
metric: exact_match    # or another one of the scores: f1, accuracy, …
models:                # LM_0 … LM_n in the order of their training; two or more
  # before: asked what it should keep, and what it does not know yet
  - forgotten: {0: scores/invariant-lama/before}  # {i: scores on T_i^F}: what was known after D_i;
                                                  # of two models, 0 alone
    updated: scores/dynamic-templama/before       # scores on T_n^U: the config `updated` of these
    new: scores/dynamic-templama/before           # scores on T_n^A: the config `new`
  # after; another config or split is named so:
  - forgotten: {0: scores/invariant-lama/after}
    updated: {scores: scores/dynamic-templama/after, config: updated}
    new: {scores: scores/dynamic-templama/after, config: new}
"""
"""A file of a series, which `factdrift fuar --example` prints."""
_CONFIGS: Mapping[str, str] = {"forgotten": "unchanged"}
"""Task -> the config that is meant where scores have several; others have that of their name."""


class Fuar(NamedTuple):
    """FUAR with its two sums; `ratio` is None where nothing was gained ("no gain")."""

    forgotten: float
    gained: float

    @property
    def ratio(self) -> float | None:
        return self.forgotten / self.gained if self.gained > 0 else None


class ScoredTask(Strict):
    """A folder of scores, and which config and split of it a task is."""

    scores: str
    config: str | None = None
    split: str | None = None


def _by_keyword(task: object) -> object:
    """A folder by itself, in the place of `{scores: FOLDER}`."""
    return {"scores": task} if isinstance(task, str) else task


def _by_number(tasks: object) -> object:
    """One task by itself, in the place of `{0: TASK}`."""
    is_single = isinstance(tasks, str) or (isinstance(tasks, Mapping) and "scores" in tasks)
    return {0: tasks} if is_single else tasks


Task = Annotated[ScoredTask, BeforeValidator(_by_keyword)]


class ScoredModel(Strict):
    """The scores of one model."""

    forgotten: Annotated[Mapping[int, Task], BeforeValidator(_by_number)]
    updated: Task
    new: Task


class Series(Strict):
    """The models LM_0 … LM_n of a series."""

    metric: str = "exact_match"
    models: Annotated[tuple[ScoredModel, ...], Field(min_length=2)]


def fuar(
    forgotten_scores: Sequence[Mapping[int, float]],
    updated_scores: Sequence[float],
    new_scores: Sequence[float],
) -> Fuar:
    """Forgotten over updated and acquired, of models LM_0 … LM_n trained on D_0 … D_n in turn.

    `forgotten[m]`: the score of LM_m on each task T_i^F that is defined, i -> score; `updated[m]`
    and `new[m]`: its scores on T_n^U and T_n^A. Scores in any one unit (equation 1).
    """
    last_model = len(updated_scores) - 1
    forgotten_sum = gained_sum = 0.0
    for task_number in range(last_model):
        if (
            task_number not in forgotten_scores[task_number]
            or task_number not in forgotten_scores[last_model]
        ):
            continue
        forgotten_sum += max(
            0.0,
            forgotten_scores[task_number][task_number] - forgotten_scores[last_model][task_number],
        )
        gained_sum += max(0.0, updated_scores[last_model] - updated_scores[task_number]) + max(
            0.0, new_scores[last_model] - new_scores[task_number]
        )
    return Fuar(forgotten_sum, gained_sum)


class SeriesScores(NamedTuple):
    """Scores of the models of a series, in per cent, and FUAR of the last one.

    `forgotten[m]` has the scores of LM_m on each T_i^F that it is asked, by i. `tasks` says of each
    task by its heading what it is: release, config, split.
    """

    forgotten: Sequence[Mapping[int, float]]
    updated: Sequence[float]
    new: Sequence[float]
    tasks: Mapping[str, str]

    @property
    def fuar(self) -> Fuar:
        return fuar(self.forgotten, self.updated, self.new)

    def as_data(self) -> dict[str, Any]:
        """What `--json` prints: `ratio` is null where nothing was gained."""
        models = [
            {"forgotten": dict(forgotten), "updated": updated, "new": new}
            for forgotten, updated, new in zip(self.forgotten, self.updated, self.new, strict=True)
        ]
        fuar_data = {**self.fuar._asdict(), "ratio": self.fuar.ratio}
        return {"tasks": dict(self.tasks), "models": models, "fuar": fuar_data}

    def lines(self) -> Iterator[str]:
        """Yield what the tasks are, a line for each model, and one for FUAR."""
        for heading, task_text in self.tasks.items():
            yield f"{heading}: {task_text}"
        task_numbers = sorted({number for scores in self.forgotten for number in scores})
        headings = [*(f"T{number}F" for number in task_numbers), "TnU", "TnA"]
        yield "".join([f"{'model':<8}", *(f"{heading:>9}" for heading in headings)])
        for model_number, task_scores in enumerate(self.forgotten):
            cell_texts = [
                f"{task_scores[number]:.2f}" if number in task_scores else "-"
                for number in task_numbers
            ]
            cell_texts += [f"{self.updated[model_number]:.2f}", f"{self.new[model_number]:.2f}"]
            yield "".join([f"LM_{model_number:<5}", *(f"{text:>9}" for text in cell_texts)])
        series_fuar = self.fuar
        ratio_text = "no gain" if series_fuar.ratio is None else f"{series_fuar.ratio:.2f}"
        sums_text = f"{series_fuar.forgotten:.2f} forgotten, {series_fuar.gained:.2f} gained"
        yield f"FUAR {ratio_text}: {sums_text}"


def series_scores(series_file: Path) -> SeriesScores:
    """Read the scores that a file of a series names.

    `UserError`: the file has another form; no such folder, no scores, none of the metric; scores
    of several configs, of which none is named; scores of one task that are of several releases.
    """
    try:
        series = load(series_file, Series)
    except UserError as error:
        raise UserError(str(error), hint="factdrift fuar --example prints such a file") from error
    reader = _SeriesReader(series_file, series.metric)
    forgotten_scores = [
        {
            task_number: reader.score(f"T{task_number}F", "forgotten", task)
            for task_number, task in scored_model.forgotten.items()
        }
        for scored_model in series.models
    ]
    updated_scores = [reader.score("TnU", "updated", model.updated) for model in series.models]
    new_scores = [reader.score("TnA", "new", model.new) for model in series.models]
    tasks = dict(sorted(reader.tasks.items()))
    return SeriesScores(forgotten_scores, updated_scores, new_scores, tasks)


class _SeriesReader:
    """Reads scores of tasks, and sees to it that a task is the same for all models.

    `tasks`: the heading of each task that was read -> its release, config and split.
    """

    def __init__(self, series_file: Path, metric: str) -> None:
        self._series_file, self._metric = series_file, metric
        self.tasks: dict[str, str] = {}
        self._releases: dict[str, tuple[str, str, str]] = {}

    def score(self, heading: str, task_name: str, task: ScoredTask) -> float:
        """The score of a model on a task, in per cent; `UserError` as `series_scores` says."""
        model_scores = self._read(task)
        where = display_path(model_scores.folder)
        means = {
            (mean.config, mean.split): mean.mean
            for mean in model_scores.table
            if (mean.stratum, mean.value, mean.metric) == ("all", "all", self._metric)
            and not model_scores.is_solved(mean.config)
        }
        if not means:
            metrics = sorted({mean.metric for mean in model_scores.table})
            raise UserError(
                f"no {self._metric!r} in these scores",
                where=where,
                hint=f"`metric:` is one of {', '.join(metrics)}",
            )
        place = _place(task_name, task, list(means))
        if place not in means:
            raise _unclear_task(heading, task_name, task, list(means), where)
        names = [name for name in place if name not in (None, "all")]
        release = f"{model_scores.summary['dataset']} {model_scores.summary['version']}"
        task_text = ", ".join([release, *map(str, names)])
        if self.tasks.setdefault(heading, task_text) != task_text:
            other_text = self.tasks[heading]
            raise UserError(
                f"{heading}: scores of {task_text}, and those of other models are of {other_text}",
                where=where,
                hint="score all on the same rows",
            )
        if self._releases.setdefault(heading, model_scores.release) != model_scores.release:
            raise UserError(
                f"{heading}: scores of {task_text}, and those of other models are of other rows "
                "under the same name and version",
                where=where,
                hint="score all against the same folder of a release",
            )
        return 100 * means[place]

    def _read(self, task: ScoredTask) -> Scores:
        folder = self._series_file.parent / task.scores
        if not folder.is_dir():
            raise UserError(
                "there is no such folder of scores",
                where=display_path(folder),
                hint=f"folders are those of factdrift score, relative to {self._series_file.name}",
            )
        return Scores.read(folder)


_Place = tuple[str | None, str | None]
"""A config and a split; None is all together."""


def _place(task_name: str, task: ScoredTask, places: Sequence[_Place]) -> _Place | None:
    """The config and split of a task: those that are named, else those of its own name.

    Scores of one config are that, or its split of the task's name. None: it is not clear, because
    there are several configs and none is meant; those of all together would tell of another task.
    """
    config_names = {config_name for config_name, _ in places}
    own_name = _CONFIGS.get(task_name, task_name)
    if task.config is not None or task.split is not None:
        only_config = next(iter(config_names)) if len(config_names) == 1 else None
        return task.config or only_config, task.split
    if own_name in config_names:
        return own_name, None
    if len(config_names) > 1:
        return None
    (only_config,) = config_names
    return (only_config, own_name) if (only_config, own_name) in places else (only_config, None)


def _unclear_task(
    heading: str, task_name: str, task: ScoredTask, places: Sequence[_Place], where: str
) -> UserError:
    """The error about scores in which a task is not named, or is not."""
    configs = ", ".join(sorted({config for config, _ in places if config}))
    splits = sorted({split for config, split in places if split and config == task.config})
    splits_text = f"; the splits of {task.config} are {', '.join(splits)}" if splits else ""
    is_named = task.config is not None or task.split is not None
    asked_text = " ".join(filter(None, (task.config, task.split)))
    message = (
        f"{heading}: no {asked_text!r} in these scores"
        if is_named
        else f"{heading}: these are scores of several configs, and none is named {task_name!r}"
    )
    hint_text = f"say which: {task_name}: {{scores: …, config: …}}; the configs are {configs}"
    return UserError(message, where=where, hint=hint_text + splits_text)
