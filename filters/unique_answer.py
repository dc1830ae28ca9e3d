"""Drop a question to which the corpus up to its day gives another answer, too."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from pydantic import PositiveInt

from factdrift.builders.core.config import Strict
from factdrift.builders.text.dates import time_of
from factdrift.builders.text.en.joined import joined_name
from factdrift.builders.text.en.questions import asks_time
from factdrift.builders.text.en.rivals import Asked, asked_for, rivals
from factdrift.builders.text.sentences import split_sentences
from factdrift.builders.wmt.passages import passage_prefix
from factdrift.filters.base import (
    FilterContext,
    FilterVerdict,
    QuestionItem,
    Search,
    judged,
    needed,
)


class UniqueAnswer(Strict):
    """Another article, or the question's own, answers the question otherwise.

    A search gives `k` passages, published up to the question's day; a sentence of theirs with all
    names and numbers and half of the other content words of the question, and another name, number
    or date where the answer would stand, drops it. A question that neither says nor asks for a time
    is compared with what was written within `days` of its article: the last mayor, or the winner of
    the year before, is no rival. It reads `most` sentences at most; questions whose form it cannot
    compare are kept. A question for one of several names that stand together in the sentence of its
    answer goes, too.

    `k`: passages that are looked at; `days`: how far from its article others are looked at, where
    the question says no time; `most`: sentences that are read.
    """

    filter: Literal["unique_answer"] = "unique_answer"
    k: PositiveInt = 20
    days: PositiveInt = 92
    most: PositiveInt = 30

    def judge(
        self, items: Sequence[QuestionItem], context: FilterContext
    ) -> Sequence[FilterVerdict]:
        """Drop with the other answer, its day and sentence as `detail`."""
        if context.search is None:
            raise needed("search", "a search index", self.filter)
        return [self._one(item, context.search) for item in items]

    def _one(self, item: QuestionItem, search: Search) -> FilterVerdict:
        question, answer = item.question, item.question.answer
        if other := _joined(item):
            return judged("other_answers", f"{answer.text!r}, but {other!r} stands beside it")
        asked = asked_for(question.question, answer.label)
        found = self._rival(item, asked, search) if asked else None
        return judged("other_answers" if found else None, f"{answer.text!r}, but {found}")

    def _rival(self, item: QuestionItem, asked: Asked, search: Search) -> str | None:
        text, draw = item.question.question, item.question.draw
        near = time_of(text) is None and not asks_time(text)
        left = self.most
        for hit in search.search(text, draw.question_day, self.k):
            if near and abs(hit.day - draw.article_day) > timedelta(self.days):
                continue
            # a headline has no full stop, so that it runs into the sentence after it
            skip = 1 if hit.id.endswith("_0") else 0
            body = hit.text.removeprefix(passage_prefix(hit.day))
            for sentence in split_sentences(body)[skip:]:
                if not asked.could_be_in(sentence):
                    continue
                if not left:
                    return None
                left -= 1
                answers = (item.question.answer.text,)
                for other in rivals(asked, sentence, hit.day, text, answers):
                    return f"{other!r} on {hit.day}: {sentence}"
        return None


def _joined(item: QuestionItem) -> str | None:
    """Another name that is joined to the answer where it stands."""
    answer, sentences = item.question.answer, item.article.sentences
    if answer.type != "entity" or not 0 < answer.sentence < len(sentences):
        return None
    before = sum(len(sentence) + 1 for sentence in sentences[: answer.sentence])
    start, end = answer.start - before, answer.end - before
    return joined_name(item.question.question, sentences[answer.sentence], start, end)
