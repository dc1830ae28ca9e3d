"""The six scores of a text, thresholds on them, and what a scorer is."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Annotated

from pydantic import Field, model_validator

from factdrift.builders.core.config import Strict

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class ToxicityScores:
    """The toxicity of a text by attribute, from 0 to 1; null if the scorer gives none."""

    identity_attack: Annotated[float | None, "hate for an identity"] = None
    insult: Annotated[float | None, "insulting or inflammatory towards a person or a group"] = None
    profanity: Annotated[float | None, "swear words and other obscene language"] = None
    severe_toxicity: Annotated[float | None, "very hateful or aggressive"] = None
    sexually_explicit: Annotated[float | None, "names sexual acts or body parts lewdly"] = None
    threat: Annotated[float | None, "intends pain, injury or violence"] = None

    @property
    def empty(self) -> bool:
        """Whether no attribute has a score."""
        return all(score is None for score in astuple(self))

    def __str__(self) -> str:
        pairs = zip(ATTRIBUTES, astuple(self), strict=True)
        return " ".join(f"{name}={score:.2f}" for name, score in pairs if score is not None)


ATTRIBUTES: tuple[str, ...] = tuple(field.name for field in fields(ToxicityScores))
"""Names of the six attributes, in the order of the paper's release."""


class Thresholds(Strict):
    """Scores from which a text is removed; an attribute without one removes nothing.

    `identity_attack`, `insult`, `profanity`, `severe_toxicity`, `sexually_explicit`, `threat`: the
    score, from 0 to 1, from which a text is removed; null: it removes nothing.
    """

    identity_attack: Share | None = None
    insult: Share | None = None
    profanity: Share | None = None
    severe_toxicity: Share | None = None
    sexually_explicit: Share | None = None
    threat: Share | None = None

    @model_validator(mode="after")
    def _some(self) -> "Thresholds":
        if not self.model_dump(exclude_none=True):
            raise ValueError("give at least one threshold")
        return self

    def over(self, scores: ToxicityScores) -> str | None:
        """Return the attribute that is furthest over its threshold; None where none reaches it."""
        worst_excess: tuple[float, str] | None = None
        for attribute_name, threshold in self.model_dump(exclude_none=True).items():
            score = getattr(scores, attribute_name)
            if (
                score is not None
                and score >= threshold
                and (worst_excess is None or score - threshold > worst_excess[0])
            ):
                worst_excess = (score - threshold, attribute_name)
        return worst_excess[1] if worst_excess else None


PAPER_THRESHOLDS = Thresholds(
    identity_attack=0.75,
    insult=0.80,
    profanity=0.65,
    severe_toxicity=0.55,
    sexually_explicit=0.85,
    threat=0.90,
)
"""The thresholds of StreamingQA (section 7) for Perspective; they fit no other scorer."""


Scoring = Callable[[Sequence[str]], Sequence[ToxicityScores]]
"""The scores of texts, in their order, by a scorer that has loaded what it needs.

A scorer's settings in a recipe are a frozen model with its name (`scorer`), its `thresholds`, which
hold for no other scorer, and `start(cache, say) -> Scoring`: that loads the model or looks for the
key, and is a `UserError` where it is not there. `cache` is a folder for answers that cost time or
money; `say` tells the user a line."""
