"""A small table of judged questions, and the thresholds that it gives a scorer."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import model_validator

from builders.config import Strict, load
from filters.toxicity.bands import Found, Judged, threshold_by_bands
from filters.toxicity.base import Scorer, Surroundings
from filters.toxicity.scores import ATTRIBUTES

TABLE = Path(__file__).with_name("calibration.yaml")
"""The project's own table: 88 questions of one writer, judged by that writer alone."""


class Calibration(Strict):
    """Questions that a reader should be spared, and harmless ones that look like them."""

    toxic: tuple[str, ...]
    clean: tuple[str, ...]

    @model_validator(mode="after")
    def _once(self) -> "Calibration":
        seen: set[str] = set()
        for text in (*self.toxic, *self.clean):
            if text in seen:
                raise ValueError(f"{text!r} is there twice")
            seen.add(text)
        return self

    @classmethod
    def read(cls, path: Path = TABLE) -> "Calibration":
        """The table of a YAML file; `UserError` says what is wrong with it and where."""
        return load(path, cls)


def calibrate(
    scorer: Scorer, table: Calibration, around: Surroundings, *, ordinary: Iterable[str] = ()
) -> dict[str, Found]:
    """What the band rule finds for each attribute that the scorer gives.

    `ordinary` are texts known to be clean, as many as make the mixture that of a release: nearly
    all of its questions are. Without them the threshold is too low, as half the table is toxic.
    Texts without scores say nothing. `UserError`: the scorer cannot start.
    """
    texts = [*table.toxic, *table.clean, *ordinary]
    scored = scorer.start(around).score(texts)
    found = {}
    for name in ATTRIBUTES:
        judged = [
            Judged(score, place < len(table.toxic))
            for place, score in enumerate(getattr(one, name) for one in scored)
            if score is not None
        ]
        if judged:
            found[name] = threshold_by_bands(judged)
    return found
