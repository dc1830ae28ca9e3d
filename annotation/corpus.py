"""The search index that annotators search in."""

from datetime import date
from pathlib import Path
from typing import ClassVar

from factdrift.builders.core.steps import Files, Step, Workspace
from factdrift.builders.wmt.index import index
from factdrift.builders.wmt.read import read
from factdrift.filters.search_index import Index


class CorpusIndex(Step):
    """A search index over the articles of archives, up to a day, in the folder `index`."""

    name: ClassVar[str] = "annotation-search"

    news: Files
    until: date | None

    def make(self, out: Path, at: Workspace) -> None:
        """Read the archives and index every article."""
        index(self.news.paths, out / "table", until=self.until, say=at.say)
        Index.build(read(self.news.paths, out / "table" / "articles.parquet"), out / "index")
