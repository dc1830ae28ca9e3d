"""The filter `my-filter`: replace the rule by your own."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.kit import FilterVerdict, ItemFilter, QuestionItem, drop_if


class MyFilter(ItemFilter):
    """The question has fewer than `shortest` words.

    `shortest`: words that a question needs at least; a recipe may set it.
    """

    reasons: ClassVar[Mapping[str, str]] = {"too_short": "The question has too few words."}
    """A sentence for each reason to drop a question, as data cards print it."""

    filter: Literal["my-filter"] = "my-filter"
    shortest: int = 4

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Whether to keep one question; `item.article` is the article that it was written for."""
        words = item.question.question.split()
        return drop_if("too_short" if len(words) < self.shortest else None)
