"""The step that takes in what annotators wrote, judged and answered."""

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


class AnnotatedQuestions(Step):
    """All questions after annotators' judgments and answers, and those that annotators wrote.

    `questions.parquet` (`rows.NewsQuestion`), `baseline.parquet` (`rows.HumanAnswer`),
    `dropped.parquet` and `summary.json`. Generated rows change only in what gold rows say of them.
    `shown`: the draws that annotators were shown.
    """

    name: ClassVar[str] = annotators.STEP

    gold: Source
    questions: NewsQuestions
    shown: QuestionDates
    people: AnnotatorSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Filter the written questions, and review all; `UserError`: gold has none of the rows."""
        counts: dict[str, Counter[str]] = {layout: Counter() for layout in annotators.LAYOUTS}
        written, reviews = annotators.read_annotations(self.gold.files, counts)
        outcomes: Counter[tuple[str, str]] = Counter()
        tallies: list[Tally] = []
        kept: list[rows.NewsQuestion] = []
        dropped: list[rows.Dropped] = []
        baseline: list[rows.HumanAnswer] = []
        for row in chain(
            typed_rows(workspace.folder(self.questions) / QUESTIONS, rows.NewsQuestion),
            self._written(workspace, written, counts[annotators.WRITE], tallies),
        ):
            if isinstance(row, rows.Dropped):
                dropped.append(row)
                continue
            after, answer = reviews.review(row, self.people.judged, self.questions.seed)
            if isinstance(after, rows.Dropped):
                dropped.append(after)
                outcomes[row.written_or_generated, after.reason] += 1
                continue
            kept.append(after)
            judgment = reviews.known.get((annotators.JUDGE, row.id))
            good = judgment is not None and judgment.question == row.question
            outcomes[row.written_or_generated, "good" if good else "kept unjudged"] += 1
            if answer:
                baseline.append(answer)
        reviews.finish()
        write_sorted(out / QUESTIONS, rows.NewsQuestion, kept, *ORDER)
        write_sorted(out / BASELINE, rows.HumanAnswer, baseline, "id")
        gold = {layout: dict(sorted(n.items())) for layout, n in counts.items()}
        judged = [[*key, n] for key, n in sorted(outcomes.items())]
        write_dropped(out, dropped)
        write_summary(out, tallies, gold=gold, judged=judged)

    def _written(
        self,
        workspace: Workspace,
        written: Mapping[str, annotators.WrittenQuestions],
        count: Counter[str],
        tallies: list[Tally],
    ) -> Iterator[rows.NewsQuestion | rows.Dropped]:
        """The written questions that pass their filters, and those that do not."""
        draws = self._draws(workspace, written, count)
        if not draws:
            return
        finder = SpacyFinder()
        filters = self.questions.filters.without(self.people.skip)
        started = filters.start(workspace, finder)
        answers: dict[str, tuple[str, ...]] = {}

        def items() -> Iterator[QuestionItem]:
            files = self.shown.articles.news.files
            articles = read_articles(files, sorted(draws), jobs=workspace.jobs)
            for item, own_answers in annotators.written_items(
                articles, draws, written, finder, count
            ):
                answers[item.question.id] = own_answers
                yield item

        for passed in started.run.run(items()):
            if isinstance(passed, rows.Dropped):
                yield passed
                continue
            question, scores = passed.item.question, toxicity_of(passed)
            own_answers, seed = answers[question.id], self.questions.seed
            yield released_row(question, scores, filters.names, seed, own_answers)
        started.finish()
        tallies += started.run.tallies

    def _draws(
        self, workspace: Workspace, written: Mapping[str, object], count: Counter[str]
    ) -> dict[str, list[rows.Draw]]:
        """The draws that annotators wrote for, by article.

        Left out and counted: those in neither table (`no_such_row`), and those whose article is
        in another split of the generated questions (`other_split`).
        """
        if not written:
            return {}
        for_annotators, generated = (
            workspace.folder(draws) / "draws.parquet"
            for draws in (self.shown, self.questions.draws)
        )
        found: dict[str, rows.Draw] = {}
        for table in (for_annotators, generated):
            for draw in typed_rows(table, rows.Draw):
                if draw.id in written:
                    found.setdefault(draw.id, draw)
        count["no_such_row"] += len(written) - len(found)
        articles = {draw.article for draw in found.values()}
        splits = {
            d.article: d.split for d in typed_rows(generated, rows.Draw) if d.article in articles
        }
        by_article: dict[str, list[rows.Draw]] = {}
        for draw in sorted(found.values(), key=lambda draw: draw.id):
            if splits.setdefault(draw.article, draw.split) != draw.split:
                count["other_split"] += 1
            else:
                by_article.setdefault(draw.article, []).append(draw)
        return by_article
