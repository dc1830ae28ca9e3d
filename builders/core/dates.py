"""Dates with a precision and calendar periods. UTC days; no clock, no locale."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple, Self

from factdrift.builders.core.errors import UserError

Granularity = Literal["month", "quarter", "year"]

PERIODS_PER_YEAR: dict[Granularity, int] = {"month": 12, "quarter": 4, "year": 1}
_LETTER: dict[Granularity, str] = {"month": "M", "quarter": "Q", "year": ""}
_PERIOD = re.compile(r"(\d{4})(?:Q([1-4])|M(0[1-9]|1[0-2]))?")


class PartialDate(NamedTuple):
    """A day known up to an interval: every day in [first, last] is possible."""

    first: date
    last: date


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A calendar month, quarter or year, written `2021M07`, `2021Q3`, `2021`.

    `index` counts periods of one granularity without a gap: year * periods per year + place.
    """

    granularity: Granularity
    index: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2021Q3`, `2021M07` or `2021`; `UserError` for anything else."""
        match = _PERIOD.fullmatch(str(text))
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
        """The period that holds this day."""
        n = PERIODS_PER_YEAR[granularity]
        return cls(granularity, day.year * n + (day.month - 1) * n // 12)

    @property
    def first(self) -> date:
        year, place = divmod(self.index, PERIODS_PER_YEAR[self.granularity])
        return date(year, place * (12 // PERIODS_PER_YEAR[self.granularity]) + 1, 1)

    @property
    def last(self) -> date:
        if self.index + 1 >= 10_000 * PERIODS_PER_YEAR[self.granularity]:
            return date.max
        return (self + 1).first - timedelta(days=1)

    def __add__(self, n: int) -> "Period":
        return Period(self.granularity, self.index + n)

    def __str__(self) -> str:
        year, place = divmod(self.index, PERIODS_PER_YEAR[self.granularity])
        letter = _LETTER[self.granularity]
        width = 2 if letter == "M" else 1
        return f"{year:04}" + (f"{letter}{place + 1:0{width}}" if letter else "")


def periods(first: Period, last: Period) -> list[Period]:
    """Every period from `first` to `last`, both included."""
    if first.granularity != last.granularity:
        raise UserError(f"{first} and {last} are not of one granularity")
    return [Period(first.granularity, i) for i in range(first.index, last.index + 1)]
