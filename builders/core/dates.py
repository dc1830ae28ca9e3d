"""Partial dates and calendar periods. Days are UTC days; neither clock nor locale is used."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple, Self

from factdrift.builders.core.errors import UserError

Granularity = Literal["month", "quarter", "year"]

PERIODS_PER_YEAR: dict[Granularity, int] = {"month": 12, "quarter": 4, "year": 1}
_PERIOD_LETTER: dict[Granularity, str] = {"month": "M", "quarter": "Q", "year": ""}
# `2021Q3` and `2021M07`; not `2021Q5`, `2021M7` or `2021-07`
_PERIOD_FORM = re.compile(r"(\d{4})(?:Q([1-4])|M(0[1-9]|1[0-2]))?")


class PartialDate(NamedTuple):
    """A day that is known as an interval: it can be any from `first` to `last`, both included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A calendar month, quarter or year, written `2021M07`, `2021Q3` or `2021`.

    `index` numbers the periods of a granularity without gaps, so that differences count periods:
    the year times the periods in a year, plus the place in the year from 0.
    """

    granularity: Granularity
    index: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text like `2021Q3`, `2021M07` or `2021`; raise `UserError` for any other."""
        match = _PERIOD_FORM.fullmatch(str(text))
        if not match or match[1] == "0000":
            raise UserError(f"not a period: {text!r} (write 2021Q3, 2021M07 or 2021)")
        year, quarter, month = int(match[1]), match[2], match[3]
        if quarter:
            return cls("quarter", year * 4 + int(quarter) - 1)
        if month:
            return cls("month", year * 12 + int(month) - 1)
        return cls("year", year)

    @classmethod
    def of(cls, day: date, granularity: Granularity) -> Self:
        """Return the period that contains a day."""
        periods_a_year = PERIODS_PER_YEAR[granularity]
        return cls(granularity, day.year * periods_a_year + (day.month - 1) * periods_a_year // 12)

    @property
    def first(self) -> date:
        """The first day of the period."""
        return _first_day(self)

    @property
    def last(self) -> date:
        """The last day of the period."""
        return _last_day(self)

    def __add__(self, period_count: int) -> "Period":
        return Period(self.granularity, self.index + period_count)

    def __str__(self) -> str:
        year, period_place = divmod(self.index, PERIODS_PER_YEAR[self.granularity])
        letter = _PERIOD_LETTER[self.granularity]
        place_width = 2 if letter == "M" else 1
        return f"{year:04}" + (f"{letter}{period_place + 1:0{place_width}}" if letter else "")


# A table has the same few periods in many rows.
@lru_cache(1 << 12)
def _first_day(period: Period) -> date:
    periods_a_year = PERIODS_PER_YEAR[period.granularity]
    year, period_place = divmod(period.index, periods_a_year)
    return date(year, period_place * (12 // periods_a_year) + 1, 1)


@lru_cache(1 << 12)
def _last_day(period: Period) -> date:
    if period.index + 1 >= 10_000 * PERIODS_PER_YEAR[period.granularity]:
        return date.max  # the next period would begin in the year 10000
    return (period + 1).first - timedelta(days=1)


def periods(first: Period, last: Period) -> list[Period]:
    """Return all periods from `first` to `last`, both included."""
    if first.granularity != last.granularity:
        raise UserError(f"{first} and {last} are not of one granularity")
    return [Period(first.granularity, index) for index in range(first.index, last.index + 1)]
