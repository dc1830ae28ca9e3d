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
from typing import Annotated, Any, NamedTuple

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

    `forgotten[m]` has the scores of LM_m on each T_i^F that it is asked, by i.
    """

    forgotten: Sequence[Mapping[int, float]]
    updated: Sequence[float]
    new: Sequence[float]

    @property
    def fuar(self) -> Fuar:
        return fuar(self.forgotten, self.updated, self.new)

    def as_data(self) -> dict[str, Any]:
        """What `--json` prints: `ratio` is null where nothing was gained."""
        models = [
            {"forgotten": dict(forgotten), "updated": updated, "new": new}
            for forgotten, updated, new in zip(self.forgotten, self.updated, self.new, strict=True)
        ]
        return {"models": models, "fuar": {**self.fuar._asdict(), "ratio": self.fuar.ratio}}

    def lines(self) -> Iterator[str]:
        """Yield a line for each model, and one for FUAR."""
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

    `UserError`: no such folder, no scores, none of the metric; scores of one task that are of
    several releases.
    """
    series = load(series_file, Series)
    release_by_task: dict[str, str] = {}

    def score(task_name: str, scores_folder: str) -> float:
        model_scores = Scores.read(series_file.parent / scores_folder)
        release_name = f"{model_scores.summary['dataset']} {model_scores.summary['version']}"
        if release_by_task.setdefault(task_name, release_name) != release_name:
            other_release = release_by_task[task_name]
            message_text = (
                f"scores of {release_name}, and those of other models are of {other_release}"
            )
            raise UserError(
                message_text,
                where=display_path(model_scores.folder),
                hint="score all on the same release",
            )
        metric_mean = model_scores.means("all", series.metric, model_scores.whole).get("all")
        if metric_mean is None:
            raise UserError(
                f"no {series.metric!r} in these scores", where=display_path(model_scores.folder)
            )
        return 100 * metric_mean.mean

    forgotten_scores = [
        {
            task_number: score(f"T{task_number}", scores_folder)
            for task_number, scores_folder in scored_model.forgotten.items()
        }
        for scored_model in series.models
    ]
    updated_scores = [score("updated", scored_model.updated) for scored_model in series.models]
    new_scores = [score("new", scored_model.new) for scored_model in series.models]
    return SeriesScores(forgotten_scores, updated_scores, new_scores)
