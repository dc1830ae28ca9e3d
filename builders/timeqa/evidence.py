"""Which mention of an object is the evidence of a segment, and what the page states beside it.

A mention is scored for a segment by what stands around it (`_score`): the years of its boundaries
in its sentence, list item, table row or infobox pair, less in one beside it or in the title of its
section; where in the page it stands; and whether it is the page's first one of the object. The
best mention is the evidence. What the page states of the segment (`stated`) is read from the dates
of the mention's sentence, item, row or pair; where these have none, from those of the sentences
before and after it and of the innermost section title that has dates. A birth is no date of
anything else, nor is the bracket that opens a page.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

from factdrift.builders import rows
from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import (
    DateMention,
    DayInterval,
    TextDates,
    is_birth_date,
    may_mean_boundary,
)
from factdrift.builders.text.names import GENERIC_WORDS, NAME_AFFIXES, initials
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.mentions import PageMention, PageText

_PLACE: Final = {"text": 0.0, "list": 0.75, "infobox": 0.75, "table": 1.0}
"""What a mention loses by the kind of its paragraph."""
_START, _END = 2.25, 0.5
"""What the year of the start and of the end count in the sentence of a mention."""
_ELSEWHERE = 0.75
"""Times these where it stands in a sentence beside it, or in a title."""
_FIRST, _LINKED = 1.75, 0.75
_CONTRADICTED = 2.0
"""What a mention loses that stands beside the dates of another time alone."""
_MONTH = 31
_YEAR = 367
"""Days of what is no decade or century."""
_BESIDE = 4
"""Characters at most between a mention and a date that is surely its own: `Leeds (2003)`."""
_KINDS = word_set(language_data("words")["kinds_in_names"])
_TELLING = 4
"""Letters of a word that tells an object."""


class Near(NamedTuple):
    """The dates around a mention, without births.

    `sentence`: of its sentence, item, row or pair, and the stretches of time there; `around`: also
    of the sentences before and after it, and of the title of its section.
    """

    sentence: TextDates
    around: TextDates


def dates_of(page: PageText, paragraph: int) -> TextDates:
    """The dates and stretches of a paragraph without those of a life."""
    text, (opening, bracket) = page.texts[paragraph], page.opening

    def kept(every: Sequence[DateMention]) -> tuple[DateMention, ...]:
        is_life = (w for w in every if not (paragraph == opening and w.start in bracket))
        return tuple(w for w in is_life if not is_birth_date(text, w))

    return TextDates(*map(kept, page.dates(paragraph)))


def near(page: PageText, mention: PageMention) -> Near:
    """The dates around a mention."""
    n = mention.paragraph
    starts = page.sentences(n)
    first, last = bisect_right(starts, mention.start), bisect_right(starts, mention.end - 1)
    ends = [*starts[1:], len(page.texts[n])]
    dates, title = dates_of(page, n), page.title_dates(n)

    def within(start: int, end: int) -> TextDates:
        inside = (tuple(w for w in own if start <= w.start and w.end <= end) for own in dates)
        return TextDates(*inside)

    wider = within(starts[max(0, first - 2)], ends[min(len(ends), last + 1) - 1])
    around = TextDates(wider.written + title.written, wider.stretches + title.stretches)
    return Near(within(starts[first - 1], ends[last - 1]), around)


def boundaries(segment: rows.Segment) -> tuple[DayInterval | None, DayInterval | None]:
    """Start and end as the first and last day that they may be; None: unknown or open."""
    first, last = segment.start_first, segment.start_last
    start = (first, last) if first and last else None
    first, last = segment.end_first, segment.end_last
    return start, (first, last) if first and last and not segment.end_open else None


def evidence_of(
    page: PageText, mentions: Sequence[PageMention], segments: Sequence[rows.Segment]
) -> list[PageMention | None]:
    """The best mention of each segment of one object; None: there is none.

    Of mentions with one score the first. Several segments may have one mention.
    """
    places = [_PLACE[page.page.paragraphs[m.paragraph].kind] for m in mentions]
    order = sorted(range(len(mentions)), key=lambda i: (places[i], mentions[i][:2]))
    every = [near(page, m) for m in mentions]
    opening = min((s.start_first or date.min for s in segments), default=date.min)
    found: list[PageMention | None] = []
    for segment in segments:
        is_opening = (segment.start_first or date.min) == opening
        scores = [
            _score(mentions[i], every[i], segment)
            - places[i]
            + _FIRST * (is_opening and i == order[0])
            for i in range(len(mentions))
        ]
        best = max(order, key=lambda i: scores[i], default=None)
        found.append(None if best is None else mentions[best])
    return found


def _score(mention: PageMention, dates: Near, segment: rows.Segment) -> float:
    start, end = boundaries(segment)
    score = _START * _written(start, dates) + _END * _written(end, dates)
    return score + _LINKED * mention.linked - _CONTRADICTED * differs(mention, dates, segment)


def _written(boundary: DayInterval | None, dates: Near) -> float:
    """How well a boundary is written around a mention, from 0 to 1."""
    if boundary is None:
        return 0.0
    year = _year(boundary)
    if may_mean_boundary(dates.sentence.written, year):
        return 1.0
    return _ELSEWHERE * may_mean_boundary(dates.around.written, year)


def stated(dates: Near, segment: rows.Segment) -> tuple[bool | None, bool | None]:
    """Whether start and end are written near; None where there is no such boundary.

    Their year is enough; a month or a day has to be theirs. What ends a stretch (`1990-1995`)
    states no start, and what begins one no end; a stretch that has the one boundary and is over
    before the other, or begins after it, states neither. The end of an open segment is stated by
    a stretch without an end (`since 2003`).
    """
    start, end = boundaries(segment)
    written, stretches = dates.sentence if dates.sentence.written else dates.around
    if start and end:
        shorter = [s for s in stretches if _is_shorter(s, _year(start), _year(end))]
        written = tuple(
            w for w in written if not any(s.start <= w.start and w.end <= s.end for s in shorter)
        )
    starts = [w for w in written if all(s.end != w.end or s.start == w.start for s in stretches)]
    ends = [w for w in written if all(s.start != w.start or s.end == w.end for s in stretches)]
    ended = _states(ends, end) if end else None
    if segment.end_open and start:
        year = _year(start)
        ended = any(s.last == date.max and year[0] <= s.first <= year[1] for s in stretches)
    return (_states(starts, start) if start else None), ended


def _is_shorter(stretch: DateMention, start: DayInterval, end: DayInterval) -> bool:
    """Whether a stretch begins as a segment does and ends earlier, or the other way round."""
    if start[0] <= stretch.first <= start[1]:
        return stretch.last < end[0]
    return end[0] <= stretch.last <= end[1] and stretch.first > start[1]


def _states(written: Sequence[DateMention], boundary: DayInterval) -> bool:
    years = [w for w in written if (w.last - w.first).days > _MONTH]
    return may_mean_boundary(years, _year(boundary)) or may_mean_boundary(written, boundary)


def _year(boundary: DayInterval) -> DayInterval:
    """The year of a boundary within one; else the boundary."""
    first, last = boundary
    if first.year != last.year:
        return boundary
    return date(first.year, 1, 1), date(first.year, 12, 31)


def evidence_columns(
    page: PageText, mention: PageMention | None, segment: rows.Segment
) -> dict[str, Any]:
    """The columns of an aligned segment that say what stands beside its mention."""
    if mention is None:
        return {"start_stated": None, "end_stated": None, "evidence": "none", "contradicted": False}
    dates = near(page, mention)
    start, end = stated(dates, segment)
    tiers: Sequence[rows.EvidenceTier] = ("none", "one", "both")
    return {
        "start_stated": start,
        "end_stated": end,
        "evidence": tiers[(start or False) + (end or False)],
        "contradicted": differs(mention, dates, segment),
    }


def differs(mention: PageMention, dates: Near, segment: rows.Segment) -> bool:
    """Whether dates stand directly beside a mention, and none has the year of a boundary.

    `Leeds (2003-2009)`, `2003: Leeds`. They may be those of a boundary that is unknown, or of a
    life, where its sentence has all boundaries: `Ann Lee (1910-1990), 1955-1961`.
    """
    start, end = boundaries(segment)
    if not start or not (end or segment.end_open):
        return False
    years, written = [_year(known) for known in (start, end) if known], dates.sentence.written
    own = list(_beside(mention, written))
    is_stated = all(may_mean_boundary(written, year) for year in years)
    return bool(own) and not is_stated and not any(may_mean_boundary(own, year) for year in years)


def _beside(mention: PageMention, written: Sequence[DateMention]) -> Iterator[DateMention]:
    """The dates directly before or behind a mention, and those directly behind these."""
    end = mention.end
    for one in written:
        if one.start >= end and one.start - end <= _BESIDE:
            yield one
            end = one.end
        elif 0 <= mention.start - one.end <= _BESIDE:
            yield one


class PageStates:
    """What a page states beside the evidence of a history: other dates, and where it names objects.

    A question that is to have no answer must have none in its context, and a question that has
    one no other: these are the dates and the paragraphs by which it would.
    """

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
        return tuple(sorted({days for n in self._beside(segments) for days in self._days(n)}))

    def of_others(
        self, segments: Sequence[rows.AlignedSegment], names: Sequence["Naming"]
    ) -> tuple[DayInterval, ...]:
        """The dates of entries beside the evidence in lists and tables that name no object."""
        listed = self.listed(segments).items()
        others = (d for n, d in listed if not any(name.label <= self._words[n] for name in names))
        return tuple(sorted(set(chain.from_iterable(others))))

    def listed(self, segments: Sequence[rows.AlignedSegment]) -> dict[int, tuple[DayInterval, ...]]:
        """The dates of each entry of the lists and tables that hold evidence."""
        kinds = self.page.page.paragraphs
        entries = (n for n in self._beside(segments) if kinds[n].kind in ("list", "table"))
        return {n: tuple(self._days(n)) for n in entries}

    def _beside(self, segments: Sequence[rows.AlignedSegment]) -> list[int]:
        paragraphs = self.page.page.paragraphs
        holding = {s.paragraph for s in segments if s.paragraph is not None}
        kinds = {(p.section, p.kind) for p in map(paragraphs.__getitem__, holding)}
        return [n for n, p in enumerate(paragraphs) if (p.section, p.kind) in kinds]

    def _days(self, paragraph: int) -> Iterator[DayInterval]:
        written, stretches = dates_of(self.page, paragraph)
        yield from ((w.first, w.last) for w in stretches)
        yield from ((w.first, w.last) for w in written if (w.last - w.first).days < _YEAR)

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """The folded words of each paragraph, of its section's titles and of what it links to.

        A word with an s stands without it, too: Republicans name a Republican.
        """
        found = []
        for p in self.page.page.paragraphs:
            own = set(name_words(" ".join((p.text, p.section, *(k.target for k in p.links)))))
            found.append(frozenset(own | {word[:-1] for word in own if word.endswith("s")}))
        return found

    def naming(self, names: "Naming") -> frozenset[int]:
        """The paragraphs that may name an object."""
        return frozenset(n for n, own in enumerate(self._words) if names.may_be_in(own))


class Naming:
    """The words by which an object is known, `subject` being the label of its subject.

    They are those of its label, its aliases and the page's own words for it that are neither
    short, nor of a kind of things (`University`), nor in the label of the subject; and its
    initials. All words of its `label` name it too.
    """

    def __init__(self, segment: rows.AlignedSegment, subject: str) -> None:
        names = (segment.object_label, *segment.aliases, *filter(None, [segment.mention]))
        short = {w for name in names if (form := initials(name)) for w in name_words(form)}
        own = {w for name in names for w in name_words(name)}
        known = {w for w in own if len(w) >= _TELLING} - GENERIC_WORDS - NAME_AFFIXES - _KINDS
        known -= frozenset(name_words(subject))
        single = {w for name in names if len(some := name_words(name)) == 1 for w in some}
        self._known = known | short | single
        self.label = frozenset(name_words(segment.object_label))

    def may_be_in(self, own: frozenset[str]) -> bool:
        """Whether a paragraph of these words may name the object."""
        return not self._known.isdisjoint(own) or bool(self.label and self.label <= own)
