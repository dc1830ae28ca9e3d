"""The step that reads the whole corpus, apart from those that write and filter questions.

An edit of a writer or a filter does not run it again.
"""

from pathlib import Path
from typing import ClassVar

from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import Articles
from factdrift.filters.search_index import Index


class SearchIndex(Step):
    """A search index over the whole corpus, in the folder `index`."""

    name: ClassVar[str] = "search-index"

    articles: Articles

    def make(self, out: Path, workspace: Workspace) -> None:
        """Index every article; the next run continues a killed one."""
        table = workspace.folder(self.articles) / "articles.parquet"
        work = workspace.work(f"search-index-{self.key}")
        Index.build(read_articles(self.articles.news.files, table), work)
        work.rename(out / "index")
