"""Questions in English: what they point at, name and ask for, and where a time goes in one."""

import re
from datetime import date

from factdrift.builders.text.dates import MONTHS, WEEKDAYS, pattern

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


def for_good(question: str) -> bool:
    """Whether what is asked is so for good: who was the first, was it at every time since."""
    return _FOR_GOOD.match(question) is not None


def ago(article_day: date, question_day: date) -> str:
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


_CLAUSE = re.compile(
    r",\s+(?:according\s+to|and\s+(?:why|how|where|when|who|what)|but|which|who|whom|whose|where|"
    r"despite|although|though|because|since|as|if|while|when|after|before)\b"
    r"|\s+(?:according\s+to|because(?:\s+of)?|despite|although|even\s+though|in\s+order\s+to|"
    r"so\s+that)\s"
)
_SAYING = re.compile(
    r"^(?P<head>(?:[Ww]ho|[Ww]hat\s+\w+|[Ww]hich\s+(?:[\w-]+\s+){1,4}?|[Hh]ow\s+many\s+(?:\w+\s+){1,3}?)"
    r"\s*(?:has\s+|have\s+|had\s+|is\s+|was\s+)?"
    r"(?:said|says|announced|claimed|argued|warned|suggested|admitted|revealed|denied|believed|"
    r"predicted|confirmed|promised|refused|agreed|decided|threatened|offered|planned|vowed|"
    r"pledged|wants?|wanted|tried|asked|ordered|urged|forced|accused))"
    r"(?P<rest>\s+(?:that|to|whether|it|he|she|they|the|a|an|his|her|their|[A-Z]).*)$"
)
_INFINITIVE = re.compile(
    r"\b(?:said|say|announced?|agreed?|decided?|refused?|promised?|plan(?:ned)?|expect(?:ed)?|"
    r"threaten(?:ed)?|offer(?:ed)?|want(?:ed)?|tried|try|vowed?|pledged?|voted?|ask(?:ed)?|"
    r"order(?:ed)?|urged?|hoped?|intend(?:ed)?|chosen|choose|chose|need|needed|failed|fail)"
    r"\s+to\s+(?:be\s+|have\s+)?[a-z]+\b"
)


_SAY = re.compile(r"\b(?:say|think)s?\b")
_RELATIVE = re.compile(r"(?<=[a-z] )(?:who|which|whose)\s+(?!is\b|was\b)")
"""A clause at whose end a time would be the clause's: `a port which received money`."""
_ANOTHER_DEED = re.compile(
    r"\b(?:after|before|for|of|over|by|from|in|while|without|during|attempting|accused)\s"
    r"(?:[a-z]+ly\s)?(?!during\b)[a-z]{2,}ing\b"
    r"|\b(?:as a result of|over|after|following|amid|attempt(?:ed|ing)?)\s\S+"
    r"|\sto\s[a-z]+\s(?:a|an|the|his|her|its|their)\s"
    r"|\b(?:disaster|attacks?|crash|election|war|shooting|bombings?|earthquake|floods?|protests?)$"
    r"|\b(?:death|eruption|intervention|stabbing|murder|killing|collision|massacre|invasion|coup|"
    r"explosion|uprising|riot|collapse|fire)s?(?:\s(?:of|in|at|on|near|against)\s.*)?$"
    r"|\b(?:19|20)\d\d\b|\sto\sbe\s[a-z]+"
    rf"|\b(?:in|on)\s(?:the\s)?(?:{'|'.join(MONTHS)})$"
    r"|\bfor\sthe\s\w+\stime\b|\bsince\b"
    r"|\b(?:decade|year|month|week|day|hour|minute|century|season)s?$"
    r"|\b(?:in|for|within|over)\s(?:[\w.,-]+\s){1,3}(?:decade|year|month|week|day|hour)s\b"
)
"""What a time behind it would seem to be the time of."""


def put(question: str, time: str) -> str:
    """`question` with the words `time` in their place.

    That is before the question mark, or before a trailing clause (`, according to …`,
    `because of …`). Where the main verb governs what somebody says, wants or decides (`agree to
    buy Yahoo`, `say that …`), or another clause, deed or event ends the question (`a port which
    received money`, `after contracting the virus`), the end of the sentence would date that, so
    the time goes to the head, before a comma: `In May 2017, who agreed to buy Yahoo?`
    """
    if not time:
        return question
    body = question.rstrip().removesuffix("?").rstrip()
    forms = (_RELATIVE, _SAYING, _INFINITIVE, _SAY, _ANOTHER_DEED)
    if any(form.search(body) for form in forms):
        return f"{time[0].upper()}{time[1:]}, {_small(body)}?"
    clause = _CLAUSE.search(body)
    if clause and clause.start() > 10 and len(body[: clause.start()].split()) > 2:
        return f"{body[: clause.start()]} {time}{body[clause.start() :]}?"
    return f"{body} {time}?"


_STARTERS = re.compile(
    r"(?:Who|Whom|Whose|What|Which|When|Where|Why|How|In|On|At|By|For|From|To|With|Under|Of|Is|Are|"
    r"Was|Were|Did|Does|Do|Has|Have|Had|Can|Could|Will|Would|Should|The|A|An)\b"
)


def _small(text: str) -> str:
    """`text` to stand after a comma: its first word small, unless it is a name."""
    return text[0].lower() + text[1:] if _STARTERS.match(text) else text


_WEEKDAY = re.compile(
    rf"(?:[Oo]n |[Ee]arly |[Ll]ate |[a-z]+ )*(?:{'|'.join(WEEKDAYS)})"
    r"(?: (?:morning|afternoon|evening|night))?"
)
_ASKS_DAY = re.compile(r"\b(?:what|which) (?:day|weekday)\b", re.IGNORECASE)


def day_of_article(question: str, answer: str, *, relative: bool) -> str | None:
    """Why an answer is a time that means nothing without its article's day, if it is one.

    `undated_day`: `today`, and `Friday` but where the question asks which day it was;
    `relative_day`: `last week`, `three years ago`, where `relative` says that these count, too.
    """
    if _WEEKDAY.fullmatch(answer):
        return None if _ASKS_DAY.search(question) else "undated_day"
    if pattern("undated").search(answer.lower()):
        return "undated_day"
    if relative and (pattern("relative").search(answer) or answer.endswith(" ago")):
        return "relative_day"
    return None
