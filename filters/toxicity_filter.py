"""Drop a question that a scorer finds toxic; keep every score."""

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from factdrift.builders.generate.backends import AnyModel, CachedModel
from factdrift.builders.generate.protocol import WAITING
from factdrift.filters.base import (
    KEEP,
    Filter,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    QuestionItem,
    Verdicts,
    missing_resource,
)
from factdrift.filters.toxicity import AnyScorer
from factdrift.filters.toxicity.local import Local
from factdrift.filters.toxicity.rubric import ModelScorer
from factdrift.filters.toxicity.scores import Scoring, ToxicityScores


class Toxicity(Filter):
    """A score of the question reaches the scorer's threshold (StreamingQA, section 7).

    Each verdict carries the six scores, of kept and dropped items alike; a dropped item has them
    in its detail. A text that the scorer refused has no scores, and is dropped.

    `scorer`: what gives the scores.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "no_scores": "The text could not be scored.",
        "toxic_identity_attack": "The score of attacks on identity reaches its limit.",
        "toxic_insult": "The score of insults reaches its limit.",
        "toxic_profanity": "The score of profanity reaches its limit.",
        "toxic_severe_toxicity": "The score of severe toxicity reaches its limit.",
        "toxic_sexually_explicit": "The score of sexually explicit text reaches its limit.",
        "toxic_threat": "The score of threats reaches its limit.",
    }

    filter: Literal["toxicity"] = "toxicity"
    scorer: AnyScorer = Local()

    def resources(self) -> frozenset[Need]:
        """The scorer `model` needs a language model."""
        return frozenset({"model"}) if isinstance(self.scorer, ModelScorer) else frozenset()

    def own_model(self) -> AnyModel | None:
        """Return the model of the scorer, where it is not the one that wrote the questions."""
        return self.scorer.backend if isinstance(self.scorer, ModelScorer) else None

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop at a threshold or above; the reason names the attribute, the score is its own."""
        texts = [item.question.question for item in items]
        if isinstance(self.scorer, ModelScorer):
            return self._judge_by_model(self.scorer, items, context)
        if "scoring" not in context.memory:
            context.memory["scoring"] = self.scorer.start(context.cache, context.say)
        score_texts = cast(Scoring, context.memory["scoring"])
        return [
            self._verdict(item, scores)
            for item, scores in zip(items, score_texts(texts), strict=True)
        ]

    def _judge_by_model(
        self, scorer: ModelScorer, items: Items, context: FilterContext
    ) -> Verdicts:
        scoring_model = context.answering_model(scorer.backend)
        if not isinstance(scoring_model, CachedModel):
            raise missing_resource("model", "a language model", "toxicity with scorer: model")
        if not items:
            return []
        verdicts = []
        scored = scorer.score(scoring_model, [item.question.question for item in items])
        for item, (scores, reply) in zip(items, scored, strict=True):
            verdicts.append(KEEP if reply.reason == WAITING else self._verdict(item, scores))
        return verdicts

    def _verdict(self, item: QuestionItem, scores: ToxicityScores) -> FilterVerdict:
        if scores.empty:
            return FilterVerdict(False, "no_scores", scores=scores)
        attribute = self.scorer.thresholds.over(scores)
        if attribute is None:
            return FilterVerdict(True, "", scores=scores)
        drop_detail = f"{scores}: {item.question.question}"
        return FilterVerdict(
            False, f"toxic_{attribute}", getattr(scores, attribute), drop_detail, scores
        )
