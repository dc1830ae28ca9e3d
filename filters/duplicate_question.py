"""Drop a question that an earlier row asks already."""

from typing import ClassVar, Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.en.answers import answer_key
from factdrift.builders.text.words import folded_tokens
from factdrift.filters.base import FilterContext, Items, Need, QuestionItem, Verdicts, drop_if


class DuplicateQuestion(Strict):
    """An earlier row asks the same: the same words, folded, but for determiners.

    Their answers agree, too (the last word of each, so that `Cook` is `Tim Cook`). Earlier is what
    stands before it in the archive; about 160 bytes a question are held in memory, never its text.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    filter: Literal["duplicate_question"] = "duplicate_question"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Keep the first row of those that ask the same."""
        found = []
        for item in items:
            own = item.question.id
            first = context.memory.setdefault(_key(item), own)
            reason = None if own == first else "duplicate_question"
            found.append(drop_if(reason, f"the same as {first}"))
        return found


def _key(item: QuestionItem) -> bytes:
    words = " ".join(folded_tokens(item.question.question))
    return fast_hash(f"{words}\t{answer_key(item.question.answer.text)}".encode(), 16)
