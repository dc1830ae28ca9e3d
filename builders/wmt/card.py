"""Statistics tables and plots for the cards of datasets that question dates are drawn for."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Scalar, Statistics

SIGNIFICANCE = 0.001
"""A test rejects where uniform draws would give such a statistic less often than this."""
_FEWEST = 5.0
"""Draws expected in a cell of chi-square: neighbouring days are put together up to this."""


def subsets(path: Path) -> Statistics:
    """The number of draws of each split and subset, and of the articles that they are about."""
    query = """
        select split, subset, count(*), count(distinct article),
            min(article_day)::varchar, max(question_day)::varchar
        from read_parquet(?) group by all order by all
    """
    names = ("split", "subset", "draws", "articles", "first article day", "last question day")
    found = duck.query(query, [str(path)])
    return Statistics("draws", "Question dates", [dict(zip(names, r, strict=True)) for r in found])


def plots(path: Path) -> tuple[Plot, ...]:
    """Article years, by subset: flat for `past`, though some years have far more articles."""
    query = """
        select split || ', ' || subset, year(article_day)::varchar, count(*)
        from read_parquet(?) group by all order by all
    """
    counted = duck.query(query, [str(path)])
    years = sorted({year for _, year, _ in counted})
    data: dict[str, dict[str, int]] = {}
    for series, year, n in counted:
        data.setdefault(series, dict.fromkeys(years, 0))[year] = n
    caption = "Draws by the year of the article. Days are drawn uniformly, then an article."
    return (Plot("years", "periods", "Article years of the draws", caption, data),)


def uniformity(made: Path) -> Statistics:
    """Tests of the draws in a folder: article days are uniform, recent and past equally many."""
    found: list[dict[str, Scalar]] = []

    def add(split: str, subset: str, what: str, name: str, tested: TestResult | None) -> None:
        if tested:
            n, cells, statistic, p = tested
            verdict = "rejected" if tested.rejected else "not rejected"
            values = (split, subset, what, name, n, cells, statistic, p, verdict)
            found.append(dict(zip(_HEADS, values, strict=True)))

    query = """
        select split, subset, list(drawn order by day), list(expected order by day)
        from read_parquet(?) group by all order by all
    """
    for split, subset, drawn, expected in duck.query(query, [_days(made)]):
        add(split, subset, "article days are uniform", "chi-square", chi_square(drawn, expected))
    query = """
        select split, count(*) filter (subset = 'recent'), count(*) filter (subset = 'past')
        from read_parquet(?) group by all order by all
    """
    for split, recent, past in duck.query(query, [str(made / "draws.parquet")]):
        add(split, "both", "recent and past are equal", "binomial", equal_counts(recent, past))
    return Statistics("uniformity", "Are the draws uniform?", found, _UNIFORM)


_HEADS = ("split", "subset", "hypothesis", "test", "n", "cells", "statistic", "p", "verdict")
_UNIFORM = (
    f"Significance {SIGNIFICANCE}. n counts draws; those of article days include those that were "
    "dropped for their question's day. Uniform means: each day that has articles of the split is "
    "as likely (in train and valid each year, then each day of its window). Neighbouring days "
    "share a cell until 5 draws are expected in it. Where a split runs out of articles, recent and "
    "past need not be equal."
)


def day_plots(made: Path) -> tuple[Plot, ...]:
    """The article days of the draws in a folder, beside what uniform days would give."""
    wanted = (
        ("past", "strftime(day, '%Y') || 'Q' || quarter(day)", "subset = 'past'", "quarter"),
        ("recent", "strftime(day, '%YM%m')", "subset = 'recent' and split = 'eval'", "month"),
    )
    plots = []
    for subset, period, where, name in wanted:
        query = f"""
            select split || ', ' || subset, {period} as period,
                sum(drawn)::bigint, sum(expected)
            from read_parquet(?) where {where} group by all order by all
        """  # noqa: S608 - our own words
        counted = duck.query(query, [_days(made)])
        periods = sorted({p for _, p, *_ in counted})
        data: dict[str, dict[str, int]] = {}
        expected: dict[str, dict[str, float]] = {}
        for series, p, drawn, mean in counted:
            data.setdefault(series, dict.fromkeys(periods, 0))[p] = drawn
            expected.setdefault(series, {})[p] = round(mean, 6)
        title = f"Article days of the draws, {subset}"
        about = f"All draws by the {name} of their article. {_LINES}"
        if sum(sum(counts.values()) for counts in data.values()):
            file = f"article_days_{subset}"
            plots.append(Plot(file, "periods", title, about, data, expected, "draws"))
    return tuple(plots)


_LINES = "Lines: what each would hold if all days with articles were drawn equally often."


def _days(made: Path) -> str:
    return str(made / "article_days.parquet")


class TestResult(NamedTuple):
    """The result of a test: draws, cells that they were counted in, statistic, p-value."""

    n: int
    cells: int
    statistic: float
    p: float

    @property
    def rejected(self) -> bool:
        """Whether the hypothesis is rejected, at `SIGNIFICANCE`."""
        return self.p < SIGNIFICANCE


def chi_square(drawn: Sequence[int], expected: Sequence[float]) -> TestResult | None:
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
    return TestResult(int(sum(drawn)), len(cells), round(statistic, 2), round(p, 6))


def equal_counts(recent: int, past: int) -> TestResult | None:
    """A two-sided binomial test, by the normal distribution, that both are as likely."""
    n = recent + past
    if not n:
        return None
    z = (recent - past) / math.sqrt(n)
    return TestResult(n, 2, round(z, 2), round(math.erfc(abs(z) / math.sqrt(2)), 6))
