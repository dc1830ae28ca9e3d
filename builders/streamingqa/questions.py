"""The step that chooses, writes, filters and releases generated questions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.schema import typed_rows, write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.generate.selection import select_questions
from factdrift.builders.streamingqa.common import (
    ORDER,
    QUESTIONS,
    aliases_of,
    draws_by_article,
    format_cost,
    passed_filters,
    questions_by_article,
    released_row,
    toxicity_of,
    write_dropped,
    write_summary,
)
from factdrift.builders.streamingqa.model_writer import ModelWriter
from factdrift.builders.streamingqa.question_filters import QuestionFilters
from factdrift.builders.streamingqa.stated import StatedQuestions
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters.base import QuestionItem
from factdrift.filters.run import FilterRun

NAME_MODEL = (
    "name a model that writes: `generate: {backend: {backend: openai, model: NAME, base_url: …}}` "
    "in the recipe (see streamingqa-lm.yaml)"
)
"""The way out for who has no writer."""


class StatedChoice(Strict):
    """The step of the questions without a model, and the limits of their selection.

    `share`, `draw_cap`: see `generate.selection.select_questions`.
    """

    questions: StatedQuestions
    share: float
    draw_cap: int


class NewsQuestions(Step):
    """The released questions: those that all filters of the recipe keep.

    Writes `questions.parquet` (`rows.NewsQuestion`), `dropped.parquet`, and `summary.json` with
    what each filter did. This is the one place where generated questions pass filters: the cheap
    ones before questions are chosen and while a model still writes, so that a bad question makes
    room for another; the others over what is left. `limit`: at most so many rows, chosen by hash.
    """

    name: ClassVar[str] = "questions"

    draws: QuestionDates
    stated: StatedChoice | None
    writer: ModelWriter | None
    filters: QuestionFilters
    seed: int
    limit: int | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Choose, write and filter questions, and add the time to those that need one."""
        started_filters = self.filters.start(workspace)
        dropped_rows: list[rows.Dropped] = []
        outcome_counts: Counter[str] = Counter()
        call_counts: Counter[str] = Counter()
        asked_questions = self._choose_stated(
            workspace, started_filters.run, dropped_rows, outcome_counts
        )
        if self.writer is not None:
            written = self.writer.write(
                workspace,
                self.draws,
                {
                    question.draw.article
                    for question in asked_questions
                    if question.grounding is not None
                },
                started_filters.run.screen,
                workspace.say,
            )
            asked_questions += written.questions
            dropped_rows += written.dropped
            outcome_counts += written.outcomes
            call_counts += written.calls
        kept_rows: list[rows.NewsQuestion] = []
        items = self._items(workspace, questions_by_article(asked_questions))
        for filter_outcome in started_filters.run.run(items, screened=True):
            if isinstance(filter_outcome, rows.Dropped):
                dropped_rows.append(filter_outcome)
            else:
                question, scores = filter_outcome.item.question, toxicity_of(filter_outcome)
                kept_rows.append(
                    released_row(
                        question,
                        scores,
                        passed_filters(filter_outcome, self.filters.names),
                        self.seed,
                        aliases=aliases_of(filter_outcome),
                    )
                )
        started_filters.finish()
        dropped_rows += self._cut(kept_rows)
        for model in started_filters.models:
            call_counts += model.prompt_counts
        write_sorted(out / QUESTIONS, rows.NewsQuestion, kept_rows, *ORDER)
        write_dropped(out, dropped_rows)
        write_summary(
            out,
            started_filters.run.tallies,
            generated=outcome_counts,
            calls=dict(sorted(call_counts.items())),
        )
        if started_filters.models:
            workspace.say(f"  models of filters: {format_cost(started_filters.models)}")
        draw_count = sum(map(len, draws_by_article(workspace, self.draws).values()))
        row_text = f"  {len(kept_rows):,} rows of {draw_count:,} draws"
        workspace.say(f"{row_text}; more draws (`dates`) give more rows")

    def _choose_stated(
        self,
        workspace: Workspace,
        filter_run: FilterRun,
        dropped_rows: list[rows.Dropped],
        outcome_counts: Counter[str],
    ) -> list[rows.Question]:
        """The questions without a model that pass the cheap filters and are chosen."""
        if self.stated is None:
            return []
        questions_path = workspace.folder(self.stated.questions) / QUESTIONS
        candidates = list(typed_rows(questions_path, rows.Question))
        passing_questions: list[rows.Question] = []
        for item in self._items(workspace, questions_by_article(candidates)):
            refused = filter_run.screen(item.question, item.article)
            if refused:
                dropped_rows.append(refused)
            else:
                passing_questions.append(item.question)
        chosen, unchosen = select_questions(
            passing_questions, self.seed, self.stated.draw_cap, self.stated.share
        )
        dropped_rows += unchosen
        if not candidates and self.writer is None:
            article_count = len(draws_by_article(workspace, self.draws))
            text = f"no event of the dump's facts is reported by {article_count:,} drawn articles"
            raise UserError(text, hint=NAME_MODEL)
        workspace.say(
            f"  {len(chosen):,} questions about events of facts: without a model news gives few"
        )
        outcome_counts["questions that could be asked"] += len(passing_questions)
        outcome_counts["question"] += len(chosen)
        return chosen

    def _items(
        self, workspace: Workspace, questions: Mapping[str, Sequence[rows.Question]]
    ) -> Iterator[QuestionItem]:
        """Each question with its article, in the order of the articles' ids."""
        news_files = self.draws.articles.news.files
        for article in read_articles(news_files, sorted(questions), jobs=workspace.jobs):
            for question in questions[article.id]:
                yield QuestionItem(question, article)

    def _cut(self, kept_rows: list[rows.NewsQuestion]) -> Iterator[rows.Dropped]:
        """Cut the rows to the limit, and yield a drop for each row over it."""
        kept_rows.sort(key=lambda row: seeded_hash(self.seed, "limit", row.id))
        row_limit = self.limit or len(kept_rows)
        over_limit = kept_rows[row_limit:]
        del kept_rows[row_limit:]
        for row in over_limit:
            yield rows.Dropped(self.name, "over_limit", row.id, detail=row.question)
