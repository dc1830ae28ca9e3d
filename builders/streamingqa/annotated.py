"""The step that adds the questions, judgments and answers of annotators."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core.run import Source
from factdrift.builders.core.schema import typed_rows, write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.streamingqa import annotators
from factdrift.builders.streamingqa.annotators import AnnotatorSettings
from factdrift.builders.streamingqa.common import (
    BASELINE,
    ORDER,
    QUESTIONS,
    passed_filters,
    released_row,
    toxicity_of,
    write_dropped,
    write_summary,
)
from factdrift.builders.streamingqa.questions import NewsQuestions
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates
from factdrift.filters.base import QuestionItem
from factdrift.filters.run import Tally
from factdrift.filters.time_spec import as_written


class AnnotatedQuestions(Step):
    """Adds the questions that annotators wrote, and applies their judgments and answers to all.

    Writes `questions.parquet` (`rows.NewsQuestion`), `baseline.parquet` (`rows.HumanAnswer`),
    `dropped.parquet` and `summary.json`. Generated rows without a gold row stay as they are.
    `annotator_draws`: the draws that annotators saw.
    """

    name: ClassVar[str] = annotators.STEP

    gold: Source
    questions: NewsQuestions
    annotator_draws: QuestionDates
    people: AnnotatorSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Filter the questions that annotators wrote, and apply the reviews to every question.

        Raises `UserError` if the gold tables have no rows of these layouts.
        """
        gold_counts: dict[str, Counter[str]] = {layout: Counter() for layout in annotators.LAYOUTS}
        written_questions, reviews = annotators.read_annotations(self.gold.files, gold_counts)
        outcomes: Counter[tuple[str, str]] = Counter()
        tallies: list[Tally] = []
        kept_rows: list[rows.NewsQuestion] = []
        dropped_rows: list[rows.Dropped] = []
        human_answers: list[rows.HumanAnswer] = []
        for question_row in chain(
            typed_rows(workspace.folder(self.questions) / QUESTIONS, rows.NewsQuestion),
            self._written(workspace, written_questions, gold_counts[annotators.WRITE], tallies),
        ):
            if isinstance(question_row, rows.Dropped):
                dropped_rows.append(question_row)
                continue
            reviewed_row, human_answer = reviews.review(
                question_row, self.people.judged, self.questions.seed
            )
            if isinstance(reviewed_row, rows.Dropped):
                dropped_rows.append(reviewed_row)
                outcomes[question_row.written_or_generated, reviewed_row.reason] += 1
                continue
            kept_rows.append(reviewed_row)
            judgment = reviews.known_reviews.get((annotators.JUDGE, question_row.id))
            judged_good = judgment is not None and judgment.question == question_row.question
            outcomes[
                question_row.written_or_generated, "good" if judged_good else "kept unjudged"
            ] += 1
            if human_answer:
                human_answers.append(human_answer)
        reviews.finish()
        write_sorted(out / QUESTIONS, rows.NewsQuestion, kept_rows, *ORDER)
        write_sorted(out / BASELINE, rows.HumanAnswer, human_answers, "id")
        gold_outcomes = {
            layout: dict(sorted(outcome_counts.items()))
            for layout, outcome_counts in gold_counts.items()
        }
        judged_outcomes = [
            [*outcome_key, outcome_counts]
            for outcome_key, outcome_counts in sorted(outcomes.items())
        ]
        write_dropped(out, dropped_rows)
        write_summary(out, tallies, gold=gold_outcomes, judged=judged_outcomes)

    def _written(
        self,
        workspace: Workspace,
        written_questions: Mapping[str, annotators.WrittenQuestions],
        gold_counts: Counter[str],
        tallies: list[Tally],
    ) -> Iterator[rows.NewsQuestion | rows.Dropped]:
        """The written questions that pass their filters, and those that do not."""
        draws_by_article = self._draws(workspace, written_questions, gold_counts)
        if not draws_by_article:  # the pipeline and the filters take seconds to load
            return
        finder = SpacyFinder()
        filters = self.questions.filters.without(self.people.skip)
        started_filters = filters.start(workspace, finder)
        answers_by_id: dict[str, tuple[str, ...]] = {}

        def items() -> Iterator[QuestionItem]:
            news_files = self.annotator_draws.articles.news.files
            articles = read_articles(news_files, sorted(draws_by_article), jobs=workspace.jobs)
            for item, own_answers in annotators.written_items(
                articles, draws_by_article, written_questions, finder, gold_counts
            ):
                answers_by_id[item.question.id] = own_answers
                yield item

        for filter_outcome in started_filters.run.run(items()):
            if isinstance(filter_outcome, rows.Dropped):
                yield filter_outcome
                continue
            question, scores = filter_outcome.item.question, toxicity_of(filter_outcome)
            filter_names = passed_filters(filter_outcome, filters.names)
            own_answers = answers_by_id[question.id]
            yield released_row(question, as_written(question), scores, filter_names, own_answers)
        started_filters.finish()
        tallies += started_filters.run.tallies

    def _draws(
        self,
        workspace: Workspace,
        written_questions: Mapping[str, object],
        gold_counts: Counter[str],
    ) -> dict[str, list[rows.Draw]]:
        """The draws that annotators wrote for, by article.

        Left out and counted: those in neither table (`no_such_row`), and those whose article is
        in another split of the generated questions (`other_split`).
        """
        if not written_questions:
            return {}
        for_annotators, question_draws = (
            workspace.folder(draws) / "draws.parquet"
            for draws in (self.annotator_draws, self.questions.draws)
        )
        draws_by_id: dict[str, rows.Draw] = {}
        # annotators' draws first: where both tables have a draw, theirs is what they saw
        for draws_path in (for_annotators, question_draws):
            for draw in typed_rows(draws_path, rows.Draw):
                if draw.id in written_questions:
                    draws_by_id.setdefault(draw.id, draw)
        gold_counts["no_such_row"] += len(written_questions) - len(draws_by_id)
        article_ids = {draw.article for draw in draws_by_id.values()}
        article_splits = {
            draw.article: draw.split
            for draw in typed_rows(question_draws, rows.Draw)
            if draw.article in article_ids
        }
        by_article: dict[str, list[rows.Draw]] = {}
        for draw in sorted(draws_by_id.values(), key=lambda draw: draw.id):
            if article_splits.setdefault(draw.article, draw.split) != draw.split:
                gold_counts["other_split"] += 1
            else:
                by_article.setdefault(draw.article, []).append(draw)
        return by_article
