"""The `streamingqa` dataset: questions with a question date over dated news."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

import builders.gold as gold_rows
import builders.questions as questions_package
import builders.wmt as wmt_package
import filters as filters_package
from builders import rows
from builders.citations import LISKA_2022
from builders.dataset import Dataset, FromParquet, Table
from builders.questions import figures, gold_tables
from builders.questions.backends import open_backend
from builders.questions.candidates import Finder, open_finder
from builders.questions.generate import GenerateSettings, generate_questions
from builders.questions.gold_step import LAYOUTS, QUESTIONS, People, Sources, write_people
from builders.questions.news_questions import (
    ORDER,
    draws_of,
    eval_quarters,
    in_order,
    released,
    summary_of,
    tallied,
)
from builders.questions.protocol import Backend
from builders.run import DatasetBuilder, Run
from builders.schema import writing
from builders.store import Made, code_digest, digest, files_sha256
from builders.wikidata import steps
from builders.wmt import corpus
from builders.wmt.read import read
from builders.wmt.settings import DateSettings
from filters import AnyFilter, Context, Item, Kept, entities_of, search_index
from filters import run as run_filters
from filters.search_index import Index

_COUNTED = frozenset({"no_rule", "enough_questions", "same_question"})
"""Candidates that gave no question: counted on the card, not listed among the dropped rows."""


class StreamingQA(DatasetBuilder):
    """Parameters of the dataset; the defaults of `dates` are the paper's (Liška et al. 2022).

    `near_duplicates`: the similarity from which an article is left out beside an earlier one;
    `filters`: in this order; `people`: what gold rows do; `offline`: a rebuild from cached answers.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (LISKA_2022,)
    layouts: ClassVar[tuple[str, ...]] = LAYOUTS

    builder: Literal["streamingqa"]
    dates: DateSettings = DateSettings()
    near_duplicates: float | None = Field(default=None, ge=0, le=1)
    generate: GenerateSettings = GenerateSettings()
    filters: tuple[AnyFilter, ...]
    people: People = People()
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Read, draw, ask, filter, date; configs `recent`, `past`, `all`, `eval_by_quarter`."""
        articles = corpus.articles(run, self.near_duplicates)
        drawn = corpus.drawn(run, articles, self.dates)
        index = self._index(run, articles)
        made = self._questions(run, drawn, index)
        people = self._people(run, articles, drawn, index, made) if "gold" in run.inputs else None
        path = (people or made).path / QUESTIONS
        parts = ("train", "valid", "eval")
        whole: dict[str, Mapping[str, str]] = {
            "recent": {"recent_or_past": "recent"},
            "past": {"recent_or_past": "past"},
            "all": {},
        }
        tables = [
            Table(
                name,
                rows.NewsQuestion,
                _ABOUT[name],
                {p: FromParquet(path, {**where, "split": p}) for p in parts},
            )
            for name, where in whole.items()
        ]
        quarters = eval_quarters(path)
        tables.append(
            Table(
                "eval_by_quarter",
                rows.NewsQuestion,
                _ABOUT["eval_by_quarter"],
                {q: FromParquet(path, {"split": "eval", "quarter": q}) for q in quarters},
            )
        )
        about = figures.tables(path, drawn.path, summary_of(made))
        if people:
            tables += gold_tables.tables(people.path)
            told = summary_of(people)
            about += gold_tables.figures(people.path, told)
            for line in gold_rows.outcomes(told["gold"]):
                run.store.say(line)
        folders = (articles, made, *([people] if people else ()))
        return Dataset(
            tables=tuple(tables),
            dropped=tuple(FromParquet(one.path / "dropped.parquet") for one in folders),
            figures=about,
            plots=figures.plots(path, drawn.path),
        )

    def _index(self, run: Run, articles: Made) -> Made:
        """The search index over the whole corpus, where a filter searches."""
        if not any(one.filter == "search" for one in self.filters):
            return Made(articles.path, "none")

        def make(out: Path) -> None:
            found = read(run.inputs["news"].files, articles.path / "articles.parquet")
            Index.build(found, out / "index")

        version = digest([code_digest(wmt_package), code_digest(search_index)])
        return run.store.step(
            "search-index",
            make,
            version=version,
            parameters={},
            inputs=[articles.key],
            resumes=True,
        )

    def _questions(self, run: Run, drawn: Made, index: Made) -> Made:
        facts = steps.mined(run, "dump") if "dump" in run.inputs else None

        def make(out: Path) -> None:
            finder, backend = self._backend(run, facts)
            context = self._context(run, index, finder, backend)
            draws: dict[str, list[rows.Draw]] = {}
            for draw in draws_of(drawn.path / "draws.parquet"):
                draws.setdefault(draw.article, []).append(draw)
            counts: dict[str, int] = {}
            names = tuple(one.filter for one in self.filters)
            lost = out / "lost.parquet"
            with (
                writing(out / "kept.parquet", rows.NewsQuestion) as kept,
                writing(lost, rows.Dropped) as dropped,
            ):
                flow = run_filters(
                    self.filters,
                    self._items(run, draws, finder, backend, counts, dropped.append),
                    context,
                )
                for row in flow:
                    if isinstance(row, Kept):
                        kept.append(released(row, names, run.seed))
                    else:
                        dropped.append(row)
            in_order(run, out / "kept.parquet", rows.NewsQuestion, out / "questions.parquet", ORDER)
            in_order(run, lost, rows.Dropped, out / "dropped.parquet", steps.DROPPED_ORDER)
            summary = {
                "generated": counts,
                "filters": tallied(flow.tallies),
            }
            (out / "summary.json").write_text(json.dumps(summary, indent=1), "utf-8")

        return run.store.step(
            "questions",
            make,
            version=code_digest(questions_package, filters_package, wmt_package),
            parameters={
                "generate": self.generate.model_dump(mode="json"),
                "files": files_sha256(self.generate.model_dump()),
                "filters": [one.model_dump(mode="json") for one in self.filters],
                "seed": run.seed,
            },
            inputs=[drawn.key, index.key, facts.key if facts else "none"],
        )

    def _people(self, run: Run, articles: Made, drawn: Made, index: Made, made: Made) -> Made:
        """All questions after what the gold rows say; see `gold_step`."""
        shown = corpus.drawn(run, articles, self.people.dates) if self.people.dates else drawn
        facts = steps.mined(run, "dump") if "dump" in run.inputs else None

        def tools() -> tuple[Finder, Context]:
            finder, backend = self._backend(run, facts)
            return finder, self._context(run, index, finder, backend)

        def make(out: Path) -> None:
            draws = (one.path / "draws.parquet" for one in (drawn, shown))
            sources = Sources(made.path / QUESTIONS, *draws)
            write_people(run, sources, out, self.people, self.filters, tools)

        return run.store.step(
            "people",
            make,
            version=code_digest(gold_rows, questions_package, filters_package, wmt_package),
            parameters={
                "people": self.people.model_dump(mode="json"),
                "filters": [one.model_dump(mode="json") for one in self.filters],
                "seed": run.seed,
            },
            inputs=[made.key, shown.key, index.key, *run.inputs["gold"].sha256],
        )

    def _context(self, run: Run, index: Made, finder: Finder, backend: Backend) -> Context:
        return Context(
            answering=backend,
            entities=entities_of(finder),
            search=Index(index.path / "index") if index.key != "none" else None,
            cache=run.store.work("scores"),
            say=run.store.say,
        )

    def _backend(self, run: Run, facts: Made | None) -> tuple[Finder, Backend]:
        candidates = self.generate.candidates
        if facts is not None and candidates.entities is None:
            known = {"entities": facts.path / "entities.parquet"}
            known["facts"] = facts.path / "facts.parquet"
            candidates = candidates.model_copy(update=known)
        finder = open_finder(candidates)
        work = run.store.work("answers")
        return finder, open_backend(
            self.generate.backend, run.seed, finder, work, offline=self.offline
        )

    def _items(
        self,
        run: Run,
        draws: Mapping[str, Sequence[rows.Draw]],
        finder: Finder,
        backend: Backend,
        counts: dict[str, int],
        drop: Callable[[rows.Dropped], None],
    ) -> Iterator[Item]:
        """Every generated question with its article; what gave none is counted or dropped."""
        waiting: dict[str, rows.Article] = {}

        def passing() -> Iterator[rows.Article]:
            for article in read(run.inputs["news"].files, sorted(draws), jobs=run.jobs):
                waiting[article.id] = article
                yield article

        for found in generate_questions(
            passing(), draws, self.generate, run.seed, finder=finder, backend=backend
        ):
            reason = found.reason if isinstance(found, rows.Dropped) else "question"
            counts[reason] = counts.get(reason, 0) + 1
            if isinstance(found, rows.Question):
                while next(iter(waiting)) != found.draw.article:  # questions come in their order
                    del waiting[next(iter(waiting))]
                yield Item(found, waiting[found.draw.article])
            elif found.reason not in _COUNTED:
                drop(found)


_ABOUT = {
    "recent": "Questions asked within a month of their article.",
    "past": "Questions on articles of any year, told when where it needs saying.",
    "all": "Both subsets.",
    "eval_by_quarter": "The evaluation questions of both subsets, by the quarter of asking.",
}
