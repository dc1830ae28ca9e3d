"""The step that chooses, writes, filters and releases generated questions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import typed_rows, write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.generate.costs import current_terms
from factdrift.builders.generate.mentions import batches
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
from factdrift.builders.streamingqa.model_writer import ModelWriter, StartedWriter
from factdrift.builders.streamingqa.question_filters import QuestionFilters, StartedFilters
from factdrift.builders.streamingqa.spending import (
    ModelUse,
    RunPlan,
    announce,
    keep_rates,
    model_uses,
    report,
    say_whole,
)
from factdrift.builders.streamingqa.stated import StatedQuestions
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters.base import QuestionItem
from factdrift.filters.run import BATCH, FilterRun, KeptItem
from factdrift.filters.time_spec import add_time_specs

NAME_MODEL = (
    "name a model that writes: --model NAME, with --base-url where it is not the vendor's; in a "
    "recipe `generate: {backend: {backend: openai, model: NAME}}` (see streamingqa-lm.yaml)"
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
        stated_questions = self._choose_stated(
            workspace, started_filters.run, dropped_rows, outcome_counts
        )
        writing = None
        if self.writer is not None:
            stated_articles = {
                question.draw.article
                for question in stated_questions
                if question.grounding is not None
            }
            writing = self.writer.start(workspace, self.draws, stated_articles)
            models = [writing.model, *started_filters.models]
            plan = self._plan(workspace, writing)
            terms = current_terms()
            if terms is not None and not self.filters.offline:
                announce(plan, models, terms, workspace.say)
        kept_rows = list(self._judge(workspace, started_filters, stated_questions, dropped_rows))
        while writing is not None and writing.has_more(len(kept_rows)):
            filter_run = started_filters.run
            written = writing.write(len(kept_rows), filter_run.screen, filter_run.expect)
            dropped_rows += written.dropped
            outcome_counts += written.outcomes
            kept_rows += self._judge(workspace, started_filters, written.questions, dropped_rows)
            started_filters.finish()
        started_filters.finish()
        row_count = len(kept_rows)
        dropped_rows += self._cut(kept_rows)
        call_counts: Counter[str] = Counter()
        for model in [*([writing.model] if writing else []), *started_filters.models]:
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
        if writing is not None:
            self._report(workspace, writing, started_filters, row_count, len(kept_rows))
        draw_count = sum(map(len, draws_by_article(workspace, self.draws).values()))
        row_text = f"  {len(kept_rows):,} rows of {draw_count:,} draws"
        workspace.say(f"{row_text}; more draws (`dates`) give more rows")

    def _plan(self, workspace: Workspace, writing: StartedWriter) -> RunPlan:
        """What the models are to do, for the estimate."""
        settings = writing.settings
        assert settings.model is not None
        return RunPlan(
            uses=tuple(model_uses(settings.model, self.filters.filters)),
            style=settings.style,
            kept=settings.kept,
            draw_count=writing.asked_draws or writing.expected_draws,
            articles_path=workspace.folder(self.draws.articles) / "articles.parquet",
            answers=workspace.work("answers"),
            run_key=self.key,
        )

    def _report(
        self,
        workspace: Workspace,
        writing: StartedWriter,
        started_filters: StartedFilters,
        row_count: int,
        released_count: int,
    ) -> None:
        """Say what the models cost, what is cheaper, and what a limited run says of the whole."""
        say, plan = workspace.say, self._plan(workspace, writing)
        models = [writing.model, *started_filters.models]
        keep_rates(plan, models, row_count)
        terms = current_terms()
        if terms is not None:
            report(plan, models, row_count if self.limit else released_count, terms, say)
        wanted = self.writer.row_count if self.writer else None
        if wanted and row_count < wanted:
            say(f"  {row_count:,} of {wanted:,} rows: these news have no more draws")
        if self.limit and writing.asked_draws < writing.total_draws:
            say_whole(plan, writing.total_draws, row_count, terms, say)

    def _judge(
        self,
        workspace: Workspace,
        started_filters: StartedFilters,
        questions: Sequence[rows.Question],
        dropped_rows: list[rows.Dropped],
    ) -> Iterator[rows.NewsQuestion]:
        """Yield the rows of the questions that pass all filters; the others are `dropped_rows`."""
        uses = self._filter_uses()
        items = self._items(workspace, questions_by_article(questions))
        answers_left = len(questions) * len(uses)
        with progress(answers_left or None, "answers", "judging") as bar:
            answered = 0

            def advance(count: int = 1) -> None:
                nonlocal answered
                answered += count
                bar.advance(count)

            for model in started_filters.models:
                model.on_answer, model.on_cached = advance, advance
            outcomes = enumerate(started_filters.run.run(items, screened=True), 1)
            for batch in batches(outcomes, BATCH):
                kept_items: list[KeptItem] = []
                for judged, outcome in batch:
                    bar.expect(answered + (len(questions) - judged) * len(uses))
                    if isinstance(outcome, rows.Dropped):
                        dropped_rows.append(outcome)
                    else:
                        kept_items.append(outcome)
                yield from self._released(kept_items)

    def _released(self, kept_items: Sequence[KeptItem]) -> Iterator[rows.NewsQuestion]:
        """The rows of questions that all filters have kept."""
        questions = [kept_item.item.question for kept_item in kept_items]
        for kept_item, timed_question in zip(
            kept_items, add_time_specs(questions, self.seed), strict=True
        ):
            yield released_row(
                kept_item.item.question,
                timed_question,
                toxicity_of(kept_item),
                passed_filters(kept_item, self.filters.names),
                aliases=aliases_of(kept_item),
            )

    def _filter_uses(self) -> list[ModelUse]:
        """The uses of models by filters."""
        if self.filters.writer is None:
            return []
        return list(model_uses(self.filters.writer, self.filters.filters))[1:]

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
        wanted = self.writer.row_count if self.writer else None
        row_limit = self.limit or wanted or len(kept_rows)
        over_limit = kept_rows[row_limit:]
        del kept_rows[row_limit:]
        for row in over_limit:
            yield rows.Dropped(self.name, "over_limit", row.id, detail=row.question)
