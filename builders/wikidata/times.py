"""Wikidata time values as intervals of possible days."""

import re
from datetime import date
from functools import lru_cache

from factdrift.builders.core.dates import PartialDate

_JULIAN = "Q1985786"
_DAY, _MONTH, _YEAR, _DECADE = 11, 10, 9, 8
_TIME = re.compile(r"([+-]?)([0-9]{1,20})-([0-9]{1,2})-([0-9]{1,2})(?:T.*)?")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FIRST_JULIAN_DAY = 1_721_425
"""Julian day number of the day before 0001-01-01, proleptic Gregorian."""
_LAST = date.max.toordinal()


@lru_cache(1 << 16)
def possible_days(time: str, precision: int, calendar: str) -> PartialDate | None:
    """The days that a time value of the JSON data model may mean, proleptic Gregorian.

    `time` is `+2019-07-00T00:00:00Z`, year -1 being 1 BCE; `precision` counts 11 for a day, 10
    month, 9 year, 8 decade (2010 to 2019); `calendar` is the URI of the calendar that `time` is
    written in: Julian days are converted, what is coarser keeps its month or year. Parts finer
    than the precision are ignored, and a part of 0 is unknown. Years are clamped to 1..9999: a
    date BCE is the first day of year 1, a later one the last of year 9999. None: coarser than a
    decade, or no date (30 February).
    """
    found = _TIME.fullmatch(time)
    if not found:
        return None
    year = int(found[2])
    year = -year if found[1] == "-" else year
    return _days(year, int(found[3]), int(found[4]), precision, calendar.endswith(_JULIAN))


@lru_cache(1 << 16)
def rdf_possible_days(time: str, precision: int) -> PartialDate | None:
    """The days that a time value of the RDF mapping may mean, proleptic Gregorian.

    This differs from `possible_days` because Wikibase has already converted Julian days and filled
    unknown months and days with 01, and counts years as XSD 1.1 does, with a year 0 (`-0043` is
    44 BCE).
    """
    found = _TIME.fullmatch(time)
    if not found:
        return None
    year = -int(found[2]) - 1 if found[1] == "-" else int(found[2])
    return _days(year, int(found[3]), int(found[4]), precision, julian=False)


def _days(year: int, month: int, day: int, precision: int, julian: bool) -> PartialDate | None:
    """The interval of a date whose year is 0 or below for BCE."""
    if precision < _DECADE:
        return None
    span = 1
    if precision == _DECADE:
        year, span = (year - year % 10 if year > 0 else year), 10
    if precision < _MONTH:
        month = 0
    if precision < _DAY or not month:
        day = 0
    if month > 12 or day > (_length(year, month, julian) if month else 0):
        return None
    if year + span <= 1:
        return PartialDate(date.min, date.min)
    if year > 9999:
        return PartialDate(date.max, date.max)
    if julian and day:
        one = date.fromordinal(min(max(_julian_ordinal(year, month, day), 1), _LAST))
        return PartialDate(one, one)
    last_year, last_month = year + span - 1, month or 12
    last_day = day or _length(last_year, last_month, julian=False)
    first = date(max(year, 1), month or 1, day or 1)
    return PartialDate(first, date(last_year, last_month, last_day))


def _length(year: int, month: int, julian: bool) -> int:
    leap = year % 4 == 0 and (julian or year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and (leap or year < 1) else _DAYS[month - 1]


def _julian_ordinal(year: int, month: int, day: int) -> int:
    """Days of a Julian date since the day before 0001-01-01, proleptic Gregorian."""
    before_march = (14 - month) // 12  # years are counted from March: the leap day comes last
    years = year + 4800 - before_march
    months = month + 12 * before_march - 3
    number = day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32_083
    return number - _FIRST_JULIAN_DAY
