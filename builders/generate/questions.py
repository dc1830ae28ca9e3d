"""Questions for drawn articles: choose candidates, let a backend ask, keep the best few."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import row_id, seeded_index
from factdrift.builders.generate.backends import AnyBackend, AnyModel, Grounded, Parsed
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.prompts import PromptedModel
from factdrift.builders.generate.protocol import WAITING, Request, Result
from factdrift.builders.rows import AnswerType, Article, Candidate, Draw, Dropped, Question

STEP = "generate"
_TRIES = 3
"""Candidates of a draw that a language model is given at most, by default, for each one kept."""
_TRIES_AT_ONCE = 2
"""The same where they are all asked in one round."""
_AT_ONCE = 2048
"""Requests in memory."""
_SHARES: Mapping[AnswerType, int] = {"entity": 469, "phrase": 406, "date": 124}
"""Answer types of the paper's written questions, per mille (StreamingQA, appendix A.2)."""
_ON_ITS_DAY = "RELATIVE"
"""Dates that no question is asked for: `today` and `last week` mean nothing on another day."""
_PRONOUNS = frozenset(
    "he him his she her they them their it its we us our i me my you your".split()
)
_PHRASE = 4
"""Words of a phrase without a name or a number that says enough."""
_FAR = 3
"""Sentences between two candidates beyond which distance counts no more."""


class GenerateSettings(Strict):
    """How many questions are made, and by what."""

    backend: AnyBackend = Grounded()
    kept: int = Field(default=4, ge=1, description="questions of a draw that go on to the filters")

    @property
    def model(self) -> AnyModel | None:
        """The language model that writes questions; None where none does."""
        writer = self.backend.otherwise if isinstance(self.backend, Grounded) else self.backend
        return None if isinstance(writer, Parsed) else writer


Accept = Callable[[Question, Article], Dropped | None]
"""Why a question cannot pass the filters, as far as that shows without any cost."""


@dataclass
class _Work:
    """One draw: what is asked for it, in this order, and what came of it."""

    draw: Draw
    chosen: Sequence[Candidate]
    article: Article
    asked: int = 0
    kept: int = 0
    seen: set[str] = field(default_factory=set)
    found: list[Question | Dropped] = field(default_factory=list)


def generate_questions(
    articles: Iterable[Article],
    draws: Mapping[str, Sequence[Draw]],
    settings: GenerateSettings,
    seed: int,
    *,
    finder: SpacyFinder,
    backend: PromptedModel,
    accept: Accept = lambda question, article: None,
) -> Iterator[Question | Dropped]:
    """Questions of every draw, in the order of the articles and of each article's draws.

    `draws` holds the draws by article id. A language model is asked in rounds, for as many
    candidates as a draw still lacks; a question that is not accepted is dropped and does not
    count. Which candidates are tried, and which questions are kept, is
    decided by the article and by hashes of (seed, draw, span): by nothing around a draw.
    """
    waiting: list[_Work] = []
    size = 0
    for article in articles:
        mine = draws.get(article.id, ())
        if not mine:
            continue
        found = finder.find(article)
        for draw in mine:
            tries = _TRIES_AT_ONCE if backend.waits else _TRIES
            chosen = rank_candidates(found, article, draw, tries * settings.kept, seed)
            if not chosen:
                yield Dropped(STEP, "no_candidate", draw.id)
                continue
            waiting.append(_Work(draw, chosen, article))
            size += len(chosen)
        if size >= _AT_ONCE:
            yield from _ask(waiting, settings.kept, backend, accept)
            waiting, size = [], 0
    yield from _ask(waiting, settings.kept, backend, accept)


def rank_candidates(
    found: Sequence[Candidate], article: Article, draw: Draw, most: int, seed: int
) -> tuple[Candidate, ...]:
    """At most `most` candidates, the ones worth a call first, spread over the article.

    Each place is given to a type, drawn in the paper's shares, and within it to a candidate of a
    sentence that has had few, which stands in a sentence with other names and is named often or in
    the headline, far from those before it. No text is tried twice.
    """
    names = Counter(c.text.casefold() for c in found if c.type == "entity")
    in_sentence: dict[int, set[str]] = {}
    for c in found:
        if c.type == "entity":
            in_sentence.setdefault(c.sentence, set()).add(c.text.casefold())
    headline = article.sentences[0].casefold()

    def salience(c: Candidate) -> int:
        text = c.text.casefold()
        others = [name for name in in_sentence.get(c.sentence, ()) if name not in text]
        return 2 * min(len(others), 2) + min(names[text], 3) + (text in headline)

    asked = [c for c in reversed(found) if c.label != _ON_ITS_DAY and can_be_answer(c)]
    left = {(c.type, c.text.casefold(), c.sentence): (salience(c), c) for c in asked}
    order: list[Candidate] = []
    used: Counter[int] = Counter()
    while left and len(order) < most:
        kinds = sorted({key[0] for key in left})
        turn = seeded_index(sum(_SHARES[kind] for kind in kinds), seed, draw.id, "type", len(order))
        while turn >= _SHARES[kinds[0]]:
            turn -= _SHARES[kinds.pop(0)]

        def worth(pair: tuple[int, Candidate]) -> tuple[object, ...]:
            score, c = pair
            near = min((abs(c.sentence - o.sentence) for o in order), default=_FAR)
            spot = row_id(seed, draw.id, c.start, c.end, c.type)
            return used[c.sentence], -score, -min(near, _FAR), spot

        best = min((pair for key, pair in left.items() if key[0] == kinds[0]), key=worth)[1]
        order.append(best)
        used[best.sentence] += 1
        text = best.text.casefold()
        left = {key: pair for key, pair in left.items() if key[1] != text}
    return tuple(order)


def can_be_answer(candidate: Candidate) -> bool:
    """Whether a span can be an answer: no bare number, and no phrase that names nothing.

    `10`, `in the past` and `around his throat` are none; `10 percent` and `in Grant Park` are.
    """
    if candidate.type != "phrase":
        return True
    parts = candidate.text.split()
    if _PRONOUNS & {word.lower() for word in parts}:
        return False
    named = any(word[0].isupper() or word[0].isdigit() for word in parts)
    return len(parts) > 1 and (named or len(parts) >= _PHRASE)


def _ask(
    work: Sequence[_Work], kept: int, backend: PromptedModel, accept: Accept
) -> Iterator[Question | Dropped]:
    """What comes of each draw, after as many rounds as are needed."""
    going, waits = list(work), backend.waits
    while going:
        most = {id(w): None if waits else kept - w.kept for w in going}
        now = [(w, c) for w in going for c in w.chosen[w.asked :][: most[id(w)]]]
        results = backend.generate([Request(w.article, c, w.draw.question_day) for w, c in now])
        for (w, c), result in zip(now, results, strict=True):
            w.asked += 1
            _take(w, c, result, backend.name, accept)
        going = [w for w in going if w.kept < kept and w.asked < len(w.chosen)]
    for w in work:
        yield from w.found


def _take(w: _Work, c: Candidate, result: Result, generator: str, accept: Accept) -> None:
    """Put the result for one candidate to those of its draw."""
    name = row_id(w.draw.id, c.start, c.end, generator)
    if result.reason == WAITING:
        w.kept += 1  # as if it were good: what else is to be asked shows when the answer is there
    elif result.text is None:
        w.found.append(_dropped(name, result, c))
    elif result.text in w.seen:
        w.found.append(_dropped(name, Result(None, "same_question"), c))
    else:
        question = Question(name, w.draw, result.text, c, generator)
        w.seen.add(result.text)
        refused = accept(question, w.article)
        w.found.append(refused or question)
        w.kept += refused is None


def _dropped(item: str, result: Result, candidate: Candidate) -> Dropped:
    detail = result.detail or candidate.text[:80]
    return Dropped(STEP, result.reason or "none", item, detail=detail)
