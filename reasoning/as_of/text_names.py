"""Names as text alone shows them: words with capitals. Nothing is known of what they name."""

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.words import WORD_PATTERN, fold_in_place

_WORD_LISTS = language_data("words")
_CALENDAR = language_data("dates")
_OPENING_WORDS = word_set(_WORD_LISTS["before_names"]) | word_set(
    "today who whom whose what which when how"
)
"""Words that have a capital where a sentence begins, and name nothing."""
_DAYS_AND_MONTHS = frozenset((*_CALENDAR["months"], *_CALENDAR["weekdays"]))
_FOLDED_CALENDAR = frozenset(map(str.lower, _DAYS_AND_MONTHS)) | {"today"}
_LITTLE_WORDS = word_set(_WORD_LISTS["function"]) | word_set(_WORD_LISTS["small"])
"""Words that are near to everything in a sentence."""
_CAPITALS = "".join(filter(str.isupper, map(chr, range(ord("A"), ord("\u0600")))))
"""The capitals of Latin, Greek and Cyrillic: Python's patterns have no class for them."""
_WORD = rf"(?:(?:[{_CAPITALS}]\.)+|(?:al-|el-)?[{_CAPITALS}][^\W_]*(?:['’.-]?[^\W_]+)*)"
# `Lina Khan`, `Ruud van Nistelrooy`, `S.L. Benfica`, `Bayer 04 Leverkusen`; not `khan`, `2nd`
_NAME = re.compile(
    rf"(?<![^\W_]){_WORD}(?:(?: (?:of|van|von|de|del|der|den|di|da|dos|bin|ter|\d\d))* {_WORD})*"
)
# the end of `Lima's`, not that of `Limas`
_POSSESSIVE = re.compile(r"['’]s$")
# what ends a sentence: a mark and a blank before a capital, or a new line
_SENTENCE_END = re.compile(rf"(?<=[.!?])\s+(?=[\"“'‘({_CAPITALS}])|\n+")


class CapitalName(NamedTuple):
    """A name with its place in a text."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)


def sentences_of(text: str) -> list[str]:
    """Cut a text where a mark ends a sentence; `Mr. Lee` is cut, too."""
    return _SENTENCE_END.split(text)


def names_of(text: str) -> Iterator[CapitalName]:
    """Yield the runs of words with capitals, without opening words, days of the week and months.

    >>> [name.text for name in names_of("On Monday the Bank of Italy lost Fabio Panetta.")]
    ['Bank of Italy', 'Fabio Panetta']
    """
    for name_match in _NAME.finditer(text):
        start, words = name_match.start(), name_match[0].split(" ")
        while words and _names_nothing(words[0]):
            start += len(words.pop(0)) + 1
        while words and _names_nothing(words[-1]):
            words.pop()
        if words:
            yield CapitalName(start, _POSSESSIVE.sub("", " ".join(words)))


def _names_nothing(word: str) -> bool:
    """Return whether a word at the edge of a name is none of it: a day, a month, an opening."""
    return word.isdigit() or word in _DAYS_AND_MONTHS or word.lower() in _OPENING_WORDS


def name_words(text: str) -> frozenset[str]:
    """Return the folded words of all names of a text."""
    words: set[str] = set()
    for name in names_of(text):
        words.update(folded_words(name.text))
    return frozenset(words)


def folded_words(text: str) -> list[str]:
    """Return the words of a text in small letters without accents."""
    return WORD_PATTERN.findall(fold_in_place(text))


def telling_words(text: str) -> frozenset[str]:
    """Return the folded words of a text without the little ones, numbers, and those of dates."""
    words = (word for word in folded_words(text) if not word[0].isdigit())
    return frozenset(words) - _LITTLE_WORDS - _FOLDED_CALENDAR


def nearest_name(text: str, question: str) -> str:
    """Return the name of a text that stands nearest to a word of the question.

    It shares no word with a name of the question; empty where the text has no such name. Of equally
    near ones it is the first.

    >>> nearest_name("Rome: Fabio Panetta is governor of the Bank of Italy.",
    ...     "Who was the governor of the Bank of Italy?")
    'Fabio Panetta'
    """
    asked_words, asked_names = telling_words(question), name_words(question)
    asked_places: list[tuple[int, int]] = []
    for word in WORD_PATTERN.finditer(fold_in_place(text)):
        if word[0] in asked_words:
            asked_places.append(word.span())
    best_distance, best_text = sys.maxsize, ""
    for name in names_of(text):
        if asked_names.isdisjoint(folded_words(name.text)):
            distance = _distance(name, asked_places)
            if distance < best_distance:
                best_distance, best_text = distance, name.text
    return best_text


def _distance(name: CapitalName, places: list[tuple[int, int]]) -> int:
    """Return the number of characters between a name and the nearest of some places."""
    distances = (max(name.start - end, start - name.end) for start, end in places)
    return min(distances, default=name.start)
