"""What the CKL datasets share: the two corpora, parameters, and the files of steps."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from heapq import nsmallest
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import msgspec
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pydantic import model_validator

from factdrift.builders.core.config import Strict
from factdrift.builders.core.dataset import Dataset, FromParquet, Scalar, Statistics, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.run import DatasetBuilder, Run, Source
from factdrift.builders.core.schema import arrow_schema, writing
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.rows import Article, ArticleRef, Dropped
from factdrift.builders.wmt.read import read
from factdrift.builders.wmt.steps import Articles, articles

_COUNTS = "counts.json"
T = TypeVar("T")


class Periods(Strict):
    """The days of the two corpora, which are parts of one input; the paper's by default.

    `old_until`: the last day of the old corpus (D0), which experts search; `first`: the first day
    of the recent one (D1), which questions are about; `last`: its last day.
    """

    old_until: date = date(2020, 4, 30)
    first: date = date(2020, 5, 1)
    last: date = date(2021, 4, 30)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.old_until < self.first <= self.last:
            raise ValueError("old_until has to be before first, and first not after last")
        return self


def row_of(article: str) -> str:
    """The id of the row that an article has in `ckl-questions`."""
    return row_id("ckl-questions", article)


@dataclass(frozen=True)
class NewsCorpus:
    """The articles of the archives: their table (`articles.parquet`) and the archives' files."""

    table: Path
    files: Sequence[Path]
    jobs: int

    @classmethod
    def of(cls, articles: Articles, at: Workspace) -> Self:
        """The corpus of a step."""
        return cls(at.folder(articles) / "articles.parquet", articles.news.files, at.jobs)

    def draw(self, periods: Periods, most: int | None, seed: int) -> list[ArticleRef]:
        """The recent articles, at most `most` of them, drawn by a hash of seed and id.

        `UserError` where there is none.
        """
        recent = self._between(periods.first, periods.last)
        if most is not None:
            recent = iter(nsmallest(most, recent, key=lambda ref: row_id(seed, ref.id)))
        found = sorted(recent, key=lambda ref: (ref.day, ref.id))
        if not found:
            raise UserError(
                f"no article of {periods.first} to {periods.last} in the news",
                hint="set `periods:` in the recipe to days that the archives have",
            )
        return found

    def about(
        self, periods: Periods, by_row: Mapping[str, T]
    ) -> Iterator[tuple[str, T, Article | None]]:
        """Rows of `ckl-questions` with their values and recent articles, those without one last."""
        recent = self._between(periods.first, periods.last)
        missing = dict(by_row)
        for article in self.texts([ref for ref in recent if row_of(ref.id) in by_row]):
            row = row_of(article.id)
            yield row, missing.pop(row), article
        for row, value in missing.items():
            yield row, value, None

    def old(self, until: date, ids: Collection[str]) -> dict[str, Article]:
        """The articles of the old corpus with these ids."""
        refs = [ref for ref in self._between(date.min, until) if ref.id in ids]
        return {article.id: article for article in self.texts(refs)}

    def texts(self, refs: Sequence[ArticleRef]) -> Iterator[Article]:
        """The articles themselves, in the order of the archive."""
        if refs:
            yield from read(self.files, refs, jobs=self.jobs)

    def _between(self, first: date, last: date) -> Iterator[ArticleRef]:
        inside = (pc.field("day") >= first) & (pc.field("day") <= last)
        scanned = ds.dataset(self.table, format="parquet").to_batches(
            columns=arrow_schema(ArticleRef).names, filter=inside
        )
        for batch in scanned:
            yield from msgspec.convert(batch.to_pylist(), list[ArticleRef])


class GoldStep(Step):
    """A step over gold rows and the articles that they are about."""

    corpus: Articles
    gold: Source
    periods: Periods


class CKLBuilder(DatasetBuilder):
    """What all CKL datasets share."""

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = ("jang-etal-2022-towards",)

    periods: Periods = Periods()

    def given(self, run: Run) -> dict[str, Any]:
        """The fields of its `GoldStep`."""
        return {"corpus": articles(run), "gold": run.inputs["gold"], "periods": self.periods}

    def outcomes(self, folder: Path, title: str) -> Statistics:
        """What its step counted, as what its gold rows came to."""
        layouts = " and ".join(f"`{name}`" for name in self.layouts)
        many = "s" * (len(self.layouts) > 1)
        return funnel(folder, "gold", title, f"Gold rows of the layout{many} {layouts} by outcome.")


def dataset(
    file: Path,
    row: type,
    about: str,
    split: str,
    *statistics: Statistics,
    dropped: Sequence[str] = ("dropped",),
) -> Dataset:
    """The rows of a step's file as the config `all`, with what the step dropped."""
    return Dataset(
        tables=(Table("all", row, about, {split: FromParquet(file)}),),
        dropped=tuple(FromParquet(file.with_name(f"{name}.parquet")) for name in dropped),
        statistics=statistics,
    )


def save_rows(path: Path, kind: type, found: Iterable[Any]) -> None:
    """Write rows that fit into memory, sorted: dropped ones by reason, others by id."""

    def place(row: Any) -> tuple[str, ...]:
        return (row.step, row.reason, row.item, row.detail or "") if kind is Dropped else (row.id,)

    with writing(path, kind) as file:
        for row in sorted(found, key=place):
            file.append(row)


def save_counts(out: Path, counts: Mapping[str, int]) -> None:
    """Write what a step counted."""
    (out / _COUNTS).write_text(json.dumps(counts, indent=1), "utf-8")


def funnel(folder: Path, name: str, title: str, caption: str) -> Statistics:
    """What a step counted as a statistics table, in its order."""
    counts = counts_of(folder).items()
    table: list[Mapping[str, Scalar]] = [{"what": what, "rows": n} for what, n in counts]
    return Statistics(name, title, table, caption)


def counts_of(folder: Path) -> dict[str, int]:
    """What a step counted."""
    found: dict[str, int] = json.loads((folder / _COUNTS).read_text("utf-8"))
    return found


def reasons(found: Iterable[Dropped], named: str = "{0.reason}") -> dict[str, int]:
    """How many rows each reason took, by name."""
    return dict(sorted(Counter(map(named.format, found)).items()))
