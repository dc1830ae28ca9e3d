"""Drop a question that a backend, given the article, answers differently."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.builders.generate.backends import AnyModel
from factdrift.builders.generate.protocol import WAITING, Query, Result
from factdrift.builders.rows import AnswerType
from factdrift.builders.text.dates import MONTH_NUMBER, ORDINALS, WEEKDAYS
from factdrift.builders.text.en.answers import numbers_in_digits
from factdrift.builders.text.en.same_answer import contradict, is_same_name, plain_amounts
from factdrift.builders.text.words import DETERMINERS, SMALL_WORDS, folded_tokens
from factdrift.filters.base import (
    KEEP,
    Filter,
    FilterContext,
    FilterVerdict,
    Items,
    Need,
    QuestionItem,
    Verdicts,
    missing_resource,
)
from factdrift.filters.toxicity.scores import Share

_WEEKDAYS = frozenset(day.casefold() for day in WEEKDAYS)


class RoundTrip(Filter):
    """An answering backend gets the article and the question (appendix A.4, ii).

    Its answer must be the original one: exactly, after normalisation, for entities and dates; with
    at least `overlap` of the words for phrases. The score is the agreement. `backend`: a model
    that answers, where it is not the one that wrote the questions.

    `overlap`: the share of words, from 0 to 1, that is agreement enough for a phrase.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"answering"})
    reasons: ClassVar[Mapping[str, str]] = {
        "no_answer": "No answer was found when the question was asked back.",
        "other_answer": "Another answer was found when the question was asked back.",
    }

    filter: Literal["round_trip"] = "round_trip"
    overlap: Share = 0.40
    backend: AnyModel | None = None

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Drop where the backend answers otherwise; `detail` has its answer."""
        answering_model = context.answering_model(self.backend)
        if answering_model is None:
            raise missing_resource("answering", "a backend that answers questions", self.filter)
        if not items:
            return []
        queries = []
        for item in items:
            question = item.question
            queries.append(Query(item.article, question.question, question.draw.question_day))
        results = answering_model.answer(queries)
        return [self._verdict(item, result) for item, result in zip(items, results, strict=True)]

    def _verdict(self, item: QuestionItem, result: Result) -> FilterVerdict:
        if result.reason == WAITING:  # so that the filters behind ask in the same round
            return KEEP
        expected_answer, model_answer = item.question.answer, result.text
        agreement_score = agreement(expected_answer.text, model_answer, expected_answer.type)
        drop_detail = f"{expected_answer.text!r} is wanted, the answer was {model_answer!r}"
        if model_answer is None or not model_answer.strip():
            failure = ": ".join(part for part in (result.reason, result.detail) if part)
            return FilterVerdict(False, "no_answer", 0.0, failure or drop_detail)
        if (
            agreement_score >= (self.overlap if expected_answer.type == "phrase" else 1.0)
            and agreement_score > 0
        ):
            return FilterVerdict(True, "", agreement_score)
        return FilterVerdict(False, "other_answer", agreement_score, drop_detail)


def agreement(answer: str, other_answer: str | None, answer_type: AnswerType) -> float:
    """Return how far two answers agree, from 0 to 1.

    Entities and dates agree wholly or not at all, after normalisation: `4 June 2017` is
    `on June 4th, 2017`, `Bob Iger` is `Iger`, `US` is `United States`, and `Apple Inc.` is
    `Apple`, but `New York` is not `York`. Phrases agree by the share of words that they have in
    common, of the longer one's words, and not at all where one contradicts the other (`not guilty`)
    or has another number. Prepositions and determiners count only where a phrase has no other
    words, so that `in Paris` and `in London` have nothing in common.
    """
    if other_answer is None:
        return 0.0
    if answer_type == "date":
        return float(_is_same_date(_date(answer), _date(other_answer)))
    if answer_type == "entity":
        return float(is_same_name(answer, other_answer))
    return 0.0 if contradict(answer, other_answer) else _overlap(answer, other_answer)


def _overlap(answer: str, other_answer: str) -> float:
    """Share of words that two phrases have in common, of the longer one's words."""
    ignored_words = (
        SMALL_WORDS
        if folded_tokens(answer, SMALL_WORDS) and folded_tokens(other_answer, SMALL_WORDS)
        else DETERMINERS
    )
    answer_words, other_words = (
        Counter(numbers_in_digits(folded_tokens(plain_amounts(text), ignored_words)))
        for text in (answer, other_answer)
    )
    longer_count = max(answer_words.total(), other_words.total())
    return (answer_words & other_words).total() / longer_count if longer_count else 0.0


def _is_same_date(date_words: tuple[str, ...], other_words: tuple[str, ...]) -> bool:
    """Whether two dates are one, in words of `_date`; the year may stand in one of them alone.

    A question often has the year, so that `30 June` and `30 June 2007` are the same answer to it.
    """
    if not date_words or not other_words:
        return False
    words, others = Counter(date_words), Counter(other_words)
    extra_words = [*(words - others).elements(), *(others - words).elements()]
    if not extra_words:
        return True
    has_month = any(word.startswith("month:") for word in words & others)
    return has_month and len(extra_words) == 1 and bool(_YEAR.fullmatch(extra_words[0]))


# `2007`, not `30`
_YEAR = re.compile(r"[12]\d{3}")


def _date(text: str) -> tuple[str, ...]:
    """Words of a date in one order and one spelling."""
    words = [_plain(word) for word in folded_tokens(text, SMALL_WORDS)]
    without_weekdays = [word for word in words if word not in _WEEKDAYS]
    has_date = (
        any(word.startswith("month:") for word in without_weekdays) or len(without_weekdays) > 1
    )
    date_words = without_weekdays if has_date else words
    return (
        tuple(sorted(date_words))
        if any(character.isdigit() for character in text)
        else tuple(date_words)
    )


def _plain(word: str) -> str:
    month_number = MONTH_NUMBER.get(word)
    if month_number:
        return f"month:{month_number:02}"
    if word[0].isdigit() and word[-2:] in ORDINALS:
        word = word[:-2]
    return word.lstrip("0") or word
