"""Drop a question that an earlier row asks already."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.dates import DayInterval
from factdrift.builders.text.en.question_key import question_key
from factdrift.builders.text.en.same_answer import answer_key
from factdrift.filters.base import Filter, FilterContext, Items, Verdicts, drop_if

_Asked = tuple[tuple[DayInterval, ...], str]
"""The times that an earlier question states, and its id."""


class DuplicateQuestion(Filter):
    """An earlier row asks the same question, in the same words or another wording.

    Wordings are compared by `builders.text.en.question_key`: the time may stand elsewhere or be
    more exact, the passive may be active, and `who` may be `which company`. Their answers agree,
    too (the last word of each, so that `Cook` is `Tim Cook`; all words of numbers). The rows are in
    the order of the archive. A few hundred bytes a question are held in memory, never its text.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "duplicate_question": "Another question asks the same.",
    }

    filter: Literal["duplicate_question"] = "duplicate_question"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Keep the first row of those that ask the same."""
        verdicts = []
        for item in items:
            question = item.question
            key = question_key(question.question)
            answer = answer_key(question.answer.text)
            key_hash = fast_hash(f"{key.words}\t{answer}".encode(), 16)
            asked: list[_Asked] = context.memory.setdefault(key_hash, [])
            first_id = next(
                (asked_id for times, asked_id in asked if key.has_same_time(times)), None
            )
            if first_id is None:
                asked.append((key.times, question.id))
            is_repeated = first_id not in (None, question.id)
            reason = "duplicate_question" if is_repeated else None
            verdicts.append(drop_if(reason, f"the same as {first_id}"))
        return verdicts
