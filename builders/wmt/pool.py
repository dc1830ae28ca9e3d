"""Articles by day, and random numbers that are hashes: what question dates are drawn from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from builders.errors import UserError
from builders.rows import Part
from builders.schema import reading
from builders.wmt.near import mix

_U = np.uint64
Numbers = Any
"""A numpy array of whole numbers."""
_EPOCH = date(1970, 1, 1).toordinal()
_GOLDEN = 0x9E3779B97F4A7C15


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - _EPOCH


def stream(*names: object) -> np.uint64:
    """Where the random numbers of one purpose begin: a hash of the seed and of names."""
    text = "\t".join(map(str, names))
    return _U(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def hashed(start: np.uint64, numbers: Numbers) -> Numbers:
    """64 random bits for each number (SplitMix64 at that place of the stream)."""
    return mix(start + (numbers.astype(_U) + _U(1)) * _U(_GOLDEN))


def below(bits: Numbers, limits: Numbers) -> Numbers:
    """Uniform whole numbers from 0 to `limits` - 1, from random bits.

    The odds of two numbers differ by less than one in 2^32 / limit.
    """
    return (((bits >> _U(32)) * np.asarray(limits).astype(_U)) >> _U(32)).astype(np.int64)


@dataclass(frozen=True)
class Pool:
    """The articles that one part may draw, by day.

    `days`: those that have articles, ascending, since 1970; the articles of `days[i]` are
    `rows[starts[i]:starts[i + 1]]`, rows of the table of articles.
    """

    days: Numbers
    starts: Numbers
    rows: Numbers

    def window(self, first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
        """The places in `days` of the windows from `first` to `last`: from, and up to."""
        return np.searchsorted(self.days, first), np.searchsorted(self.days, last, "right")


def load_pools(
    articles: Path, shares: Mapping[Part, float], eval_only_after: date, seed: int
) -> dict[Part, Pool]:
    """The articles of an `articles.parquet`, each in the pool of one part.

    The part depends on seed, sha256 and day of the article alone. The table is read in pieces;
    12 bytes an article are kept. `UserError`: no such table.
    """
    if not articles.is_file():
        raise UserError("no such file", where=articles)
    names = list(shares)
    edges = np.cumsum([shares[n] for n in names])
    edges = (edges / edges[-1] * 2.0**32).astype(np.int64)
    start = stream(seed, "part of an article")
    days, parts = [], []
    try:
        with reading(articles) as file:
            for batch in file.iter_batches(65_536, columns=["day", "sha256"]):
                day = np.from_dlpack(batch.column("day").cast(pa.int32()))
                bits = hashed(start, _digests(batch.column("sha256"))[:, 0]) >> _U(32)
                part = np.searchsorted(edges, bits.astype(np.int64), "right").astype(np.int8)
                part[day > day_number(eval_only_after)] = names.index("eval")
                days.append(day)
                parts.append(part)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise UserError(f"not a table of articles ({error})", where=articles) from error
    day = np.concatenate([*days, np.empty(0, np.int32)])
    part = np.concatenate([*parts, np.empty(0, np.int8)])
    return {name: _pool(day, np.flatnonzero(part == n)) for n, name in enumerate(names)}


def _digests(sha256: pa.Array) -> Numbers:
    """Checksums in hex as rows of four 64-bit numbers."""
    digits = bytes.fromhex("".join(sha256.to_pylist()))
    return np.frombuffer(digits, ">u8").reshape(-1, 4).astype(_U)


def _pool(day: Numbers, rows: Numbers) -> Pool:
    rows = rows[np.argsort(day[rows], kind="stable")]
    days, starts = np.unique(day[rows], return_index=True)
    return Pool(days.astype(np.int64), np.append(starts, len(rows)), rows.astype(np.int32))


def take_digests(articles: Path, rows: Numbers) -> Numbers:
    """The sha256 of some rows of the table of articles, as `(rows, 4)` 64-bit numbers.

    The table is read in pieces; 32 bytes a row are kept.
    """
    order = np.argsort(rows, kind="stable")
    found = np.empty((len(rows), 4), _U)
    first = low = 0
    with reading(articles) as file:
        for batch in file.iter_batches(65_536, columns=["sha256"]):
            high = int(np.searchsorted(rows, first + batch.num_rows, sorter=order))
            places = order[low:high]
            if len(places):
                found[places] = _digests(batch.column(0))[rows[places] - first]
            first, low = first + batch.num_rows, high
    return found


@dataclass
class Columns:
    """Draws, or what became none, of one part and subset: 20 bytes each."""

    number: Numbers
    row: Annotated[Numbers, "of the table of articles"]
    article_day: Annotated[Numbers, "days since 1970"]
    question_day: Annotated[Numbers, "days since 1970"]


def occurrence(rows: Numbers) -> Numbers:
    """How often each value stood before its place: `[7, 7, 8, 7]` gives `[0, 1, 0, 2]`."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    place = np.arange(len(rows))
    fresh = np.ones(len(rows), bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    out = np.empty(len(rows), np.int64)
    out[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    return out


def some(columns: Columns, places: Numbers) -> Columns:
    """The draws at some places."""
    return Columns(*(getattr(columns, f)[places] for f in Columns.__dataclass_fields__))


def joined(columns: list[Columns]) -> Columns:
    """Draws one list after the other."""
    none = [np.empty(0, np.int32)]
    return Columns(
        *(
            np.concatenate([getattr(c, f) for c in columns] or none)
            for f in Columns.__dataclass_fields__
        )
    )
