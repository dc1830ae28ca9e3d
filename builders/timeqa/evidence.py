"""Which mention of an object is the evidence of a segment, and what the page states beside it.

A mention is scored for a segment by what stands around it (`_score`): the years of its boundaries
in its sentence, list item, table row or infobox pair, less in one beside it or in the title of its
section; where in the page it stands; and whether it is the page's first one of the object. The
best mention is the evidence. What the page states of the segment (`builders.facts.text_evidence`)
is read from the dates of the mention's sentence, item, row or pair; where these have none, from
those of the sentences before and after it and of the innermost section title that has dates. A
birth is no date of anything else, nor is the bracket that opens a page.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Any, Final

from factdrift.builders import rows
from factdrift.builders.facts.text_evidence import FactDates, FactPassage, fact_evidence, year_of
from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import (
    DateMention,
    DayInterval,
    TextDates,
    is_birth_date,
    may_mean_boundary,
)
from factdrift.builders.text.names import GENERIC_WORDS, NAME_AFFIXES, initials
from factdrift.builders.text.sentences import sentence_at
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
_YEAR = 367
"""Days of what is no decade or century."""
_BESIDE = 4
"""Characters at most between a mention and a date that is surely its own: `Leeds (2003)`."""
_KINDS = word_set(language_data("words")["kinds_in_names"])
_TELLING = 4
"""Letters of a word that tells an object."""


def dates_without_births(page: PageText, paragraph: int) -> TextDates:
    """The dates and stretches of a paragraph without those of a life."""
    paragraph_text, (opening, bracket) = page.texts[paragraph], page.opening

    def kept(mentions: Sequence[DateMention]) -> tuple[DateMention, ...]:
        is_life = (
            mention
            for mention in mentions
            if not (paragraph == opening and mention.start in bracket)
        )
        return tuple(mention for mention in is_life if not is_birth_date(paragraph_text, mention))

    return TextDates(*map(kept, page.dates(paragraph)))


def passage_of(page: PageText, mention: PageMention) -> FactPassage:
    """The sentence, item, row or pair that holds a mention, with its dates, births aside.

    The dates nearby are those of the sentences before and after it, too, and of the innermost title
    of its section that has some.
    """
    paragraph_text, starts = page.texts[mention.paragraph], page.sentences(mention.paragraph)
    dates, title_dates = (
        dates_without_births(page, mention.paragraph),
        page.title_dates(mention.paragraph),
    )

    def within(start: int, end: int) -> TextDates:
        inside = (
            tuple(mention for mention in mentions if start <= mention.start and mention.end <= end)
            for mentions in dates
        )
        return TextDates(*inside)

    start, end = sentence_at(starts, len(paragraph_text), mention.start, mention.end)
    wider_dates = within(
        *sentence_at(
            starts, len(paragraph_text), max(start - 1, 0), min(end + 1, len(paragraph_text))
        )
    )
    nearby = TextDates(
        wider_dates.written + title_dates.written, wider_dates.stretches + title_dates.stretches
    )
    return FactPassage(paragraph_text[start:end], within(start, end), nearby, start=start)


def evidence_of(
    page: PageText, mentions: Sequence[PageMention], segments: Sequence[rows.Segment]
) -> list[PageMention | None]:
    """The best mention of each segment of one object; None: there is none.

    Of mentions with one score the first. Several segments may have one mention.
    """
    place_losses = [_PLACE[page.page.paragraphs[mention.paragraph].kind] for mention in mentions]
    page_order = sorted(
        range(len(mentions)),
        key=lambda mention_index: (place_losses[mention_index], mentions[mention_index][:2]),
    )
    passages = [passage_of(page, mention) for mention in mentions]
    first_start = min((segment.start_first or date.min for segment in segments), default=date.min)
    evidence: list[PageMention | None] = []
    for segment in segments:
        is_opening = (segment.start_first or date.min) == first_start
        scores = [
            _score(mentions[mention_index], passages[mention_index], segment)
            - place_losses[mention_index]
            + _FIRST * (is_opening and mention_index == page_order[0])
            for mention_index in range(len(mentions))
        ]
        best_index = max(page_order, key=lambda mention_index: scores[mention_index], default=None)
        evidence.append(None if best_index is None else mentions[best_index])
    return evidence


def _score(mention: PageMention, passage: FactPassage, segment: rows.Segment) -> float:
    start, end, _ = FactDates.of_segment(segment)
    score = _START * _boundary_score(start, passage) + _END * _boundary_score(end, passage)
    return (
        score
        + _LINKED * mention.linked
        - _CONTRADICTED * is_contradicted(mention, passage, segment)
    )


def _boundary_score(boundary: DayInterval | None, passage: FactPassage) -> float:
    """How well a boundary is written around a mention, from 0 to 1."""
    if boundary is None:
        return 0.0
    year = year_of(boundary)
    if may_mean_boundary(passage.dates.written, year):
        return 1.0
    return _ELSEWHERE * may_mean_boundary(passage.nearby_dates.written, year)


def evidence_columns(
    page: PageText, mention: PageMention | None, segment: rows.Segment
) -> dict[str, Any]:
    """The columns of an aligned segment that say what stands beside its mention."""
    if mention is None:
        return {"start_stated": None, "end_stated": None, "evidence": "none", "contradicted": False}
    passage = passage_of(page, mention)
    evidence = fact_evidence(passage, FactDates.of_segment(segment))
    start, end = (
        None if dates is None else bool(dates) for dates in (evidence.starts, evidence.ends)
    )
    tiers: Sequence[rows.EvidenceTier] = ("none", "one", "both")
    return {
        "start_stated": start,
        "end_stated": end,
        "evidence": tiers[(start or False) + (end or False)],
        "contradicted": is_contradicted(mention, passage, segment),
    }


def is_contradicted(mention: PageMention, passage: FactPassage, segment: rows.Segment) -> bool:
    """Whether dates stand directly beside a mention, and none has the year of a boundary.

    `Leeds (2003-2009)`, `2003: Leeds`. They may be those of a boundary that is unknown, or of a
    life, where its sentence has all boundaries: `Ann Lee (1910-1990), 1955-1961`.
    """
    start, end, is_open = FactDates.of_segment(segment)
    if not start or not (end or is_open):
        return False
    years, sentence_dates = (
        [year_of(boundary) for boundary in (start, end) if boundary],
        passage.dates.written,
    )
    adjacent_dates = list(_adjacent_dates(mention, sentence_dates))
    is_stated = all(may_mean_boundary(sentence_dates, year) for year in years)
    return (
        bool(adjacent_dates)
        and not is_stated
        and not any(may_mean_boundary(adjacent_dates, year) for year in years)
    )


def _adjacent_dates(mention: PageMention, written: Sequence[DateMention]) -> Iterator[DateMention]:
    """The dates directly before or behind a mention, and those directly behind these."""
    adjacent_end = mention.end
    for date_mention in written:
        if date_mention.start >= adjacent_end and date_mention.start - adjacent_end <= _BESIDE:
            yield date_mention
            adjacent_end = date_mention.end
        elif 0 <= mention.start - date_mention.end <= _BESIDE:
            yield date_mention


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

    def dates_near_evidence(
        self, segments: Sequence[rows.AlignedSegment]
    ) -> tuple[DayInterval, ...]:
        """The dates and stretches of the sections that hold evidence, in paragraphs of its kind.

        No birth, decade or century.
        """
        return tuple(
            sorted({days for paragraph in self._beside(segments) for days in self._days(paragraph)})
        )

    def other_dates(
        self, segments: Sequence[rows.AlignedSegment], names: Sequence["ObjectWords"]
    ) -> tuple[DayInterval, ...]:
        """The dates of entries beside the evidence in lists and tables that name no object."""
        listed = self.listed(segments).items()
        entry_dates = (
            days
            for paragraph, days in listed
            if not any(name.label <= self._words[paragraph] for name in names)
        )
        return tuple(sorted(set(chain.from_iterable(entry_dates))))

    def listed(self, segments: Sequence[rows.AlignedSegment]) -> dict[int, tuple[DayInterval, ...]]:
        """The dates of each entry of the lists and tables that hold evidence."""
        all_paragraphs = self.page.page.paragraphs
        entries = (
            paragraph
            for paragraph in self._beside(segments)
            if all_paragraphs[paragraph].kind in ("list", "table")
        )
        return {paragraph: tuple(self._days(paragraph)) for paragraph in entries}

    def _beside(self, segments: Sequence[rows.AlignedSegment]) -> list[int]:
        paragraphs = self.page.page.paragraphs
        evidence_paragraphs = {
            segment.paragraph for segment in segments if segment.paragraph is not None
        }
        sections_and_kinds = {
            (paragraph.section, paragraph.kind)
            for paragraph in map(paragraphs.__getitem__, evidence_paragraphs)
        }
        return [
            paragraph_number
            for paragraph_number, paragraph in enumerate(paragraphs)
            if (paragraph.section, paragraph.kind) in sections_and_kinds
        ]

    def _days(self, paragraph: int) -> Iterator[DayInterval]:
        written, stretches = dates_without_births(self.page, paragraph)
        yield from ((mention.first, mention.last) for mention in stretches)
        yield from (
            (mention.first, mention.last)
            for mention in written
            if (mention.last - mention.first).days < _YEAR
        )

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """The folded words of each paragraph, of its section's titles and of what it links to.

        A word with an s stands without it, too: Republicans name a Republican.
        """
        word_sets = []
        for paragraph in self.page.page.paragraphs:
            paragraph_words = set(
                name_words(
                    " ".join(
                        (
                            paragraph.text,
                            paragraph.section,
                            *(link.target for link in paragraph.links),
                        )
                    )
                )
            )
            word_sets.append(
                frozenset(
                    paragraph_words | {word[:-1] for word in paragraph_words if word.endswith("s")}
                )
            )
        return word_sets

    def naming(self, object_words: "ObjectWords") -> frozenset[int]:
        """The paragraphs that may name an object."""
        return frozenset(
            paragraph_number
            for paragraph_number, paragraph_words in enumerate(self._words)
            if object_words.may_be_in(paragraph_words)
        )


class ObjectWords:
    """The words by which an object is known, `subject` being the label of its subject.

    They are those of its label, its aliases and the page's own words for it that are neither
    short, nor of a kind of things (`University`), nor in the label of the subject; and its
    initials. All words of its `label` name it too.
    """

    def __init__(self, segment: rows.AlignedSegment, subject_label: str) -> None:
        names = (segment.object_label, *segment.aliases, *filter(None, [segment.mention]))
        initial_words = {
            word for name in names if (form := initials(name)) for word in name_words(form)
        }
        all_words = {word for name in names for word in name_words(name)}
        telling_words = (
            {word for word in all_words if len(word) >= _TELLING}
            - GENERIC_WORDS
            - NAME_AFFIXES
            - _KINDS
        )
        telling_words -= frozenset(name_words(subject_label))
        single_words = {
            word
            for name in names
            if len(split_name := name_words(name)) == 1
            for word in split_name
        }
        self._known = telling_words | initial_words | single_words
        self.label = frozenset(name_words(segment.object_label))

    def may_be_in(self, paragraph_words: frozenset[str]) -> bool:
        """Whether a paragraph of these words may name the object."""
        return not self._known.isdisjoint(paragraph_words) or bool(
            self.label and self.label <= paragraph_words
        )
