"""Wikidata time values as intervals of possible days."""

import re
from datetime import date
from functools import lru_cache

from factdrift.builders.core.dates import PartialDate

_JULIAN = "Q1985786"
_DAY, _MONTH, _YEAR, _DECADE = 11, 10, 9, 8
# Matches `+2019-07-00T00:00:00Z` and `-0043-03-15`, but not `2019` or `2019-07`.
_TIME = re.compile(r"([+-]?)([0-9]{1,20})-([0-9]{1,2})-([0-9]{1,2})(?:T.*)?")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FIRST_JULIAN_DAY = 1_721_425
"""Julian day number of the day before 0001-01-01, proleptic Gregorian."""
_LAST = date.max.toordinal()


@lru_cache(1 << 16)
def possible_days(time: str, precision: int, calendar: str) -> PartialDate | None:
    """The days that a time value of the JSON data model may mean, proleptic Gregorian.

    `time` is such as `+2019-07-00T00:00:00Z`, and its year -1 is 1 BCE. `precision` is 11 for a
    day, 10 for a month, 9 for a year and 8 for a decade (2010 to 2019). `calendar` is the URI of
    the calendar of `time`: Julian days are converted, while coarser dates keep their month or year.
    Parts finer than the precision are ignored, and a part of 0 is unknown. Years are clamped to
    1..9999: a date BCE becomes the first day of year 1, a later one the last day of year 9999.
    Returns None for a time coarser than a decade and for a day that no calendar has (30 February).
    """
    match = _TIME.fullmatch(time)
    if not match:
        return None
    year = int(match[2])
    year = -year if match[1] == "-" else year
    return _days(year, int(match[3]), int(match[4]), precision, calendar.endswith(_JULIAN))


@lru_cache(1 << 16)
def rdf_possible_days(time: str, precision: int) -> PartialDate | None:
    """The days that a time value of the RDF mapping may mean, proleptic Gregorian.

    This differs from `possible_days` because Wikibase has already converted Julian days and filled
    unknown months and days with 01, and counts years as XSD 1.1 does, with a year 0 (`-0043` is
    44 BCE).
    """
    match = _TIME.fullmatch(time)
    if not match:
        return None
    year = -int(match[2]) - 1 if match[1] == "-" else int(match[2])
    return _days(year, int(match[3]), int(match[4]), precision, julian=False)


def _days(year: int, month: int, day: int, precision: int, julian: bool) -> PartialDate | None:
    """The interval of a date whose year is 0 or below for BCE; None where there is no such date."""
    if precision < _DECADE:
        return None
    # Parts finer than the precision are ignored, and so is the day of an unknown month.
    if precision < _MONTH:
        month = 0
    if precision < _DAY or not month:
        day = 0
    if month > 12 or day > (_month_length(year, month, julian) if month else 0):
        return None
    if precision == _DECADE:
        first_year = year - year % 10 if year > 0 else year
        return _clamped(first_year, first_year + 9, 0, 0)
    if julian and day and 0 < year <= date.max.year:
        ordinal = min(max(_julian_ordinal(year, month, day), 1), _LAST)
        return PartialDate(date.fromordinal(ordinal), date.fromordinal(ordinal))
    return _clamped(year, year, month, day)


def _clamped(first_year: int, last_year: int, month: int, day: int) -> PartialDate:
    """The days of these years, of a month (0: all) and day (0: all), within the years 1 to 9999."""
    if last_year < 1:
        return PartialDate(date.min, date.min)
    if first_year > date.max.year:
        return PartialDate(date.max, date.max)
    last_month = month or 12
    last_day = day or _month_length(last_year, last_month, julian=False)
    first = date(max(first_year, 1), month or 1, day or 1)
    return PartialDate(first, date(last_year, last_month, last_day))


def _month_length(year: int, month: int, julian: bool) -> int:
    """Days of a month. Every February of a year BCE has 29: its leap years are not worked out."""
    is_leap = year % 4 == 0 and (julian or year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and (is_leap or year < 1) else _DAYS[month - 1]


def _julian_ordinal(year: int, month: int, day: int) -> int:
    """Days of a Julian date since the day before 0001-01-01, proleptic Gregorian."""
    before_march = (14 - month) // 12  # years are counted from March: the leap day comes last
    years = year + 4800 - before_march
    months = month + 12 * before_march - 3
    day_number = day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32_083
    return day_number - _FIRST_JULIAN_DAY
