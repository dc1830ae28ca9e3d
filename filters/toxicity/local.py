"""The default scorer: a linear model that comes inside a package, nothing to download."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.text.quotations import replace_quotations
from factdrift.filters.toxicity.scores import Scoring, Thresholds, ToxicityScores
from factdrift.filters.toxicity.weights import check_weights

NEUTRAL = (
    "niger", "nigerien", "nigeriens", "nigeria", "nigerian", "nigerians",
    "black", "blacks", "white", "whites", "african", "africans", "asian", "asians", "arab", "arabs",
    "muslim", "muslims", "islam", "islamic", "jewish", "jew", "jews", "judaism", "christian",
    "christians", "hindu", "hindus", "sikh", "catholic", "catholics",
    "gay", "gays", "lesbian", "lesbians", "bisexual", "transgender", "trans", "queer", "lgbt",
    "lgbtq", "homosexual", "homosexuals", "sex", "sexual", "women", "girls",
    "shoot", "shoots", "shooting", "shot", "kill", "kills", "killed", "killing", "die", "died",
    "death", "dead", "murder", "murdered", "abuse", "abused", "rape", "raped", "balls", "ball",
    "chief", "chiefs", "executive", "executives", "porn", "pornography", "damn",
    "Dick", "Dicks", "Fanny", "Randy", "Suk", "Phuc", "Cummings", "Cock", "Hancock", "Gaylord",
    "Pussy Riot",
)  # fmt: skip
"""Words of the news that the model takes for insults because insults often hold them.

Those with a capital are names: they are only meant where they are written so."""


class Local(Strict):
    """`alt-profanity-check`: a linear SVM over words, trained on two sets of offensive posts.

    It has one score, `profanity`; the other five are null. It sees swear words and insults, one
    word at a time. It does not see hate, threats or slurs that are made of other words (`Why are
    immigrants such vermin?`), nor what a word means (`the bitch that won at Crufts` goes).
    `neutral` words, and what stands in quotation marks, are taken out before a text is scored:
    alone they say nothing bad, and an insult that holds one is still scored by its other words.

    The threshold is 0.50. On `calibration.yaml` and the sentences of `samples/news` the band rule
    found it before `chief` was neutral, and finds 0.35 since, in bands of five rows: there three
    more of 40 toxic questions go, and seven of 3,500 harmless sentences where at 0.50 none does.
    `factdrift bands` sets it on your own rows.

    `neutral`: words that are taken out before a text is scored.
    """

    scorer: Literal["local"] = "local"
    thresholds: Thresholds = Thresholds(profanity=0.50)
    neutral: tuple[str, ...] = NEUTRAL

    def start(self, cache: Path | None, say: Callable[[str], None]) -> Scoring:
        """Load the model, which takes about a second; `profanity` is its probability that a text is
        offensive. `UserError` if its weights are not the known ones."""
        check_weights()
        from profanity_check import predict_prob

        word_patterns = (rf"\b{re.escape(word)}\b" for word in self.neutral)
        any_case = (rf"(?i:{word})" if word == word.lower() else word for word in word_patterns)
        ignored_pattern = re.compile("|".join(any_case) or "(?!)")

        def score(texts: Sequence[str]) -> Sequence[ToxicityScores]:
            # what stands in quotation marks is somebody else's word
            unquoted_texts = [replace_quotations(text, lambda quotation: " ") for text in texts]
            scored_texts = [ignored_pattern.sub(" ", text) for text in unquoted_texts]
            probabilities = predict_prob(scored_texts) if scored_texts else ()
            return [
                ToxicityScores(profanity=round(float(probability), 4))
                for probability in probabilities
            ]

        return score
