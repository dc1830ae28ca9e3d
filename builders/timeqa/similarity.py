"""Cosine of TF-IDF vectors: how alike a text and a question or a name are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, log, sqrt


class TfIdf:
    """Some texts as the counts of their words (`words`), with what each word weighs.

    IDF over the N texts, of which d hold the word: ln((1 + N) / (1 + d)) + 1, which scikit-learn
    calls smoothed IDF.
    """

    def __init__(self, texts: Sequence[Iterable[str]]) -> None:
        self.words = [Counter(text) for text in texts]
        holding = Counter(word for words in self.words for word in words)
        count = 1 + len(texts)
        self._idf = {word: log(count / (1 + n)) + 1 for word, n in holding.items()}
        self._unknown = log(count) + 1

    def cosine(self, n: int, wanted: Mapping[str, int]) -> float:
        """The similarity of the `n`th text to the counts of some words, in [0, 1]."""
        own = self.words[n]
        dot = fsum(self._weight(w) ** 2 * c * own[w] for w, c in wanted.items())
        return round(dot / (self._length(wanted) * self._length(own) or 1.0), 9)

    def _weight(self, word: str) -> float:
        return self._idf.get(word, self._unknown)

    def _length(self, counts: Mapping[str, int]) -> float:
        return sqrt(fsum((self._weight(w) * c) ** 2 for w, c in counts.items()))
