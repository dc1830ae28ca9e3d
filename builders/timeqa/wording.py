"""Time specifiers as English, and names that would give an answer away."""

import re
import unicodedata
from collections.abc import Collection
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from builders.cloze.render import Part, Slot, parse_question, question
from builders.timeqa.specifiers import DAY, YEAR, Time, Unit
from builders.wikidata.names import WORD

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_ERA = 1000
"""Years below it are written AD 37, which no reader takes for a number."""
_WORDS = re.compile(r"[^\W_]+")


@lru_cache(1 << 16)
def named(unit: Unit) -> str:
    """`5 May 2005`, `May 2005`, `2005`; `AD 37`."""
    first = date.fromordinal(unit.first)
    year = str(first.year) if first.year >= _ERA else f"AD {first.year}"
    if unit.grain == YEAR:
        return year
    month = f"{MONTHS[first.month - 1]} {year}"
    return f"{first.day} {month}" if unit.grain == DAY else month


def specifier(time: Time, easy: bool) -> str:
    """The specifier with its preposition: in 2005, on 5 May 2005, before June 2009, after 2010.

    Two units are `from 2003 to 2009` where they are a segment's own boundaries (easy), else
    `between 2003 and 2009`.
    """
    first, last = time.first, time.last
    if time.specifier == "before" and last:
        return f"before {named(last)}"
    assert first  # noqa: S101
    if time.specifier == "after" or last is None:
        return f"after {named(first)}"
    if time.specifier == "in":
        return f"{'on' if first.grain == DAY else 'in'} {named(first)}"
    pair = ("from", "to") if easy else ("between", "and")
    return f"{pair[0]} {named(first)} {pair[1]} {named(last)}"


class Frame(NamedTuple):
    """A question of one subject whose time is still open, and the words that may stand in it."""

    template: str
    label: str
    before: str | None
    after: str
    words: frozenset[str]

    def text(self, time: str) -> str:
        """The question at a time."""
        if self.before is None:
            return question(self.template, self.label, time)
        return f"{self.before}{time}{self.after}"


_HOLE = "\0"


def frame(template: str, label: str, words: frozenset[str]) -> Frame:
    """A template with its subject, whose words are given; rendered once, for all times."""
    made = question(template, label, _HOLE)
    head, fixed = _parsed(template)
    # A time that opens the sentence takes a capital, so each is rendered by itself.
    if made.count(_HOLE) != 1 or (isinstance(head, Slot) and head.role == "time"):
        return Frame(template, label, None, "", words | fixed)
    before, after = made.split(_HOLE)
    return Frame(template, label, before, after, words | fixed)


@lru_cache
def _parsed(template: str) -> tuple[Part, frozenset[str]]:
    """The first part of a template, and all words that it may print but for its subject."""
    parts = parse_question(template)
    fixed = " ".join(p for p in parts if isinstance(p, str))
    return parts[0], frozenset((*tokens(fixed), "a", "an", "the"))


def tokens(text: str) -> list[str]:
    """Words, case-folded, without accents."""
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in parts if not unicodedata.combining(c))
    return _WORDS.findall(text.lower())


def significant(words: Collection[str]) -> frozenset[str]:
    """The words that are long enough to say something (see `builders.wikidata.names`)."""
    return frozenset(w for w in words if len(w) >= WORD)


class Names(NamedTuple):
    """All names of an object as words: the significant ones of its label, each name, and heads."""

    words: frozenset[str]
    spans: tuple[str, ...]
    heads: frozenset[str]

    def given_away(
        self, subject: frozenset[str], words: frozenset[str], time: list[str], question: str
    ) -> bool:
        """Whether a question holds a name whole, or its subject shares a word with the label.

        `subject`: significant words of the subject's label. `words` and `time`: all words of the
        question, those of its time apart.
        """
        if not self.words.isdisjoint(subject):
            return True
        if self.heads.isdisjoint(words) and self.heads.isdisjoint(time):
            return False
        there = f" {' '.join(tokens(question))} "
        return any(s in there for s in self.spans)


@lru_cache(1 << 16)
def names(label: str, aliases: tuple[str, ...]) -> Names:
    """The names of an object. An alias of one or two letters is no name: IN is a preposition."""
    split = [tokens(label), *(t for t in map(tokens, aliases) if len("".join(t)) > 2)]
    split = [t for t in split if t]
    return Names(
        significant(split[0] if tokens(label) else ()),
        tuple(f" {' '.join(t)} " for t in split),
        frozenset(t[0] for t in split),
    )
