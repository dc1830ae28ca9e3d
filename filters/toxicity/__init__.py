"""Toxicity: scorers, the six scores they give, and how thresholds are found."""

from typing import Annotated, Any

from pydantic import Field

from filters.toxicity.bands import Judged, threshold_by_bands, to_judge
from filters.toxicity.base import Scorer, Scoring, Surroundings
from filters.toxicity.calibration import Calibration, calibrate
from filters.toxicity.classifier import Transformers
from filters.toxicity.local import Local
from filters.toxicity.perspective import Perspective
from filters.toxicity.scores import ATTRIBUTES, PAPER, Thresholds, ToxicityScores

SCORERS: dict[str, type[Any]] = {
    "local": Local,
    "perspective": Perspective,
    "transformers": Transformers,
}
"""Every scorer by its name in a recipe."""

AnyScorer = Annotated[Local | Perspective | Transformers, Field(discriminator="scorer")]
"""The scorer of a recipe, with its thresholds."""

__all__ = [
    "ATTRIBUTES",
    "PAPER",
    "SCORERS",
    "AnyScorer",
    "Calibration",
    "Judged",
    "Scorer",
    "Scoring",
    "Surroundings",
    "Thresholds",
    "ToxicityScores",
    "calibrate",
    "threshold_by_bands",
    "to_judge",
]
