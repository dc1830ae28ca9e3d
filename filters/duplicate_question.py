"""Drop a question that another row asks already."""

from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.en.answers import answer_key, numbers_in_digits
from factdrift.builders.text.en.meaning import content, meaning
from factdrift.builders.text.words import tokens
from factdrift.filters.base import FilterContext, FilterVerdict, Need, QuestionItem, judged

_ARTICLE, _SAME = "article", "same"
"""What is remembered beside keys: the questions of the article at hand, and which ask the same."""
_BESIDE = 32
"""Questions of an article with one answer that another is compared with: the last ones."""
Also = Literal["answer", "question_day", "article_month"]


class DuplicateQuestion(Strict):
    """A row with a smaller id asks the same, in these words or others (`builders.text.en.meaning`).

    Of one article, questions with the same answer are one where the words of one are all but a few
    those of the other; the items of an article come one after the other.

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
            self._survey_article(item, context.memory)

    def judge(
        self, items: Sequence[QuestionItem], context: FilterContext
    ) -> Sequence[FilterVerdict]:
        """Keep the row with the smallest id of those that ask the same."""
        return [self._one(item, context.memory) for item in items]

    def _survey_article(self, item: QuestionItem, memory: dict[Any, Any]) -> None:
        """Remember which of two questions of an article asks what the other does."""
        article, answered = memory.get(_ARTICLE, (None, {}))
        if article != item.article.id:
            answered = {}
            memory[_ARTICLE] = (item.article.id, answered)
        before = answered.setdefault(self._beside(item), deque(maxlen=_BESIDE))
        mine = content(item.question.question)
        exact = any(w[0].isdigit() for w in numbers_in_digits(tokens(item.question.answer.text)))
        own = item.question.id
        for one, theirs in before:
            if one != own and (mine == theirs if exact else mine.nearly(theirs)):
                memory[_SAME, max(one, own)] = min(one, own)
        before.append((own, mine))

    def _one(self, item: QuestionItem, memory: dict[Any, Any]) -> FilterVerdict:
        own = item.question.id
        first = memory.get((_SAME, own), memory[self._key(item)])
        same = first == own
        return judged(None if same else "duplicate_question", f"the same as {first}")

    def _key(self, item: QuestionItem) -> bytes:
        parts = [" ".join(meaning(item.question.question)), *self._beside(item)]
        return fast_hash("\t".join(parts).encode(), 16)

    def _beside(self, item: QuestionItem) -> tuple[str, ...]:
        """What two rows must agree in beside what they ask."""
        question = item.question
        beside = {
            "answer": answer_key(question.answer.text),
            "question_day": question.draw.question_day.isoformat(),
            "article_month": question.draw.article_day.isoformat()[:7],
        }
        return tuple(beside[name] for name in self.also)
