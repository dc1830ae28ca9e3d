"""The files of pages: what each one is, told by its content, and its bytes decompressed."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple

from builders.errors import UserError
from builders.files import find_files

Form = Literal["xml", "jsonl", "parquet"]
Packing = Literal["plain", "gz", "bz2", "zst", "streams"]
"""How a file is compressed; `streams`: bz2 in many streams, each read by itself."""

PIECE = 1 << 20
"""Bytes that are decompressed at a time."""
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
_OTHER = {
    b"7z\xbc\xaf": "a 7z archive: unpack it, or take the .bz2 of the same dump",
    b"\xfd7zXZ": "an xz file: unpack it",
    b"PK\x03\x04": "a zip archive: unpack it",
    b"%PDF": "a PDF file",
    b"SQLite": "an SQLite database",
}
_TAKEN = re.compile(
    r"\.(xml|jsonl|ndjson)(\.(gz|bz2|zst|zstd))?$|\.parquet$|pages-articles.*\.bz2$", re.I
)
_INDEX = re.compile(r"-multistream-index\d*\.txt|\.index\.txt", re.I)
_ENTRY = re.compile(rb"\d+:\d+:[^\n]*(\n|$)")
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")
STREAM_MARK = 10
_NEAR = 64 << 20
"""Compressed bytes within which a second stream must begin for a file to be `streams`."""
BROKEN = (OSError, EOFError, RuntimeError, ValueError)
"""What the decompressors raise on data that is cut or damaged."""


class Source(NamedTuple):
    """A file of pages; `head` is its first bytes, decompressed."""

    path: Path
    form: Form
    packing: Packing
    head: bytes


def find_pages(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that paths, globs and folders name; indexes of multistream dumps are left out.

    `UserError` where one names nothing, or two files have one name: pages are known by it.
    """
    hint = "files end in .xml, .xml.bz2, .xml.gz, .jsonl, .jsonl.zst or .parquet"
    found = find_files(files, lambda n: bool(_TAKEN.search(n)), "file of pages", hint)
    kept = [f for f in found if not _INDEX.search(f.name)]
    if not kept:
        hint = "give the dump that lies beside it"
        raise UserError("this is the index of a dump, not the dump", where=found[0], hint=hint)
    named: dict[str, Path] = {}
    for path in kept:
        if named.setdefault(path.name, path) is not path:
            raise UserError(f"two files have the name {path.name}", where=path, hint="rename one")
    return kept


def source_of(path: Path) -> Source:
    """What a file is. `UserError`: unreadable, empty, or no pages in it."""
    try:
        with path.open("rb") as raw:
            start = raw.read(8)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=path) from error
    if not start:
        raise UserError("the file is empty", where=path)
    if start.startswith(b"PAR1"):
        return Source(path, "parquet", "plain", b"")
    for magic, what in _OTHER.items():
        if start.startswith(magic):
            raise UserError(f"this is {what}", where=path)
    packing = next((p for magic, p in _MAGIC.items() if start.startswith(magic)), "plain")
    if packing == "bz2" and _has_streams(path):
        packing = "streams"
    head = b"".join(pieces(path, "bz2" if packing == "streams" else packing, limit=1 << 16))
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<") and b"<mediawiki" in text:
        return Source(path, "xml", packing, head)  # type: ignore[arg-type]
    if text.startswith(b"{"):
        if packing == "streams":
            packing = "bz2"
        return Source(path, "jsonl", packing, head)  # type: ignore[arg-type]
    if text.startswith(b"<"):
        raise UserError("this is XML or HTML, but no MediaWiki export", where=path)
    if _ENTRY.match(text):
        raise UserError("this is the index of a dump", where=path, hint="give the dump itself")
    hint = "a MediaWiki XML export, JSON lines or Parquet are read"
    raise UserError("there are no pages in this file", where=path, hint=hint)


def _has_streams(path: Path) -> bool:
    return next(stream_starts(path, stop=_NEAR), None) is not None


def stream_starts(path: Path, stop: int | None = None) -> Iterator[int]:
    """Where each bz2 stream but the first begins, in bytes of the file.

    A stream begins at a whole byte with ten fixed bytes; that they stand elsewhere by chance
    has a probability of 2^-77 a byte. So a dump is read by its own bytes, and no index is
    believed.
    """
    at = 0
    tail = b""
    with path.open("rb") as raw:
        while (piece := raw.read(PIECE)) and (stop is None or at < stop):
            data = tail + piece
            for found in _STREAM.finditer(data):
                start = at - len(tail) + found.start()
                if start:
                    yield start
            at += len(piece)
            tail = data[-(STREAM_MARK - 1) :]


def pieces(
    path: Path,
    packing: str,
    *,
    limit: int | None = None,
    within: tuple[int, int] | None = None,
    threads: int = 1,
) -> Iterator[bytes]:
    """A file's bytes, decompressed, in pieces; `within` reads whole bz2 streams of it alone.

    `UserError` where it is cut short or damaged, with how far it was read.
    """
    done = 0
    try:
        stream = _opened(path, packing, within, threads)
        try:
            while limit is None or done < limit:
                piece = stream.read(min(PIECE, limit - done) if limit else PIECE)
                if not piece:
                    return
                done += len(piece)
                yield piece
        finally:
            stream.close()
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise UserError(f"cannot be read: {error.strerror}", where=path) from error
        at = f"{done:,} bytes of it" if within is None else f"byte {within[0] + 1:,} of the file"
        raise UserError(
            f"the file is cut short or damaged after {at} ({error or type(error).__name__})",
            where=path,
            hint="download it again",
        ) from error


def _opened(path: Path, packing: str, within: tuple[int, int] | None, threads: int) -> Any:
    if within is not None:
        import bz2

        with path.open("rb") as raw:
            raw.seek(within[0])
            return bz2.open(BytesIO(raw.read(within[1] - within[0])))
    if packing == "gz":
        from isal import igzip

        return igzip.open(path, "rb")  # type: ignore[no-untyped-call]
    if packing == "bz2":
        from rapidgzip import IndexedBzip2File

        return IndexedBzip2File(str(path), parallelization=threads)
    if packing == "zst":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return path.open("rb")
