"""Drop a question that a language model, given the article and the answer, finds bad."""

from typing import ClassVar, Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.generate.backends import AnyModel, CachedModel
from factdrift.builders.generate.prompts import YES
from factdrift.builders.generate.protocol import Query, Result
from factdrift.filters.base import (
    KEEP,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    Verdicts,
    missing_resource,
)

_REASONS = {
    "no: answerable": "not_answerable",
    "no: one_answer": "several_answers",
    "no: stands_alone": "not_alone",
}


class LMJudge(Strict):
    """A language model says whether the article answers the question, with this answer alone, and
    whether the question can be understood without the article.

    By default the model that wrote the question. Its prompt is `judge` of the prompt file, or the
    project's own. What it says is kept by content.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})
    filter: Literal["lm_judge"] = "lm_judge"
    backend: AnyModel | None = None

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what the model says no to, and what it says neither yes nor no to."""
        model = context.answering_model(self.backend)
        if not isinstance(model, CachedModel):
            raise missing_resource("model", "a language model", self.filter)
        if not items:
            return []
        asked = [
            Query(i.article, q.question, q.draw.question_day, q.answer)
            for i in items
            for q in [i.question]
        ]
        return [self._one(result) for result in model.judge(asked)]

    def _one(self, result: Result) -> FilterVerdict:
        if result.text is None:
            return FilterVerdict(False, "no_verdict", detail=result.detail or result.reason)
        return KEEP if result.text == YES else FilterVerdict(False, _REASONS[result.text])
