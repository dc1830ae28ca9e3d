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
from itertools import takewhile
from typing import Final, NamedTuple

from factdrift.builders import rows
from factdrift.builders.facts.boundary_sides import SidedDates
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.text.dates import (
    MONTHS,
    WEEKDAYS,
    DateMention,
    DayInterval,
    TextDates,
    may_mean_boundary,
)
from factdrift.builders.text.en.lexicon import TITLES

Span = tuple[int, int]
"""The first character of a name in a text, and the one after its last."""

NO_DATES: Final = TextDates((), ())
NO_SIDES: Final = SidedDates()


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
    `sided` has the dates of the passage by what they state of the object, and `nearby_sided` those
    around it; where `sided` is None any date may state either boundary.
    """

    text: str
    dates: TextDates = NO_DATES
    nearby_dates: TextDates = NO_DATES
    names: tuple[Span, Span] | None = None
    start: int = 0
    sided: SidedDates | None = None
    nearby_sided: SidedDates = NO_SIDES


class FactEvidence(NamedTuple):
    """The parts of a fact that a passage states.

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
    """Return the parts of a fact with these dates that a passage states.

    `phrases` has the words of the relation; without it nobody asks whether the relation is stated.
    """
    relation, is_change = None, False
    if phrases is not None and passage.names is not None:
        relation = _joining_word(passage, phrases.cues, phrases.changes)
        is_change = relation is not None and _joining_word(passage, phrases.changes) is not None
    elif phrases is not None:
        relation_word = _any_of((*phrases.cues, *phrases.changes)).search(passage.text)
        relation = relation_word[0] if relation_word else None if phrases.cues else ""
        is_change = _any_of(phrases.changes).search(passage.text) is not None
    return FactEvidence(relation, is_change, *_boundary_dates(passage, dates))


# --- Dates --------------------------------------------------------------------------------------

_LONGEST_MONTH = 31
"""Days of the longest month: a date of more days is a year, a decade or a century."""


def _boundary_dates(
    passage: FactPassage, dates: FactDates
) -> tuple[tuple[DateMention, ...] | None, tuple[DateMention, ...] | None]:
    """Return the dates in a passage that state the fact's start, and those that state its end.

    Either is None if the fact has no such boundary. A written year states a boundary in that year;
    a written month or day has to be that of the boundary. In a stretch such as `1990-1995`, the
    first date can state only a start and the last date only an end. The end of an open fact is
    stated by a stretch without an end (`since 2003`).
    """
    fact_start, fact_end, is_open = dates
    sided = passage.sided if passage.dates.written else passage.nearby_sided
    written_dates, stretches = passage.dates if passage.dates.written else passage.nearby_dates
    if fact_start and fact_end:
        written_dates = _outside_shorter(written_dates, stretches, fact_start, fact_end)
    starting_dates = ending_dates = written_dates
    if sided is not None:
        starting_dates, ending_dates = _dates_by_side(sided, fact_start, fact_end, written_dates)
    start_dates: tuple[DateMention, ...] | None = None
    end_dates: tuple[DateMention, ...] | None = None
    if fact_start:
        stated_starts = filter(lambda written: _states(written, fact_start), starting_dates)
        start_dates = tuple(
            written for written in stated_starts if not _ends_a_stretch(written, stretches)
        )
    if fact_end:
        stated_ends = filter(lambda written: _states(written, fact_end), ending_dates)
        end_dates = tuple(
            written for written in stated_ends if not _begins_a_stretch(written, stretches)
        )
    elif is_open and fact_start:
        end_dates = _open_stretches(stretches, year_of(fact_start))
    return start_dates, end_dates


def _dates_by_side(
    sided: SidedDates,
    fact_start: DayInterval | None,
    fact_end: DayInterval | None,
    written_dates: Sequence[DateMention],
) -> tuple[tuple[DateMention, ...], tuple[DateMention, ...]]:
    """Those of the written dates that may state a fact's start, and those that may state its end.

    Whatever happened in a unit of time that holds the whole fact states both, as of a prize.
    """
    whole_dates: list[DateMention] = []
    if fact_start and fact_end:
        for written in (*sided.starts, *sided.ends, *sided.moments):
            holds_fact = written.first <= fact_start[0] and fact_end[1] <= written.last
            if holds_fact or (fact_start == fact_end and may_mean_boundary([written], fact_start)):
                whole_dates.append(written)
    may_start = {*sided.starts, *whole_dates}
    may_end = {*sided.ends, *whole_dates}
    return tuple(filter(may_start.__contains__, written_dates)), tuple(
        filter(may_end.__contains__, written_dates)
    )


def _outside_shorter(
    written_dates: Sequence[DateMention],
    stretches: Sequence[DateMention],
    fact_start: DayInterval,
    fact_end: DayInterval,
) -> tuple[DateMention, ...]:
    """The dates that are not part of a stretch of something shorter than the fact.

    Such a stretch has one boundary of the fact and is over before the other, or begins after it, so
    that neither of its dates states a boundary.
    """
    outside_dates = list(written_dates)
    for stretch in stretches:
        if _is_shorter(stretch, year_of(fact_start), year_of(fact_end)):
            outside_dates = [
                written
                for written in outside_dates
                if written.start < stretch.start or stretch.end < written.end
            ]
    return tuple(outside_dates)


def _ends_a_stretch(written: DateMention, stretches: Sequence[DateMention]) -> bool:
    """Whether a date is the last part of a stretch that begins before it."""
    return any(
        stretch.end == written.end and stretch.start != written.start for stretch in stretches
    )


def _begins_a_stretch(written: DateMention, stretches: Sequence[DateMention]) -> bool:
    """Whether a date is the first part of a stretch that ends after it."""
    return any(
        stretch.start == written.start and stretch.end != written.end for stretch in stretches
    )


def _open_stretches(
    stretches: Sequence[DateMention], start_year: DayInterval
) -> tuple[DateMention, ...]:
    """The stretches without an end that begin in the year in which the fact began."""
    first_day, last_day = start_year
    open_stretches: list[DateMention] = []
    for stretch in stretches:
        if stretch.last == date.max and first_day <= stretch.first <= last_day:
            open_stretches.append(stretch)
    return tuple(open_stretches)


def _is_shorter(stretch: DateMention, fact_start: DayInterval, fact_end: DayInterval) -> bool:
    """Whether a stretch begins as a fact does and ends earlier, or the other way round."""
    if fact_start[0] <= stretch.first <= fact_start[1]:
        return stretch.last < fact_end[0]
    return fact_end[0] <= stretch.last <= fact_end[1] and stretch.first > fact_start[1]


def _states(written_date: DateMention, boundary: DayInterval) -> bool:
    is_year = (written_date.last - written_date.first).days > _LONGEST_MONTH
    return may_mean_boundary([written_date], boundary) or (
        is_year and may_mean_boundary([written_date], year_of(boundary))
    )


def year_of(boundary: DayInterval) -> DayInterval:
    """The calendar year of a boundary that lies within one; any other boundary as it is."""
    first_day, last_day = boundary
    if first_day.year != last_day.year:
        return boundary
    return date(first_day.year, 1, 1), date(first_day.year, 12, 31)


# --- Relations between two names ----------------------------------------------------------------

# Long sentences tell of several things; the limit is a guess.
_LONGEST_SENTENCE = 60
"""Words of a sentence that can be evidence."""
# Four words reach over `the head coach of`; the limit is a guess.
_NEAR_WORDS = 4
"""Words before and after the two names among which the relation's word is looked for."""
# `Chelsea's popular young coach Conte` has two other words; the limit is a guess.
_MOST_OTHER_WORDS = 2
"""Words allowed between the names besides small words, titles and the relation's word."""
_WORD = re.compile(r"[\w'’-]+")
_CLAUSE_MARKS = re.compile(r"[.;:!?\"“”]|,")
# Two commas enclose an age or an apposition.
_MOST_MARKS = 2
"""Marks between two names at most, as in `Leeds, 45, coach`: more of them part two clauses."""
# Long enough for `Secretary of State for Foreign Affairs `, which has 39 characters.
_TITLE_REACH = 40
"""Characters before a name in which a title is looked for."""
_SMALL_WORDS = frozenset(
    "s a an the of by in at for from with and as to is was were are has had been be his her their "
    "its this that who which new current incumbent 's ’s".split()
)
_CHANGE_VERB = re.compile(
    r"\b(?:appoint|nam|hir|sign|elect|unveil|install|marr|buy|bought|acquir|join)\w*"
)
"""Verbs between two names whose relation is told behind them: `appointed … as head coach`.

`was appointed` matches, `disappointing` does not.
"""
OTHER_RELATION = re.compile(
    r"\b(?:[Ff]ormer(?:ly)?|ex|previous(?:ly)?|predecessor|successor|once|late|then|next|future|"
    r"would-be|potential|possible|candidates?|designate|elect|would|challenger|rival|against|"
    r"[Dd]eputy|[Vv]ice|[Aa]ssistant|[Aa]cting|interim|caretaker|shadow|opposition|fake|fictional|"
    r"[Ii]f|linked|could|might|may)\b"
)
"""Words of a sentence that tells another relation between the two names, a future or a past one.

The `former` coach is none today, and an `acting` one is no coach. `Formerly` matches, `reformer`
does not.
"""
_UNREAL = re.compile(
    r"\b(?:not|never|neither|nor|nobody|no longer|without|fail\w*|refus\w*|den(?:y|ies|ied)"
    r"|reject\w*|block\w*|drop(?:s|ped)|abandon\w*|withdr[ae]w\w*|turn(?:s|ed)? down|unless"
    r"|wants?|wanted|wish\w*|hop(?:e|es|ed|ing)|plan(?:s|ned|ning)?|will|seeks?|sought|aims?"
    r"|expected|likely|tipped|favou?rite|set to|due to|talks|bid|offer\w*|consider\w*|propos\w*"
    r"|rumou?r\w*|unit|arm|division|branch|youth|reserves?|academy)\b|\Bn['’]t\b"
)
"""Words of a clause that tells of what did not happen, of what may happen, or of a part of a thing.

`has not bought` and `didn't buy` match, `had noted` does not.
"""
# `, which has no shops,` and ` on Monday`, not `, Apple and Google,`
_ASIDE = re.compile(
    r", (?:who|whom|which|whose|where|when|not|without|with|despite|aged|a|an) [^,;.]*,"
    rf"| (?:on )?(?:{'|'.join(WEEKDAYS)})\b| in (?:{'|'.join(MONTHS)})\b"
)
"""What stands between two names and tells nothing of how they belong together."""
# marks that end a clause
_CLAUSE_START = re.compile(r"[,.;:]")
_PARTING_WORDS = frozenset("and by in to with from at for that this his her their its".split())
"""Small words behind which another statement begins."""
_STATE_GOES_ON = re.compile(r"serv\w+|remain\w*|current(?:ly)?|incumbent|new|now|still|long|also")
"""Words of a state that goes on: `still`, `serving`, but not `visits`."""


@cache
def _any_of(cues: tuple[str, ...]) -> re.Pattern[str]:
    """Finds the words of a relation, in any case, as whole words."""
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, cues))})\b" if cues else "(?!)", re.I)


def _joining_word(
    passage: FactPassage, cues: tuple[str, ...], changes: tuple[str, ...] = ()
) -> str | None:
    """Return the one of these words that joins the two names of a passage, or None.

    Without any words the names have to stand together, as an office and its holder do. Else it
    stands between them, with hardly another word (`Chelsea manager Antonio Conte`), or before or
    after two names that belong together (`Prime Minister of India Narendra Modi`). Where it tells
    of a state and not of one of these changes, nothing may come between the first name and it
    (`visits India and meets Prime Minister Narendra Modi`), nor another such word before a name.
    """
    assert passage.names is not None
    pair = _NamePair(passage.text, *sorted(passage.names))
    if len(passage.text.split()) > _LONGEST_SENTENCE or pair.tells_otherwise():
        return None
    pair = pair.without_asides()
    if pair.is_unreal(_any_of((*cues, *changes))):
        return None
    pattern = _any_of(cues)
    other_text = pattern.sub(" ", pair.between)
    other_words = _other_words(other_text)
    if other_words is None:
        return None
    is_state = bool(changes) and not pair.has_near(_any_of(changes))
    relation_word = pattern.search(pair.text, pair.first[1], pair.second[0])
    if relation_word:
        return pair.word_between(relation_word, pattern, is_state=is_state)
    if not cues:
        return None if other_words else ""
    if (other_words and not _CHANGE_VERB.search(other_text)) or (
        is_state and _begins_another(other_text)
    ):
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
        word_starts = [
            word_match.start() for word_match in _WORD.finditer(self.text, 0, self.first[0])
        ][-_NEAR_WORDS:]
        word_ends = [word_match.end() for word_match in _WORD.finditer(self.text, self.second[1])][
            :_NEAR_WORDS
        ]
        return (word_starts or [self.first[0]])[0], (word_ends or [self.second[1]])[-1]

    def has_near(self, pattern: re.Pattern[str]) -> bool:
        """Whether such words stand between the names or near them."""
        return pattern.search(self.text, *self.surroundings) is not None

    def tells_otherwise(self) -> bool:
        """Whether a word near the names says that the relation is another one, or no more."""
        return self.has_near(OTHER_RELATION)

    def without_asides(self) -> "_NamePair":
        """The same names in a text where blanks stand for the asides, so that places stay."""

        def blank(aside: re.Match[str]) -> str:
            holds_name = any(
                start < aside.end() and aside.start() < end
                for start, end in (self.first, self.second)
            )
            return aside[0] if holds_name else " " * len(aside[0])

        return self._replace(text=_ASIDE.sub(blank, self.text))

    def is_unreal(self, pattern: re.Pattern[str]) -> bool:
        """Whether the clause of the two names tells of what did not happen, or not yet.

        The clause goes from the mark before the first name to the relation's word behind the second
        one, where there is such a word, or else to the second name.
        """
        marks_before = [mark.end() for mark in _CLAUSE_START.finditer(self.text, 0, self.first[0])]
        clause_end = self.second[1]
        rest_end = _CLAUSE_START.search(self.text, clause_end)
        word_behind = pattern.search(
            self.text, clause_end, rest_end.start() if rest_end else len(self.text)
        )
        return bool(
            _UNREAL.search(
                self.text,
                marks_before[-1] if marks_before else 0,
                word_behind.end() if word_behind else clause_end,
            )
        )

    def word_between(
        self, relation_word: re.Match[str], pattern: re.Pattern[str], *, is_state: bool
    ) -> str | None:
        """The word found between the names; none where another one is the title of a name."""
        if is_state and _begins_another(self.text[self.first[1] : relation_word.start()]):
            return None
        name_starts = self.first[0], self.second[0]
        titles = [
            title for name_start in name_starts if (title := _title(self.text, name_start, pattern))
        ]
        return (
            None if titles and titles[0].lower() != relation_word[0].lower() else relation_word[0]
        )

    def word_beside(self, pattern: re.Pattern[str], *, is_state: bool) -> str | None:
        """The word right before or after two names that belong together."""
        near_start, near_end = self.surroundings
        (names_start, _), (_, names_end) = self.first, self.second
        # A word of several, as `president of the Council of Ministers`, may end further on.
        words_behind = takewhile(
            lambda word: word.start() < near_end, pattern.finditer(self.text, names_end)
        )
        for relation_word in (
            *pattern.finditer(self.text, near_start, names_start),
            *words_behind,
        ):
            is_after = relation_word.start() >= names_end
            gap = (
                self.text[names_end : relation_word.start()]
                if is_after
                else self.text[relation_word.end() : names_start]
            )
            gap_words = _WORD.findall(gap)
            if all(word in _SMALL_WORDS or word in TITLES for word in gap_words) and not (
                is_state and _PARTING_WORDS.intersection(gap_words)
            ):
                return relation_word[0]
        return None


def _other_words(between: str) -> list[str] | None:
    """The words between two names that are neither small nor titles.

    None where the two names do not belong together: a third name, too many words or too many marks
    stand between them.
    """
    if len(_CLAUSE_MARKS.findall(between)) > _MOST_MARKS:
        return None
    other_words = [
        word for word in _WORD.findall(between) if word not in _SMALL_WORDS and word not in TITLES
    ]
    if any(word[0].isupper() for word in other_words) or len(other_words) > _MOST_OTHER_WORDS:
        return None
    return other_words


def _begins_another(gap: str) -> bool:
    """Whether what stands between two names, or a name and a word, tells of something else."""
    gap_words: Sequence[str] = [word.lower() for word in _WORD.findall(gap)]
    return any(
        word in _PARTING_WORDS or (word not in _SMALL_WORDS and not _STATE_GOES_ON.fullmatch(word))
        for word in gap_words
    )


def _title(text: str, name_start: int, pattern: re.Pattern[str]) -> str | None:
    """The word of a relation that stands right before a name."""
    search_start = max(name_start - _TITLE_REACH, 0)
    for title_word in reversed(list(pattern.finditer(text, search_start, name_start))):
        if not text[title_word.end() : name_start].strip():
            return title_word[0]
    return None
