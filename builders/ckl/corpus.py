"""The two corpora of the input `news`: which articles are in them, and their text."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from heapq import nsmallest
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds

from builders.ckl.settings import Periods
from builders.errors import UserError
from builders.rows import Article, ArticleRef
from builders.run import Run
from builders.schema import arrow_schema
from builders.store import Made, row_id
from builders.wmt import corpus
from builders.wmt.read import read


def articles(run: Run) -> Made:
    """Every article of the input `news`, old and recent ones: ids and places."""
    return corpus.articles(run, None)


def row_of(article: str) -> str:
    """The id of the row that an article has in `ckl-questions`."""
    return row_id("ckl-questions", article)


def recent(made: Made, periods: Periods) -> Iterator[ArticleRef]:
    """The articles of the recent corpus, by day and id."""
    yield from _between(made.path / "articles.parquet", periods.first, periods.last)


def chosen(made: Made, periods: Periods, most: int | None, seed: int) -> list[ArticleRef]:
    """The recent articles, at most `most` of them, drawn by a hash of seed and id.

    `UserError` where there is none.
    """
    found = list(recent(made, periods)) if most is None else []
    if most is not None:
        found = nsmallest(most, recent(made, periods), key=lambda ref: row_id(seed, ref.id))
    if not found:
        raise UserError(
            f"no article of {periods.first} to {periods.last} in the news",
            hint="set `periods:` in the recipe to days that the archives have",
        )
    return sorted(found, key=lambda ref: (ref.day, ref.id))


def by_row(run: Run, made: Made, periods: Periods, rows: Iterable[str]) -> Iterator[Article]:
    """The recent articles whose rows in `ckl-questions` have these ids."""
    wanted = set(rows)
    yield from texts_of(run, [r for r in recent(made, periods) if row_of(r.id) in wanted])


def by_id(run: Run, made: Made, until: date, ids: Iterable[str]) -> Iterator[Article]:
    """The articles of the old corpus with these ids."""
    wanted = set(ids)
    table = made.path / "articles.parquet"
    yield from texts_of(run, [r for r in _between(table, date.min, until) if r.id in wanted])


def texts_of(run: Run, refs: Sequence[ArticleRef]) -> Iterator[Article]:
    """The articles themselves, in the order of the archive."""
    if refs:
        yield from read(run.inputs["news"].files, refs, jobs=run.jobs)


def _between(table: Path, first: date, last: date) -> Iterator[ArticleRef]:
    inside = (pc.field("day") >= first) & (pc.field("day") <= last)
    columns = arrow_schema(ArticleRef).names
    for batch in ds.dataset(table, format="parquet").to_batches(columns=columns, filter=inside):
        for row in batch.to_pylist():
            yield ArticleRef(**row)
