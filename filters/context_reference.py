"""Drop a question that only makes sense beside its article, or on the article's day."""

import re
from collections.abc import Sequence
from typing import Literal

from builders.config import Strict
from builders.dates import MONTHS, WEEKDAYS
from filters.base import Context, Item, Verdict, judged

_DAY = "|".join(WEEKDAYS)
_DATE = rf"\d|{'|'.join(MONTHS)}"

# "the article", but not "the article about Brexit in the Times" and not "the article 50 letter"
_SPECIFIED = (
    r"(?!['’]s\s+[A-Z])(?!\s+(?:about|on|by|of|that|which|from|published|written|titled|\d))"
)
_SOURCE = re.compile(
    r"\b(?:(?:the|this|that|these)\s+(?:above\s+|given\s+|following\s+|news\s+)?"
    r"(?:article|passage|paragraph|excerpt|snippet|headline)s?\b" + _SPECIFIED + "|"
    r"(?:the|this)\s+(?:above|given)\s+(?:text|story|document|report)\b|"
    r"(?:according\s+to|(?:said|mentioned|described|stated|named|quoted|discussed|reported)\s+in|"
    r"(?:does|did))\s+(?:the|this)\s+"
    r"(?:text|story|report|document|author|writer|source|piece)\b" + _SPECIFIED + "|"
    r"(?:in|from|of)\s+(?:the|this)\s+text\b" + _SPECIFIED + "|"
    r"(?:mentioned|described|stated|discussed|quoted)\s+(?:above|below|here)\b)",
    re.IGNORECASE,
)
_PARTS = r"week|weekend|month|year|quarter|season|summer|winter|spring|autumn|fall|morning|evening"
_UNDATED = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|this\s+(?:" + _PARTS + r"|afternoon|coming\s+\w+))\b"
    r"|^(?:Today|Yesterday|Tomorrow|Tonight|This\s+(?:" + _PARTS + r"|afternoon))\b"
    # "on Thursday", but not "on Thursday, 4 June", "on Sunday Times" or "on Sundays"
    r"|\b(?:on|by|until|till|since|before|after|from|for|this|late|early|earlier|[Oo]n)\s+"
    r"(?:" + _DAY + r")(?:\s+(?:morning|afternoon|evening|night))?\b(?!['’]?s\b\s+[A-Z])"
    r"(?!\s+[A-Z])(?!,?\s+(?:the\s+)?(?:" + _DATE + r"))"
    r"|\b(?:" + _DAY + r")(?:['’]s\s+[a-z]|\s+(?:morning|afternoon|evening|night)\b)"
    r"|\bon\s+the\s+same\s+day\b(?!\s+(?:as|that|of))"
)
_RELATIVE = re.compile(
    r"\b(?:last|next)\s+(?:night|" + _PARTS + "|" + _DAY + "|" + "|".join(MONTHS) + r")\b(?!['’]s)"
    r"|\b(?:past|coming|previous)\s+(?:" + _PARTS + r")\b"
    r"|\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|several|few)\s+"
    r"(?:day|week|month|year|decade)s?\s+(?:ago|earlier|later)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")


class ContextReference(Strict):
    """The question points at its article ("the article", "according to the text"), or at its day.

    `today` and `on Thursday` mean nothing without a date. `last week` and `three years ago` do,
    but on the question's day, while they were written on the article's: with `relative: drop`
    they go too where the two days differ. What stands in quotation marks is not looked at.
    """

    filter: Literal["context_reference"] = "context_reference"
    relative: Literal["keep", "drop"] = "drop"

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """Drop, with the words that point outwards as `detail`."""
        return [judged(*self._why(item)) for item in items]

    def _why(self, item: Item) -> tuple[str | None, str | None]:
        text = _QUOTED.sub(" ", item.question.question)
        draw = item.question.draw
        kinds = [(_SOURCE, "refers to the article"), (_UNDATED, "undated day")]
        if self.relative == "drop" and draw.article_day != draw.question_day:
            kinds.append((_RELATIVE, "relative to the article's day"))
        for pattern, reason in kinds:
            if found := pattern.search(text):
                return reason, f"{found[0]!r} in {item.question.question!r}"
        return None, None
