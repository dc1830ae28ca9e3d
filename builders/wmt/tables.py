"""Columns of numbers and texts for Arrow, and tables of them as sorted Parquet."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from factdrift.builders.core.files import disk_errors
from factdrift.builders.core.schema import arrow_schema

ROW_GROUP = 65_536
Characters = np.ndarray[tuple[int, int], np.dtype[np.uint8]]


@contextmanager
def writing_tables(out: Path, names: Sequence[str]) -> Iterator[Path]:
    """A scratch folder in `out`; the named files of it move into `out` at the end, in this order.

    Nothing else stays. `UserError`: what the disk refuses.
    """
    scratch = out / ".making"
    with disk_errors(out):
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            scratch.mkdir(parents=True)
            yield scratch
            for name in names:
                (scratch / name).replace(out / name)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def column(numbers: np.ndarray[Any, Any], kind: pa.DataType) -> pa.Array:
    """A column; `pa.array` of numpy's numbers would import pandas, which takes half a second."""
    values = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def texts(characters: Characters) -> pa.Array:
    """A column of ASCII texts of one length, from their characters (texts, length)."""
    number, length = characters.shape
    ends = np.arange(0, (number + 1) * length, length, dtype=np.int32)
    data = pa.py_buffer(np.ascontiguousarray(characters))
    return pa.Array.from_buffers(pa.string(), number, [None, pa.py_buffer(ends), data])


def keys(
    days: np.ndarray[tuple[int], np.dtype[np.int32]],
    sha256: Characters,
) -> Characters:
    """The characters of articles' ids (see `lines.sorting_key`): days since 1970, sha256 in hex."""
    dates = days.astype("datetime64[D]").astype("S10").view(np.uint8).reshape(-1, 10)
    found = np.empty((len(days), 88), np.uint8)
    found[:, :8] = dates[:, [0, 1, 2, 3, 5, 6, 8, 9]]
    found[:, 8:20] = ord("0")
    found[:, 20:22] = found[:, 86:] = 0, 1
    found[:, 22:86] = sha256
    return found


def words(values: Sequence[str]) -> pa.Array:
    """A column of a few texts, made without pandas as `column` says."""
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    data = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), data)


def in_hex(numbers: np.ndarray[Any, Any]) -> Characters:
    """The hex digits of each row of 64-bit numbers, as characters."""
    digits = numbers.astype(">u8").tobytes().hex().encode()
    return np.frombuffer(digits, np.uint8).reshape(len(numbers), 16 * prod(numbers.shape[1:]))


def write_by_id(
    path: Path,
    row: Any,
    ids: np.ndarray[tuple[int], np.dtype[np.uint64]],
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
