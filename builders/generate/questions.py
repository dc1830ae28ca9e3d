"""Questions for drawn articles: rank the candidates, let a model ask, keep the first few."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import row_id, seeded_index
from factdrift.builders.generate.backends import AnyBackend, AnyModel, Grounded
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.prompts import PromptedModel
from factdrift.builders.generate.protocol import WAITING, Request, Result, Style
from factdrift.builders.rows import AnswerType, Article, Candidate, Draw, Dropped, Question

STEP = "generate"
_TRIES = 3
"""Candidates that a language model is given at most for each question that is kept. A guess: the
card counts the draws that ran out of candidates."""
_TRIES_IN_ONE_ROUND = 2
"""The same for a model that gets all candidates of a draw in one round: there each candidate is
paid for, needed or not."""
_REQUESTS_AT_ONCE = 2048
"""Requests that are held in memory with their articles: a few tens of megabytes."""
_SHARES: Mapping[AnswerType, int] = {"entity": 469, "phrase": 406, "date": 124}
"""Answer types of the paper's written questions, per mille (StreamingQA, appendix A.2)."""
_PRONOUNS = frozenset(
    "he him his she her they them their it its we us our i me my you your".split()
)
_LONG_PHRASE = 4
"""Words of a phrase without a name or a number that says enough: `for the first time` does."""
_FAR = 3
"""Sentences between two candidates beyond which distance counts no more: a guess."""
_SENTENCE_NAMES = 2
"""Other names of a sentence that count at most: with two, a question can say who and where."""
_NAMED_OFTEN = 3
"""Times that an article names a candidate beyond which more count no more: a guess."""


class GenerateSettings(Strict):
    """How many questions are written, in which style, and by which backend."""

    backend: AnyBackend = Grounded()
    style: Style = Field(
        default="article",
        description="article: one call for all questions about an article's news; candidates: a "
        "call for each span that may be an answer, as in the paper",
    )
    kept: int = Field(default=4, ge=1, description="questions of a draw that go on to the filters")

    @property
    def model(self) -> AnyModel | None:
        """The language model that writes questions, if there is one."""
        return self.backend.otherwise if isinstance(self.backend, Grounded) else self.backend


Accept = Callable[[Question, Article], Dropped | None]
"""Returns the drop of a question that cannot pass the filters, as far as cheap filters can tell."""
Expect = Callable[[Sequence[tuple[Question, Article]]], None]
"""Takes the questions that may have to be accepted soon, one after another, with their articles."""


@dataclass
class _DrawWork:
    """A draw, its candidates in the order in which they are tried, and the outcomes so far."""

    draw: Draw
    candidates: Sequence[Candidate]
    article: Article
    tried: int = 0
    accepted: int = 0
    texts: set[str] = field(default_factory=set)
    outcomes: list[Question | Dropped] = field(default_factory=list)


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
    """Yield the questions of every draw, in the order of the articles and of each article's draws.

    `draws` holds the draws by article id. A language model is asked in rounds, for as many
    candidates as a draw still lacks; a question that is not accepted is dropped and does not
    count. The article and hashes of (seed, draw, span) decide which candidates are tried and which
    questions are kept, so that one draw never depends on another.
    """
    tries_each = _TRIES_IN_ONE_ROUND if backend.waits else _TRIES
    pending_work: list[_DrawWork] = []
    request_count = 0
    for article in articles:
        article_draws = draws.get(article.id, ())
        if not article_draws:
            continue
        candidates = finder.find(article)
        for draw in article_draws:
            chosen = rank_candidates(candidates, article, draw, tries_each * settings.kept, seed)
            if not chosen:
                yield Dropped(STEP, "no_candidate", draw.id)
                continue
            pending_work.append(_DrawWork(draw, chosen, article))
            request_count += len(chosen)
        if request_count >= _REQUESTS_AT_ONCE:
            yield from _ask(pending_work, settings.kept, backend, accept)
            pending_work, request_count = [], 0
    yield from _ask(pending_work, settings.kept, backend, accept)


def rank_candidates(
    candidates: Sequence[Candidate], article: Article, draw: Draw, candidate_limit: int, seed: int
) -> tuple[Candidate, ...]:
    """Return at most `limit` candidates, the ones worth a call first, spread over the article.

    Each place is given to a type, drawn in the paper's shares, and within it to a candidate of a
    sentence that has had few, which stands in a sentence with other names and is named often or in
    the headline, far from those before it. No text is tried twice.
    """
    salience = _Salience(candidates, article)
    # of equal spans, the first one of the article stays
    remaining: dict[tuple[AnswerType, str, int], Candidate] = {}
    for candidate in reversed(candidates):
        if can_be_answer(candidate):
            candidate_key = candidate.type, candidate.text.casefold(), candidate.sentence
            remaining[candidate_key] = candidate
    ranked: list[Candidate] = []
    sentence_uses: Counter[int] = Counter()
    while remaining and len(ranked) < candidate_limit:
        types_left = {candidate_key[0] for candidate_key in remaining}
        answer_type = _draw_type(types_left, seed, draw.id, len(ranked))

        def cost(candidate: Candidate) -> tuple[object, ...]:
            sentence_distances = (abs(candidate.sentence - earlier.sentence) for earlier in ranked)
            distance = min(sentence_distances, default=_FAR)
            span_hash = row_id(seed, draw.id, candidate.start, candidate.end, candidate.type)
            use_count = sentence_uses[candidate.sentence]
            return use_count, -salience.score(candidate), -min(distance, _FAR), span_hash

        of_type = (
            candidate
            for candidate_key, candidate in remaining.items()
            if candidate_key[0] == answer_type
        )
        best_candidate = min(of_type, key=cost)
        ranked.append(best_candidate)
        sentence_uses[best_candidate.sentence] += 1
        best_text = best_candidate.text.casefold()
        for candidate_key in [
            candidate_key for candidate_key in remaining if candidate_key[1] == best_text
        ]:
            del remaining[candidate_key]
    return tuple(ranked)


class _Salience:
    """Scores how much a candidate matters in its article."""

    def __init__(self, candidates: Sequence[Candidate], article: Article) -> None:
        self._headline = article.sentences[0].casefold()
        self._name_counts: Counter[str] = Counter()
        self._sentence_names: dict[int, set[str]] = {}
        for candidate in candidates:
            if candidate.type == "entity":
                folded_name = candidate.text.casefold()
                self._name_counts[folded_name] += 1
                self._sentence_names.setdefault(candidate.sentence, set()).add(folded_name)

    def score(self, candidate: Candidate) -> int:
        """Higher for a candidate beside other names, named often, or named in the headline."""
        folded_text = candidate.text.casefold()
        sentence_names = self._sentence_names.get(candidate.sentence, ())
        neighbour_count = sum(name not in folded_text for name in sentence_names)
        name_count = min(self._name_counts[folded_text], _NAMED_OFTEN)
        return (
            2 * min(neighbour_count, _SENTENCE_NAMES) + name_count + (folded_text in self._headline)
        )


def _draw_type(
    types: Collection[AnswerType], seed: int, draw_id: str, place_index: int
) -> AnswerType:
    """Draw one of the types in the paper's shares, by a hash of the draw and the place."""
    ordered_types = sorted(types)
    share_total = sum(_SHARES[answer_type] for answer_type in ordered_types)
    share_left = seeded_index(share_total, seed, draw_id, "type", place_index)
    for answer_type in ordered_types:
        if share_left < _SHARES[answer_type]:
            return answer_type
        share_left -= _SHARES[answer_type]
    raise AssertionError("the index is below the total")


def can_be_answer(candidate: Candidate) -> bool:
    """Whether a span can be an answer: no bare number, and no phrase that names nothing.

    `10`, `in the past` and `around his throat` are none; `$3 million` and `in Grant Park` are.
    """
    if candidate.type != "phrase":
        return True
    words = candidate.text.split()
    if _PRONOUNS & {word.lower() for word in words}:
        return False
    has_name = any(word[0].isupper() or any(map(str.isdigit, word)) for word in words)
    return len(words) > 1 and (has_name or len(words) >= _LONG_PHRASE)


def _ask(
    all_work: Sequence[_DrawWork], wanted_count: int, backend: PromptedModel, accept: Accept
) -> Iterator[Question | Dropped]:
    """Yield the outcomes of each draw after all rounds that it needs."""
    unfinished = list(all_work)
    while unfinished:
        round_candidates: list[tuple[_DrawWork, Candidate]] = []
        for draw_work in unfinished:
            # a model whose answers come with a later run gets all candidates in one round
            round_limit = None if backend.waits else wanted_count - draw_work.accepted
            for candidate in draw_work.candidates[draw_work.tried :][:round_limit]:
                round_candidates.append((draw_work, candidate))
        requests = []
        for draw_work, candidate in round_candidates:
            requests.append(Request(draw_work.article, candidate, draw_work.draw.question_day))
        results = backend.generate(requests)
        for (draw_work, candidate), result in zip(round_candidates, results, strict=True):
            draw_work.tried += 1
            _add_result(draw_work, candidate, result, backend.name, accept)
        still_unfinished = []
        for draw_work in unfinished:
            has_enough = draw_work.accepted >= wanted_count
            if not has_enough and draw_work.tried < len(draw_work.candidates):
                still_unfinished.append(draw_work)
        unfinished = still_unfinished
    for draw_work in all_work:
        yield from draw_work.outcomes


def _add_result(
    draw_work: _DrawWork, candidate: Candidate, result: Result, generator: str, accept: Accept
) -> None:
    """Add the outcome of one candidate to those of its draw."""
    question_id = row_id(draw_work.draw.id, candidate.start, candidate.end, generator)
    if result.reason == WAITING:
        # counts as good: the run with the answers shows whether further candidates are needed
        draw_work.accepted += 1
    elif result.text is None:
        draw_work.outcomes.append(_dropped(question_id, result, candidate))
    elif result.text in draw_work.texts:
        draw_work.outcomes.append(_dropped(question_id, Result(None, "same_question"), candidate))
    else:
        question = Question(question_id, draw_work.draw, result.text, candidate, generator)
        draw_work.texts.add(result.text)
        refused = accept(question, draw_work.article)
        draw_work.outcomes.append(refused or question)
        draw_work.accepted += refused is None


def _dropped(question_id: str, result: Result, candidate: Candidate) -> Dropped:
    detail = result.detail or candidate.text[:80]  # enough of a phrase to find it again
    return Dropped(STEP, result.reason or "none", question_id, detail=detail)
