"""The `streamingqa` dataset: questions with a question date over dated news."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, Self

import pyarrow.parquet as pq
from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.core.config import Strict, replace_models
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import require_extra
from factdrift.builders.core.run import DatasetBuilder, Run
from factdrift.builders.facts.card import learned_times
from factdrift.builders.generate.backends import AnyModel, Grounded
from factdrift.builders.generate.prompt_files import load_prompts
from factdrift.builders.generate.questions import GenerateSettings
from factdrift.builders.generate.recorded import Recorded
from factdrift.builders.rows.gold import outcome_lines
from factdrift.builders.streamingqa import card
from factdrift.builders.streamingqa.annotated import AnnotatedQuestions
from factdrift.builders.streamingqa.annotators import LAYOUTS, UNJUDGED, AnnotatorSettings
from factdrift.builders.streamingqa.common import QUESTIONS, merge_summaries, read_step_summary
from factdrift.builders.streamingqa.corpus import SearchIndex
from factdrift.builders.streamingqa.model_writer import ROWS_OF_DRAW, ModelWriter
from factdrift.builders.streamingqa.news_facts import NewsFacts
from factdrift.builders.streamingqa.question_filters import QuestionFilters, resources_of
from factdrift.builders.streamingqa.questions import NAME_MODEL, NewsQuestions, StatedChoice
from factdrift.builders.streamingqa.spending import model_uses
from factdrift.builders.streamingqa.stated import StatedQuestions
from factdrift.builders.wmt import steps as news
from factdrift.builders.wmt.dates import DateSettings
from factdrift.filters import AnyFilter


class StreamingQA(DatasetBuilder):
    """Parameters of the dataset; the defaults of `dates` are the paper's (Liška et al. 2022).

    `near_duplicates`: the similarity from which an article is left out beside an earlier one;
    `filters`: what questions have to pass, in this order; `people`: how gold rows are used;
    `offline`: whether only answers of models that were given before are used; `limit`: at most so
    many generated rows, to look at before the whole is made; `row_count`: ask a model about draws
    until there are so many rows.
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
    row_count: int | None = Field(default=None, ge=1)

    def limited(self, rows: int) -> Self:
        """Return the same dataset with at most `rows` generated rows."""
        return self.model_copy(update={"limit": rows})

    def with_rows(self, rows: int) -> Self:
        """Return the same dataset with `rows` generated rows, and dates for as many draws.

        The splits and subsets keep their proportions.
        """
        if self.generate.model is None:
            return super().with_rows(rows)
        draw_count = rows / ROWS_OF_DRAW * _SPARE_DRAWS
        return self.model_copy(update={"row_count": rows, "dates": self.dates.scaled(draw_count)})

    def with_model(self, settings: Strict) -> Self:
        """Return the same dataset written by another model.

        Filters that name a recorded model ask it, too; other models of filters stay.
        """
        filters = replace_models(self.filters, Recorded, lambda recorded: settings)
        generate = self.generate.model_copy(update={"backend": settings})
        return self.model_copy(update={"generate": generate, "filters": filters})

    def models(self) -> dict[str, AnyModel]:
        """Return the language models by their tasks."""
        models_by_task: dict[str, AnyModel] = {}
        for use in model_uses(self.generate.model, self.filters):
            task_name = "writes questions" if use.task == "writing" else f"filter {use.name}"
            models_by_task[task_name] = use.settings
        return models_by_task

    def build(self, run: Run) -> Dataset:
        """Build the configs `recent`, `past`, `all` and `eval_by_quarter`."""
        require_extra("news", "questions about news need spaCy")
        self._refuse_without_writer(run)
        models = self.models()
        for model_settings in models.values():
            model_settings.check(offline=self.offline)
        articles_step = news.article_step(run, self.near_duplicates)
        draws_step = news.QuestionDates(articles=articles_step, dates=self.dates, seed=run.seed)
        questions_step = self._questions(run, articles_step, draws_step)
        writing_steps = [questions_step.stated.questions] if questions_step.stated else []
        question_folder, draws_folder = run.folder(questions_step), run.folder(draws_step)
        summary = merge_summaries(
            [*map(run.folder, writing_steps), question_folder], question_folder / QUESTIONS
        )
        drop_folders = [run.folder(articles_step), *map(run.folder, writing_steps), question_folder]
        if "gold" in run.inputs:
            drop_folders.append(run.folder(self._annotated(run, questions_step, draws_step)))
        questions_path = drop_folders[-1] / QUESTIONS
        tables = [*_subsets(questions_path), _by_quarter(questions_path)]
        statistics = (
            *card.writers(
                models,
                summary,
                style=self.generate.style,
                stated=questions_step.stated is not None,
            ),
            *card.statistics(questions_path, draws_folder, summary),
        )
        if questions_step.stated:
            news_facts = questions_step.stated.questions.news_facts
            statistics += learned_times(run, news_facts.timelines)
        if "gold" in run.inputs:
            summary = read_step_summary(drop_folders[-1])
            tables += card.baseline(drop_folders[-1])
            statistics += card.annotation_statistics(drop_folders[-1], summary)
            for outcome_line in outcome_lines(summary["gold"]):
                run.workspace.say(outcome_line)
        drop_reasons: dict[str, str] = {}
        for chosen_filter in self.filters:
            drop_reasons |= chosen_filter.reasons
        return Dataset(
            tables=tuple(tables),
            dropped=tuple(FromParquet(folder / "dropped.parquet") for folder in drop_folders),
            statistics=statistics,
            plots=card.plots(questions_path, draws_folder),
            reasons=drop_reasons,
        )

    def _questions(
        self, run: Run, articles: news.Articles, draws: news.QuestionDates
    ) -> NewsQuestions:
        """The step that writes, filters and releases questions, with all that it is made from."""
        writer = None
        if self.generate.model is not None:
            writer = ModelWriter(
                generate=self.generate,
                seed=run.seed,
                limit=self.limit,
                row_count=self.row_count,
                offline=self.offline,
            )
        needs, news_facts = resources_of(self.filters), NewsFacts.of_run(run)
        return NewsQuestions(
            draws=draws,
            stated=self._stated(draws, news_facts),
            writer=writer,
            filters=QuestionFilters(
                filters=self.filters,
                index=SearchIndex(articles=articles) if "search" in needs else None,
                news_facts=news_facts if "facts" in needs else None,
                writer=self.generate.model,
                seed=run.seed,
                offline=self.offline,
            ),
            seed=run.seed,
            limit=self.limit,
        )

    def _stated(
        self, draws: news.QuestionDates, news_facts: NewsFacts | None
    ) -> StatedChoice | None:
        """Return the step for questions without a language model, or None if there is none."""
        backend = self.generate.backend
        if not isinstance(backend, Grounded) or news_facts is None:
            return None
        questions = StatedQuestions(draws=draws, news_facts=news_facts)
        return StatedChoice(questions=questions, share=backend.share, draw_cap=self.generate.kept)

    def _refuse_without_writer(self, run: Run) -> None:
        """Raise a `UserError` where nothing would write questions, or without its own prompt."""
        writer = self.generate.model
        if writer is None and not {"dump", "gold"} & run.inputs.keys():
            raise UserError("nothing writes questions: the recipe names no model", hint=NAME_MODEL)
        own_prompts = load_prompts(writer.prompts) if writer and writer.prompts else None
        if own_prompts and self.generate.style == "article" and own_prompts.article is None:
            raise UserError(
                "the file has no prompt `article` for the style `article`",
                where=writer.prompts if writer else None,
                hint="add one, as builders/generate/prompts/default.yaml has it, or name the style "
                "`candidates`",
            )

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


_SPARE_DRAWS = 3
"""How many times the draws that are expected to do are drawn: they cost nothing, and articles
without news give no rows."""


def _subsets(questions_path: Path) -> Iterator[Table]:
    subsets: dict[str, Mapping[str, str]] = {
        "recent": {"recent_or_past": "recent"},
        "past": {"recent_or_past": "past"},
        "all": {},
    }
    split_column = pq.read_table(questions_path, columns=["split"])["split"]
    # written questions that wait for their judges are there only after people's work
    waiting_splits = [split for split in split_column.unique().to_pylist() if split == UNJUDGED]
    for table_name, row_filter in subsets.items():
        splits = {
            split: FromParquet(questions_path, {**row_filter, "split": split})
            for split in ("train", "valid", "eval", *waiting_splits)
        }
        yield Table(table_name, rows.NewsQuestion, _ABOUT[table_name], splits)


def _by_quarter(questions_path: Path) -> Table:
    """The evaluation questions, each quarter in which they are asked a split."""
    table_name, row_filter = "eval_by_quarter", [("split", "=", "eval")]
    quarters = pq.read_table(questions_path, columns=["quarter"], filters=row_filter)[
        "quarter"
    ].to_pylist()
    splits = {
        quarter: FromParquet(questions_path, {"split": "eval", "quarter": quarter})
        for quarter in sorted({*quarters})
    }
    return Table(table_name, rows.NewsQuestion, _ABOUT[table_name], splits)


_ABOUT = {
    "recent": "Questions asked within a month of their article.",
    "past": "Questions on articles of any year, told when where it needs saying.",
    "all": "Both subsets.",
    "eval_by_quarter": "The evaluation questions of both subsets, by the quarter of asking.",
}
