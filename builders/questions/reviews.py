"""What people said of questions: good or bad, and their own answers.

From the gold rows of the layouts `judge_question` and `answer_question`; after: StreamingQA
(paper 000), section 2.5.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from builders import rows
from builders.gold import told
from builders.questions.squad import exact_match, f1
from builders.store import row_id

JUDGE, ANSWER = "judge_question", "answer_question"
STEP = "people"
Kind = Literal["written", "generated"]


@dataclass(frozen=True, slots=True)
class Judged:
    """The word of three people on a question: `good` where all of them say so."""

    question: str
    good: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """What people answered from the article; `asked` of them, some of whom found no answer.

    Without answers, most found none.
    """

    question: str
    answers: tuple[str, ...]
    asked: int


T = TypeVar("T", Judged, Answered)


@dataclass
class Reviews:
    """Reviews by row id; `counts` takes what becomes of the gold rows, by layout.

    Counted: `taken`, `open` and of answers `disputed`; `not_understood`; `contradictory` (two of
    a row that differ; neither is taken); in the end `changed` (people saw another question under
    this id) and `no_such_row`.
    """

    counts: Mapping[str, Counter[str]]
    judged: dict[str, Judged] = field(default_factory=dict)
    answered: dict[str, Answered] = field(default_factory=dict)
    _torn: set[tuple[str, str]] = field(default_factory=set)
    _met: set[tuple[str, str]] = field(default_factory=set)

    def add(self, gold: rows.Gold) -> None:
        """Take a gold row of either layout."""
        count = self.counts[gold.layout]
        if gold.decision == "open" or (gold.decision == "disputed" and gold.layout == ANSWER):
            count[gold.decision] += 1
            return
        answers, shown = told(gold) or ({}, {})
        question = shown.get("question")
        if not isinstance(question, str):
            count["not_understood"] += 1
        elif gold.layout == JUDGE:
            self._keep(self.judged, gold, Judged(question, gold.decision == "accepted"))
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
                self._keep(self.answered, gold, Answered(question, clean, asked))

    def _keep(self, into: dict[str, T], gold: rows.Gold, one: T) -> None:
        key = gold.layout, gold.row
        if key in self._torn or into.get(gold.row, one) != one:
            self._torn.add(key)
            self.counts[gold.layout]["contradictory"] += 1 + (into.pop(gold.row, None) is not None)
        else:
            into[gold.row] = one

    def review(
        self, row: rows.NewsQuestion, required: Collection[Kind], seed: int
    ) -> tuple[rows.NewsQuestion | rows.Dropped, rows.HumanAnswer | None]:
        """A question after its reviews, or why it is dropped; and the human baseline for it.

        Dropped: `judged_bad`, `unanswerable`, and `not_judged` for the kinds that are `required`
        to be judged. One of those who answered, found by a hash of (seed, id), is the baseline;
        the others' answers are further references. Who found no answer has none and scores 0.
        """
        judged = self._of(JUDGE, self.judged, row)
        answered = self._of(ANSWER, self.answered, row)
        if judged is not None and not judged.good:
            return _dropped(row, "judged_bad"), None
        if judged is None and row.written_or_generated in required:
            return _dropped(row, "not_judged"), None
        if answered is None:
            return row, None
        if not answered.answers:
            return _dropped(row, "unanswerable"), None
        chosen = int(row_id(seed, "baseline", row.id), 16) % answered.asked
        given = answered.answers
        answer = given[chosen] if chosen < len(given) else None
        others = tuple(text for n, text in enumerate(given) if n != chosen)
        known = row.answers + others
        scored = rows.HumanAnswer(row.id, answer, exact_match(answer, known), f1(answer, known))
        return replace(row, answers_additional=row.answers_additional + others), scored

    def _of(self, layout: str, known: Mapping[str, T], row: rows.NewsQuestion) -> T | None:
        one = known.get(row.id)
        if one is None:
            return None
        self._met.add((layout, row.id))
        same = one.question == row.question
        self.counts[layout]["taken" if same else "changed"] += 1
        return one if same else None

    def finish(self) -> None:
        """Count what was said of rows that never came."""
        for layout, known in {JUDGE: [*self.judged], ANSWER: [*self.answered]}.items():
            lost = sum((layout, row) not in self._met for row in known)
            self.counts[layout]["no_such_row"] += lost


def _dropped(row: rows.NewsQuestion, reason: str) -> rows.Dropped:
    return rows.Dropped(STEP, reason, row.id, None, None, None, None, row.question)
