"""Questions in English: whether they ask for a time, and how a time is put into one."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from factdrift.builders.text.dates import WEEKDAYS, date_pattern
from factdrift.builders.text.pipeline import parsed_together

_ASKS_TIME = re.compile(
    r"(?:When|Since when|Until when|(?:In|During|Over|On) which "
    r"(?:years?|months?|days?|period|decade|dates?))\b",
    re.IGNORECASE,
)
"""Questions for a time; a second time in such a question would contradict its answer."""
_FOR_GOOD = re.compile(
    r"^(?:Who|Which \w+) (?:is|was) the (?:first|second|third|only|youngest|oldest)\b"
    r"|^At what age\b"
)
"""Questions whose answer never changes: who was the first stays the first."""


def asks_time(question: str) -> bool:
    """Whether a question asks for a time."""
    return _ASKS_TIME.match(question) is not None


def asks_permanent_fact(question: str) -> bool:
    """Whether the answer of a question never changes, as for who was the first to do something."""
    return _FOR_GOOD.match(question) is not None


def time_ago(article_day: date, question_day: date) -> str:
    """The time from the article to the question in words; empty below a week.

    It is `a week ago` below 14 days, `N weeks ago` up to 8 weeks, `N months ago` below 2 years, and
    `N years ago` from then on. N is rounded to the nearest whole number, because a fact of 11 years
    and 10 months ago may not have held 11 years ago.
    """
    day_count = (question_day - article_day).days
    if day_count < 7:
        return ""
    if day_count < 14:
        return "a week ago"
    if day_count <= _WEEKS:
        return f"{_nearest(day_count, 7)} weeks ago"
    month_count = (
        (question_day.year - article_day.year) * 12 + question_day.month - article_day.month
    )
    if month_count - (question_day.day < article_day.day) < _MONTHS:
        return f"{min(_nearest(day_count, _YEAR_DAYS / 12), _MONTHS - 1)} months ago"
    return f"{_nearest(day_count, _YEAR_DAYS)} years ago"


_WEEKS = 56
_MONTHS = 24
_YEAR_DAYS = 365.2425


def _nearest(days: int, unit: float) -> int:
    return int(days / unit + 0.5)


_TIED = re.compile(
    r",|\b(?:because|according|despite|although|after|amid)\b|\b(?:1[89]|20)\d\d\b"
    r"|\b(?:time|decade|year|month|week|day|hour|minute|century|season)s?$|\d$"
)
"""Words to which a time at the end of the question would seem to belong."""


def insert_times(questions: Sequence[str], times: Sequence[str]) -> list[str]:
    """Each question with the words of its time before its question mark, or at its start.

    They go to the start, with a comma, where at the end they would date something else: the action
    of another verb (`agree to buy Yahoo`, `a port which received money`), a clause or a time. A
    question whose time is empty stays as it is.
    """
    bodies = [
        question.rstrip().removesuffix("?").rstrip() if time else ""
        for question, time in zip(questions, times, strict=True)
    ]
    with parsed_together(bodies, lemmas=False) as parsed_bodies:
        return [
            _insert_time(parsed_body, time) if time else question
            for question, parsed_body, time in zip(questions, parsed_bodies, times, strict=True)
        ]


def _insert_time(parsed_body: Any, time: str) -> str:
    """A question, whose text without its mark is parsed, with its time."""
    body = parsed_body.text
    main_verbs = [
        token
        for token in parsed_body
        if token.tag_.startswith("VB") and token.dep_ not in ("aux", "auxpass")
    ]
    if len(main_verbs) < 2 and not _TIED.search(body):
        return f"{body} {time}?"
    lowered_body = body if parsed_body[0].tag_ in ("NNP", "NNPS") else body[0].lower() + body[1:]
    return f"{time[0].upper()}{time[1:]}, {lowered_body}?"


# `late on Friday evening`, not `Friday prayers`. No word fits two alternatives: if one did, the
# time would double with every such word.
_WEEKDAY = re.compile(
    rf"(?:(?:On|Early|Late|[a-z]+) )*+(?:{'|'.join(WEEKDAYS)})"
    r"(?: (?:morning|afternoon|evening|night))?"
)
_ASKS_DAY = re.compile(r"\b(?:what|which) (?:day|weekday)\b", re.IGNORECASE)


def article_day_reason(question: str, answer: str, *, relative: bool) -> str | None:
    """The reason why an answer is a time that is only clear with its article's day, or None.

    `undated_day` is for `today`, and for `Friday` unless the question asks for a weekday. With
    `relative`, `relative_day` is for `last week` or `three years ago`.
    """
    if _WEEKDAY.fullmatch(answer):
        return None if _ASKS_DAY.search(question) else "undated_day"
    if date_pattern("undated").search(answer.lower()):
        return "undated_day"
    if relative and (date_pattern("relative").search(answer) or answer.endswith(" ago")):
        return "relative_day"
    return None
