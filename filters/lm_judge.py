"""Filters by a language model that gets the article, the question and the answer."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from factdrift.builders.generate.protocol import WAITING, Result
from factdrift.builders.generate.replies import YES
from factdrift.filters.base import (
    KEEP,
    FilterContext,
    FilterVerdict,
    Items,
    ModelFilter,
    QuestionItem,
    Verdicts,
    queries_of,
)

# A model's verdict (see `builders.generate.replies.parse_verdict`), and its drop reason.
_REASONS = {
    "no: answerable": "not_answerable",
    "no: one_answer": "several_answers",
    "no: stands_alone": "not_alone",
}
_NEWS_REASONS = {"no: new": "not_new", "no: unique": "not_unique", "no: clear": "not_clear"}


class LMJudge(ModelFilter):
    """A language model says whether the article answers the question, with this answer alone, and
    whether the question can be understood without the article.

    By default it is the model that wrote the question. Its prompt is `judge` of the prompt file, or
    the project's own. Its verdicts are cached by content.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "not_answerable": "The article does not answer the question so.",
        "several_answers": "The question has other right answers in its article.",
        "not_alone": "The question cannot be understood without its article.",
        "no_verdict": "The judging model said neither yes nor no.",
    }

    filter: Literal["lm_judge"] = "lm_judge"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what the model rejects, and what it gives no clear verdict on."""
        judging_model = self.open_model(context)
        results = judging_model.judge(queries_of(items)) if items else []
        return _verdicts(results, _REASONS, items)


class NewsAndUnique(ModelFilter):
    """A language model says whether the article reports the answer as new, whether another reliable
    source could give another number, name or wording on the question's day, and whether a careful
    editor would print the question.

    It writes its guess of the eve of the event first: what anybody would have guessed is not new.

    By default it is the model that wrote the question. Its prompt is `news_and_unique` of the
    prompt file, or the project's own. Its verdicts are cached by content.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "not_new": "The answer was known before what the article reports as new.",
        "not_unique": "Another answer is or may be right, too.",
        "not_clear": "A careful editor would not print the question as it stands.",
        "no_verdict": "The judging model said neither yes nor no.",
    }

    filter: Literal["news_and_unique"] = "news_and_unique"

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop what the model rejects, and what it gives no clear verdict on."""
        judging_model = self.open_model(context)
        results = judging_model.judge_news(queries_of(items)) if items else []
        return _verdicts(results, _NEWS_REASONS, items)


def _verdicts(results: Sequence[Result], reasons: Mapping[str, str], items: Items) -> Verdicts:
    return [_verdict(result, reasons, item) for result, item in zip(results, items, strict=True)]


def _verdict(result: Result, reasons: Mapping[str, str], item: QuestionItem) -> FilterVerdict:
    """The verdict for what a judge said; `detail` has the judge's own reason where there is one.

    What waits in a batch file is kept, so that the filters behind ask about it in the same round.
    """
    if result.reason == WAITING or result.text == YES:
        return KEEP
    if result.text is None:
        return FilterVerdict(False, "no_verdict", detail=result.detail or result.reason)
    question = item.question.question
    detail = f"{result.detail} {question}" if result.detail else question
    return FilterVerdict(False, reasons[result.text], detail=detail)
