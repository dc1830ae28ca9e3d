"""The `ckl-questions` dataset: what annotators start from, one row a recent article."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.ckl import common
from factdrift.builders.ckl.checks import is_undated_day
from factdrift.builders.ckl.common import NewsCorpus, Periods, row_of
from factdrift.builders.ckl.gold import BLANK
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.run import Run
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.generate.backends import CachedModel, Parsed, open_model
from factdrift.builders.generate.batch_files import BatchChat
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.mentions import news_sentences
from factdrift.builders.generate.questions import GenerateSettings, generate_questions
from factdrift.builders.wmt.steps import Articles, article_step

_AT_ONCE = 256
_SHORTEST, _LONGEST = 6, 40
"""Words of a sentence that is offered as a draft."""
STEP = "ckl-questions"


class CKLQuestions(common.CKLBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: step 1 of both pipelines).

    `articles`: at most so many, drawn by hash; all of the days by default. `generate`: a language
    model that writes questions, as in `streamingqa`; without one people are offered sentences of
    the article with a name left out, as drafts. `generate.kept` is the most of an article.
    `offline`: whether only answers of models that were given before are used.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)

    builder: Literal["ckl-questions"]
    articles: int | None = Field(default=None, ge=1)
    generate: GenerateSettings = GenerateSettings(backend=Parsed(), kept=10)
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
                Table(name, row, about, {"full": FromParquet(folder / f"{name}.parquet")})
                for name, (row, about) in _TABLES.items()
            ),
            dropped=(FromParquet(folder / "dropped.parquet"),),
            statistics=(common.funnel(folder, "made", "What was made", _COUNTED),),
        )


class RecentArticles(Step):
    """Recent articles with questions and with words: `questions.parquet`, `words.parquet`.

    Beside them `dropped.parquet` and what was counted. The fields are parameters of the dataset.
    """

    name: ClassVar[str] = STEP

    corpus: Articles
    periods: Periods
    articles: int | None
    generate: GenerateSettings
    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    def make(self, out: Path, workspace: Workspace) -> None:
        """Ask about every article, and list its names and dates."""
        finder = SpacyFinder()
        settings, answers = self.generate.model, workspace.work("answers")
        if isinstance(settings, BatchChat):
            text = "the backend `batch` is for `streamingqa`"
            raise UserError(text, hint="take `openai` here")
        model = open_model(settings, self.seed, answers, offline=self.offline) if settings else None
        corpus = NewsCorpus.of(self.corpus, workspace)
        refs = corpus.draw(self.periods, self.articles, self.seed)
        counts = Counter(articles=len(refs))
        passing = corpus.texts(refs)
        made: dict[type, list[Any]] = {row: [] for row, _ in _TABLES.values()} | {rows.Dropped: []}
        while batch := list(islice(passing, _AT_ONCE)):
            asked = (
                self._questions(batch, finder, model, counts)
                if model
                else (_drafts(article, finder, self.generate.kept, counts) for article in batch)
            )
            for one in chain(asked, (_words(article, finder) for article in batch)):
                made[type(one)].append(one)
        for name, (row, _) in _TABLES.items():
            write_sorted(out / f"{name}.parquet", row, made[row], "article_day", "id")
        dropped = made[rows.Dropped]
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
        asked: dict[str, list[rows.Question]] = {}
        for found in generate_questions(
            articles, draws, self.generate, self.seed, finder=finder, backend=backend
        ):
            if isinstance(found, rows.Question):
                asked.setdefault(found.draw.article, []).append(found)
            what = f"no question: {found.reason}" if isinstance(found, rows.Dropped) else "question"
            counts[what] += 1
        for article in articles:
            mine = asked.get(article.id, ())
            pairs = [(q.question, q.answer.text) for q in mine]
            yield _asked(article, pairs, backend.name)


def _drafts(
    article: rows.Article, finder: SpacyFinder, most: int, counts: Counter[str]
) -> rows.ArticleQuestions | rows.Dropped:
    """Sentences of an article, each with its first name left out."""
    news = {one.line: one for one in news_sentences(article)}
    found: dict[int, tuple[str, str]] = {}
    for c in finder.find(article):
        one = news.get(c.sentence)
        if one is None or c.type != "entity" or c.sentence in found:
            continue
        start, end = c.start - one.start, c.end - one.start
        if start >= 0 and end <= len(one.text) and _SHORTEST <= len(one.text.split()) <= _LONGEST:
            found[c.sentence] = f"{one.text[:start]}{BLANK}{one.text[end:]}", c.text
    chosen = [found[n] for n in sorted(found)[:most]]
    counts["draft"] += len(chosen)
    return _asked(article, chosen, "drafts")


def _asked(
    article: rows.Article, pairs: Sequence[tuple[str, str]], generator: str
) -> rows.ArticleQuestions | rows.Dropped:
    """What people choose among: questions and their answers."""
    if not pairs:
        return _dropped("no_question", article)
    texts, answers = zip(*pairs, strict=True)
    name = row_of(article.id)
    return rows.ArticleQuestions(name, article.id, article.day, texts, answers, generator)


_TABLES: dict[str, tuple[type, str]] = {
    "questions": (rows.ArticleQuestions, "Articles with their questions, to choose from."),
    "words": (
        rows.ArticleWords,
        "Articles with names and dates, one of which can be left out.",
    ),
}
_COUNTED = "Articles of the recent corpus, and the spans that were asked for, by outcome."


def _draw(article: rows.Article) -> rows.Draw:
    """Questions are asked on the article's own day."""
    name = row_of(article.id)
    quarter = str(Period.of(article.day, "quarter"))
    return rows.Draw(name, article.id, "eval", "recent", article.day, article.day, quarter)


def _words(article: rows.Article, finder: SpacyFinder) -> rows.ArticleWords | rows.Dropped:
    kinds = ("entity", "date")
    spans = sorted(finder.find(article), key=lambda c: (c.start, -c.end))
    texts = (c.text for c in spans if c.type in kinds)
    found = dict.fromkeys(text for text in texts if not is_undated_day(text))
    if not found:
        return _dropped("no_name", article)
    name = row_of(article.id)
    return rows.ArticleWords(name, article.id, article.day, tuple(found))


def _dropped(reason: str, article: rows.Article) -> rows.Dropped:
    name = row_of(article.id)
    detail = " ".join(article.sentences[0].split())[:80]
    return rows.Dropped(STEP, reason, name, None, None, None, None, detail)
