"""The `ckl-questions` dataset: recent articles with questions, from which annotators start."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from factdrift.builders import rows
from factdrift.builders.ckl import common
from factdrift.builders.ckl.checks import is_undated_day
from factdrift.builders.ckl.common import NewsCorpus, Periods, question_row_id
from factdrift.builders.ckl.gold import typed_blank
from factdrift.builders.core.dataset import Dataset, FromParquet, Table
from factdrift.builders.core.dates import Period
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import require_extra
from factdrift.builders.core.run import Run
from factdrift.builders.core.schema import write_sorted
from factdrift.builders.core.steps import NOT_IN_KEY, Step, Workspace
from factdrift.builders.generate.article_questions import write_article_questions
from factdrift.builders.generate.backends import CachedModel, open_model
from factdrift.builders.generate.batch_files import BatchChat
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.mentions import news_sentences
from factdrift.builders.generate.questions import GenerateSettings, generate_questions
from factdrift.builders.text.en.lexicon import TITLES
from factdrift.builders.text.en.standalone import outside_reference, unresolved_pronoun
from factdrift.builders.wmt.steps import Articles, article_step
from factdrift.filters.base import QuestionItem
from factdrift.filters.wording import (
    AnswerInQuestion,
    ContextReference,
    PronounWithoutAntecedent,
    QuestionMark,
)

_AT_ONCE = 256
"""Articles in memory at a time: enough to fill a model's batches."""
_KINDS = {
    "PERSON": "PERSON", "ORG": "ORGANISATION", "GPE": "PLACE", "LOC": "PLACE", "FAC": "PLACE",
    "EVENT": "EVENT", "WORK_OF_ART": "WORK", "PRODUCT": "PRODUCT", "LAW": "LAW", "DATE": "DATE",
    "MONEY": "AMOUNT", "PERCENT": "AMOUNT", "QUANTITY": "AMOUNT", "CARDINAL": "NUMBER",
}  # fmt: skip
"""The kind of a gap by the label that the pipeline gives its answer."""
_SHORTEST, _LONGEST = 6, 40
"""Words of a sentence that is offered as a draft: shorter ones seldom stand alone, and longer ones
state several things. Both bounds are guesses that the samples do not contradict."""
STEP = "ckl-questions"


class CKLQuestions(common.CKLBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: step 1 of both pipelines).

    `articles` limits the number of articles, which are drawn by a hash; by default all articles
    of the days are taken. `generate` names a language model that writes questions, as in
    `streamingqa`; those about the latest event come first. Without one, people are offered drafts:
    sentences of the article with a typed gap for a name, a date or a number (`[BLANK-PERSON]`).
    `generate.kept` limits the questions of an article. `offline` says that only answers
    that models gave before are used.
    """

    tasks: ClassVar[tuple[str, ...]] = ("question-answering",)

    next_commands: ClassVar[Mapping[str, str]] = {
        "questions": "hits ckl_question --dataset {release} {news}"
    }

    builder: Literal["ckl-questions"]
    articles: int | None = Field(default=None, ge=1)
    generate: GenerateSettings = GenerateSettings(kept=10)
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Configs `questions` and `words`; the text stays in the archive."""
        require_extra("news", "questions about news need spaCy")
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
                Table(
                    table_name,
                    row,
                    description,
                    {"full": FromParquet(folder / f"{table_name}.parquet")},
                )
                for table_name, (row, description) in _TABLES.items()
            ),
            dropped=(FromParquet(folder / "dropped.parquet"),),
            statistics=(common.outcome_counts(folder, "made", "What was made", _COUNTED),),
        )


class RecentArticles(Step):
    """Draws recent articles, and makes questions about each and a list of its words to leave out.

    Writes `questions.parquet`, `words.parquet`, `dropped.parquet`, and
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
        """Write questions about every article, and list what can be left out of its sentences."""
        finder = SpacyFinder()
        settings, answers = self.generate.model, workspace.work("answers")
        if isinstance(settings, BatchChat):
            error_text = "the backend `batch` is for `streamingqa`"
            raise UserError(error_text, hint="take `openai` here")
        model = open_model(settings, self.seed, answers, offline=self.offline) if settings else None
        corpus = NewsCorpus.of_step(self.corpus, workspace)
        article_refs = corpus.draw_recent(self.periods, self.articles, self.seed)
        counts = Counter(articles=len(article_refs))
        articles_left = corpus.read_articles(article_refs)
        rows_by_type: dict[type, list[Any]] = {row: [] for row, _ in _TABLES.values()} | {
            rows.Dropped: []
        }
        while batch := list(islice(articles_left, _AT_ONCE)):
            made_rows: list[rows.ArticleQuestions | rows.ArticleWords | rows.Dropped] = []
            if model is not None:
                made_rows += self._questions(batch, finder, model, counts)
            for article in batch:
                candidates, news_nouns = finder.find_with_nouns(article)
                if model is None:
                    made_rows.append(_drafts(article, candidates, self.generate.kept, counts))
                made_rows.append(_words(article, candidates, news_nouns))
            for made_row in made_rows:
                rows_by_type[type(made_row)].append(made_row)
        for table_name, (row, _) in _TABLES.items():
            write_sorted(out / f"{table_name}.parquet", row, rows_by_type[row], "article_day", "id")
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
        for question_or_drop in self._written(articles, draws, finder, backend):
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
            article_questions = _newest_first(questions_by_article.get(article.id, ()))
            pairs = [(question.question, question.answer.text) for question in article_questions]
            yield _article_questions(article, pairs, backend.name)

    def _written(
        self,
        articles: Sequence[rows.Article],
        draws: Mapping[str, Sequence[rows.Draw]],
        finder: SpacyFinder,
        backend: CachedModel,
    ) -> Iterator[rows.Question | rows.Dropped]:
        """What the model writes in the style of the recipe, without what no reader could use."""
        if self.generate.style == "article":
            return write_article_questions(
                articles, draws, self.generate, backend=backend, accept=_drop_unusable
            )
        return generate_questions(
            articles,
            draws,
            self.generate,
            self.seed,
            finder=finder,
            backend=backend,
            accept=_drop_unusable,
        )


_WORDING_FILTERS = (
    QuestionMark(), AnswerInQuestion(), ContextReference(), PronounWithoutAntecedent(),
)  # fmt: skip
"""The filters of wording alone that a question for people has to pass."""


def _drop_unusable(question: rows.Question, article: rows.Article) -> rows.Dropped | None:
    """The drop of a question that cannot stand alone or gives its answer away."""
    for wording_filter in _WORDING_FILTERS:
        verdict = wording_filter.verdict(QuestionItem(question, article))
        if not verdict.keep:
            return rows.Dropped(STEP, verdict.reason, question.id, detail=verdict.detail)
    return None


def _newest_first(questions: Iterable[rows.Question]) -> list[rows.Question]:
    """Questions by the day of their event, the latest first; those without one come last."""
    return sorted(questions, key=lambda question: question.event_day or date.min, reverse=True)


def _stands_alone(sentence: str) -> bool:
    """Whether a sentence is whole and understandable without those before it.

    It begins and ends as a sentence does, holds no half of a quotation, no label of a speaker, and
    no word that points outside: `We lost,” he said.` does not stand alone.
    """
    opening, closing = sentence.count("“"), sentence.count("”")
    is_whole = (
        opening == closing
        and sentence.count('"') % 2 == 0
        and not sentence[0].islower()
        and sentence[-1] in _SENTENCE_ENDS
        and not _LEANS.match(sentence)
    )
    # in small letters, for a pronoun may be the first word
    if not is_whole or unresolved_pronoun(sentence[0].lower() + sentence[1:])[0] is not None:
        return False
    return outside_reference(sentence, relative=True)[0] is None


# a speaker or a note's number before a sentence (`Likhitha: `, `[3] `), or a word that leans on the
# sentence before (`This was`, `Since then`, `But`); not `Paris, France: `
_LEANS = re.compile(
    r"\[|\w+(?: \w+)?:\s|(?:This|That|These|Those) (?:is|was|were|are|has|had|will)\b"
    r"|(?:Since then|Until then|In that|After that|But|And|So|Also|However|Instead|Both|Such)\b"
)
# words with a capital right before or behind a gap, which may be a part of the name: `Dries `
_CAPITAL_BEFORE = re.compile(r"(?<!^)\b([A-Z][\w'’.-]*) $")
_CAPITAL_BEHIND = re.compile(r"(?:,? and)? [A-Z]")


def _cuts_name(sentence: str, start: int, end: int) -> bool:
    """Whether a gap may leave a part of a longer name beside it; titles before a name are none."""
    word_before = _CAPITAL_BEFORE.search(sentence, 0, start)
    has_name_before = word_before is not None and word_before[1].rstrip(".") not in TITLES
    return has_name_before or _CAPITAL_BEHIND.match(sentence, end) is not None


_SENTENCE_ENDS = '.!?”"'
"""Marks at the end of a whole sentence; a heading and a line cut off have none."""


def _drafts(
    article: rows.Article, candidates: Sequence[rows.Candidate], limit: int, counts: Counter[str]
) -> rows.ArticleQuestions | rows.Dropped:
    """Sentences of an article as drafts of questions, each with a typed gap for one of its answers.

    A date or a number is left out where the sentence has no name.
    """
    sentences_by_line = {sentence.line: sentence for sentence in news_sentences(article)}
    drafts_by_line: dict[int, tuple[str, str]] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.type != "entity"):
        sentence = sentences_by_line.get(candidate.sentence)
        gap_kind = _KINDS.get(candidate.label or "")
        if sentence is None or gap_kind is None or candidate.sentence in drafts_by_line:
            continue
        if gap_kind == "NUMBER" and not any(map(str.isdigit, candidate.text)):
            continue  # `one` and `several` are seldom what the news is
        if not _stands_alone(sentence.text):
            continue
        start, end = candidate.start - sentence.start, candidate.end - sentence.start
        if (
            start >= 0
            and end <= len(sentence.text)
            and not _cuts_name(sentence.text, start, end)
            and _SHORTEST <= len(sentence.text.split()) <= _LONGEST
        ):
            drafts_by_line[candidate.sentence] = (
                f"{sentence.text[:start]}{typed_blank(gap_kind)}{sentence.text[end:]}",
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
        "Articles with names, dates, numbers and nouns, one of which can be left out.",
    ),
}
_COUNTED = "Articles of the recent corpus, and the spans that were asked for, by outcome."


def _draw(article: rows.Article) -> rows.Draw:
    """The draw of an article, whose questions are asked on its own day."""
    row_id = question_row_id(article.id)
    quarter = str(Period.of(article.day, "quarter"))
    return rows.Draw(row_id, article.id, "eval", "recent", article.day, article.day, quarter)


def _words(
    article: rows.Article,
    candidates: Iterable[rows.Candidate],
    news_nouns: Iterable[tuple[int, int]],
) -> rows.ArticleWords | rows.Dropped:
    """The names, dates, numbers and nouns of the news that people may leave out, in order."""
    spans = [(start, -end, article.text[start:end]) for start, end in news_nouns]
    for candidate in candidates:
        if candidate.label in _KINDS:
            spans.append((candidate.start, -candidate.end, candidate.text))
    words = dict.fromkeys(text for _, _, text in sorted(spans) if not is_undated_day(text))
    if not words:
        return _dropped("no_name", article)
    row_id = question_row_id(article.id)
    return rows.ArticleWords(row_id, article.id, article.day, tuple(words))


def _dropped(reason: str, article: rows.Article) -> rows.Dropped:
    row_id = question_row_id(article.id)
    detail = " ".join(article.sentences[0].split())[:80]
    return rows.Dropped(STEP, reason, row_id, None, None, None, None, detail)
