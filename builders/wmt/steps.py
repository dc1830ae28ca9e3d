"""The steps that news datasets share: the table of articles, and the question dates drawn."""

from pathlib import Path
from typing import ClassVar

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run, Source
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.wmt.dates import DateSettings, draw_question_dates
from factdrift.builders.wmt.index import index_archive


class Articles(Step):
    """The articles of the archives: `articles.parquet` (`rows.ArticleRef`), `dropped.parquet`.

    `keep`: a list of the ids to keep; `near_duplicates`: the similarity from which an article is
    left out beside an earlier one.
    """

    name: ClassVar[str] = "articles"

    news: Source
    keep: Source | None
    near_duplicates: float | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Read the archives once."""
        index_archive(
            self.news.files,
            out,
            keep=self.keep.files[0] if self.keep else None,
            near_duplicates=self.near_duplicates or 0,
            until=self.news.snapshot,
            jobs=workspace.jobs,
            memory=workspace.memory,
            say=workspace.say,
        )


class QuestionDates(Step):
    """Question dates of articles: `draws.parquet` (`rows.Draw`) and `draws_dropped.parquet`."""

    name: ClassVar[str] = "draws"

    articles: Articles
    dates: DateSettings
    seed: int

    def make(self, out: Path, workspace: Workspace) -> None:
        """Draw days, then articles of them, then days to ask on."""
        table = workspace.folder(self.articles) / "articles.parquet"
        draw_question_dates(table, out, self.dates, self.seed, say=workspace.say)


def article_step(run: Run, near_duplicates: float | None = None) -> Articles:
    """The articles of the input `news`; `UserError`: several lists of ids to keep."""
    keep = run.inputs.get("keep")
    if keep and len(keep.files) > 1:
        raise UserError("one list of articles to keep is taken, not several", where=keep.files[1])
    return Articles(news=run.inputs["news"], keep=keep, near_duplicates=near_duplicates)
