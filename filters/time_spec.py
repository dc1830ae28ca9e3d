"""Time specifications of past questions: found where they are, added where they are missing."""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from builders.dates import MONTHS, WEEKDAYS
from builders.rows import Question, TimeSpec
from filters.calendar import month_year

_MONTH = f"(?:{'|'.join(MONTHS)})"
_ABBR = r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\."
_DAY = f"(?:{'|'.join(WEEKDAYS)})"
_YEAR = r"(?:1[0-9]|20)\d\d"
_PREP = (
    r"(?:[Ii]n|[Oo]n|[Bb]y|[Ss]ince|[Uu]ntil|[Tt]ill|[Bb]efore|[Aa]fter|[Dd]uring|[Ff]rom|[Oo]f)"
)
_UNIT = (
    r"(?:second|minute|hour|day|week|weekend|fortnight|month|quarter|year|decade|century|season)"
)
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_NUMBER = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|many|"
    r"(?:a\s+)?few|(?:a\s+)?couple\s+of)"
)
_UNITS_AFTER = (
    r"(?!\s*(?:people|men|women|metres|meters|miles|kilometres|km|dollars|euros|pounds|votes|points|"
    r"jobs|years|tonnes|percent|per\s+cent|troops|soldiers|cases|homes|other|of)\b)"
)
_PLACE_AFTER = r"(?!,\s+[A-Z][a-z])"
"""`March, Cambridgeshire` is a town."""

_PATTERNS = (
    # 4 June, June 4th, 4th of June, June 4, 2017, 2017-06-04, Jan. 5
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH}|{_ABBR})",
    rf"\b(?:{_MONTH}|{_ABBR})\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?![\d,]*\d)",
    r"\b\d{4}-\d{2}-\d{2}\b",
    # May 2017, May of 2017, spring 2017
    rf"\b(?:{_MONTH}|{_ABBR}|(?i:{_SEASON}|mid|late|early))(?:\s+of|,)?[\s-]+{_YEAR}\b",
    # in May, since last March; not "in March, Cambridgeshire" and not "in May's cabinet"
    rf"\b{_PREP}\s+(?:early\s+|late\s+|mid-?\s?)?{_MONTH}\b(?!['’]s|\s+(?:on\s+)?[A-Z])"
    + _PLACE_AFTER,
    rf"\b(?:last|this|next)\s+(?:{_MONTH}|{_DAY})\b(?!['’]s\s+[A-Z])",
    rf"\b(?:on|by|until|since)\s+{_DAY}\b(?!['’]?s?\s+[A-Z])",
    # in 2017, since 2010, between 2010 and 2012, from 2010 to 2012, in the 1990s, the mid-1990s
    rf"\b{_PREP}\s+(?:early\s+|late\s+|mid-?\s?|the\s+year\s+|about\s+)?{_YEAR}\b(?![,.]\d|[-–]\d\d\d)"
    + _UNITS_AFTER,
    rf"\b[Bb]etween\s+{_YEAR}\s+(?:and|to)\s+{_YEAR}\b",
    rf"\b(?:[Tt]he\s+)?(?:early\s+|late\s+|mid-?)?(?:{_YEAR[:-4]}\d0|\d0)s\b",
    # the 2018 World Cup, Tokyo 2020, the 2015-16 season
    rf"\b(?:[Tt]he|[Aa]t|[Ii]ts|[Hh]is|[Hh]er|[Tt]heir|\w+['’]s?)\s+{_YEAR}(?:[-–/]\d{{2,4}})?\s+"
    r"(?!(?:people|men|women|metres|meters|miles|kilometres|dollars|euros|pounds|votes)\b)[A-Za-z]",
    r"\b[A-Z]\w+\s+20[0-3]\d\b(?=\s*\?|\s+(?:[Oo]lympics|[Gg]ames|[Ff]inal|[Ww]orld|election))",
    # the eighteenth century, the 19th century
    r"\b[Ii]n\s+the\s+(?:\d{1,2}(?:st|nd|rd|th)|[a-z]+(?:teenth|tieth|first))\s+century\b",
    # last week, this year, the past two months, three years ago, 5 days earlier, the day before
    rf"(?i:\b(?:last|this|next|past|previous|coming|following)\s+(?:{_NUMBER}\s+)?"
    rf"(?:{_UNIT}s?|{_SEASON}|night|morning|afternoon|evening)\b(?!['’]s\s+[A-Z]))",
    rf"(?i:\b{_NUMBER}\s+{_UNIT}s?\s+(?:ago|earlier|later)\b)",
    r"(?i:\blong\s+ago\b)",
    r"\b(?:yesterday|today|tomorrow|tonight|nowadays|currently|recently|lately)\b",
    r"^(?:Yesterday|Today|Tomorrow|Currently|Recently)\b",
    # in the summer, over the weekend, at Christmas, on New Year's Day
    rf"\b(?:in|over|during|at)\s+the\s+(?:{_SEASON}|weekend|turn\s+of\s+the\s+\w+)\b(?!\s+[A-Z]|\s+of\s)",
    r"\b(?:at|over|on|before|after|since)\s+(?:Christmas|Easter|Thanksgiving|New\s+Year|Boxing\s+Day)\b",
    # during the Second World War names a time; "the Second World War" alone does not
    r"\b(?:during|before|after)\s+(?:the\s+)?(?:First|Second)\s+World\s+War\b",
)
_TIME = re.compile("|".join(f"(?:{p})" for p in _PATTERNS))
_NAMES = re.compile(
    r"\b(?:March|Marches)\s+(?:on|for|of)\s+[A-Z]\w+|\b[Tt]he\s+March\s+of\b|\b\d+\s+Hours\s+of\b"
    r"|\bUSA\s+Today\b|\bRussia\s+Today\b|\b(?:Blade\s+Runner|Windows|Cyberpunk|Air)\s+\d{4}\b"
    r"|\b(?:Agenda|Vision|Horizon)\s+20[3-9]\d\b|\bThis\s+Morning\b|\bSaturday\s+Night\s+Live\b"
    r"|\b(?:iPhone|Apollo|Boeing|Airbus|Area|Route|Formula|Galaxy|Flight|Office)\s+\d+\w*\b"
    r"|[\"“][^\"”]*[\"”]"
)
"""Names that only look like times, and quotations."""


_ASKS_TIME = re.compile(
    r"(?:When|Since when|Until when|(?:In|During|Over|On) which "
    r"(?:years?|months?|days?|period|decade|dates?))\b",
    re.IGNORECASE,
)
"""Questions for a time, whose answer another time would contradict."""


@dataclass(frozen=True, slots=True)
class Specified:
    """A question's text with its time specification, and of which kind that is."""

    text: Annotated[str, "the question to ask"]
    kind: Annotated[TimeSpec, "none, absolute, relative, or own: it had one"]


def own_time(question: str) -> str | None:
    """The words that already specify a time in `question`; None where there are none."""
    found = _TIME.search(_NAMES.sub(lambda m: "_" * len(m[0]), question))
    return found[0] if found else None


_PRESENT = re.compile(r"^(Who|Which \w+) is ")
"""`Who is …` with a time of the past is `Who was …`."""

_FOR_GOOD = re.compile(
    r"^(?:Who|Which \w+) (?:is|was) the (?:first|second|third|only|youngest|oldest)\b"
)
"""What is so for good: whoever was the first to do it, was it at every time since."""


def specify(question: Question, seed: int) -> Specified:
    """The question with a time specification where it needs one (StreamingQA, appendix A.5).

    Recent questions, questions for a time and questions that say their time stay as they are.
    Of the others half are told the article's month, half how long ago it is; which, is a hash of
    seed and id. A relative one of less than a week is empty, and its kind is `none`.
    """
    text, draw = question.question, question.draw
    if own_time(text):
        return Specified(text, "own")
    timeless = _ASKS_TIME.match(text) or _FOR_GOOD.match(text)
    if draw.subset == "recent" or question.answer.type == "date" or timeless:
        return Specified(text, "none")
    text = _PRESENT.sub(r"\1 was ", text)
    code = hashlib.sha256(f"{seed}\ttime_spec\t{question.id}".encode()).digest()[0]
    if code % 2 or text[-2:-1].isdigit():  # not `at the age of 41 9 years ago`
        return Specified(put(text, f"in {month_year(draw.article_day)}"), "absolute")
    ago = relative(draw.article_day, draw.question_day)
    return Specified(put(text, ago), "relative") if ago else Specified(text, "none")


def relative(article_day: date, question_day: date) -> str:
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


def put(question: str, time: str) -> str:
    """`question` with the words `time` in their place.

    That is before the question mark, or before a trailing clause (`, according to …`,
    `because of …`). Where the main verb governs what somebody says, wants or decides (`agree to
    buy Yahoo`, `say that …`), the end of the sentence would date the wrong verb, so the time goes
    to the head, before a comma: `In May 2017, who agreed to buy Yahoo?`
    """
    if not time:
        return question
    body = question.rstrip().removesuffix("?").rstrip()
    if _SAYING.match(body) or _INFINITIVE.search(body) or re.search(r"\b(?:say|think)s?\b", body):
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
