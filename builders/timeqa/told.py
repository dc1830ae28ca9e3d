"""What a page tells beside the mentions that answer questions.

A question that is to have no answer must have none in the page: not in the dates near the evidence
of a history nor in an undated statement (`told_days`), not in other words (`hinted`), and not
because the subject was not there yet, or no more (`life`). A question that has an answer must have
all that the page tells, also in the entries beside its evidence (`Told.listed`), and evidence that
is not dated otherwise (`misdated`).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from factdrift.builders import rows
from factdrift.builders.text.data import data, words
from factdrift.builders.text.dates import (
    MONTHS,
    Dates,
    DayInterval,
    Written,
    dates_in,
    of_birth,
    touches,
)
from factdrift.builders.text.names import ADDED, GENERIC, without_bracket
from factdrift.builders.text.sentences import sentence_at, sentence_starts
from factdrift.builders.text.words import DETERMINERS, SMALL, WORD, fold_in_place, name_words
from factdrift.builders.timeqa.matching import FAR, NEAR, boundaries, earlier, later, stints_of
from factdrift.builders.timeqa.mentions import FIRST_BRACKET, opening_of

_LISTED = ("list", "table", "infobox")
_TELLING = 4
"""Letters of a word that tells an object."""
_YEAR = 367
"""Days of what is no decade or century."""
_LISTS: Final = data("words")
_BEGINNINGS, _ENDINGS = words(_LISTS["beginnings"]), words(_LISTS["endings"])
_KINDS = words(_LISTS["kinds_in_names"])
_OTHER_TIMES = words(_LISTS["other_times"])
_AFTER, _AT_FIRST = words(_LISTS["after_what_was"]), words(_LISTS["at_first"])
_ASKING = words(_LISTS["asking"]) | SMALL | DETERMINERS
_STEM = 4
"""Letters of a word by which its other forms are known: `play`, `player`."""
_LONG = 5
"""The same of a word of a name: `economy`, `economic`."""
_ROLE: Final = re.compile("<[^>]*>")
_NAME: Final = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-z][\w'’.-]+")
"""A capitalised word inside a sentence."""
_CALENDAR = frozenset(map(fold_in_place, MONTHS))
_DIGITS: Final = "0123456789"
_ENTRY: Final = re.compile(r"(?:,|;) (?![^()]*\))|<br ?/?>| · ")
"""What parts the entries of an infobox pair, outside brackets."""
_DAY = timedelta(days=1)
_OPENING = 2
"""Paragraphs of text that may say when the subject began."""


_Spelt = tuple[rows.AlignedSegment, tuple[str, ...], frozenset[str]]
"""A segment, the names of its object, and the beginnings of the words that tell it."""


class Entry(NamedTuple):
    """The days that an entry of a list certainly tells of, and the pair's objects that it names."""

    first: date
    last: date
    objects: tuple[str, ...]


class Told(NamedTuple):
    """The stretches of days of which a page tells something that may answer about a pair.

    `anywhere`: every date, for who held what before the first segment is told anywhere; but no
    birth, decade or century, and of stretches without an end (`since 2003`) only those near.
    `near` the evidence: in the paragraphs of the mentions and the next ones, in lists and tables
    with the words of a mention, and in sentences that have them.
    `undated`: the days between the dates around a statement without a date that may be one of the
    pair's relation; every day, where there are none; from or until its date, where it has one
    (`Ann Lee led the country from 1959`).
    `listed`: the entries of the list, table or infobox pair that holds evidence.
    `since`: the days from which on something may hold that came in the pair's last year or later.
    """

    anywhere: tuple[DayInterval, ...] = ()
    near: tuple[DayInterval, ...] = ()
    undated: tuple[DayInterval, ...] = ()
    listed: tuple[Entry, ...] = ()
    since: tuple[DayInterval, ...] = ()


def cues(wordings: Collection[str]) -> frozenset[str]:
    """The stems of the words that tell of a relation, from its label and questions."""
    found = (w for text in wordings for w in WORD.findall(fold_in_place(_ROLE.sub(" ", text))))
    return frozenset(w[:_STEM] for w in found if len(w) > 2 and w not in _ASKING)


def told_days(
    read: "ReadPage",
    segments: Sequence[rows.AlignedSegment],
    subject: str = "",
    stems: frozenset[str] = frozenset(),
) -> Told:
    """What a page tells of which days; `segments`: of one pair.

    `subject`: its label; `stems`: the cues of its relation.
    """
    paragraphs = read.page.paragraphs
    evidence = {s.paragraph for s in segments if s.paragraph is not None}
    following = {
        n + 1
        for n, (one, after) in enumerate(pairwise(paragraphs))
        if n in evidence and one.kind == after.kind == "text" and one.section == after.section
    }
    names = {s.mention for s in segments if s.mention}
    listed = {
        (one.section, one.kind)
        for one in paragraphs
        if one.kind in _LISTED and any(w in one.text for w in names)
    }
    found: set[DayInterval] = set()
    beside: set[DayInterval] = set()
    for n, (one, dates) in enumerate(zip(paragraphs, read.dates, strict=True)):
        whole = n in evidence or (one.section, one.kind) in listed
        starts = [0] if whole else read.starts[n]
        for date_ in (*dates.stretches, *dates.written):
            if of_birth(one.text, date_):
                continue
            left, right = sentence_at(starts, len(one.text), date_.start, date_.end)
            near = whole or any(w in one.text[left:right] for w in names)
            short = (date_.last - date_.first).days < _YEAR
            if short or (date_ in dates.stretches and (near or not _endless(date_))):
                found.add((date_.first, date_.last))
                if near or n in following:
                    beside.add((date_.first, date_.last))
    undated = {*_undated(read, segments, subject, stems), *_led_up(read, segments, subject, stems)}
    return Told(
        tuple(sorted(found)),
        tuple(sorted(beside)),
        tuple(sorted(undated)),
        tuple(sorted(set(_listed(read, segments)))),
        tuple(sorted(set(_since(read, segments, subject, stems)))),
    )


def _listed(read: "ReadPage", segments: Sequence[rows.AlignedSegment]) -> Iterator[Entry]:
    """The entries of the lists in which an entry names an object of the pair with its dates.

    Entries are the items of a list, the rows of a table, or what commas part in an infobox pair
    (`Leeds (1990-1995), York (1993)`). The days of an entry are those that it certainly holds: of
    1990-1995 the years between, for who came next often has the same year.
    """
    paragraphs = read.page.paragraphs
    dated: set[tuple[str, str, str]] = set()
    for s in segments:
        if s.paragraph is None or paragraphs[s.paragraph].kind not in _LISTED:
            continue
        for entry in _entries(paragraphs[s.paragraph]):
            if s.mention and s.mention in entry and _tells(dates_in(entry), s):
                dated.add(_list_of(paragraphs[s.paragraph]))
    if not dated:
        return
    objects = [
        (
            s,
            tuple(n for n in (s.mention, s.object_label, *s.aliases) if n),
            frozenset(w[:_LONG] for w in _words_of(s)),
        )
        for s in segments
    ]
    for one in paragraphs:
        if one.kind in _LISTED and _list_of(one) in dated:
            for entry in _entries(one):
                if days := list(_between(dates := dates_in(entry))):
                    named = _objects_in(entry, dates, objects)
                    yield from (Entry(first, last, named) for first, last in days)


def _objects_in(text: str, dates: Dates, objects: Sequence[_Spelt]) -> tuple[str, ...]:
    """The objects that a text names, else those at a time of theirs that it has a word of."""
    named = {s.object for s, names, _ in objects if any(name in text for name in names)}
    if not named:
        said = {w[:_LONG] for w in _said(text)}
        named = {s.object for s, _, own in objects if not own.isdisjoint(said) and _tells(dates, s)}
    return tuple(sorted(named))


def _tells(dates: Dates, segment: rows.Segment) -> bool:
    start, end = boundaries(segment)
    first = start[0] if start else end[0] if end else date.min
    last = end[1] if end else segment.snapshot if segment.end_open else date.max
    return any(
        w.first <= last and first <= w.last and (w.last - w.first).days < _YEAR
        for w in (*dates.written, *dates.stretches)
    )


def _list_of(one: rows.Paragraph) -> tuple[str, str, str]:
    """What the entries of one list have in common: section, kind, and key in an infobox."""
    key = one.text.partition(":")[0].rstrip(_DIGITS) if one.kind == "infobox" else ""
    return one.section, one.kind, key


def _entries(one: rows.Paragraph) -> list[str]:
    return _ENTRY.split(one.text) if one.kind == "infobox" else [one.text]


def _between(dates: Dates) -> Iterator[DayInterval]:
    """The days of each stretch without its first and last year, and of each date by itself."""
    for one in dates.stretches:
        first, last = date(one.first.year, 12, 31), date(one.last.year, 1, 1)
        if one.first != date.min and one.last != date.max and first < last:
            yield first + _DAY, last - _DAY
    if not dates.stretches:
        yield from ((w.first, w.last) for w in dates.written if (w.last - w.first).days < _YEAR)


def misdated(read: "ReadPage", segments: Sequence[rows.AlignedSegment]) -> frozenset[int]:
    """The segments, by index, whose mention has dates of another time and none of theirs.

    They are later than the stint, or so much earlier that it is not what went on. The dates are
    those of its sentence, list item, row or pair, of which one stands near it, or of its paragraph
    where its sentence has none; lives do not count, and segments of one object that follow on one
    another share theirs. Where an object has several stints, or a mention serves several segments,
    the dates have to tell which: those near the mention alone count, earlier ones are of another
    time too, and a mention for several is evidence of those segments that its dates allow. What
    people checked is not looked into.
    """
    found = set()
    by_object: dict[str, list[rows.AlignedSegment]] = {}
    for s in segments:
        by_object.setdefault(s.object, []).append(s)
    days = {s: d for own in by_object.values() for s, d in zip(own, stints_of(own), strict=True)}
    stints = {o: len({days[s] for s in own}) for o, own in by_object.items()}
    served = Counter((s.object, s.paragraph, s.start) for s in segments)
    first_text, bracket = read.opening
    for n, s in enumerate(segments):
        if s.paragraph is None or s.start is None or s.end is None or s.verification == "human":
            continue
        text, dates = read.page.paragraphs[s.paragraph].text, read.dates[s.paragraph]
        left, right = sentence_at(read.starts[s.paragraph], len(text), s.start, s.end)
        around = [
            w
            for w in (*dates.written, *dates.stretches)
            if not of_birth(text, w) and (s.paragraph != first_text or w.start not in bracket)
        ]
        inside = [w for w in around if left <= w.start and w.end <= right]
        near = [w for w in inside if max(w.start - s.end, s.start - w.end) <= NEAR]
        shared = served[s.object, s.paragraph, s.start] > 1
        which = shared or stints[s.object] > 1
        telling = (near if which else inside) if near else [] if inside else around
        begins, ends = stints_of([s])[0] if shared else days[s]
        earliest, latest = earlier(begins) if which else earlier(begins, FAR), later(ends)
        if telling and not any(w.first <= latest and earliest <= w.last for w in telling):
            found.add(n)
    return frozenset(found)


def _undated(
    read: "ReadPage",
    segments: Sequence[rows.AlignedSegment],
    subject: str,
    stems: frozenset[str],
) -> Iterator[DayInterval]:
    """When the statements without a date that may be of the relation hold.

    Such a sentence, list item, row or pair has a word of the relation, and the name of something
    that is neither the subject nor an object of the pair. In running text it holds between the
    dates around it in its section, and there a word will do that says that something began or came
    later (`After that he settled in Portugal`); in the opening, in lists, in infoboxes and where
    there are no dates it may hold at any time. A sentence that says what was first (`After posts in
    Houston and Austin`, `He began with Fittipaldi and drew attention in 1988`) tells of all days
    before the pair's first one, whatever it names, and before its own last date; but for `After the
    crisis of 2008`, which says when. A stretch without an end needs no word of the relation where
    such a name stands before its date (`The Brazilian João Havelange presided from 1974`).
    """
    known = _known(segments)
    common = any(s.object_label[:1].islower() for s in segments)
    own = frozenset(name_words(subject))
    first = min((s.start_first or date.min for s in segments), default=date.min)
    before = first - timedelta(1) if first > date.min else first
    for unit in read.units:
        if not common and unit.names <= own:
            continue
        cue = not stems.isdisjoint(w[:_STEM] for w in unit.words)
        if unit.says_what_was_first:
            dates = unit.dates.written
            yield date.min, max(dates[-1].last, before) if dates else date.max
        if any(name in unit.text for name in known):
            continue
        if unit.dates.written:
            for d in unit.dates.stretches:
                if _endless(d) and (cue or not unit.named_before(d) <= own):
                    earlier = [w.first for w in unit.dates.written if w.end <= d.start]
                    yield max([d.first, *earlier]), d.last
            continue
        around = [w for w in (unit.earlier, unit.later) if w]
        if not around and unit.in_order:
            around = [*unit.title.written, *unit.title.stretches]
        if not cue and (not around or _OTHER_TIMES.isdisjoint(unit.words)):
            continue
        days = [d for w in around for d in (w.first, w.last)]
        open_before = not days or (unit.later and not unit.earlier)
        open_after = not days or (unit.earlier and not unit.later)
        yield date.min if open_before else min(days), date.max if open_after else max(days)


def _since(
    read: "ReadPage",
    segments: Sequence[rows.AlignedSegment],
    subject: str,
    stems: frozenset[str],
) -> Iterator[DayInterval]:
    """The days from which on something else may hold (`acquired in 2004 by Guardians of Order`).

    A sentence, list item, row or pair says so that has a date from the last year of the pair on, a
    word of the relation or one that says that something began, and the name of something that is
    neither the subject nor an object of the pair.
    """
    known, own = _known(segments), frozenset(name_words(subject))
    ended = max((s.end_first or date.max for s in segments), default=date.max)
    for unit in read.units:
        late = [w.first for w in unit.dates.written if w.last >= ended]
        if not late or unit.names <= own or any(name in unit.text for name in known):
            continue
        stem = not stems.isdisjoint(w[:_STEM] for w in unit.words)
        if stem or not _OTHER_TIMES.isdisjoint(unit.words):
            yield min(late), date.max


def _known(segments: Sequence[rows.AlignedSegment]) -> frozenset[str]:
    """The labels of the objects of a pair, and the page's words for them."""
    return frozenset(n for s in segments for n in (s.mention, s.object_label) if n)


def _endless(stretch: Written) -> bool:
    return stretch.first == date.min or stretch.last == date.max


def _led_up(
    read: "ReadPage",
    segments: Sequence[rows.AlignedSegment],
    subject: str,
    stems: frozenset[str],
) -> Iterator[DayInterval]:
    """The days before the first segment, where the sentence that names it begins with another name.

    `He attended the University of Arkansas and transferred to Hendrix College`: a word of the
    relation and a name stand before the mention.
    """
    first = min(segments, key=lambda s: s.start_first or date.max, default=None)
    if not first or not first.start_first or first.paragraph is None or first.start is None:
        return
    one = read.page.paragraphs[first.paragraph]
    left, _ = sentence_at(read.starts[first.paragraph], len(one.text), first.start, first.start)
    before = one.text[left : first.start]
    other = frozenset(w for m in _NAME.findall(before) for w in name_words(m)) - _CALENDAR
    other -= frozenset(name_words(subject)).union(*(_words_of(s) for s in segments))
    if one.kind == "text" and other and any(w[:_STEM] in stems for w in _said(before)):
        yield date.min, max(date.min + _DAY, first.start_first) - _DAY


def life(page: rows.Page) -> tuple[date | None, date | None]:
    """The first and last day of which the page says that its subject was; None: it does not say.

    The infobox says it (`birth date`, `established`), or the opening (`(1910-1990)`, `born 5 May
    1985`, `founded in 1923`). A year counts from its end, or until its beginning.
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
            bracket = FIRST_BRACKET.match(one.text) if n == texts[0] else None
            lived = dates_in(bracket[1]) if bracket else None
            if lived and lived.stretches and len(lived.written) == 2:
                began.append(lived.written[0])
                ended.append(lived.written[1])
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
    read: "ReadPage", segments: Sequence[rows.AlignedSegment], subject: str
) -> frozenset[int]:
    """The segments, by index, that a page does not name, but may tell in other words.

    The page names it at another time, or has its name inside a longer one (`Formula BMW ADAC`), or
    links to it (`his deputy`); or a sentence, list item, row or pair has a word of
    its names and a date of the segment (`in 1995 he went to Harvard's law faculty`), or states both
    boundaries of the segment and none of a segment that the page names (`1911-1912, German
    university`). An object whose label is no proper name (`politician`, `member of parliament`)
    may be told in any words. What people checked is not looked into. `subject`: its label, whose
    words say nothing.
    """
    missing = {n for n, s in enumerate(segments) if s.rule == "none" and s.verification != "human"}
    if not missing:
        return frozenset()
    named = [s for s in segments if s.rule != "none"]
    elsewhere = {s.object for s in named}
    found = {
        n
        for n in missing
        if segments[n].object_label[:1].islower()
        or segments[n].object in elsewhere
        or _is_linked(read.page, segments[n])
        or any(read.holds(name) for name in (segments[n].object_label, *segments[n].aliases))
    }
    explained = [[b for b in boundaries(s) if b] for s in named]
    shared = frozenset(name_words(subject)).union(*(_words_of(s) for s in named))
    for n in missing - found:
        segment = segments[n]
        own = {w[:_LONG] for w in _words_of(segment) - shared}
        both = [b for b in boundaries(segment) if b]
        whole = len(both) == 2 and both[0] != both[1]
        for unit in read.units:
            said = unit.words | unit.heading
            by_name = not own.isdisjoint(w[:_LONG] for w in said) and unit.tells(segment)
            by_time = whole and unit.has(both) and not any(map(unit.has, explained))
            if by_name or by_time:
                found.add(n)
                break
    return frozenset(found)


class _Unit(NamedTuple):
    """A sentence, list item, row or pair of a page.

    `place`: of its first character in its paragraph; `words`: folded; `names`: those of its
    capitalised words, but for months and the first one; `dates`: its own; `heading`, `title`: words
    and dates of its section's title; `earlier`, `later`: the last date before it and the first one
    after it in its section, where `in_order`: text of a section tells one thing after another, the
    opening and lists do not.
    """

    place: int
    text: str
    words: frozenset[str]
    names: frozenset[str]
    dates: Dates
    heading: frozenset[str]
    title: Dates
    in_order: bool
    says_what_was_first: bool
    earlier: Written | None = None
    later: Written | None = None

    def named_before(self, date_: Written) -> frozenset[str]:
        """Those of its names that stand before a date."""
        return _names(self.text, date_.start - self.place)

    def has(self, both: Sequence[DayInterval]) -> bool:
        """Whether all of these boundaries are written."""
        written = self.dates.written or self.title.written
        return all(touches(written, one) for one in both)

    def tells(self, segment: rows.Segment) -> bool:
        """Whether a date of the segment is written: a boundary of it, or a day inside it."""
        return _tells(self.dates if self.dates.written else self.title, segment)


class ReadPage:
    """A page whose dates and sentences are read once for all pairs of its subject."""

    def __init__(self, page: rows.Page) -> None:
        self.page = page

    @cached_property
    def dates(self) -> list[Dates]:
        """The dates of each paragraph."""
        return [dates_in(one.text) for one in self.page.paragraphs]

    @cached_property
    def starts(self) -> list[list[int]]:
        """Where the sentences of each paragraph begin; a list item, row or pair is one."""
        return [
            sentence_starts(one.text) if one.kind == "text" else [0] for one in self.page.paragraphs
        ]

    @cached_property
    def opening(self) -> tuple[int, range]:
        """The first paragraph of text, and the first bracket in it, which tells a life."""
        return opening_of(self.page)

    @cached_property
    def _folded(self) -> str:
        parts = (f"{one.section} | {one.text}" for one in self.page.paragraphs)
        return f" {' '.join(w for part in parts for w in (*name_words(part), '|'))} "

    def holds(self, name: str) -> bool:
        """Whether the words of a name stand one after another in the page, whatever is around."""
        words_ = name_words(name)
        return bool(words_) and f" {' '.join(words_)} " in self._folded

    @cached_property
    def units(self) -> list[_Unit]:
        """Its sentences, list items, rows and pairs, in order."""
        found: list[_Unit] = []
        every = zip(self.page.paragraphs, self.dates, self.starts, strict=True)
        for section, group in groupby(every, key=lambda one: one[0].section):
            innermost = section.rpartition(" / ")[2]
            title, heading = dates_in(innermost), _said(innermost)
            units = [
                _unit(one, place, text, dates, heading, title)
                for one, of_all, starts in group
                for place, text, dates in _sentences(one.text, of_all, starts)
            ]
            earlier = _nearest(units, -1)
            later = reversed(_nearest(reversed(units), 0))
            found += (
                unit._replace(earlier=a, later=b) if unit.in_order else unit
                for unit, a, b in zip(units, earlier, later, strict=True)
            )
        return found


def _nearest(units: Iterable[_Unit], which: int) -> list[Written | None]:
    """The last (-1) date of what comes before each unit, or the first (0) where they go back."""
    found: list[Written | None] = []
    nearest: Written | None = None
    for unit in units:
        found.append(nearest)
        nearest = unit.dates.written[which] if unit.dates.written else nearest
    return found


def _sentences(text: str, dates: Dates, starts: Sequence[int]) -> Iterator[tuple[int, str, Dates]]:
    """Place and text of the sentences of a paragraph, with their dates."""
    for left, right in zip(starts, [*starts[1:], len(text)], strict=True):
        written = tuple(w for w in dates.written if left <= w.start < right)
        stretches = tuple(w for w in dates.stretches if left <= w.start < right)
        yield left, text[left:right], Dates(written, stretches)


def _unit(
    one: rows.Paragraph,
    place: int,
    text: str,
    dates: Dates,
    heading: frozenset[str],
    title: Dates,
) -> _Unit:
    words = _said(text)
    names = _names(text, len(text))
    first = one.kind == "text" and _tells_what_was_first(text, words)
    in_order = one.kind == "text" and bool(one.section)
    return _Unit(place, text, words, names, dates, heading, title, in_order, first)


def _names(text: str, end: int) -> frozenset[str]:
    """The capitalised words of a sentence up to `end`, but for months and the first one."""
    return frozenset(w for m in _NAME.findall(text, 0, end) for w in name_words(m)) - _CALENDAR


def _tells_what_was_first(text: str, said: frozenset[str]) -> bool:
    """Whether a sentence says what was before the rest of it."""
    word = WORD.search(text)
    if not word or fold_in_place(word[0]) not in _AFTER:
        return not _AT_FIRST.isdisjoint(said)
    found = dates_in(text).written
    date_at = min((w.start for w in found), default=-1)
    comma = text.find(",")
    clause = date_at if comma < 0 else comma
    return not -1 < date_at < comma and clause > 0 and bool(_NAME.search(text, 0, clause))


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
