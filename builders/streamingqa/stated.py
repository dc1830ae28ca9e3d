"""The step that writes questions without a language model: about stated facts, about clauses."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from factdrift.builders import rows
from factdrift.builders.core import duck
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.parallel import ordered_map
from factdrift.builders.core.progress import progress
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import Step, Workspace
from factdrift.builders.facts import namesakes
from factdrift.builders.facts.namesakes import REASON
from factdrift.builders.facts.relations import NewsWording
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.generate import grounded, patterns
from factdrift.builders.generate.grounded import StatedFacts
from factdrift.builders.generate.mentions import batches
from factdrift.builders.generate.protocol import PATTERNS
from factdrift.builders.streamingqa.common import (
    QUESTIONS,
    draws_by_article,
    write_dropped,
    write_summary,
)
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates

_ARTICLES_AT_ONCE = 64
"""Articles that a process parses at a time: a second or so of work, so that handing them over costs
little."""
_RECENT_DAYS = 60
"""Days before an article in which its news is recent, as for events in `generate.grounded`."""


class StatedQuestions(Step):
    """Makes all candidate questions about facts that sentences state, and about dated clauses.

    Writes `questions.parquet` (`rows.Question`), `summary.json`, and `dropped.parquet` with the
    questions whose names may mean somebody else; nothing else is filtered or chosen yet.

    `facts`, `timelines`: of the dump beside the news, if any; `relations`: how news states them;
    `parse`: whether clauses that say their own time are asked about, too.
    """

    name: ClassVar[str] = "stated-questions"

    draws: QuestionDates
    facts: Facts | None
    timelines: Timelines | None
    relations: Mapping[str, NewsWording]
    parse: bool

    def make(self, out: Path, workspace: Workspace) -> None:
        """Match the drawn articles with the facts, and parse them."""
        draws = draws_by_article(workspace, self.draws)
        counts: Counter[str] = Counter()
        questions: list[rows.Question] = []
        ambiguous_questions: list[rows.Question] = []
        with progress(len(draws), "articles", "asking") as bar:
            for article_questions, ambiguous in self._about_facts(workspace, draws, counts, out):
                ambiguous_questions += ambiguous
                questions += article_questions
                bar.advance(0 if self.parse else 1)
            if self.parse:
                for article_questions in self._about_clauses(workspace, draws):
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
        out: Path,
    ) -> Iterator[grounded.StatedFactQuestions]:
        """The questions of facts of each drawn article."""
        if self.facts is None or self.timelines is None:
            return
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
        namesakes_path = self._write_namesakes(workspace, out)
        with duck.connect(workspace.work("spill"), workspace.memory) as db:
            for article, stated_facts, known_terms in StatedFacts(
                db, *table_paths, self.relations, namesakes_path
            ).find(articles):
                counts["articles that state a fact"] += bool(stated_facts)
                counts["facts stated"] += len(stated_facts)
                article_questions = grounded.StatedFactQuestions([], [])
                for draw in draws[article.id]:
                    fact_questions = grounded.questions(
                        article, stated_facts, draw, known_terms, newest_day, self.relations
                    )
                    article_questions.asked.extend(fact_questions.asked)
                    article_questions.ambiguous.extend(fact_questions.ambiguous)
                yield article_questions
        namesakes_path.unlink()

    def _write_namesakes(self, workspace: Workspace, out: Path) -> Path:
        """Write the items of the facts whose name others have, and return the file."""
        assert self.facts is not None and self.timelines is not None
        with workspace.engine() as eng:
            namesakes.write_namesakes(
                eng,
                out,
                namesakes.read_held(eng, workspace.folder(self.timelines), self.relations),
                eng.read(workspace.folder(self.facts) / "entities.parquet", rows.Entity),
                namesakes.read_offices(eng, workspace.folder(self.facts.mined)),
            )
        return out / namesakes.NAMESAKES

    def _about_clauses(
        self, workspace: Workspace, draws: Mapping[str, Sequence[rows.Draw]]
    ) -> Iterator[list[rows.Question]]:
        """The questions of clauses of each drawn article."""
        news_files = self.draws.articles.news.files
        articles = read_articles(news_files, sorted(draws), jobs=workspace.jobs)
        article_batches = batches(articles, _ARTICLES_AT_ONCE)
        for parsed_articles in ordered_map(_parse_articles, article_batches, jobs=workspace.jobs):
            for article_id, clauses in parsed_articles:
                yield list(_clause_questions(clauses, draws[article_id]))


def _parse_articles(
    articles: Sequence[rows.Article],
) -> list[tuple[str, list[patterns.PatternQuestion]]]:
    return [(article.id, patterns.questions(article)) for article in articles]


def _clause_questions(
    clauses: Sequence[patterns.PatternQuestion], draws: Sequence[rows.Draw]
) -> Iterator[rows.Question]:
    """The questions of an article's clauses for each of its draws."""
    for draw in draws:
        for clause in clauses:
            age_days = (draw.article_day - clause.time.last).days
            length_days = (clause.time.last - clause.time.first).days
            yield rows.Question(
                row_id(draw.id, PATTERNS, clause.question, clause.answer.start),
                draw,
                clause.question,
                clause.answer,
                PATTERNS,
                "own" if clause.has_time else "none",
                recent=0 <= age_days <= _RECENT_DAYS and length_days < _RECENT_DAYS,
            )
