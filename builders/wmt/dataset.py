"""The `wmt-question-dates` dataset: question dates over dated news, without questions."""

from typing import ClassVar, Literal

from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.wmt import card, steps
from factdrift.builders.wmt.dates import DateSettings


class WMTQuestionDates(DatasetBuilder):
    """Question dates over dated news, without questions: what people or other tools can fill in.

    `near_duplicates`: the similarity from which an article is left out beside an earlier one; null:
    none is.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ("liska-etal-2022-streamingqa",)

    builder: Literal["wmt-question-dates"]
    dates: DateSettings = DateSettings()
    near_duplicates: float | None = Field(default=None, ge=0, le=1)

    def build(self, run: Run) -> Dataset:
        """Read the archives and draw; configs `recent` and `past`, and the list of `articles`."""
        articles = steps.article_step(run, self.near_duplicates)
        draws = steps.QuestionDates(articles=articles, dates=self.dates, seed=run.seed)
        drawn, table = run.folder(draws), run.folder(articles)
        path = drawn / "draws.parquet"
        tables = [
            Table(
                subset,
                rows.Draw,
                description,
                {split: FromParquet(path, {"subset": subset, "split": split}) for split in _SPLITS},
            )
            for subset, description in _ABOUT.items()
        ]
        listed_articles = FromParquet(table / "articles.parquet")
        articles_description = (
            "The articles of the corpus: ids, days and checksums, not their text."
        )
        tables.append(
            Table("articles", rows.ArticleRef, articles_description, {"full": listed_articles})
        )
        return Dataset(
            tables=tuple(tables),
            dropped=(
                FromParquet(table / "dropped.parquet"),
                FromParquet(drawn / "draws_dropped.parquet"),
            ),
            statistics=(card.draw_statistics(path),),
            plots=(*card.day_plots(drawn), *card.year_plots(path)),
        )


_SPLITS = ("train", "valid", "eval")
_ABOUT = {
    "recent": "Draws whose article is at most a month older than the question.",
    "past": "Draws whose article is of any year.",
}
