"""What a cloze must clear before it stands for knowledge, or a person must overrule.

A *doubt* is a sentence for the experts. Some faults need no expert: an answer that is a weekday, a
name that the gap cuts, and the same answer twice drop a row at once.
"""

import re

from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.text.dates import WEEKDAYS, date_candidates
from factdrift.builders.text.names import BEFORE_NAMES
from factdrift.builders.text.squad import normalize_or_keep

_DAYS = frozenset(day.lower() for day in WEEKDAYS) | {
    *("today", "yesterday", "tomorrow", "tonight", "overnight"),
    *("morning", "afternoon", "evening", "night", "week", "weekend"),
    *("last", "next", "this", "on", "late", "early"),
}
_NEXT_NAME = re.compile(r" ([A-Z][\w'’-]*)")
_NAME_BEFORE = re.compile(r"([A-Z][\w'’-]*) $")
_AFTER_DAY = re.compile(r",? (?:the )?$")


def is_undated_day(answer: str) -> bool:
    """Whether an answer is a weekday or the like alone, which is true every week."""
    words = normalize_or_keep(answer).split()
    return bool(words) and all(word in _DAYS for word in words)


def is_within(one: str, other: str) -> bool:
    """Whether one answer holds the other, word by word after normalisation, or is the same."""
    first, second = (f" {normalize_or_keep(text)} " for text in (one, other))
    return first in second or second in first


def cuts_name(cloze: str, text: str, end: int) -> bool:
    """Whether a blank leaves the rest of a name behind: `[BLANK] Thiem` for "Dominic Thiem".

    `end`: where the answer ends in the article's `text`; the word after both begins with a
    capital.
    """
    left = _NEXT_NAME.match(cloze[cloze.index(BLANK) + len(BLANK) :])
    rest = _NEXT_NAME.match(text[end:])
    return left is not None and rest is not None and left[1] == rest[1]


def text_doubts(statement: str, first_year: int) -> list[str]:
    """What is doubtful in a statement alone.

    A weekday, or "yesterday", without a date; a year before `first_year`, that of the new corpus.
    """
    found = []
    dates = [*date_candidates(statement)]
    for start, end, kind in dates:
        dated = any(b[2] == "DAY" and _AFTER_DAY.match(statement[end : b[0]]) for b in dates)
        if kind == "RELATIVE" or (kind == "WEEKDAY" and not dated):
            found.append(f"“{statement[start:end]}” says no date.")
    for year in re.findall(r"(?<![\w.,])(?:1[0-9]|20)[0-9]{2}(?![\w,])", statement):
        if int(year) < first_year:
            found.append(f"{year} is before the new corpus.")
    return list(dict.fromkeys(found))


def cloze_doubts(
    cloze: str, question: str, answer: str, written_for: str | None, before: str, first_year: int
) -> list[str]:
    """What is doubtful in a worker's cloze, with its answer put in, and in the edited question.

    `written_for`: the answer that the chosen question was made for, where it is known; `before`:
    the article's text up to the marked answer.
    """
    found = text_doubts(cloze.replace(BLANK, answer), first_year)
    found += [doubt for doubt in text_doubts(question, first_year) if doubt not in found]
    if written_for is not None and not is_within(written_for, answer):
        found.insert(0, f"The chosen question was made for another answer: “{written_for}”.")
    name, kept = (_NAME_BEFORE.search(text) for text in (before, cloze[: cloze.index(BLANK)]))
    if name and kept and name[1] == kept[1] and name[1].lower() not in BEFORE_NAMES:
        found.append(f"“{name[1]}” before the gap may be part of the name.")
    return found
