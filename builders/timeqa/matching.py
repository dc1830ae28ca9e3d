"""Which mention of an object is the evidence of which of its segments.

The segments of one object and the mentions of it in one page are matched as a small assignment
problem: each segment gets the mention whose surroundings state its dates best (`_Weights`), and a
mention that another segment has costs `shared`. A mention near which a boundary of another segment
stands, and none of this one, is that one's: it loses `others`.

Mentions of one paragraph share its dates out (`_owned`), so that `He joined Leeds in 2003 and
rejoined Leeds in 2012` states one start at each. The dates near a mention are its own ones in its
unit (its sentence, list item, table row or infobox pair) at most `NEAR` characters away; where it
has none, those of the innermost heading that has some (`2003-2009: Leeds`). A birth says nothing,
nor does the bracket that opens a page (`(1910-1990)`).

Segments that follow on one another are one *stint*. Dates contradict a stint where all of them lie
before it, or all after it, by more than a year (`_SLACK`), for data and texts differ by seasons. A
mention whose dates contradict the stint is no evidence where some mention of the object states a
boundary that it allows, unless its paragraph has a boundary of this segment: where nothing else is
left, the segment is unanswerable from the page. Where the page dates no mention of the object so, a
contradicted one loses `contradicted`, for a page may well name a club first with the year of its
foundation, and `far` where the dates miss the stint by more than ten years.

A mention that agrees goes before one that says nothing or something else (`_Near.gives_way`):
`United States (1940-1955)` before an undated visit to the United States, `between 1815 and 1817 in
Dresden` before `In Dresden in 1819`, of the years from 1814 to 1818. Only a stretch of time counts
as agreement, for a single date may be of anything.

Where somebody was born says little (`birth`), and nothing about a club of that name.

A mention is preferred for the segment's dates that are written around it: most in its sentence (or
list item, or row; where its paragraph has no date, in the title of its section), less in its
paragraph or that title. The start counts for more than the end, for texts say when something begins
and go on. The mention that introduces a stint is preferred too (`_firsts`): pages introduce things
once, and annotators keep to it. The weights are few and round, set by hand on annotated answers
(`builders.timeqa.measure`), of which a part was held back.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import chain, groupby
from typing import Final, NamedTuple

from factdrift.builders import rows
from factdrift.builders.text.dates import (
    Dates,
    DayInterval,
    Written,
    of_birth,
    states,
    touches,
)
from factdrift.builders.text.sentences import sentence_at
from factdrift.builders.timeqa.mentions import Mention, PageText

_SLACK = timedelta(days=365)
"""By how much dates may miss a stint."""
FAR = timedelta(days=3652)
"""By how much dates miss a stint that are of another time."""
NEAR = 80
"""Characters at most between a mention and a date that may contradict it."""
_CLAUSE = 20
"""Characters that a mark between two clauses counts for."""
_MARKS: Final = re.compile("[,;:)]")
_BIRTH: Final = re.compile(r"\bbirth")
_BORN: Final = re.compile(r"\b[Bb]orn\b[^.;:]*\b(?:in|at|near)\b[^.;:]*$")
_STEP = 1e-3
"""Least raise of a price: the sum of the scores is the best one but for so much a segment."""

_KIND: Final[Mapping[rows.ParagraphKind, float]] = {
    "text": 0.0,
    "list": 0.75,
    "table": 1.0,
    "infobox": 1.25,
}
"""What a mention loses outside running text."""


class _Weights(NamedTuple):
    start_sentence: float = 2.0
    start_paragraph: float = 1.5
    same_year: float = 0.75
    """Times the two above where another day or month of the start's year is written."""
    end_sentence: float = 0.5
    end_paragraph: float = 0.25
    near: float = 0.5
    """Times 1 / (1 + characters to the start date / 40)."""
    both: float = 0.5
    """Both boundaries in one sentence."""
    held: float = 0.5
    """A stretch of time in the sentence holds the segment."""
    inside: float = 1.0
    """A date inside the segment, in the paragraph."""
    first: float = 2.25
    """First mention of a stint in text; else in a list, then a table, an infobox."""
    linked: float = 0.75
    weak: float = 0.25
    birth: float = 1.5
    """What a mention loses that says where somebody was born."""
    contradicted: float = 0.5
    """What a mention loses whose dates are not the segment's."""
    far: float = 1.0
    """What it loses beside where they are of another time, and so is its paragraph."""
    others: float = 5.0
    """What a mention loses that states a boundary of another segment only."""
    shared: float = 0.5
    """What a mention costs that another segment has."""


_W: Final = _Weights()


def boundaries(segment: rows.Segment) -> tuple[DayInterval | None, DayInterval | None]:
    """Start and end as the first and last day that they may be; None: unknown or open."""
    first, last = segment.start_first, segment.start_last
    start = (first, last) if first and last else None
    first, last = segment.end_first, segment.end_last
    return start, (first, last) if first and last else None


def stated(
    page: PageText, mention: Mention, segment: rows.Segment
) -> tuple[bool | None, bool | None]:
    """Whether start and end are written near the mention; None where there is no such boundary.

    Near: in its paragraph, list item or row, or in the innermost heading with dates (`Manchester
    United (2003-2009)`). At the boundary's precision: a month wants the month written, or a day
    of it; a year alone does not state it.
    """
    one = page.page.paragraphs[mention.paragraph]
    written = (*page.dates(one.text).written, *_section(page, one).written)
    start, end = boundaries(segment)
    return (
        states(written, start) if start else None,
        states(written, end) if end else None,
    )


def matched(
    page: PageText,
    mentions: Sequence[Mention],
    segments: Sequence[rows.Segment],
) -> list[Mention | None]:
    """The mention of an object that is the evidence of each of its segments; None: there is none.

    Of equal ones the first. A mention goes to one segment where that costs no more than `shared`.
    """
    if not mentions:
        return [None] * len(segments)
    kinds = [page.page.paragraphs[m.paragraph].kind for m in mentions]
    order = sorted(range(len(mentions)), key=lambda n: (_KIND[kinds[n]], mentions[n][:2]))
    stints = stints_of(segments)
    every = [_near(page, m, own) for m, own in zip(mentions, _owned(page, mentions), strict=True)]
    firsts = _firsts([every[n] for n in order], segments, stints)
    both = list(zip(segments, stints, strict=True))
    fits = [[near.in_unit(s) or near.fits(*stint) for s, stint in both] for near in every]
    tells = [[near.tells(s) for s in segments] for near in every]
    pairs = zip(chain(*fits), chain(*tells), strict=True)
    told = any(fit and tell for fit, tell in pairs)
    whole = [any(near.states(s) for near in every) for s in segments]
    agreed = [any(near.agrees(s, stint) for near in every) for s, stint in both]
    scores: list[dict[int, float]] = [{} for _ in segments]
    for n, (mention, near) in enumerate(zip(mentions, every, strict=True)):
        born = _of_birth(page, mention)
        if born and mention.weak:
            continue
        own = (
            _W.linked * mention.linked - _W.weak * mention.weak - _W.birth * born - _KIND[kinds[n]]
        )
        for i, (segment, stint) in enumerate(both):
            contradicted = fits[n][i] is False
            apart = not near.in_paragraph(segment)
            if contradicted and told and apart:
                continue
            if near.gives_way(segment, stint, whole[i], agreed[i]):
                continue
            first = firsts[stint]
            score = own + _evidence(near, mention, segment)
            score += _W.first * (first is not None and order[first] == n)
            score -= _W.contradicted * contradicted
            score -= _W.far * (apart and near.fits(*stint, FAR) is False)
            score -= _W.others * (not tells[n][i] and any(tells[n]))
            scores[i][n] = round(score, 6)
    return [None if n is None else mentions[n] for n in assigned(scores, _W.shared)]


def assigned(scores: Sequence[Mapping[int, float]], shared: float) -> list[int | None]:
    """What each bidder gets, so that the sum of the scores is best; None: it wants nothing.

    `scores`: what each thing is worth to each bidder. A thing that several have costs all but one
    of them `shared`. An auction: a bidder without a thing takes the one of the greatest worth less
    its price, and raises the price by as much as the next best lets it; the bidder before it looks
    again. No price rises above `shared`, at which everyone may have the thing.
    """
    found: list[int | None] = [None] * len(scores)
    price: dict[int, float] = {}
    owner: dict[int, int] = {}
    waiting = deque(i for i, worth in enumerate(scores) if worth)
    while waiting:
        i = waiting.popleft()
        offers = sorted((price.get(n, 0.0) - worth, n) for n, worth in scores[i].items())
        cost, n = offers[0]
        found[i], paid = n, price.get(n, 0.0)
        if paid >= shared:
            continue
        next_best = min([c for c, _ in offers[1:2]] + [shared - scores[i][n]])
        price[n] = min(shared, paid + next_best - cost + _STEP)
        if n in owner:
            waiting.append(owner[n])
        owner[n] = i
    return found


class _Near(NamedTuple):
    """The dates near a mention, but for those of lives.

    `paragraph`: of its paragraph; `unit`: of its sentence, list item, row or pair; `around`: of its
    paragraph and section; `held`: the stretches of time of its unit and section; `telling`: dates
    and stretches of its unit that are near, else those of its section; `own`: whether they are of
    its unit.
    """

    paragraph: Sequence[Written]
    unit: Sequence[Written]
    around: Sequence[Written]
    held: Sequence[Written]
    telling: Sequence[Written]
    own: bool

    @property
    def begun(self) -> Sequence[Written]:
        """The dates of the unit that end no stretch."""
        ends = {stretch.end for stretch in self.held}
        return [w for w in self.unit if w.end not in ends]

    def fits(self, first: date, last: date, slack: timedelta = _SLACK) -> bool | None:
        """Whether the dates allow a stint of these days; None: there are none."""
        if not self.telling:
            return None
        earliest, latest = min(w.first for w in self.telling), max(w.last for w in self.telling)
        return earliest <= later(last, slack) and earlier(first, slack) <= latest

    def tells(self, segment: rows.Segment) -> bool:
        """Whether a boundary of the segment is among the dates."""
        return any(touches(self.telling, b) for b in boundaries(segment) if b)

    def states(self, segment: rows.Segment) -> bool:
        """Whether a stretch stands near, and both boundaries of the segment in the unit."""
        both = [b for b in boundaries(segment) if b]
        whole = len(both) == 2 and all(touches(self.unit, b) for b in both)
        return whole and self.own and bool(self.held)

    def agrees(self, segment: rows.Segment, stint: DayInterval) -> bool:
        """Whether a stretch of the unit lies inside the stint, or states the segment."""
        inside = any(stint[0] <= s.first and s.last <= stint[1] for s in self.held)
        return (self.own and inside) or self.states(segment)

    def gives_way(
        self, segment: rows.Segment, stint: DayInterval, whole: bool, agreed: bool
    ) -> bool:
        """Whether the mention is no evidence beside one that states the segment or agrees.

        `whole`: one states it: a mention without any date around gives way. `agreed`: one agrees:
        a mention whose own dates all lie outside the stint, by however little, gives way.
        """
        if not self.own:
            return whole and not self.around
        outside = all(w.last < stint[0] or stint[1] < w.first for w in self.telling)
        return agreed and outside and not self.in_unit(segment)

    def in_unit(self, segment: rows.Segment) -> bool:
        """Whether a boundary of the segment is among the dates of the unit, however far."""
        return any(touches(self.unit, b) for b in boundaries(segment) if b)

    def in_paragraph(self, segment: rows.Segment) -> bool:
        """Whether a boundary of the segment is among the dates of the paragraph."""
        return any(touches(self.paragraph, b) for b in boundaries(segment) if b)


def stints_of(segments: Sequence[rows.Segment]) -> list[DayInterval]:
    """First and last day of the stint of each segment of one object: of those that follow on."""
    spans = []
    for n, segment in enumerate(segments):
        start, end = boundaries(segment)
        spans.append((start[0] if start else date.min, end[1] if end else date.max, n))
    found = [(date.min, date.max)] * len(spans)
    stint: list[int] = []
    first = last = date.min
    for begins, ends, n in sorted(spans):
        if not stint or begins > later(last):
            stint, first, last = [], begins, ends
        stint.append(n)
        last = max(last, ends)
        for member in stint:
            found[member] = first, last
    return found


def _firsts(
    every: Sequence["_Near"], segments: Sequence[rows.Segment], stints: Sequence[DayInterval]
) -> dict[DayInterval, int | None]:
    """Which mention introduces each stint: of the first one the first; of another the first that
    states when it starts, None: none does. `every`: the mentions in order.
    """
    found: dict[DayInterval, int | None] = {}
    opening = min(stints)
    for stint in set(stints):
        own = [s for s, of in zip(segments, stints, strict=True) if of == stint]
        starts = [start for s in own if (start := boundaries(s)[0])]
        telling = (n for n, near in enumerate(every) if any(touches(near.begun, s) for s in starts))
        found[stint] = 0 if stint == opening else next(telling, None)
    return found


def earlier(day: date, slack: timedelta = _SLACK) -> date:
    """A day earlier by as much as texts may differ."""
    return day - slack if day > date.min + slack else date.min


def later(day: date, slack: timedelta = _SLACK) -> date:
    """A day later by as much as texts may differ."""
    return day + slack if day < date.max - slack else date.max


def _owned(page: PageText, mentions: Sequence[Mention]) -> list[list[Written]]:
    """The dates and stretches of the paragraph of each mention that are its own.

    Those of a sentence (list item, row, pair) with mentions are the nearest one's, those of a
    sentence without any the last one's before it and the next one's. The two dates of a stretch
    stay together.
    """
    owned: list[list[Written]] = [[] for _ in mentions]
    order = sorted(range(len(mentions)), key=lambda n: mentions[n][:3])
    for paragraph, group in groupby(order, key=lambda n: mentions[n].paragraph):
        own = list(group)
        text = page.page.paragraphs[paragraph].text
        begins = [mentions[n].start for n in own]
        for whole, parts in _together(page.dates(text)):
            at = bisect_right(begins, whole.start)
            around = own[max(0, at - 1) : at + 1]
            left, right = sentence_at(page.sentences(paragraph), len(text), whole.start, whole.end)
            inside = [n for n in around if left <= mentions[n].start < right]
            apart = {n: _apart(text, whole, mentions[n]) for n in inside}
            nearest = [n for n in inside if apart[n] == min(apart.values())]
            for n in nearest or around:
                owned[n] += parts
    return owned


def _together(dates: Dates) -> Iterator[tuple[Written, Sequence[Written]]]:
    """The stretches with the dates that they are made of, and the dates by themselves."""
    stretches = iter(dates.stretches)
    stretch = next(stretches, None)
    held: list[Written] = []
    for one in dates.written:
        while stretch and stretch.end <= one.start:
            yield stretch, [*held, stretch]
            stretch, held = next(stretches, None), []
        if stretch and stretch.start <= one.start:
            held.append(one)
        else:
            yield one, [one]
    while stretch:
        yield stretch, [*held, stretch]
        stretch, held = next(stretches, None), []


def _near(page: PageText, mention: Mention, own: Sequence[Written]) -> _Near:
    one = page.page.paragraphs[mention.paragraph]
    dates, section = page.dates(one.text), _section(page, one)
    left, right = sentence_at(
        page.sentences(mention.paragraph), len(one.text), mention.start, mention.end
    )
    first, bracket = page.opening
    bracket = bracket if mention.paragraph == first else range(0)
    mine = {w for w in own if not (w.start in bracket or of_birth(one.text, w))}
    written = [w for w in dates.written if w in mine]
    unit = [w for w in written if left <= w.start and w.end <= right]
    held = [s for s in dates.stretches if left <= s.start and s.end <= right and s in mine]
    telling = [w for w in (*unit, *held) if _distance(w, mention) <= NEAR]
    is_own = bool(telling)
    telling = telling or [*section.written, *section.stretches]
    unit = unit if written else list(section.written)
    around = (*written, *section.written)
    return _Near(written, unit, around, [*held, *section.stretches], telling, is_own)


def _evidence(near: _Near, mention: Mention, segment: rows.Segment) -> float:
    """How much the surroundings of a mention state of the segment's dates; 0: nothing."""
    start, end = boundaries(segment)
    first, last = start or end, end or start
    if first is None or last is None or not near.around:
        return 0.0
    unit, around, written = near.unit, near.around, near.paragraph
    score = 0.0
    if start:
        year = _year(start)
        score += max(
            _W.start_sentence * touches(unit, start),
            _W.start_paragraph * touches(around, start),
            _W.start_sentence * _W.same_year * touches(unit, year),
            _W.start_paragraph * _W.same_year * touches(around, year),
        )
        distances = [_distance(w, mention) for w in written if touches([w], start)]
        score += _W.near / (1 + min(distances) / 40) if distances else 0.0
    if end:
        score += max(_W.end_sentence * touches(unit, end), _W.end_paragraph * touches(around, end))
    if start and end and touches(unit, start) and touches(unit, end):
        score += _W.both
    if any(s.first <= first[0] and last[1] <= s.last for s in near.held):
        score += _W.held
    if any(first[0] <= w.first and w.last <= last[1] for w in written):
        score += _W.inside
    return score


def _of_birth(page: PageText, mention: Mention) -> bool:
    """Whether a mention is a place of birth: `born in the province of Brescia`."""
    one = page.page.paragraphs[mention.paragraph]
    if one.kind == "infobox":
        return bool(_BIRTH.search(one.text.partition(":")[0]))
    return bool(_BORN.search(one.text[max(0, mention.start - NEAR) : mention.start]))


def _year(boundary: DayInterval) -> DayInterval:
    """The year of a boundary within one; else the boundary."""
    first, last = boundary
    if first.year != last.year:
        return boundary
    return date(first.year, 1, 1), date(first.year, 12, 31)


def _section(page: PageText, one: rows.Paragraph) -> Dates:
    """The dates in the title of the innermost section that has some."""
    title = one.section
    while title:
        title, _, innermost = title.rpartition(" / ")
        if (dates := page.dates(innermost)).written:
            return dates
    return page.dates("")


def _apart(text: str, written: Written, mention: Mention) -> int:
    """How far a date is from a mention: in characters, and `_CLAUSE` a mark between them."""
    left, right = sorted((written[:2], (mention.start, mention.end)))
    marks = _MARKS.findall(text, left[1], right[0])
    return _distance(written, mention) + _CLAUSE * len(marks)


def _distance(written: Written, mention: Mention) -> int:
    """Characters between a date and a mention in one paragraph."""
    return max(0, written.start - mention.end, mention.start - written.end)
