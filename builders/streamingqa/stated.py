"""The step that writes questions without a language model: about events of facts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts.namesakes import REASON
from factdrift.builders.generate import grounded
from factdrift.builders.streamingqa.common import (
    QUESTIONS,
    draws_by_article,
    write_dropped,
    write_summary,
)
from factdrift.builders.streamingqa.news_facts import NewsFacts
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates


class StatedQuestions(Step):
    """Makes all candidate questions about events of facts that sentences report.

    Writes `questions.parquet` (`rows.Question`), `summary.json`, and `dropped.parquet` with the
    questions whose names may mean somebody else; nothing else is filtered or chosen yet.
    `news_facts`: the facts of the dump beside the news.
    """

    name: ClassVar[str] = "stated-questions"

    draws: QuestionDates
    news_facts: NewsFacts

    def make(self, out: Path, workspace: Workspace) -> None:
        """Match the drawn articles with the facts."""
        draws = draws_by_article(workspace, self.draws)
        counts: Counter[str] = Counter()
        questions: list[rows.Question] = []
        ambiguous_questions: list[rows.Question] = []
        with progress(len(draws), "articles", "asking") as bar:
            for article_questions, ambiguous in self._about_facts(workspace, draws, counts):
                ambiguous_questions += ambiguous
                questions += article_questions
                bar.advance(1)
        write_sorted(out / QUESTIONS, rows.Question, questions)
        counts[REASON] += len(ambiguous_questions)
        write_dropped(out, map(self._dropped, ambiguous_questions))
        write_summary(out, generated=counts)

    def _dropped(self, question: rows.Question) -> rows.Dropped:
        """The row of a question that may mean somebody else of the same name."""
        fact = question.grounding
        assert fact is not None, "only facts are asked about by name"
        return rows.Dropped(
            self.name, REASON, question.id, fact.subject, fact.relation, detail=question.question
        )

    def _about_facts(
        self,
        workspace: Workspace,
        draws: Mapping[str, Sequence[rows.Draw]],
        counts: Counter[str],
    ) -> Iterator[grounded.StatedFactQuestions]:
        """The questions of facts of each drawn article."""
        articles = read_articles(self.draws.articles.news.files, sorted(draws), jobs=workspace.jobs)
        with self.news_facts.opened(workspace) as opened_facts:
            if opened_facts is None:
                return
            facts_of_dump, newest_day = opened_facts
            for article, stated_facts, known_terms, _ in facts_of_dump.find(articles):
                counts["articles that state a fact"] += bool(stated_facts)
                counts["facts stated"] += len(stated_facts)
                article_questions = grounded.StatedFactQuestions([], [])
                for draw in draws[article.id]:
                    fact_questions = grounded.questions(
                        article,
                        stated_facts,
                        draw,
                        known_terms,
                        newest_day,
                        self.news_facts.relations,
                    )
                    article_questions.asked.extend(fact_questions.asked)
                    article_questions.ambiguous.extend(fact_questions.ambiguous)
                yield article_questions
