"""Which questions are asked: one a line, spread over relations, pairs, years and first words."""

from collections import Counter
from collections.abc import Iterable, Sequence

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
    for one in found:
        lines.setdefault((one.draw.id, one.draw.article, one.answer.sentence), []).append(one)
    ordered = sorted(lines.values(), key=lambda line: _rank(line, seed))
    chosen: list[Question] = []
    dropped: list[Dropped] = []
    seen: set[tuple[object, ...]] = set()
    of_draw, words, relations = Counter[str](), Counter[str](), Counter[str | None]()
    kinds = {_relation(one) for line in ordered for one in line}
    cap = max(1, int(max(share, 1 / max(1, len(kinds))) * len(lines)))
    for line in ordered:
        draw = line[0].draw
        new = [one for one in line if _pair(one) not in seen]
        options = [one for one in new if _relation(one) is None or relations[_relation(one)] < cap]
        reason: str | None = None
        if _line(line[0]) in seen:
            reason = "same_sentence"
        elif not options:
            reason = "relation_share" if new else "same_pair"
        elif of_draw[draw.id] >= kept:
            reason = "enough_questions"
        if reason:
            dropped.append(_dropped(min(line, key=lambda one: one.id), reason))
            continue
        best = min(_importance(one) for one in options)
        options = [one for one in options if _importance(one) == best]
        one = min(options, key=lambda q: (words[_first(q)], seeded_hash(seed, draw.id, q.question)))
        words[_first(one)] += 1
        relations[_relation(one)] += 1
        of_draw[draw.id] += 1
        seen.update((_line(one), _pair(one)))
        chosen.append(one)
    return sorted(chosen, key=lambda one: one.id), dropped


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
