"""The `streamingqa` dataset: questions with a question date over dated news."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts import steps as facts
from factdrift.builders.generate.backends import AnyModel
from factdrift.builders.generate.parsed import Parsed
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.rows.gold import outcomes
from factdrift.builders.streamingqa import card
from factdrift.builders.streamingqa.annotators import LAYOUTS, AnnotatorSettings
from factdrift.builders.streamingqa.corpus import Parses, SearchIndex
from factdrift.builders.streamingqa.steps import (
    QUESTIONS,
    AnnotatedQuestions,
    NewsQuestions,
    QuestionTools,
    eval_quarters,
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
        if not isinstance(self.generate.backend, Parsed):
            found["writes questions"] = self.generate.backend
        for one in self.filters:
            model = getattr(one, "backend", None)
            asks = one.filter in ("round_trip", "lm_judge")
            model = model or (found.get("writes questions") if asks else None)
            if model:
                found[f"filter {one.filter}"] = model
        return found

    def build(self, run: Run) -> Dataset:
        """Read, draw, ask, filter, date; configs `recent`, `past`, `all`, `eval_by_quarter`."""
        models = self.models()
        for settings in models.values():
            settings.check(offline=self.offline)
        found = news.articles(run, self.near_duplicates)
        draws = news.QuestionDates(articles=found, dates=self.dates, seed=run.seed)
        searches = any(one.filter in ("search", "unique_answer") for one in self.filters)
        tools = QuestionTools(
            index=SearchIndex(articles=found) if searches else None,
            facts=facts.facts(run, "dump", facts.all_relations(run))
            if "dump" in run.inputs
            else None,
            parses=None if self.limit or not self.generate.parses else Parses(draws=draws),
            generate=self.generate,
            filters=self.filters,
            seed=run.seed,
            offline=self.offline,
        )
        questions = NewsQuestions(draws=draws, tools=tools, limit=self.limit)
        made, drawn = run.folder(questions), run.folder(draws)
        folders = [run.folder(found), made]
        if "gold" in run.inputs:
            annotated = AnnotatedQuestions(
                gold=run.inputs["gold"],
                questions=questions,
                shown=draws.model_copy(update={"dates": self.people.dates or self.dates}),
                people=self.people,
            )
            folders.append(run.folder(annotated))
        path = folders[-1] / QUESTIONS
        tables = [*_subsets(path), _by_quarter(path)]
        statistics = (
            *card.writers(models, summary_of(made)),
            *card.statistics(path, drawn, summary_of(made)),
        )
        if "gold" in run.inputs:
            summary = summary_of(folders[-1])
            tables += card.baseline(folders[-1])
            statistics += card.annotation_statistics(folders[-1], summary)
            for line in outcomes(summary["gold"]):
                run.workspace.say(line)
        return Dataset(
            tables=tuple(tables),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in folders),
            statistics=statistics,
            plots=card.plots(path, drawn),
        )


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
    name = "eval_by_quarter"
    splits = {
        quarter: FromParquet(path, {"split": "eval", "quarter": quarter})
        for quarter in eval_quarters(path)
    }
    return Table(name, rows.NewsQuestion, _ABOUT[name], splits)


_ABOUT = {
    "recent": "Questions asked within a month of their article.",
    "past": "Questions on articles of any year, told when where it needs saying.",
    "all": "Both subsets.",
    "eval_by_quarter": "The evaluation questions of both subsets, by the quarter of asking.",
}
