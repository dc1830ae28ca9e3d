"""Where a page names an object: its links, and the places where one of its names stands.

A name is found whatever the accents, dashes, quotes, spaces, full stops of initials (`F. C.`,
`FC`) and, but for the names below, letter case; the offsets are those of the page's own text.

- Only whole words count. A name of one word keeps a first capital; one of up to four letters or
  all in capitals keeps every letter's case.
- A name inside a longer one does not count: inside a longer link to another page, before another
  capitalised word (`Harvard University` in `Harvard University Press`), and for a name of one
  word, after one (`York` in `New York`). A link of just that text to another page is another
  thing of that name.
- `weak` names leave out what companies and clubs add (`F.C.`, `Inc.`) or a place after a comma
  (`Lady Margaret Hall, Oxford`), or are what a link to the object shows. They count unless another
  object has the same name, or another place follows. Surnames alone are no names.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from builders import rows
from builders.timeqa.spelling import (
    ADDED,
    Name,
    fold_without_marks,
    pattern,
    same_case,
    squeeze,
    without_bracket,
    words,
)
from builders.timeqa.stated import Dates, dates_in, sentence_starts

_OTHER_TEAMS = frozenset("women ladies b ii iii reserves academy youth juniors u19 u21 u23".split())
_BEFORE = frozenset(
    "the a an in at for from of on by to with and or but as after before while when since both "
    "former under between against although though during until near outside via into his her its "
    "their he she it they this that where then later also following joining".split()
)
"""Words that a sentence may begin with: capitalised, they are no part of a name."""
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_NEXT = re.compile(r"[ -]([^\W\d_][\w'’.&]*)")
_NEXT_NUMBER = re.compile(r" \d{1,3}(?![\w.,–-])")
_NEXT_PLACE = re.compile(r", ([^\W\d_][\w'’.&]*)")
_LAST = re.compile(r"([^\W\d_][\w'’.]*)[ -]$")


class Mention(NamedTuple):
    """`paragraphs[paragraph].text[start:end]` names the object."""

    paragraph: int
    start: int
    end: int
    linked: bool = False
    weak: bool = False


class PageText:
    """One page made ready for looking for names."""

    def __init__(self, page: rows.Page) -> None:
        self.page = page
        self.texts = [p.text for p in page.paragraphs]
        parts = [fold_without_marks(t) for t in self.texts]
        self.folded = "\n".join(text for text, _ in parts)
        self.starts = [0]
        for text, _ in parts:
            self.starts.append(self.starts[-1] + len(text) + 1)
        self._squeezed = squeeze(self.folded)
        self._places = {n: places for n, (_, places) in enumerate(parts) if places}
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
        """Rule (a): the links to the page of this title, in order."""
        if self._links is None:
            self._links = {}
            for n, paragraph in enumerate(self.page.paragraphs):
                for link in paragraph.links:
                    if link.start < link.end:
                        at = Mention(n, link.start, link.end, linked=True)
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
            if "".join(name.words) in self._squeezed:
                for place in self._places_of(name):
                    paragraph = bisect_right(self.starts, place[0]) - 1
                    start, end = self.span(paragraph, *place)
                    if self._counts(name, paragraph, start, end, title, known):
                        found.append(Mention(paragraph, start, end, weak=name.weak))
                    else:
                        refused.add(paragraph)
        found.sort(key=lambda m: (m.paragraph, m.start, -m.end, m.weak))
        kept: list[Mention] = []
        for one in found:
            last = kept[-1] if kept else None
            if not last or last.paragraph != one.paragraph or last.end <= one.start:
                kept.append(one)
        return kept, refused

    def _places_of(self, name: Name) -> Iterator[tuple[int, int]]:
        """Where a name's letters stand in the folded page.

        A plain search for the first word goes before the pattern, which is slow to scan with.
        """
        found = pattern(name.text)
        first = name.words[0]
        if len(first) <= 4 or first not in self.folded:  # perhaps initials, or an `&`
            yield from (m.span() for m in found.finditer(self.folded))
            return
        at = self.folded.find(first)
        while at >= 0:
            place = found.match(self.folded, at)
            if place:
                yield place.span()
            at = self.folded.find(first, place.end() if place else at + 1)

    def span(self, paragraph: int, start: int, end: int) -> tuple[int, int]:
        """A place in the folded page as one in the paragraph, without a sentence's full stop."""
        start, end = start - self.starts[paragraph], end - self.starts[paragraph]
        if places := self._places.get(paragraph):
            start, end = places[start], places[end]
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
        one = self.page.paragraphs[paragraph]
        if not same_case(name, one.text[start:end]):
            return False
        for link in one.links:
            if link.start >= end or link.end <= start or link.target == title:
                continue
            part_of_name = start <= link.start and link.end <= end and link.end - link.start
            if part_of_name and part_of_name < end - start:
                continue
            if words(without_bracket(link.target)) not in known:
                return False
        return not _continued(name, one.text, start, end, one.kind)


def _continued(name: Name, text: str, start: int, end: int, kind: rows.ParagraphKind) -> bool:
    """Whether the words around make a longer name of it."""
    if not any(c.isupper() for c in text[start:end]):
        return False
    place = _NEXT_PLACE.match(text, end) if name.place else None
    if place and place[1][0].isupper() and words(place[1])[0] != words(name.place)[0]:
        return True
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
