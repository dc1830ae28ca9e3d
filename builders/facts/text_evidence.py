"""Whether a text states a fact: the one place where that is decided.

`fact_evidence` looks for two things in a passage: the words that state the relation, and the dates
that state when the fact began and ended. TimeQA asks for the dates alone, for the page of the
subject and the name of the object say the rest; the news asks for the relation between two names;
`as-of` asks for both. What stands around the passage and who is named there is the callers' task:
a page has its alignment (`builders.timeqa.mentions`), the news its names
(`builders.generate.mentions`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final, NamedTuple

from factdrift.builders import rows
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.text.dates import DateMention, DayInterval, TextDates, may_mean_boundary
from factdrift.builders.text.en.lexicon import TITLES

Span = tuple[int, int]
"""The first character of a name in a text, and the one after its last."""

NO_DATES: Final = TextDates((), ())


class FactDates(NamedTuple):
    """The first and the last day on which a fact may have begun, and the same of its end.

    None is an unknown boundary, and that of an end that is open: `is_open` tells them apart.
    """

    start: DayInterval | None
    end: DayInterval | None
    is_open: bool = False

    @classmethod
    def of_segment(cls, segment: rows.Segment) -> "FactDates":
        """The boundaries of a segment of a timeline; an open segment has no end."""
        first, last = segment.start_first, segment.start_last
        start = (first, last) if first and last else None
        first, last = segment.end_first, segment.end_last
        end = (first, last) if first and last and not segment.end_open else None
        return cls(start, end, segment.end_open)


@dataclass(frozen=True, slots=True)
class FactPassage:
    """A sentence, list item, table row or infobox line in which a fact may be stated.

    `dates` are those of the passage itself, and `nearby_dates` also those around it, which count
    where the passage has none. `names` are the spans of subject and object in a text about
    anything, as the news is; None: the text is a page about the subject, and the whole passage may
    state the relation. `start` is the place of the first character in its paragraph or article.
    """

    text: str
    dates: TextDates = NO_DATES
    nearby_dates: TextDates = NO_DATES
    names: tuple[Span, Span] | None = None
    start: int = 0


class FactEvidence(NamedTuple):
    """What a passage states of a fact.

    `relation` is the word that states the relation, empty where the relation needs none (the name
    of an office says what its holder is), and None where the relation is not stated. `is_change`
    says whether a word tells that such a fact began. `starts` and `ends` are the dates that state
    the two boundaries; None where the fact has no such boundary.
    """

    relation: str | None
    is_change: bool
    starts: tuple[DateMention, ...] | None
    ends: tuple[DateMention, ...] | None


def fact_evidence(
    passage: FactPassage, dates: FactDates, phrases: NewsWording | None = None
) -> FactEvidence:
    """What a passage states of a fact with these dates.

    `phrases` has the words of the relation; without it nobody asks whether the relation is stated.
    """
    relation, is_change = None, False
    if phrases is not None and passage.names is not None:
        relation = _joining_word(passage, phrases.cues, phrases.changes)
        is_change = relation is not None and _joining_word(passage, phrases.changes) is not None
    elif phrases is not None:
        found = _any_of((*phrases.cues, *phrases.changes)).search(passage.text)
        relation = found[0] if found else None if phrases.cues else ""
        is_change = _any_of(phrases.changes).search(passage.text) is not None
    return FactEvidence(relation, is_change, *_boundary_dates(passage, dates))


# --- Dates --------------------------------------------------------------------------------------

_MONTH = 31
"""Days of the longest month: a date of more days is a year, a decade or a century."""


def _boundary_dates(
    passage: FactPassage, dates: FactDates
) -> tuple[tuple[DateMention, ...] | None, tuple[DateMention, ...] | None]:
    """The dates that state start and end; None where the fact has no such boundary.

    A year is enough where it is that of the boundary; a month or a day has to be the boundary's.
    A date states a boundary on its side alone: what ends a stretch (`1990-1995`) states no start,
    and what begins one states no end. A stretch that has one boundary of the fact and is over
    before the other, or begins after it, is of something shorter and states neither. The end of an
    open fact is stated by a stretch without an end (`since 2003`).
    """
    start, end, is_open = dates
    written, stretches = passage.dates if passage.dates.written else passage.nearby_dates
    if start and end:
        shorter = [s for s in stretches if _is_shorter(s, year_of(start), year_of(end))]
        written = tuple(
            w for w in written if not any(s.start <= w.start and w.end <= s.end for s in shorter)
        )
    starts: tuple[DateMention, ...] | None = None
    ends: tuple[DateMention, ...] | None = None
    if start:
        begins = [
            w for w in written if all(s.end != w.end or s.start == w.start for s in stretches)
        ]
        starts = tuple(w for w in begins if _states(w, start))
    if end:
        closes = [
            w for w in written if all(s.start != w.start or s.end == w.end for s in stretches)
        ]
        ends = tuple(w for w in closes if _states(w, end))
    elif is_open and start:
        first, last = year_of(start)
        ends = tuple(s for s in stretches if s.last == date.max and first <= s.first <= last)
    return starts, ends


def _is_shorter(stretch: DateMention, start: DayInterval, end: DayInterval) -> bool:
    """Whether a stretch begins as a fact does and ends earlier, or the other way round."""
    if start[0] <= stretch.first <= start[1]:
        return stretch.last < end[0]
    return end[0] <= stretch.last <= end[1] and stretch.first > start[1]


def _states(written: DateMention, boundary: DayInterval) -> bool:
    is_year = (written.last - written.first).days > _MONTH
    return may_mean_boundary([written], boundary) or (
        is_year and may_mean_boundary([written], year_of(boundary))
    )


def year_of(boundary: DayInterval) -> DayInterval:
    """The calendar year of a boundary that lies within one; any other boundary as it is."""
    first, last = boundary
    if first.year != last.year:
        return boundary
    return date(first.year, 1, 1), date(first.year, 12, 31)


# --- Relations between two names ----------------------------------------------------------------

# Long sentences tell of several things; the limit is a guess.
_LONGEST = 60
"""Words of a sentence that can be evidence."""
_NEAR = 4
"""Words from two names to the relation's word."""
_OTHERS = 2
"""Other words between the names at most, small ones aside."""
_WORD = re.compile(r"[\w'’-]+")
_MARKS = re.compile(r"[.;:!?\"“”]|,")
_MOST_MARKS = 2
"""Marks between two names at most, as in `Leeds, 45, coach`: more of them part two clauses."""
_TITLE_REACH = 40
"""Characters before a name in which a title is looked for."""
_SMALL = frozenset(
    "s a an the of by in at for from with and as to is was were are has had been be his her their "
    "its this that who which new current incumbent 's ’s".split()
)
_CHANGE = re.compile(r"\b(?:appoint|nam|hir|sign|elect|unveil|install|marr|buy|bought|acquir)\w*")
"""Verbs between two names whose relation is told behind them: appointed … as head coach."""
_OTHERWISE = re.compile(
    r"\b(?:[Ff]ormer(?:ly)?|ex|previous(?:ly)?|predecessor|successor|once|late|then|next|future|"
    r"would-be|potential|possible|candidates?|designate|elect|would|challenger|rival|against|"
    r"[Dd]eputy|[Vv]ice|[Aa]ssistant|[Aa]cting|interim|caretaker|shadow|opposition|fake|fictional|"
    r"[Ii]f|linked|could|might|may)\b"
)
"""Words of a sentence that tells another relation between the two, or not yet, or no more.

The `former` coach is none today, and an `acting` one is no coach. `Formerly` matches, `reformer`
does not.
"""
_PARTS = frozenset("and by in to with from at for that this his her their its".split())
"""Small words behind which something else begins."""
_SERVES = re.compile(r"serv\w+|remain\w*|current(?:ly)?|incumbent|new|now|still|long|also")
"""Words of a state that goes on: `still`, `serving`, but not `visits`."""


@cache
def _any_of(cues: tuple[str, ...]) -> re.Pattern[str]:
    """Finds the words of a relation, in any case, as whole words."""
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, cues))})\b" if cues else "(?!)", re.I)


def _joining_word(
    passage: FactPassage, cues: tuple[str, ...], changes: tuple[str, ...] = ()
) -> str | None:
    """The word that joins the two names of a passage, if one of these does.

    Without any words the names have to stand together, as an office and its holder do. Else it
    stands between them, with hardly another word (`Chelsea manager Antonio Conte`), or before or
    after two names that belong together (`Prime Minister of India Narendra Modi`). Where it tells
    of a state and not of one of these changes, nothing may come between the first name and it
    (`visits India and meets Prime Minister Narendra Modi`), nor another such word before a name.
    """
    assert passage.names is not None
    pair = _NamePair(passage.text, *sorted(passage.names))
    if len(passage.text.split()) > _LONGEST or pair.tells_otherwise():
        return None
    pattern = _any_of(cues)
    rest = pattern.sub(" ", pair.between)
    others = _other_words(rest)
    if others is None:
        return None
    is_state = bool(changes) and not pair.has_near(_any_of(changes))
    found = pattern.search(pair.text, pair.first[1], pair.second[0])
    if found:
        return pair.word_between(found, pattern, is_state=is_state)
    if not cues:
        return None if others else ""
    if (others and not _CHANGE.search(rest)) or (is_state and _begins_another(rest)):
        return None
    return pair.word_beside(pattern, is_state=is_state)


class _NamePair(NamedTuple):
    """Two names of a sentence, in the order in which they stand there."""

    text: str
    first: Span
    second: Span

    @property
    def between(self) -> str:
        """The text between the two names."""
        return self.text[self.first[1] : self.second[0]]

    @property
    def surroundings(self) -> Span:
        """The span from a few words before the first name to a few words after the second."""
        before = [m.start() for m in _WORD.finditer(self.text, 0, self.first[0])][-_NEAR:]
        after = [m.end() for m in _WORD.finditer(self.text, self.second[1])][:_NEAR]
        return (before or [self.first[0]])[0], (after or [self.second[1]])[-1]

    def has_near(self, pattern: re.Pattern[str]) -> bool:
        """Whether such words stand between the names or near them."""
        return pattern.search(self.text, *self.surroundings) is not None

    def tells_otherwise(self) -> bool:
        """Whether a word near the names says that the relation is another one, or no more."""
        return self.has_near(_OTHERWISE)

    def word_between(
        self, found: re.Match[str], pattern: re.Pattern[str], *, is_state: bool
    ) -> str | None:
        """The word found between the names; none where another one is the title of a name."""
        if is_state and _begins_another(self.text[self.first[1] : found.start()]):
            return None
        starts = self.first[0], self.second[0]
        titles = [title for start in starts if (title := _title(self.text, start, pattern))]
        return None if titles and titles[0].lower() != found[0].lower() else found[0]

    def word_beside(self, pattern: re.Pattern[str], *, is_state: bool) -> str | None:
        """The word right before or after two names that belong together."""
        start, end = self.surroundings
        (first, _), (_, last) = self.first, self.second
        for found in (
            *pattern.finditer(self.text, start, first),
            *pattern.finditer(self.text, last, end),
        ):
            is_after = found.start() >= last
            gap = self.text[last : found.start()] if is_after else self.text[found.end() : first]
            words = _WORD.findall(gap)
            if all(word in _SMALL or word in TITLES for word in words) and not (
                is_state and _PARTS.intersection(words)
            ):
                return found[0]
        return None


def _other_words(between: str) -> list[str] | None:
    """The words between two names that are neither small nor titles.

    None where the two names do not belong together: a third name, too many words or too many marks
    stand between them.
    """
    if len(_MARKS.findall(between)) > _MOST_MARKS:
        return None
    others = [word for word in _WORD.findall(between) if word not in _SMALL and word not in TITLES]
    if any(word[0].isupper() for word in others) or len(others) > _OTHERS:
        return None
    return others


def _begins_another(gap: str) -> bool:
    """Whether what stands between two names, or a name and a word, tells of something else."""
    words: Sequence[str] = [word.lower() for word in _WORD.findall(gap)]
    return any(
        word in _PARTS or (word not in _SMALL and not _SERVES.fullmatch(word)) for word in words
    )


def _title(text: str, name_start: int, pattern: re.Pattern[str]) -> str | None:
    """The word of a relation that stands right before a name."""
    begin = max(name_start - _TITLE_REACH, 0)
    for found in reversed(list(pattern.finditer(text, begin, name_start))):
        if not text[found.end() : name_start].strip():
            return found[0]
    return None
