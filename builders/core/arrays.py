"""Arrow arrays of the values of Python, without `pyarrow.array`.

That function imports pandas where it is installed, which takes a command 0.2 s and 46 MB.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# the offsets of an array of texts are signed numbers of 32 bits
_MOST_BYTES = (1 << 31) - 1


def text_array(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an array of strings; None is null."""
    present_texts = [text or "" for text in texts]
    joined_text = "".join(present_texts)
    text_bytes = joined_text.encode()
    text_lengths = map(len, present_texts)
    if len(text_bytes) != len(joined_text):
        text_lengths = map(len, map(str.encode, present_texts))
    ends = np.cumsum(np.fromiter(text_lengths, np.int64, len(texts)))
    if len(text_bytes) > _MOST_BYTES:
        raise OverflowError(f"{len(text_bytes):,} bytes of text in one array")
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    is_present = _bits([text is not None for text in texts]) if None in texts else None
    buffers = [is_present, pa.py_buffer(offsets), pa.py_buffer(text_bytes)]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def number_array(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers of NumPy as an array without nulls, of the type that they have."""
    arrow_type = pa.from_numpy_dtype(numbers.dtype)
    number_buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(arrow_type, len(numbers), [None, number_buffer])


def numbers_of(array: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return the numbers of an array without nulls; `Array.to_numpy` imports pandas, too."""
    parts = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    number_parts = [np.from_dlpack(part) for part in parts]
    return np.concatenate(number_parts) if number_parts else np.zeros(0, np.int64)


def flag_array(flags: Sequence[bool]) -> pa.Array:
    """Return truth values as an array without nulls."""
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, _bits(flags)])


def _bits(flags: Sequence[bool]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(flags, bool), bitorder="little"))


BLANK = text_array([""])[0]
"""A blank text, to be put in the place of nulls."""

NO_LENGTH = pa.Array.from_buffers(pa.int32(), 1, [None, pa.py_buffer(bytes(4))])[0]
"""The length of a list without items, to be put in the place of nulls."""
