"""Drop a question whose answer older articles of the archive have: it is background."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar, Literal

from pydantic import PositiveInt

from factdrift.builders.text.en.answers import names_answer
from factdrift.builders.text.words import SMALL_WORDS, folded_tokens
from factdrift.builders.wmt.passages import day_in_words
from factdrift.filters.base import (
    KEEP,
    Filter,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    QuestionItem,
    Search,
    Verdicts,
    missing_resource,
)
from factdrift.filters.toxicity.scores import Share

_NEWS_DAYS = timedelta(3)
"""An older article is of this many days before at least: the news is of two days at most."""
_STEM = 5
"""First letters by which two forms of a word are taken for one: `elect` of elected, election."""
_QUESTION_WORDS = frozenset("who whom whose what which when where why how did do does".split())


class KnownBefore(Filter):
    """An article older than the event has the answer, all names of the question, and most words.

    Searched are the question and its answer, among what the archive has up to three days before
    the article. No model is asked. A question without a name is kept. The score is the largest
    share of words.

    `k`: results that are looked at; `share`: the share of the question's other words that a passage
    has to have.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"search", "names"})
    reasons: ClassVar[Mapping[str, str]] = {
        "known_before": "An older article has the answer beside the names of the question.",
    }

    filter: Literal["known_before"] = "known_before"
    k: PositiveInt = 10
    # a guess: at 0.5 a passage is about the same matter, at 1 it would be the same sentence
    share: Share = 0.5

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what an older passage tells; `detail` has the day and the beginning of it."""
        if context.search is None:
            raise missing_resource("search", "a search index", self.filter)
        if context.names is None:
            raise missing_resource("names", "a pipeline that finds names", self.filter)
        all_names = context.names.names([item.question.question for item in items])
        return [
            self._verdict(item, question_names, context.search)
            for item, question_names in zip(items, all_names, strict=True)
        ]

    def _verdict(self, item: QuestionItem, names: Sequence[str], search: Search) -> FilterVerdict:
        question, answer = item.question.question, item.question.answer.text
        if not names:
            return KEEP
        other_stems = _stems(question) - _stems(" ".join((*names, answer)))
        last_day = item.question.draw.article_day - _NEWS_DAYS
        best_share = 0.0
        for hit in search.search(f"{question} {answer}", last_day, self.k):
            passage = hit.text.removeprefix(f"{day_in_words(hit.day)}. ")
            if not all(names_answer(passage, name) for name in (answer, *names)):
                continue
            shared = len(other_stems & _stems(passage))
            word_share = shared / len(other_stems) if other_stems else 1.0
            if word_share >= self.share:
                return FilterVerdict(
                    False, "known_before", word_share, f"{hit.day}: {passage[:120]}"
                )
            best_share = max(best_share, word_share)
        return FilterVerdict(True, "", best_share)


def _stems(text: str) -> set[str]:
    """The first letters of the words of a text, without numbers and common words."""
    return {
        word[:_STEM]
        for word in folded_tokens(text, SMALL_WORDS | _QUESTION_WORDS)
        if not word[0].isdigit()
    }
