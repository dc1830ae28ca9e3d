"""Drop a question that a backend, given the article, answers otherwise."""

from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from filters.answers import agreement
from filters.base import AnswerRequest, Context, Item, Verdict, needed
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
        requests = [
            AnswerRequest(i.question.id, i.question.question, i.article, i.question.answer.type)
            for i in items
        ]
        answers = context.answering.answer(requests)
        return [self._one(i, answer) for i, answer in zip(items, answers, strict=True)]

    def _one(self, item: Item, answer: str | None) -> Verdict:
        wanted = item.question.answer
        score = agreement(wanted.text, answer, wanted.type)
        seen = f"{wanted.text!r} is wanted, the answer was {answer!r}"
        if answer is None or not answer.strip():
            return Verdict(False, "no answer", 0.0, seen)
        if score >= (self.overlap if wanted.type == "phrase" else 1.0) and score > 0:
            return Verdict(True, "", score)
        return Verdict(False, "other answer", score, seen)
