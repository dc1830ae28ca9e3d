"""Texts as the page compares them; `annotation/shell/text.js` says the same in its language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import category

from annotation.batch import Json

_BLANKS = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
_SPACE = re.compile(f"[{_BLANKS}]+")
_BRACKETS = re.compile(r"\[[^\]]*\]")


def trimmed(text: str) -> str:
    """A text without white space around it."""
    return text.strip(_BLANKS)


def folded(text: str) -> str:
    """A text case and spaces aside."""
    return _SPACE.sub(" ", text.lower()).strip(" ")


def plain(value: Json) -> str:
    """The text of a field or an answer: of a list all entries, a line each."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return plain(value.get("text"))
    if isinstance(value, Sequence):
        return "\n".join(map(plain, value))
    return "" if value is None else str(value)


def paragraphs(value: Json) -> list[str]:
    """The paragraphs of a field, whether plain or objects with a text."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    return [plain(value)]


def words(text: str) -> list[str]:
    """The words of a text as they are written."""
    return [text[start:end] for start, end in _places(text)]


def _places(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are: start and end of each, code points."""
    found: list[tuple[int, int]] = []
    inside = False
    for at, c in enumerate(text):
        kind = category(c)[0]
        if inside and (kind in "LNM" or c in "'’"):
            found[-1] = found[-1][0], at + 1
        elif inside := kind in "LN":
            found.append((at, at + 1))
    return found


def begins(text: str, start: str) -> bool:
    """Whether a text starts with these words, case aside."""
    same = text[: len(start)].lower() == start.lower()
    return same and not _letter(text[len(start) : len(start) + 1])


def stands_in(text: str, part: str) -> bool:
    """Whether whole words of a text, with what is between them, are another one, as written."""
    places = _places(text)
    at = text.find(part) if part else -1
    while at >= 0:
        end = at + len(part)
        met = [(a, b) for a, b in places if a < end and at < b]
        if met and at <= met[0][0] and met[-1][1] <= end:
            return True
        at = text.find(part, at + 1)
    return False


def added(text: str, source: str) -> str:
    """The first few telling words of a text, but its first, that the source lacks."""
    return _lacking(filter(_tells, words(text)[1:]), source)


def lost(text: str, source: str) -> str:
    """The first few telling words of a source that a text lacks.

    What stands in [brackets], and the first word where the source begins with one, are aside.
    """
    first = 1 if _begins_with_a_word(source) else 0
    return _lacking(filter(_tells, words(_BRACKETS.sub(" ", source))[first:]), text)


def lost_numbers(text: str, source: str) -> str:
    """The first few words with a digit of a source that a text lacks."""
    return _lacking(filter(_has_digit, words(source)), text)


def _letter(c: str) -> bool:
    return bool(c) and category(c)[0] in "LN"


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.lower())


def _tells(word: str) -> bool:
    return category(word[0]) == "Lu" or _has_digit(word)


def _has_digit(word: str) -> bool:
    return any(category(c)[0] == "N" for c in word)


def _lacking(wanted: Iterator[str], text: str) -> str:
    have = {_bare(word) for word in words(text)}
    return ", ".join(list(dict.fromkeys(w for w in wanted if _bare(w) not in have))[:3])


def _begins_with_a_word(text: str) -> bool:
    first = next((c for c in text if category(c)[0] in "LN" or c == "_"), "_")
    return first != "_"
