"""The `ckl-questions` dataset: recent articles with questions, from which annotators start."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.ckl import common
from factdrift.builders.ckl.checks import is_undated_day
from factdrift.builders.ckl.common import NewsCorpus, Periods, question_row_id
from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.generate.backends import CachedModel, Grounded, open_model
from factdrift.builders.generate.batch_files import BatchChat
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.mentions import news_sentences
from factdrift.builders.generate.questions import GenerateSettings, generate_questions
from factdrift.builders.wmt.steps import Articles, article_step

_AT_ONCE = 256
"""Articles in memory at a time: enough to fill a model's batches."""
_SHORTEST, _LONGEST = 6, 40
"""Words of a sentence that is offered as a draft: shorter ones seldom stand alone, and longer ones
state several things. Both bounds are guesses that the samples do not contradict."""
STEP = "ckl-questions"


class CKLQuestions(common.CKLBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: step 1 of both pipelines).

    `articles` limits the number of articles, which are drawn by a hash; by default all articles
    of the days are taken. `generate` names a language model that writes questions, as in
    `streamingqa`. Without one, people are offered drafts: sentences of the article with a name
    left out. `generate.kept` limits the questions of an article. `offline` says that only answers
    that models gave before are used.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)

    builder: Literal["ckl-questions"]
    articles: int | None = Field(default=None, ge=1)
    generate: GenerateSettings = GenerateSettings(backend=Grounded(), style="candidates", kept=10)
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Configs `questions` and `words`; the text stays in the archive."""
        folder = run.folder(
            RecentArticles(
                corpus=article_step(run),
                periods=self.periods,
                articles=self.articles,
                generate=self.generate,
                seed=run.seed,
                offline=self.offline,
            )
        )
        return Dataset(
            tables=tuple(
                Table(name, row, description, {"full": FromParquet(folder / f"{name}.parquet")})
                for name, (row, description) in _TABLES.items()
            ),
            dropped=(FromParquet(folder / "dropped.parquet"),),
            statistics=(common.outcome_counts(folder, "made", "What was made", _COUNTED),),
        )


class RecentArticles(Step):
    """Draws recent articles, and makes questions about each and a list of its names and dates.

    Writes `questions.parquet`, `words.parquet` (the names and dates), `dropped.parquet`, and
    `counts.json` with the number of rows by outcome. The fields are parameters of the dataset.
    """

    name: ClassVar[str] = STEP

    corpus: Articles
    periods: Periods
    articles: int | None
    generate: GenerateSettings
    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Write questions about every article, and list its names and dates."""
        finder = SpacyFinder()
        settings, answers = self.generate.model, workspace.work("answers")
        if isinstance(settings, BatchChat):
            text = "the backend `batch` is for `streamingqa`"
            raise UserError(text, hint="take `openai` here")
        model = open_model(settings, self.seed, answers, offline=self.offline) if settings else None
        corpus = NewsCorpus.of_step(self.corpus, workspace)
        article_refs = corpus.draw_recent(self.periods, self.articles, self.seed)
        counts = Counter(articles=len(article_refs))
        articles_left = corpus.read_articles(article_refs)
        rows_by_type: dict[type, list[Any]] = {row: [] for row, _ in _TABLES.values()} | {
            rows.Dropped: []
        }
        while batch := list(islice(articles_left, _AT_ONCE)):
            question_rows = (
                self._questions(batch, finder, model, counts)
                if model
                else (_drafts(article, finder, self.generate.kept, counts) for article in batch)
            )
            for made_row in chain(question_rows, (_words(article, finder) for article in batch)):
                rows_by_type[type(made_row)].append(made_row)
        for name, (row, _) in _TABLES.items():
            write_sorted(out / f"{name}.parquet", row, rows_by_type[row], "article_day", "id")
        dropped = rows_by_type[rows.Dropped]
        write_sorted(out / "dropped.parquet", rows.Dropped, dropped, "step", "reason", "item")
        common.save_counts(out, counts)

    def _questions(
        self,
        articles: list[rows.Article],
        finder: SpacyFinder,
        backend: CachedModel,
        counts: Counter[str],
    ) -> Iterator[rows.ArticleQuestions | rows.Dropped]:
        draws = {article.id: [_draw(article)] for article in articles}
        questions_by_article: dict[str, list[rows.Question]] = {}
        for question_or_drop in generate_questions(
            articles, draws, self.generate, self.seed, finder=finder, backend=backend
        ):
            if isinstance(question_or_drop, rows.Question):
                questions_by_article.setdefault(question_or_drop.draw.article, []).append(
                    question_or_drop
                )
            outcome = (
                f"no question: {question_or_drop.reason}"
                if isinstance(question_or_drop, rows.Dropped)
                else "question"
            )
            counts[outcome] += 1
        for article in articles:
            article_questions = questions_by_article.get(article.id, ())
            pairs = [(question.question, question.answer.text) for question in article_questions]
            yield _article_questions(article, pairs, backend.name)


def _drafts(
    article: rows.Article, finder: SpacyFinder, limit: int, counts: Counter[str]
) -> rows.ArticleQuestions | rows.Dropped:
    """Sentences of an article as drafts of questions, each with its first name left out."""
    sentences_by_line = {sentence.line: sentence for sentence in news_sentences(article)}
    drafts_by_line: dict[int, tuple[str, str]] = {}
    for candidate in finder.find(article):
        sentence = sentences_by_line.get(candidate.sentence)
        if sentence is None or candidate.type != "entity" or candidate.sentence in drafts_by_line:
            continue
        start, end = candidate.start - sentence.start, candidate.end - sentence.start
        if (
            start >= 0
            and end <= len(sentence.text)
            and _SHORTEST <= len(sentence.text.split()) <= _LONGEST
        ):
            drafts_by_line[candidate.sentence] = (
                f"{sentence.text[:start]}{BLANK}{sentence.text[end:]}",
                candidate.text,
            )
    chosen = [drafts_by_line[line_number] for line_number in sorted(drafts_by_line)[:limit]]
    counts["draft"] += len(chosen)
    return _article_questions(article, chosen, "drafts")


def _article_questions(
    article: rows.Article, pairs: Sequence[tuple[str, str]], generator: str
) -> rows.ArticleQuestions | rows.Dropped:
    """The questions that people choose among, with their answers; a drop where there is none."""
    if not pairs:
        return _dropped("no_question", article)
    texts, answers = zip(*pairs, strict=True)
    row_id = question_row_id(article.id)
    return rows.ArticleQuestions(row_id, article.id, article.day, texts, answers, generator)


_TABLES: dict[str, tuple[type, str]] = {
    "questions": (rows.ArticleQuestions, "Articles with their questions, to choose from."),
    "words": (
        rows.ArticleWords,
        "Articles with names and dates, one of which can be left out.",
    ),
}
_COUNTED = "Articles of the recent corpus, and the spans that were asked for, by outcome."


def _draw(article: rows.Article) -> rows.Draw:
    """The draw of an article, whose questions are asked on its own day."""
    row_id = question_row_id(article.id)
    quarter = str(Period.of(article.day, "quarter"))
    return rows.Draw(row_id, article.id, "eval", "recent", article.day, article.day, quarter)


def _words(article: rows.Article, finder: SpacyFinder) -> rows.ArticleWords | rows.Dropped:
    kinds = ("entity", "date")
    spans = sorted(finder.find(article), key=lambda candidate: (candidate.start, -candidate.end))
    texts = (candidate.text for candidate in spans if candidate.type in kinds)
    words = dict.fromkeys(text for text in texts if not is_undated_day(text))
    if not words:
        return _dropped("no_name", article)
    row_id = question_row_id(article.id)
    return rows.ArticleWords(row_id, article.id, article.day, tuple(words))


def _dropped(reason: str, article: rows.Article) -> rows.Dropped:
    row_id = question_row_id(article.id)
    detail = " ".join(article.sentences[0].split())[:80]
    return rows.Dropped(STEP, reason, row_id, None, None, None, None, detail)
