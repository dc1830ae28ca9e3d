"""Text that a row leads to: its article, its page, or what a search of a corpus finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds

import builders.wmt as wmt_package
from annotation.batch import Json
from builders.ckl.expert import shown_id
from builders.errors import UserError
from builders.store import Made, Store, code_digest, digest
from builders.wmt.archive import find_archives
from builders.wmt.index import index
from builders.wmt.lines import KEY, days_of
from builders.wmt.read import read
from filters import search_index
from filters.search_index import Index

PASSAGES = 10
"""Passages that a search shows."""

Found = Mapping[str, Json]
"""What each key leads to: sentences of an article, paragraphs of a page, passages."""
KEYS = {
    "article": ("evidence_id", "article", "draw.article", "id"),
    "page": ("subject", "item", "title"),
    "search": ("search", "query", "question", "cloze"),
}
"""Where a join's key stands, where the layout does not say: the first that a row has."""


@dataclass(frozen=True)
class Sources:
    """What rows are joined with. `until`: the last day of the corpus that is searched."""

    news: Sequence[str]
    pages: Path | None
    until: date | None
    store: Store

    def find(self, join: str, keys: Iterable[str]) -> Found:
        """What these keys lead to; those that lead nowhere are not in it."""
        wanted = sorted(set(keys))
        by: dict[str, Callable[[list[str]], Found]] = {
            "article": self._articles,
            "page": self._pages,
            "search": self._search,
        }
        return by[join](wanted) if wanted else {}

    def _articles(self, ids: list[str]) -> Found:
        known = [one for one in ids if _is_key(one)]
        found = read(list(self.news), known, strict=False) if known else ()
        return {article.id: list(article.sentences) for article in found}

    def _pages(self, names: list[str]) -> Found:
        """By item, or by title where no page has such an item."""
        if self.pages is None:
            hint = "give --pages: the folder data/pages of a release of timeqa that holds text"
            raise UserError("this layout shows pages", hint=hint)
        own = self.pages / "pages.parquet"
        path = own if own.is_file() else self.pages
        if not path.exists():
            raise UserError("no such file or folder", where=path)
        columns = ["item", "title", "paragraphs"]
        found: dict[str, Json] = {}
        try:
            table = ds.dataset(path, format="parquet")
            chosen = pc.field("item").isin(names) | pc.field("title").isin(names)
            for batch in table.to_batches(columns=columns, filter=chosen):
                for page in batch.to_pylist():
                    paragraphs = [_paragraph(one) for one in page["paragraphs"]]
                    found.setdefault(page["title"], paragraphs)
                    found[page["item"]] = paragraphs
        except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
            raise UserError(f"not a table of pages: {error}".splitlines()[0], where=path) from None
        return found

    def _search(self, queries: list[str]) -> Found:
        engine = Index(self._index().path / "index")
        until = self.until or date.max
        return {
            query: [{"text": hit.text, "id": shown_id(hit.id)} for hit in hits]
            for query in queries
            if (hits := engine.search(query, until, PASSAGES))
        }

    def _index(self) -> Made:
        files = find_archives(list(self.news))

        def make(out: Path) -> None:
            made = index(files, out / "table", until=self.until, say=self.store.say)
            Index.build(read(files, made.articles), out / "index")

        return self.store.step(
            "annotation-search",
            make,
            version=digest([code_digest(wmt_package), code_digest(search_index)]),
            parameters={"files": [f.name for f in files], "until": str(self.until)},
            inputs=[self.store.checksum(f) for f in files],
            resumes=True,
        )


def _paragraph(one: Mapping[str, Json]) -> Json:
    return {"text": one["text"], "heading": one["section"], "kind": one["kind"]}


def _is_key(text: str) -> bool:
    parts = KEY.fullmatch(text)
    return parts is not None and days_of("".join(parts.groups()[:3]).encode()) is not None
