"""English names of months, read and written: no locale has a say."""

from datetime import date

from builders.dates import MONTHS

MONTH_NUMBER = {name.casefold(): i for i, name in enumerate(MONTHS, 1)}
MONTH_NUMBER |= {name[:3].casefold(): i for i, name in enumerate(MONTHS, 1)} | {"sept": 9}
"""Number of a month by its name or abbreviation, case-folded."""


def month_year(day: date) -> str:
    """`May 2017`."""
    return f"{MONTHS[day.month - 1]} {day.year}"
