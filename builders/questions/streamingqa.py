"""The `streamingqa` dataset: questions with a question date over dated news."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow.parquet as pq

import builders.questions as questions_package
import builders.wmt as wmt_package
import filters as filters_package
from builders import rows
from builders.citations import LISKA_2022
from builders.config import Strict
from builders.dataset import Dataset, FromParquet, Table
from builders.questions import figures
from builders.questions.backends import open_backend
from builders.questions.cache import Cached
from builders.questions.candidates import Finder, open_finder
from builders.questions.generate import GenerateSettings, generate_questions
from builders.questions.protocol import Backend
from builders.run import Run
from builders.schema import writing
from builders.store import Made, code_digest, digest
from builders.wikidata import steps
from builders.wmt import corpus
from builders.wmt.read import read
from builders.wmt.settings import DateSettings
from filters import AnyFilter, Context, Item, Kept, search_index
from filters import run as run_filters
from filters.search_index import Index
from filters.time_spec import specify
from filters.toxicity.scores import ToxicityScores

_COUNTED = frozenset({"no_rule", "enough_questions", "same_question"})
"""Candidates that gave no question: counted on the card, not listed among the dropped rows."""


class StreamingQA(Strict):
    """Parameters of the dataset; the defaults of `dates` are the paper's (Liška et al. 2022).

    `near_duplicates`: the similarity from which an article is left out beside an earlier one;
    `filters`: in this order; `offline`: a rebuild from cached answers alone.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (LISKA_2022,)

    builder: Literal["streamingqa"]
    dates: DateSettings = DateSettings()
    near_duplicates: float | None = None
    generate: GenerateSettings = GenerateSettings()
    filters: tuple[AnyFilter, ...]
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Read, draw, ask, filter, date; configs `recent`, `past`, `all`, `eval_by_quarter`."""
        articles = corpus.articles(run, self.near_duplicates)
        drawn = corpus.drawn(run, articles, self.dates)
        index = self._index(run, articles)
        made = self._questions(run, drawn, index)
        path = made.path / "questions.parquet"
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
        quarters = sorted(set(_column(path, "quarter", ("split", "eval"))))
        tables.append(
            Table(
                "eval_by_quarter",
                rows.NewsQuestion,
                _ABOUT["eval_by_quarter"],
                {q: FromParquet(path, {"split": "eval", "quarter": q}) for q in quarters},
            )
        )
        summary = json.loads((made.path / "summary.json").read_text("utf-8"))
        return Dataset(
            tables=tuple(tables),
            dropped=(
                FromParquet(articles.path / "dropped.parquet"),
                FromParquet(made.path / "dropped.parquet"),
            ),
            figures=figures.tables(path, drawn.path, summary),
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
            "search-index", make, version=version, parameters={}, inputs=[articles.key]
        )

    def _questions(self, run: Run, drawn: Made, index: Made) -> Made:
        facts = steps.mined(run, "dump") if "dump" in run.inputs else None

        def make(out: Path) -> None:
            finder, backend = self._backend(run, facts)
            context = Context(
                answering=backend,
                search=Index(index.path / "index") if index.key != "none" else None,
                cache=run.store.work("scores"),
                say=run.store.say,
            )
            draws: dict[str, list[rows.Draw]] = {}
            for draw in _draws(drawn.path / "draws.parquet"):
                draws.setdefault(draw.article, []).append(draw)
            counts: dict[str, int] = {}
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
                        kept.append(self._row(row, run.seed))
                    else:
                        dropped.append(row)
            _sort(run, out / "kept.parquet", rows.NewsQuestion, out / "questions.parquet", _ORDER)
            _sort(run, lost, rows.Dropped, out / "dropped.parquet", steps.DROPPED_ORDER)
            (out / "kept.parquet").unlink()
            lost.unlink()
            summary = {
                "generated": counts,
                "filters": [
                    {
                        "filter": tally.filter,
                        "seen": tally.seen,
                        "dropped": tally.dropped,
                        "examples": [
                            [reason, d.detail or ""]
                            for reason in sorted(tally.examples)
                            for d in tally.examples[reason]
                        ],
                    }
                    for tally in flow.tallies
                ],
            }
            (out / "summary.json").write_text(json.dumps(summary, indent=1), "utf-8")

        return run.store.step(
            "questions",
            make,
            version=code_digest(questions_package, filters_package, wmt_package),
            parameters={
                "generate": self.generate.model_dump(mode="json"),
                "filters": [one.model_dump(mode="json") for one in self.filters],
                "seed": run.seed,
            },
            inputs=[drawn.key, index.key, facts.key if facts else "none"],
        )

    def _backend(self, run: Run, facts: Made | None) -> tuple[Finder, Backend]:
        candidates = self.generate.candidates
        if facts is not None and candidates.entities is None:
            known = {"entities": facts.path / "entities.parquet"}
            known["facts"] = facts.path / "facts.parquet"
            candidates = candidates.model_copy(update=known)
        finder = open_finder(candidates)
        backend = open_backend(self.generate.backend, run.seed, finder)
        return finder, Cached(backend, run.store.work("answers"), offline=self.offline)

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

    def _row(self, kept: Kept, seed: int) -> rows.NewsQuestion:
        question = kept.item.question
        said = specify(question, seed)
        scores = next((v.scores for v in kept.verdicts if v.scores), None) or _NO_SCORES
        return rows.NewsQuestion(
            id=question.id,
            qa_id=question.id,
            question=said.text,
            answers=(question.answer.text,),
            answers_additional=(),
            question_ts=_seconds(question.draw.question_day),
            evidence_ts=_seconds(question.draw.article_day),
            evidence_id=question.draw.article,
            recent_or_past=question.draw.subset,
            written_or_generated="generated",
            toxicity_identity_attack=scores.identity_attack,
            toxicity_insult=scores.insult,
            toxicity_profanity=scores.profanity,
            toxicity_severe_toxicity=scores.severe_toxicity,
            toxicity_sexually_explicit=scores.sexually_explicit,
            toxicity_threat=scores.threat,
            split=question.draw.part,
            quarter=question.draw.quarter,
            answer_type=question.answer.type,
            answer_start=question.answer.start,
            time_spec=said.kind,
            generator=question.generator,
            filters=tuple(one.filter for one in self.filters),
        )


_ABOUT = {
    "recent": "Questions asked within a month of their article.",
    "past": "Questions on articles of any year, told when where it needs saying.",
    "all": "Both subsets.",
    "eval_by_quarter": "The evaluation questions of both subsets, by the quarter of asking.",
}
_ORDER = ("split", "recent_or_past", "id")
_NO_SCORES = ToxicityScores()


def _seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _draws(path: Path) -> Iterator[rows.Draw]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(8192):
            for row in batch.to_pylist():
                yield rows.Draw(**row)


def _column(path: Path, name: str, where: tuple[str, str]) -> list[str]:
    found: list[str] = pq.read_table(path, columns=[name], filters=[(where[0], "=", where[1])])[
        name
    ].to_pylist()
    return found


def _sort(run: Run, loose: Path, row: type, path: Path, order: Sequence[str]) -> None:
    with steps.open_engine(run) as eng:
        eng.write(eng.read(loose, row), path, row, order)
