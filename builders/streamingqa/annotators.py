"""The work of annotators on generated questions: questions of their own, judgments and answers.

They are gold rows of the layouts `write_questions`, `judge_question` and `answer_question`, after
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
UNJUDGED: Literal["unjudged"] = "unjudged"
"""The split of written questions for the evaluation that wait for their judges."""
_SHOWN = ("question_day", "article_day", "article")
_SHORT = 3
"""Letters of a word inside a name that is not capitalised, at most: of, the, and, bin."""
# a bare year as an answer: `1999`, not `the year 1999`
_YEAR = re.compile(whole_date_pattern("year"))

Kind = Literal["written", "generated"]


class AnnotatorSettings(Strict):
    """Settings for the use of annotators' work; they have no effect without gold rows.

    `dates`: settings of the release of question dates that annotators wrote for; by default those
    of the recipe. `skip`: filters of the recipe that written questions do not pass through.
    `judged`: kinds of questions that are released only if annotators judged them good; questions
    of other kinds are left out only if they were judged bad.
    """

    dates: DateSettings | None = None
    skip: tuple[str, ...] = ()
    judged: tuple[Kind, ...] = ()

    @field_validator("skip")
    @classmethod
    def _known(cls, filter_names: tuple[str, ...]) -> tuple[str, ...]:
        for filter_name in filter_names:
            if filter_name not in FILTER_POINT.names():
                near_name = did_you_mean(filter_name, FILTER_POINT.names())
                raise ValueError(
                    f"no filter {filter_name!r}"
                    + (f", did you mean {near_name}?" if near_name else "")
                )
        return filter_names


@dataclass(frozen=True, slots=True)
class WrittenQuestions:
    """The questions that annotators wrote for one draw, each with their answers to it.

    `shown_digest`: a digest of the days and the article that they saw.
    """

    draw: str
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    shown_digest: str


def read_written_questions(gold_row: rows.Gold) -> WrittenQuestions | None:
    """Return the questions of a gold row, each once, or None if the row does not fit the layout."""
    answers, row_shown = gold_answers(gold_row)
    answers_by_question: dict[str, dict[str, None]] = {}
    for entry in _entries(answers.get("questions")):
        entry_texts = [entry.get(name) for name in ("question", "answer")]
        entry_words = [" ".join(text.split()) for text in entry_texts if isinstance(text, str)]
        if len(entry_words) < 2 or not all(entry_words):
            return None
        answers_by_question.setdefault(entry_words[0], {})[entry_words[1]] = None
    shown_values = [row_shown.get(name) for name in _SHOWN]
    if not answers_by_question or not all(isinstance(text, str) for text in shown_values):
        return None
    questions = tuple(
        (question, tuple(question_answers))
        for question, question_answers in answers_by_question.items()
    )
    return WrittenQuestions(gold_row.row, questions, digest(shown_values))


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
    written_questions: Mapping[str, WrittenQuestions],
    finder: SpacyFinder,
    counts: Counter[str],
) -> Iterator[tuple[QuestionItem, tuple[str, ...]]]:
    """Yield each written question with its article, and all its answers.

    `draws` holds the draws by article id. `counts` takes a `taken` for each draw, or `changed`
    where annotators were shown another day or text than the draw has now.
    """
    for article in articles:
        candidates: list[rows.Candidate] | None = None
        for draw in draws[article.id]:
            draw_questions = written_questions[draw.id]
            shown_days = draw.question_day.isoformat(), draw.article_day.isoformat()
            if draw_questions.shown_digest != digest([*shown_days, article.text]):
                counts["changed"] += 1
                continue
            counts["taken"] += 1
            candidates = list(finder.find(article)) if candidates is None else candidates
            for question_text, answers in draw_questions.questions:
                question_id = row_id(draw.id, "written", question_text)
                answer = locate_answer(answers[0], article, candidates)
                yield (
                    QuestionItem(
                        rows.Question(question_id, draw, question_text, answer, ANNOTATORS), article
                    ),
                    answers,
                )


def locate_answer(
    answer: str, article: rows.Article, candidates: Iterable[rows.Candidate]
) -> rows.Candidate:
    """Find an annotator's answer in the article, and its type.

    Where the article does not have the answer, `start` and `end` are -1 and the text is as it was
    written; else it is spelled as in the article. The type is that of a candidate with the same
    words. Without one, a date is a `date`, capitalised words with short words between them are an
    `entity`, and everything else is a `phrase`.
    """
    answer_words = folded_tokens(answer)
    same_words = [
        candidate
        for candidate in candidates
        if answer_words and folded_tokens(candidate.text) == answer_words
    ]
    answer_start = _find(answer, article.text)
    if answer_start < 0 and same_words:
        return same_words[0]
    same_span = next(
        (candidate for candidate in same_words if candidate.start == answer_start),
        same_words[0] if same_words else None,
    )
    answer_end = answer_start + len(answer) if answer_start >= 0 else -1
    answer_text = article.text[answer_start:answer_end] if answer_start >= 0 else answer
    sentence_index = max(
        (
            index
            for index, line_start in enumerate(sentence_starts(article))
            if line_start <= answer_start
        ),
        default=0,
    )
    answer_type = same_span.type if same_span else _type(answer)
    return rows.Candidate(
        answer_start,
        answer_end,
        answer_text,
        answer_type,
        same_span.label if same_span else None,
        sentence_index,
    )


def _find(answer: str, article_text: str) -> int:
    """Return the place of an answer as whole words in an article, or -1."""
    whole_words = rf"(?<!\w){re.escape(answer)}(?!\w)"
    match = re.search(whole_words, article_text) or re.search(
        whole_words, article_text, re.IGNORECASE
    )
    return match.start() if match else -1


def _type(answer: str) -> rows.AnswerType:
    whole_date = any(start == 0 and end == len(answer) for start, end, _ in date_candidates(answer))
    if whole_date or _YEAR.fullmatch(answer):
        return "date"
    words = answer.split()
    capitalised = [any(letter.isupper() for letter in word) for word in words]
    short_between = all(
        has_capital or len(word) <= _SHORT
        for has_capital, word in zip(capitalised, words, strict=True)
    )
    return "entity" if capitalised[0] and capitalised[-1] and short_between else "phrase"


@dataclass(frozen=True, slots=True)
class QuestionReview:
    """The annotators' review of a question: a judgment, or their answers.

    A judgment is `good` where three of three say so. For answers, `asked_count` people looked for
    one in the article; the review is not `good` where most of them found none.
    """

    question: str
    good: bool
    answers: tuple[str, ...] = ()
    asked_count: int = 0


@dataclass
class Reviews:
    """Judgments and answers by layout and row; `counts` counts the outcomes of gold rows.

    The outcomes are `taken`, `open`, and for answers `disputed`; `not_understood`; `contradictory`
    (two rows that differ; neither is taken); in the end `changed` (annotators saw another question
    under this id) and `no_such_row`.
    """

    counts: Mapping[str, Counter[str]]
    known_reviews: dict[tuple[str, str], QuestionReview] = field(default_factory=dict)
    _contradictory: set[tuple[str, str]] = field(default_factory=set)
    _used: set[tuple[str, str]] = field(default_factory=set)

    def add(self, gold_row: rows.Gold) -> None:
        """Take a gold row of the layouts for judgments and answers."""
        gold_counts = self.counts[gold_row.layout]
        if gold_row.decision == "open" or (
            gold_row.decision == "disputed" and gold_row.layout == ANSWER
        ):
            gold_counts[gold_row.decision] += 1
            return
        answers, row_shown = gold_answers(gold_row)
        question = row_shown.get("question")
        if not isinstance(question, str):
            gold_counts["not_understood"] += 1
        elif gold_row.layout == JUDGE:
            self._keep(gold_row, QuestionReview(question, gold_row.decision == "accepted"))
        else:
            given_answer = answers.get("answer") if gold_row.decision == "accepted" else []
            # One text stands for all who agree on it, a list has the text of each.
            answer_texts = (
                [given_answer] * gold_row.agreeing
                if isinstance(given_answer, str)
                else given_answer
            )
            if (
                not isinstance(answer_texts, list)
                or not all(isinstance(text, str) and text.strip() for text in answer_texts)
                or bool(answer_texts) != (gold_row.decision == "accepted")
            ):
                gold_counts["not_understood"] += 1
            else:
                clean_texts = tuple(" ".join(text.split()) for text in answer_texts)
                asked_count = max(gold_row.judgments, len(clean_texts))
                self._keep(
                    gold_row, QuestionReview(question, bool(clean_texts), clean_texts, asked_count)
                )

    def _keep(self, gold_row: rows.Gold, review: QuestionReview) -> None:
        review_key = gold_row.layout, gold_row.row
        known_review = self.known_reviews.get(review_key, review)
        if review_key in self._contradictory or known_review != review:
            self._contradictory.add(review_key)
            # Two gold rows about one question disagree, and nothing says which is right: neither is
            # used, so the earlier one is taken back and counted as contradictory as well.
            removed = self.known_reviews.pop(review_key, None)
            self.counts[gold_row.layout]["contradictory"] += 1 + (removed is not None)
        else:
            self.known_reviews[review_key] = review

    def review(
        self, question_row: rows.NewsQuestion, required_kinds: Collection[Kind], seed: int
    ) -> tuple[rows.NewsQuestion | rows.Dropped, rows.HumanAnswer | None]:
        """Return a question after its reviews or its drop, and the human baseline for it.

        Drop reasons are `judged_bad`, `unanswerable`, and `not_judged` for the `required_kinds`. A
        hash of (seed, id) chooses one of those who answered as the baseline; the answers of the
        others become further references. A person who found no answer scores 0. A written question
        of the evaluation that nobody has judged yet goes into the split `unjudged`.
        """
        judgment, answer_review = self._of(JUDGE, question_row), self._of(ANSWER, question_row)
        if judgment is not None and not judgment.good:
            return _dropped(question_row, "judged_bad"), None
        if judgment is None and question_row.written_or_generated in required_kinds:
            return _dropped(question_row, "not_judged"), None
        if judgment is not None:
            question_row = replace(question_row, judged="yes")
        elif question_row.written_or_generated == "written" and question_row.split == "eval":
            question_row = replace(question_row, split=UNJUDGED)
        if answer_review is None:
            return question_row, None
        if not answer_review.good:
            return _dropped(question_row, "unanswerable"), None
        chosen_index = seeded_index(answer_review.asked_count, seed, "baseline", question_row.id)
        given_answers = answer_review.answers
        baseline_answer = given_answers[chosen_index] if chosen_index < len(given_answers) else None
        other_answers = tuple(
            text for index, text in enumerate(given_answers) if index != chosen_index
        )
        references = question_row.answers + question_row.answers_additional + other_answers
        human_answer = rows.HumanAnswer(
            question_row.id,
            baseline_answer,
            exact_match(baseline_answer, references),
            f1(baseline_answer, references),
        )
        further_answers = question_row.answers_additional + other_answers
        all_targets = merge_targets(question_row.answers, further_answers)
        return replace(
            question_row, targets=all_targets, answers_additional=further_answers
        ), human_answer

    def _of(self, layout: str, question_row: rows.NewsQuestion) -> QuestionReview | None:
        review = self.known_reviews.get((layout, question_row.id))
        if review is None:
            return None
        self._used.add((layout, question_row.id))
        same_question = review.question == question_row.question
        self.counts[layout]["taken" if same_question else "changed"] += 1
        return review if same_question else None

    def finish(self) -> None:
        """Count the reviews of rows that were not among the questions."""
        for layout, _ in self.known_reviews.keys() - self._used:
            self.counts[layout]["no_such_row"] += 1


def _dropped(question_row: rows.NewsQuestion, drop_reason: str) -> rows.Dropped:
    return rows.Dropped(
        STEP, drop_reason, question_row.id, None, None, None, None, question_row.question
    )


def read_annotations(
    gold_paths: Sequence[Path], counts: Mapping[str, Counter[str]]
) -> tuple[dict[str, WrittenQuestions], Reviews]:
    """Read the questions of annotators by draw id, and their reviews; `counts` as in `Reviews`.

    `UserError` where the tables have no gold rows of these layouts.
    """
    reviews = Reviews(counts)
    written_by_draw: dict[str, WrittenQuestions] = {}
    write_counts = counts[WRITE]
    for gold_row in read_gold(gold_paths, *LAYOUTS):
        if gold_row.layout != WRITE:
            reviews.add(gold_row)
        elif gold_row.decision != "accepted":
            write_counts[gold_row.decision] += 1
        elif (written_questions := read_written_questions(gold_row)) is None:
            write_counts["not_understood"] += 1
        elif written_by_draw.setdefault(gold_row.row, written_questions) != written_questions:
            write_counts["contradictory"] += 1
    return written_by_draw, reviews
