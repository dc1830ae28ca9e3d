"""SQuAD's normalisation and its F1 over whole columns of texts.

The results are those of `builders.text.squad`, which says what is meant, a text at a time. Here
NumPy does it byte by byte for ASCII, letter by letter for texts of other letters and digits, and
that module for the texts that have further characters.
"""

import string
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from factdrift.builders.text.squad import normal

Ints = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]
_Bytes = NDArray[np.uint8]

_BLANK = ord(" ")
_BLOCK = 1 << 14
"""Texts that are read at a time: few enough for the processor's cache."""
_ARTICLES = pa.array(["a", "an", "the"])


def _small(letter: str) -> int:
    """What becomes of a letter: itself, small; blanks a blank, marks 0 (gone); or `_NOT_OURS`.

    Not ours is what is no part of a word and no ASCII blank or mark: an article beside it is an
    article, without a blank. Nor is what becomes several letters or depends on its neighbours.
    """
    if letter in string.punctuation:
        return 0
    if letter.isascii() and letter.isspace():
        return _BLANK
    small = letter.lower()
    ours = len(small) == 1 and letter.isalnum() and small.isalnum() and letter != _SIGMA
    return ord(small) if ours else _NOT_OURS


_SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"
_NOT_OURS, _OTHER = 0xFFFF, 255
_LETTERS = 0x10000
"""Letters that have a place in the table; all further ones share the last place, not ours."""
_BECOMES = np.array(
    [_OTHER if _small(chr(n)) == _NOT_OURS else _small(chr(n)) for n in range(128)]
    + [_OTHER] * 128,
    np.uint8,
)


@cache
def _letters() -> NDArray[np.uint16]:
    table = [_small(chr(n)) for n in range(_LETTERS)]
    return np.array([*table, _NOT_OURS], np.uint16)


@dataclass(frozen=True)
class Words:
    """Texts as lists of normalised words: `codes[starts[n]:starts[n + 1]]`, numbers in `words`."""

    words: pa.Array
    codes: Ints
    starts: Ints

    @classmethod
    def of(cls, texts: pa.Array) -> "Words":
        """The words of each text; a null has none."""
        texts = texts.cast(pa.string()).fill_null("")
        lists = [_word_lists(texts[at : at + _BLOCK]) for at in range(0, len(texts), _BLOCK)]
        flat = pa.chunked_array([one.flatten() for one in lists], pa.string())
        words = flat.combine_chunks().dictionary_encode()
        sizes = [one.value_lengths().to_numpy() for one in lists]
        starts = np.concatenate(([0], *sizes)).cumsum()
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


def _word_lists(texts: pa.Array) -> pa.Array:
    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[ends[0] : ends[-1]]
    starts = ends.astype(np.int64) - ends[0]
    became = _BECOMES[data]
    if not (became == _OTHER).any():
        return _split(became, starts)
    letters = np.frombuffer(data.tobytes().decode().encode("utf-32-le"), np.uint32)
    # where each text begins, in letters: all bytes but the further ones of a letter are counted
    starts -= _before((data & 0xC0) == 0x80, starts)
    small = _letters()[np.minimum(letters, _LETTERS)]
    hard = np.diff(_before(small == _NOT_OURS, starts)) > 0
    others = [normal(text).split() for text in texts.filter(pa.array(hard)).to_pylist()]
    sizes = np.diff(starts)
    mine = small[np.repeat(~hard, sizes)]
    begins = np.concatenate(([0], np.cumsum(sizes[~hard])))
    widths = 1 + (mine >= 0x80).astype(np.int64) + (mine >= 0x800)
    at = np.concatenate(([0], np.cumsum(widths)))[begins]
    packed = mine.astype(np.uint32).tobytes().decode("utf-32-le").encode()
    plain = _split(np.frombuffer(packed, np.uint8), at)
    if not others:
        return plain
    both = pa.concat_arrays([plain, pa.array(others, plain.type)])
    place = np.empty(len(hard), np.int64)
    place[~hard] = np.arange(len(hard) - len(others))
    place[hard] = np.arange(len(hard) - len(others), len(hard))
    return both.take(pa.array(place))


def _before(marked: NDArray[np.bool_], places: Ints) -> Ints:
    """How many bytes before each place are marked."""
    return np.searchsorted(np.flatnonzero(marked), places)


def _split(data: _Bytes, starts: Ints) -> pa.Array:
    """Lists of the words between blanks, articles left out; `data` as `_BECOMES` gives it."""
    gone = data == 0
    starts = starts - _before(gone, starts)
    data = data[~gone]
    solid = data != _BLANK
    begins = solid.copy()
    begins[1:] &= ~solid[:-1]
    inner = starts[starts < len(data)]
    begins[inner] = solid[inner]
    at = np.flatnonzero(begins)
    offsets = np.append(at, len(data))
    offsets -= _before(~solid, offsets)
    size = len(at)
    buffers = (pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data[solid]))
    words = pa.StringArray.from_buffers(size, *buffers)
    ends = np.searchsorted(at, starts)
    article = np.flatnonzero(pc.is_in(words, _ARTICLES).to_numpy(zero_copy_only=False))
    if len(article):
        kept = np.ones(size, bool)
        kept[article] = False
        words = words.filter(pa.array(kept))
        ends -= np.searchsorted(article, ends)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), words)


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
