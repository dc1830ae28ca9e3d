"""Pages as Arrow columns, and a page by itself as bytes."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from builders.rows import Page, Paragraph
from builders.schema import arrow_schema

_PAGE = arrow_schema(Page)
BARE = pa.schema([f for f in _PAGE if f.name != "item"])
"""Columns of `rows.Page` without its item, which is known only when redirects are."""
_PARAGRAPHS = BARE.field("paragraphs").type
_PARAGRAPH = _PARAGRAPHS.value_type
_LINKS = _PARAGRAPH.field("links").type
_LINK = _LINKS.value_type
_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")


class Read(NamedTuple):
    """A page before its item is known."""

    title: str
    page: int
    revision: int
    paragraphs: tuple[Paragraph, ...]


def _struct(kind: Any, *columns: Any) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(columns), fields=list(kind))


def _lists(kind: Any, sizes: Sequence[int], values: pa.Array) -> pa.ListArray:
    offsets = pa.array(accumulate(sizes, initial=0), pa.int32())
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def batch_of(pages: Sequence[Read]) -> pa.RecordBatch:
    """Pages as one record batch of the schema `BARE`."""
    held = [p for page in pages for p in page.paragraphs]
    links = [link for p in held for link in p.links]
    numbers = pa.int64()
    link_column = _struct(
        _LINK,
        pa.array([x.start for x in links], numbers),
        pa.array([x.end for x in links], numbers),
        pa.array([x.target for x in links], pa.string()),
    )
    paragraphs = _struct(
        _PARAGRAPH,
        pa.array([p.kind for p in held], pa.string()),
        pa.array([p.section for p in held], pa.string()),
        pa.array([p.text for p in held], pa.string()),
        _lists(_LINKS, [len(p.links) for p in held], link_column),
    )
    columns = [
        pa.array([p.title for p in pages], pa.string()),
        pa.array([p.page for p in pages], numbers),
        pa.array([p.revision for p in pages], numbers),
        _lists(_PARAGRAPHS, [len(p.paragraphs) for p in pages], paragraphs),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=BARE)


def packed(batch: pa.RecordBatch, row: int) -> bytes:
    """One page of a batch as bytes that `unpacked` reads."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, BARE, options=_PACKED) as writer:
        writer.write_batch(batch.slice(row, 1))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(data: bytes) -> pa.RecordBatch:
    """The page of `packed`, one row of the schema `BARE`."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


def retargeted(
    batches: Sequence[pa.RecordBatch],
    items: Sequence[str],
    resolve: Callable[[pa.Array], pa.Array],
) -> pa.Table:
    """Pages with their items, as rows of `rows.Page`; `resolve` maps the targets of all links."""
    table = pa.Table.from_batches(batches, BARE).combine_chunks()
    paragraphs = table["paragraphs"].chunk(0)
    inner = paragraphs.flatten()
    links = inner.field("links")
    link = links.flatten()
    new = _struct(_LINK, link.field("start"), link.field("end"), resolve(link.field("target")))
    lists = pa.ListArray.from_arrays(_from_zero(links), new, type=_LINKS)
    columns = [inner.field(n) for n in ("kind", "section", "text")]
    outer = pa.ListArray.from_arrays(
        _from_zero(paragraphs), _struct(_PARAGRAPH, *columns, lists), type=_PARAGRAPHS
    )
    named = {n: table[n].chunk(0) for n in ("title", "page", "revision")}
    arrays = {"item": pa.array(items, pa.string()), **named, "paragraphs": outer}
    return pa.Table.from_arrays([arrays[n] for n in _PAGE.names], schema=_PAGE)


def _from_zero(lists: pa.ListArray) -> pa.Array:
    offsets = lists.offsets
    first = offsets[0].as_py()
    return pc.subtract(offsets, offsets[0]) if first else offsets
