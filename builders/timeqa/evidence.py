"""Which mention of an object is the evidence of a segment, and what the page states beside it.

A mention is scored for a segment by what stands around it (`_score`): the dates of its boundaries
in its sentence, list item, table row or infobox pair, less in its paragraph or in the title of its
section; where in the page it stands; and whether it is the page's first one of the object. The
best mention is the evidence. Its *near* dates decide what the page states of the segment
(`stated`): those of its sentence and of the sentences before and after it, of its item, row or
pair, and of the innermost section title that has dates. A birth is no date of anything else, nor
is the bracket that opens a page.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from factdrift.builders import rows
from factdrift.builders.text.dates import Dates, DayInterval, Written, of_birth, touches
from factdrift.builders.timeqa.mentions import PageMention, PageText

_PLACE: Final = {"text": 0.0, "list": 0.75, "infobox": 0.75, "table": 1.0}
"""What a mention loses by the kind of its paragraph."""
_START, _END = 2.0, 0.5
"""What the year of the start and of the end count in the sentence of a mention."""
_ELSEWHERE = 0.75
"""Times these where it stands in another sentence of the paragraph, or in a title."""
_CLOSE = 0.5
"""Times 1 / (1 + characters to the start's date / 40)."""
_FIRST, _LINKED = 1.75, 0.75
_CONTRADICTED = 1.0
"""What a mention loses that stands beside the dates of another time alone."""
_MONTH = 31
_BESIDE = 4
"""Characters at most between a mention and a date that is surely its own: `Leeds (2003)`."""


def boundaries(segment: rows.Segment) -> tuple[DayInterval | None, DayInterval | None]:
    """Start and end as the first and last day that they may be; None: unknown or open."""
    first, last = segment.start_first, segment.start_last
    start = (first, last) if first and last else None
    first, last = segment.end_first, segment.end_last
    return start, (first, last) if first and last and not segment.end_open else None


class Near(NamedTuple):
    """The dates around a mention, without births.

    `sentence`: of its sentence, item, row or pair, and the stretches of time there; `around`: of
    the sentences before and after it, and of the title of its section; `paragraph`: all of these.
    """

    sentence: Dates
    around: Dates
    paragraph: Sequence[Written]


def near(page: PageText, mention: PageMention) -> Near:
    """The dates around a mention."""
    n = mention.paragraph
    text, starts = page.texts[n], page.sentences(n)
    first, last = bisect_right(starts, mention.start), bisect_right(starts, mention.end - 1)
    ends = [*starts[1:], len(text)]
    left, right = starts[first - 1], ends[last - 1]
    before, after = starts[max(0, first - 2)], ends[min(len(ends), last + 1) - 1]
    opening, bracket = page.opening
    dates, title = page.dates(n), page.title_dates(n)
    written, stretches = (
        [w for w in every if not of_birth(text, w) and not (n == opening and w.start in bracket)]
        for every in dates
    )

    def within(start: int, end: int) -> Dates:
        return Dates(
            tuple(w for w in written if start <= w.start and w.end <= end),
            tuple(w for w in stretches if start <= w.start and w.end <= end),
        )

    wider = within(before, after)
    around = Dates(wider.written + title.written, wider.stretches + title.stretches)
    return Near(within(left, right), around, [*written, *title.written])


def evidence_of(
    page: PageText, mentions: Sequence[PageMention], segments: Sequence[rows.Segment]
) -> list[PageMention | None]:
    """The best mention of each segment of one object; None: there is none.

    Of mentions with one score the first. Several segments may have one mention.
    """
    kinds = [page.page.paragraphs[m.paragraph].kind for m in mentions]
    order = sorted(range(len(mentions)), key=lambda i: (_PLACE[kinds[i]], mentions[i][:2]))
    every = [near(page, m) for m in mentions]
    opening = min((s.start_first or date.min for s in segments), default=date.min)
    found: list[PageMention | None] = []
    for segment in segments:
        is_opening = (segment.start_first or date.min) == opening
        scores = [
            _score(mentions[i], every[i], segment)
            - _PLACE[kinds[i]]
            + _FIRST * (is_opening and i == order[0])
            for i in range(len(mentions))
        ]
        best = max(order, key=lambda i: scores[i], default=None)
        found.append(None if best is None else mentions[best])
    return found


def _score(mention: PageMention, dates: Near, segment: rows.Segment) -> float:
    start, end = boundaries(segment)
    inside = dates.sentence.written
    score = _LINKED * mention.linked
    score += _START * _written(start, dates) + _END * _written(end, dates)
    if start and (close := [_distance(w, mention) for w in inside if touches([w], start)]):
        score += _CLOSE / (1 + min(close) / 40)
    return round(score - _CONTRADICTED * differs(mention, dates, segment), 6)


def _written(boundary: DayInterval | None, dates: Near) -> float:
    """How well a boundary is written around a mention, from 0 to 1."""
    if boundary is None:
        return 0.0
    year = _year(boundary)
    if touches(dates.sentence.written, year):
        return 1.0
    return _ELSEWHERE * touches((*dates.paragraph, *dates.around.written), year)


def stated(dates: Near, segment: rows.Segment) -> tuple[bool | None, bool | None]:
    """Whether start and end are written near; None where there is no such boundary.

    Their year is enough; a month or a day has to be theirs. What ends a stretch (`1990-1995`)
    states no start, and what begins one no end. The end of an open segment is stated by a stretch
    without an end (`since 2003`).
    """
    start, end = boundaries(segment)
    written = (*dates.sentence.written, *dates.around.written)
    stretches = (*dates.sentence.stretches, *dates.around.stretches)
    starts = [w for w in written if all(s.end != w.end or s.start == w.start for s in stretches)]
    ends = [w for w in written if all(s.start != w.start or s.end == w.end for s in stretches)]
    ended = _states(ends, end) if end else None
    if segment.end_open and start:
        ended = any(s.last == date.max and touches([_opening(s)], _year(start)) for s in stretches)
    return (_states(starts, start) if start else None), ended


def _states(written: Sequence[Written], boundary: DayInterval) -> bool:
    years = [w for w in written if (w.last - w.first).days > _MONTH]
    return touches(years, _year(boundary)) or touches(written, boundary)


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
    """Whether a date that stands directly beside a mention is not the segment's.

    `Leeds (2003-2009)`, `2003: Leeds`: none of these touches the segment.
    """
    start, end = boundaries(segment)
    if start is None and end is None:
        return False
    first = start[0] if start else date.min
    last = end[1] if end else date.max if segment.end_open or not start else start[1]
    own = _beside(mention, dates.sentence.written) + _beside(mention, dates.sentence.stretches)
    return bool(own) and not any(w.first <= last and first <= w.last for w in own)


def _beside(mention: PageMention, written: Sequence[Written]) -> list[Written]:
    """The dates directly before or behind a mention, and those directly behind these."""
    found: list[Written] = []
    end = mention.end
    for one in written:
        if one.start >= end and one.start - end <= _BESIDE:
            found.append(one)
            end = one.end
        elif 0 <= mention.start - one.end <= _BESIDE:
            found.append(one)
    return found


def _opening(stretch: Written) -> Written:
    """The year in which a stretch without an end begins."""
    first = stretch.first
    return stretch._replace(last=date(first.year, 12, 31)) if stretch.last == date.max else stretch


def _year(boundary: DayInterval) -> DayInterval:
    """The year of a boundary within one; else the boundary."""
    first, last = boundary
    if first.year != last.year:
        return boundary
    return date(first.year, 1, 1), date(first.year, 12, 31)


def _distance(written: Written, mention: PageMention) -> int:
    """Characters between a date and a mention in one paragraph."""
    return max(0, written.start - mention.end, mention.start - written.end)
