"""Statistics tables and plots for the cards of datasets that question dates are drawn for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics


def draw_statistics(path: Path) -> Statistics:
    """The number of draws of each split and subset, and of the articles that they are about."""
    query = """
        select split, subset, count(*) as draws, count(distinct article) as articles,
            min(article_day)::varchar as "first article day",
            max(question_day)::varchar as "last question day"
        from read_parquet(?) group by all order by all
    """
    return Statistics("draws", "Question dates", duck.records(query, [path]))


def series_data(counted: Sequence[Sequence[Any]]) -> dict[str, dict[str, int]]:
    """Rows of a series, a period and a number as a plot's data: every period in every series."""
    periods = sorted({period for _, period, _ in counted})
    counts_by_series: dict[str, dict[str, int]] = {}
    for series, period, count in counted:
        counts_by_series.setdefault(series, dict.fromkeys(periods, 0))[period] = count
    return counts_by_series


def year_plots(path: Path) -> tuple[Plot, ...]:
    """Article years, by subset: flat for `past`, though some years have far more articles."""
    query = """
        select split || ', ' || subset, year(article_day)::varchar, count(*)
        from read_parquet(?) group by all order by all
    """
    data = series_data(duck.query(query, [path]))
    caption = "Draws by the year of the article. Days are drawn uniformly, then an article."
    return (Plot("years", "periods", "Article years of the draws", caption, data),)


def day_plots(folder: Path) -> tuple[Plot, ...]:
    """The article days of the draws in a folder, beside what uniform days would give."""
    plot_queries = (
        ("past", "strftime(day, '%Y') || 'Q' || quarter(day)", "subset = 'past'", "quarter"),
        ("recent", "strftime(day, '%YM%m')", "subset = 'recent' and split = 'eval'", "month"),
    )
    plots = []
    for subset, period, where, name in plot_queries:
        query = f"""
            select split || ', ' || subset, {period} as period,
                sum(drawn)::bigint, sum(expected)
            from read_parquet(?) where {where} group by all order by all
        """  # noqa: S608 - our own words
        period_counts = duck.query(query, [folder / "article_days.parquet"])
        drawn = series_data([row[:3] for row in period_counts])
        expected: dict[str, dict[str, float]] = {}
        for series, period_name, _, mean in period_counts:
            expected.setdefault(series, {})[period_name] = round(mean, 6)
        title = f"Article days of the draws, {subset}"
        caption = (
            f"All draws by the {name} of their article. "
            "Lines: what each would hold if all days with articles were drawn equally often."
        )
        if sum(sum(counts.values()) for counts in drawn.values()):
            file = f"article_days_{subset}"
            plots.append(Plot(file, "periods", title, caption, drawn, expected, "draws"))
    return tuple(plots)
