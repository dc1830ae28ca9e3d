"""The default scorer: a linear model that comes inside a package, nothing to download."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from builders.config import Strict
from builders.errors import UserError
from filters.toxicity.base import Surroundings
from filters.toxicity.scores import Thresholds, ToxicityScores

NEUTRAL = (
    "niger", "nigerien", "nigeriens", "nigeria", "nigerian", "nigerians",
    "black", "blacks", "white", "whites", "african", "africans", "asian", "asians", "arab", "arabs",
    "muslim", "muslims", "islam", "islamic", "jewish", "jew", "jews", "judaism", "christian",
    "christians", "hindu", "hindus", "sikh", "catholic", "catholics",
    "gay", "gays", "lesbian", "lesbians", "bisexual", "transgender", "trans", "queer", "lgbt",
    "lgbtq", "homosexual", "homosexuals", "sex", "sexual", "women", "girls",
    "shoot", "shoots", "shooting", "shot", "kill", "kills", "killed", "killing", "die", "died",
    "death", "dead", "murder", "murdered", "abuse", "abused", "rape", "raped", "balls", "ball",
)  # fmt: skip
"""Words of the news that the model takes for insults because insults often hold them."""


class Local(Strict):
    """`alt-profanity-check`: a linear SVM over words, trained on two sets of offensive posts.

    It has one score, `profanity`; the other five are null. `neutral` words are taken out before
    a text is scored: alone they say nothing bad, and an insult that holds one is still scored by
    its other words.
    """

    scorer: Literal["local"] = "local"
    thresholds: Thresholds = Thresholds(profanity=0.90)
    neutral: tuple[str, ...] = NEUTRAL

    def start(self, surroundings: Surroundings) -> "_Running":
        """Load the model, about a second; UserError where the package is missing."""
        try:
            from profanity_check import predict_prob  # type: ignore[import-untyped]
        except ImportError:
            raise UserError(
                "the scorer 'local' needs alt-profanity-check",
                hint="pip install alt-profanity-check",
            ) from None
        return _Running(predict_prob, self.neutral)


class _Running:
    def __init__(self, predict: Callable[[list[str]], Any], neutral: Sequence[str]) -> None:
        self._predict = predict
        words = "|".join(map(re.escape, neutral))
        self._neutral = re.compile(rf"\b(?:{words})\b" if words else r"(?!)", re.IGNORECASE)

    def score(self, texts: Sequence[str]) -> Sequence[ToxicityScores]:
        """The model's probability that a text is offensive, as `profanity`."""
        if not texts:
            return []
        plain = [self._neutral.sub(" ", text) for text in texts]
        return [ToxicityScores(profanity=round(float(p), 4)) for p in self._predict(plain)]
