"""What a page tells beside the mentions that answer questions.

A question that is to have no answer must have none in the page: not in the dates near the evidence
of a history (`told_days`), not in other words (`hinted`), and not because the subject was not there
yet, or no more (`life`).
"""

from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple

from builders import rows
from builders.text.data import data, words
from builders.text.dates import Dates, DayInterval, Written, dates_in, of_birth, touches
from builders.text.names import ADDED, GENERIC, without_bracket
from builders.text.sentences import sentence_at, sentence_starts
from builders.text.words import WORD, fold_in_place, name_words
from builders.timeqa.matching import boundaries

_LISTED = ("list", "table", "infobox")
_TELLING = 4
"""Letters of a word that tells an object."""
_YEAR = 367
"""Days of what is no decade or century."""
_LISTS: Final = data("words")
_BEGINNINGS, _ENDINGS = words(_LISTS["beginnings"]), words(_LISTS["endings"])
_KINDS = words(_LISTS["kinds_in_names"])
_OPENING = 2
"""Paragraphs of text that may say when the subject began."""


class Told(NamedTuple):
    """The stretches of days of which a page tells something that may answer about a pair.

    `anywhere`: every date, for who held what before the first segment is told anywhere; but no
    birth, decade or century, and of stretches without an end (`since 2003`) only those near.
    `near` the evidence: in the paragraphs of the mentions, in lists and tables with the words of a
    mention, and in sentences that have them.
    """

    anywhere: tuple[DayInterval, ...] = ()
    near: tuple[DayInterval, ...] = ()


def told_days(page: rows.Page, segments: Sequence[rows.AlignedSegment]) -> Told:
    """What a page tells of which days; `segments`: of one pair."""
    evidence = {s.paragraph for s in segments if s.paragraph is not None}
    names = {s.mention for s in segments if s.mention}
    listed = {
        (one.section, one.kind)
        for one in page.paragraphs
        if one.kind in _LISTED and any(w in one.text for w in names)
    }
    found: set[DayInterval] = set()
    beside: set[DayInterval] = set()
    for n, one in enumerate(page.paragraphs):
        dates = dates_in(one.text)
        whole = n in evidence or (one.section, one.kind) in listed
        starts = sentence_starts(one.text) if one.kind == "text" and not whole else [0]
        for date_ in (*dates.stretches, *dates.written):
            if of_birth(one.text, date_):
                continue
            left, right = sentence_at(starts, len(one.text), date_.start, date_.end)
            near = whole or any(w in one.text[left:right] for w in names)
            endless = date_.first == date.min or date_.last == date.max
            short = (date_.last - date_.first).days < _YEAR
            if short or (date_ in dates.stretches and (near or not endless)):
                found.add((date_.first, date_.last))
                if near:
                    beside.add((date_.first, date_.last))
    return Told(tuple(sorted(found)), tuple(sorted(beside)))


def life(page: rows.Page) -> tuple[date | None, date | None]:
    """The first and last day of which the page says that its subject was; None: it does not say.

    The infobox says it (`birth date`, `established`), or the opening (`born 5 May 1985`, `founded
    in 1923`). A year counts from its end, or until its beginning.
    """
    began: list[Written] = []
    ended: list[Written] = []
    texts = [n for n, one in enumerate(page.paragraphs) if one.kind == "text" and one.text]
    opening = set(texts[:_OPENING])
    for n, one in enumerate(page.paragraphs):
        if one.kind == "infobox":
            key, _, value = one.text.partition(":")
            dates, said = dates_in(value).written[:1], _said(key)
            began += dates if not said.isdisjoint(_BEGINNINGS) else ()
            ended += dates if not said.isdisjoint(_ENDINGS) else ()
        elif n in opening:
            starts = sentence_starts(one.text)
            for written in dates_in(one.text).written:
                left, _ = sentence_at(starts, len(one.text), written.start, written.end)
                before = _said(one.text[left : written.start])
                if of_birth(one.text, written) or not before.isdisjoint(_BEGINNINGS):
                    began.append(written)
    first = min((w.last for w in began), default=None)
    return first, max((w.first for w in ended), default=None)


def _said(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(fold_in_place(text)))


def hinted(
    page: rows.Page, segments: Sequence[rows.AlignedSegment], subject: str
) -> frozenset[int]:
    """The segments, by index, that a page does not name, but may tell in other words.

    The page links to the object (`his deputy`); or a sentence, list item, row or pair has a word of
    its names and a date of the segment (`in 1995 he went to Harvard's law faculty`), or states both
    boundaries of the segment and none of a segment that the page names (`1911-1912, German
    university`). An object whose label is no proper name (`politician`) may be told anywhere. What
    people checked is not looked into. `subject`: its label, whose words say nothing.
    """
    missing = {n for n, s in enumerate(segments) if s.rule == "none" and s.verification != "human"}
    if not missing:
        return frozenset()
    units = _units(page)
    found = {n for n in missing if _is_linked(page, segments[n])}
    named = [s for s in segments if s.rule != "none"]
    explained = [[b for b in boundaries(s) if b] for s in named]
    common = frozenset(name_words(subject)).union(*(_words_of(s) for s in named))
    for n in missing - found:
        segment = segments[n]
        own = _words_of(segment) - common
        anywhere = segment.object_label.islower()
        both = [b for b in boundaries(segment) if b]
        whole = len(both) == 2 and both[0] != both[1]
        for unit in units:
            by_name = not own.isdisjoint(unit.words) and (anywhere or unit.tells(segment))
            by_time = whole and unit.has(both) and not any(map(unit.has, explained))
            if by_name or by_time:
                found.add(n)
                break
    return frozenset(found)


class _Unit(NamedTuple):
    """A sentence, list item, row or pair of a page: its words and its dates."""

    words: frozenset[str]
    dates: Dates

    def has(self, both: Sequence[DayInterval]) -> bool:
        """Whether all of these boundaries are written."""
        return all(touches(self.dates.written, one) for one in both)

    def tells(self, segment: rows.Segment) -> bool:
        """Whether a date of the segment is written: a boundary of it, or a day inside it."""
        start, end = boundaries(segment)
        first = start[0] if start else end[0] if end else date.min
        last = end[1] if end else segment.snapshot if segment.end_open else date.max
        return any(
            w.first <= last and first <= w.last and (w.last - w.first).days < _YEAR
            for w in (*self.dates.written, *self.dates.stretches)
        )


def _units(page: rows.Page) -> list[_Unit]:
    """The units of a page, those without dates with the ones of their section's title."""
    found = []
    for one in page.paragraphs:
        title = dates_in(one.section.rpartition(" / ")[2])
        starts = sentence_starts(one.text) if one.kind == "text" else [0]
        for left, right in zip(starts, [*starts[1:], len(one.text)], strict=True):
            dates = dates_in(one.text[left:right])
            found.append(_Unit(_said(one.text[left:right]), dates if dates.written else title))
    return found


def _words_of(segment: rows.AlignedSegment) -> frozenset[str]:
    """The words of an object's names that tell it: neither short nor of a kind of things."""
    names = (segment.object_label, *segment.aliases)
    found = (w for name in names for w in name_words(name))
    return frozenset(w for w in found if len(w) >= _TELLING) - GENERIC - ADDED - _KINDS


def _is_linked(page: rows.Page, segment: rows.AlignedSegment) -> bool:
    names = {name_words(n) for n in (segment.object_label, *segment.aliases)}
    return any(
        name_words(link.target) in names or name_words(without_bracket(link.target)) in names
        for one in page.paragraphs
        for link in one.links
    )
