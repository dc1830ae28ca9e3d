"""The step that writes questions without a language model: about events of facts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.generate import grounded
from factdrift.builders.generate.grounded import StatedFacts
from factdrift.builders.streamingqa.common import QUESTIONS, draws_by_article, write_summary
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates


class StatedQuestions(Step):
    """Makes all candidate questions about events of facts that sentences report.

    Writes `questions.parquet` (`rows.Question`) and `summary.json`; nothing is filtered or chosen
    yet. `facts`, `timelines`: of the dump beside the news; `relations`: how news states them.
    """

    name: ClassVar[str] = "stated-questions"

    draws: QuestionDates
    facts: Facts
    timelines: Timelines
    relations: Mapping[str, NewsWording]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Match the drawn articles with the facts."""
        draws = draws_by_article(workspace, self.draws)
        counts: Counter[str] = Counter()
        questions: list[rows.Question] = []
        with progress(len(draws), "articles", "asking") as bar:
            for article_questions in self._about_facts(workspace, draws, counts):
                questions += article_questions
                bar.advance(1)
        write_sorted(out / QUESTIONS, rows.Question, questions)
        write_summary(out, generated=counts)

    def _about_facts(
        self,
        workspace: Workspace,
        draws: Mapping[str, Sequence[rows.Draw]],
        counts: Counter[str],
    ) -> Iterator[list[rows.Question]]:
        """The questions of facts of each drawn article."""
        facts_folder, timelines_folder = (
            workspace.folder(self.facts),
            workspace.folder(self.timelines),
        )
        articles = read_articles(self.draws.articles.news.files, sorted(draws), jobs=workspace.jobs)
        segments_path = timelines_folder / "timelines.parquet"
        table_paths = (
            segments_path,
            timelines_folder / "gaps.parquet",
            facts_folder / "entities.parquet",
        )
        day_query = "select max(snapshot) from read_parquet(?)"
        newest_day = duck.query(day_query, [str(segments_path)])[0][0]
        if newest_day is None:  # no segment
            return
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            for article, stated_facts, known_terms in StatedFacts(
                db, *table_paths, self.relations
            ).find(articles):
                counts["articles that state a fact"] += bool(stated_facts)
                counts["facts stated"] += len(stated_facts)
                article_questions: list[rows.Question] = []
                for draw in draws[article.id]:
                    article_questions += grounded.questions(
                        article, stated_facts, draw, known_terms, newest_day, self.relations
                    )
                yield article_questions
