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
    last = len(updated) - 1
    lost = gained = 0.0
    for i in range(last):
        if i not in forgotten[i] or i not in forgotten[last]:
            continue
        lost += max(0.0, forgotten[i][i] - forgotten[last][i])
        gained += max(0.0, updated[last] - updated[i]) + max(0.0, new[last] - new[i])
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

    forgotten = [{i: score(f"T{i}", f) for i, f in m.forgotten.items()} for m in series.models]
    updated = [score("updated", m.updated) for m in series.models]
    new = [score("new", m.new) for m in series.models]
    tasks = sorted({i for one in forgotten for i in one})
    yield "".join([f"{'model':<8}", *(f"{f'T{i}F':>9}" for i in tasks), f"{'TnU':>9}{'TnA':>9}"])
    for n, one in enumerate(forgotten):
        cells = [f"{one[i]:.2f}" if i in one else "-" for i in tasks]
        cells += [f"{updated[n]:.2f}", f"{new[n]:.2f}"]
        yield "".join([f"LM_{n:<5}", *(f"{cell:>9}" for cell in cells)])
    found = fuar(forgotten, updated, new)
    ratio = "no gain" if found.ratio is None else f"{found.ratio:.2f}"
    yield f"FUAR {ratio}: {found.forgotten:.2f} forgotten, {found.gained:.2f} gained"
