"""Drop a text that is not one question."""

from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from filters.base import Context, Item, Verdict, judged


class QuestionMark(Strict):
    """The text does not end with a question mark, has several, or runs over lines."""

    filter: Literal["question_mark"] = "question_mark"

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Keep a text of one line that ends with its only question mark."""
        return [judged(_why(item.question.question.strip())) for item in items]


def _why(text: str) -> str | None:
    if not text.endswith("?"):
        return "no question mark"
    if text.count("?") > 1:
        return "several questions"
    return "several lines" if len(text.splitlines()) > 1 else None
