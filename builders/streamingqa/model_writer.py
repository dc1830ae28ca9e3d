"""A language model writes questions for draws, in rounds, until enough of them may pass."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from factdrift.builders import rows
from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.core.progress import progress
from factdrift.builders.core.steps import NOT_IN_KEY, Workspace
from factdrift.builders.generate.article_questions import write_article_questions
from factdrift.builders.generate.backends import CachedModel, open_model
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.questions import Accept, GenerateSettings, generate_questions
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


@dataclass
class WrittenByModel:
    """The work of a model: questions that may pass, drops, and counts."""

    questions: list[rows.Question] = field(default_factory=list)
    dropped: list[rows.Dropped] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


class ModelWriter(Strict):
    """A language model that writes questions.

    `limit`: the rows of a limited release; a hash chooses twice as many draws, and in the style
    `candidates` the model writes one question for each; `offline`: use cached answers alone.
    """

    generate: GenerateSettings
    seed: int
    limit: int | None
    offline: Annotated[bool, NOT_IN_KEY]

    def write(
        self,
        workspace: Workspace,
        question_dates: QuestionDates,
        done_articles: Collection[str],
        accept: Accept,
        say: Callable[[str], None],
    ) -> WrittenByModel:
        """Ask about every draw, but those of `done_articles`; `accept` drops what cannot pass."""
        settings = self.generate
        assert settings.model is not None
        model = open_model(
            settings.model, self.seed, workspace.work("answers"), offline=self.offline
        )
        draws, total_draws = self._choose_draws(
            draws_by_article(workspace, question_dates), done_articles
        )
        draw_count = sum(map(len, draws.values()))
        if self.limit and settings.style == "candidates":
            settings = settings.model_copy(update={"kept": 1})
        if draw_count > _MANY_DRAWS * len(draws):
            draw_text = f"  {draw_count:,} draws of {len(draws):,} articles: about"
            draws_each = draw_count / len(draws)
            say(f"{draw_text} {draws_each:,.0f} times each; fewer `dates` ask fewer times")
        written = WrittenByModel(calls=model.prompt_counts)

        def cost() -> str:
            return f"{format_cost([model])}, {len(written.questions):,} questions"

        with progress(draw_count, "draws", "asking", cost) as bar:
            model.on_answer = lambda: bar.advance(0)
            news_files = question_dates.articles.news.files

            def articles() -> Iterator[rows.Article]:
                for article in read_articles(news_files, sorted(draws), jobs=workspace.jobs):
                    yield article
                    bar.advance(len(draws[article.id]))

            for outcome in self._outcomes(settings, articles(), draws, model, accept):
                if isinstance(outcome, rows.Question):
                    written.outcomes["question"] += 1
                    written.questions.append(outcome)
                else:
                    written.outcomes[outcome.reason] += 1
                    if outcome.reason not in _ONLY_COUNTED:
                        written.dropped.append(outcome)
        model.finish()
        written.questions.sort(key=lambda question: question.id)
        self._report(model, len(written.questions), draw_count, total_draws, say)
        return written

    def _outcomes(
        self,
        settings: GenerateSettings,
        articles: Iterable[rows.Article],
        draws: Mapping[str, Sequence[rows.Draw]],
        model: CachedModel,
        accept: Accept,
    ) -> Iterator[rows.Question | rows.Dropped]:
        """The questions and drops of all draws, in the style of the recipe."""
        if settings.style == "article":
            return write_article_questions(articles, draws, settings, backend=model, accept=accept)
        return generate_questions(
            articles,
            draws,
            settings,
            self.seed,
            finder=SpacyFinder(),
            backend=model,
            accept=accept,
        )

    def _report(
        self,
        model: CachedModel,
        question_count: int,
        draw_count: int,
        total_draws: int,
        say: Callable[[str], None],
    ) -> None:
        """Say what it cost; of a limited run also what the whole recipe would cost."""
        cost = format_cost([model])
        say(f"  models: {cost}; {question_count:,} questions of {draw_count:,} draws")
        if self.limit and draw_count and draw_count < total_draws:
            calls_each = self.generate.kept if self.generate.style == "candidates" else 1
            cost_factor = total_draws / draw_count * calls_each
            call_count = model.prompt_counts.total() * cost_factor
            call_text = f"{total_draws:,} draws: about {call_count:,.0f} calls"
            say(f"  the whole recipe, {call_text}, {question_count * cost_factor:,.0f} questions")

    def _choose_draws(
        self, draws: Mapping[str, Sequence[rows.Draw]], done_articles: Collection[str]
    ) -> tuple[dict[str, list[rows.Draw]], int]:
        """Return the draws to write questions for, by article, and their number without a limit.

        A draw is an article with the day on which a question about it is asked.
        """
        draws_left = {
            article_id: list(article_draws)
            for article_id, article_draws in draws.items()
            if article_id not in done_articles
        }
        all_draws = [draw for article_draws in draws_left.values() for draw in article_draws]
        if not self.limit:
            return draws_left, len(all_draws)
        all_draws.sort(key=lambda draw: seeded_hash(self.seed, "limit", draw.id))
        chosen_ids = {draw.id for draw in all_draws[: _DRAWS_PER_ROW * self.limit]}
        chosen: dict[str, list[rows.Draw]] = {}
        for article_id, article_draws in draws_left.items():
            if chosen_draws := [draw for draw in article_draws if draw.id in chosen_ids]:
                chosen[article_id] = chosen_draws
        return chosen, len(all_draws)
