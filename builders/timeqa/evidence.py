"""Which mention of an object is the evidence of a segment, and what the page states beside it.

A mention is scored for a segment by what stands around it (`_score`): the years of its boundaries
in its sentence, list item, table row or infobox pair, less in one beside it or in the title of its
section; where in the page it stands; and whether it is the page's first one of the object. The
best mention is the evidence. What the page states of the segment (`builders.facts.text_evidence`)
is read from the dates of the mention's sentence, item, row or pair, each on its side
(`builders.facts.boundary_sides`); where these have none, from those of the sentences before and
after it and of the innermost section title that has dates. A mention with both boundaries goes
before any other. A birth is no date of anything else, nor is the bracket that opens a page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from itertools import filterfalse
from typing import Any, Final

from factdrift.builders import rows
from factdrift.builders.facts.boundary_sides import SidedDates, sided_dates, stretch_sides
from factdrift.builders.facts.text_evidence import FactDates, FactPassage, fact_evidence, year_of
from factdrift.builders.text.data import language_data, word_set
from factdrift.builders.text.dates import (
    DateMention,
    DayInterval,
    TextDates,
    is_birth_date,
    may_mean_boundary,
)
from factdrift.builders.text.names import GENERIC_WORDS, NAME_AFFIXES, all_names, initials
from factdrift.builders.text.sentences import sentence_at
from factdrift.builders.text.words import name_words
from factdrift.builders.timeqa.mentions import PageMention, PageText

# The weights below are ours and guesses that the samples do not contradict. They order the
# mentions of one object; the scores themselves are not released.

# What a mention loses by the kind of its paragraph: sentences say most of an object, rows least.
_PLACE: Final = {"text": 0.0, "list": 0.75, "infobox": 0.75, "table": 1.0}
# What the year of the start and the year of the end count in the sentence of a mention. The start
# counts more, because pages tell when somebody came more often than when somebody went.
_START, _END = 2.25, 0.5
# What both are multiplied by where the year stands in a sentence beside it or in a section title.
_ELSEWHERE = 0.75
# What the first mention gains for the first segment, and what a link gains.
_FIRST, _LINKED = 1.75, 0.75
# What a mention loses that stands beside the dates of another time alone: `Leeds (2003-2009)`.
_CONTRADICTED = 2.0
# A date of fewer days is no decade or century: a year has 366 days at most.
_YEAR = 367
# The most characters between a mention and a date that is surely its own: ` (`, `: ` or `, in`.
_BESIDE = 4
_KINDS = word_set(language_data("words")["kinds_in_names"])
# The fewest letters of a word that tells an object: `Ford` does, `von` and `New` do not.
_TELLING = 4


def dates_without_births(page: PageText, paragraph_number: int) -> TextDates:
    """The dates and stretches of a paragraph, without births and without the page's first bracket.

    The bracket that opens a page tells a life: `Ann Lee (1910-1990) was …`.
    """
    paragraph_text, (opening_number, opening_bracket) = page.texts[paragraph_number], page.opening

    def tells_life(mention: DateMention) -> bool:
        is_in_bracket = paragraph_number == opening_number and mention.start in opening_bracket
        return is_in_bracket or is_birth_date(paragraph_text, mention)

    written, stretches = page.dates(paragraph_number)
    return TextDates(
        tuple(filterfalse(tells_life, written)), tuple(filterfalse(tells_life, stretches))
    )


def _dates_within(dates: TextDates, start: int, end: int) -> TextDates:
    """The dates that stand between two characters of their paragraph."""

    def is_inside(mention: DateMention) -> bool:
        return start <= mention.start and mention.end <= end

    return TextDates(
        tuple(filter(is_inside, dates.written)), tuple(filter(is_inside, dates.stretches))
    )


def passage_of(page: PageText, mention: PageMention) -> FactPassage:
    """The sentence, item, row or pair that holds a mention, with its dates, births aside.

    The nearby dates are also those of the sentences before and after it, and those of the innermost
    section title that has dates.
    """
    paragraph_text = page.texts[mention.paragraph]
    paragraph_dates = dates_without_births(page, mention.paragraph)
    title_dates = page.title_dates(mention.paragraph)
    start, end, wider_start, wider_end = _passage_bounds(page, mention)
    wider_dates = _dates_within(paragraph_dates, wider_start, wider_end)
    nearby_dates = TextDates(
        wider_dates.written + title_dates.written, wider_dates.stretches + title_dates.stretches
    )
    sentence_dates = _dates_within(paragraph_dates, start, end)
    return FactPassage(paragraph_text[start:end], sentence_dates, nearby_dates, start=start)


def _passage_bounds(page: PageText, mention: PageMention) -> tuple[int, int, int, int]:
    """Where the sentence of a mention starts and ends, and where those beside it do."""
    sentence_starts = page.sentences(mention.paragraph)
    text_length = len(page.texts[mention.paragraph])
    start, end = sentence_at(sentence_starts, text_length, mention.start, mention.end)
    # One character more on each side lies in the sentence before, and in the one after.
    wider_start, wider_end = sentence_at(
        sentence_starts, text_length, max(start - 1, 0), min(end + 1, text_length)
    )
    return start, end, wider_start, wider_end


def sided_passage(page: PageText, mention: PageMention) -> FactPassage:
    """The passage of a mention whose dates are told apart by what they state of its object."""
    passage = passage_of(page, mention)
    name = mention.start - passage.start, mention.end - passage.start
    sided = sided_dates(passage.text, passage.dates, name, passage.start)
    is_entry = page.page.paragraphs[mention.paragraph].kind != "text"
    if is_entry and not sided.starts and not sided.ends and len(passage.dates.written) == 2:
        # Two dates of a row or pair are a start and an end, in cells of their own.
        first_date, last_date = passage.dates.written
        if first_date.first <= last_date.first:
            sided = SidedDates((first_date,), (last_date,))
    return replace(passage, sided=sided, nearby_sided=_nearby_sided(page, mention))


def _nearby_sided(page: PageText, mention: PageMention) -> SidedDates:
    """The dates by side of the sentences beside a mention's own and of the section title."""
    paragraph_text = page.texts[mention.paragraph]
    paragraph_dates = dates_without_births(page, mention.paragraph)
    start, end, wider_start, wider_end = _passage_bounds(page, mention)
    starts: list[DateMention] = []
    ends: list[DateMention] = []
    for near_start, near_end in ((wider_start, start), (end, wider_end)):
        near_dates = _dates_within(paragraph_dates, near_start, near_end)
        sided = sided_dates(paragraph_text[near_start:near_end], near_dates, None, near_start)
        starts += sided.starts
        ends += sided.ends
    title_dates = page.title_dates(mention.paragraph)
    for written in title_dates.written:
        sides = stretch_sides(written, title_dates.stretches)
        starts += [written] * ("start" in sides)
        ends += [written] * ("end" in sides)
    return SidedDates(tuple(starts), tuple(ends))


def evidence_of(
    page: PageText, mentions: Sequence[PageMention], segments: Sequence[rows.Segment]
) -> list[PageMention | None]:
    """The best mention of each segment of one object, or None where there are no mentions.

    A mention with both boundaries of a segment goes before all others; the first one is taken where
    several mentions have the best score. Several segments may have the same mention.
    """
    place_losses = [_PLACE[page.page.paragraphs[mention.paragraph].kind] for mention in mentions]
    page_order = sorted(
        range(len(mentions)),
        key=lambda mention_index: (place_losses[mention_index], mentions[mention_index][:2]),
    )
    passages = [passage_of(page, mention) for mention in mentions]
    proofs = _Proofs(page, mentions, passages)
    first_start = min((segment.start_first or date.min for segment in segments), default=date.min)
    best_mentions: list[PageMention | None] = []
    for segment in segments:
        # Pages name the first holder first, so that the first mention is best for it.
        is_opening = (segment.start_first or date.min) == first_start
        mention_scores: list[float] = []
        for mention_index, mention in enumerate(mentions):
            score = _score(mention, passages[mention_index], segment) - place_losses[mention_index]
            is_first_mention = is_opening and mention_index == page_order[0]
            mention_scores.append(score + _FIRST * is_first_mention)
        proving_order = [index for index in page_order if proofs.has_both(index, segment)]
        best_index = max(proving_order or page_order, key=mention_scores.__getitem__, default=None)
        best_mentions.append(None if best_index is None else mentions[best_index])
    return best_mentions


class _Proofs:
    """Which mentions of an object have both boundaries of a segment; each is read once."""

    def __init__(
        self, page: PageText, mentions: Sequence[PageMention], passages: Sequence[FactPassage]
    ) -> None:
        self._page, self._mentions, self._passages = page, mentions, passages
        self._sided: dict[int, FactPassage] = {}

    def has_both(self, mention_index: int, segment: rows.Segment) -> bool:
        """Whether the page states both boundaries of a segment at a mention."""
        fact_dates = FactDates.of_segment(segment)
        if fact_dates.start is None or not (fact_dates.end or fact_dates.is_open):
            return False
        passage = self._passages[mention_index]
        dates = (passage.dates if passage.dates.written else passage.nearby_dates).written
        for boundary in (fact_dates.start, fact_dates.end):
            # Hardly any mention has the two years, and only these are read for events.
            if boundary and not may_mean_boundary(dates, year_of(boundary)):
                return False
        if is_contradicted(self._mentions[mention_index], passage, segment):
            return False
        if mention_index not in self._sided:
            self._sided[mention_index] = sided_passage(self._page, self._mentions[mention_index])
        evidence = fact_evidence(self._sided[mention_index], fact_dates)
        return bool(evidence.starts and evidence.ends)


def _score(mention: PageMention, passage: FactPassage, segment: rows.Segment) -> float:
    start_days, end_days, _ = FactDates.of_segment(segment)
    score = _START * _boundary_score(start_days, passage) + _END * _boundary_score(
        end_days, passage
    )
    return (
        score
        + _LINKED * mention.linked
        - _CONTRADICTED * is_contradicted(mention, passage, segment)
    )


def _boundary_score(boundary: DayInterval | None, passage: FactPassage) -> float:
    """Return how well the text around a mention states a boundary, from 0 to 1."""
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
    passage = sided_passage(page, mention)
    _, _, start_dates, end_dates = fact_evidence(passage, FactDates.of_segment(segment))
    # A boundary that the segment does not have stays None: it is neither stated nor missing.
    start_stated = None if start_dates is None else bool(start_dates)
    end_stated = None if end_dates is None else bool(end_dates)
    tiers: Sequence[rows.EvidenceTier] = ("none", "one", "both")
    return {
        "start_stated": start_stated,
        "end_stated": end_stated,
        "evidence": tiers[(start_stated or False) + (end_stated or False)],
        "contradicted": is_contradicted(mention, passage, segment),
    }


def is_contradicted(mention: PageMention, passage: FactPassage, segment: rows.Segment) -> bool:
    """Whether dates stand directly beside a mention, and none of them has the year of a boundary.

    Examples for a segment of 1999 to 2002: `Leeds (2003-2009)`, `2003: Leeds`. A segment with an
    unknown boundary is never contradicted, as the dates may be those of this boundary. Nor is one
    whose boundaries all stand in the sentence, as the dates may be those of a life: `Ann Lee
    (1910-1990), 1955-1961`.
    """
    start_days, end_days, is_open = FactDates.of_segment(segment)
    if not start_days or not (end_days or is_open):
        return False
    boundary_years = [year_of(boundary) for boundary in (start_days, end_days) if boundary]
    sentence_dates = passage.dates.written
    if all(may_mean_boundary(sentence_dates, year) for year in boundary_years):
        return False
    adjacent_dates = list(_adjacent_dates(mention, sentence_dates))
    if not adjacent_dates:
        return False
    return not any(may_mean_boundary(adjacent_dates, year) for year in boundary_years)


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
    """The statements of a page that are no evidence of a history, but might answer a question.

    They are its other dates, and the paragraphs in which it names objects. A question without an
    answer must have no answer in its context, and any other question must have only its own; these
    dates and paragraphs would give further ones.
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

        Births, decades and centuries are left out.
        """
        near_dates: set[DayInterval] = set()
        for paragraph_number in self._beside(segments):
            near_dates.update(self._days(paragraph_number))
        return tuple(sorted(near_dates))

    def dates_for_windows(
        self, segments: Sequence[rows.AlignedSegment], object_words: Sequence["ObjectWords"]
    ) -> tuple[DayInterval, ...]:
        """The dates at which the page may say that something held, in however loose a way.

        They are those of the sections with evidence, of the paragraphs that may name an object,
        and the stretches of time of the whole page.
        """
        page_paragraphs = self.page.page.paragraphs
        sections: set[str] = set()
        for segment in segments:
            if segment.paragraph is not None:
                sections.add(page_paragraphs[segment.paragraph].section)
        naming_paragraphs: set[int] = set()
        for words in object_words:
            naming_paragraphs |= self.naming(words)
        window_dates: set[DayInterval] = set()
        for paragraph_number, paragraph in enumerate(page_paragraphs):
            if paragraph.section in sections or paragraph_number in naming_paragraphs:
                window_dates.update(self._days(paragraph_number))
            else:
                stretches = dates_without_births(self.page, paragraph_number).stretches
                window_dates.update((stretch.first, stretch.last) for stretch in stretches)
        return tuple(sorted(window_dates))

    def departure(self, segment: rows.AlignedSegment) -> date | None:
        """The last day on which the page says that a segment ended, or None where it does not.

        An open segment is looked for wherever the page names its object, as a page may know of an
        end that Wikidata does not have; for others the mention that is the evidence tells.
        """
        mentions: list[PageMention] = []
        if segment.paragraph is not None and segment.start is not None and segment.end is not None:
            mentions.append(PageMention(segment.paragraph, segment.start, segment.end))
        if segment.end_open and mentions:
            names = all_names(segment.object_label, segment.aliases, None)
            mentions += self.page.named_mentions(names, None)
        earliest_start = segment.start_last or segment.start_first
        departures: list[date] = []
        for mention in mentions:
            passage = sided_passage(self.page, mention)
            sided = passage.sided if passage.dates.written else passage.nearby_sided
            assert sided is not None
            for written in sided.ends:
                if (
                    earliest_start
                    and written.first > earliest_start
                    and written not in sided.starts
                ):
                    departures.append(written.last)
        return min(departures, default=None)

    def other_dates(
        self, segments: Sequence[rows.AlignedSegment], object_words: Sequence["ObjectWords"]
    ) -> tuple[DayInterval, ...]:
        """The dates of entries beside the evidence in lists and tables that name no object."""
        entry_dates: set[DayInterval] = set()
        for paragraph_number, days in self.listed(segments).items():
            entry_words = self._words[paragraph_number]
            if not any(words.label <= entry_words for words in object_words):
                entry_dates.update(days)
        return tuple(sorted(entry_dates))

    def listed(self, segments: Sequence[rows.AlignedSegment]) -> dict[int, tuple[DayInterval, ...]]:
        """The dates of each entry of the lists and tables that hold evidence, by paragraph."""
        dates_by_entry: dict[int, tuple[DayInterval, ...]] = {}
        for paragraph_number in self._beside(segments):
            if self.page.page.paragraphs[paragraph_number].kind in ("list", "table"):
                dates_by_entry[paragraph_number] = tuple(self._days(paragraph_number))
        return dates_by_entry

    def _beside(self, segments: Sequence[rows.AlignedSegment]) -> list[int]:
        """The paragraphs that have the section and the kind of one that holds evidence."""
        page_paragraphs = self.page.page.paragraphs
        sections_and_kinds: set[tuple[str, str]] = set()
        for segment in segments:
            if segment.paragraph is not None:
                evidence = page_paragraphs[segment.paragraph]
                sections_and_kinds.add((evidence.section, evidence.kind))
        return [
            paragraph_number
            for paragraph_number, paragraph in enumerate(page_paragraphs)
            if (paragraph.section, paragraph.kind) in sections_and_kinds
        ]

    def _days(self, paragraph_number: int) -> Iterator[DayInterval]:
        written, stretches = dates_without_births(self.page, paragraph_number)
        for stretch in stretches:
            yield stretch.first, stretch.last
        for date_mention in written:
            if (date_mention.last - date_mention.first).days < _YEAR:
                yield date_mention.first, date_mention.last

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        """The folded words of each paragraph, of its section's titles and of what it links to.

        A word with an s stands without it, too: Republicans name a Republican.
        """
        word_sets = []
        for paragraph in self.page.page.paragraphs:
            link_targets = [link.target for link in paragraph.links]
            shown_text = " ".join([paragraph.text, paragraph.section, *link_targets])
            paragraph_words = set(name_words(shown_text))
            singular_words = {word[:-1] for word in paragraph_words if word.endswith("s")}
            word_sets.append(frozenset(paragraph_words | singular_words))
        return word_sets

    def naming(self, object_words: "ObjectWords") -> frozenset[int]:
        """The numbers of the paragraphs that may name an object."""
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
        object_names = [segment.object_label, *segment.aliases]
        if segment.mention:
            object_names.append(segment.mention)
        telling_words: set[str] = set()
        whole_names: set[str] = set()
        for object_name in object_names:
            words_of_name = name_words(object_name)
            telling_words.update(word for word in words_of_name if len(word) >= _TELLING)
            # A name of one word tells the object however short it is: `Hull`, `GE`.
            if len(words_of_name) == 1:
                whole_names.update(words_of_name)
            whole_names.update(name_words(initials(object_name) or ""))
        telling_words -= GENERIC_WORDS | NAME_AFFIXES | _KINDS
        telling_words.difference_update(name_words(subject_label))
        self._known = frozenset(telling_words | whole_names)
        self.label = frozenset(name_words(segment.object_label))

    def may_be_in(self, paragraph_words: frozenset[str]) -> bool:
        """Whether a paragraph of these words may name the object."""
        return not self._known.isdisjoint(paragraph_words) or bool(
            self.label and self.label <= paragraph_words
        )
