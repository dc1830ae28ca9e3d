"""Drop a question that another row asks already."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.en.answers import answer_key
from factdrift.builders.text.words import tokens
from factdrift.filters.base import FilterContext, FilterVerdict, Need, QuestionItem, judged

Also = Literal["answer", "question_day", "article_month"]


class DuplicateQuestion(Strict):
    """A row with a smaller id asks the same: the same words, folded, but for determiners.

    `also` says what must agree too for two rows to be one: their answers (the last word of
    each, so that `Cook` is `Tim Cook`), the days they are
    asked on, the months of their articles (past questions are told apart by their time
    specification, which names the month). All rows are surveyed first, so the order in which
    they come does not matter; about 160 bytes a question are held in memory, never its text.

    `also`: what two rows must agree in, too, to be one.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    filter: Literal["duplicate_question"] = "duplicate_question"
    also: tuple[Also, ...] = ("answer",)

    def survey(self, items: Sequence[QuestionItem], context: FilterContext) -> None:
        """Remember the smallest id of each question."""
        for item in items:
            key, own = self._key(item), item.question.id
            context.memory[key] = min(own, context.memory.get(key, own))

    def judge(
        self, items: Sequence[QuestionItem], context: FilterContext
    ) -> Sequence[FilterVerdict]:
        """Keep the row with the smallest id of those that ask the same."""
        firsts = [(item.question.id, context.memory[self._key(item)]) for item in items]
        return [
            judged(None if own == first else "duplicate_question", f"the same as {first}")
            for own, first in firsts
        ]

    def _key(self, item: QuestionItem) -> bytes:
        question = item.question
        beside = {
            "answer": answer_key(question.answer.text),
            "question_day": question.draw.question_day.isoformat(),
            "article_month": question.draw.article_day.isoformat()[:7],
        }
        parts = [" ".join(tokens(question.question)), *(beside[name] for name in self.also)]
        return fast_hash("\t".join(parts).encode(), 16)
