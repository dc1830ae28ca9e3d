"""What annotators add to generated questions: questions of their own, judgments and answers.

From the gold rows of the layouts `write_questions`, `judge_question` and `answer_question`; after
StreamingQA (paper 000), sections 2.4 and 2.5.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import field_validator

from factdrift.builders import rows
from factdrift.builders.core.config import Strict, did_you_mean
from factdrift.builders.core.hashing import digest, row_id, seeded_index
from factdrift.builders.generate.candidates import SpacyFinder, sentence_starts
from factdrift.builders.rows.gold import gold_answers, read_gold
from factdrift.builders.text.dates import date_candidates, whole_date_pattern
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import exact_match, f1
from factdrift.builders.text.words import folded_tokens
from factdrift.builders.wmt.dates import DateSettings
from factdrift.filters import FILTER_POINT
from factdrift.filters.base import QuestionItem

WRITE, JUDGE, ANSWER = LAYOUTS = ("write_questions", "judge_question", "answer_question")
STEP = ANNOTATORS = "people"
"""The step of the rows that annotators' judgments drop, and the `generator` of their questions."""
_SHOWN = ("question_day", "article_day", "article")
_SHORT = 3
"""Letters of a word between those of names: of, the, and, bin."""
_YEAR = re.compile(whole_date_pattern("year"))

Kind = Literal["written", "generated"]


class AnnotatorSettings(Strict):
    """How annotators' work is used; without gold rows none of it matters.

    `dates`: settings of the release of question dates that annotators wrote for; by default those
    of the recipe. `skip`: filters of the recipe that written questions do not pass through.
    `judged`: the kinds of questions of which only judged ones are released; of other kinds only
    those that were judged bad are left out.
    """

    dates: DateSettings | None = None
    skip: tuple[str, ...] = ()
    judged: tuple[Kind, ...] = ()

    @field_validator("skip")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in FILTER_POINT.names():
                near = did_you_mean(name, FILTER_POINT.names())
                raise ValueError(
                    f"no filter {name!r}" + (f", did you mean {near}?" if near else "")
                )
        return names


@dataclass(frozen=True, slots=True)
class WrittenQuestions:
    """What annotators wrote for one draw: each question with the answers that they gave to it.

    `shown`: a checksum of the days and the article that they were shown.
    """

    draw: str
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    shown: str


def read_written_questions(gold: rows.Gold) -> WrittenQuestions | None:
    """The questions of a gold row, each once; None where the row is not as the layout has it."""
    answers, shown = gold_answers(gold)
    found: dict[str, dict[str, None]] = {}
    for entry in _entries(answers.get("questions")):
        pair = [entry.get(name) for name in ("question", "answer")]
        texts = [" ".join(text.split()) for text in pair if isinstance(text, str)]
        if len(texts) < 2 or not all(texts):
            return None
        found.setdefault(texts[0], {})[texts[1]] = None
    seen = [shown.get(name) for name in _SHOWN]
    if not found or not all(isinstance(text, str) for text in seen):
        return None
    questions = tuple((question, tuple(given)) for question, given in found.items())
    return WrittenQuestions(gold.row, questions, digest(seen))


def _entries(value: object) -> Iterator[Mapping[str, Any]]:
    """The entries of one worker's group, or of each of several workers'."""
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, Mapping):
            yield entry
        elif isinstance(entry, list):
            yield from _entries(entry)


def written_items(
    articles: Iterable[rows.Article],
    draws: Mapping[str, Iterable[rows.Draw]],
    written: Mapping[str, WrittenQuestions],
    finder: SpacyFinder,
    counts: Counter[str],
) -> Iterator[tuple[QuestionItem, tuple[str, ...]]]:
    """Each written question with its article, and all its answers.

    `draws` holds the draws by article id. `counts` takes a `taken` for each draw, or `changed`
    where annotators were shown another day or text than the draw has now.
    """
    for article in articles:
        found: list[rows.Candidate] | None = None
        for draw in draws[article.id]:
            work = written[draw.id]
            days = draw.question_day.isoformat(), draw.article_day.isoformat()
            if work.shown != digest([*days, article.text]):
                counts["changed"] += 1
                continue
            counts["taken"] += 1
            found = list(finder.find(article)) if found is None else found
            for text, answers in work.questions:
                id_ = row_id(draw.id, "written", text)
                answer = locate_answer(answers[0], article, found)
                yield (
                    QuestionItem(rows.Question(id_, draw, text, answer, ANNOTATORS), article),
                    answers,
                )


def locate_answer(
    answer: str, article: rows.Article, found: Iterable[rows.Candidate]
) -> rows.Candidate:
    """An answer where the article has it, with its type.

    Where the article does not have it, `start` and `end` are -1 and the text is as it was
    written; else it is spelled as in the article. The type is that of a candidate with the same
    words; else a date is a `date`, capitalised words with short ones between them are an
    `entity`, and the rest is a `phrase`.
    """
    words = folded_tokens(answer)
    same_words = [c for c in found if words and folded_tokens(c.text) == words]
    start = _find(answer, article.text)
    if start < 0 and same_words:
        return same_words[0]
    same = next((c for c in same_words if c.start == start), same_words[0] if same_words else None)
    end = start + len(answer) if start >= 0 else -1
    text = article.text[start:end] if start >= 0 else answer
    sentence = max((n for n, at in enumerate(sentence_starts(article)) if at <= start), default=0)
    kind = same.type if same else _type(answer)
    return rows.Candidate(start, end, text, kind, same.label if same else None, sentence)


def _find(answer: str, text: str) -> int:
    """Where an article has an answer as whole words, else -1."""
    whole = rf"(?<!\w){re.escape(answer)}(?!\w)"
    found = re.search(whole, text) or re.search(whole, text, re.IGNORECASE)
    return found.start() if found else -1


def _type(answer: str) -> rows.AnswerType:
    whole = any(start == 0 and end == len(answer) for start, end, _ in date_candidates(answer))
    if whole or _YEAR.fullmatch(answer):
        return "date"
    written = answer.split()
    named = [any(c.isupper() for c in word) for word in written]
    between = all(name or len(word) <= _SHORT for name, word in zip(named, written, strict=True))
    return "entity" if named[0] and named[-1] and between else "phrase"


@dataclass(frozen=True, slots=True)
class QuestionReview:
    """What annotators say of a question that they were shown.

    A judgment is `good` where three of three say so. Of `asked` people who answered from the
    article some may have found no answer; it is not `good` where most found none.
    """

    question: str
    good: bool
    answers: tuple[str, ...] = ()
    asked: int = 0


@dataclass
class Reviews:
    """Judgments and answers by layout and row; `counts` takes what becomes of the gold rows.

    Counted: `taken`, `open` and of answers `disputed`; `not_understood`; `contradictory` (two of
    a row that differ; neither is taken); in the end `changed` (annotators saw another question
    under this id) and `no_such_row`.
    """

    counts: Mapping[str, Counter[str]]
    known: dict[tuple[str, str], QuestionReview] = field(default_factory=dict)
    _contradictory: set[tuple[str, str]] = field(default_factory=set)
    _used: set[tuple[str, str]] = field(default_factory=set)

    def add(self, gold: rows.Gold) -> None:
        """Take a gold row of the layouts for judgments and answers."""
        count = self.counts[gold.layout]
        if gold.decision == "open" or (gold.decision == "disputed" and gold.layout == ANSWER):
            count[gold.decision] += 1
            return
        answers, shown = gold_answers(gold)
        question = shown.get("question")
        if not isinstance(question, str):
            count["not_understood"] += 1
        elif gold.layout == JUDGE:
            self._keep(gold, QuestionReview(question, gold.decision == "accepted"))
        else:
            given = answers.get("answer") if gold.decision == "accepted" else []
            # One text stands for all who agree on it, a list has the text of each.
            texts = [given] * gold.agreeing if isinstance(given, str) else given
            if (
                not isinstance(texts, list)
                or not all(isinstance(text, str) and text.strip() for text in texts)
                or bool(texts) != (gold.decision == "accepted")
            ):
                count["not_understood"] += 1
            else:
                clean = tuple(" ".join(text.split()) for text in texts)
                asked = max(gold.judgments, len(clean))
                self._keep(gold, QuestionReview(question, bool(clean), clean, asked))

    def _keep(self, gold: rows.Gold, review: QuestionReview) -> None:
        key = gold.layout, gold.row
        if key in self._contradictory or self.known.get(key, review) != review:
            self._contradictory.add(key)
            self.counts[gold.layout]["contradictory"] += 1 + (self.known.pop(key, None) is not None)
        else:
            self.known[key] = review

    def review(
        self, row: rows.NewsQuestion, required: Collection[Kind], seed: int
    ) -> tuple[rows.NewsQuestion | rows.Dropped, rows.HumanAnswer | None]:
        """A question after its reviews, or why it is dropped; and the human baseline for it.

        Dropped: `judged_bad`, `unanswerable`, and `not_judged` for the kinds that are `required`
        to be judged. One of those who answered, found by a hash of (seed, id), is the baseline;
        the others' answers are further references. Who found no answer has none and scores 0.
        """
        judged, answered = self._of(JUDGE, row), self._of(ANSWER, row)
        if judged is not None and not judged.good:
            return _dropped(row, "judged_bad"), None
        if judged is None and row.written_or_generated in required:
            return _dropped(row, "not_judged"), None
        if answered is None:
            return row, None
        if not answered.good:
            return _dropped(row, "unanswerable"), None
        chosen = seeded_index(answered.asked, seed, "baseline", row.id)
        given = answered.answers
        answer = given[chosen] if chosen < len(given) else None
        others = tuple(text for n, text in enumerate(given) if n != chosen)
        known = row.answers + row.answers_additional + others
        scored = rows.HumanAnswer(row.id, answer, exact_match(answer, known), f1(answer, known))
        further = row.answers_additional + others
        accepted = merge_targets(row.answers, further)
        return replace(row, targets=accepted, answers_additional=further), scored

    def _of(self, layout: str, row: rows.NewsQuestion) -> QuestionReview | None:
        review = self.known.get((layout, row.id))
        if review is None:
            return None
        self._used.add((layout, row.id))
        same = review.question == row.question
        self.counts[layout]["taken" if same else "changed"] += 1
        return review if same else None

    def finish(self) -> None:
        """Count the reviews of rows that never came."""
        for layout, _ in self.known.keys() - self._used:
            self.counts[layout]["no_such_row"] += 1


def _dropped(row: rows.NewsQuestion, reason: str) -> rows.Dropped:
    return rows.Dropped(STEP, reason, row.id, None, None, None, None, row.question)


def read_annotations(
    gold: Sequence[Path], counts: Mapping[str, Counter[str]]
) -> tuple[dict[str, WrittenQuestions], Reviews]:
    """What annotators wrote, by draw id, and their reviews; `counts` as in `Reviews`.

    `UserError`: the tables have no gold rows of these layouts.
    """
    reviews = Reviews(counts)
    written: dict[str, WrittenQuestions] = {}
    count = counts[WRITE]
    for row in read_gold(gold, *LAYOUTS):
        if row.layout != WRITE:
            reviews.add(row)
        elif row.decision != "accepted":
            count[row.decision] += 1
        elif (work := read_written_questions(row)) is None:
            count["not_understood"] += 1
        elif written.setdefault(row.row, work) != work:
            count["contradictory"] += 1
    return written, reviews
