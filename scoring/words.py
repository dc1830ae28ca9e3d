"""SQuAD's normalisation and its F1 over whole columns of texts (`builders.text.squad`)."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from factdrift.builders.text.squad import normal

Ints = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]


_BLOCK = 1 << 12
"""Texts that are read at a time."""


@dataclass(frozen=True)
class Words:
    """Texts as lists of normalised words: `codes[starts[n]:starts[n + 1]]`, numbers in `words`."""

    words: pa.Array
    codes: Ints
    starts: Ints

    @classmethod
    def of(cls, texts: pa.Array) -> "Words":
        """The words of each text; a null has none."""
        parts, sizes = [pa.array([], pa.string())], [np.zeros(1, np.int64)]
        for at in range(0, len(texts), _BLOCK):
            lists = [normal(text or "").split() for text in texts[at : at + _BLOCK].to_pylist()]
            sizes.append(np.array([len(one) for one in lists], np.int64))
            parts.append(pa.array(chain.from_iterable(lists), pa.string()))
        words = pa.chunked_array(parts).combine_chunks().dictionary_encode()
        starts = np.concatenate(sizes).cumsum()
        return cls(words.dictionary, words.indices.to_numpy().astype(np.int64), starts)

    @cached_property
    def texts(self) -> pa.Array:
        """Each text normalised."""
        flat = self.words.take(pa.array(self.codes))
        lists = pa.LargeListArray.from_arrays(pa.array(self.starts), flat)
        return pc.binary_join(lists, " ")

    @property
    def lengths(self) -> Ints:
        """How many words each text has."""
        return np.diff(self.starts)

    def spread(self, chosen: Ints) -> tuple[Ints, Ints]:
        """The words of the chosen texts in a row, and for each its text's place in `chosen`."""
        sizes = self.lengths[chosen]
        owners = np.repeat(np.arange(len(chosen)), sizes)
        inside = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owners, self.codes[self.starts[chosen][owners] + inside]


def distinct(numbers: Ints) -> Ints:
    """The different numbers, sorted: by sorting, which for many numbers is quicker than hashing."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def found(values: pa.Array, among: pa.Array) -> Ints:
    """The place of each value in another array, or -1."""
    places = pc.fill_null(pc.index_in(values, among), -1)
    numbers: Ints = places.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def f1_of_pairs(left: Words, right: Words, lefts: Ints, rights: Ints) -> Floats:
    """F1 of the words of text `lefts[n]` of one list and `rights[n]` of another, for each n."""
    scores = np.zeros(len(lefts))
    mine, theirs = left.lengths[lefts], right.lengths[rights]
    common = _common(left, right, lefts, rights)
    np.divide(2.0 * common, mine + theirs, out=scores, where=(mine > 0) & (theirs > 0))
    scores[(mine == 0) & (theirs == 0)] = 1.0
    return scores


def _common(left: Words, right: Words, lefts: Ints, rights: Ints) -> Ints:
    """How many words the two texts of each pair share, each as often as both have it."""
    known = found(left.words, right.words)
    owners, words = left.spread(lefts)
    words = known[words]
    owners, words = owners[words >= 0], words[words >= 0]
    maybe = np.zeros(len(lefts), bool)
    maybe[owners] = True
    chosen = np.flatnonzero(maybe)
    others, their_words = right.spread(rights[chosen])
    width = max(len(right.words), 1)
    mine, my_counts = np.unique(owners * width + words, return_counts=True)
    theirs, their_counts = np.unique(chosen[others] * width + their_words, return_counts=True)
    both, at, there = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    shared = np.minimum(my_counts[at], their_counts[there])
    return np.bincount(both // width, weights=shared, minlength=len(lefts)).astype(np.int64)
