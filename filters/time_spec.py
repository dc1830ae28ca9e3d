"""Time specifications of past questions: read where they are, added where they are missing."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.rows import Question, TimeSpec
from factdrift.builders.text.dates import format_date, time_in_question, with_preposition
from factdrift.builders.text.en.questions import (
    asks_permanent_fact,
    asks_time,
    insert_time,
    time_ago,
)
from factdrift.builders.text.en.tense import asks_state, to_past_tense


@dataclass(frozen=True, slots=True)
class TimedQuestion:
    """A question's text with its time specification, and the kind of the specification."""

    text: Annotated[str, "the question to ask"]
    kind: Annotated[TimeSpec, "none, absolute, relative, or own: it had one"]


def add_time_spec(question: Question, seed: int) -> TimedQuestion:
    """Return the question with a time specification if it needs one (StreamingQA, appendix A.5).

    Recent questions, questions for a time and questions that say their time stay as they are, but
    for their tense where that time is past. Of the others, half get the article's month and half
    the time since the article; a hash of seed and id decides. Less than a week has no relative
    time, and the kind is then `none`. A question about a state or an office never gets a relative
    time, because `ten years ago` does not say which month, and the holder may have changed then.
    """
    question_text, draw = question.question, question.draw
    if own_time := time_in_question(question_text):
        return TimedQuestion(
            to_past_tense(question_text)
            if _is_past(own_time, draw.question_day)
            else question_text,
            "own",
        )
    timeless = asks_time(question_text) or asks_permanent_fact(question_text)
    if draw.subset == "recent" or question.answer.type == "date" or timeless:
        return TimedQuestion(question_text, "none")
    time_before = time_ago(draw.article_day, draw.question_day)
    # one byte of the hash is enough for a choice of two
    hash_byte = seeded_hash(seed, "time_spec", question.id) >> 56
    if hash_byte % 2 or (time_before and asks_state(question_text)):
        month_phrase = with_preposition("in", format_date(draw.article_day, "month"))
        return TimedQuestion(ask_in_past(question_text, month_phrase), "absolute")
    return (
        TimedQuestion(ask_in_past(question_text, time_before), "relative")
        if time_before
        else TimedQuestion(question_text, "none")
    )


def ask_in_past(question: str, time_phrase: str) -> str:
    """Put a question into the past tense and insert a time at its place."""
    return insert_time(to_past_tense(question, also_would=True), time_phrase)


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
