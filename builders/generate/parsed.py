"""The backend that needs no language model: questions and answers from a parse."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from factdrift.builders.core.config import Strict
from factdrift.builders.core.hashing import row_id
from factdrift.builders.generate.answers import answer
from factdrift.builders.generate.candidates import Finder, ParseFinder
from factdrift.builders.generate.judging import Asked
from factdrift.builders.generate.parses import IDENTITY
from factdrift.builders.generate.protocol import PATTERNS, Backend, Done, Query, Request, Result
from factdrift.builders.rows import Article, Candidate, Draw

_SAME_WORD, _SAME_SENTENCE = 3, 4
"""What a question loses for each one before it with the same first word, of the same sentence."""


class Parsed(Strict):
    """Questions by patterns over the dependency parse: fewer than a model's, and plain ones."""

    backend: Literal["parse"] = "parse"

    def open(self, seed: int, finder: Finder) -> Backend:
        """The backend; `finder` gives it the parses where it is one that has them."""
        return ParseBackend(seed, finder if isinstance(finder, ParseFinder) else ParseFinder())


class ParseBackend:
    """`generate` asks by patterns, `answer` compares words: neither looks at the other's work."""

    name = PATTERNS
    identity = f"{PATTERNS} of {IDENTITY}"

    def __init__(self, seed: int, finder: ParseFinder) -> None:
        self.seed = seed
        self.finder = finder

    def ranked(
        self, article: Article, found: Sequence[Candidate], draw: Draw
    ) -> tuple[Candidate, ...]:
        """The candidates that a question is known for, the best first, then the others.

        The best are spread over first words and sentences; where two are as good, a hash of seed
        and draw decides.
        """
        best = self._best(article)
        known = {(c.start, c.end): c for c in reversed(found) if (c.start, c.end) in best}
        ties = {span: row_id(self.seed, draw.id, *span) for span in known}
        order: list[Candidate] = []
        used: Counter[str | int] = Counter()
        while known:

            def worth(span: tuple[int, int]) -> tuple[int, str]:
                asked = best[span]
                word = asked.question.split()[0]
                lost = _SAME_WORD * used[word] + _SAME_SENTENCE * used[asked.span.sentence]
                return lost - asked.score, ties[span]

            span = min(known, key=worth)
            order.append(known.pop(span))
            used[best[span].question.split()[0]] += 1
            used[best[span].span.sentence] += 1
        return (*order, *(c for c in found if (c.start, c.end) not in best))

    def generate(self, requests: Sequence[Request], done: Done | None = None) -> list[Result]:
        """A question for each request whose candidate a pattern asks for."""
        out = []
        for n, request in enumerate(requests):
            span = request.candidate.start, request.candidate.end
            asked = self._best(request.article).get(span)
            result = Result(asked.question) if asked else Result(None, "no_pattern")
            out.append(result)
            if done:
                done(n, result)
        return out

    def answer(self, queries: Sequence[Query], done: Done | None = None) -> list[Result]:
        """An extractive answer for each query."""
        out = []
        for n, query in enumerate(queries):
            text = answer(query.question, self.finder.read(query.article).tree)
            result = Result(text) if text else Result(None, "no_answer")
            out.append(result)
            if done:
                done(n, result)
        return out

    def _best(self, article: Article) -> dict[tuple[int, int], Asked]:
        """The best question of each span."""
        found: dict[tuple[int, int], Asked] = {}
        for asked in self.finder.read(article).asked:
            found.setdefault((asked.span.start, asked.span.end), asked)
        return found
