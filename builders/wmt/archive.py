"""The files of a news archive: which they are, and their bytes as blocks of whole lines."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from builders.errors import UserError
from builders.files import find_files

Paths = str | Path | Sequence[str | Path]
Form = Literal["wmt", "jsonl"]

BLOCK = 2 << 20
"""Bytes of a block of usual lines: it stays in the processor's cache while it is parsed."""
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
    """Whole lines of one file; `data` is lent until the next block is asked for.

    `first` is the number of lines before it, `form` what a line holds, `read` how many bytes of
    the file itself were read for it.
    """

    data: bytearray
    first: int
    lines: int
    form: Form
    read: int


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

    A line's end is `\\n`; the last line may lack it. `UserError` where the file cannot be read,
    is cut short or damaged (with how far it was read), or has no line ends.
    """
    stream = _Stream(path)
    try:
        flow = _parquet_blocks(path) if stream.form == "parquet" else _line_blocks(stream, size)
        yield from flow
    finally:
        stream.close()


def _line_blocks(stream: "_Stream", size: int) -> Iterator[Block]:
    buffer = bytearray(2 * size)
    filled = lines = before = 0
    form: Form | None = None
    ended = False
    while not ended:
        want = min(size, len(buffer) - filled)
        with memoryview(buffer) as view:
            got = stream.readinto(view[filled : filled + want])
        ended = got < want
        searched, filled = filled, filled + got
        cut = filled if ended else buffer.rfind(b"\n", searched, filled) + 1
        if cut == 0 and not ended:
            if filled >= LONGEST:
                text = f"line {lines + 1} is longer than {LONGEST >> 20} MB: not a news archive"
                raise UserError(text, where=stream.path)
            if filled + size > len(buffer):
                buffer.extend(bytes(len(buffer)))
            continue
        if not cut:
            return
        form = form or (
            "jsonl" if buffer[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" else "wmt"
        )
        rest = buffer[cut:filled]
        del buffer[cut:]
        at = stream.position()
        n = buffer.count(b"\n") + (buffer[-1] != 10)
        yield Block(buffer, lines, n, form, at - before)
        before = at
        lines += n
        buffer.extend(bytes(max(2 * size - len(buffer), len(rest) + size - len(buffer), 0)))
        buffer[: len(rest)] = rest
        filled = len(rest)


def _parquet_blocks(path: Path) -> Iterator[Block]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = set(file.schema_arrow.names)
            if missing := {"date", "text"} - names:
                raise UserError(f"no column {', '.join(sorted(missing))}", where=path)
            wanted = [n for n in ("date", "text", "title", "url") if n in names]
            rows, part = 0, path.stat().st_size // max(file.metadata.num_rows, 1)
            encode = msgspec.json.Encoder().encode
            for batch in file.iter_batches(1024, columns=wanted):
                data = bytearray()
                for row in batch.to_pylist():
                    data += encode(row) + b"\n"
                yield Block(data, rows, batch.num_rows, "jsonl", part * batch.num_rows)
                rows += batch.num_rows
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

            return igzip_threaded.open(self._raw, "rb", threads=1, block_size=_PIECE * 4)  # type: ignore[no-untyped-call]
        if self.form == "bz2":
            from rapidgzip import IndexedBzip2File

            self._bits = IndexedBzip2File(str(self.path), parallelization=1)
            return self._bits
        if self.form == "zst":
            import pyarrow as pa

            return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd")
        return self._raw

    def readinto(self, view: memoryview) -> int:
        """Fill the view unless the file ends before; the number of bytes."""
        done = 0
        try:
            while done < len(view):
                n = self._stream.readinto(view[done : done + _PIECE])
                if not n:
                    break
                done += n
        except _BROKEN as error:
            self.bytes += done
            raise self._damaged(error) from error
        self.bytes += done
        return done

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
