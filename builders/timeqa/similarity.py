"""Rule (c): TF-IDF similarity of a name and a passage.

A passage is a sentence of a paragraph, or a list item or row. Its terms are its words, folded
(`spelling.fold`), function words too: their IDF is low. IDF over the N passages of the page, of
which d hold the term: ln((1 + N) / (1 + d)) + 1. Term counts times IDF, scaled to length 1; the
similarity is the cosine, in [0, 1]. This is what scikit-learn calls smoothed IDF.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from math import fsum, log, sqrt
from typing import NamedTuple

from builders.timeqa.mentions import PageText
from builders.timeqa.spelling import words

_FUNCTION = frozenset("a an and at by de di for from in la le of on s the to with".split())
_WORD = re.compile(r"[^\W_]+")


class Similar(NamedTuple):
    """The passage nearest to a name: `paragraphs[paragraph].text[start:end]` is its window."""

    paragraph: int
    start: int
    end: int
    score: float


def _head(name: Sequence[str]) -> str | None:
    """The noun that a name with "of" is about: the word before it."""
    before = name[: name.index("of")] if "of" in name else []
    return next((word for word in reversed(before) if word not in _FUNCTION), None)


class Passages:
    """The passages of a page, with their weights."""

    def __init__(self, page: PageText) -> None:
        self._page = page
        self._spans: list[tuple[int, int, int]] = []
        self._words: list[list[str]] = []
        for n in range(len(page.texts)):
            offset, length = page.starts[n], page.starts[n + 1] - 1 - page.starts[n]
            starts = [s for s in page.sentences(n) if s < length] or [0]
            for start, end in zip(starts, [*starts[1:], length], strict=True):
                self._spans.append((n, start, end))
                self._words.append(_WORD.findall(page.folded, offset + start, offset + end))
        self._sets = [frozenset(w) for w in self._words]
        self._holding = Counter(chain.from_iterable(self._sets))
        self._lengths: dict[int, float] = {}

    def nearest(
        self,
        name: str,
        least: float,
        but: Collection[int] = (),
        refused: Callable[[Similar], bool] = lambda _: False,
    ) -> Similar | None:
        """The passage most like the name, if it is more like it than `least`; else None.

        Its window is the shortest stretch with the most weight of the name's words. Of equally
        good passages the first. A passage that shares one word with the name (a first name, a
        `United`), or at most half of its words ("of the United Kingdom", of a member of its
        Parliament), is not like it; function words do not count. Nor is one that lacks what the
        name is about ("the Bank of England", of its Governor). `but`: paragraphs to leave out;
        `refused`: whether a window names something else, and the next best passage is wanted.
        """
        wanted = Counter(words(name))
        length = self._length(wanted)
        content = frozenset(wanted) - _FUNCTION
        head = _head(words(name))
        like: list[tuple[float, int]] = []
        for n, held in enumerate(self._sets):
            shared = len(content & held)
            if shared < 2 or 2 * shared <= len(content) or self._spans[n][0] in but:
                continue
            if head and head not in held:
                continue
            counts = Counter(self._words[n])
            if n not in self._lengths:
                self._lengths[n] = self._length(counts)
            dot = fsum(self._idf(w) ** 2 * c * counts[w] for w, c in wanted.items())
            score = dot / (length * self._lengths[n])
            if score > least:
                like.append((-round(score, 9), n))
        found = (
            Similar(*self._window(n, wanted), min(1.0, round(-less, 6))) for less, n in sorted(like)
        )
        return next((one for one in found if not refused(one)), None)

    def _idf(self, word: str) -> float:
        return log((1 + len(self._spans)) / (1 + self._holding[word])) + 1

    def _length(self, counts: Counter[str]) -> float:
        return sqrt(fsum((self._idf(w) * c) ** 2 for w, c in counts.items()))

    def _window(self, passage: int, wanted: Counter[str]) -> tuple[int, int, int]:
        n, start, end = self._spans[passage]
        offset = self._page.starts[n]
        found = [
            (m[0], *self._page.span(n, m.start(), m.end()))
            for m in _WORD.finditer(self._page.folded, offset + start, offset + end)
            if m[0] in wanted
        ]
        best: tuple[float, int, int, int] | None = None
        for i, (_, left, _) in enumerate(found):
            seen: set[str] = set()
            weight = 0.0
            for word, _, right in found[i:]:
                if word not in seen:
                    seen.add(word)
                    weight += self._idf(word)
                    key = (-round(weight, 9), right - left, left, right)
                    best = key if best is None or key < best else best
        assert best is not None  # noqa: S101 - a passage with a score has one of the words
        return n, best[2], best[3]
