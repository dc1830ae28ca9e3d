"""The files of pages, and their bytes in units of work.

What a file is, its content tells. The units are the same however many processes read them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from factdrift.builders.core import compressed
from factdrift.builders.core.compressed import Compressed, pieces
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import find_files
from factdrift.builders.core.schema import reading

PageForm = Literal["xml", "jsonl", "parquet"]
PagePacking = Literal[compressed.Packing, "streams"]
"""How a file is compressed; `streams`: bz2 in many streams, each read by itself."""

_TAKEN = re.compile(
    r"\.(xml|jsonl|ndjson)(\.(gz|bz2|zst|zstd))?$|\.parquet$|pages-articles.*\.bz2$", re.I
)
_INDEX = re.compile(r"-multistream-index\d*\.txt|\.index\.txt", re.I)
_ENTRY = re.compile(rb"\d+:\d+:[^\n]*(\n|$)")
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
_PIECE = 1 << 20
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
LONGEST = 20 << 20
"""Bytes of a page, or of a line, that is read; a longer one is dropped and counted."""
_END = {"xml": b"</page>", "jsonl": b"\n"}


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
    hint = "files end in .xml, .xml.bz2, .xml.gz, .jsonl, .jsonl.zst or .parquet"
    found = find_files(files, is_pages, "file of pages", hint)
    kept = [f for f in found if not _INDEX.search(f.name)]
    if not kept:
        hint = "give the dump that lies beside it"
        raise UserError("this is the index of a dump, not the dump", where=found[0], hint=hint)
    by_name: dict[str, Path] = {}
    for path in kept:
        if by_name.setdefault(path.name, path) is not path:
            raise UserError(f"two files have the name {path.name}", where=path, hint="rename one")
    return kept


def is_pages(name: str) -> bool:
    """Whether a file of a folder has pages, by its name."""
    return bool(_TAKEN.search(name))


def page_file(path: Path) -> PageFile:
    """What a file is. `UserError`: unreadable, empty, or no pages in it."""
    with Compressed(path) as file:
        if file.head.startswith(b"PAR1"):
            return PageFile(path, "parquet", "plain", b"")
        packing: PagePacking = file.packing
        head = b"".join(iter(lambda: file.read(_HEAD - file.read_bytes), b""))
    if packing == "bz2" and next(_stream_starts(path, stop=_NEAR), None) is not None:
        packing = "streams"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<") and b"<mediawiki" in text:
        return PageFile(path, "xml", packing, head)
    if text.startswith(b"{"):
        if packing == "streams":
            packing = "bz2"
        return PageFile(path, "jsonl", packing, head)
    if _WEB_PAGE.match(text):
        title = _PAGE_TITLE.search(text)
        named = f" ({' '.join(title[1].decode('utf-8', 'replace').split())[:80]})" if title else ""
        hint = "the download gave an error or a directory: get the file itself"
        raise UserError(f"this is a web page{named}, not a file of pages", where=path, hint=hint)
    if text.startswith(b"<"):
        raise UserError("this is XML, but no MediaWiki export", where=path)
    if _ENTRY.match(text):
        raise UserError("this is the index of a dump", where=path, hint="give the dump itself")
    hint = "a MediaWiki XML export, JSON lines or Parquet are read"
    raise UserError("there are no pages in this file", where=path, hint=hint)


def _stream_starts(path: Path, after: int = 0, stop: int | None = None) -> Iterator[int]:
    """Where each bz2 stream that begins after this byte does, in bytes of the file.

    A stream begins at a whole byte with ten fixed bytes; that they stand elsewhere by chance
    has a probability of 2^-77 a byte. So the index of a dump is not needed.
    """
    at = after
    tail = b""
    with path.open("rb") as raw:
        raw.seek(after)
        while (piece := raw.read(_PIECE)) and (stop is None or at < stop):
            data = tail + piece
            for found in _STREAM.finditer(data):
                start = at - len(tail) + found.start()
                if start > after:
                    yield start
            at += len(piece)
            tail = data[-9:]


def streams_after(path: Path, start: int) -> Iterator[bytes]:
    """The text of the bz2 streams from a place in the file on, stream by stream."""
    size = path.stat().st_size
    if start < size:
        for end in chain(_stream_starts(path, start), [size]):
            yield from pieces(path, within=(start, end))
            start = end


class PageUnit(NamedTuple):
    """Some pages of one file: their bytes, or where they lie in the file.

    `within`: from which to which byte of the file (whole bz2 streams), or the row group of
    Parquet. `first`: the number of lines or rows before the unit. A page belongs to the unit in
    which it begins.
    """

    file: int
    number: int
    form: PageForm
    data: bytes = b""
    within: tuple[int, ...] = ()
    first: int = 0
    cut: bool = False
    """Whether a longer page or line than is read was left out of `data`."""


def units(
    source: PageFile, file: int, advance: Callable[[int], None], threads: int
) -> Iterator[PageUnit]:
    """The units of a file, in order. `UserError`: cut short or damaged."""
    if source.form == "parquet":
        return _of_parquet(source, file, advance)
    if source.packing == "streams":
        return _of_streams(source, file, advance)
    return _of_bytes(source, file, advance, threads)


def _of_streams(source: PageFile, file: int, advance: Callable[[int], None]) -> Iterator[PageUnit]:
    start = number = 0
    for at in _stream_starts(source.path):
        if at - start >= PACKED:
            yield PageUnit(file, number, "xml", within=(start, at))
            advance(at - start)
            start = at
            number += 1
    end = source.path.stat().st_size
    yield PageUnit(file, number, "xml", within=(start, end))
    advance(end - start)


def _of_bytes(
    source: PageFile, file: int, advance: Callable[[int], None], threads: int
) -> Iterator[PageUnit]:
    """Blocks that end where a page or a line ends."""
    mark = _END[source.form]
    size = source.path.stat().st_size
    held = bytearray()
    number = first = reported = done = 0
    skipping = False
    for piece in pieces(source.path, threads=threads if source.packing == "bz2" else 0):
        done += len(piece)
        held += piece
        if skipping:
            end = held.find(mark)
            if end < 0:
                del held[: max(len(held) - len(mark), 0)]
                continue
            del held[: end + len(mark) - (mark == b"\n")]
            skipping = False
        if len(held) < BLOCK:
            continue
        end = held.rfind(mark)
        if end < 0:
            if len(held) > LONGEST:
                begun = held[: 1 << 16]
                held = held[-len(mark) :]
                yield PageUnit(file, number, source.form, bytes(begun), first=first, cut=True)
                number += 1
                skipping = True
            continue
        end += len(mark)
        data = bytes(held[:end])
        del held[:end]
        yield PageUnit(file, number, source.form, data, first=first)
        number += 1
        if source.form == "jsonl":
            first += data.count(b"\n")
        step = min(done, size) - reported if source.packing == "plain" else 0
        reported += step
        advance(step)
    if not skipping or source.form == "xml":
        yield PageUnit(file, number, source.form, bytes(held), first=first)
    advance(size - reported)


def check_columns(path: Path) -> list[int]:
    """The rows of each row group of Parquet. `UserError`: damaged, or without the columns."""
    import pyarrow as pa

    try:
        with reading(path) as table:
            names = set(table.schema_arrow.names)
            rows = [table.metadata.row_group(n).num_rows for n in range(table.num_row_groups)]
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error
    if "title" not in names or not names & {"text", "wikitext", "paragraphs", "redirect"}:
        text = f"no columns `title` and `paragraphs` or `text`, but {', '.join(sorted(names))}"
        raise UserError(text, where=path)
    return rows


def _of_parquet(source: PageFile, file: int, advance: Callable[[int], None]) -> Iterator[PageUnit]:
    rows = check_columns(source.path)
    first = 0
    for group, n in enumerate(rows):
        yield PageUnit(file, group, "parquet", within=(group,), first=first)
        first += n
        advance(source.path.stat().st_size // len(rows))
