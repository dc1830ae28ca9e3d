"""What the CKL datasets share: the two corpora, parameters, and the files of steps."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from heapq import nsmallest
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import msgspec
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pydantic import model_validator

from factdrift.builders.ckl.gold import DropError
from factdrift.builders.core.config import Strict
from factdrift.builders.core.dataset import Dataset, FromParquet, Scalar, Statistics, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.run import DatasetBuilder, Run, Source
from factdrift.builders.core.schema import arrow_schema, write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.rows import Article, ArticleRef, Dropped
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import Articles, article_step

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
    def of(cls, articles: Articles, workspace: Workspace) -> Self:
        """The corpus of a step."""
        return cls(
            workspace.folder(articles) / "articles.parquet", articles.news.files, workspace.jobs
        )

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
            yield from read_articles(self.files, refs, jobs=self.jobs)

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
        return {"corpus": article_step(run), "gold": run.inputs["gold"], "periods": self.periods}

    def dataset(
        self, folder: Path, row: type, about: str, split: str, title: str, *more: Statistics
    ) -> Dataset:
        """The rows of a step as the config `all`, with what the step dropped and counted."""
        layouts = " and ".join(f"`{name}`" for name in self.layouts)
        many = "s" * (len(self.layouts) > 1)
        caption = f"Gold rows of the layout{many} {layouts} by outcome."
        rows = FromParquet(folder / "all.parquet")
        return Dataset(
            tables=(Table("all", row, about, {split: rows}),),
            dropped=(FromParquet(folder / "dropped.parquet"),),
            statistics=(funnel(folder, "gold", title, caption), *more),
        )


def save(
    out: Path,
    kind: type,
    found: Iterable[Any],
    dropped: Iterable[Dropped],
    models: Mapping[str, Sequence[str]] = {},
) -> None:
    """Write a step's rows by id, what it dropped, both counted, and the models that did its parts.

    All of it fits into memory.
    """
    kept = write_sorted(out / "all.parquet", kind, found, "id")
    left = write_sorted(out / "dropped.parquet", Dropped, dropped, "step", "reason", "item")
    save_counts(out, {"rows": len(kept)} | Counter(f"{d.step}: {d.reason}" for d in left), models)


def save_counts(
    out: Path, counts: Mapping[str, int], models: Mapping[str, Sequence[str]] = {}
) -> None:
    """Write what a step counted, and the models that did its parts."""
    (out / _COUNTS).write_text(json.dumps({"rows": counts, "models": models}, indent=1), "utf-8")


def missing(
    step: str, reason: str, known: Mapping[str, T], seen: Collection[str], text: Callable[[T], str]
) -> list[Dropped]:
    """What nobody has judged, of all that is known, with its text."""
    return [
        DropError(reason, text(one)).row(step, name)
        for name, one in sorted(known.items())
        if name not in seen
    ]


def funnel(folder: Path, name: str, title: str, caption: str) -> Statistics:
    """What a step counted as a statistics table, in its order."""
    counts = counted(folder, "rows").items()
    table: list[Mapping[str, Scalar]] = [{"what": what, "rows": n} for what, n in counts]
    return Statistics(name, title, table, caption)


def done_by(folder: Path) -> Statistics:
    """The card's table of a step's parts and the models that did them."""
    table = [
        {"step": name, "done by": ", ".join(models) or "skipped: no backend"}
        for name, models in counted(folder, "models").items()
    ]
    return Statistics("steps", "Steps that need a model", table)


def counted(folder: Path, what: str) -> dict[str, Any]:
    """What a step counted (`rows`), or the models that did its parts (`models`)."""
    found: dict[str, Any] = json.loads((folder / _COUNTS).read_text("utf-8"))[what]
    return found


def paper(folder: Path, name: str, rows: int, about: str = "") -> Statistics:
    """The rows of a step beside those in the paper."""
    made = counted(folder, "rows")["rows"]
    table = [{"dataset": name, "rows": made, "rows in the paper": rows}]
    return Statistics("paper", "Beside the paper's", table, about)
