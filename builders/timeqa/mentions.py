"""Where a page names an object: its links, and the places where one of its names stands.

A name is found whatever the accents, dashes, quotes, spaces, full stops of initials (`F. C.`,
`FC`) and, but for the names below, letter case; the offsets are those of the page's own text.

- Only whole words count. A name of one word keeps a first capital; one of up to four letters or
  all in capitals keeps every letter's case.
- A name inside a longer one does not count: inside a longer link to another page, before another
  capitalised word (`Harvard University` in `Harvard University Press`), and for a name of one
  word, after one (`York` in `New York`). A link of just that text to another page is another
  thing of that name.
- `weak` names leave out what companies and clubs add (`F.C.`, `Inc.`). They count unless another
  object that is looked for has the same name. Surnames alone are never names.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from builders import rows
from builders.timeqa.stated import Dates, dates_in, sentence_starts

ADDED = frozenset(
    "fc afc cf sc ac as bc bk fk sk if sv cd ud rc rcd aff inc incorporated ltd limited llc plc "
    "corp corporation co company gmbh ag sa nv bv oy ab spa jsc kk llp".split()
)
"""What companies and clubs add to a name, folded, without full stops."""
_OTHER_TEAMS = frozenset("women ladies b ii iii reserves academy youth juniors u19 u20 u21 u23".split())
_BEFORE = frozenset(
    "the a an in at for from of on by to with and or but as after before while when since both "
    "former under between against although though during until near outside via into his her its "
    "their he she it they this that where then later also following joining".split()
)
"""Words that a sentence may begin with: capitalised, they are no part of a name."""
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_ODD = str.maketrans("łŁøØđĐıſ‐‑‒–—−’‘`´“”ʼ\u00a0\u2009\u202f", "llooddis------''''\"\"'   ")
_WORD = re.compile(r"[^\W_]+|&")
_INITIALS = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.\s?){2,}|(?<![^\W_])(?:[^\W\d_]\.)+[^\W\d_](?![^\W_])")
_NEXT = re.compile(r"[ -]([^\W\d_][\w'’.&]*)")
_NEXT_NUMBER = re.compile(r" \d{1,3}(?![\w.,–-])")
_LAST = re.compile(r"([^\W\d_][\w'’.]*)[ -]$")
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")


@lru_cache(maxsize=8192)
def _folded(char: str) -> str:
    plain = unicodedata.normalize("NFKD", char.translate(_ODD))[0].lower()
    return plain if len(plain) == 1 else char


def fold(text: str) -> str:
    """The text for comparing, of the same length: small letters without accents, plain marks."""
    if text.isascii():
        return text.lower()
    return "".join([c if c < "\x80" else _folded(c) for c in text]).lower()


class Mention(NamedTuple):
    """`paragraphs[paragraph].text[start:end]` names the object."""

    paragraph: int
    start: int
    end: int
    linked: bool
    weak: bool


@dataclass(frozen=True)
class Name:
    """One name that is looked for; `weak`: without what companies and clubs add."""

    text: str
    weak: bool = False

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Folded words; `F.C.` is one."""
        return words(self.text)


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a name; initials with full stops are one word, `&` is `and`."""
    text = _INITIALS.sub(lambda m: re.sub(r"[.\s]", "", m[0]) + " ", unicodedata.normalize("NFC", text))
    return tuple("and" if w == "&" else w for w in _WORD.findall(fold(text)))


def names_of(label: str, aliases: Iterable[str], title: str | None) -> list[Name]:
    """Every name of an object, the strong ones first, none twice."""
    strong = [label, *aliases, *([title] if title else [])]
    strong += [short for n in strong if (short := _BRACKET.sub("", n)) != n]
    found: dict[tuple[str, ...], Name] = {}
    for text in strong:
        if words(text) and any(c.isalpha() for c in text):
            found.setdefault(words(text), Name(text))
    for name in list(found.values()):
        for short in _shorter(name.text):
            found.setdefault(words(short), Name(short, weak=True))
    return list(found.values())


def _shorter(text: str) -> list[str]:
    """The name without `The` and without what companies and clubs add at either end."""
    parts = text.split()
    shorter = parts[1:] if parts[0] == "The" and len(parts) > 2 else parts
    while len(shorter) > 1 and all(w in ADDED for w in words(shorter[-1])):
        shorter = [*shorter[:-2], shorter[-2].rstrip(",")]
    while len(shorter) > 1 and words(shorter[0]) and all(w in ADDED for w in words(shorter[0])):
        shorter = shorter[1:]
    short = " ".join(shorter)
    return [short] if short != text and sum(map(str.isalpha, short)) > 3 else []


class PageText:
    """One page made ready for looking for names."""

    def __init__(self, page: rows.Page) -> None:
        self.page = page
        self.texts = [p.text for p in page.paragraphs]
        parts = [fold(t) for t in self.texts]
        self.folded = "\n".join(parts)
        self.starts = [0]
        for part in parts:
            self.starts.append(self.starts[-1] + len(part) + 1)
        self._dates: dict[str, Dates] = {}
        self._sentences: dict[int, list[int]] = {}
        self._links: dict[str, list[Mention]] | None = None

    def dates(self, text: str) -> Dates:
        """The dates of a paragraph or a section's title, read once."""
        if text not in self._dates:
            self._dates[text] = dates_in(text)
        return self._dates[text]

    def sentences(self, paragraph: int) -> list[int]:
        """Where its sentences begin; a list item or a row is one."""
        if paragraph not in self._sentences:
            one = self.page.paragraphs[paragraph]
            starts = sentence_starts(one.text) if one.kind == "text" else [0]
            self._sentences[paragraph] = starts
        return self._sentences[paragraph]

    def linked(self, title: str | None) -> list[Mention]:
        """Rule (a): the links to the page of this title."""
        if self._links is None:
            self._links = {}
            for n, paragraph in enumerate(self.page.paragraphs):
                for link in paragraph.links:
                    if link.start < link.end:
                        at = Mention(n, link.start, link.end, True, False)
                        self._links.setdefault(link.target, []).append(at)
        return self._links.get(title, []) if title else []

    def named(self, names: Sequence[Name], title: str | None) -> tuple[list[Mention], set[int]]:
        """Rule (b): the places of these names, in order; of overlapping ones the longest.

        Second, the paragraphs that hold one inside the name of something else.
        """
        known = {n.words for n in names}
        found: list[Mention] = []
        refused: set[int] = set()
        for name in names:
            if all(len(w) < 5 or w in self.folded for w in name.words):
                for place in _pattern(name.text).finditer(self.folded):
                    paragraph = bisect_right(self.starts, place.start()) - 1
                    start, end = self._span(paragraph, *place.span())
                    if self._counts(name, paragraph, start, end, title, known):
                        found.append(Mention(paragraph, start, end, False, name.weak))
                    else:
                        refused.add(paragraph)
        found.sort(key=lambda m: (m.paragraph, m.start, -m.end, m.weak))
        kept: list[Mention] = []
        for one in found:
            last = kept[-1] if kept else None
            if not last or last.paragraph != one.paragraph or last.end <= one.start:
                kept.append(one)
        return kept, refused

    def _span(self, paragraph: int, start: int, end: int) -> tuple[int, int]:
        """A place in the folded page as one in the paragraph, without a sentence's full stop."""
        start, end = start - self.starts[paragraph], end - self.starts[paragraph]
        text = self.texts[paragraph]
        if text[end - 1] == "." and "." not in text[start : end - 1]:
            end -= 1
        return start, end

    def _counts(
        self,
        name: Name,
        paragraph: int,
        start: int,
        end: int,
        title: str | None,
        known: set[tuple[str, ...]],
    ) -> bool:
        text = self.texts[paragraph]
        if not _same_case(name, text[start:end]):
            return False
        for link in self.page.paragraphs[paragraph].links:
            if link.start < end and start < link.end and link.target != title:
                inside = start < link.start or link.end < end
                bare = words(_BRACKET.sub("", link.target))
                if bare in known or (inside and link.start >= start and link.end <= end):
                    continue
                return False
        return not _continued(name, text, start, end, self.page.paragraphs[paragraph].kind)


def _same_case(name: Name, found: str) -> bool:
    """Whether the letters' case is near enough to the name's."""
    letters = [c for c in name.text if c.isalpha()]
    if len(letters) <= 4 or all(c.isupper() for c in letters):
        return [c.isupper() for c in found if c.isalpha()] == [c.isupper() for c in letters]
    if len(name.words) == 1 and letters[0].isupper():
        return found[:1].isupper()
    return True


def _continued(name: Name, text: str, start: int, end: int, kind: rows.ParagraphKind) -> bool:
    """Whether the words around make a longer name of it."""
    if not any(c.isupper() for c in text[start:end]):
        return False
    after = _NEXT.match(text, end)
    if after and after[1][0].isupper():
        word = "".join(words(after[1]))
        if word in ADDED:
            more = _NEXT.match(text, after.end(1))
            if more and "".join(words(more[1])) in _OTHER_TEAMS:
                return True
        elif word not in _MONTHS and word not in _BEFORE:
            return True
    elif kind == "text" and _NEXT_NUMBER.match(text, end):
        return True
    before = _LAST.search(text[max(0, start - 40) : start])
    if before and len(name.words) == 1 and before[1][0].isupper():
        word = "".join(words(before[1]))
        return word not in _BEFORE and word not in ADDED and not before[1].endswith(".")
    return False


@lru_cache(maxsize=16384)
def _pattern(name: str) -> re.Pattern[str]:
    """What finds a name in folded text."""
    parts = words(name)
    plain = fold(unicodedata.normalize("NFC", name))
    pattern = ""
    place = 0
    for n, word in enumerate(parts):
        at = plain.find(word, place)
        between = plain[place:at] if at >= 0 else " "
        place = at + len(word) if at >= 0 else place
        if n:
            stop = r"\.?" if len(parts[n - 1]) <= 4 or "." in between else ""
            comma = "," if "," in between or word in ADDED or word in ("jr", "sr") else ""
            more = "()" if {"(", ")"} & set(between) else ""
            also = re.escape("".join(c for c in set(between) if c in ':;"!/+'))
            some = "".join(sorted(also))
            pattern += rf"{stop}[ '\-/.{comma}{more}{some}]{{0,3}}" if stop else (
                rf"[ '\-/{comma}{more}{some}]{{0,3}}"
            )
        pattern += _word_pattern(word, name)
    return re.compile(rf"(?<![^\W_]){pattern}(?![^\W_])")


def _word_pattern(word: str, name: str) -> str:
    if word == "and":
        return "(?:and|&)"
    if 2 <= len(word) <= 4 and word.isalpha() and (word in ADDED or word.upper() in name or "." in name):
        return r"(?:\.? ?)".join(word) + r"\.?" if _initials(word, name) else re.escape(word)
    return re.escape(word)


def _initials(word: str, name: str) -> bool:
    """Whether a word of a name is made of initials: in capitals, or with full stops."""
    dotted = r"\.\s?".join(re.escape(c) for c in word)
    return bool(word.upper() in name.split() or re.search(dotted, name, re.IGNORECASE))
