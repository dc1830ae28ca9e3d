"""The `ckl-questions` dataset: what people start from, one row a recent article."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

import builders.ckl as ckl_package
import builders.questions as questions_package
import builders.wmt as wmt_package
from builders import rows
from builders.citations import JANG_2022
from builders.ckl import corpus, tables
from builders.ckl.settings import Periods
from builders.dataset import Dataset, FromParquet, Table
from builders.dates import Period
from builders.questions.backends import open_backend
from builders.questions.candidates import Finder, open_finder
from builders.questions.generate import GenerateSettings, generate_questions
from builders.questions.protocol import Backend
from builders.run import DatasetBuilder, Run
from builders.schema import Writing, writing
from builders.store import Made, code_digest, files_sha256

_AT_ONCE = 256
_ORDER = ("article_day", "id")
STEP = "ckl-questions"


class CKLQuestions(DatasetBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: step 1 of both pipelines).

    `articles`: at most so many, drawn by hash; all of the days by default. `generate`: as in
    `streamingqa`; `kept` is the most questions of an article. `offline`: from cached answers alone.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)
    citations: ClassVar[tuple[str, ...]] = (JANG_2022,)

    builder: Literal["ckl-questions"]
    periods: Periods = Periods()
    articles: int | None = Field(default=None, ge=1)
    generate: GenerateSettings = GenerateSettings(kept=10)
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Configs `questions` and `words`; the text stays in the archive."""
        found = corpus.articles(run)
        made = self._made(run, found)
        return Dataset(
            tables=tuple(
                Table(name, row, about, {"full": FromParquet(made.path / f"{name}.parquet")})
                for name, row, about in _TABLES
            ),
            dropped=(FromParquet(made.path / "dropped.parquet"),),
            figures=(tables.funnel("made", "What was made", tables.counts(made), _COUNTED),),
        )

    def _made(self, run: Run, found: Made) -> Made:
        def make(out: Path) -> None:
            finder = open_finder(self.generate.candidates)
            work = run.store.work("answers")
            backend = open_backend(
                self.generate.backend, run.seed, finder, work, offline=self.offline
            )
            refs = corpus.chosen(found, self.periods, self.articles, run.seed)
            counts = {"articles": len(refs)}
            passing = corpus.texts_of(run, refs)
            loose = {name: out / f".{name}.parquet" for name, *_ in _TABLES}
            with (
                writing(loose["questions"], rows.ArticleQuestions) as asked,
                writing(loose["words"], rows.ArticleWords) as words,
                writing(out / ".dropped.parquet", rows.Dropped) as dropped,
            ):
                while some := list(islice(passing, _AT_ONCE)):
                    for one in self._questions(some, finder, backend, run.seed, counts):
                        _put(one, asked, dropped)
                    for article in some:
                        _put(_words(article, finder), words, dropped)
            for name, row, _ in _TABLES:
                tables.sort(run, loose[name], row, out / f"{name}.parquet", _ORDER)
            order = ("step", "reason", "item")
            path = out / "dropped.parquet"
            tables.sort(run, out / ".dropped.parquet", rows.Dropped, path, order)
            tables.save_counts(out, counts)

        return run.store.step(
            STEP,
            make,
            version=code_digest(ckl_package, questions_package, wmt_package, rows),
            parameters={
                **self.model_dump(mode="json", exclude={"offline"}),
                "files": files_sha256(self.model_dump()),
                "seed": run.seed,
            },
            inputs=[found.key],
        )

    def _questions(
        self,
        articles: list[rows.Article],
        finder: Finder,
        backend: Backend,
        seed: int,
        counts: dict[str, int],
    ) -> Iterator[rows.ArticleQuestions | rows.Dropped]:
        draws = {article.id: [_draw(article)] for article in articles}
        asked: dict[str, list[rows.Question]] = {}
        for found in generate_questions(
            articles, draws, self.generate, seed, finder=finder, backend=backend
        ):
            if isinstance(found, rows.Question):
                asked.setdefault(found.draw.article, []).append(found)
            what = f"no question: {found.reason}" if isinstance(found, rows.Dropped) else "question"
            counts[what] = counts.get(what, 0) + 1
        for article in articles:
            mine = sorted(asked.get(article.id, ()), key=lambda q: (q.answer.start, q.question))
            name = corpus.row_of(article.id)
            if not mine:
                yield _dropped("no_question", article)
                continue
            yield rows.ArticleQuestions(
                id=name,
                evidence_id=article.id,
                article_day=article.day,
                questions=tuple(q.question for q in mine),
                answers=tuple(q.answer.text for q in mine),
                generator=backend.name,
            )


_TABLES: tuple[tuple[str, type, str], ...] = (
    ("questions", rows.ArticleQuestions, "Articles with their questions, to choose from."),
    ("words", rows.ArticleWords, "Articles with names and dates, one of which can be left out."),
)
_COUNTED = "Articles of the recent corpus, and what became of the spans that were asked for."


def _put(
    one: rows.ArticleQuestions | rows.ArticleWords | rows.Dropped, into: Writing, dropped: Writing
) -> None:
    (dropped if isinstance(one, rows.Dropped) else into).append(one)


def _draw(article: rows.Article) -> rows.Draw:
    """Questions are asked on the article's own day."""
    name = corpus.row_of(article.id)
    quarter = str(Period.of(article.day, "quarter"))
    return rows.Draw(name, article.id, "eval", "recent", article.day, article.day, quarter)


def _words(article: rows.Article, finder: Finder) -> rows.ArticleWords | rows.Dropped:
    kinds = ("entity", "date")
    found = dict.fromkeys(_in_order(c for c in finder.find(article) if c.type in kinds))
    if not found:
        return _dropped("no_name", article)
    name = corpus.row_of(article.id)
    return rows.ArticleWords(name, article.id, article.day, tuple(found))


def _in_order(found: Iterable[rows.Candidate]) -> list[str]:
    return [c.text for c in sorted(found, key=lambda c: (c.start, -c.end))]


def _dropped(reason: str, article: rows.Article) -> rows.Dropped:
    name = corpus.row_of(article.id)
    detail = " ".join(article.sentences[0].split())[:80]
    return rows.Dropped(STEP, reason, name, None, None, None, None, detail)
