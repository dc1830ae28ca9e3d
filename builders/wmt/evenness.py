"""Evidence that draws are even: what each day should get, what it got, and tests of the two.

A day counts as often as it was drawn, whether or not the question's day then fell outside its
year: it is the draw that is uniform, and dropping takes more from the last days of a year.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, NamedTuple

import numpy as np

from builders.rows import Part, Subset
from builders.wmt.pool import Columns, Numbers, Pool, day_number
from builders.wmt.settings import DateSettings

SIGNIFICANCE = 0.001
"""A test rejects where even draws would look so uneven less often than this."""
_FEWEST = 5.0
"""Draws expected in a cell of chi-square: neighbouring days are put together up to this."""
_DAY = "datetime64[D]"


@dataclass(frozen=True, slots=True)
class ArticleDay:
    """How often one day was drawn for one part and subset."""

    part: Annotated[Part, "eval, train or valid"]
    subset: Annotated[Subset, "recent or past"]
    day: Annotated[date, "UTC day that has articles of the part"]
    drawn: Annotated[int, "draws of this day, dropped ones too"]
    expected: Annotated[float, "draws of it if the year, then each of its days is as likely"]


class Window(NamedTuple):
    """The days that may be drawn for some years, as places in a pool: from, and up to."""

    low: Numbers
    high: Numbers
    new_year: Annotated[Numbers, "1 January of each year"]
    year_end: Annotated[Numbers, "31 December of each year"]


def window(pool: Pool, settings: DateSettings, subset: Subset, year: Numbers) -> Window:
    """The windows of article days for questions asked in these years."""
    new_year = (year - 1970).astype("datetime64[Y]").astype(_DAY).astype(np.int64)
    year_end = (year - 1969).astype("datetime64[Y]").astype(_DAY).astype(np.int64) - 1
    earliest = np.full(len(year), day_number(settings.first_day))
    if subset == "recent":
        earliest = np.maximum(earliest, new_year - settings.recent_before)
    return Window(*pool.window(earliest, year_end), new_year, year_end)


def article_days(
    pool: Pool, settings: DateSettings, part: Part, subset: Subset, drawn: Iterable[Columns]
) -> dict[str, Any]:
    """Columns of `ArticleDay` for all draws of one part and subset, by day."""
    first = settings.first_day.year
    years = [settings.year] if part == "eval" else range(first, settings.year)
    low, high, *_ = window(pool, settings, subset, np.array(years))
    low, high = low[high > low], high[high > low]
    steps = np.zeros(len(pool.days) + 1)
    np.add.at(steps, low, 1 / (high - low))
    np.add.at(steps, high, -1 / (high - low))
    odds = np.cumsum(steps)[:-1] / max(len(low), 1)
    places = [np.searchsorted(pool.days, columns.article_day) for columns in drawn]
    counts = np.bincount(np.concatenate(places), minlength=len(pool.days))
    there = odds > 1e-12
    return {
        "part": [part] * int(there.sum()),
        "subset": [subset] * int(there.sum()),
        "day": pool.days[there].astype(_DAY),
        "drawn": counts[there],
        "expected": odds[there] * counts.sum(),
    }


class Tested(NamedTuple):
    """What a test found."""

    n: Annotated[int, "draws"]
    cells: Annotated[int, "cells that they were counted in"]
    statistic: float
    p: Annotated[float, "probability of a statistic as large, were the draws even"]

    @property
    def rejected(self) -> bool:
        """Whether the draws are called uneven, at `SIGNIFICANCE`."""
        return self.p < SIGNIFICANCE


def chi_square(drawn: Sequence[int], expected: Sequence[float]) -> Tested | None:
    """Pearson's test of counts by day against what is expected of them; None: too few draws.

    Neighbouring days share a cell until five draws are expected in it.
    """
    from scipy.special import chdtrc  # what alt-profanity-check stands on

    cells: list[list[float]] = []
    for count, mean in zip(drawn, expected, strict=True):
        if not cells or cells[-1][1] >= _FEWEST:
            cells.append([0.0, 0.0])
        cells[-1][0] += count
        cells[-1][1] += mean
    if len(cells) > 1 and cells[-1][1] < _FEWEST:
        last = cells.pop()
        cells[-1] = [a + b for a, b in zip(cells[-1], last, strict=True)]
    if len(cells) < 2:
        return None
    statistic = math.fsum((count - mean) ** 2 / mean for count, mean in cells)
    p = float(chdtrc(len(cells) - 1, statistic))
    return Tested(int(sum(drawn)), len(cells), round(statistic, 2), round(p, 6))


def equal(recent: int, past: int) -> Tested | None:
    """A two-sided binomial test, by the normal distribution, that both are as likely."""
    n = recent + past
    if not n:
        return None
    z = (recent - past) / math.sqrt(n)
    return Tested(n, 2, round(z, 2), round(math.erfc(abs(z) / math.sqrt(2)), 6))
