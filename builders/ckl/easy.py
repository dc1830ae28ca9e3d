"""NewLAMA-Easy: what workers chose (`easy_select`), and what they made of it (`easy_question`)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from builders.ckl.answers import DropError, accepted, agreed, each, each_row, loaded
from builders.ckl.corpus import row_of
from builders.ckl.texts import BLANK, places, plain
from builders.gold import read_gold
from builders.questions.squad import normal_or_all
from builders.rows import Article, Dropped, Evidence, Gold
from builders.run import Run
from builders.store import row_id

SELECT, QUESTION = "easy_select", "easy_question"
STEP = "new-lama-easy-clozes"
ASK = "new-lama-easy"
_WORKERS = 2


@dataclass(frozen=True)
class Chosen:
    """A word of a sentence of an article; `sentence` is its place in it."""

    id: str
    article: Article
    sentence: int
    text: str
    word: str

    def evidence(self) -> Evidence:
        """Where the word is in the article."""
        before = sum(len(one) + 1 for one in self.article.sentences[: self.sentence])
        start = before + places(self.word, self.article.sentences[self.sentence])[0]
        return Evidence(self.article.id, self.article.day, start, start + len(self.word))


@dataclass(frozen=True)
class Asked:
    """A cloze that workers' questions lead back to, as they saw it."""

    row: str
    clozes: str
    cloze: str
    answers: tuple[str, ...]
    questions: tuple[str, ...]


def selected(run: Run) -> tuple[dict[str, tuple[str, str]], list[Dropped]]:
    """Sentence and word by the id of the article's row, and the rows that have none.

    `not_new`, `not_general`: the workers' judgment of the article.
    """
    found: dict[str, tuple[str, str]] = {}
    dropped = []
    for gold in read_gold(run.inputs["gold"].files, SELECT):
        try:
            if gold.row in found:
                raise DropError("duplicate")
            found[gold.row] = _selected(gold)
        except DropError as why:
            dropped.append(why.row(STEP, gold.row))
    return found, dropped


def chosen(
    words: Mapping[str, tuple[str, str]], articles: Iterable[Article]
) -> Iterator[Chosen | Dropped]:
    """Each choice with its article, or why there is none.

    `no_article`: no recent article has this row; `no_sentence`: the article does not have the
    sentence; `word_lost`, `word_twice`: the sentence has the word never or more than once.
    """
    missing = dict(words)
    for article in articles:
        row = row_of(article.id)
        if row not in missing:
            continue
        text, word = missing.pop(row)
        at = [n for n, one in enumerate(article.sentences) if plain(one) == text]
        try:
            if not at:
                raise DropError("no_sentence", text)
            masked(text, word)
            name = row_id(STEP, article.id, at[0], word)
            yield Chosen(name, article, at[0], text, word)
        except DropError as why:
            yield why.row(STEP, row)
    for row in missing:
        yield DropError("no_article").row(STEP, row)


def masked(text: str, word: str) -> str:
    """The text with the word as [BLANK]; `DropError` where that is not in it just once."""
    found = places(word, text)
    if len(found) != 1:
        raise DropError("word_twice" if found else "word_lost", f"{word!r}: {text}")
    return text[: found[0]] + BLANK + text[found[0] + len(word) :]


def asked(run: Run) -> tuple[list[Asked], list[Dropped]]:
    """What two workers or more asked and answered, and the rows that too few did."""
    return each_row(run, QUESTION, ASK, _asked)


def check(one: Asked, word: str) -> None:
    """`DropError` unless every answer is the word, after SQuAD normalisation."""
    answers = sorted({normal_or_all(answer) for answer in one.answers})
    if len(answers) > 1:
        raise DropError("workers_differ", " | ".join(sorted(set(one.answers))))
    if answers[0] != normal_or_all(word):
        raise DropError("not_the_word", f"{one.answers[0]!r} is not {word!r}")


def _selected(gold: Gold) -> tuple[str, str]:
    answers = loaded(gold.answers, "answers")
    if gold.decision == "rejected":
        newness = agreed(answers, "newness")
        raise DropError({"none": "not_new", "special": "not_general"}.get(str(newness), "rejected"))
    accepted(gold)
    newness = agreed(answers, "newness")
    if newness != "general":
        raise DropError("missing_newness" if newness is None else "contradictory", newness)
    found = [agreed(answers, name) for name in ("sentence", "word")]
    if found[0] is None or found[1] is None:
        raise DropError("missing_sentence" if found[0] is None else "missing_word")
    return found[0], found[1]


def _asked(gold: Gold) -> Asked:
    """`disputed` is not refused here: which answers differ is said by `check`."""
    if gold.decision in ("open", "rejected") or gold.judgments < _WORKERS:
        raise DropError(gold.decision if gold.decision != "accepted" else "open")
    some = each(loaded(gold.answers, "answers"))
    cloze = plain(loaded(gold.shown, "shown").get("cloze"))
    answers = [plain(one.get("answer")) for one in some]
    questions = [plain(one.get("question")) for one in some]
    if cloze is None or cloze.count(BLANK) != 1:
        raise DropError("not_one_blank", cloze)
    if None in answers or None in questions:
        raise DropError("missing_answer" if None in answers else "missing_question")
    asked = sorted(one for one in questions if one)
    return Asked(gold.row, gold.dataset, cloze, tuple(one for one in answers if one), tuple(asked))
