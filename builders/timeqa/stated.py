"""What a page states beside the evidence of a history: other dates, and where it names objects.

A question that is to have no answer must have none in its context. A window in which nothing is
known to hold is asked about only where the page states no date in it near the evidence
(`PageStates.near_evidence`), and a question whose answer is cut out of the context loses every
paragraph that names it in any form (`PageStates.naming`).
"""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property

from factdrift.builders import rows
from factdrift.builders.text.data import data, words
from factdrift.builders.text.dates import DayInterval, of_birth
from factdrift.builders.text.names import ADDED, GENERIC, initials
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.mentions import PageText

_KINDS = words(data("words")["kinds_in_names"])
_TELLING = 4
"""Letters of a word that tells an object."""
_YEAR = 367
"""Days of what is no decade or century."""


class PageStates:
    """What one page states, read once for all histories of its subject."""

    def __init__(self, page: PageText) -> None:
        self.page = page

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of words of each paragraph."""
        return tuple(len(text.split()) for text in self.page.texts)

    def near_evidence(self, segments: Sequence[rows.AlignedSegment]) -> tuple[DayInterval, ...]:
        """The dates and stretches of the sections that hold evidence, in paragraphs of its kind.

        No birth, decade or century.
        """
        paragraphs = self.page.page.paragraphs
        holding = {s.paragraph for s in segments if s.paragraph is not None}
        kinds = {(p.section, p.kind) for p in map(paragraphs.__getitem__, holding)}
        near = (n for n, p in enumerate(paragraphs) if (p.section, p.kind) in kinds)
        return tuple(sorted({days for n in near for days in self._days(n)}))

    def _days(self, paragraph: int) -> Iterator[DayInterval]:
        text, dates = self.page.texts[paragraph], self.page.dates(paragraph)
        opening, bracket = self.page.opening
        for one in (*dates.stretches, *dates.written):
            is_life = paragraph == opening and one.start in bracket
            if is_life or of_birth(text, one):
                continue
            if one in dates.stretches or (one.last - one.first).days < _YEAR:
                yield one.first, one.last

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """The folded words of each paragraph, of its section's titles and of what it links to.

        A word with an s stands without it, too: Republicans name a Republican.
        """
        found = []
        for p in self.page.page.paragraphs:
            words = set(name_words(" ".join((p.text, p.section, *(k.target for k in p.links)))))
            found.append(frozenset(words | {word[:-1] for word in words if word.endswith("s")}))
        return found

    def naming(self, segment: rows.AlignedSegment, subject: str) -> frozenset[int]:
        """The paragraphs that may name an object (`Naming`)."""
        names = Naming(segment, subject)
        return frozenset(n for n, words_ in enumerate(self._words) if names.may_be_in(words_))


class Naming:
    """The words by which an object is known, `subject` being the label of its subject.

    They are those of its label, its aliases and the page's own words for it that are neither
    short, nor of a kind of things (`University`), nor in the label of the subject; and its
    initials. All words of its label name it too.
    """

    def __init__(self, segment: rows.AlignedSegment, subject: str) -> None:
        names = (segment.object_label, *segment.aliases, *filter(None, [segment.mention]))
        short = {w for name in names if (form := initials(name)) for w in name_words(form)}
        own = {w for name in names for w in name_words(name)}
        known = {w for w in own if len(w) >= _TELLING} - GENERIC - ADDED - _KINDS
        known -= frozenset(name_words(subject))
        single = {w for name in names if len(some := name_words(name)) == 1 for w in some}
        self._known = known | short | single
        self._label = frozenset(name_words(segment.object_label))

    def may_be_in(self, words_: frozenset[str]) -> bool:
        """Whether a paragraph of these words may name the object."""
        return not self._known.isdisjoint(words_) or bool(self._label and self._label <= words_)


def is_stated(days: Sequence[DayInterval], first: date, last: date) -> bool:
    """Whether one of these dates or stretches touches the days from `first` to `last`."""
    return any(begins <= last and first <= ends for begins, ends in days)
