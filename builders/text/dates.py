"""Dates in text and in words: one calendar of names and one grammar, from `<language>/dates.yaml`.

The grammar is a table of forms. Each form has a kind (DAY, MONTH, YEAR, DECADE, DAYS, YEARS,
DAY_OF_YEAR, MONTH_OF_YEAR, WEEKDAY, RELATIVE, SEASON, CENTURY, EVENT) and a reader, because each
use needs other dates: `stated` dates have a value, a `candidate` can answer a question, a
`question` form finds the time that a question states, `undated` and `relative` days depend on the
day of an article, a `label` form matches a name that is only a date, and `year` the years that
answer a question. A caller names its reader and selects by kind.

`dates_in` finds dates with a value: `2003`, `1990s`, `July 2003`, `12 May 2003`, `May 12, 2003`,
`2003-05-12`, `2003-2009`, `2003-09`, `1999/2000`, `12 May to 3 June 2003`, `from July 2003 until
2009`, `since 2003`, `2003-present`, and the same with dashes. Years are from 1000 to 2099.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from factdrift.builders.text.data import language_data
from factdrift.builders.text.quotations import MIXED, replace_quotations

DateReader = Literal["stated", "candidate", "question", "undated", "relative", "label", "year"]
DayInterval = tuple[date, date]
"""First and last day."""

_TABLE = language_data("dates")
MONTHS: Sequence[str] = tuple(_TABLE["months"])
WEEKDAYS: Sequence[str] = tuple(_TABLE["weekdays"])
"""The names of the days of the week, Monday first."""
ORDINALS: Sequence[str] = tuple(_TABLE["parts"]["th"])
"""The endings of ordinal numbers: `st` in `1st`."""
MONTH_NUMBER: Mapping[str, int] = {
    name.casefold(): number
    for number, names in enumerate(zip(MONTHS, _TABLE["short_months"], strict=True), 1)
    for name in (names[0], *names[1])
}
"""The number of a month by its name or abbreviation, case-folded."""
_FIRST_PLAIN_YEAR = 1000
"""Years below it are written with `AD`: a bare `37` would be read as a number."""


@lru_cache(1 << 12)
def format_date(day: date, form: str = "day") -> str:
    """A day in words, in the same way under every locale: `5 May 2005`.

    `form` is `day`, `month` (`May 2005`), `year`, `early_decade` (`the early 1990s`, for a day of
    1990), `late_decade`, `day_of_week` (`Thursday, May 5, 2005`) or `day_of_week_day_first`
    (`Thursday, 5 May 2005`). A year below 1000 is written `AD 37`.
    """
    day_formats: Mapping[str, str] = _TABLE["day_formats"]
    year = (
        str(day.year)
        if day.year >= _FIRST_PLAIN_YEAR
        else day_formats["early_year"].format(year=day.year)
    )
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    return day_formats[form].format(day=day.day, month=month, year=year, weekday=weekday)


def with_preposition(preposition: str, first: str = "", last: str = "") -> str:
    """A time with its preposition, such as `in 2005` or `from 2003 to 2005`.

    `preposition` is `on`, `in`, `before`, `after`, `from` (with `to`) or `between` (with `and`).
    """
    template: str = _TABLE["with_preposition"][preposition]
    return template.format(first=first, last=last)


def date_forms(reader: DateReader) -> list[tuple[str, str]]:
    """The kind and the pattern of each form of a reader, in the order of the table."""
    parts = _form_parts(_TABLE)
    reader_forms = [form for form in _TABLE["forms"] if form["for"] == reader]
    return [(form["kind"], _fill_parts(form["form"], parts)) for form in reader_forms]


@cache
def date_pattern(reader: DateReader) -> re.Pattern[str]:
    """The pattern that finds a reader's dates; where several forms fit, the first one counts."""
    forms = "|".join(f"(?:{form})" for _, form in date_forms(reader))
    return re.compile(f"{_TABLE['before'].get(reader, '')}(?:{forms})")


def whole_date_pattern(reader: DateReader) -> str:
    """A pattern that matches texts that are only a date; the engines of tables read it too."""
    return "|".join(f"^(?:{form})$" for _, form in date_forms(reader))


def _form_parts(table: Mapping[str, Any]) -> dict[str, str]:
    """The parts of forms by name; an entry that is a list becomes a group of alternatives."""
    dotted_months: list[str] = []
    any_months: list[str] = []
    for full_name, short_names in zip(MONTHS, table["short_months"], strict=True):
        for short_name in short_names:
            if short_name not in MONTHS:
                dotted_months.append(short_name)
            ending = full_name.removeprefix(short_name)
            if ending == full_name:  # an abbreviation that is not how the name begins
                any_months.append(f"{full_name}|{short_name}")
            else:
                any_months.append(f"{short_name}(?:{ending})?")
    parts = {
        "month": f"(?:{'|'.join(MONTHS)})",
        "weekday": f"(?:{'|'.join(WEEKDAYS)})",
        "short_month": rf"(?:{'|'.join(dotted_months)})\.",
        "any_month": rf"(?:{'|'.join(any_months)})\b\.?",
    }
    for part_name, part in table["parts"].items():
        parts[part_name] = part if isinstance(part, str) else f"(?:{'|'.join(part)})"
    return parts


def _fill_parts(form: str, parts: Mapping[str, str]) -> str:
    """A form with each `{part}` replaced by its pattern; parts may name other parts."""
    while True:
        filled = re.sub(r"\{([a-z]\w*)\}", lambda placeholder: parts[placeholder[1]], form)
        if filled == form:
            return form
        form = filled


@cache
def _candidates() -> re.Pattern[str]:
    """The pattern of candidates, each form a group named after its kind and place."""
    numbered_forms = enumerate(date_forms("candidate"))
    all_forms = "|".join(f"(?P<{kind}_{index}>{form})" for index, (kind, form) in numbered_forms)
    return re.compile(f"{_TABLE['before']['candidate']}(?:{all_forms})")


def date_candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """The spans of dates in `text`: start, end and kind (DAY, MONTH, YEAR, WEEKDAY, RELATIVE, …).

    A date that goes on behind its end, as `12 May 2003-04` or `5%`, is left out.
    """
    for date_match in _candidates().finditer(text):
        if date_match.end() < len(text) and (
            text[date_match.end()].isalnum() or text[date_match.end()] in "%-–/"
        ):
            continue
        yield date_match.start(), date_match.end(), str(date_match.lastgroup).rsplit("_", 1)[0]


@cache
def _only_names() -> re.Pattern[str]:
    """Names that only look like a time: `Blade Runner 2049`."""
    return re.compile("|".join(_TABLE["names"]))


def time_in_question(question: str) -> str | None:
    """The words of a question that already specify a time; None where there are none."""
    searched_text = replace_quotations(question, lambda quotation: "_" * len(quotation), MIXED)
    searched_text = _only_names().sub(lambda name_match: "_" * len(name_match[0]), searched_text)
    time_match = date_pattern("question").search(searched_text)
    return time_match[0] if time_match else None


class DateMention(NamedTuple):
    """A date in a text: `text[start:end]`, and the days that it may mean."""

    start: int
    end: int
    first: date
    last: date


class TextDates(NamedTuple):
    """The dates of a text in order, and the stretches of time that the text states."""

    written: tuple[DateMention, ...]
    stretches: tuple[DateMention, ...]


_NO_DATES = TextDates((), ())
_PATTERN = date_pattern("stated")
_FORMS_WITH_MORE = frozenset(("iso", "last", "to", "decade"))
"""Stated forms that are more than a year, a month and a year, or a day."""
_HINT, _BETWEEN, _SINCE, _UNTIL, _AND_ON, _BORN = (
    re.compile(_TABLE["stretches"][name])
    for name in ("hint", "between", "since", "until", "and_on", "born")
)
# Characters before a date that are searched: `until early ` has 12, and `born` may have 40 others
# between itself and the date, such as a place.
_LOOK_BACK, _BIRTH_LOOK_BACK = 16, 60
# A year and a day: a longer time (a decade, say) is no boundary of a fact.
_YEAR_LENGTH = 367


def dates_in(text: str) -> TextDates:
    """Every date and every stretch of time that a text states, in order."""
    if not _HINT.search(text):
        return _NO_DATES
    mentions: list[DateMention] = []
    stretches: list[DateMention] = []
    for date_match in _PATTERN.finditer(text):
        match_dates = list(_dates_of_match(date_match))
        if len(match_dates) == 2:
            first, last = match_dates[0].first, match_dates[1].last
            stretches.append(DateMention(date_match.start(), date_match.end(), first, last))
        mentions += match_dates
    _add_stretches_between(text, mentions, stretches)
    _add_open_stretches(text, mentions, stretches)
    return TextDates(tuple(mentions), tuple(sorted(stretches)))


def _add_stretches_between(
    text: str, mentions: Sequence[DateMention], stretches: list[DateMention]
) -> None:
    """Add the stretch from each date to the next one where the words between say so (`to`)."""
    stretch_starts = {stretch.start for stretch in stretches}
    for earlier, later in pairwise(mentions):
        if earlier.start in stretch_starts:
            continue
        between = text[earlier.end : later.start]
        if earlier.first <= later.last and between and _BETWEEN.fullmatch(between):
            stretches.append(DateMention(earlier.start, later.end, earlier.first, later.last))
            stretch_starts.add(earlier.start)


def _add_open_stretches(
    text: str, mentions: Iterable[DateMention], stretches: list[DateMention]
) -> None:
    """Add a stretch for each date with `since` or `until` before it, or `to the present` after."""
    starts = {stretch.start for stretch in stretches}
    ends = {stretch.end for stretch in stretches}
    for mention in mentions:
        before = text[max(0, mention.start - _LOOK_BACK) : mention.start]
        if _AND_ON.match(text, mention.end) or _SINCE.search(before):
            if mention.start in starts:
                continue
            stretches.append(mention._replace(last=date.max))
        elif _UNTIL.search(before) and mention.end not in ends:
            stretches.append(mention._replace(first=date.min))
        else:
            continue
        starts.add(mention.start)
        ends.add(mention.end)


def is_birth_date(text: str, mention: DateMention) -> bool:
    """Whether a date of this text is someone's day of birth: `(born 5 May 1985)`."""
    before = text[max(0, mention.start - _BIRTH_LOOK_BACK) : mention.start]
    return _BORN.search(before) is not None


def may_mean_boundary(mentions: Sequence[DateMention], boundary: DayInterval) -> bool:
    """Whether one of the dates, at most a year long, shares a day with the boundary of a fact."""
    first_day, last_day = boundary
    return any(
        mention.first <= last_day
        and first_day <= mention.last
        and (mention.last - mention.first).days < _YEAR_LENGTH
        for mention in mentions
    )


def _dates_of_match(date_match: re.Match[str]) -> Iterator[DateMention]:
    """The dates of a match of a `stated` form: one, or the two that a stretch lies between."""
    form = str(date_match.lastgroup).partition("_")[2]
    if form not in _FORMS_WITH_MORE:
        month = _month_number(_group(date_match, f"m_{form}"))
        yield from _mention(
            date_match, date_match[f"y_{form}"], month, _group(date_match, f"d_{form}")
        )
        return
    date_parts = {name: text for name, text in date_match.groupdict().items() if text}
    if form == "iso":
        yield from _mention(
            date_match, date_parts["y_iso"], int(date_parts["m_iso"]), date_parts["d_iso"]
        )
    elif form == "last":
        yield from _dates_with_one_year(date_match, date_parts)
    elif form == "to":
        yield from _years(date_match, date_parts["y_from"], date_parts["y_to"])
    else:
        first_year = int(date_parts["y_decade"])
        yield DateMention(*date_match.span(), date(first_year, 1, 1), date(first_year + 9, 12, 31))


def _group(date_match: re.Match[str], name: str) -> str | None:
    """The text of a group; None where it is empty or the form of the match has no such group."""
    return (date_match[name] or None) if name in _PATTERN.groupindex else None


def _dates_with_one_year(
    date_match: re.Match[str], date_parts: Mapping[str, str]
) -> Iterator[DateMention]:
    """The two dates of `12 May to 3 June 2003` or `May 12 - June 3, 2003`."""
    year = date_parts["y_last"]
    first_day = date_parts.get("d_first") or date_parts.get("d_first_after")
    first_end = date_match.end("d_first_after" if "d_first_after" in date_parts else "m_first")
    yield from _mention(
        date_match, year, _month_number(date_parts["m_first"]), first_day, end=first_end
    )
    last_day = date_parts.get("d_last") or date_parts.get("d_last_after")
    last_start = date_match.start("d_last" if "d_last" in date_parts else "m_last")
    yield from _mention(
        date_match, year, _month_number(date_parts["m_last"]), last_day, start=last_start
    )


def _years(date_match: re.Match[str], first: str, last: str) -> Iterator[DateMention]:
    """The years of `2003-2009`, `2003-09` or `1999-00`; `2009-03` is a month instead."""
    last_year = last
    if len(last) == 2:
        two_digits, full_year = int(last), int(first[:2] + last)
        if full_year <= int(first):
            if last == "00" and first[2:] == "99":
                full_year += 100
            elif 1 <= two_digits <= 12 and "-" in date_match[0]:
                yield from _mention(date_match, first, two_digits, None)
                return
            else:  # `2009/03`: only the first year is sure
                yield from _mention(date_match, first, 0, None, end=date_match.end("y_from"))
                return
        last_year = str(full_year)
    yield from _mention(date_match, first, 0, None, end=date_match.end("y_from"))
    yield from _mention(date_match, last_year, 0, None, start=date_match.start("y_to"))


def _mention(
    date_match: re.Match[str],
    year: str,
    month: int,
    day: str | None,
    start: int | None = None,
    end: int | None = None,
) -> Iterator[DateMention]:
    """The date of a match, or nothing where the calendar has no such day (30 February).

    `month` is 0 and `day` None where the text does not state them; `start` and `end` are those of
    the match by default.
    """
    span = (
        date_match.start() if start is None else start,
        date_match.end() if end is None else end,
    )
    day_number = int(re.sub(r"\D", "", day)) if day else 0
    try:
        first = date(int(year), month or 1, day_number or 1)
    except ValueError:
        return
    if day_number:
        last = first
    elif month:
        last = date(first.year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    else:
        last = date(first.year, 12, 31)
    yield DateMention(*span, first, last)


def _month_number(name: str | None) -> int:
    """The number of a month by its name or abbreviation; 0 where there is no name."""
    return MONTH_NUMBER[name.rstrip(".").casefold()] if name else 0
