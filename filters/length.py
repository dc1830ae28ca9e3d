"""Drop a question or an answer that is too short or too long."""

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt, model_validator

from builders.config import Strict
from filters.base import Context, Item, Verdict


class Length(Strict):
    """The question or its answer has too few or too many words (parted by blanks)."""

    filter: Literal["length"] = "length"
    fewest: PositiveInt = 4
    most: PositiveInt = 40
    most_answer: PositiveInt = 20

    @model_validator(mode="after")
    def _ordered(self) -> "Length":
        if self.fewest > self.most:
            raise ValueError("'fewest' is more than 'most'")
        return self

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop outside the limits; the score is the number of words."""
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Verdict:
        n = len(item.question.question.split())
        answer = len(item.question.answer.text.split())
        if n < self.fewest:
            return Verdict(False, "too short", n)
        if n > self.most:
            return Verdict(False, "too long", n)
        if answer > self.most_answer:
            return Verdict(False, "answer too long", answer, item.question.answer.text)
        return Verdict(True, "", n)
