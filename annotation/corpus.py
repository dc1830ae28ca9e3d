"""The search index that annotators search in."""

from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar

from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.wmt.index import index
from factdrift.builders.wmt.read import read
from factdrift.filters.search_index import Index


class CorpusIndex(Step):
    """A search index over the articles of archives, up to a day, in the folder `index`."""

    name: ClassVar[str] = "annotation-search"
    resumes: ClassVar[bool] = True

    news: Annotated[tuple[Path, ...], NOT_IN_KEY]
    content: tuple[tuple[str, str], ...]
    """Name and sha256 of each of them."""
    until: date | None

    def make(self, out: Path, at: Workspace) -> None:
        """Read the archives and index every article; a killed run goes on."""
        index(self.news, out / "table", until=self.until, say=at.say)
        Index.build(read(self.news, out / "table" / "articles.parquet"), out / "index")
