"""Pages and segments met in order of the subject, in bounded memory, in any number of processes.

The pages' items and the segments' subjects ascend by length, then text (Q9 before Q10). A piece
of work is a few pages and the segments of their subjects, so what a page becomes does not depend
on the number of processes.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from builders import rows
from builders.errors import UserError
from builders.schema import arrow_schema, reading

PAGES = 32
"""Pages of a piece of work."""
_SEGMENTS = 8_192
_AHEAD = 2
"""Pieces that a process is given at a time."""

_NAMED = tuple(f.name for f in fields(rows.NamedSegment))
T = TypeVar("T")


class Piece(NamedTuple):
    """Pages that have segments, and their segments: one batch of each, in order.

    `without_page`: segments that come before the next piece and whose subject has no page.
    """

    pages: pa.Table
    segments: pa.Table
    without_page: pa.Table


def pieces(pages: Path, segments: Path) -> Iterator[Piece]:
    """The pieces of work, in order of the subject; every segment is in one of them.

    `UserError` where a file is missing, is no Parquet, lacks a column or is out of order, or an
    item has two pages.
    """
    waiting = _Segments(segments)
    for batch in _batches(pages, rows.Page, PAGES, "item"):
        items = batch.column("item")
        found, without = [], []
        for some in waiting.until(_key(items[-1].as_py())):
            has = pc.is_in(some.column("subject"), value_set=items)
            found.append(some.filter(has))
            without.append(some.filter(pc.invert(has)))
            if sum(t.num_rows for t in without) > _SEGMENTS:
                yield Piece(_none(rows.Page), _none(rows.NamedSegment), pa.concat_tables(without))
                without = []
        mine = pa.concat_tables([_none(rows.NamedSegment), *found])
        wanted = pc.is_in(items, value_set=mine.column("subject").combine_chunks())
        with_segments = pa.Table.from_batches([batch]).filter(wanted)
        left = pa.concat_tables([_none(rows.NamedSegment), *without])
        if mine.num_rows or left.num_rows:
            yield Piece(with_segments, mine, left)
    for some in waiting.until(None):
        yield Piece(_none(rows.Page), _none(rows.NamedSegment), some)


def in_order(
    work: Callable[[Piece, Any], T], flow: Iterator[Piece], argument: Any, jobs: int
) -> Iterator[T]:
    """`work(piece, argument)` of every piece, in order; `work` is a function of a module.

    `UserError` where a process dies.
    """
    if jobs <= 1:
        for piece in flow:
            yield work(piece, argument)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    waiting: deque[Future[T]] = deque()
    try:
        for piece in flow:
            if len(waiting) >= jobs * _AHEAD:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, piece, argument))
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        hint = "if memory ran out, give fewer jobs"
        raise UserError("an aligning process died", hint=hint) from None
    finally:
        pool.shutdown(cancel_futures=True)


def page_of(row: Mapping[str, Any]) -> rows.Page:
    """A row of `pages.parquet` as its row type."""
    paragraphs = tuple(
        rows.Paragraph(
            p["kind"], p["section"], p["text"], tuple(rows.Link(**link) for link in p["links"])
        )
        for p in row["paragraphs"]
    )
    return rows.Page(row["item"], row["title"], row["page"], row["revision"], paragraphs)


def segment_of(row: Mapping[str, Any]) -> rows.NamedSegment:
    """A row of segments with names as its row type."""
    values: dict[str, Any] = {n: row[n] for n in _NAMED}
    values |= {n: tuple(row[n]) for n in ("statements", "aliases")}
    return rows.NamedSegment(**values)


class _Segments:
    """The segments in order, taken up to one subject after another."""

    def __init__(self, path: Path) -> None:
        self._flow = _batches(path, rows.NamedSegment, _SEGMENTS, "subject", several=True)
        self._held: pa.Table | None = None

    def until(self, last: tuple[int, str] | None) -> Iterator[pa.Table]:
        """Those that were not taken yet and whose subject is not after this one; None: all."""
        while True:
            if self._held is None:
                batch = next(self._flow, None)
                if batch is None:
                    return
                self._held = pa.Table.from_batches([batch]).cast(_none(rows.NamedSegment).schema)
            subjects = self._held.column("subject").to_pylist()
            count = len(subjects)
            if last is not None and _key(subjects[-1]) > last:
                count = next(n for n, s in enumerate(subjects) if _key(s) > last)
            if count:
                yield self._held.slice(0, count)
            self._held = self._held.slice(count) if count < len(subjects) else None
            if self._held is not None:
                return


def _batches(
    path: Path, row: Any, size: int, ordered_by: str, several: bool = False
) -> Iterator[pa.RecordBatch]:
    """A Parquet file in batches; checked: its columns, and the order of one of them."""
    if not path.is_file():
        raise UserError("no such file", where=path)
    declared = arrow_schema(row)
    try:
        file = reading(path)
    except pa.ArrowInvalid as error:
        raise UserError(f"not a Parquet file ({error})", where=path) from error
    with file:
        found = file.schema_arrow.names
        if missing := [n for n in declared.names if n not in found]:
            raise UserError(f"no column {', '.join(missing)} for {row.__name__}", where=path)
        before: tuple[int, str] = (0, "")
        for batch in file.iter_batches(size, columns=declared.names):
            for value in batch.column(ordered_by).to_pylist():
                key = _key(value)
                if key < before or (key == before and not several):
                    what = "twice" if key == before else f"after {before[1]}"
                    hint = f"sort it by {ordered_by}: shorter ids first, then by text"
                    raise UserError(f"{ordered_by} {value} stands {what}", where=path, hint=hint)
                before = key
            if batch.num_rows:
                yield batch.select(declared.names)


def _none(row: Any) -> pa.Table:
    schema = arrow_schema(row)
    return pa.schema([f.with_nullable(True) for f in schema]).empty_table()


def _key(item: str) -> tuple[int, str]:
    return len(item), item


def _begin() -> None:
    """A working process leaves Ctrl-C to the calling one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
