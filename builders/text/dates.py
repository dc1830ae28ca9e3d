"""Dates in text and in words: one calendar of names and one grammar, from `<language>/dates.yaml`.

The grammar is a table of forms. Each has a kind (DAY, MONTH, YEAR, DECADE, DAYS, YEARS,
DAY_OF_YEAR, MONTH_OF_YEAR, WEEKDAY, RELATIVE, SEASON, CENTURY, EVENT) and a reader, for what is a
date differs by what it is for: `stated` dates have a value, a `candidate` can answer a question, a
`question` says its own time, `undated` and `relative` days depend on an article's day, a `label`
is a name that is a date and nothing else. A caller names its reader and selects by kind.

Dates with a value (`dates_in`): `2003`, `1990s`, `July 2003`, `12 May 2003`, `May 12, 2003`,
`2003-05-12`, `2003-2009`, `2003-09`, `1999/2000`, `12 May to 3 June 2003`, `from July 2003 until
2009`, `since 2003`, `2003-present`, and the same with dashes. Years from 1000 to 2099.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from factdrift.builders.text.data import language_data

DateReader = Literal["stated", "candidate", "question", "undated", "relative", "label", "year"]
DayInterval = tuple[date, date]
"""First and last day."""

_TABLE = language_data("dates")
MONTHS: Sequence[str] = tuple(_TABLE["months"])
WEEKDAYS: Sequence[str] = tuple(_TABLE["weekdays"])
"""From Monday."""
ORDINALS: Sequence[str] = tuple(_TABLE["parts"]["th"])
"""What follows the number of a day."""
MONTH_NUMBER: Mapping[str, int] = {
    name.casefold(): number
    for number, names in enumerate(zip(MONTHS, _TABLE["short_months"], strict=True), 1)
    for name in (names[0], *names[1])
}
"""Number of a month by its name or abbreviation, case-folded."""
_ERA = 1000


def format_date(day: date, form: str = "day") -> str:
    """A day in words, whatever the locale: `5 May 2005`.

    `form`: `day`, `month` (`May 2005`), `year`, `early_decade` (`the early 1990s`, of a day of
    1990), `late_decade`, `day_of_week` (`Thursday, May 5, 2005`) or `day_of_week_day_first`
    (`Thursday, 5 May 2005`). A year below 1000 is written `AD 37`, which
    no reader takes for a number.
    """
    forms: Mapping[str, str] = _TABLE["written"]
    year = str(day.year) if day.year >= _ERA else forms["early_year"].format(year=day.year)
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    return forms[form].format(day=day.day, month=month, year=year, weekday=weekday)


def with_preposition(how: str, first: str = "", last: str = "") -> str:
    """A time with its preposition.

    `how`: `on`, `in`, `before`, `after`, `from` (to) or `between` (and); `in 2005`.
    """
    text: str = _TABLE["asked"][how]
    return text.format(first=first, last=last)


def date_forms(reader: DateReader) -> list[tuple[str, str]]:
    """Kind and pattern of each form of a reader, in order."""
    parts = _parts(_TABLE)
    forms = [form for form in _TABLE["forms"] if form["for"] == reader]
    return [(form["kind"], _filled(form["form"], parts)) for form in forms]


@cache
def date_pattern(reader: DateReader) -> re.Pattern[str]:
    """What finds the dates of a reader: the first form that fits at the leftmost place."""
    forms = "|".join(f"(?:{form})" for _, form in date_forms(reader))
    return re.compile(f"{_TABLE['before'].get(reader, '')}(?:{forms})")


def whole_date_pattern(reader: DateReader) -> str:
    """A pattern of texts that are a date and nothing else, also for the engines of tables."""
    return "|".join(f"^(?:{form})$" for _, form in date_forms(reader))


def _parts(table: Mapping[str, Any]) -> dict[str, str]:
    """The parts of forms by name; lists are alternatives."""
    short = [name for names in table["short_months"] for name in names]
    spelt: list[str] = []
    for full, names in zip(MONTHS, table["short_months"], strict=True):
        for name in names:
            rest = full.removeprefix(name)
            spelt.append(f"{full}|{name}" if rest == full else f"{name}(?:{rest})?")
    parts = {
        "month": f"(?:{'|'.join(MONTHS)})",
        "weekday": f"(?:{'|'.join(WEEKDAYS)})",
        "short_month": rf"(?:{'|'.join(s for s in short if s not in MONTHS)})\.",
        "any_month": rf"(?:{'|'.join(spelt)})\b\.?",
    }
    for name, part in table["parts"].items():
        parts[name] = part if isinstance(part, str) else f"(?:{'|'.join(part)})"
    return parts


def _filled(form: str, parts: Mapping[str, str]) -> str:
    """A form with its parts in the places of their names."""
    while (full := re.sub(r"\{([a-z]\w*)\}", lambda m: parts[m[1]], form)) != form:
        form = full
    return form


@cache
def _candidates() -> re.Pattern[str]:
    """The pattern of candidates, each form a group named after its kind and place."""
    forms = enumerate(date_forms("candidate"))
    every = "|".join(f"(?P<{kind}_{n}>{form})" for n, (kind, form) in forms)
    return re.compile(f"{_TABLE['before']['candidate']}(?:{every})")


def date_candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans of dates in `text` with their kind: DAY, MONTH, YEAR, WEEKDAY, RELATIVE, …"""
    for m in _candidates().finditer(text):
        if m.end() < len(text) and (text[m.end()].isalnum() or text[m.end()] in "%-–/"):
            continue
        yield m.start(), m.end(), str(m.lastgroup).rsplit("_", 1)[0]


@cache
def _only_names() -> re.Pattern[str]:
    return re.compile("|".join(_TABLE["names"]))


def time_in_question(question: str) -> str | None:
    """The words that already specify a time in `question`; None where there are none."""
    found = date_pattern("question").search(_only_names().sub(lambda m: "_" * len(m[0]), question))
    return found[0] if found else None


class DateMention(NamedTuple):
    """A date in a text: `text[start:end]`, and the days that it may mean."""

    start: int
    end: int
    first: date
    last: date


class TextDates(NamedTuple):
    """The dates of a text in order, and the stretches of time between two of them."""

    written: tuple[DateMention, ...]
    stretches: tuple[DateMention, ...]


_NOTHING = TextDates((), ())
_PATTERN = date_pattern("stated")
_HINT, _BETWEEN, _SINCE, _UP, _ON, _BORN = (
    re.compile(_TABLE["stretches"][name])
    for name in ("hint", "between", "since", "until", "and_on", "born")
)


def dates_in(text: str) -> TextDates:
    """Every date and stretch that a text states, by place; what is no date is left out."""
    if not _HINT.search(text):
        return _NOTHING
    written: list[DateMention] = []
    stretches: list[DateMention] = []
    for found in _PATTERN.finditer(text):
        read = list(_read(found))
        if len(read) == 2:
            stretches.append(DateMention(found.start(), found.end(), read[0].first, read[1].last))
        written += read
    for left, right in pairwise(written):
        if any(s.start == left.start for s in stretches):
            continue
        between = text[left.end : right.start]
        if left.first <= right.last and between and _BETWEEN.fullmatch(between):
            stretches.append(DateMention(left.start, right.end, left.first, right.last))
    for one in written:
        if _ON.match(text, one.end) or _SINCE.search(text[max(0, one.start - 16) : one.start]):
            if all(s.start != one.start for s in stretches):
                stretches.append(DateMention(one.start, one.end, one.first, date.max))
        elif _UP.search(text[max(0, one.start - 16) : one.start]) and all(
            s.end != one.end for s in stretches
        ):
            stretches.append(DateMention(one.start, one.end, date.min, one.last))
    return TextDates(tuple(written), tuple(sorted(stretches)))


def is_birth_date(text: str, one: DateMention) -> bool:
    """Whether a date of this text is someone's day of birth: `(born 5 May 1985)`."""
    return _BORN.search(text[max(0, one.start - 60) : one.start]) is not None


def may_mean_boundary(written: Sequence[DateMention], boundary: DayInterval) -> bool:
    """Whether one of the dates, at most a year long, may mean the boundary."""
    return any(
        w.first <= boundary[1] and boundary[0] <= w.last and (w.last - w.first).days < 367
        for w in written
    )


def _read(found: re.Match[str]) -> Iterator[DateMention]:
    """The dates of a match of a `stated` form: one, or the two that a stretch lies between."""
    part = {name: text for name, text in found.groupdict().items() if text}
    form = str(found.lastgroup).partition("_")[2]
    if form == "iso":
        yield from _made(found, part["y_iso"], int(part["m_iso"]), part["d_iso"])
    elif form == "last":
        after = "d_first_after" in part
        day = part.get("d_first") or part.get("d_first_after")
        end = found.end("d_first_after" if after else "m_first")
        yield from _made(found, part["y_last"], _month(part["m_first"]), day, end=end)
        day = part.get("d_last") or part.get("d_last_after")
        begin = found.start("d_last" if "d_last" in part else "m_last")
        yield from _made(found, part["y_last"], _month(part["m_last"]), day, start=begin)
    elif form == "to":
        yield from _years(found, part["y_from"], part["y_to"])
    elif form == "decade":
        first = int(part["y_decade"])
        yield DateMention(*found.span(), date(first, 1, 1), date(first + 9, 12, 31))
    else:
        month = _month(part.get(f"m_{form}"))
        yield from _made(found, part[f"y_{form}"], month, part.get(f"d_{form}"))


def _years(found: re.Match[str], first: str, last: str) -> Iterator[DateMention]:
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
                yield from _made(found, first, 0, None, end=found.end("y_from"))
                return
        last = str(until)
    yield from _made(found, first, 0, None, end=found.end("y_from"))
    yield from _made(found, last, 0, None, start=found.start("y_to"))


def _made(
    found: re.Match[str],
    year: str,
    month: int,
    day: str | None,
    start: int | None = None,
    end: int | None = None,
) -> Iterator[DateMention]:
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
    yield DateMention(*place, first, last)


def _month(name: str | None) -> int:
    return MONTH_NUMBER[name.rstrip(".").casefold()] if name else 0
