"""Whether two answers are the same."""

from collections import Counter

from builders.dates import WEEKDAYS
from builders.rows import AnswerType
from filters.calendar import MONTH_NUMBER
from filters.words import DETERMINERS, SMALL, tokens

_WEEKDAYS = frozenset(day.casefold() for day in WEEKDAYS)


def agreement(answer: str, other: str | None, kind: AnswerType) -> float:
    """How far two answers agree, from 0 to 1.

    Entities and dates agree wholly or not at all, after normalisation: `4 June 2017` is
    `on June 4th, 2017`. Phrases by the share of words they have in common, of the longer one's;
    prepositions and determiners count only where a phrase has no other words, so that `in Paris`
    and `in London` have nothing in common.
    """
    if other is None:
        return 0.0
    if kind == "date":
        return float(bool(_date(answer)) and _date(answer) == _date(other))
    if kind == "entity":
        return float(bool(tokens(answer)) and tokens(answer) == tokens(other))
    return overlap(answer, other)


def overlap(one: str, other: str) -> float:
    """Share of words that two phrases have in common, of the longer one's words."""
    ignore = SMALL if tokens(one, SMALL) and tokens(other, SMALL) else DETERMINERS
    a, b = Counter(tokens(one, ignore)), Counter(tokens(other, ignore))
    longer = max(a.total(), b.total())
    return (a & b).total() / longer if longer else 0.0


def _date(text: str) -> tuple[str, ...]:
    """Words of a date in one order and one spelling."""
    words = [_plain(word) for word in tokens(text, SMALL)]
    without = [word for word in words if word not in _WEEKDAYS]
    dated = any(word.startswith("month:") for word in without) or len(without) > 1
    chosen = without if dated else words
    return tuple(sorted(chosen)) if any(c.isdigit() for c in text) else tuple(chosen)


def _plain(word: str) -> str:
    number = MONTH_NUMBER.get(word)
    if number:
        return f"month:{number:02}"
    if word[0].isdigit() and word[-2:] in ("st", "nd", "rd", "th"):
        word = word[:-2]
    return word.lstrip("0") or word
