"""The `streamingqa` dataset: questions with a question date over dated news."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self

import pyarrow.parquet as pq
from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps as facts
from factdrift.builders.generate.backends import AnyModel, Grounded, Parsed
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.rows.gold import outcome_lines
from factdrift.builders.streamingqa import card
from factdrift.builders.streamingqa.annotators import LAYOUTS, AnnotatorSettings
from factdrift.builders.streamingqa.corpus import SearchIndex
from factdrift.builders.streamingqa.steps import (
    QUESTIONS,
    AnnotatedQuestions,
    Judges,
    ModelQuestions,
    NewsQuestions,
    StatedQuestions,
    is_free,
    summarised,
    summary_of,
)
from factdrift.builders.wmt import steps as news
from factdrift.builders.wmt.dates import DateSettings
from factdrift.filters import AnyFilter


class StreamingQA(DatasetBuilder):
    """Parameters of the dataset; the defaults of `dates` are the paper's (Liška et al. 2022).

    `near_duplicates`: the similarity from which an article is left out beside an earlier one;
    `filters`: what questions have to pass, in this order; `people`: how gold rows are used;
    `offline`: whether only answers of models that were given before are used; `limit`: at most so
    many generated rows, to look at before the whole is made.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = ("liska-etal-2022-streamingqa",)
    layouts: ClassVar[tuple[str, ...]] = LAYOUTS

    builder: Literal["streamingqa"]
    dates: DateSettings = DateSettings()
    near_duplicates: float | None = Field(default=None, ge=0, le=1)
    generate: GenerateSettings = GenerateSettings()
    filters: tuple[AnyFilter, ...]
    people: AnnotatorSettings = AnnotatorSettings()
    offline: bool = False
    limit: int | None = Field(default=None, ge=1)

    def limited(self, rows: int) -> Self:
        """The same with at most so many generated rows."""
        return self.model_copy(update={"limit": rows})

    def models(self) -> dict[str, AnyModel]:
        """The language models by what they do."""
        found: dict[str, AnyModel] = {}
        if self.generate.model is not None:
            found["writes questions"] = self.generate.model
        for one in self.filters:
            model = getattr(one, "backend", None)
            asks = one.filter in ("round_trip", "lm_judge")
            model = model or (found.get("writes questions") if asks else None)
            if model:
                found[f"filter {one.filter}"] = model
        return found

    def build(self, run: Run) -> Dataset:
        """Draw, ask, filter, date; configs `recent`, `past`, `all`, `eval_by_quarter`."""
        models = self.models()
        for settings in models.values():
            settings.check(offline=self.offline)
        found = news.article_step(run, self.near_duplicates)
        draws = news.QuestionDates(articles=found, dates=self.dates, seed=run.seed)
        questions, sources = self._steps(run, found, draws)
        folders = [run.folder(found), *(run.folder(one) for one in (*sources, questions))]
        made, dated = folders[-1], run.folder(draws)
        summary = summarised(folders[1:], made / QUESTIONS)
        if "gold" in run.inputs:
            annotated = AnnotatedQuestions(
                gold=run.inputs["gold"],
                questions=questions,
                screen=sources[0].screen,
                shown=draws.model_copy(update={"dates": self.people.dates or self.dates}),
                people=self.people,
            )
            folders.append(run.folder(annotated))
        path = folders[-1] / QUESTIONS
        tables = [*_subsets(path), _by_quarter(path)]
        backends = [one.name for one in sources]
        statistics = (
            *card.writers(models, backends, summary),
            *card.statistics(path, dated, summary),
        )
        if "gold" in run.inputs:
            summary = summary_of(folders[-1])
            tables += card.baseline(folders[-1])
            statistics += card.annotation_statistics(folders[-1], summary)
            for line in outcome_lines(summary["gold"]):
                run.workspace.say(line)
        return Dataset(
            tables=tuple(tables),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in folders),
            statistics=statistics,
            plots=card.plots(path, dated),
        )

    def _steps(
        self, run: Run, found: news.Articles, draws: news.QuestionDates
    ) -> tuple[NewsQuestions, list[StatedQuestions | ModelQuestions]]:
        """The steps from draws to rows: what writes questions, and the last one."""
        generate, backend = self.generate, self.generate.backend
        screen = tuple(one for one in self.filters if is_free(one))
        costly = tuple(one for one in self.filters if not is_free(one))
        grounded = isinstance(backend, Grounded) and "dump" in run.inputs
        every = facts.all_relations(run).whole() if grounded else {}
        asked = {r: one for r, one in every.items() if one.news is not None}
        mined = facts.facts_step(run, "dump", asked) if asked else None
        sources: list[StatedQuestions | ModelQuestions] = []
        if isinstance(backend, Grounded | Parsed):
            otherwise = backend.otherwise if isinstance(backend, Grounded) else backend
            stated = StatedQuestions(
                draws=draws,
                facts=mined,
                timelines=facts.timelines_step(mined, asked) if mined else None,
                relations={r: one.news for r, one in asked.items() if one.news is not None},
                parse=isinstance(otherwise, Parsed),
                share=backend.share if isinstance(backend, Grounded) else 1,
                kept=generate.kept,
                screen=screen,
                seed=run.seed,
            )
            sources.append(stated)
        if generate.model is not None:
            writer = ModelQuestions(
                draws=draws,
                stated=stated if sources else None,
                generate=generate,
                screen=screen,
                seed=run.seed,
                limit=self.limit,
                offline=self.offline,
            )
            sources.append(writer)
        searches = any("search" in one.needs for one in costly)
        judges = Judges(
            filters=costly,
            index=SearchIndex(articles=found) if searches else None,
            writer=generate.model,
            seed=run.seed,
            offline=self.offline,
        )
        questions = NewsQuestions(
            sources=tuple(sources),
            judges=judges,
            filters=tuple(one.filter for one in (*screen, *costly)),
            seed=run.seed,
            limit=self.limit,
        )
        return questions, sources


def _subsets(path: Path) -> Iterator[Table]:
    subsets: dict[str, Mapping[str, str]] = {
        "recent": {"recent_or_past": "recent"},
        "past": {"recent_or_past": "past"},
        "all": {},
    }
    for name, where in subsets.items():
        splits = {
            split: FromParquet(path, {**where, "split": split})
            for split in ("train", "valid", "eval")
        }
        yield Table(name, rows.NewsQuestion, _ABOUT[name], splits)


def _by_quarter(path: Path) -> Table:
    """The evaluation questions, each quarter in which they are asked a split."""
    name, where = "eval_by_quarter", [("split", "=", "eval")]
    found = pq.read_table(path, columns=["quarter"], filters=where)["quarter"].to_pylist()
    splits = {q: FromParquet(path, {"split": "eval", "quarter": q}) for q in sorted({*found})}
    return Table(name, rows.NewsQuestion, _ABOUT[name], splits)


_ABOUT = {
    "recent": "Questions asked within a month of their article.",
    "past": "Questions on articles of any year, told when where it needs saying.",
    "all": "Both subsets.",
    "eval_by_quarter": "The evaluation questions of both subsets, by the quarter of asking.",
}
