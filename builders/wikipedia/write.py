"""The tables of a run, from the parts of all units."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.rows import Dropped, Page
from builders.schema import arrow_schema, writing
from builders.wikipedia.columns import retargeted, unpacked
from builders.wikipedia.redirects import Resolver

GROUP = 16 << 20
"""Bytes of Arrow columns after which a row group ends."""
ROWS = 1000
"""Pages in a row group, at most."""


class Found(NamedTuple):
    """Where a page lies: the part, the bytes in it; its item and page id."""

    part: Any
    offset: Any
    length: Any
    item: Any
    key: Any
    page: Any


def found_in(parts: Sequence[Path]) -> Found:
    """The pages that parts hold, one array a column, in the order of the files."""
    numbers, rows = [np.empty(0, np.int64)], [np.empty((0, 5), np.uint64)]
    for n, path in enumerate(parts):
        with np.load(path) as held:
            found = held["found"]
        if len(found):
            numbers.append(np.full(len(found), n, np.int64))
            rows.append(found)
    item, key, offset, length, page = np.concatenate(rows).T
    return Found(np.concatenate(numbers), offset, length, item, key, page)


def firsts(values: Any) -> Any:
    """A mask of the first of each value."""
    mask = np.zeros(len(values), bool)
    mask[np.unique(values, return_index=True)[1]] = True
    return mask


def write_pages(
    out: Path, parts: Sequence[Path], found: Found, resolve: Resolver
) -> dict[str, int]:
    """Write `pages.parquet`, Q9 before Q10; the numbers of paragraphs and links.

    Memory: one row group, and the places of all pages.
    """
    order = np.argsort(found.item, kind="stable")
    counts: Counter[str] = Counter()
    schema = arrow_schema(Page)
    batches: list[pa.RecordBatch] = []
    items: list[str] = []
    held = 0
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:

        def flush() -> None:
            nonlocal held
            if batches:
                table = retargeted(batches, items, resolve)
                writer.write_table(table, row_group_size=len(items))
                shown = table["paragraphs"].chunk(0).flatten()
                counts["paragraphs"] += len(shown)
                counts["links"] += len(shown.field("links").flatten())
                batches.clear()
                items.clear()
                held = 0

        for i in order.tolist():
            with parts[int(found.part[i])].with_suffix(".pages").open("rb") as file:
                file.seek(int(found.offset[i]))
                batch = unpacked(file.read(int(found.length[i])))
            if batches and held + batch.nbytes > GROUP:
                flush()
            batches.append(batch)
            items.append(f"Q{found.item[i]}")
            held += batch.nbytes
            if len(items) >= ROWS:
                flush()
        flush()
    return dict(counts)


def write_dropped(path: Path, parts: Sequence[Path], more: Iterator[Dropped]) -> Counter[str]:
    """Write `dropped.parquet`: what the parts left out, then `more`; how many for each reason."""
    counts: Counter[str] = Counter()
    with writing(path, Dropped) as table:
        for row in _dropped_in(parts):
            counts[row.reason] += 1
            table.append(row)
        for row in more:
            counts[row.reason] += 1
            table.append(row)
    return counts


def _dropped_in(parts: Sequence[Path]) -> Iterator[Dropped]:
    decode = msgspec.json.Decoder(Dropped).decode
    for part in parts:
        path = part.with_suffix(".dropped")
        if path.is_file():
            with path.open("rb") as lines:
                yield from map(decode, lines)


def counted(parts: Sequence[Path]) -> Counter[str]:
    """What the parts counted, added up."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(json.loads(part.with_suffix(".json").read_text("utf-8"))["counts"])
    return total
