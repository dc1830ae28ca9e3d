"""Which rows are sent: drawn by a hash of seed and row, so that other rows do not matter."""

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.dataset import Dataset, Row, own_name, row_name
from annotation.layout import Layout
from builders.config import did_you_mean
from builders.errors import UserError
from builders.store import digest


@dataclass
class Drawn:
    """Places of rows in the order in which they are sent; 20 bytes a row while drawing."""

    places: Any
    counts: dict[str, int] = field(default_factory=dict)


def draw(
    dataset: Dataset, layout: Layout, seed: int, sent: set[str], wanted: set[str] | None = None
) -> Drawn:
    """All rows that may be sent, in order.

    Rows whose id is in `sent` are left out and counted, and so are those that are not `wanted`,
    where that is given. With `together`, rows alike in these
    columns follow each other, and their group is drawn as one; with `balance`, values of that
    column take turns.
    """
    tops = [one.split(".")[0] for one in (*layout.together, layout.balance or "id")]
    require(dataset, tops[: len(tops) if layout.balance else -1])
    keys, codes, places = array("Q"), array("i"), array("q")
    values: dict[str, int] = {}
    counts = {"rows": 0, "sent_before": 0}
    for place, name, row in _named(dataset, tops):
        counts["rows"] += 1
        if name in sent:
            counts["sent_before"] += 1
            continue
        if wanted is not None and name not in wanted:
            counts["not_open"] = counts.get("not_open", 0) + 1
            continue
        group = digest([at(row, one) for one in layout.together]) if layout.together else name
        value = str(at(row, layout.balance)) if layout.balance else ""
        keys.append(order_of(seed, group))
        codes.append(values.setdefault(value, len(values)))
        places.append(place)
    key, code = np.frombuffer(keys, np.uint64), np.frombuffer(codes, np.int32)
    place_of = np.frombuffer(places, np.int64)
    return Drawn(place_of[_turns(key, code, place_of)], counts)


def _named(dataset: Dataset, columns: Sequence[str]) -> Iterator[tuple[int, str, Row]]:
    """Every row with its place and id: these columns of it, where all rows have ids of their own.

    Where one has none, its id is a hash of all that it holds, and all of it is read.
    """
    if dataset.columns is None or "id" not in dataset.columns or not _all_have_ids(dataset):
        yield from ((place, row_name(row), row) for place, row in dataset.rows())
    else:
        yield from ((place, row_name(row), row) for place, row in dataset.rows(["id", *columns]))


def _all_have_ids(dataset: Dataset) -> bool:
    return all(own_name(row) for _, row in dataset.rows(["id"]))


def order_of(seed: int, *parts: object) -> int:
    """Where the hash of seed and parts falls, 64 bits."""
    text = "\t".join(map(str, (seed, *parts)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def at(row: Any, column: str) -> Any:
    """The value of a dotted column; of a list of objects, the list of their values."""
    for name in column.split("."):
        if isinstance(row, list):
            row = [one.get(name) for one in row if isinstance(one, Mapping)]
        else:
            row = row.get(name) if isinstance(row, Mapping) else None
    return row


def fetch(dataset: Dataset, places: Sequence[int]) -> list[Row]:
    """The rows at these places, in this order."""
    wanted = set(places)
    found = {place: row for place, row in dataset.rows() if place in wanted}
    return [found[place] for place in places]


def require(dataset: Dataset, columns: Sequence[str]) -> None:
    """`UserError` where the dataset is known not to have a column."""
    for column in columns:
        if dataset.columns is not None and column not in dataset.columns:
            near = did_you_mean(column, dataset.columns)
            hint = f"did you mean {near}?" if near else f"it has {', '.join(dataset.columns)}"
            raise UserError(f"{dataset.name} has no column {column!r}", hint=hint)


def _turns(key: Any, code: Any, place: Any) -> Any:
    """The order of rows: by turn within their value, then by hash, then by place."""
    order = np.lexsort((place, key, code))
    key, code = key[order], code[order]
    fresh = np.ones(len(key), bool)
    fresh[1:] = (key[1:] != key[:-1]) | (code[1:] != code[:-1])
    group = np.cumsum(fresh)
    first = np.ones(len(key), bool)
    first[1:] = code[1:] != code[:-1]
    start = group[np.flatnonzero(first)]
    turn = group - np.repeat(start, np.diff([*np.flatnonzero(first), len(key)]))
    return order[np.lexsort((place[order], key, turn))]
