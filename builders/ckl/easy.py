"""NewLAMA-Easy: sentences with a word that workers chose, and their questions about the word.

Workers choose words by the layout `easy_select` and ask about them by `easy_question`. The dataset
`new-lama-easy-clozes` has the chosen sentences, rewritten and masked. Two workers each then write
a question for a masked sentence and answer it; `new-lama-easy` has the sentences whose answers are
the masked word again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from factdrift.builders import rows
from factdrift.builders.ckl import common, models
from factdrift.builders.ckl.checks import cuts_name, is_undated_day, text_doubts
from factdrift.builders.ckl.common import NewsCorpus, Periods, question_row_id
from factdrift.builders.ckl.gold import (
    BLANK,
    DropError,
    accepted_answers,
    agreed_text,
    answers_and_fields,
    answers_by_worker,
    make_or_drop,
    most_common_text,
    read_each_row_once,
    single_line,
    word_places,
)
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import Workspace
from factdrift.builders.generate.backends import CachedModel
from factdrift.builders.rows import Article, Dropped, Evidence, Gold
from factdrift.builders.text import prompts
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.text.tokens import TokenCounter
from factdrift.builders.text.views import ClozeBuilder, ViewSettings, view_statistics

SELECT, QUESTION = "easy_select", "easy_question"
STEP, ASK = "new-lama-easy-clozes", "new-lama-easy"
_WORKERS = 2
"""How many workers ask about a sentence, as in the paper."""


@dataclass(frozen=True)
class ChosenWord:
    """A word that a worker chose in a sentence of an article.

    `sentence` is the number of the sentence in the article, and `text` the sentence as the worker
    or models have rewritten it. `decontextualiser` names who made it stand alone, `translators`
    the models that translated it.
    """

    id: str
    article: Article
    sentence: int
    text: str
    word: str
    decontextualiser: str | None = None
    translators: tuple[str, ...] = ()

    def evidence(self) -> Evidence:
        """Return where the word stands in the article."""
        before = sum(len(text) + 1 for text in self.article.sentences[: self.sentence])
        start = before + word_places(self.word, self.article.sentences[self.sentence])[0]
        return Evidence(self.article.id, self.article.day, start, start + len(self.word))

    def cloze(self) -> rows.EasyCloze:
        """Return the row; `DropError` where the sentence has the word not at all, or twice."""
        cloze = mask_word(self.text, self.word)
        if doubts := text_doubts(cloze, 0):
            raise DropError("undated_day", f"{doubts[0]} {cloze}")
        return rows.EasyCloze(
            id=self.id,
            prompt=prompts.as_of_day(cloze, self.article.day),
            targets=prompts.merge_targets([self.word]),
            evidence_id=self.article.id,
            article_day=self.article.day,
            cloze=cloze,
            answer=self.word,
            sentence=self.sentence,
            decontextualiser=self.decontextualiser,
            translators=self.translators,
        )


class _Choice(NamedTuple):
    """A worker's choice: a sentence and a word of it, and `alone`, the sentence as rewritten.

    `offered` has all the words that could be chosen.
    """

    row: str
    sentence: str
    word: str
    alone: str | None
    offered: tuple[str, ...]


class NewLAMAEasyClozes(common.CKLBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: NewLAMA-Easy, steps 2 to 4).

    `decontextualise` names the model that makes a sentence stand alone; where its text lacks the
    word, the sentence stays as it was. `translate` names the models that translate the sentence
    out of English and back; where that loses the word, the row is dropped. A step without a model
    is skipped. `offline` says that only texts that models wrote before are used.
    """

    layouts: ClassVar[tuple[str, ...]] = (SELECT,)

    builder: Literal["new-lama-easy-clozes"]
    decontextualise: models.PromptedStep | None = None
    translate: models.Translation | None = None
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Check the choices against the articles, rewrite, mask."""
        models.report_skipped(
            run, {"decontextualisation": self.decontextualise, "back-translation": self.translate}
        )
        folder = run.folder(
            MaskedSentences(
                **self.step_fields(run),
                decontextualise=self.decontextualise,
                translate=self.translate,
                seed=run.seed,
                offline=self.offline,
            )
        )
        return self.dataset(
            folder,
            rows.EasyCloze,
            "Sentences of recent articles with a word blanked.",
            "full",
            "What the choices came to",
            common.models_used(folder),
        )


class MaskedSentences(models.ModelStep):
    """Chosen sentences, rewritten and masked: `all.parquet` (`rows.EasyCloze`), `dropped.parquet`.

    `counts.json` has the number of rows by outcome, and the models that rewrote them.
    """

    name: ClassVar[str] = STEP

    decontextualise: models.PromptedStep | None
    translate: models.Translation | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Check the choices against their articles, then rewrite and mask the sentences."""
        words, dropped = chosen_words(
            self.gold.files, NewsCorpus.of_step(self.corpus, workspace), self.periods
        )
        words.sort(key=lambda word: word.id)
        decontextualisers: list[str] = []
        translators: list[str] = []
        if self.decontextualise is not None:
            model = self.model(self.decontextualise, workspace)
            words = _decontextualised(model, self.decontextualise, words)
            decontextualisers.append(model.name)
        if self.translate is not None:
            for prompt, step in self.translate:  # forward and back
                model = self.model(step, workspace)
                words = _translated(model, step, prompt, words)
                translators.append(model.name)
        named_words = ((question_row_id(word.article.id), word) for word in words)
        clozes = make_or_drop(STEP, named_words, ChosenWord.cloze, dropped)
        names = {"decontextualisation": decontextualisers, "back-translation": translators}
        common.save_rows(out, rows.EasyCloze, clozes, dropped, names)


def _decontextualised(
    model: CachedModel, step: models.PromptedStep, words: Sequence[ChosenWord]
) -> list[ChosenWord]:
    """The words in sentences that a model made to stand alone, where it kept the word."""
    slots = [{"sentence": word.text, "article": " ".join(word.article.sentences)} for word in words]
    rewritten_words = []
    texts = models.continue_prompts(model, step, "decontextualise", slots)
    for word, written in zip(words, texts, strict=True):
        text = single_line(written)
        if text and len(word_places(word.word, text)) == 1:
            word = replace(word, text=text, decontextualiser=model.name)
        rewritten_words.append(word)
    return rewritten_words


def _translated(
    model: CachedModel, step: models.PromptedStep, prompt: str, words: Sequence[ChosenWord]
) -> list[ChosenWord]:
    """The words in sentences that a model translated, empty where it wrote nothing."""
    slots = [{"text": word.text} for word in words if word.text]
    texts = iter(models.continue_prompts(model, step, prompt, slots))
    return [
        replace(
            word,
            text=(single_line(next(texts)) or "") if word.text else "",
            translators=(*word.translators, model.name),
        )
        for word in words
    ]


class NewLAMAEasy(common.CKLBuilder, ClozeBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B); the days are the paper's."""

    layouts: ClassVar[tuple[str, ...]] = (SELECT, QUESTION)

    builder: Literal["new-lama-easy"]

    def build(self, run: Run) -> Dataset:
        """From gold rows of `easy_select` and `easy_question`; no model is asked again."""
        step = AgreedClozes(**self.step_fields(run), blank=self.blank, views=self.views(run))
        folder = run.folder(step)
        return self.dataset(
            folder,
            rows.NewEasyCloze,
            "Sentences of recent articles with a word blanked, and two questions for it.",
            "test",
            "What the answers came to",
            view_statistics(folder / "all.parquet"),
            common.paper_comparison(folder, self.builder, 11_177),
        )


class AgreedClozes(common.GoldStep):
    """Masked sentences whose word two workers found again: `all.parquet`, `dropped.parquet`."""

    name: ClassVar[str] = ASK

    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Check the questions and answers of every masked sentence."""
        counter = self.views.counter()
        words, dropped = chosen_words(
            self.gold.files, NewsCorpus.of_step(self.corpus, workspace), self.periods
        )
        words_by_id = {word.id: word for word in words}
        clozes, refused = read_each_row_once(
            self.gold.files, QUESTION, ASK, lambda gold: self._row(gold, words_by_id, counter)
        )
        judged_ids = {cloze.id for cloze in clozes} | {drop.item for drop in refused}
        dropped += common.unjudged_rows(
            ASK, "not_asked", words_by_id, judged_ids, lambda chosen_word: chosen_word.text
        )
        common.save_rows(out, rows.NewEasyCloze, clozes, [*dropped, *refused])

    def _row(
        self, gold: Gold, words_by_id: Mapping[str, ChosenWord], counter: TokenCounter | None
    ) -> rows.NewEasyCloze:
        """The row of two workers' answers; `DropError` unless both answers are the chosen word.

        Answers are compared after normalisation. A `disputed` row is read like an accepted one,
        so that its drop can say which answers differ.
        """
        if gold.decision in ("open", "rejected"):
            raise DropError(gold.decision)
        if gold.judgments < _WORKERS:
            raise DropError("open" if gold.decision == "accepted" else gold.decision)
        collected, fields_seen = answers_and_fields(gold)
        cloze = single_line(fields_seen.get("cloze"))
        answers, questions = _answers_and_questions(answers_by_worker(collected))
        if cloze is None or cloze.count(BLANK) != 1:
            raise DropError("not_one_blank", cloze)
        if not all(answers):
            raise DropError("missing_answer")
        if not all(questions):
            raise DropError("missing_question")
        chosen = words_by_id.get(gold.row)
        if chosen is None:
            raise DropError("no_cloze", cloze)
        _check_answers(answers, chosen.word)
        query = cloze.replace(BLANK, self.blank)
        return rows.NewEasyCloze(
            id=gold.row,
            prompt=prompts.as_of_day(query, chosen.article.day),
            targets=prompts.merge_targets([chosen.word]),
            query=query,
            answer=chosen.word,
            questions=tuple(sorted(questions)),
            new_evidence=chosen.evidence(),
            clozes=gold.dataset,
            **self.views.single_answer_columns(counter, chosen.word),
        )


def _answers_and_questions(workers: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """The answer and the question of each worker, empty where one gave none."""
    answers = [single_line(worker.get("answer")) or "" for worker in workers]
    questions = [single_line(worker.get("question")) or "" for worker in workers]
    return answers, questions


def _check_answers(answers: Sequence[str], word: str) -> None:
    """Raise `DropError` where workers' answers differ or are not the word, both normalised."""
    normalized_answers = {normalize_or_keep(answer) for answer in answers}
    if len(normalized_answers) > 1:
        raise DropError("workers_differ", " | ".join(sorted(set(answers))))
    if normalized_answers != {normalize_or_keep(word)}:
        raise DropError("not_the_word", f"{answers[0]!r} is not {word!r}")


def chosen_words(
    gold_files: Sequence[Path], corpus: NewsCorpus, periods: Periods
) -> tuple[list[ChosenWord], list[Dropped]]:
    """Return the words that workers chose, with their articles, and the drops of the other rows.

    Reasons are `not_new` and `not_general`, the workers' judgment of the article; `no_article`,
    where no recent article has this row; `no_sentence`, where the article lacks the sentence;
    `word_lost` and `word_twice`, where the sentence lacks the word or has it more than once.
    """
    choices, dropped = read_each_row_once(gold_files, SELECT, STEP, _choice)
    rows_with_articles = corpus.with_articles(
        periods, {choice_of_row.row: choice_of_row for choice_of_row in choices}
    )
    named_choices = ((row, (article, choice)) for row, choice, article in rows_with_articles)
    return make_or_drop(STEP, named_choices, _chosen_word, dropped), dropped


def _chosen_word(article_and_choice: tuple[Article | None, _Choice]) -> ChosenWord:
    article, choice = article_and_choice
    text, word = choice.sentence, choice.word
    if article is None:
        raise DropError("no_article")
    places = [
        number for number, sentence in enumerate(article.sentences) if single_line(sentence) == text
    ]
    if not places:
        raise DropError("no_sentence", text)
    cloze = mask_word(text, word)
    if cuts_name(cloze, text, text.index(word) + len(word)) or any(
        is_longer_name(longer, word) and word_places(longer, text) for longer in choice.offered
    ):
        raise DropError("name_cut", f"{word!r}: {text}")
    sentence_alone = choice.alone if choice.alone and word_places(word, choice.alone) else text
    word_id = row_id(STEP, article.id, places[0], word)
    return ChosenWord(
        word_id,
        article,
        places[0],
        sentence_alone,
        word,
        "annotator" if sentence_alone != text else None,
    )


def is_longer_name(longer: str, word: str) -> bool:
    """Whether a longer name holds a word: "Yoshihide Suga" holds "Suga"."""
    return longer != word and bool(word_places(word, longer))


def mask_word(text: str, word: str) -> str:
    """Return the text with [BLANK] for the word; `DropError` unless it has the word just once."""
    places = word_places(word, text)
    if len(places) != 1:
        raise DropError("word_twice" if places else "word_lost", f"{word!r}: {text}")
    return text[: places[0]] + BLANK + text[places[0] + len(word) :]


def _choice(gold: Gold) -> _Choice:
    answers, fields_seen = answers_and_fields(gold)
    if gold.decision == "rejected":
        newness = agreed_text(answers, "newness")
        raise DropError({"none": "not_new", "special": "not_general"}.get(str(newness), "rejected"))
    accepted_answers(gold)
    newness = agreed_text(answers, "newness")
    if newness != "general":
        raise DropError("missing_newness" if newness is None else "contradictory", newness)
    sentence, word = agreed_text(answers, "sentence"), agreed_text(answers, "word")
    if sentence is None or word is None:
        raise DropError("missing_sentence" if sentence is None else "missing_word")
    if is_undated_day(word):
        raise DropError("weekday_answer", word)
    offered = fields_seen.get("candidates")
    return _Choice(
        gold.row,
        sentence,
        word,
        most_common_text(answers, "alone"),
        tuple(map(str, offered)) if isinstance(offered, list) else (),
    )
