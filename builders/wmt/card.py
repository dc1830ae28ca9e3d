"""Statistics tables and plots for the cards of datasets that question dates are drawn for."""

from pathlib import Path

from factdrift.builders.core import duck
from factdrift.builders.core.dataset import Plot, Statistics


def subsets(path: Path) -> Statistics:
    """The number of draws of each split and subset, and of the articles that they are about."""
    query = """
        select split, subset, count(*), count(distinct article),
            min(article_day)::varchar, max(question_day)::varchar
        from read_parquet(?) group by all order by all
    """
    names = ("split", "subset", "draws", "articles", "first article day", "last question day")
    found = duck.query(query, [path])
    return Statistics("draws", "Question dates", [dict(zip(names, r, strict=True)) for r in found])


def plots(path: Path) -> tuple[Plot, ...]:
    """Article years, by subset: flat for `past`, though some years have far more articles."""
    query = """
        select split || ', ' || subset, year(article_day)::varchar, count(*)
        from read_parquet(?) group by all order by all
    """
    counted = duck.query(query, [path])
    years = sorted({year for _, year, _ in counted})
    data: dict[str, dict[str, int]] = {}
    for series, year, n in counted:
        data.setdefault(series, dict.fromkeys(years, 0))[year] = n
    caption = "Draws by the year of the article. Days are drawn uniformly, then an article."
    return (Plot("years", "periods", "Article years of the draws", caption, data),)


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
        counted = duck.query(query, [made / "article_days.parquet"])
        periods = sorted({p for _, p, *_ in counted})
        data: dict[str, dict[str, int]] = {}
        expected: dict[str, dict[str, float]] = {}
        for series, p, drawn, mean in counted:
            data.setdefault(series, dict.fromkeys(periods, 0))[p] = drawn
            expected.setdefault(series, {})[p] = round(mean, 6)
        title = f"Article days of the draws, {subset}"
        about = (
            f"All draws by the {name} of their article. "
            "Lines: what each would hold if all days with articles were drawn equally often."
        )
        if sum(sum(counts.values()) for counts in data.values()):
            file = f"article_days_{subset}"
            plots.append(Plot(file, "periods", title, about, data, expected, "draws"))
    return tuple(plots)
