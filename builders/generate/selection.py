"""Which questions are asked: one a line, spread over relations, pairs, years and first words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.rows import Dropped, Question

STEP = "choose"


def select_questions(
    found: Iterable[Question], seed: int, kept: int, share: float
) -> tuple[list[Question], list[Dropped]]:
    """The questions that are asked of all that could be, in the order of their ids, and the others.

    Facts come before clauses, events before states, recent ones before others; where as much
    speaks for two, a hash of seed and draw decides. A line of an article is asked about once, a
    pair of items once in a year of articles, a draw for at most `kept` questions; of the ways to
    ask, the one whose first word is rarest so far. A relation is asked about in at most a `share`
    of all lines that could be asked about, so that what is left out for other reasons does not
    shrink it in turn; or in an equal part, where fewer relations are there than that allows for.
    """
    lines: dict[tuple[str, str, int], list[Question]] = {}
    for question in found:
        place = question.draw.id, question.draw.article, question.answer.sentence
        lines.setdefault(place, []).append(question)
    relations = {_relation(question) for line in lines.values() for question in line}
    largest_share = max(share, 1 / max(1, len(relations)))
    selection = _Selection(seed, kept, max(1, int(largest_share * len(lines))))
    for line in sorted(lines.values(), key=lambda line: _rank(line, seed)):
        selection.add(line)
    return sorted(selection.chosen, key=lambda question: question.id), selection.dropped


@dataclass
class _Selection:
    """What is chosen so far, and how often; `relation_cap` is the most lines of a relation."""

    seed: int
    kept: int
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
        new = [question for question in line if _pair(question) not in self.seen]
        options = [question for question in new if self._has_room(_relation(question))]
        reason: str | None = None
        if _line(line[0]) in self.seen:
            reason = "same_sentence"
        elif not options:
            reason = "relation_share" if new else "same_pair"
        elif self.by_draw[draw.id] >= self.kept:
            reason = "enough_questions"
        if reason:
            self.dropped.append(_dropped(min(line, key=lambda question: question.id), reason))
            return
        question = min(options, key=self._preference)
        self.by_first_word[_first(question)] += 1
        self.by_relation[_relation(question)] += 1
        self.by_draw[draw.id] += 1
        self.seen.update((_line(question), _pair(question)))
        self.chosen.append(question)

    def _has_room(self, relation: str | None) -> bool:
        return relation is None or self.by_relation[relation] < self.relation_cap

    def _preference(self, question: Question) -> tuple[int, int, int]:
        """Smaller is better: what matters most, then the rarest first word, then a hash."""
        draw_hash = seeded_hash(self.seed, question.draw.id, question.question)
        return _importance(question), self.by_first_word[_first(question)], draw_hash


def _relation(one: Question) -> str | None:
    return one.grounding.relation if one.grounding is not None else None


def _importance(one: Question) -> int:
    """0 for events, 1 for recent states, 2 for others, 3 for what no fact says."""
    if one.grounding is None:
        return 3
    if one.grounding.about == "event":
        return 0
    return 1 if one.recent else 2


def _rank(line: Sequence[Question], seed: int) -> tuple[int, int]:
    one = line[0]
    return min(map(_importance, line)), seeded_hash(seed, one.draw.id, "line", one.answer.sentence)


def _line(one: Question) -> tuple[object, ...]:
    return "line", one.draw.article, one.answer.sentence


def _pair(one: Question) -> tuple[object, ...]:
    """What is asked once a year; a question without facts has no pair."""
    if one.grounding is None:
        return "question", one.draw.article, one.question
    of = one.grounding
    return "pair", of.relation, of.subject, of.object, one.draw.article_day.year


def _first(one: Question) -> str:
    return one.question.split()[0]


def _dropped(one: Question, reason: str) -> Dropped:
    return Dropped(STEP, reason, one.id, relation=_relation(one), detail=one.question)
