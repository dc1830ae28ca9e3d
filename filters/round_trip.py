"""Drop a question that a backend, given the article, answers otherwise."""

from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from builders.questions.protocol import Query, Result
from filters.answers import agreement
from filters.base import Context, Item, Verdict, needed
from filters.toxicity.scores import Share


class RoundTrip(Strict):
    """An answering backend gets the article and the question (appendix A.4, ii).

    Its answer must be the original one: exactly, after normalisation, for entities and dates;
    with at least `overlap` of the words for phrases. The score is the agreement.
    """

    filter: Literal["round_trip"] = "round_trip"
    overlap: Share = 0.40

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop where the backend answers otherwise; `detail` has its answer."""
        if context.answering is None:
            raise needed("answering", "a backend that answers questions", self.filter)
        if not items:
            return []
        queries = [
            Query(i.article, i.question.question, i.question.draw.question_day) for i in items
        ]
        results = context.answering.answer(queries)
        return [self._one(i, result) for i, result in zip(items, results, strict=True)]

    def _one(self, item: Item, result: Result) -> Verdict:
        wanted, answer = item.question.answer, result.text
        score = agreement(wanted.text, answer, wanted.type)
        seen = f"{wanted.text!r} is wanted, the answer was {answer!r}"
        if answer is None or not answer.strip():
            why = ": ".join(part for part in (result.reason, result.detail) if part)
            return Verdict(False, "no answer", 0.0, why or seen)
        if score >= (self.overlap if wanted.type == "phrase" else 1.0) and score > 0:
            return Verdict(True, "", score)
        return Verdict(False, "other answer", score, seen)
