"""The steps that news datasets share, and the `wmt-question-dates` dataset."""

from pathlib import Path
from typing import ClassVar, Literal

import duckdb
from pydantic import Field

import builders.wmt as package
from builders import rows
from builders.citations import LISKA_2022
from builders.dataset import Dataset, Figure, FromParquet, Plot, Scalar, Table
from builders.errors import UserError
from builders.run import DatasetBuilder, Run
from builders.store import Made, code_digest
from builders.wmt.dates import draws
from builders.wmt.evenness import SIGNIFICANCE, Tested, chi_square, equal
from builders.wmt.index import index
from builders.wmt.settings import DateSettings


def articles(run: Run, near_duplicates: float | None) -> Made:
    """The articles of the input `news` (`articles.parquet`, `dropped.parquet`), read once."""
    news = run.inputs["news"]
    keep, *more = run.inputs["keep"].files if "keep" in run.inputs else (None,)
    if more:
        raise UserError("one list of articles to keep is taken, not several", where=more[0])

    def make(out: Path) -> None:
        index(
            news.files,
            out,
            keep=keep,
            near_duplicates=near_duplicates or False,
            until=news.snapshot,
            jobs=run.jobs,
            memory=run.memory,
            say=run.store.say,
        )

    sums = [*news.sha256, *(run.inputs["keep"].sha256 if keep else ())]
    return run.store.step(
        "articles",
        make,
        version=code_digest(package),
        parameters={
            "near_duplicates": near_duplicates,
            "files": [f.name for f in news.files],
            "until": news.snapshot.isoformat(),
        },
        inputs=sums,
    )


def drawn(run: Run, found: Made, dates: DateSettings) -> Made:
    """The question dates drawn for these articles: `draws.parquet`."""
    return run.store.step(
        "draws",
        lambda out: _draw(run, found, dates, out),
        version=code_digest(package),
        parameters={"dates": dates.model_dump(mode="json"), "seed": run.seed},
        inputs=[found.key],
    )


def _draw(run: Run, found: Made, dates: DateSettings, out: Path) -> None:
    draws(found.path / "articles.parquet", out, dates, run.seed, say=run.store.say)


class WMTQuestionDates(DatasetBuilder):
    """Question dates over dated news, without questions: what people or other tools can fill in."""

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (LISKA_2022,)

    builder: Literal["wmt-question-dates"]
    dates: DateSettings = DateSettings()
    near_duplicates: float | None = Field(default=None, ge=0, le=1)

    def build(self, run: Run) -> Dataset:
        """Read the archives and draw; configs `recent` and `past`, and the list of `articles`."""
        found = articles(run, self.near_duplicates)
        made = drawn(run, found, self.dates)
        path = made.path / "draws.parquet"
        tables = [
            Table(
                subset,
                rows.Draw,
                about,
                {p: FromParquet(path, {"subset": subset, "part": p}) for p in _PARTS},
            )
            for subset, about in _ABOUT.items()
        ]
        listed = FromParquet(found.path / "articles.parquet")
        about = "The articles of the corpus: ids, days and checksums, not their text."
        tables.append(Table("articles", rows.ArticleRef, about, {"full": listed}))
        return Dataset(
            tables=tuple(tables),
            dropped=(
                FromParquet(found.path / "dropped.parquet"),
                FromParquet(made.path / "draws_dropped.parquet"),
            ),
            figures=(subsets(path), evenness(made.path)),
            plots=(*day_plots(made.path), *plots(path)),
        )


_PARTS = ("train", "valid", "eval")
_ABOUT = {
    "recent": "Draws whose article is at most a month older than the question.",
    "past": "Draws whose article is of any year.",
}


def subsets(path: Path) -> Figure:
    """Draws of each part and subset, and how many articles they are about."""
    query = """
        select part, subset, count(*), count(distinct article),
            min(article_day)::varchar, max(question_day)::varchar
        from read_parquet(?) group by all order by all
    """
    names = ("part", "subset", "draws", "articles", "first article day", "last question day")
    found = duckdb.execute(query, [str(path)]).fetchall()
    return Figure("draws", "Question dates", [dict(zip(names, r, strict=True)) for r in found])


def plots(path: Path) -> tuple[Plot, ...]:
    """Article years, by subset: flat for `past`, though some years have far more articles."""
    query = """
        select part || ', ' || subset, year(article_day)::varchar, count(*)
        from read_parquet(?) group by all order by all
    """
    counted = duckdb.execute(query, [str(path)]).fetchall()
    years = sorted({year for _, year, _ in counted})
    data: dict[str, dict[str, int]] = {}
    for series, year, n in counted:
        data.setdefault(series, dict.fromkeys(years, 0))[year] = n
    caption = "Draws by the year of the article. Days are drawn uniformly, then an article."
    return (Plot("years", "periods", "Article years of the draws", caption, data),)


def evenness(made: Path) -> Figure:
    """Tests of a folder that `draws` wrote: article days uniform, recent and past equally many."""
    found: list[dict[str, Scalar]] = []

    def add(part: str, subset: str, what: str, name: str, tested: Tested | None) -> None:
        if tested:
            n, cells, statistic, p = tested
            verdict = "rejected" if tested.rejected else "not rejected"
            values = (part, subset, what, name, n, cells, statistic, p, verdict)
            found.append(dict(zip(_HEADS, values, strict=True)))

    query = """
        select part, subset, list(drawn order by day), list(expected order by day)
        from read_parquet(?) group by all order by all
    """
    for part, subset, drawn, expected in duckdb.execute(query, [_days(made)]).fetchall():
        add(part, subset, "article days are uniform", "chi-square", chi_square(drawn, expected))
    query = """
        select part, count(*) filter (subset = 'recent'), count(*) filter (subset = 'past')
        from read_parquet(?) group by all order by all
    """
    for part, recent, past in duckdb.execute(query, [str(made / "draws.parquet")]).fetchall():
        add(part, "both", "recent and past are equal", "binomial", equal(recent, past))
    return Figure("evenness", "Are the draws even?", found, _EVEN)


_HEADS = ("part", "subset", "hypothesis", "test", "n", "cells", "statistic", "p", "verdict")
_EVEN = (
    f"Significance {SIGNIFICANCE}. n counts draws; those of article days include those that were "
    "dropped for their question's day. Even means: each day that has articles of the part is as "
    "likely (in train and valid each year, then each day of its window). Neighbouring days share "
    "a cell until 5 draws are expected in it. Where a part runs out of articles, recent and past "
    "need not be equal."
)


def day_plots(made: Path) -> tuple[Plot, ...]:
    """Article days of a folder that `draws` wrote, beside what uniform days would give."""
    wanted = (
        ("past", "strftime(day, '%Y') || 'Q' || quarter(day)", "subset = 'past'", "quarter"),
        ("recent", "strftime(day, '%YM%m')", "subset = 'recent' and part = 'eval'", "month"),
    )
    plots = []
    for subset, period, where, name in wanted:
        query = f"""
            select part || ', ' || subset, {period} as period,
                sum(drawn)::bigint, sum(expected)
            from read_parquet(?) where {where} group by all order by all
        """  # noqa: S608 - our own words
        counted = duckdb.execute(query, [_days(made)]).fetchall()
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
