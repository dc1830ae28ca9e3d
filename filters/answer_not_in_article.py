"""Drop a question whose answer is no longer where it was found."""

from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from filters.base import Context, Item, Verdict, judged


class AnswerNotInArticle(Strict):
    """The article's text does not have the answer at the answer's offsets."""

    filter: Literal["answer_not_in_article"] = "answer_not_in_article"

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop where the span does not match, or the article is another one."""
        return [judged(*_why(item)) for item in items]


def _why(item: Item) -> tuple[str | None, str | None]:
    answer, article = item.question.answer, item.article
    if item.question.draw.article != article.id:
        return "other article", f"{item.question.draw.article!r} is wanted, this is {article.id!r}"
    found = article.text[answer.start : answer.end] if 0 <= answer.start < answer.end else ""
    if not found or found != answer.text:
        return "span does not match", f"{answer.text!r} is wanted, the article has {found!r}"
    return None, None
