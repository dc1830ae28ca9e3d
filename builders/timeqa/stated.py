"""Dates that a text states: days, months, years, and stretches of time between two of them.

Understood: `2003`, `1990s`, `July 2003`, `12 May 2003`, `May 12, 2003`, `2003-05-12`, `2003-2009`,
`2003-09`, `1999/2000`, `12 May to 3 June 2003`, `from July 2003 until 2009`, `since 2003`,
`2003-present`, and the same with dashes. Years from 1000 to 2099.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

Interval = tuple[date, date]
"""First and last day."""

_MONTHS = "january february march april may june july august september october november december"
_NUMBER = {name[:3]: n for n, name in enumerate(_MONTHS.split(), 1)}
_M = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_D = r"(?:[0-3]?\d)(?:st|nd|rd|th)?"
_Y = r"(?:1\d|20)\d\d"
_TO = r"\s?(?:[-–—−]|to|until|till|and)\s?"
_PATTERN = re.compile(
    rf"""(?<![\w.$€£])(?:
      (?P<iso>{_Y})-(?P<iso_m>[01]\d)-(?P<iso_d>[0-3]\d)(?!\d)
    | (?:(?P<d0>{_D})\s)?(?P<m0>{_M})(?:\s(?P<d0b>{_D}))?{_TO}
      (?:(?P<d1>{_D})\s)?(?P<m1>{_M})(?:\s(?P<d1b>{_D}))?,?\s(?P<y1>{_Y})(?!\d)
    | (?P<d>{_D})\s(?:of\s)?(?P<m>{_M}),?\s(?P<y>{_Y})(?!\d)
    | (?P<mb>{_M})\s(?P<db>{_D}),?\s(?P<yb>{_Y})(?!\d)
    | (?P<mc>{_M}),?\s(?:of\s)?(?P<yc>{_Y})(?!\d)
    | (?P<from>{_Y})\s?[-–—−/]\s?(?P<to>{_Y}|\d\d)(?!\d|s\b)
    | (?P<decade>(?:1\d|20)\d0)s\b
    | (?P<year>{_Y})(?![\d%]|[.,:]\d|\s?(?:k?m|kg|miles|metres|meters|people|seats|ft)\b)
    )""",
    re.VERBOSE,
)
_HINT = re.compile(r"(?:1\d|20)\d\d")
_BETWEEN = re.compile(
    r"\s?(?:[-–—−]|to|until|till|through|up to|and)\s?(?:the end of |early |late |mid-?)?", re.I
)
_SINCE = re.compile(r"(?:since|from|as of)\s(?:early |late |mid-?)?$", re.I)
_ON = re.compile(
    r"\s?(?:[-–—−]|to|until)\s?(?:the )?(?:present|date|now|today)\b|\s?[-–—]\s?\)", re.I
)
_UP = re.compile(r"(?:until|till|up to)\s(?:early |late |mid-?)?$", re.I)


class Written(NamedTuple):
    """A date in a text: `text[start:end]`, and the days that it may mean."""

    start: int
    end: int
    first: date
    last: date


class Dates(NamedTuple):
    """The dates of a text in order, and the stretches of time between two of them."""

    written: tuple[Written, ...]
    stretches: tuple[Written, ...]


_NOTHING = Dates((), ())


def dates_in(text: str) -> Dates:
    """Every date and stretch that a text states, by place; what is no date is left out."""
    if not _HINT.search(text):
        return _NOTHING
    written: list[Written] = []
    stretches: list[Written] = []
    for found in _PATTERN.finditer(text):
        read = list(_read(found))
        if len(read) == 2:
            stretches.append(Written(found.start(), found.end(), read[0].first, read[1].last))
        written += read
    for left, right in pairwise(written):
        if any(s.start == left.start for s in stretches):
            continue
        between = text[left.end : right.start]
        if left.first <= right.last and between and _BETWEEN.fullmatch(between):
            stretches.append(Written(left.start, right.end, left.first, right.last))
    for one in written:
        if _ON.match(text, one.end) or _SINCE.search(text[max(0, one.start - 16) : one.start]):
            if all(s.start != one.start for s in stretches):
                stretches.append(Written(one.start, one.end, one.first, date.max))
        elif _UP.search(text[max(0, one.start - 16) : one.start]) and all(
            s.end != one.end for s in stretches
        ):
            stretches.append(Written(one.start, one.end, date.min, one.last))
    return Dates(tuple(written), tuple(sorted(stretches)))


def states(written: Sequence[Written], boundary: Interval) -> bool:
    """Whether one of the dates is the boundary at its precision, or a finer date inside it."""
    return any(boundary[0] <= w.first and w.last <= boundary[1] for w in written)


def touches(written: Sequence[Written], boundary: Interval) -> bool:
    """Whether one of the dates, at most a year long, may mean the boundary."""
    return any(
        w.first <= boundary[1] and boundary[0] <= w.last and (w.last - w.first).days < 367
        for w in written
    )


def _read(found: re.Match[str]) -> Iterator[Written]:
    part = found.groupdict()
    if part["iso"]:
        yield from _made(found, part["iso"], int(part["iso_m"]), part["iso_d"])
    elif part["y1"]:
        middle = found.end("d0b") if part["d0b"] else found.end("m0")
        day = part["d0"] or part["d0b"]
        yield from _made(found, part["y1"], _month(part["m0"]), day, end=middle)
        begin = found.start("d1") if part["d1"] else found.start("m1")
        day = part["d1"] or part["d1b"]
        yield from _made(found, part["y1"], _month(part["m1"]), day, start=begin)
    elif part["from"]:
        yield from _years(found, part["from"], part["to"])
    elif part["decade"]:
        first = int(part["decade"])
        yield Written(*found.span(), date(first, 1, 1), date(first + 9, 12, 31))
    else:
        year = part["y"] or part["yb"] or part["yc"] or part["year"]
        month = part["m"] or part["mb"] or part["mc"]
        yield from _made(found, year, _month(month), part["d"] or part["db"])


def _years(found: re.Match[str], first: str, last: str) -> Iterator[Written]:
    """`2003-2009`, `2003-09`, `1999-00`; `2009-03` is a month."""
    if len(last) == 2:
        n, until = int(last), int(first[:2] + last)
        if until <= int(first):
            if last == "00" and first[2:] == "99":
                until += 100
            elif 1 <= n <= 12 and "-" in found[0]:
                yield from _made(found, first, n, None)
                return
            else:
                yield from _made(found, first, 0, None, end=found.end("from"))
                return
        last = str(until)
    yield from _made(found, first, 0, None, end=found.end("from"))
    yield from _made(found, last, 0, None, start=found.start("to"))


def _made(
    found: re.Match[str],
    year: str,
    month: int,
    day: str | None,
    start: int | None = None,
    end: int | None = None,
) -> Iterator[Written]:
    """The date, if the calendar has it."""
    place = (found.start() if start is None else start, found.end() if end is None else end)
    number = int(re.sub(r"\D", "", day)) if day else 0
    try:
        first = date(int(year), month or 1, number or 1)
    except ValueError:
        return
    if number:
        last = first
    elif month:
        last = date(first.year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    else:
        last = date(first.year, 12, 31)
    yield Written(*place, first, last)


def _month(name: str | None) -> int:
    return _NUMBER[name[:3].lower()] if name else 0


_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"“(\[]?[^\W_a-z])")
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]|\b(?:St|Mr|Mrs|Ms|Dr|Jr|Sr|Prof|Gen|Col|Maj|Capt|Lt|Sgt|Rev|Hon|No|vs|v|c|ca"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Inc|Ltd|Co|Corp|Bros|Mt|Ft|Sen|Rep|Gov|Pres|[A-Z](?:\.[A-Z])+))$"
)


def sentence_starts(text: str) -> list[int]:
    """Where the sentences of a paragraph begin; 0 is the first."""
    starts = [0]
    for found in _END.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        if text[found.start()] != "." or not _ABBREVIATED.search(before):
            starts.append(found.end())
    return starts


def sentence_at(starts: Sequence[int], length: int, start: int, end: int) -> tuple[int, int]:
    """First character, and the one after the last, of the sentences that hold a span."""
    left = bisect_right(starts, start) - 1
    right = bisect_right(starts, max(start, end - 1))
    return starts[left], starts[right] if right < len(starts) else length
