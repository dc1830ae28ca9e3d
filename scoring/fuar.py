"""FUAR over a series of models: what they forgot over what they gained (Jang et al. 2022).

A file names folders of scores, relative to itself, of each model in the order of its training:

    metric: exact_match
    models:
      - {forgotten: {0: t5/invariant}, updated: t5/updated, new: t5/new}
      - {forgotten: {0: vanilla/invariant}, updated: vanilla/updated, new: vanilla/new}

`forgotten` is of the tasks T_i^F by i, so far as they are defined; `updated` and `new` are of
T_n^U and T_n^A, the same for all.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from factdrift.builders.core.config import Strict, display_path, load
from factdrift.builders.core.errors import UserError
from factdrift.scoring.score import Scores


class Fuar(NamedTuple):
    """FUAR with its two sums; `ratio` is None where nothing was gained ("no gain")."""

    forgotten: float
    gained: float

    @property
    def ratio(self) -> float | None:
        return self.forgotten / self.gained if self.gained > 0 else None


class ScoredModel(Strict):
    """The folders of scores of one model."""

    forgotten: Mapping[int, str]
    updated: str
    new: str


class Series(Strict):
    """The models LM_0 … LM_n of a series."""

    metric: str = "exact_match"
    models: Annotated[tuple[ScoredModel, ...], Field(min_length=2)]


def fuar(
    forgotten: Sequence[Mapping[int, float]],
    updated: Sequence[float],
    new: Sequence[float],
) -> Fuar:
    """Forgotten over updated and acquired, of models LM_0 … LM_n trained on D_0 … D_n in turn.

    `forgotten[m]`: the score of LM_m on each task T_i^F that is defined, i -> score; `updated[m]`
    and `new[m]`: its scores on T_n^U and T_n^A. Scores in any one unit (equation 1).
    """
    last_model = len(updated) - 1
    lost = gained = 0.0
    for task_number in range(last_model):
        if task_number not in forgotten[task_number] or task_number not in forgotten[last_model]:
            continue
        lost += max(0.0, forgotten[task_number][task_number] - forgotten[last_model][task_number])
        gained += max(0.0, updated[last_model] - updated[task_number]) + max(
            0.0, new[last_model] - new[task_number]
        )
    return Fuar(lost, gained)


def fuar_lines(file: Path) -> Iterator[str]:
    """A line a model with its scores, in per cent, and FUAR of the last one.

    `UserError`: no such folder, no scores, none of the metric; scores of one task that are of
    several releases.
    """
    series = load(file, Series)
    releases: dict[str, str] = {}

    def score(task: str, folder: str) -> float:
        model = Scores.read(file.parent / folder)
        release = f"{model.summary['dataset']} {model.summary['version']}"
        if releases.setdefault(task, release) != release:
            text = f"scores of {release}, and those of other models are of {releases[task]}"
            raise UserError(
                text, where=display_path(model.folder), hint="score all on the same release"
            )
        mean = model.means("all", series.metric, model.whole).get("all")
        if mean is None:
            raise UserError(
                f"no {series.metric!r} in these scores", where=display_path(model.folder)
            )
        return 100 * mean.mean

    forgotten = [
        {
            task_number: score(f"T{task_number}", folder)
            for task_number, folder in scored_model.forgotten.items()
        }
        for scored_model in series.models
    ]
    updated = [score("updated", scored_model.updated) for scored_model in series.models]
    new = [score("new", scored_model.new) for scored_model in series.models]
    tasks = sorted({task_number for task_scores in forgotten for task_number in task_scores})
    yield "".join(
        [
            f"{'model':<8}",
            *(f"{f'T{task_number}F':>9}" for task_number in tasks),
            f"{'TnU':>9}{'TnA':>9}",
        ]
    )
    for model_number, task_scores in enumerate(forgotten):
        cells = [
            f"{task_scores[task_number]:.2f}" if task_number in task_scores else "-"
            for task_number in tasks
        ]
        cells += [f"{updated[model_number]:.2f}", f"{new[model_number]:.2f}"]
        yield "".join([f"LM_{model_number:<5}", *(f"{cell:>9}" for cell in cells)])
    result = fuar(forgotten, updated, new)
    ratio = "no gain" if result.ratio is None else f"{result.ratio:.2f}"
    yield f"FUAR {ratio}: {result.forgotten:.2f} forgotten, {result.gained:.2f} gained"
