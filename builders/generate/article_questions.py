"""Style `article`: a model's pairs about an article become questions, or drops with a reason."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

from factdrift.builders.core.hashing import row_id
from factdrift.builders.generate.mentions import batches
from factdrift.builders.generate.prompts import PromptedModel
from factdrift.builders.generate.protocol import (
    WAITING,
    ArticleRequest,
    WrittenPair,
    WrittenPairs,
)
from factdrift.builders.generate.questions import STEP, Accept, Expect, GenerateSettings
from factdrift.builders.rows import Article, Candidate, Draw, Dropped, Question
from factdrift.builders.text.en.same_answer import gives_answer_away
from factdrift.builders.text.words import cuts_word, fold_without_marks

_DRAWS_AT_ONCE = 1024
"""Draws that are held in memory with their articles: some tens of megabytes."""
_NEWS_DAYS = timedelta(2)
"""Days before an article in which its news happened: one for the night, one for other time zones
and papers that print in the morning."""
# marks around an answer or at its end, which are none of it: the `“` of `“yes”`
_MARKS_AROUND = " \t\"“”‘’'`.,;:!?"
# what a model writes for words left out: `The council … voted`
_LEFT_OUT = re.compile(r"\s*(?:…|\.\.\.)\s*")


def write_article_questions(
    articles: Iterable[Article],
    draws: Mapping[str, Sequence[Draw]],
    settings: GenerateSettings,
    *,
    backend: PromptedModel,
    accept: Accept = lambda question, article: None,
    expect: Expect = lambda questions: None,
) -> Iterator[Question | Dropped]:
    """Yield the questions of every draw, in the order of the articles and of each article's draws.

    `draws` holds the draws by article id; each is one call, which gives at most `settings.kept`
    questions. A pair that is of no use and a question that is not accepted are dropped.
    """
    all_draws = ((article, draw) for article in articles for draw in draws.get(article.id, ()))
    for batch in batches(all_draws, _DRAWS_AT_ONCE):
        requests = [
            ArticleRequest(article, draw.question_day, draw.subset, settings.kept)
            for article, draw in batch
        ]
        written_pairs = backend.write_pairs(requests)
        readings = [
            _DrawReading(article, draw, written, backend.name)
            for (article, draw), written in zip(batch, written_pairs, strict=True)
            if written.reason != WAITING
        ]
        expect(
            [
                (question, reading.article)
                for reading in readings
                for question in reading.pair_outcomes
                if isinstance(question, Question)
            ]
        )
        for reading in readings:
            yield from reading.outcomes(settings.kept, accept)


class _DrawReading:
    """Reads what a model wrote for one draw.

    `pair_outcomes` has a question for each pair, or its drop, as far as the pair alone decides.
    """

    def __init__(self, article: Article, draw: Draw, written: WrittenPairs, generator: str) -> None:
        self.article, self.draw = article, draw
        self._written, self._generator = written, generator
        self.pair_outcomes = [
            self._read(pair, (*written.pairs[:index], *written.pairs[index + 1 :]))
            for index, pair in enumerate(written.pairs)
        ]

    def _read(self, pair: WrittenPair, other_pairs: Sequence[WrittenPair]) -> Question | Dropped:
        candidate = answer_span(self.article, pair)
        if isinstance(candidate, str):
            return self._dropped(candidate, pair)
        reason = self._why_useless(pair, other_pairs)
        if reason is not None:
            return self._dropped(reason, pair)
        question_id = row_id(self.draw.id, candidate.start, candidate.end, self._generator)
        return Question(
            question_id,
            self.draw,
            pair.question,
            candidate,
            self._generator,
            event_day=_event_day(pair.event_day),
        )

    def _why_useless(self, pair: WrittenPair, other_pairs: Sequence[WrittenPair]) -> str | None:
        """Return why a pair is none beside the other pairs of its draw, or None if it is one."""
        if not pair.event:
            return "no_event"
        event_day = _event_day(pair.event_day)
        if event_day is not None and event_day < self.article.day - _NEWS_DAYS:
            return "old_event"
        if any(gives_answer_away(pair.question, other.answer) for other in other_pairs):
            return "gives_other_answer"
        return None

    def outcomes(self, most: int, accept: Accept) -> Iterator[Question | Dropped]:
        """Yield a question or a drop for each pair; a drop where there is no pair."""
        written = self._written
        if written.reason is not None or not written.pairs:
            reason = written.reason or "no_news"
            detail = written.detail or self.article.sentences[0][:80]
            yield Dropped(STEP, reason, self.draw.id, detail=detail)
        accepted: list[Question] = []
        for pair, question in zip(written.pairs, self.pair_outcomes, strict=True):
            if isinstance(question, Dropped):
                yield question
                continue
            why_too_many = _why_too_many(question, accepted, most)
            if why_too_many is not None:
                yield self._dropped(why_too_many, pair)
                continue
            refused = accept(question, self.article)
            if refused is None:
                accepted.append(question)
            yield refused or question

    def _dropped(self, reason: str, pair: WrittenPair) -> Dropped:
        pair_id = row_id(self.draw.id, pair.question, pair.answer, self._generator)
        return Dropped(STEP, reason, pair_id, detail=f"{pair.question} {pair.answer}"[:160])


def _why_too_many(question: Question, accepted: Sequence[Question], most: int) -> str | None:
    """Return why a question has no place beside those accepted before it, or None if it has one."""
    if len(accepted) >= most:
        return "enough_questions"
    for earlier_question in accepted:
        if earlier_question.question == question.question:
            return "same_question"
        if earlier_question.answer.sentence == question.answer.sentence:
            return "same_sentence"
    return None


def _event_day(text: str) -> date | None:
    """The day that a model gave for an event; None where it gave none that can be read."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def answer_span(article: Article, pair: WrittenPair) -> Candidate | str:
    """Return the span of a pair's answer in its sentence, or why there is none.

    Reasons: `sentence_not_in_article`; `no_span` where the sentence does not have the answer, or
    not as whole words. Case, accents, blanks and the kinds of quotation marks need not agree, and a
    sentence may have words left out in its middle or at its end (`…`).
    """
    sentence_pieces = [_plain(piece) for piece in _LEFT_OUT.split(pair.sentence) if piece.strip()]
    line_start, has_line = 0, False
    for line_index, line in enumerate(article.sentences):
        if sentence_pieces and _is_line_of(_plain(line), sentence_pieces[0]):
            has_line = True
            for answer_text in dict.fromkeys((pair.answer, pair.answer.strip(_MARKS_AROUND))):
                span = _whole_words(line, answer_text)
                if span is not None:
                    start, end = line_start + span[0], line_start + span[1]
                    span_text = article.text[start:end]
                    return Candidate(start, end, span_text, pair.answer_type, None, line_index)
        line_start += len(line) + 1
    return "no_span" if has_line else "sentence_not_in_article"


def _plain(text: str) -> str:
    """A text for comparing: folded, without quotation marks, with single blanks."""
    return " ".join(fold_without_marks(text)[0].replace('"', "").replace("'", "").split())


def _is_line_of(plain_line: str, plain_sentence: str) -> bool:
    """Whether a line of the article holds a sentence, or is a part of it."""
    if plain_sentence in plain_line:
        return True
    return len(plain_line) >= _SHORTEST_PART and plain_line in plain_sentence


_SHORTEST_PART = 12
"""Characters of a line that counts as a part of a sentence, at least: `Yes.` stands in many."""


def _whole_words(line: str, answer: str) -> tuple[int, int] | None:
    """The first place of an answer in a line where it begins and ends with whole words."""
    folded_line, places = fold_without_marks(line)
    folded_words = fold_without_marks(answer)[0].split()
    if not folded_words:
        return None
    for match in re.finditer(r"\s+".join(map(re.escape, folded_words)), folded_line):
        start, end = (
            match.span() if places is None else (places[match.start()], places[match.end()])
        )
        if not cuts_word(line, start, end):
            return start, end
    return None
