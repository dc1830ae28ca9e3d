"""Columns of numbers and texts for Arrow, and tables of them as sorted Parquet."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
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


def words(some: Sequence[str]) -> pa.Array:
    """A column of texts; for few, as `column` says."""
    parts = [word.encode() for word in some]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    data = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    return pa.Array.from_buffers(pa.string(), len(parts), data)


def in_hex(numbers: "np.ndarray[Any, Any]") -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    """The hex digits of each row of 64-bit numbers, as characters."""
    digits = numbers.astype(">u8").tobytes().hex().encode()
    return np.frombuffer(digits, np.uint8).reshape(len(numbers), 16 * prod(numbers.shape[1:]))


def write_by_id(
    path: Path,
    row: Any,
    ids: "np.ndarray[tuple[int], np.dtype[np.uint64]]",
    columns: Callable[[Any], Mapping[str, pa.Array]],
) -> None:
    """Write rows of a type as Parquet, sorted by id (16 hex digits as a number), in pieces.

    `columns`: those of the rows at some places; a column that it does not give is null.
    """
    schema = arrow_schema(row)
    order = np.argsort(ids, kind="stable")
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for at in range(0, max(len(order), 1), ROW_GROUP):
            places = order[at : at + ROW_GROUP]
            found = columns(places)
            arrays = [
                found[f.name] if f.name in found else pa.nulls(len(places), f.type) for f in schema
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
