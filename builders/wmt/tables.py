"""Columns of numbers and texts for Arrow, and small tables of them as sorted Parquet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.schema import arrow_schema

ROW_GROUP = 65_536


def column(numbers: "np.ndarray[Any, Any]", kind: pa.DataType) -> pa.Array:
    """A column; `pa.array` of numpy's numbers would import pandas, which takes half a second."""
    whole = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(kind, len(whole), [None, pa.py_buffer(whole)])


def texts(characters: "np.ndarray[tuple[int, int], np.dtype[np.uint8]]") -> pa.Array:
    """A column of ASCII texts of one length, from their characters (texts, length)."""
    number, length = characters.shape
    ends = np.arange(0, (number + 1) * length, length, dtype=np.int32)
    data = pa.py_buffer(np.ascontiguousarray(characters))
    return pa.Array.from_buffers(pa.string(), number, [None, pa.py_buffer(ends), data])


def keys(
    days: "np.ndarray[tuple[int], np.dtype[np.int32]]",
    sha256: "np.ndarray[tuple[int, int], np.dtype[np.uint8]]",
) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    """The characters of articles' ids (see `lines.sorting_key`): days since 1970, sha256 in hex."""
    dates = days.astype("datetime64[D]").astype("S10").view(np.uint8).reshape(-1, 10)
    found = np.empty((len(days), 88), np.uint8)
    found[:, :8] = dates[:, [0, 1, 2, 3, 5, 6, 8, 9]]
    found[:, 8:20] = ord("0")
    found[:, 20:22] = found[:, 86:] = 0, 1
    found[:, 22:86] = sha256
    return found


def write_table(path: Path, row: Any, columns: Mapping[str, Any], by: str) -> None:
    """Write columns of a row type, sorted by one of them that holds ASCII text and no value twice.

    The bytes depend on the rows alone. Memory: the table is held whole.
    """
    schema = arrow_schema(row)
    arrays = []
    order = pa.array(np.argsort(np.array(columns[by], "S"), kind="stable"))
    for field in schema:
        column = columns[field.name]
        whole = column if isinstance(column, pa.Array) else pa.array(column, field.type)
        arrays.append(whole.cast(field.type).take(order))
    table = pa.Table.from_arrays(arrays, schema=schema)
    pq.write_table(table, path, row_group_size=ROW_GROUP, compression="zstd")
