"""Split texts: whether they are UTF-8, and their sentences, one a line, none of white space."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

_MAY_BE_BLANK = np.zeros(256, bool)
_MAY_BE_BLANK[list(b"\t\n\v\f\r\x1c\x1d\x1e\x1f \xc2\xe1\xe2\xe3")] = True
"""By a line's first byte, its end being one: those that white space begins with in UTF-8."""


def not_utf8(texts: Sequence[bytes]) -> list[tuple[int, str]]:
    """The places of texts that are no UTF-8, last ones first, and what is wrong.

    All are checked as one; they are gone through only where one is wrong.
    """
    whole = b"\n".join(texts)
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


def count_sentences(texts: Sequence[bytes]) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """How many sentences each text (UTF-8) has; many texts at once is what makes it fast."""
    whole = b"\n".join([b"", *texts, b""])
    found = np.frombuffer(whole, np.uint8)
    starts = np.flatnonzero(found[:-1] == 10) + 1
    ends = np.cumsum([len(t) + 1 for t in texts], dtype=np.int64)
    counts = np.diff(np.searchsorted(starts, ends, "right"), prepend=0)
    for start in starts[_MAY_BE_BLANK[found[starts]]].tolist():
        if not whole[start : whole.index(b"\n", start)].decode().strip():
            counts[np.searchsorted(ends, start)] -= 1
    return counts.astype(np.int32)
