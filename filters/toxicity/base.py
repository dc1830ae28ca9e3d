"""What a scorer is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from filters.toxicity.scores import Thresholds, ToxicityScores


@dataclass(frozen=True)
class Surroundings:
    """What a run lends a scorer."""

    cache: Annotated[Path | None, "folder for answers that cost time or money"]
    say: Annotated[Callable[[str], None], "tells the user something, once a line"]


class Scoring(Protocol):
    """A scorer at work: it has loaded what it needs."""

    def score(self, texts: Sequence[str]) -> Sequence[ToxicityScores]:
        """Scores of each text, in their order."""


class Scorer(Protocol):
    """A frozen pydantic model: a scorer's settings in the recipe, its thresholds among them."""

    @property
    def scorer(self) -> str:
        """Its name in the recipe."""

    @property
    def thresholds(self) -> Thresholds:
        """They belong to this scorer and its model, and hold for no other."""

    def start(self, surroundings: Surroundings) -> Scoring:
        """Load the model or look for the key; UserError where it is not there."""
