"""A language model writes questions for draws, in rounds, until enough of them may pass."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Annotated

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.progress import progress
from factdrift.builders.core.steps import NOT_IN_KEY, Workspace
from factdrift.builders.generate.article_questions import write_article_questions
from factdrift.builders.generate.backends import CachedModel, open_model
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.questions import (
    Accept,
    Expect,
    GenerateSettings,
    generate_questions,
)
from factdrift.builders.streamingqa.common import draws_by_article, format_cost
from factdrift.builders.wmt.read import read_articles
from factdrift.builders.wmt.steps import QuestionDates

_ONLY_COUNTED = frozenset({"same_question"})
"""Candidates that gave no question: counted on the card, not listed among the dropped rows."""
_DRAWS_PER_ROW = 2
"""Draws that a model is asked about for each row of a limited run: some give no question, and some
questions are dropped."""
_MANY_DRAWS = 3
"""Draws of an article at which a run says so before a model is asked."""
ROWS_OF_DRAW = 0.6
"""Rows that a draw gives by a capable model with all filters; where a run is to end with a number
of rows, its first draws are chosen by it."""
_LEAST_ROWS_OF_DRAW = 0.05
"""Below this a model or a filter does not work, and more draws would only cost."""
_MORE_AT_ONCE = 1.3
"""How many times as many draws a batch asks about, so that its answers need no second one."""
_FEWEST_DRAWS = 20
"""Draws of a portion at least, so that the last rows do not take a round each."""


@dataclass
class WrittenByModel:
    """The work of a model: questions that may pass, drops, and the counts of outcomes."""

    questions: list[rows.Question] = field(default_factory=list)
    dropped: list[rows.Dropped] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)


class ModelWriter(Strict):
    """A language model that writes questions.

    `limit`: the rows of a limited release; a hash chooses twice as many draws, and in the style
    `candidates` the model writes one question for each; `row_count`: the rows that are wanted, for
    which draws are asked about, in the order of a hash, until there are as many; `offline`: use
    cached answers alone.
    """

    generate: GenerateSettings
    seed: int
    limit: int | None
    row_count: int | None = None
    offline: Annotated[bool, NOT_IN_KEY]

    def start(
        self, workspace: Workspace, question_dates: QuestionDates, done_articles: Collection[str]
    ) -> "StartedWriter":
        """Open the model and choose the draws, but those of `done_articles`; nothing is asked."""
        settings = self.generate
        assert settings.model is not None
        model = open_model(
            settings.model, self.seed, workspace.work("answers"), offline=self.offline
        )
        if self.limit and settings.style == "candidates":
            settings = settings.model_copy(update={"kept": 1})
        all_draws = [
            draw
            for article_id, article_draws in draws_by_article(workspace, question_dates).items()
            if article_id not in done_articles
            for draw in article_draws
        ]
        total_draws = len(all_draws)
        if self.limit or self.row_count:
            all_draws.sort(key=lambda draw: seeded_hash(self.seed, "limit", draw.id))
        if self.limit:
            del all_draws[_DRAWS_PER_ROW * self.limit :]
        return StartedWriter(
            self, settings, model, workspace, question_dates, all_draws, total_draws
        )


@dataclass
class StartedWriter:
    """A model that writes, with the draws it is still to be asked about, in their order.

    `total_draws`: those that there are without a limit; `asked_draws`: those asked about so far.
    """

    writer: ModelWriter
    settings: GenerateSettings
    model: CachedModel
    workspace: Workspace
    question_dates: QuestionDates
    draws: list[rows.Draw]
    total_draws: int
    asked_draws: int = 0

    @property
    def expected_draws(self) -> int:
        """The number of draws that it will be asked about, as far as that is known before."""
        wanted = self.writer.row_count
        return min(ceil(wanted / ROWS_OF_DRAW), len(self.draws)) if wanted else len(self.draws)

    def has_more(self, row_count: int) -> bool:
        """Whether more draws are to be asked about, when there are so many rows."""
        wanted = self.writer.row_count
        left = len(self.draws) - self.asked_draws
        return left > 0 and (row_count < wanted if wanted else not self.asked_draws)

    def _portion(self, row_count: int) -> list[rows.Draw]:
        """The next draws: as many as the rows that lack may need, by what others gave."""
        wanted = self.writer.row_count
        if not wanted:
            return self.draws
        rate = ROWS_OF_DRAW
        if self.asked_draws:
            rate = max(row_count / self.asked_draws, _LEAST_ROWS_OF_DRAW)
        elif self.model.waits:
            rate /= _MORE_AT_ONCE
        count = max(ceil((wanted - row_count) / rate), _FEWEST_DRAWS)
        return self.draws[self.asked_draws : self.asked_draws + count]

    def write(self, row_count: int, accept: Accept, expect: Expect) -> WrittenByModel:
        """Ask about the next draws; `accept` drops what cannot pass. There are so many rows."""
        by_article: dict[str, list[rows.Draw]] = {}
        portion = self._portion(row_count)
        for draw in portion:
            by_article.setdefault(draw.article, []).append(draw)
        self.asked_draws += len(portion)
        say, model, written = self.workspace.say, self.model, WrittenByModel()
        if len(portion) > _MANY_DRAWS * len(by_article):
            draw_text = f"  {len(portion):,} draws of {len(by_article):,} articles: about"
            draws_each = len(portion) / len(by_article)
            say(f"{draw_text} {draws_each:,.0f} times each; fewer `dates` ask fewer times")

        def cost() -> str:
            return f"{format_cost([model])}, {len(written.questions):,} questions"

        answer_count = len(portion) if self.settings.style == "article" else None
        with progress(answer_count, "answers", "writing", cost) as bar:
            model.on_answer = lambda: bar.advance(1)
            model.on_cached = bar.advance
            news_files = self.question_dates.articles.news.files
            articles = read_articles(news_files, sorted(by_article), jobs=self.workspace.jobs)
            for outcome in self._outcomes(articles, by_article, accept, expect):
                if isinstance(outcome, rows.Question):
                    written.outcomes["question"] += 1
                    written.questions.append(outcome)
                else:
                    written.outcomes[outcome.reason] += 1
                    if outcome.reason not in _ONLY_COUNTED:
                        written.dropped.append(outcome)
        model.finish()
        written.questions.sort(key=lambda question: question.id)
        asked_text = f"{len(written.questions):,} questions of {len(portion):,} draws"
        say(f"  models: {format_cost([model])}; {asked_text}")
        return written

    def _outcomes(
        self,
        articles: Iterable[rows.Article],
        draws: Mapping[str, Sequence[rows.Draw]],
        accept: Accept,
        expect: Expect,
    ) -> Iterator[rows.Question | rows.Dropped]:
        """The questions and drops of all draws, in the style of the recipe."""
        settings, model = self.settings, self.model
        if settings.style == "article":
            return write_article_questions(
                articles, draws, settings, backend=model, accept=accept, expect=expect
            )
        return generate_questions(
            articles,
            draws,
            settings,
            self.writer.seed,
            finder=SpacyFinder(),
            backend=model,
            accept=accept,
        )
