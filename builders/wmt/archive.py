"""The files of a news archive: which they are, and their bytes as blocks of whole lines."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from builders.errors import UserError
from builders.files import find_files
from builders.schema import reading

Paths = str | Path | Sequence[str | Path]
Form = Literal["wmt", "jsonl"]

BLOCK = 1 << 19
"""Bytes of a block of usual lines: it stays in the processor's cache while it is parsed, and
memory that is freed is used again."""
LONGEST = 256 << 20
"""Bytes without a line end after which a file is taken to be no archive."""
_PIECE = 1 << 18
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst", b"PAR1": "parquet"}
_TAKEN = re.compile(
    r"^news-docs\.|\.(jsonl|ndjson|parquet)$|\.(jsonl|ndjson|tsv|txt)\.(gz|bz2|zst|zstd)$", re.I
)
_PARTS = re.compile(r"\.(tmp|part|crdownload)$", re.I)
_YEAR = re.compile(r"^news-docs\.((?:19|20)\d\d)\.")
_BROKEN = (OSError, EOFError, RuntimeError, ValueError)
"""What the decompressors raise on data that is cut or damaged."""


class Block(NamedTuple):
    """Whole lines of one file.

    `form` is what a line holds, `read` how many bytes of the file itself were read for it.
    """

    data: bytes
    form: Form
    read: int

    def lines(self) -> int:
        """How many; counted each time."""
        ends = np.count_nonzero(np.frombuffer(self.data, np.uint8) == 10)
        return int(ends) + (self.data[-1:] != b"\n")


def find_archives(paths: Paths) -> list[Path]:
    """The files that paths, globs and folders name, each once, sorted within each of them.

    Of a folder, `news-docs.*` and files that end in .jsonl or .parquet are taken. `UserError`
    where one names nothing, or two files have one name: articles are known by file name and line.
    """
    hint = "archives are named news-docs.YYYY.en.filtered.gz, *.jsonl or *.parquet"
    found = find_files(paths, _is_archive, "news archive", hint)
    named: dict[str, Path] = {}
    for path in found:
        if (other := named.setdefault(path.name, path)) is not path:
            text = f"two archives have the name {path.name}, the other is {other}"
            raise UserError(text, where=path, hint="rename one: articles are known by file name")
    return found


def _is_archive(name: str) -> bool:
    """Whether a folder's file is taken; the published list of articles beside them is not."""
    return bool(_TAKEN.search(name)) and not _PARTS.search(name) and ".index." not in name


def last_day(path: Path, until: date | None) -> date:
    """The last day an article of this file can be of: `until`, and the year in a WMT name."""
    year = _YEAR.search(path.name)
    own = date(int(year[1]), 12, 31) if year else date.max
    return min(own, until or date.max)


def blocks(path: Path, size: int = BLOCK) -> Iterator[Block]:
    """The lines of a file, plain, gz, bz2 or zst; rows of a Parquet file as JSON lines.

    A line's end is `\\n`; the last line may lack it; a byte order mark is no part of the first.
    `UserError` where the file cannot be read, is cut short or damaged (with how far it was read),
    or has no line ends.
    """
    stream = _Stream(path)
    try:
        flow = _parquet_blocks(path) if stream.form == "parquet" else _line_blocks(stream, size)
        yield from flow
    finally:
        stream.close()


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _line_blocks(stream: "_Stream", size: int) -> Iterator[Block]:
    parts: list[bytes | memoryview] = []
    held = before = 0
    form: Form | None = None
    while True:
        piece = stream.read(min(size, _PIECE))
        cut = piece.rfind(b"\n") + 1 if held + len(piece) >= size else 0
        held += len(piece)
        if piece and not cut:
            parts.append(piece)
            if held >= LONGEST:
                text = f"it has a line longer than {LONGEST >> 20} MB: not a news archive"
                raise UserError(text, where=stream.path)
            continue
        if not held:
            return
        data = b"".join([*parts, memoryview(piece)[:cut]])
        parts, held = [memoryview(piece)[cut:]], len(piece) - cut
        if form is None:
            data = data.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
            form = "jsonl" if data[:64].lstrip(b" \t\r\n")[:1] == b"{" else "wmt"
        at = stream.position()
        yield Block(data, form, at - before)
        before = at


def _parquet_blocks(path: Path) -> Iterator[Block]:
    import pyarrow as pa

    try:
        with reading(path) as file:
            names = set(file.schema_arrow.names)
            if missing := {"date", "text"} - names:
                raise UserError(f"no column {', '.join(sorted(missing))}", where=path)
            wanted = [n for n in ("date", "text", "title", "url") if n in names]
            part = path.stat().st_size // max(file.metadata.num_rows, 1)
            encode = msgspec.json.Encoder().encode
            for batch in file.iter_batches(1024, columns=wanted):
                data = b"".join([encode(row) + b"\n" for row in batch.to_pylist()])
                yield Block(data, "jsonl", part * batch.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error


class _Stream:
    """One open file, decompressed as it is read; its form is told by its first bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = 0
        self._bits: Any = None
        try:
            self.size = path.stat().st_size
            self._raw = path.open("rb", buffering=0)
            head = self._raw.read(4)
            self._raw.seek(0)
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror}", where=path) from error
        if not head:
            self._raw.close()
            raise UserError("the file is empty", where=path)
        self.form = next((f for magic, f in _MAGIC.items() if head.startswith(magic)), "plain")
        try:
            self._stream = self._open()
        except _BROKEN as error:
            raise self._damaged(error) from error

    def _open(self) -> Any:
        if self.form == "gz":
            from isal import igzip_threaded

            threads = min(cores() - 1, 1)
            return igzip_threaded.open(self._raw, "rb", threads=threads, block_size=_PIECE)  # type: ignore[no-untyped-call]
        if self.form == "bz2":
            from rapidgzip import IndexedBzip2File

            self._bits = IndexedBzip2File(str(self.path), parallelization=1)
            return self._bits
        if self.form == "zst":
            import pyarrow as pa

            return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd")
        return self._raw

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        try:
            piece = bytes(self._stream.read(size))
        except _BROKEN as error:
            raise self._damaged(error) from error
        self.bytes += len(piece)
        return piece

    def position(self) -> int:
        """How many bytes of the file itself have been read."""
        if self._bits:
            return int(self._bits.tell_compressed()) // 8
        return self._raw.tell()

    def close(self) -> None:
        if self.form != "parquet":
            self._stream.close()
        self._raw.close()

    def _damaged(self, error: Exception) -> UserError:
        if isinstance(error, OSError) and error.errno is not None:
            return UserError(f"cannot be read: {error.strerror}", where=self.path)
        at = f"{self.bytes:,} bytes of lines, about byte {self.position():,} of {self.size:,}"
        return UserError(
            f"the file is cut short or damaged after {at} ({error or type(error).__name__})",
            where=self.path,
            hint="download it again, or leave it out",
        )
