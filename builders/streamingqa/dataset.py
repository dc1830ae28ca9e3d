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
        models_by_use: dict[str, AnyModel] = {}
        writer = self.generate.model
        if writer is not None:
            models_by_use["writes questions"] = writer
        for chosen in self.filters:
            asks_writer = {"answering", "model"} & chosen.needs
            model = getattr(chosen, "backend", None) or (writer if asks_writer else None)
            if model:
                models_by_use[f"filter {chosen.filter}"] = model
        return models_by_use

    def build(self, run: Run) -> Dataset:
        """Draw, ask, filter, date; configs `recent`, `past`, `all`, `eval_by_quarter`."""
        models = self.models()
        for settings in models.values():
            settings.check(offline=self.offline)
        articles = news.article_step(run, self.near_duplicates)
        draws = news.QuestionDates(articles=articles, dates=self.dates, seed=run.seed)
        questions = self._questions(run, articles, draws)
        writing_steps = [questions.stated.questions] if questions.stated else []
        question_folder, draws_folder = run.folder(questions), run.folder(draws)
        summary = merge_summaries(
            [*map(run.folder, writing_steps), question_folder], question_folder / QUESTIONS
        )
        folders = [run.folder(articles), question_folder]
        if "gold" in run.inputs:
            folders.append(run.folder(self._annotated(run, questions, draws)))
        questions_path = folders[-1] / QUESTIONS
        tables = [*_subsets(questions_path), _by_quarter(questions_path)]
        statistics = (
            *card.writers(models, summary, stated=questions.stated is not None),
            *card.statistics(questions_path, draws_folder, summary),
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
            plots=card.plots(questions_path, draws_folder),
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
        facts_step = timelines_step = None
        if isinstance(backend, Grounded) and "dump" in run.inputs:
            news_relations = {}
            for relation_id, relation in facts.all_relations(run).whole().items():
                if relation.news is not None:
                    news_relations[relation_id] = relation
                    relations[relation_id] = relation.news
            if news_relations:
                facts_step = facts.facts_step(run, "dump", news_relations)
                timelines_step = facts.timelines_step(facts_step, news_relations)
        otherwise = backend.otherwise if isinstance(backend, Grounded) else backend
        questions = StatedQuestions(
            draws=draws,
            facts=facts_step,
            timelines=timelines_step,
            relations=relations,
            parse=isinstance(otherwise, Parsed),
        )
        share = backend.share if isinstance(backend, Grounded) else 1
        return StatedChoice(questions=questions, share=share, draw_cap=self.generate.kept)

    def _annotated(
        self, run: Run, questions: NewsQuestions, draws: news.QuestionDates
    ) -> AnnotatedQuestions:
        """The step that adds what annotators did."""
        return AnnotatedQuestions(
            gold=run.inputs["gold"],
            questions=questions,
            annotator_draws=draws.model_copy(update={"dates": self.people.dates or self.dates}),
            people=self.people,
        )


def _subsets(path: Path) -> Iterator[Table]:
    subsets: dict[str, Mapping[str, str]] = {
        "recent": {"recent_or_past": "recent"},
        "past": {"recent_or_past": "past"},
        "all": {},
    }
    for name, row_filter in subsets.items():
        splits = {
            split: FromParquet(path, {**row_filter, "split": split})
            for split in ("train", "valid", "eval")
        }
        yield Table(name, rows.NewsQuestion, _ABOUT[name], splits)


def _by_quarter(path: Path) -> Table:
    """The evaluation questions, each quarter in which they are asked a split."""
    name, row_filter = "eval_by_quarter", [("split", "=", "eval")]
    quarters = pq.read_table(path, columns=["quarter"], filters=row_filter)["quarter"].to_pylist()
    splits = {
        quarter: FromParquet(path, {"split": "eval", "quarter": quarter})
        for quarter in sorted({*quarters})
    }
    return Table(name, rows.NewsQuestion, _ABOUT[name], splits)


_ABOUT = {
    "recent": "Questions asked within a month of their article.",
    "past": "Questions on articles of any year, told when where it needs saying.",
    "all": "Both subsets.",
    "eval_by_quarter": "The evaluation questions of both subsets, by the quarter of asking.",
}
