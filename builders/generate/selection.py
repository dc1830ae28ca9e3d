"""Choose the questions to ask: one a line, spread over relations, pairs, years and first words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.rows import Dropped, Question

STEP = "choose"


def select_questions(
    questions: Iterable[Question], seed: int, draw_cap: int, share: float
) -> tuple[list[Question], list[Dropped]]:
    """Choose the questions that are asked, and give those in the order of their ids, and the drops.

    A hash of seed and draw decides which line comes first. At most one question is asked about a
    line of an article, one about a pair of items in a year of articles, and `draw_cap` for a draw.
    Of the questions about a line, the one is chosen whose first word is rarest so far. At most a
    `share` of all lines that could be asked about goes to one relation, so that lines dropped for
    other reasons do not shrink it in turn; where there are too few relations for that, each gets an
    equal part.
    """
    lines: dict[tuple[str, str, int], list[Question]] = {}
    for question in questions:
        sentence_key = question.draw.id, question.draw.article, question.answer.sentence
        lines.setdefault(sentence_key, []).append(question)
    relations = {_relation(question) for line in lines.values() for question in line}
    largest_share = max(share, 1 / max(1, len(relations)))
    selection = _Selection(seed, draw_cap, max(1, int(largest_share * len(lines))))
    for line in sorted(lines.values(), key=lambda line: _rank(line, seed)):
        selection.add(line)
    return sorted(selection.chosen, key=lambda question: question.id), selection.dropped


@dataclass
class _Selection:
    """The questions chosen so far, with counts; `relation_cap` is the most lines of a relation."""

    seed: int
    draw_cap: int
    relation_cap: int
    chosen: list[Question] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    by_draw: Counter[str] = field(default_factory=Counter)
    by_first_word: Counter[str] = field(default_factory=Counter)
    by_relation: Counter[str | None] = field(default_factory=Counter)

    def add(self, line: Sequence[Question]) -> None:
        """Choose one question of a line, or drop the line with a reason."""
        draw = line[0].draw
        new_questions = [question for question in line if _pair(question) not in self.seen]
        options = [question for question in new_questions if self._has_room(_relation(question))]
        drop_reason: str | None = None
        if _line(line[0]) in self.seen:
            drop_reason = "same_sentence"
        elif not options:
            drop_reason = "relation_share" if new_questions else "same_pair"
        elif self.by_draw[draw.id] >= self.draw_cap:
            drop_reason = "enough_questions"
        if drop_reason:
            self.dropped.append(_dropped(min(line, key=lambda question: question.id), drop_reason))
            return
        question = min(options, key=self._preference)
        self.by_first_word[_first(question)] += 1
        self.by_relation[_relation(question)] += 1
        self.by_draw[draw.id] += 1
        self.seen.update((_line(question), _pair(question)))
        self.chosen.append(question)

    def _has_room(self, relation: str | None) -> bool:
        return relation is None or self.by_relation[relation] < self.relation_cap

    def _preference(self, question: Question) -> tuple[int, int]:
        """The sort key of a question: how often its first word is used, a hash."""
        draw_hash = seeded_hash(self.seed, question.draw.id, question.question)
        return self.by_first_word[_first(question)], draw_hash


def _relation(question: Question) -> str | None:
    return question.grounding.relation if question.grounding is not None else None


def _rank(line: Sequence[Question], seed: int) -> int:
    first_question = line[0]
    return seeded_hash(seed, first_question.draw.id, "line", first_question.answer.sentence)


def _line(question: Question) -> tuple[object, ...]:
    return "line", question.draw.article, question.answer.sentence


def _pair(question: Question) -> tuple[object, ...]:
    """Return the key under which only one question a year is selected.

    Questions share a key if they ask about the same fact in the same year. A question that is
    grounded in no fact has a key of its own.
    """
    if question.grounding is None:
        return "question", question.draw.article, question.question
    grounding = question.grounding
    return (
        "pair",
        grounding.relation,
        grounding.subject,
        grounding.object,
        question.draw.article_day.year,
    )


def _first(question: Question) -> str:
    return question.question.split()[0]


def _dropped(question: Question, drop_reason: str) -> Dropped:
    return Dropped(
        STEP, drop_reason, question.id, relation=_relation(question), detail=question.question
    )
