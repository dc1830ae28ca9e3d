"""Parts that all CKL datasets use: the two corpora, parameters, and the files of steps."""

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
    """The days of the two corpora, which are parts of one input; by default those of the paper.

    `old_until` is the last day of the old corpus (D0), which experts search. `first` and `last`
    are the first and last days of the recent corpus (D1), which questions are about.
    """

    old_until: date = date(2020, 4, 30)
    first: date = date(2020, 5, 1)
    last: date = date(2021, 4, 30)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.old_until < self.first <= self.last:
            raise ValueError("old_until has to be before first, and first not after last")
        return self


def question_row_id(article: str) -> str:
    """Return the id of an article's row in `ckl-questions`."""
    return row_id("ckl-questions", article)


@dataclass(frozen=True)
class NewsCorpus:
    """The articles of the news archives: their table `articles.parquet`, and the archives."""

    table: Path
    files: Sequence[Path]
    jobs: int

    @classmethod
    def of_step(cls, articles: Articles, workspace: Workspace) -> Self:
        """Return the corpus that the step `articles` listed."""
        return cls(
            workspace.folder(articles) / "articles.parquet", articles.news.files, workspace.jobs
        )

    def draw_recent(self, periods: Periods, limit: int | None, seed: int) -> list[ArticleRef]:
        """Return the recent articles by day; at most `limit`, drawn by a hash of seed and id.

        `UserError` where there is none.
        """
        recent = self._between(periods.first, periods.last)
        if limit is not None:
            recent = iter(nsmallest(limit, recent, key=lambda ref: row_id(seed, ref.id)))
        drawn_refs = sorted(recent, key=lambda ref: (ref.day, ref.id))
        if not drawn_refs:
            raise UserError(
                f"no article of {periods.first} to {periods.last} in the news",
                hint="set `periods:` in the recipe to days that the archives have",
            )
        return drawn_refs

    def with_articles(
        self, periods: Periods, by_row: Mapping[str, T]
    ) -> Iterator[tuple[str, T, Article | None]]:
        """Yield each row of `ckl-questions` with its value and its article; None last of all."""
        recent = self._between(periods.first, periods.last)
        values_left = dict(by_row)
        for article in self.read_articles(
            [ref for ref in recent if question_row_id(ref.id) in by_row]
        ):
            row = question_row_id(article.id)
            yield row, values_left.pop(row), article
        for row, value in values_left.items():
            yield row, value, None

    def old_articles(self, until: date, ids: Collection[str]) -> dict[str, Article]:
        """Return the articles of the old corpus with these ids, by id."""
        refs = [ref for ref in self._between(date.min, until) if ref.id in ids]
        return {article.id: article for article in self.read_articles(refs)}

    def read_articles(self, refs: Sequence[ArticleRef]) -> Iterator[Article]:
        """Read the articles from the archives, in the order of `refs`."""
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
    """A step that reads gold rows and the articles that they are about."""

    corpus: Articles
    gold: Source
    periods: Periods


class CKLBuilder(DatasetBuilder):
    """The base class of all CKL datasets."""

    tasks: ClassVar[tuple[str, ...]] = ("fill-mask", "question-answering")
    citations: ClassVar[tuple[str, ...]] = ("jang-etal-2022-towards",)

    periods: Periods = Periods()

    def step_fields(self, run: Run) -> dict[str, Any]:
        """Return the fields that every `GoldStep` of the dataset has."""
        return {"corpus": article_step(run), "gold": run.inputs["gold"], "periods": self.periods}

    def dataset(
        self, folder: Path, row: type, description: str, split: str, title: str, *more: Statistics
    ) -> Dataset:
        """Return a dataset of a step's rows as the config `all`, with its drops and counts."""
        layouts = " and ".join(f"`{name}`" for name in self.layouts)
        plural = "s" * (len(self.layouts) > 1)
        caption = f"Gold rows of the layout{plural} {layouts} by outcome."
        step_rows = FromParquet(folder / "all.parquet")
        return Dataset(
            tables=(Table("all", row, description, {split: step_rows}),),
            dropped=(FromParquet(folder / "dropped.parquet"),),
            statistics=(outcome_counts(folder, "gold", title, caption), *more),
        )


def save_rows(
    out: Path,
    row_type: type,
    row_objects: Iterable[Any],
    dropped: Iterable[Dropped],
    models: Mapping[str, Sequence[str]] = {},
) -> None:
    """Write a step's rows by id, its drops, the counts of both, and the models that it used.

    All rows are held in memory.
    """
    saved_rows = write_sorted(out / "all.parquet", row_type, row_objects, "id")
    saved_drops = write_sorted(out / "dropped.parquet", Dropped, dropped, "step", "reason", "item")
    save_counts(
        out,
        {"rows": len(saved_rows)} | Counter(f"{drop.step}: {drop.reason}" for drop in saved_drops),
        models,
    )


def save_counts(
    out: Path, counts: Mapping[str, int], models: Mapping[str, Sequence[str]] = {}
) -> None:
    """Write a step's counts and the models that it used, by part of the step."""
    (out / _COUNTS).write_text(json.dumps({"rows": counts, "models": models}, indent=1), "utf-8")


def unjudged_rows(
    step: str,
    reason: str,
    rows_by_id: Mapping[str, T],
    judged_ids: Collection[str],
    text: Callable[[T], str],
) -> list[Dropped]:
    """Return drops of the rows that nobody has judged, with `text` of the row as their detail."""
    return [
        DropError(reason, text(row)).row(step, row_id)
        for row_id, row in sorted(rows_by_id.items())
        if row_id not in judged_ids
    ]


def outcome_counts(folder: Path, name: str, title: str, caption: str) -> Statistics:
    """Return a step's counts as a table of the card, in the order of counting."""
    counts = read_counts(folder, "rows").items()
    table: list[Mapping[str, Scalar]] = [
        {"what": outcome, "rows": row_count} for outcome, row_count in counts
    ]
    return Statistics(name, title, table, caption)


def models_used(folder: Path) -> Statistics:
    """Return the card's table of a step's parts and the models that they used."""
    table = [
        {"step": name, "done by": ", ".join(models) or "skipped: no backend"}
        for name, models in read_counts(folder, "models").items()
    ]
    return Statistics("steps", "Steps that need a model", table)


def read_counts(folder: Path, what: str) -> dict[str, Any]:
    """Read the counts of a step (`rows`), or the models that it used (`models`)."""
    counts: dict[str, Any] = json.loads((folder / _COUNTS).read_text("utf-8"))[what]
    return counts


def paper_comparison(folder: Path, name: str, paper_rows: int, remark: str = "") -> Statistics:
    """Return a table with the number of rows of a step beside the number in the paper."""
    row_count = read_counts(folder, "rows")["rows"]
    table = [{"dataset": name, "rows": row_count, "rows in the paper": paper_rows}]
    return Statistics("paper", "Beside the paper's", table, remark)
