"""Split texts: whether they are UTF-8, and their sentences, one a line, none of white space.

Many texts are looked at as one, `joined`, which is what makes it fast.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

_WHITE = [c.encode() for c in map(chr, range(0x3001)) if c.isspace() and c != "\n"]
_BLANK = re.compile(b"(?:%b)*\n" % b"|".join(map(re.escape, _WHITE)))
_MAY_BE_BLANK = np.zeros(256, bool)
_MAY_BE_BLANK[[10, *(c[0] for c in _WHITE)]] = True
"""By a line's first byte, its end being one: most lines need no closer look."""


def joined(texts: Sequence[bytes]) -> bytes:
    """Texts one after the other, a line end behind each."""
    return b"\n".join([*texts, b""])


def not_utf8(texts: Sequence[bytes], whole: bytes) -> list[tuple[int, str]]:
    """The places of texts that are no UTF-8, last ones first, and what is wrong.

    They are gone through one by one only where the whole has something wrong.
    """
    offsets = np.array([0, len(whole)], np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(whole)]
    try:
        pa.Array.from_buffers(pa.string(), 1, buffers).validate(full=True)
    except pa.ArrowInvalid:
        return [*_decoded(texts)][::-1]
    return []


def _decoded(texts: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    for place, text in enumerate(texts):
        try:
            text.decode()
        except UnicodeDecodeError as error:
            yield place, f"byte {error.start} of the split text"


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text."""
    return tuple([s for s in map(str.strip, text.split("\n")) if s])


def count_sentences(
    texts: Sequence[bytes], whole: bytes
) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """How many sentences each text (UTF-8) has."""
    found = np.frombuffer(whole, np.uint8)
    ends = np.flatnonzero(found == 10)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    lasts = np.cumsum([len(t) + 1 for t in texts], dtype=np.int64) - 1
    counts = np.searchsorted(ends, lasts, "right")
    counts[1:] -= counts[:-1].copy()
    for start in starts[_MAY_BE_BLANK[found[starts]]].tolist():
        if _BLANK.match(whole, start):
            counts[np.searchsorted(lasts, start)] -= 1
    return counts.astype(np.int32)
