"""The default scorer: a linear model that comes inside a package, nothing to download."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.text.pipeline import parse_text
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


PROFANITY_ALONE = (
    "  the word list finds profanity alone: hate and threats in other words pass; "
    "`scorer: model` or `moderation` finds them"
)
# a word with a capital after another word: `of Fucking`, not `Fucking`
_CAPITAL_INSIDE = re.compile(r"\s[^\W\d_a-z]")
_NAMED_THINGS = frozenset({"GPE", "LOC", "FAC", "ORG", "WORK_OF_ART", "EVENT", "PRODUCT"})
"""Labels of entities that are names as a whole; one of a person may begin with an insult."""
_OF_ITS_OWN = frozenset({"pobj", "nsubj", "nsubjpass", "dobj", "conj", "appos", "attr", "npadvmod"})
"""Dependencies of a word that stands for something, and does not describe the next word."""
_DETERMINED = frozenset({"det", "poss"})


class Local(Strict):
    """`alt-profanity-check`: a linear SVM over words, trained on two sets of offensive posts.

    It has one score, `profanity`; the other five are null. It sees swear words and insults, one
    word at a time. It does not see hate, threats or slurs that are made of other words (`Why are
    immigrants such vermin?`; it caught 16 of 30 toxic questions), nor what a word means (`the bitch
    that won at Crufts` goes). A run says so; the scorers `model` and `moderation` see more.
    `neutral` words, and what stands in quotation marks, are taken out before a text is scored:
    alone they say nothing bad, and an insult that holds one is still scored by its other words.
    So are names, where a text would go: the town of Fucking is one, `that Fucking idiot` is not.

    The threshold is 0.50. From there on 33 of the 40 toxic questions of `calibration.yaml` go, and
    19 of the 5,621 harmless sentences of `samples/news` (`the cause was bone cancer`). On both the
    band rule finds 0.65, in bands of five rows, from where 31 and 6 go. `factdrift bands` sets it
    on your own rows.

    `neutral`: words that are taken out before a text is scored.
    """

    libraries: ClassVar[tuple[str, ...]] = ("alt-profanity-check",)

    scorer: Literal["local"] = "local"
    thresholds: Thresholds = Thresholds(profanity=0.50)
    neutral: tuple[str, ...] = NEUTRAL

    def start(self, cache: Path | None, say: Callable[[str], None]) -> Scoring:
        """Load the model, which takes about a second; `profanity` is its probability that a text is
        offensive. `UserError` if its weights are not the known ones."""
        check_weights()
        from profanity_check import predict_prob

        say(PROFANITY_ALONE)
        word_patterns = (rf"\b{re.escape(word)}\b" for word in self.neutral)
        any_case = (rf"(?i:{word})" if word == word.lower() else word for word in word_patterns)
        ignored_pattern = re.compile("|".join(any_case) or "(?!)")

        def score(texts: Sequence[str]) -> Sequence[ToxicityScores]:
            # what stands in quotation marks is somebody else's word
            unquoted_texts = [replace_quotations(text, lambda quotation: " ") for text in texts]
            scores = probabilities([ignored_pattern.sub(" ", text) for text in unquoted_texts])
            # few texts go, so few are parsed
            for index, text in enumerate(unquoted_texts):
                if self.thresholds.over(ToxicityScores(profanity=scores[index])):
                    without_names = ignored_pattern.sub(" ", _without_names(text))
                    (scores[index],) = probabilities([without_names])
            return [ToxicityScores(profanity=probability) for probability in scores]

        def probabilities(texts: Sequence[str]) -> list[float]:
            return [round(float(share), 4) for share in predict_prob(texts)] if texts else []

        return score


def _without_names(text: str) -> str:
    """Return a text without the words that are names in it, as far as its parse tells.

    A name of a place, an organisation or a work goes as a whole. Of the other words with a capital
    those that are no first word, stand for somebody or something (`in Fucking`) and have no article
    before them: an insult before a name belongs to it (`Bitch Clinton`), or has one (`an Idiot`).
    """
    if not _CAPITAL_INSIDE.search(text):
        return text
    parsed_text = parse_text(text)
    inside_names: set[int] = set()
    for entity in parsed_text.ents:
        # `a Fucking Moron` is taken for a title
        is_titled = not any(word.lower_ in ("a", "an") for word in entity)
        if entity.label_ in _NAMED_THINGS and is_titled and entity.root.dep_ != "amod":
            inside_names.update(range(entity.start, entity.end))
    pieces: list[str] = []
    for word in parsed_text:
        is_name = word.i in inside_names
        if word.i and word.text[0].isupper() and word.dep_ in _OF_ITS_OWN:
            is_name |= not any(child.dep_ in _DETERMINED for child in word.children)
        pieces.append(word.whitespace_ if is_name else word.text_with_ws)
    return "".join(pieces)
