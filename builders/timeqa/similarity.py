"""Similarity of a text with a question or a name: the cosine of their TF-IDF vectors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, log, sqrt


class TfIdf:
    """The word counts of some texts (`words`), with the weight of each word.

    The weight of a word that d of the N texts contain is ln((1 + N) / (1 + d)) + 1, which
    scikit-learn calls smoothed IDF.
    """

    def __init__(self, texts: Sequence[Iterable[str]]) -> None:
        self.words = [Counter(text) for text in texts]
        texts_by_word: Counter[str] = Counter()
        for words in self.words:
            texts_by_word.update(words.keys())
        smoothed_count = 1 + len(texts)
        self._idf: dict[str, float] = {}
        for word, text_count in texts_by_word.items():
            self._idf[word] = log(smoothed_count / (1 + text_count)) + 1
        # A word that no text has: d is 0.
        self._unknown = log(smoothed_count) + 1

    def cosine(self, text_number: int, word_counts: Mapping[str, int]) -> float:
        """The similarity of the text with this number to the counts of some words, in [0, 1]."""
        text_counts = self.words[text_number]
        products = []
        for word, word_count in word_counts.items():
            products.append(self._weight(word) ** 2 * word_count * text_counts[word])
        lengths = self._length(word_counts) * self._length(text_counts)
        # Rounded, so that sums of another order of words give the same figure.
        return round(fsum(products) / (lengths or 1.0), 9)

    def _weight(self, word: str) -> float:
        return self._idf.get(word, self._unknown)

    def _length(self, word_counts: Mapping[str, int]) -> float:
        return sqrt(
            fsum((self._weight(word) * word_count) ** 2 for word, word_count in word_counts.items())
        )
