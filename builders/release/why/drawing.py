"""A history as a small time line: lines of text, and an SVG picture."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from factdrift.builders.core.errors import printable
from factdrift.builders.facts.intervals import Certainty
from factdrift.builders.release.why.histories import AskedTime, FactHistory, Term

WIDTH = 44
"""Characters of the time line: labels and dates beside it fit into a terminal of 120 columns."""
SURELY, PERHAPS, ASKED = "█", "░", "^"
_TERMS_SHOWN = 24
"""Terms of a drawing: a screen. `--json` has all."""
_YEARS_BEFORE = 3
"""Years shown before the first day that is known, where a term has no known start."""


class Span(NamedTuple):
    """The days from the left edge of a drawing to the right one."""

    first: date
    last: date

    def cell(self, cell_place: int, cell_count: int) -> tuple[date, date]:
        """Return the first and last day of one of `cell_count` cells."""
        day_count = (self.last - self.first).days + 1
        first_offset = day_count * cell_place // cell_count
        last_offset = max(day_count * (cell_place + 1) // cell_count - 1, first_offset)
        return self.first + timedelta(first_offset), self.first + timedelta(last_offset)

    def share(self, day: date) -> float:
        """Return where a day lies, from 0 to 1."""
        day_count = max((self.last - self.first).days, 1)
        return min(max((day - self.first).days / day_count, 0.0), 1.0)


def drawn_terms(history: FactHistory) -> tuple[list[Term], int]:
    """Return the terms of a drawing, those that held when asked before others, and how many more.

    They keep their order.
    """
    terms = list(history.terms)
    if len(terms) <= _TERMS_SHOWN:
        return terms, 0
    by_weight = sorted(
        range(len(terms)),
        key=lambda term_place: (terms[term_place].holds in ("not", None), -term_place),
    )
    chosen_places = sorted(by_weight[:_TERMS_SHOWN])
    return [terms[term_place] for term_place in chosen_places], len(terms) - _TERMS_SHOWN


def span_of(terms: Sequence[Term], asked_time: AskedTime | None) -> Span | None:
    """Return the days that a drawing shows: all that is known of the terms and the time asked."""
    known_days = [
        day
        for term in terms
        for day in (term.start_first, term.start_last, term.end_first, term.end_last)
        if day is not None
    ]
    if not known_days:
        return None
    known_days += (
        [day for day in (asked_time.first, asked_time.last) if day is not None]
        if asked_time
        else []
    )
    first_day, last_day = min(known_days), max(known_days)
    if any(term.start_first is None for term in terms):
        first_day = first_day.replace(year=max(first_day.year - _YEARS_BEFORE, 1), day=1)
    return Span(first_day, max(last_day, first_day + timedelta(WIDTH)))


def bar(term: Term, span: Span) -> str:
    """Return the bar of one term: when it surely held, and when perhaps."""
    marks = {Certainty.CERTAIN: SURELY, Certainty.POSSIBLE: PERHAPS, Certainty.NO: " "}
    cell_days = [span.cell(cell_place, WIDTH) for cell_place in range(WIDTH)]
    return "".join(
        marks[term.interval.holds_within(*first_and_last)] for first_and_last in cell_days
    )


def asked_line(asked_time: AskedTime, span: Span) -> str:
    """Return the line that marks the time asked about."""
    first_day, last_day = asked_time.first or span.first, asked_time.last or span.last
    cell_days = [span.cell(cell_place, WIDTH) for cell_place in range(WIDTH)]
    return "".join(
        ASKED if cell_start <= last_day and cell_end >= first_day else " "
        for cell_start, cell_end in cell_days
    )


def year_line(span: Span) -> str:
    """Return a line with years at their places, as many as fit."""
    year_marks = [" "] * (WIDTH + 4)
    free_from = 0
    for cell_place in range(WIDTH):
        cell_start, cell_end = span.cell(cell_place, WIDTH)
        # a year stands where it begins, and the first one at the edge
        year_before = span.cell(cell_place - 1, WIDTH)[1].year if cell_place else None
        begun_year = None
        if cell_place and cell_end.year > cell_start.year:
            begun_year = cell_end.year
        elif year_before is None or year_before < cell_start.year:
            begun_year = cell_start.year
        if begun_year is not None and cell_place >= free_from:
            year_marks[cell_place : cell_place + 4] = f"{begun_year:04}"
            free_from = cell_place + 7
    return "".join(year_marks).rstrip()


# --- SVG --------------------------------------------------------------------------------------

_ROW, _LABELS, _BARS, _MARGIN = 24, 300, 560, 16
"""Pixels: the height of a row, the widths of labels and bars, and the space around."""
_SURE, _MAYBE, _BAND = "#1f6fb2", "#a9cbe8", "#f4d35e"
"""Colours of days on which a term surely held, of those on which it may have, and of the time asked
about: told apart in grey as well."""


def svg(title: str, histories: Sequence[FactHistory], asked_time: AskedTime | None) -> str:
    """Return the time lines of histories as an SVG document."""
    svg_parts: list[str] = []
    panel_top = _MARGIN + _ROW
    for history in histories:
        terms, _ = drawn_terms(history)
        span = span_of(terms, asked_time)
        heading = f"{history.subject_label or history.subject}, {history.relation_label}"
        svg_parts.append(_text(_MARGIN, panel_top, heading, "bold"))
        panel_top += _ROW // 2
        if span is None:
            continue
        svg_parts += _panel(terms, span, asked_time, panel_top)
        panel_top += _ROW * (len(terms) + 2)
    svg_parts.append(_text(_MARGIN, panel_top, _LEGEND))
    width, height = _LABELS + _BARS + 2 * _MARGIN, panel_top + _MARGIN
    svg_head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(_safe(title))} '
        'font-family="sans-serif" font-size="13">'
    )
    background = f'<rect width="{width}" height="{height}" fill="white"/>'
    title_text = f"<title>{escape(_safe(title))}</title>"
    return "\n".join([svg_head, title_text, background, *svg_parts, "</svg>"]) + "\n"


def _panel(
    terms: Sequence[Term], span: Span, asked_time: AskedTime | None, panel_top: int
) -> Iterator[str]:
    """Yield the bars of one history, with the time asked about behind them and years below."""
    panel_height = _ROW * len(terms)
    if asked_time is not None:
        band_start = _x_place(span, asked_time.first or span.first)
        band_end = _x_place(span, asked_time.last or span.last)
        yield _rect(band_start, panel_top, max(band_end - band_start, 3.0), panel_height, _BAND)
    for term_place, term in enumerate(terms):
        row_top = panel_top + _ROW * term_place
        yield _text(_MARGIN, row_top + 16, term.object_label or term.object)
        maybe_start = _x_place(span, term.start_first or span.first)
        maybe_end = _x_place(span, term.end_last or span.last)
        yield _rect(maybe_start, row_top + 5, max(maybe_end - maybe_start, 2.0), 13, _MAYBE)
        if term.rival or not (term.start_last and term.end_first):
            continue
        if term.start_last <= term.end_first:
            sure_start = _x_place(span, term.start_last)
            sure_width = max(_x_place(span, term.end_first) - sure_start, 2.0)
            yield _rect(sure_start, row_top + 5, sure_width, 13, _SURE)
    years = span.last.year - span.first.year + 1
    for marked_year in range(span.first.year, span.last.year + 1, max(1, -(-years // 10))):
        year_start = max(date(marked_year, 1, 1), span.first)
        yield _text(_x_place(span, year_start), panel_top + panel_height + 16, str(marked_year))


def _x_place(span: Span, day: date) -> float:
    return round(_MARGIN + _LABELS + _BARS * span.share(day), 1)


def _rect(x_start: float, y_start: float, width: float, height: float, fill: str) -> str:
    place_attributes = f'x="{x_start}" y="{y_start}"'
    size_attributes = f'width="{round(width, 1)}" height="{height}"'
    return f'<rect {place_attributes} {size_attributes} fill="{fill}"/>'


def _text(x_start: float, baseline: float, text: str, weight: str = "normal") -> str:
    shown_text = _safe(text)
    if len(shown_text) > _LABEL_LENGTH and weight == "normal":
        shown_text = shown_text[: _LABEL_LENGTH - 1] + "…"
    return f'<text x="{x_start}" y="{baseline}" font-weight="{weight}">{escape(shown_text)}</text>'


_LEGEND = "dark: surely, light: perhaps, yellow: when asked"
_LABEL_LENGTH = 48
"""Characters of a label that fit beside the bars."""


def _safe(text: str) -> str:
    """A text of others for XML, which has no control characters, on one line."""
    return printable(" ".join(text.split()))
