"""Checks of a cloze before it counts as knowledge.

Some faults drop a row at once: an answer that is a weekday, and a gap that cuts a name. Others are
*doubts*: sentences that are shown to the experts, who mend the cloze or overrule the doubt.
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
# `" Thiem won"` matches, with the name that follows; `" won"` and `", Thiem"` do not.
_NEXT_NAME = re.compile(r" ([A-Z][\w'’-]*)")
# `"beat Dominic "` matches, with the name that comes before; `"beat "` and `"Dominic"` do not.
_NAME_BEFORE = re.compile(r"([A-Z][\w'’-]*) $")
# What may stand between a weekday and its date: `", the "` in "Monday, the 4th of May" matches;
# `" or "` does not.
_AFTER_DAY = re.compile(r",? (?:the )?$")
# A year from 1000 to 2099: "in 1998" matches; "1,998", "1998th" and "A1998" do not.
_YEAR = re.compile(r"(?<![\w.,])(?:1[0-9]|20)[0-9]{2}(?![\w,])")


def is_undated_day(answer: str) -> bool:
    """Whether an answer is nothing but a weekday or the like, which may be right in any week."""
    words = normalize_or_keep(answer).split()
    return bool(words) and all(word in _DAYS for word in words)


def is_within(first_answer: str, second_answer: str) -> bool:
    """Whether one of two answers holds the other, word by word after normalisation."""
    first, second = (f" {normalize_or_keep(text)} " for text in (first_answer, second_answer))
    return first in second or second in first


def cuts_name(cloze: str, text: str, end: int) -> bool:
    """Whether a blank leaves the rest of a name behind: `[BLANK] Thiem` for "Dominic Thiem".

    `end` is where the answer ends in the article's `text`. A name is cut where the same word with
    a capital follows the answer there and the blank in the cloze.
    """
    cloze_rest = _NEXT_NAME.match(cloze[cloze.index(BLANK) + len(BLANK) :])
    text_rest = _NEXT_NAME.match(text[end:])
    return cloze_rest is not None and text_rest is not None and cloze_rest[1] == text_rest[1]


def text_doubts(statement: str, first_year: int) -> list[str]:
    """The doubts that a statement alone gives, each once.

    They are weekdays and words such as "yesterday" without a date, and years before `first_year`,
    the first year of the new corpus.
    """
    doubts = []
    dates = [*date_candidates(statement)]
    for start, end, kind in dates:
        dated = False
        for next_start, _, next_kind in dates:
            between = statement[end:next_start]
            dated = dated or (next_kind == "DAY" and _AFTER_DAY.match(between) is not None)
        if kind == "RELATIVE" or (kind == "WEEKDAY" and not dated):
            doubts.append(f"“{statement[start:end]}” says no date.")
    for year in _YEAR.findall(statement):
        if int(year) < first_year:
            doubts.append(f"{year} is before the new corpus.")
    return list(dict.fromkeys(doubts))


def cloze_doubts(
    cloze: str,
    question: str,
    answer: str,
    question_answer: str | None,
    text_before: str,
    first_year: int,
) -> list[str]:
    """The doubts about a worker's cloze, with its answer put in, and about the edited question.

    `question_answer` is the answer that the chosen question was made for, where it is known.
    `text_before` is the article's text up to the marked answer.
    """
    doubts = text_doubts(cloze.replace(BLANK, answer), first_year)
    doubts += [doubt for doubt in text_doubts(question, first_year) if doubt not in doubts]
    if question_answer is not None and not is_within(question_answer, answer):
        doubts.insert(0, f"The chosen question was made for another answer: “{question_answer}”.")
    name_in_text, name_in_cloze = (
        _NAME_BEFORE.search(text) for text in (text_before, cloze[: cloze.index(BLANK)])
    )
    if (
        name_in_text
        and name_in_cloze
        and name_in_text[1] == name_in_cloze[1]
        and name_in_text[1].lower() not in BEFORE_NAMES
    ):
        doubts.append(f"“{name_in_text[1]}” before the gap may be part of the name.")
    return doubts
