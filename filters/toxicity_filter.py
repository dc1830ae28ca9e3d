"""Drop a question that a scorer finds toxic; keep every score."""

from typing import ClassVar, Literal, cast

from factdrift.builders.core.config import Strict
from factdrift.filters.base import FilterContext, FilterVerdict, Items, Need, QuestionItem, Verdicts
from factdrift.filters.toxicity import AnyScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.scores import Scoring, ToxicityScores


class Toxicity(Strict):
    """A score of the question reaches the scorer's threshold (StreamingQA, section 7).

    Each verdict carries the six scores, of kept and dropped items alike; a dropped item has them
    in its detail. A text that the scorer refused has no scores, and is dropped.

    `scorer`: what gives the scores.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    filter: Literal["toxicity"] = "toxicity"
    scorer: AnyScorer = Local()

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop at a threshold or above; the reason names the attribute, the score is its own."""
        if "scoring" not in context.memory:
            context.memory["scoring"] = self.scorer.start(context.cache, context.say)
        scoring = cast(Scoring, context.memory["scoring"])
        found = scoring([item.question.question for item in items])
        return [self._one(i, scores) for i, scores in zip(items, found, strict=True)]

    def _one(self, item: QuestionItem, scores: ToxicityScores) -> FilterVerdict:
        if scores.empty:
            return FilterVerdict(False, "no_scores", scores=scores)
        over = self.scorer.thresholds.over(scores)
        if over is None:
            return FilterVerdict(True, "", scores=scores)
        detail = f"{scores}: {item.question.question}"
        return FilterVerdict(False, f"toxic_{over}", getattr(scores, over), detail, scores)
