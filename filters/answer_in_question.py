"""Drop a question that gives its own answer away."""

from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from filters.base import Context, Item, Verdict, judged
from filters.words import span_in, tokens


class AnswerInQuestion(Strict):
    """The answer is a sub-span of the question (StreamingQA, appendix A.4, i).

    Compared by whole words, folded, determiners ignored: `the US` stands in `Who leads U.S.?`.
    """

    filter: Literal["answer_in_question"] = "answer_in_question"

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop where the answer stands in the question, or has no words at all."""
        return [judged(_why(i.question.question, i.question.answer.text)) for i in items]


def _why(question: str, answer: str) -> str | None:
    if not tokens(answer):
        return "empty answer"
    return "answer in question" if span_in(question, answer) else None
