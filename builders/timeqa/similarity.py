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
        texts_by_word = Counter(word for words in self.words for word in words)
        smoothed_count = 1 + len(texts)
        self._idf = {
            word: log(smoothed_count / (1 + text_count)) + 1
            for word, text_count in texts_by_word.items()
        }
        self._unknown = log(smoothed_count) + 1

    def cosine(self, text_number: int, word_counts: Mapping[str, int]) -> float:
        """The similarity of the `n`th text to the counts of some words, in [0, 1]."""
        text_counts = self.words[text_number]
        dot_product = fsum(
            self._weight(word) ** 2 * word_count * text_counts[word]
            for word, word_count in word_counts.items()
        )
        return round(
            dot_product / (self._length(word_counts) * self._length(text_counts) or 1.0), 9
        )

    def _weight(self, word: str) -> float:
        return self._idf.get(word, self._unknown)

    def _length(self, word_counts: Mapping[str, int]) -> float:
        return sqrt(
            fsum((self._weight(word) * word_count) ** 2 for word, word_count in word_counts.items())
        )
