"""What a question asks, whatever its wording: words in one form with the parts that they play."""

import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from factdrift.builders.text.data import words
from factdrift.builders.text.en.answers import TITLES, folded_name, heard, numbers_in_digits
from factdrift.builders.text.pipeline import Word, read
from factdrift.builders.text.words import fold

_EMPTY = words(
    "the a an 's ’s s do does did be is are was were been being am have has had people person "
    "in of at on by many much which what that and ? , . - \" ' `` '' “ ” ’ ‘ from to against "
    "before after with without over under for into until since"
)
_WH = words("who whom whose what which when where why how")
_TITLE_WORDS = frozenset(w for title in TITLES for w in title.split())
_DIRECTIONS = words("from to against before after with without over under for into until since")
_INITIAL = re.compile(r"[A-Z]\.?")
_ENDS = re.compile(r"[’']s$")


def meaning(question: str) -> tuple[str, ...]:
    """The content words of a question, sorted, each with the part that it plays.

    Names are compared as they are heard, people by their last name without title; other names of
    the same thing, spellings, and numbers in words or digits are one. Whether who does something or
    whom it is done to is asked for is told apart, in active and passive; so are `from` and `to`.
    The order of words, auxiliaries, articles and `in`, `of`, `at`, `on` do not count.
    """
    found = read(_shortened(question))
    out = [f"{_part(found, word)}:{plain}" for word, plain in _content(found)]
    asked = next((w.low for w in found if w.low in _WH), "")
    kind = {"whom": "who", "whose": "who", "which": "what"}.get(asked, asked)
    role = "object" if _asks_object(found) else "subject"
    return (kind, role, *sorted(w for w in out if w.partition(":")[2] not in _WH))


class Content(NamedTuple):
    """The content words of a question, for comparing it with others of its article."""

    names: Annotated[frozenset[str], "names and numbers"]
    others: Annotated[frozenset[str], "other words, by lemma"]

    def nearly(self, other: "Content") -> bool:
        """Whether two questions with one answer in one article ask the same.

        One has all names and numbers of the other, and all its other words, but one of five.
        """
        return any(a.names <= b.names and a._within(b) for a, b in ((self, other), (other, self)))

    def _within(self, other: "Content") -> bool:
        words = len(self.names) + len(self.others)
        return words > 3 and len(self.others - other.others) <= words // 5


def content(question: str) -> Content:
    """The content words of a question, without the parts that they play."""
    names: set[str] = set()
    others: set[str] = set()
    for word, plain in _content(read(_shortened(question))):
        if word.tag in ("NNP", "NNPS", "CD"):
            names.add(plain)
        elif word.tag[:2] in ("NN", "VB", "JJ"):
            others.add(plain)
    return Content(frozenset(names), frozenset(others))


def _content(found: tuple[Word, ...]) -> Iterator[tuple[Word, str]]:
    """The words that say something, each in the form in which it is compared."""
    for word in found:
        if word.low in _EMPTY and word.low not in ("who", "which", "what"):
            continue
        if _goes(found, word):
            continue
        for plain in numbers_in_digits(folded_name(_form(word))):
            yield word, heard(plain) if len(plain) > 4 else plain


def _shortened(question: str) -> str:
    """The question with one name for each thing that has several (`United States` is US)."""
    text = question.replace("’s ", "'s ").replace("’", "'")
    text = re.sub(r"\b([Ww]ho|[Ww]hat|[Ww]here)'s\b", r"\1 is", text)
    for name, short in _LONG:
        text = name.sub(short, text)
    return text


_LONG = [
    (re.compile(rf"\b(?:{long})(?![\w.])"), short)
    for long, short in (
        (r"[Uu]nited [Ss]tates(?: of [Aa]merica)?|U\.S\.A?\.?|USA", "US"),
        (r"United Kingdom|Great Britain|U\.K\.", "UK"),
        (r"European Union|E\.U\.", "EU"),
        (r"United Nations|U\.N\.", "UN"),
        (r"chief executive(?: officer)?|chief exec", "CEO"),
        (r"[Pp]rime [Mm]inister", "premier"),
        (r"World Health Organi[sz]ation", "WHO"),
    )
]


def _asks_object(found: tuple[Word, ...]) -> bool:
    """Whether a question asks whom something is done to: by `did`, or in the passive."""
    first = next((w for w in found if w.tag in ("VBZ", "VBP", "VBD", "MD")), None)
    if first is None or first.low in ("do", "does", "did"):
        return first is not None
    be = first.low in ("is", "are", "was", "were")
    return be and any(w.tag == "VBN" and w.dep in ("ROOT", "acl") for w in found)


def _form(word: Word) -> str:
    """A name as it is written, another word as its lemma."""
    if word.tag in ("NNP", "NNPS", "CD"):
        return _ENDS.sub("", word.text)
    return word.lemma if word.lemma.isalpha() else word.text


def _goes(found: tuple[Word, ...], word: Word) -> bool:
    """Whether a word of a person's name says nothing more: a title, or a name before the last."""
    if word.text in _TITLE_WORDS and word.tag in ("NNP", "NNPS"):
        after = found[word.at + 1] if word.at + 1 < len(found) else None
        return after is not None and after.tag in ("NNP", "NNPS")
    if word.label != "PERSON" or word.at + 1 >= len(found) or _INITIAL.fullmatch(word.text):
        return False
    after = found[word.at + 1]
    return after.label == "PERSON" and after.text[0].isupper()


def _part(found: tuple[Word, ...], word: Word) -> str:
    """The part that a word plays: a direction (`from`), `not`, or nothing."""
    head = found[word.head]
    if word.dep == "pobj" and head.low in _DIRECTIONS:
        return fold(head.low)
    return "not" if word.dep == "neg" else ""
