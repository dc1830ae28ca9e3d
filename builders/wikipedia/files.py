"""The files of pages, and their bytes in units of work.

What a file is, its content tells. The units are the same however many processes read them.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from factdrift.builders.core import compressed
from factdrift.builders.core.compressed import Compressed, pieces
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files
from factdrift.builders.core.limits import LONGEST_PAGE
from factdrift.builders.core.records import without_mark
from factdrift.builders.core.schema import reading

PageForm = Literal["xml", "jsonl", "parquet"]
PagePacking = Literal[compressed.Packing, "streams"]
"""How a file is compressed; `streams`: bz2 in many streams, each read by itself."""

# `pages-articles1.xml-p1p41242.bz2` has no `.xml.bz2` at its end, but is an export.
_TAKEN = re.compile(
    r"\.(xml|jsonl|ndjson)(\.(gz|bz2|zst|zstd))?$|\.parquet$|pages-articles.*\.bz2$", re.I
)
# `enwiki-20260201-pages-articles-multistream-index1.txt.bz2` lies beside the dump.
_INDEX = re.compile(r"-multistream-index\d*\.txt|\.index\.txt", re.I)
# A line of such an index: `600:10:AccessibleComputing`.
_ENTRY = re.compile(rb"\d+:\d+:[^\n]*(\n|$)")
# The first ten bytes of a bz2 stream: its block size, and the digits of pi.
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
# Bytes read from the disk at a time.
_PIECE = 1 << 20
# What a mirror answers in place of a file that it has not.
_WEB_PAGE = re.compile(rb"<!doctype html|<html\b|<head\b|<body\b", re.I)
_PAGE_TITLE = re.compile(rb"<title[^<>]*>([^<]+)", re.I)
_HEAD = 1 << 16
"""Decompressed bytes by which it is told what a file holds."""
_NEAR = 64 << 20
"""Compressed bytes within which a second stream must begin for a file to be `streams`."""
PACKED = 1 << 20
"""Compressed bytes of a unit of a dump in many streams, about five times as much text."""
BLOCK = 4 << 20
"""Bytes of any other unit."""
_MOST_LINES = 1 << 16
"""Lines of such a unit, far more than 4 MB of pages have: broken lines are dropped with a reason
each, which takes a hundred times the memory of the shortest line."""
_END = {"xml": b"</page>", "jsonl": b"\n"}
XML_END = b"</mediawiki>"
"""The last tag of an export; a file without it was cut, maybe between two pages."""
_LAST_STREAMS = len(XML_END)
"""bz2 streams that are read for the end of a file: the tag may be cut at any of its bytes."""
END_SPACE = 1 << 12
"""Bytes at the end of a file in which its last tag is looked for."""


class PageFile(NamedTuple):
    """A file of pages; `head` is its first bytes, decompressed."""

    path: Path
    form: PageForm
    packing: PagePacking
    head: bytes


def find_pages(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that paths, globs and folders name; indexes of multistream dumps are left out.

    `UserError` where one names nothing, or two files have one name: pages are known by it.
    """
    hint_text = "files end in .xml, .xml.bz2, .xml.gz, .jsonl, .jsonl.zst or .parquet"
    all_files = find_files(files, is_pages, "file of pages", hint_text)
    page_files = [f for f in all_files if not _INDEX.search(f.name)]
    if not page_files:
        hint_text = "give the dump that lies beside it"
        raise UserError(
            "this is the index of a dump, not the dump", where=all_files[0], hint=hint_text
        )
    path_by_name: dict[str, Path] = {}
    for path in page_files:
        if path_by_name.setdefault(path.name, path) is not path:
            raise UserError(f"two files have the name {path.name}", where=path, hint="rename one")
    return page_files


def is_pages(name: str) -> bool:
    """Whether a file of a folder has pages, by its name."""
    return bool(_TAKEN.search(name))


def page_file(path: Path) -> PageFile:
    """Return the form and compression of a file of pages.

    Raises `UserError` if the file is unreadable or empty, or has no pages.
    """
    with Compressed(path) as file:
        if file.head.startswith(b"PAR1"):
            return PageFile(path, "parquet", "plain", b"")
        packing: PagePacking = file.packing
        head = b"".join(iter(lambda: file.read(_HEAD - file.read_bytes), b""))
    if packing == "bz2" and next(_stream_starts(path, stop=_NEAR), None) is not None:
        packing = "streams"
    head_text = without_mark(head, path).lstrip()
    if head_text.startswith(b"<") and b"<mediawiki" in head_text:
        return PageFile(path, "xml", packing, head)
    if head_text.startswith(b"{"):
        if packing == "streams":
            packing = "bz2"
        return PageFile(path, "jsonl", packing, head)
    if _WEB_PAGE.match(head_text):
        title_match = _PAGE_TITLE.search(head_text)
        quoted_title = (
            f" ({' '.join(title_match[1].decode('utf-8', 'replace').split())[:80]})"
            if title_match
            else ""
        )
        hint_text = "the download gave an error or a directory: get the file itself"
        raise UserError(
            f"this is a web page{quoted_title}, not a file of pages", where=path, hint=hint_text
        )
    if head_text.startswith(b"<"):
        raise UserError("this is XML, but no MediaWiki export", where=path)
    if _ENTRY.match(head_text):
        raise UserError("this is the index of a dump", where=path, hint="give the dump itself")
    hint_text = "a MediaWiki XML export, JSON lines or Parquet are read"
    raise UserError("there are no pages in this file", where=path, hint=hint_text)


def _stream_starts(path: Path, after: int = 0, stop: int | None = None) -> Iterator[int]:
    """Yield the places of the bz2 streams that begin after this byte, in bytes of the file.

    A stream begins at a whole byte with ten fixed bytes; that they stand elsewhere by chance
    has a probability of 2^-77 a byte. So the index of a dump is not needed.
    """
    piece_start = after
    tail = b""
    with path.open("rb") as dump_file:
        dump_file.seek(after)
        while (piece := dump_file.read(_PIECE)) and (stop is None or piece_start < stop):
            data = tail + piece
            for marker in _STREAM.finditer(data):
                stream_start = piece_start - len(tail) + marker.start()
                if stream_start > after:
                    yield stream_start
            piece_start += len(piece)
            tail = data[-9:]


def streams_after(path: Path, start: int) -> Iterator[bytes]:
    """Yield the text of the bz2 streams that begin at this byte or later, stream by stream."""
    size = path.stat().st_size
    if start < size:
        for end in chain(_stream_starts(path, start), [size]):
            yield from pieces(path, within=(start, end))
            start = end


class PageUnit(NamedTuple):
    """A unit of work: some pages of one file, as their bytes or as their place in the file.

    `within` has the first byte and the end of some whole bz2 streams of the file, or a row group of
    Parquet. `first` is the number of lines or rows before the unit. A page belongs to the unit in
    which it begins.
    """

    file: int
    number: int
    form: PageForm
    data: bytes = b""
    within: tuple[int, ...] = ()
    first: int = 0
    cut: bool = False
    """Whether a page or line was left out of `data` because it is too long to be read."""


def units(
    source: PageFile, file: int, advance: Callable[[int], None], threads: int
) -> Iterator[PageUnit]:
    """Return the units of a file in order. Raises `UserError` if it is cut short or damaged."""
    if source.form == "parquet":
        return _row_group_units(source, file, advance)
    if source.packing == "streams":
        return _stream_units(source, file, advance)
    return _block_units(source, file, advance, threads)


def _stream_units(
    source: PageFile, file_number: int, advance: Callable[[int], None]
) -> Iterator[PageUnit]:
    unit_start = unit_number = 0
    for next_start in _stream_starts(source.path):
        if next_start - unit_start >= PACKED:
            yield PageUnit(file_number, unit_number, "xml", within=(unit_start, next_start))
            advance(next_start - unit_start)
            unit_start = next_start
            unit_number += 1
    file_size = source.path.stat().st_size
    yield PageUnit(file_number, unit_number, "xml", within=(unit_start, file_size))
    advance(file_size - unit_start)
    if not last_streams_end(source.path):
        raise cut_short(source.path)


def last_streams_end(path: Path) -> bool:
    """Whether the text of the last bz2 streams of a file has the last tag of an export."""
    near_end = max(path.stat().st_size - _NEAR, 0)
    last_starts = deque(_stream_starts(path, near_end), maxlen=_LAST_STREAMS)
    tail = b""
    for piece in streams_after(path, last_starts[0]) if last_starts else pieces(path):
        tail = (tail + piece[-END_SPACE:])[-END_SPACE:]
    return XML_END in tail


def cut_short(path: Path) -> UserError:
    """The error that a file has no end."""
    error_text = "the file is cut short: its end is missing"
    return UserError(error_text, where=path, hint="get it again")


def _block_units(
    source: PageFile, file_number: int, advance: Callable[[int], None], threads: int
) -> Iterator[PageUnit]:
    """Blocks that end where a page or a line ends."""
    end_mark = _END[source.form]
    file_size = source.path.stat().st_size
    unread = bytearray()
    unit_number = lines_before = bytes_reported = bytes_read = 0
    skips_page = False
    tail = b""
    for piece in pieces(source.path, threads=threads if source.packing == "bz2" else 0):
        bytes_read += len(piece)
        unread += piece
        tail = (tail + piece[-END_SPACE:])[-END_SPACE:]
        skips_page = skips_page and not _delete_page(unread, end_mark)
        if skips_page or len(unread) < BLOCK:
            continue
        block_end = unread.rfind(end_mark)
        if block_end < 0:
            if len(unread) > LONGEST_PAGE:
                first_bytes = unread[: 1 << 16]
                unread = unread[-len(end_mark) :]
                yield PageUnit(
                    file_number,
                    unit_number,
                    source.form,
                    bytes(first_bytes),
                    first=lines_before,
                    cut=True,
                )
                unit_number += 1
                skips_page = True
            continue
        block_end += len(end_mark)
        data = bytes(unread[:block_end])
        del unread[:block_end]
        for unit_data in _with_few_lines(data, source.form):
            yield PageUnit(file_number, unit_number, source.form, unit_data, first=lines_before)
            unit_number += 1
            lines_before += _line_count(unit_data, source.form)
        newly_read = min(bytes_read, file_size) - bytes_reported if source.packing == "plain" else 0
        bytes_reported += newly_read
        advance(newly_read)
    if not skips_page or source.form == "xml":
        for unit_data in _with_few_lines(bytes(unread), source.form):
            yield PageUnit(file_number, unit_number, source.form, unit_data, first=lines_before)
            unit_number += 1
            lines_before += _line_count(unit_data, source.form)
    advance(file_size - bytes_reported)
    if source.form == "xml" and XML_END not in tail:
        raise cut_short(source.path)


def _delete_page(unread: bytearray, end_mark: bytes) -> bool:
    """Delete what is read of a page that is too long; return whether its end was among it."""
    page_end = unread.find(end_mark)
    if page_end < 0:
        # the end may be cut in two
        del unread[: max(len(unread) - len(end_mark), 0)]
        return False
    del unread[: page_end + len(end_mark) - (end_mark == b"\n")]
    return True


def _with_few_lines(data: bytes, form: str) -> Iterator[bytes]:
    """The bytes of a unit, in pieces of whole lines where they have very many lines."""
    import numpy as np

    start = 0
    if form == "jsonl":
        line_ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        for end in (line_ends[_MOST_LINES - 1 :: _MOST_LINES] + 1).tolist():
            if end < len(data):
                yield data[start:end]
                start = end
    yield data[start:]


def _line_count(data: bytes, form: str) -> int:
    """The lines of a unit; those of XML are not counted."""
    return data.count(b"\n") if form == "jsonl" else 0


def check_columns(path: Path) -> list[int]:
    """Return the number of rows of each row group of a Parquet file.

    Raises `UserError` if the file is damaged or lacks the columns.
    """
    import pyarrow as pa

    try:
        with reading(path) as table:
            column_names = set(table.schema_arrow.names)
            row_counts = [
                table.metadata.row_group(group_number).num_rows
                for group_number in range(table.num_row_groups)
            ]
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error
    if "title" not in column_names or not column_names & {
        "text",
        "wikitext",
        "paragraphs",
        "redirect",
    }:
        error_text = (
            f"no columns `title` and `paragraphs` or `text`, but {', '.join(sorted(column_names))}"
        )
        raise UserError(error_text, where=path)
    return row_counts


def _row_group_units(
    source: PageFile, file_number: int, advance: Callable[[int], None]
) -> Iterator[PageUnit]:
    row_counts = check_columns(source.path)
    rows_before = 0
    for group, row_count in enumerate(row_counts):
        yield PageUnit(file_number, group, "parquet", within=(group,), first=rows_before)
        rows_before += row_count
        advance(source.path.stat().st_size // len(row_counts))
