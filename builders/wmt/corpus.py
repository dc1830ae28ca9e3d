"""The steps that news datasets share, and the `wmt-question-dates` dataset."""

from pathlib import Path
from typing import ClassVar, Literal

import duckdb

import builders.wmt as package
from builders import rows
from builders.citations import LISKA_2022
from builders.config import Strict
from builders.dataset import Dataset, Figure, FromParquet, Plot, Table
from builders.run import Run
from builders.store import Made, code_digest
from builders.wmt.dates import draws
from builders.wmt.index import index
from builders.wmt.settings import DateSettings


def articles(run: Run, near_duplicates: float | None) -> Made:
    """The articles of the input `news` (`articles.parquet`, `dropped.parquet`), read once."""
    news = run.inputs["news"]
    keep = run.inputs["keep"].files[0] if "keep" in run.inputs else None

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


class WMTQuestionDates(Strict):
    """Question dates over dated news, without questions: what people or other tools can fill in."""

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (LISKA_2022,)

    builder: Literal["wmt-question-dates"]
    dates: DateSettings = DateSettings()
    near_duplicates: float | None = None

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
            figures=(subsets(path),),
            plots=plots(path),
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
