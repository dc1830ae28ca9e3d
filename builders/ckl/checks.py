"""What a cloze must clear before it stands for knowledge: no weekday, no cut name, two answers.

Each returns whether the fault is there; the caller drops the row, or lets people overrule it.
"""

import re

from builders.ckl.gold import BLANK
from builders.text.dates import WEEKDAYS
from builders.text.squad import normal_or_all

_DAYS = frozenset(day.lower() for day in WEEKDAYS) | {
    *("today", "yesterday", "tomorrow", "tonight", "overnight"),
    *("morning", "afternoon", "evening", "night", "week", "weekend"),
    *("last", "next", "this", "on", "late", "early"),
}
_NEXT_NAME = re.compile(r" ([A-Z][\w'’-]*)")


def is_undated_day(answer: str) -> bool:
    """Whether an answer is a weekday or the like alone, which is true every week."""
    words = normal_or_all(answer).split()
    return bool(words) and all(word in _DAYS for word in words)


def is_within(one: str, other: str) -> bool:
    """Whether one answer holds the other, word by word after normalisation, or is the same."""
    first, second = (f" {normal_or_all(text)} " for text in (one, other))
    return first in second or second in first


def cuts_name(cloze: str, text: str, end: int) -> bool:
    """Whether a blank leaves the rest of a name behind: `[BLANK] Thiem` for "Dominic Thiem".

    `end`: where the answer ends in the article's `text`; the word after both begins with a
    capital.
    """
    left = _NEXT_NAME.match(cloze[cloze.index(BLANK) + len(BLANK) :])
    rest = _NEXT_NAME.match(text[end:])
    return left is not None and rest is not None and left[1] == rest[1]
