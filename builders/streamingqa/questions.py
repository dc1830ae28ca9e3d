"""The step that asks, filters and releases generated questions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.schema import typed_rows, write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.generate.protocol import FACTS, PATTERNS
from factdrift.builders.generate.selection import select_questions
from factdrift.builders.streamingqa.common import (
    ORDER,
    QUESTIONS,
    draws_by_article,
    format_cost,
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


class StatedChoice(Strict):
    """The questions without a model, and how many of them are asked.

    `share`, `kept`: see `generate.selection.select_questions`.
    """

    questions: StatedQuestions
    share: float
    kept: int


class NewsQuestions(Step):
    """The released questions: those written that all filters of the recipe keep.

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
        """Choose, write and filter questions; say when, where a question does not."""
        started = self.filters.start(workspace)
        dropped: list[rows.Dropped] = []
        generated: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        asked = self._choose_stated(workspace, started.run, dropped, generated)
        if self.writer is not None:
            written = self.writer.write(
                workspace,
                self.draws,
                {question.draw.article for question in asked if question.grounding is not None},
                started.run.screen,
                workspace.say,
            )
            asked += written.questions
            dropped += written.dropped
            generated += written.outcomes
            calls += written.calls
        kept: list[rows.NewsQuestion] = []
        items = self._items(workspace, questions_by_article(asked))
        for passed in started.run.run(items, screened=True):
            if isinstance(passed, rows.Dropped):
                dropped.append(passed)
            else:
                question, scores = passed.item.question, toxicity_of(passed)
                kept.append(released_row(question, scores, self.filters.names, self.seed))
        started.finish()
        dropped += self._cut(kept)
        for model in started.models:
            calls += model.prompt_counts
        write_sorted(out / QUESTIONS, rows.NewsQuestion, kept, *ORDER)
        write_dropped(out, dropped)
        write_summary(
            out, started.run.tallies, generated=generated, calls=dict(sorted(calls.items()))
        )
        if started.models:
            workspace.say(f"  models of filters: {format_cost(started.models)}")
        draw_count = sum(map(len, draws_by_article(workspace, self.draws).values()))
        text = f"  {len(kept):,} rows of {draw_count:,} draws"
        workspace.say(f"{text}; more draws (`dates`) give more rows")

    def _choose_stated(
        self,
        workspace: Workspace,
        run: FilterRun,
        dropped: list[rows.Dropped],
        generated: Counter[str],
    ) -> list[rows.Question]:
        """The questions without a model that pass the cheap filters and are chosen."""
        if self.stated is None:
            return []
        path = workspace.folder(self.stated.questions) / QUESTIONS
        candidates = list(typed_rows(path, rows.Question))
        passing: list[rows.Question] = []
        # one generator after the other, as they were written: the card shows the first drops
        for generator in (FACTS, PATTERNS):
            own = [question for question in candidates if question.generator == generator]
            for item in self._items(workspace, questions_by_article(own)):
                refused = run.screen(item.question, item.article)
                if refused:
                    dropped.append(refused)
                else:
                    passing.append(item.question)
        chosen, left = select_questions(passing, self.seed, self.stated.kept, self.stated.share)
        dropped += left
        generated["questions that could be asked"] += len(passing)
        generated["question"] += len(chosen)
        return chosen

    def _items(
        self, workspace: Workspace, questions: Mapping[str, Sequence[rows.Question]]
    ) -> Iterator[QuestionItem]:
        """Each question with its article, in the order of the articles' ids."""
        files = self.draws.articles.news.files
        for article in read_articles(files, sorted(questions), jobs=workspace.jobs):
            for question in questions[article.id]:
                yield QuestionItem(question, article)

    def _cut(self, kept: list[rows.NewsQuestion]) -> Iterator[rows.Dropped]:
        """Cut the rows to the limit, and give those that go."""
        kept.sort(key=lambda row: seeded_hash(self.seed, "limit", row.id))
        limit = self.limit or len(kept)
        over_limit = kept[limit:]
        del kept[limit:]
        for row in over_limit:
            yield rows.Dropped(self.name, "over_limit", row.id, detail=row.question)
