"""Questions in English: what they point at, name and ask for, and where a time goes in one."""

import re
from datetime import date

from factdrift.builders.text.dates import WEEKDAYS, date_pattern
from factdrift.builders.text.pipeline import parse_text

_ASKS_TIME = re.compile(
    r"(?:When|Since when|Until when|(?:In|During|Over|On) which "
    r"(?:years?|months?|days?|period|decade|dates?))\b",
    re.IGNORECASE,
)
"""Questions for a time, whose answer another time would contradict."""
_FOR_GOOD = re.compile(
    r"^(?:Who|Which \w+) (?:is|was) the (?:first|second|third|only|youngest|oldest)\b"
    r"|^At what age\b"
)
"""What is so for good: whoever was the first to do it, was it at every time since."""


def asks_time(question: str) -> bool:
    """Whether a question asks for a time."""
    return _ASKS_TIME.match(question) is not None


def asks_permanent_fact(question: str) -> bool:
    """Whether what is asked is so for good: who was the first, was it at every time since."""
    return _FOR_GOOD.match(question) is not None


def time_ago(article_day: date, question_day: date) -> str:
    """How long before the question's day the article appeared; empty below a week.

    Days < 7 nothing, < 14 `a week ago`, up to 8 weeks `N weeks ago`, below 2 years
    `N months ago`, else `N years ago`; the nearest whole number, so that it is never off by more
    than half a unit: what was so 11 years and 10 months ago may not have been so 11 years ago.
    """
    days = (question_day - article_day).days
    if days < 7:
        return ""
    if days < 14:
        return "a week ago"
    if days <= _WEEKS:
        return f"{_nearest(days, 7)} weeks ago"
    months = (question_day.year - article_day.year) * 12 + question_day.month - article_day.month
    if months - (question_day.day < article_day.day) < _MONTHS:
        return f"{min(_nearest(days, _YEAR_DAYS / 12), _MONTHS - 1)} months ago"
    return f"{_nearest(days, _YEAR_DAYS)} years ago"


_WEEKS = 56
_MONTHS = 24
_YEAR_DAYS = 365.2425


def _nearest(days: int, unit: float) -> int:
    return int(days / unit + 0.5)


_TIED = re.compile(
    r",|\b(?:because|according|despite|although|after|amid)\b|\b(?:1[89]|20)\d\d\b"
    r"|\b(?:time|decade|year|month|week|day|hour|minute|century|season)s?$|\d$"
)
"""What a time behind it would seem to belong to."""


def insert_time(question: str, time: str) -> str:
    """`question` with the words `time` before its question mark, or at its head, before a comma.

    The head is their place where the end would date something else: another verb's deed (`agree to
    buy Yahoo`, `a port which received money`), a clause or a time.
    """
    if not time:
        return question
    body = question.rstrip().removesuffix("?").rstrip()
    parsed_question = parse_text(body)
    main_verbs = [
        token
        for token in parsed_question
        if token.tag_.startswith("VB") and token.dep_ not in ("aux", "auxpass")
    ]
    if len(main_verbs) < 2 and not _TIED.search(body):
        return f"{body} {time}?"
    lowered_body = (
        body if parsed_question[0].tag_ in ("NNP", "NNPS") else body[0].lower() + body[1:]
    )
    return f"{time[0].upper()}{time[1:]}, {lowered_body}?"


_WEEKDAY = re.compile(
    rf"(?:[Oo]n |[Ee]arly |[Ll]ate |[a-z]+ )*(?:{'|'.join(WEEKDAYS)})"
    r"(?: (?:morning|afternoon|evening|night))?"
)
_ASKS_DAY = re.compile(r"\b(?:what|which) (?:day|weekday)\b", re.IGNORECASE)


def article_day_reason(question: str, answer: str, *, relative: bool) -> str | None:
    """Why an answer is a time that means nothing without its article's day, if it is one.

    `undated_day`: `today`, and `Friday` but where the question asks which day it was;
    `relative_day`: `last week`, `three years ago`, where `relative` says that these count, too.
    """
    if _WEEKDAY.fullmatch(answer):
        return None if _ASKS_DAY.search(question) else "undated_day"
    if date_pattern("undated").search(answer.lower()):
        return "undated_day"
    if relative and (date_pattern("relative").search(answer) or answer.endswith(" ago")):
        return "relative_day"
    return None
