"""Dates in running text, by patterns."""

import re
from collections.abc import Iterator

from builders.questions.english.lexicon import MONTHS, WEEKDAYS

_MONTH = "|".join(MONTHS) + r"|(?:Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\."
_WEEKDAY = "|".join(sorted(WEEKDAYS))
_YEAR = r"(?:1[5-9]|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])"
_UNIT = r"(?:week|month|year|spring|summer|autumn|winter|night)"

_KINDS = (
    ("DAY", rf"{_DAY}(?:st|nd|rd|th)? (?:{_MONTH}),? {_YEAR}"),
    ("DAY", rf"(?:{_MONTH}) {_DAY}(?:st|nd|rd|th)?, {_YEAR}"),
    ("MONTH", rf"(?:{_MONTH}),? {_YEAR}"),
    ("DAY_OF_YEAR", rf"{_DAY}(?:st|nd|rd|th)? (?:{_MONTH})(?![\w.])"),
    ("DAY_OF_YEAR", rf"(?:{_MONTH}) {_DAY}(?:st|nd|rd|th)?(?![\d,.]\d)"),
    ("WEEKDAY", rf"(?:last |next )?(?:{_WEEKDAY})"),
    ("RELATIVE", rf"(?:last|next|this) (?:{_UNIT}|{_MONTH})"),
    ("RELATIVE", rf"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|a) {_UNIT}s? ago"),
    ("RELATIVE", r"[Yy]esterday|[Tt]oday|[Tt]omorrow"),
    ("DECADE", r"(?:1[5-9]|20)\d0s"),
    ("YEAR", rf"(?<=\b[Ii]n ){_YEAR}|(?<=[Ss]ince ){_YEAR}|(?<=[Uu]ntil ){_YEAR}"),
    ("YEAR", rf"(?<=from ){_YEAR}|(?<=to ){_YEAR}|(?<=of ){_YEAR}(?=[.,;]|$| and )"),
    ("YEAR", rf"(?<= and ){_YEAR}(?=[.,;]|$)"),
    ("MONTH_OF_YEAR", r"(?<=[Ii]n )(?:" + "|".join(MONTHS) + r")(?![\w.]| \d)"),
)
_DATE = re.compile("|".join(rf"(?P<{k}_{i}>(?<![\w-]){p})" for i, (k, p) in enumerate(_KINDS)))


def dates(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans of dates in `text` with their kind: DAY, MONTH, YEAR, WEEKDAY, RELATIVE, …"""
    for m in _DATE.finditer(text):
        if m.end() < len(text) and (text[m.end()].isalnum() or text[m.end()] in "%-–/"):
            continue
        yield m.start(), m.end(), str(m.lastgroup).rsplit("_", 1)[0]
