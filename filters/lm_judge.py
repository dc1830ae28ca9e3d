"""Drop a question that a language model, given the article and the answer, finds bad."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.builders.generate.backends import AnyModel, CachedModel
from factdrift.builders.generate.protocol import WAITING, Query, Result
from factdrift.builders.generate.replies import YES
from factdrift.filters.base import (
    KEEP,
    Filter,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    Verdicts,
    missing_resource,
)

# A model's verdict (see `builders.generate.replies.parse_verdict`), and its drop reason.
_REASONS = {
    "no: answerable": "not_answerable",
    "no: one_answer": "several_answers",
    "no: stands_alone": "not_alone",
}


class LMJudge(Filter):
    """A language model says whether the article answers the question, with this answer alone, and
    whether the question can be understood without the article.

    By default it is the model that wrote the question. Its prompt is `judge` of the prompt file, or
    the project's own. Its verdicts are cached by content.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})
    reasons: ClassVar[Mapping[str, str]] = {
        "not_answerable": "The article does not answer the question so.",
        "several_answers": "The question has other right answers in its article.",
        "not_alone": "The question cannot be understood without its article.",
        "no_verdict": "The judging model said neither yes nor no.",
    }

    filter: Literal["lm_judge"] = "lm_judge"
    backend: AnyModel | None = None

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what the model rejects, and what it gives no clear verdict on."""
        judging_model = context.answering_model(self.backend)
        if not isinstance(judging_model, CachedModel):
            raise missing_resource("model", "a language model", self.filter)
        if not items:
            return []
        queries = []
        for item in items:
            question = item.question
            query = Query(
                item.article, question.question, question.draw.question_day, question.answer
            )
            queries.append(query)
        return [self._verdict(result) for result in judging_model.judge(queries)]

    def _verdict(self, result: Result) -> FilterVerdict:
        if result.reason == WAITING:
            return KEEP
        if result.text is None:
            return FilterVerdict(False, "no_verdict", detail=result.detail or result.reason)
        return KEEP if result.text == YES else FilterVerdict(False, _REASONS[result.text])
