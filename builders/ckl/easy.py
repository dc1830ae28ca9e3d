"""NewLAMA-Easy: words that workers chose (`easy_select`) and asked about (`easy_question`).

The dataset `new-lama-easy-clozes` has the chosen sentences, rewritten and masked, for two workers;
`new-lama-easy` those that both workers' questions lead back to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from factdrift.builders import rows
from factdrift.builders.ckl import common, models
from factdrift.builders.ckl.checks import cuts_name, is_undated_day, text_doubts
from factdrift.builders.ckl.common import NewsCorpus, Periods, row_of
from factdrift.builders.ckl.gold import (
    BLANK,
    DropError,
    accepted,
    agreed,
    answers_of,
    each,
    kept,
    most_common,
    plain,
    read_once,
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


@dataclass(frozen=True)
class ChosenWord:
    """A word of a sentence of an article; `sentence` is its place in it.

    `text`: the sentence, as the worker or models have rewritten it; `decontextualiser`,
    `translators`: who made it stand alone, and what translated it.
    """

    id: str
    article: Article
    sentence: int
    text: str
    word: str
    decontextualiser: str | None = None
    translators: tuple[str, ...] = ()

    def evidence(self) -> Evidence:
        """Where the word is in the article."""
        before = sum(len(text) + 1 for text in self.article.sentences[: self.sentence])
        start = before + word_places(self.word, self.article.sentences[self.sentence])[0]
        return Evidence(self.article.id, self.article.day, start, start + len(self.word))

    def cloze(self) -> rows.EasyCloze:
        """The row; `DropError` where the sentence does not have the word once."""
        cloze = masked(self.text, self.word)
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
    """A sentence and a word of it, the sentence as the worker rewrote it, all offered words."""

    row: str
    sentence: str
    word: str
    alone: str | None
    offered: tuple[str, ...]


class NewLAMAEasyClozes(common.CKLBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B: NewLAMA-Easy, steps 2 to 4).

    `decontextualise`: the model that makes a sentence stand alone; where it loses the word, the
    sentence stays as it was. `translate`: the models that put it out of English and back; where
    that loses the word, the row is dropped. Without a model a step is skipped. `offline`: whether
    only texts that were made before are used.
    """

    layouts: ClassVar[tuple[str, ...]] = (SELECT,)

    builder: Literal["new-lama-easy-clozes"]
    decontextualise: models.PromptedStep | None = None
    translate: models.Translation | None = None
    offline: bool = False

    def build(self, run: Run) -> Dataset:
        """Check the choices against the articles, rewrite, mask."""
        models.say_skipped(
            run, {"decontextualisation": self.decontextualise, "back-translation": self.translate}
        )
        folder = run.folder(
            MaskedSentences(
                **self.given(run),
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
            common.done_by(folder),
        )


class MaskedSentences(models.ModelStep):
    """Chosen sentences, rewritten and masked: `all.parquet` (`rows.EasyCloze`), `dropped.parquet`.

    Beside them what was counted, and the models that did it.
    """

    name: ClassVar[str] = STEP

    decontextualise: models.PromptedStep | None
    translate: models.Translation | None

    def make(self, out: Path, workspace: Workspace) -> None:
        """Check the choices against their articles, then rewrite and mask the sentences."""
        words, dropped = chosen_words(
            self.gold.files, NewsCorpus.of(self.corpus, workspace), self.periods
        )
        words.sort(key=lambda word: word.id)
        alone: list[str] = []
        translators: list[str] = []
        if self.decontextualise is not None:
            model = self.model(self.decontextualise, workspace)
            words = _alone(model, self.decontextualise, words)
            alone.append(model.name)
        if self.translate is not None:
            for prompt, step in self.translate:  # forward and back
                model = self.model(step, workspace)
                words = _translated(model, step, prompt, words)
                translators.append(model.name)
        named = ((row_of(word.article.id), word) for word in words)
        clozes = kept(STEP, named, ChosenWord.cloze, dropped)
        names = {"decontextualisation": alone, "back-translation": translators}
        common.save(out, rows.EasyCloze, clozes, dropped, names)


def _alone(
    model: CachedModel, step: models.PromptedStep, words: Sequence[ChosenWord]
) -> list[ChosenWord]:
    """The sentences made to stand alone; as they were where that would lose the word."""
    slots = [{"sentence": one.text, "article": " ".join(one.article.sentences)} for one in words]
    out = []
    texts = models.write(model, step, "decontextualise", slots)
    for one, written in zip(words, texts, strict=True):
        text = plain(written)
        if text and len(word_places(one.word, text)) == 1:
            one = replace(one, text=text, decontextualiser=model.name)
        out.append(one)
    return out


def _translated(
    model: CachedModel, step: models.PromptedStep, prompt: str, words: Sequence[ChosenWord]
) -> list[ChosenWord]:
    """The sentences in the other language; empty where the model wrote nothing."""
    slots = [{"text": one.text} for one in words if one.text]
    texts = iter(models.write(model, step, prompt, slots))
    return [
        replace(
            one,
            text=(plain(next(texts)) or "") if one.text else "",
            translators=(*one.translators, model.name),
        )
        for one in words
    ]


class NewLAMAEasy(common.CKLBuilder, ClozeBuilder):
    """Parameters of the dataset (Jang et al. 2022, appendix B); the days are the paper's."""

    layouts: ClassVar[tuple[str, ...]] = (SELECT, QUESTION)

    builder: Literal["new-lama-easy"]

    def build(self, run: Run) -> Dataset:
        """From gold rows of `easy_select` and `easy_question`; no model is asked again."""
        step = AgreedClozes(**self.given(run), blank=self.blank, views=self.views(run))
        folder = run.folder(step)
        return self.dataset(
            folder,
            rows.NewEasyCloze,
            "Sentences of recent articles with a word blanked, and two questions for it.",
            "test",
            "What the answers came to",
            view_statistics(folder / "all.parquet"),
            common.paper(folder, self.builder, 11_177),
        )


class AgreedClozes(common.GoldStep):
    """Masked sentences whose word two workers agree on: `all.parquet`, `dropped.parquet`."""

    name: ClassVar[str] = ASK

    blank: str
    views: ViewSettings

    def make(self, out: Path, workspace: Workspace) -> None:
        """Check the questions and answers of every masked sentence."""
        counter = self.views.counter()
        words, dropped = chosen_words(
            self.gold.files, NewsCorpus.of(self.corpus, workspace), self.periods
        )
        known = {word.id: word for word in words}
        clozes, refused = read_once(
            self.gold.files, QUESTION, ASK, lambda gold: self._row(gold, known, counter)
        )
        seen = {one.id for one in clozes} | {one.item for one in refused}
        dropped += common.missing(ASK, "not_asked", known, seen, lambda one: one.text)
        common.save(out, rows.NewEasyCloze, clozes, [*dropped, *refused])

    def _row(
        self, gold: Gold, known: Mapping[str, ChosenWord], counter: TokenCounter | None
    ) -> rows.NewEasyCloze:
        """The row of two workers' answers; `DropError` unless all are the word, normalised.

        `disputed` is not refused as such: the answers that differ are told.
        """
        if gold.decision in ("open", "rejected") or gold.judgments < _WORKERS:
            raise DropError(gold.decision if gold.decision != "accepted" else "open")
        given, shown = answers_of(gold)
        workers, cloze = each(given), plain(shown.get("cloze"))
        answers = [plain(one.get("answer")) or "" for one in workers]
        questions = [plain(one.get("question")) or "" for one in workers]
        if cloze is None or cloze.count(BLANK) != 1:
            raise DropError("not_one_blank", cloze)
        if not all(answers) or not all(questions):
            raise DropError("missing_question" if all(answers) else "missing_answer")
        chosen = known.get(gold.row)
        if chosen is None:
            raise DropError("no_cloze", cloze)
        answers_given = {normalize_or_keep(answer) for answer in answers}
        if len(answers_given) > 1:
            raise DropError("workers_differ", " | ".join(sorted(set(answers))))
        if answers_given != {normalize_or_keep(chosen.word)}:
            raise DropError("not_the_word", f"{answers[0]!r} is not {chosen.word!r}")
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


def chosen_words(
    gold_files: Sequence[Path], corpus: NewsCorpus, periods: Periods
) -> tuple[list[ChosenWord], list[Dropped]]:
    """The words that workers chose, with their articles, and the rows that have none.

    `not_new`, `not_general`: the workers' judgment of the article; `no_article`: no recent article
    has this row; `no_sentence`: the article does not have the sentence; `word_lost`, `word_twice`:
    the sentence has the word never or more than once.
    """
    choices, dropped = read_once(gold_files, SELECT, STEP, _choice)
    about = corpus.about(periods, {one.row: one for one in choices})
    named = ((row, (article, choice)) for row, choice, article in about)
    return kept(STEP, named, _chosen_word, dropped), dropped


def _chosen_word(of: tuple[Article | None, _Choice]) -> ChosenWord:
    article, choice = of
    text, word = choice.sentence, choice.word
    if article is None:
        raise DropError("no_article")
    places = [n for n, sentence in enumerate(article.sentences) if plain(sentence) == text]
    if not places:
        raise DropError("no_sentence", text)
    cloze = masked(text, word)
    if cuts_name(cloze, text, text.index(word) + len(word)) or any(
        is_longer_name(longer, word) and word_places(longer, text) for longer in choice.offered
    ):
        raise DropError("name_cut", f"{word!r}: {text}")
    alone = choice.alone if choice.alone and word_places(word, choice.alone) else text
    name = row_id(STEP, article.id, places[0], word)
    return ChosenWord(name, article, places[0], alone, word, "annotator" if alone != text else None)


def is_longer_name(longer: str, word: str) -> bool:
    """Whether a name goes on before or behind a word: "Yoshihide Suga" and "Suga"."""
    return longer != word and bool(word_places(word, longer))


def masked(text: str, word: str) -> str:
    """The text with the word as [BLANK]; `DropError` where that is not in it just once."""
    found = word_places(word, text)
    if len(found) != 1:
        raise DropError("word_twice" if found else "word_lost", f"{word!r}: {text}")
    return text[: found[0]] + BLANK + text[found[0] + len(word) :]


def _choice(gold: Gold) -> _Choice:
    answers, shown = answers_of(gold)
    if gold.decision == "rejected":
        newness = agreed(answers, "newness")
        raise DropError({"none": "not_new", "special": "not_general"}.get(str(newness), "rejected"))
    accepted(gold)
    newness = agreed(answers, "newness")
    if newness != "general":
        raise DropError("missing_newness" if newness is None else "contradictory", newness)
    sentence, word = agreed(answers, "sentence"), agreed(answers, "word")
    if sentence is None or word is None:
        raise DropError("missing_sentence" if sentence is None else "missing_word")
    if is_undated_day(word):
        raise DropError("weekday_answer", word)
    offered = shown.get("candidates")
    return _Choice(
        gold.row,
        sentence,
        word,
        most_common(answers, "alone"),
        tuple(map(str, offered)) if isinstance(offered, list) else (),
    )
