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
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.generate.backends import AnyModel, Grounded, Parsed
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.rows.gold import outcome_lines
from factdrift.builders.streamingqa import card
from factdrift.builders.streamingqa.annotated import AnnotatedQuestions
from factdrift.builders.streamingqa.annotators import LAYOUTS, AnnotatorSettings
from factdrift.builders.streamingqa.common import QUESTIONS, merge_summaries, read_step_summary
from factdrift.builders.streamingqa.corpus import SearchIndex
from factdrift.builders.streamingqa.model_writer import ModelWriter
from factdrift.builders.streamingqa.question_filters import QuestionFilters
from factdrift.builders.streamingqa.questions import NewsQuestions, StatedChoice
from factdrift.builders.streamingqa.stated import StatedQuestions
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
        writer = self.generate.model
        if writer is not None:
            found["writes questions"] = writer
        for chosen in self.filters:
            asks_writer = {"answering", "model"} & chosen.needs
            model = getattr(chosen, "backend", None) or (writer if asks_writer else None)
            if model:
                found[f"filter {chosen.filter}"] = model
        return found

    def build(self, run: Run) -> Dataset:
        """Draw, ask, filter, date; configs `recent`, `past`, `all`, `eval_by_quarter`."""
        models = self.models()
        for settings in models.values():
            settings.check(offline=self.offline)
        articles = news.article_step(run, self.near_duplicates)
        draws = news.QuestionDates(articles=articles, dates=self.dates, seed=run.seed)
        questions = self._questions(run, articles, draws)
        writing = [questions.stated.questions] if questions.stated else []
        made, dated = run.folder(questions), run.folder(draws)
        summary = merge_summaries([*map(run.folder, writing), made], made / QUESTIONS)
        folders = [run.folder(articles), made]
        if "gold" in run.inputs:
            folders.append(run.folder(self._annotated(run, questions, draws)))
        path = folders[-1] / QUESTIONS
        tables = [*_subsets(path), _by_quarter(path)]
        statistics = (
            *card.writers(models, summary, stated=questions.stated is not None),
            *card.statistics(path, dated, summary),
        )
        if "gold" in run.inputs:
            summary = read_step_summary(folders[-1])
            tables += card.baseline(folders[-1])
            statistics += card.annotation_statistics(folders[-1], summary)
            for line in outcome_lines(summary["gold"]):
                run.workspace.say(line)
        reasons: dict[str, str] = {}
        for chosen in self.filters:
            reasons |= chosen.reasons
        return Dataset(
            tables=tuple(tables),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in folders),
            statistics=statistics,
            plots=card.plots(path, dated),
            reasons=reasons,
        )

    def _questions(
        self, run: Run, articles: news.Articles, draws: news.QuestionDates
    ) -> NewsQuestions:
        """The step that writes, filters and releases questions, with all that it is made from."""
        writer = None
        if self.generate.model is not None:
            writer = ModelWriter(
                generate=self.generate, seed=run.seed, limit=self.limit, offline=self.offline
            )
        searches = any("search" in chosen.needs for chosen in self.filters)
        return NewsQuestions(
            draws=draws,
            stated=self._stated(run, draws),
            writer=writer,
            filters=QuestionFilters(
                filters=self.filters,
                index=SearchIndex(articles=articles) if searches else None,
                writer=self.generate.model,
                seed=run.seed,
                offline=self.offline,
            ),
            seed=run.seed,
            limit=self.limit,
        )

    def _stated(self, run: Run, draws: news.QuestionDates) -> StatedChoice | None:
        """The questions without a language model; None where the recipe wants none."""
        backend = self.generate.backend
        if not isinstance(backend, Grounded | Parsed):
            return None
        relations: dict[str, NewsWording] = {}
        mined = timelines = None
        if isinstance(backend, Grounded) and "dump" in run.inputs:
            stated = {}
            for relation_id, relation in facts.all_relations(run).whole().items():
                if relation.news is not None:
                    stated[relation_id] = relation
                    relations[relation_id] = relation.news
            if stated:
                mined = facts.facts_step(run, "dump", stated)
                timelines = facts.timelines_step(mined, stated)
        otherwise = backend.otherwise if isinstance(backend, Grounded) else backend
        questions = StatedQuestions(
            draws=draws,
            facts=mined,
            timelines=timelines,
            relations=relations,
            parse=isinstance(otherwise, Parsed),
        )
        share = backend.share if isinstance(backend, Grounded) else 1
        return StatedChoice(questions=questions, share=share, kept=self.generate.kept)

    def _annotated(
        self, run: Run, questions: NewsQuestions, draws: news.QuestionDates
    ) -> AnnotatedQuestions:
        """The step that adds what annotators did."""
        return AnnotatedQuestions(
            gold=run.inputs["gold"],
            questions=questions,
            shown=draws.model_copy(update={"dates": self.people.dates or self.dates}),
            people=self.people,
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
