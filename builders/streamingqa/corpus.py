"""The steps that read the whole corpus; no edit of what writes or filters makes them anew."""

from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import typed_rows
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.generate import parses
from factdrift.builders.wmt.read import read
from factdrift.builders.wmt.steps import Articles, QuestionDates
from factdrift.filters.search_index import Index

PARSES = "parses.parquet"


class SearchIndex(Step):
    """A search index over the whole corpus, in the folder `index`."""

    name: ClassVar[str] = "search-index"
    resumes: ClassVar[bool] = True

    articles: Articles

    def make(self, out: Path, at: Workspace) -> None:
        """Index every article; a killed run goes on."""
        table = at.folder(self.articles) / "articles.parquet"
        Index.build(read(self.articles.news.files, table), out / "index")


class Parses(Step):
    """The parses of all articles that questions are drawn for: `parses.parquet` (`rows.Parse`)."""

    name: ClassVar[str] = "parses"

    draws: QuestionDates
    pipeline: str = parses.IDENTITY

    def make(self, out: Path, at: Workspace) -> None:
        """Parse in processes; what comes out does not depend on how many."""
        draws = at.folder(self.draws) / "draws.parquet"
        wanted = sorted({draw.article for draw in typed_rows(draws, rows.Draw)})
        articles = read(self.draws.articles.news.files, wanted)
        with progress(len(wanted), "articles", "parsing") as bar:
            for done in parses.write(articles, out / PARSES, jobs=at.jobs):
                bar.advance(done)
