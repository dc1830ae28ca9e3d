"""Time specifications of past questions: read where they are, added where they are missing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.rows import Question, TimeSpec
from factdrift.builders.text.dates import format_date, time_in_question, with_preposition
from factdrift.builders.text.en.questions import (
    asks_permanent_fact,
    asks_time,
    insert_times,
    time_ago,
)
from factdrift.builders.text.en.tense import asks_state, to_past_tense
from factdrift.builders.text.pipeline import parsed_together


@dataclass(frozen=True, slots=True)
class TimedQuestion:
    """A question's text with its time specification, and the kind of the specification."""

    text: Annotated[str, "the question to ask"]
    kind: Annotated[TimeSpec, "none, absolute, relative, or own: it had one"]


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question that goes into the past tense, and the time that it gets there.

    `ago` is the time since the article, `month` the article's own. Where both are given, `month` is
    for a question about a state; with neither, the question has its own time.
    """

    text: str
    ago: str = ""
    month: str = ""


def add_time_specs(questions: Sequence[Question], seed: int) -> list[TimedQuestion]:
    """Return questions with a time specification where they need one (StreamingQA, appendix A.5).

    Recent questions, questions for a time and questions that say their time stay as they are, but
    for their tense where that time is past. Of the others, half get the article's month and half
    the time since the article; a hash of seed and id decides. Less than a week has no relative
    time, and the kind is then `none`. A question about a state or an office never gets a relative
    time, because `ten years ago` does not say which month, and the holder may have changed then.

    Questions are parsed together, which takes a third of the time that each would take alone.
    """
    steps = [_time_step(question, seed) for question in questions]
    in_past = iter(ask_in_past([step for step in steps if isinstance(step, PastQuestion)]))
    return [next(in_past) if isinstance(step, PastQuestion) else step for step in steps]


def as_written(question: Question) -> TimedQuestion:
    """Return a question that stays as people wrote it."""
    question_text = question.question
    return TimedQuestion(question_text, "own" if time_in_question(question_text) else "none")


def _time_step(question: Question, seed: int) -> TimedQuestion | PastQuestion:
    """A question with its time specification, or what makes a question of the past of it."""
    question_text, draw = question.question, question.draw
    if question.time_spec is not None:
        return TimedQuestion(question_text, question.time_spec)
    if own_time := time_in_question(question_text):
        if _is_past(own_time, draw.question_day):
            return PastQuestion(question_text)
        return TimedQuestion(question_text, "own")
    timeless = asks_time(question_text) or asks_permanent_fact(question_text)
    if draw.subset == "recent" or question.answer.type == "date" or timeless:
        return TimedQuestion(question_text, "none")
    month = with_preposition("in", format_date(draw.article_day, "month"))
    # one byte of the hash is enough for a choice of two
    hash_byte = seeded_hash(seed, "time_spec", question.id) >> 56
    if hash_byte % 2:
        return PastQuestion(question_text, month=month)
    ago = time_ago(draw.article_day, draw.question_day)
    return PastQuestion(question_text, ago, month) if ago else TimedQuestion(question_text, "none")


def ask_in_past(questions: Sequence[PastQuestion]) -> list[TimedQuestion]:
    """Put questions into the past tense, and their times at their places."""
    with parsed_together([question.text for question in questions]) as parsed_questions:
        choices = list(map(_time_of, questions, parsed_questions))
        past_texts = [
            to_past_tense(parsed_question, also_would=bool(time))
            for parsed_question, (time, _) in zip(parsed_questions, choices, strict=True)
        ]
    texts = insert_times(past_texts, [time for time, _ in choices])
    return [TimedQuestion(text, kind) for text, (_, kind) in zip(texts, choices, strict=True)]


def _time_of(question: PastQuestion, parsed_question: Any) -> tuple[str, TimeSpec]:
    """The time that a question gets, and its kind."""
    if question.ago and not asks_state(parsed_question):
        return question.ago, "relative"
    return question.month, "absolute" if question.month else "own"


# `two years ago` and `last week`, not `long agony` or `at last`
_AGO = re.compile(r"\bago$|^[Ll]ast\b")
# a time that ends in a year: `in May 2017`, `during the 1990s`, not `in 2017 days` or `since 2017`
_IN_YEAR = re.compile(r"^(?:in|on|during|at)\b.*?\b((?:1\d|20)\d\d)s?$", re.IGNORECASE)


def _is_past(time_phrase: str, day: date) -> bool:
    """Whether a time that a question says is over on a day: `in May 2017`, `two years ago`."""
    year_match = _IN_YEAR.search(time_phrase)
    return bool(_AGO.search(time_phrase)) or (
        year_match is not None and int(year_match[1]) < day.year
    )
