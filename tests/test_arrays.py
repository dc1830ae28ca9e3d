"""Arrow arrays of Python's values are those that `pyarrow.array` makes, and need no pandas."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from factdrift.builders.core.arrays import flag_array, number_array, numbers_of, text_array

TEXTS: dict[str, Sequence[str | None]] = {
    "none": [],
    "blank": [""],
    "null": [None],
    "ascii": ["ab", "", "c"],
    "wide": ["é", "ab", "漢字", "😀", "", "\0"],
    "nulls": [None, "é", None, "", *["x"] * 9, None],
}


@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS)
def test_texts(texts: Sequence[str | None]) -> None:
    array = text_array(texts)
    array.validate(full=True)
    assert array.equals(pa.array(texts, pa.string()))
    assert array.null_count == texts.count(None)


def test_numbers_and_flags() -> None:
    for numbers in (np.arange(5, dtype=np.int32)[::2], np.array([0.5, -1]), np.zeros(0, np.int64)):
        array = number_array(numbers)
        array.validate(full=True)
        assert array.equals(pa.array(numbers))
        assert numbers_of(array).tolist() == numbers.tolist()
        assert numbers_of(pa.chunked_array([array, array])).tolist() == [*numbers, *numbers]
    assert numbers_of(pa.chunked_array([], pa.int64())).tolist() == []
    flags = [True, False, True] * 5
    assert flag_array(flags).equals(pa.array(flags))


def test_a_text_without_bytes_in_utf8_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        text_array(["\ud800"])


@pytest.mark.slow
def test_pandas_is_not_imported() -> None:
    script = """
import sys, numpy, pyarrow
from factdrift.builders.core import arrays
arrays.text_array(["a", None])
arrays.numbers_of(arrays.number_array(numpy.arange(3)))
print("pandas" in sys.modules)
pyarrow.array([1])
print("pandas" in sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.stdout.split() == ["False", "True"], told.stderr
