"""The published list of articles to keep: 11.4 million ids, read in columns."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from builders.errors import UserError
from builders.wmt.archive import blocks

_SEPARATOR = rb"(?:\x00\x01|\\x00\\x01|\\u0000\\u0001|)"
_KEY = re.compile(rb"(\d{8})0{12}" + _SEPARATOR + rb"([0-9a-f]{64})")
_LINE = re.compile(rb"[\"']?" + _KEY.pattern + _SEPARATOR + rb"[\"',]*\s*")


def read_keys(path: Path) -> Iterator[pa.RecordBatch]:
    """The ids of a list, plain or compressed, one a line, as `day`, `d0`, `d1`.

    `day` is days since 1970-01-01; `d0` and `d1` are the first 16 bytes of the sha256, enough to
    tell any two articles of a day apart. Separators may be written as they are, as escapes, or
    left out. `UserError`: a line is no id.
    """
    known: dict[bytes, int] = {}
    before = 0
    for block in blocks(path):
        found = _KEY.findall(block.data)
        if len(found) != block.data.count(b"\n") - block.data.count(b"\n\n") + (
            block.data[-1:] != b"\n"
        ):
            _refuse(path, block.data, before)
        before += block.lines()
        if not found:
            continue
        for digits in {d for d, _ in found} - known.keys():
            known[digits] = _days(digits, path)
        digest = np.frombuffer(bytes.fromhex(b"".join([h for _, h in found]).decode()), ">u8")
        parts = digest.reshape(-1, 4).astype(np.uint64)
        yield pa.record_batch(
            {
                "day": pa.array(np.array([known[d] for d, _ in found], np.int32)),
                "d0": pa.array(np.ascontiguousarray(parts[:, 0])),
                "d1": pa.array(np.ascontiguousarray(parts[:, 1])),
            }
        )


def _days(digits: bytes, path: Path) -> int:
    text = digits.decode()
    try:
        return int(np.datetime64(f"{text[:4]}-{text[4:6]}-{text[6:]}", "D").astype(np.int64))
    except ValueError:
        raise UserError(f"{text} is not a day", where=path) from None


def _refuse(path: Path, data: bytes, before: int) -> None:
    """Raise at the first line that is no id; empty lines may be anywhere."""
    for number, line in enumerate(data.split(b"\n"), before + 1):
        if line.strip() and not _LINE.fullmatch(line):
            raise UserError(f"not an article's id: {line[:60]!r}", where=path, line=number)
