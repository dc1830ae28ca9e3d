"""Drop a question that a scorer finds toxic; keep every score."""

from collections.abc import Sequence
from typing import ClassVar, Literal, cast

from factdrift.builders.core.config import Strict
from factdrift.filters.base import FilterContext, FilterVerdict, Need, QuestionItem
from factdrift.filters.toxicity import AnyScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.scores import Scoring, ToxicityScores


class Toxicity(Strict):
    """A score of the question reaches the scorer's threshold (StreamingQA, section 7).

    Each verdict carries the six scores, of kept and dropped items alike; a dropped item has them
    in its detail. `text` says whether the answer is scored with the question. A text that the
    scorer refused has no scores: `unscored` says what becomes of it.

    `scorer`: what gives the scores; `text`: what is scored; `unscored`: what becomes of a row
    whose text the scorer refused.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    filter: Literal["toxicity"] = "toxicity"
    scorer: AnyScorer = Local()
    text: Literal["question", "question_answer"] = "question"
    unscored: Literal["keep", "drop"] = "drop"

    def judge(
        self, items: Sequence[QuestionItem], context: FilterContext
    ) -> Sequence[FilterVerdict]:
        """Drop at a threshold or above; the reason names the attribute, the score is its own."""
        if "scoring" not in context.memory:
            context.memory["scoring"] = self.scorer.start(context.cache, context.say)
        scoring = cast(Scoring, context.memory["scoring"])
        found = scoring.score([self._text(item) for item in items])
        return [self._one(i, scores) for i, scores in zip(items, found, strict=True)]

    def _text(self, item: QuestionItem) -> str:
        question = item.question
        parts = [question.question, question.answer.text]
        return " ".join(parts[: 1 if self.text == "question" else 2])

    def _one(self, item: QuestionItem, scores: ToxicityScores) -> FilterVerdict:
        if scores.empty:
            keep = self.unscored == "keep"
            return FilterVerdict(keep, "" if keep else "no_scores", scores=scores)
        over = self.scorer.thresholds.over(scores)
        if over is None:
            return FilterVerdict(True, "", scores=scores)
        detail = f"{scores}: {item.question.question}"
        return FilterVerdict(False, f"toxic_{over}", getattr(scores, over), detail, scores)
