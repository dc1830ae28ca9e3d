"""Parts: what one process makes of a unit of work, on disk; and pages as Arrow columns.

A part is a few files of one name: `.pages` (pages that are kept, each by itself), `.npz` (hashes of
titles and redirects, places of the pages), `.dropped`, and `.json`, which is written last, so that
a unit with one is known to be read.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from factdrift.builders.core.compressed import pieces
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import Dropped, Page
from factdrift.builders.wikipedia.dump import BadPageError, cut_pages, head_of, plain, revision_of
from factdrift.builders.wikipedia.files import PageUnit, streams_after
from factdrift.builders.wikipedia.inputs import is_foreign
from factdrift.builders.wikipedia.records import (
    ParsedPage,
    json_rows,
    page_of,
    parquet_rows,
    text_of,
    title_of,
)
from factdrift.builders.wikipedia.titles import Titles, hash_of, normalise, number_of
from factdrift.builders.wikipedia.wikitext import Namespaces, paragraphs, redirect_of

_PAGE = arrow_schema(Page)
_BARE = pa.schema([f for f in _PAGE if f.name != "item"])
"""Columns of `rows.Page` without its item, which is known only when redirects are."""
_PARAGRAPHS = _BARE.field("paragraphs").type
_PARAGRAPH = _PARAGRAPHS.value_type
_LINKS = _PARAGRAPH.field("links").type
_LINK = _LINKS.value_type
_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")
_FLUSH = 8 << 20
"""Bytes of source after which pages that were read are packed."""


class ReadingTask(NamedTuple):
    """What every process has to know; `parts` is the folder that parts are written into."""

    files: tuple[Path, ...]
    namespaces: tuple[Namespaces, ...]
    parts: Path
    wanted: Path
    """Titles as `Titles.save` wrote them."""
    late: bool = False
    """Whether this is the second reading, for pages that redirects with wanted titles lead to."""


def part_name(unit: PageUnit, late: bool) -> str:
    """The name of a unit's part; sorted, the parts are in the order of the files."""
    return f"{unit.file:06}-{unit.number:08}{'-late' * late}"


class UnitReader:
    """Reads units, each into a part of its own."""

    def __init__(self, task: ReadingTask) -> None:
        self._task, self._wanted = task, Titles.load(task.wanted)

    def read(self, unit: PageUnit) -> None:
        """Read a unit and write its part, whole or not at all. `UserError`: a damaged file."""
        part = _PartWriter(self._task, unit, self._wanted)
        with part.file:
            part.of_xml() if unit.form == "xml" else part.of_rows()
            part.write()


class _PartWriter:
    def __init__(self, task: ReadingTask, unit: PageUnit, wanted: Titles) -> None:
        self.task, self.unit, self.wanted = task, unit, wanted
        self.namespaces = task.namespaces[unit.file]
        self.path = task.parts / part_name(unit, task.late)
        self.counts: Counter[str] = Counter()
        self.dropped: list[Dropped] = []
        self.articles: list[int] = []
        self.redirects: list[tuple[int, int, str]] = []
        self.found: list[tuple[int, int, int, int, int]] = []
        self.waiting: list[tuple[int, int, ParsedPage]] = []
        self.held = self.offset = 0
        self.file = self.path.with_suffix(".pages").open("wb")

    def of_xml(self) -> None:
        unit = self.unit
        cuts = cut_pages([unit.data])
        if unit.within:
            path, (start, end) = self.task.files[unit.file], unit.within
            source = pieces(path, within=(start, end))
            cuts = cut_pages(source, streams_after(path, end), middle=start > 0)
        for cut in cuts:
            if not cut.whole:
                self._cut(cut.data, "too_long" if cut.too_long or unit.cut else "cut_page")
                continue
            number = 0
            try:
                head = head_of(cut.data)
                number = head.page
                if head.namespace or head.model != "wikitext":
                    self.counts["other_namespace" if head.namespace else "other_model"] += 1
                    continue
                title = normalise(head.title) or head.title
                if head.redirect is not None:
                    self._redirect(title, head.redirect, number)
                elif (item := self._wanted_page(title)) >= 0:
                    self._page(item, title, number, cut.data)
            except BadPageError as error:
                self._drop(error.reason, number, error.detail)

    def _wanted_page(self, title: str) -> int:
        """The item of an article; -1: it is not wanted."""
        key = hash_of(title)
        self.articles.append(key)
        return self.wanted.find(key)

    def _page(self, item: int, title: str, number: int, data: bytes) -> None:
        revision = revision_of(data)
        if not revision.text.strip():
            raise BadPageError("empty_page")
        if (target := redirect_of(revision.text)) is not None:
            self.articles.pop()
            self._redirect(title, target, number)
            return
        shown = paragraphs(revision.text, title, self.namespaces)
        if not shown:
            raise BadPageError("no_paragraphs", f"{len(revision.text):,} characters of wikitext")
        self._keep(item, ParsedPage(title, number, revision.id, shown), len(data))

    def _redirect(self, title: str, target: str, place: int) -> None:
        to = normalise(target)
        if not to:
            raise BadPageError("bad_redirect", f"{title} to {target[:200]!r}")
        self.counts["redirects"] += 1
        self.redirects.append((hash_of(title), hash_of(to), to))

    def _keep(self, item: int, page: ParsedPage, size: int) -> None:
        if is_foreign(page.paragraphs):
            raise BadPageError("not_english", page.title)
        self.waiting.append((item, hash_of(page.title), page))
        self.held += size
        if self.held >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        if self.waiting:
            batch = _batch_of([page for _, _, page in self.waiting])
            for row, (item, key, page) in enumerate(self.waiting):
                data = _packed(batch, row)
                self.file.write(data)
                self.found.append((item, key, self.offset, len(data), page.page))
                self.offset += len(data)
        self.waiting, self.held = [], 0

    def of_rows(self) -> None:
        """JSON lines or rows of Parquet."""
        if self.unit.cut:
            self._drop("too_long", self.unit.first + 1, None)
            return
        path = self.task.files[self.unit.file]
        rows = (
            json_rows(self.unit.data, self.unit.first)
            if self.unit.form == "jsonl"
            else parquet_rows(path, list(self.unit.within), self.unit.first)
        )
        for place, row, size in rows:
            try:
                if isinstance(row, BadPageError):
                    raise row
                self._row(row, place, size)
            except BadPageError as error:
                self._drop(error.reason, place, error.detail)

    def _row(self, row: Any, place: int, size: int) -> None:
        title = title_of(row)
        if (target := text_of(row, "redirect")) is not None:
            self._redirect(title, target, place)
            return
        wikitext = text_of(row, "wikitext")
        if wikitext is not None and (target := redirect_of(wikitext)) is not None:
            self._redirect(title, target, place)
            return
        item = self._wanted_page(title)
        given = text_of(row, "item")
        if given:
            if not (number := number_of(given)):
                raise BadPageError("bad_field", f"item: {given!r:.100}, not an id")
            item = number if self.wanted.has_item(number) else item
        if item < 0:
            return
        page = page_of(row)
        if not page.paragraphs:
            raise BadPageError("empty_page")
        self._keep(item, page, size)

    def _cut(self, data: bytes, reason: str) -> None:
        """A page without an end, or a too long one: what its head says of it."""
        try:
            head = head_of(data)
            self._drop(reason, head.page, plain(head.title))
        except BadPageError:
            self._drop(reason, 0, None)

    def _drop(self, reason: str, place: int, detail: str | None) -> None:
        item = f"{self.task.files[self.unit.file].name}:{place}"
        shown = detail[:500].encode("utf-8", "replace").decode() if detail else None
        self.dropped.append(Dropped("pages", reason, item, None, None, None, None, shown))

    def write(self) -> None:
        """Write the files of the part; `.json` last."""
        self._flush()
        self.file.flush()
        late = self.task.late
        articles = [] if late else self.articles
        redirects = [] if late else self.redirects
        arrays: dict[str, Any] = {
            "articles": np.array(articles, np.uint64),
            "redirects": np.array([r[:2] for r in redirects], np.uint64).reshape(-1, 2),
            "titles": np.frombuffer("\n".join(r[2] for r in redirects).encode(), np.uint8),
            "found": np.array(self.found, np.uint64).reshape(-1, 5),
        }
        np.savez(self.path.with_suffix(".npz"), **arrays)
        if not late:
            self.counts["articles"] = len(self.articles)
            lines = msgspec.json.Encoder().encode_lines(self.dropped)
            self.path.with_suffix(".dropped").write_bytes(lines)
        about = {"counts": dict(self.counts), "within": self.unit.within}
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(about), "utf-8")
        temporary.replace(self.path.with_suffix(".json"))


# --- Pages as Arrow columns ----------------------------------------------------------------------


def _struct(kind: Any, *columns: Any) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(columns), fields=list(kind))


def _lists(kind: Any, sizes: Sequence[int], values: pa.Array) -> pa.ListArray:
    offsets = pa.array(accumulate(sizes, initial=0), pa.int32())
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def _batch_of(pages: Sequence[ParsedPage]) -> pa.RecordBatch:
    """Pages as one record batch of the schema `_BARE`."""
    inner = [p for page in pages for p in page.paragraphs]
    links = [link for p in inner for link in p.links]
    numbers = pa.int64()
    link_column = _struct(
        _LINK,
        pa.array([x.start for x in links], numbers),
        pa.array([x.end for x in links], numbers),
        pa.array([x.target for x in links], pa.string()),
    )
    paragraphs = _struct(
        _PARAGRAPH,
        pa.array([p.kind for p in inner], pa.string()),
        pa.array([p.section for p in inner], pa.string()),
        pa.array([p.text for p in inner], pa.string()),
        _lists(_LINKS, [len(p.links) for p in inner], link_column),
    )
    columns = [
        pa.array([p.title for p in pages], pa.string()),
        pa.array([p.page for p in pages], numbers),
        pa.array([p.revision for p in pages], numbers),
        _lists(_PARAGRAPHS, [len(p.paragraphs) for p in pages], paragraphs),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_BARE)


def _packed(batch: pa.RecordBatch, row: int) -> bytes:
    """One page of a batch as bytes that `unpacked` reads."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _BARE, options=_PACKED) as writer:
        writer.write_batch(batch.slice(row, 1))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(data: bytes) -> pa.RecordBatch:
    """A page of a part: one row with the columns of `rows.Page` but `item`."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


def retargeted(
    batches: Sequence[pa.RecordBatch],
    items: Sequence[str],
    resolve: Callable[[pa.Array], pa.Array],
) -> pa.Table:
    """Pages with their items, as rows of `rows.Page`; `resolve` maps the targets of all links."""
    table = pa.Table.from_batches(batches, _BARE).combine_chunks()
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
