"""Drop a question that an earlier row asks already."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.en.answers import answer_key
from factdrift.builders.text.words import folded_tokens
from factdrift.filters.base import Filter, FilterContext, Items, QuestionItem, Verdicts, drop_if


class DuplicateQuestion(Filter):
    """An earlier row asks the same question: the same folded words, without determiners.

    Their answers agree, too (the last word of each, so that `Cook` is `Tim Cook`). The rows are in
    the order of the archive. About 160 bytes a question are held in memory, never its text.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "duplicate_question": "Another question asks the same.",
    }

    filter: Literal["duplicate_question"] = "duplicate_question"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Keep the first row of those that ask the same."""
        verdicts = []
        for item in items:
            question_id = item.question.id
            first_id = context.memory.setdefault(_key(item), question_id)
            reason = None if question_id == first_id else "duplicate_question"
            verdicts.append(drop_if(reason, f"the same as {first_id}"))
        return verdicts


def _key(item: QuestionItem) -> bytes:
    question_words = " ".join(folded_tokens(item.question.question))
    return fast_hash(f"{question_words}\t{answer_key(item.question.answer.text)}".encode(), 16)
