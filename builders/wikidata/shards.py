"""The files of a dump: which they are, of what day, and how their bytes are read."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from builders.errors import UserError
from builders.files import find_files

_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
_OTHER = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF file",
    b"SQLite": "an SQLite database",
    b"\xfd7zXZ": "an xz file (it has to be gz, bz2, zst or plain)",
    b"7z\xbc\xaf": "a 7z archive",
    b"<": "XML or HTML, perhaps an error page saved as the dump",
}
_TAKEN = re.compile(r"\.(json|jsonl|ndjson)(\.(gz|bz2|zst|zstd))?$|\.(gz|bz2|zst|zstd)$", re.I)
_DAY = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")
_PIECE = 1 << 18
"""Bytes that are decompressed at a time."""
_BROKEN = (OSError, EOFError, RuntimeError, ValueError)
"""What the decompressors raise on data that is cut or damaged."""


def find_shards(dumps: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that paths, globs and folders name, each once, sorted within each of them.

    `UserError` where one names nothing.
    """
    hint = "its files end in .json, .json.gz, .json.bz2 or .json.zst"
    return find_files(dumps, lambda name: bool(_TAKEN.search(name)), "dump", hint)


def snapshot_of(paths: Sequence[Path], given: date | str | None = None) -> date:
    """The day of a dump: as given, else as all of its file names say it.

    `wikidata-20261109-all.json.gz` and `20261109.json.gz` are of 9 November 2026. `UserError`:
    no name says a day, two say different ones, or it is not a day of the calendar.
    """
    if given is not None:
        try:
            return given if isinstance(given, date) else date.fromisoformat(given)
        except ValueError as error:
            raise UserError(f"not a snapshot day: {given!r} (write 2026-11-09)") from error
    hint = "say the day: --snapshot-date 2026-11-09, or `snapshot: 2026-11-09` in the recipe"
    days: dict[date, Path] = {}
    for path in paths:
        for year, month, day in _DAY.findall(path.name):
            try:
                days.setdefault(date(int(year), int(month), int(day)), path)
            except ValueError:
                text = f"{year}{month}{day} in its name is not a day"
                raise UserError(text, where=path, hint=hint) from None
    if not days:
        raise UserError("its name does not say the day of the dump", where=paths[0], hint=hint)
    if len(days) > 1:
        said = ", ".join(f"{path.name} ({day})" for day, path in sorted(days.items())[:3])
        raise UserError(f"files of different days: {said}", hint=hint)
    return next(iter(days))


class Shard:
    """One open file, decompressed as it is read; its form is told by its first bytes.

    `threads` is how many may decompress beside the caller's: none for gz and 0.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self.path = path
        self.bytes = 0
        self._bits: Any = None
        try:
            self.size = path.stat().st_size
            self._raw = path.open("rb", buffering=0)
            head = self._raw.read(8)
            self._raw.seek(0)
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror}", where=path) from error
        self.form = next((f for magic, f in _MAGIC.items() if head.startswith(magic)), "plain")
        wrong = next((what for magic, what in _OTHER.items() if head.startswith(magic)), None)
        if not head or wrong:
            self._raw.close()
            text = f"this is {wrong}, not a dump" if wrong else "the file is empty"
            raise UserError(text, where=path)
        try:
            self._stream = self._open(threads)
        except _BROKEN as error:
            raise self._damaged(error, 0) from error

    def _open(self, threads: int) -> Any:
        if self.form == "gz":
            from isal import igzip, igzip_threaded

            if threads:
                # larger pieces change hands less often: each time costs a turn of the GIL
                size = 4 << 20
                return igzip_threaded.open(self._raw, "rb", threads=1, block_size=size)  # type: ignore[no-untyped-call]
            return igzip.open(self._raw, "rb")  # type: ignore[no-untyped-call]
        if self.form == "bz2":
            from rapidgzip import IndexedBzip2File

            self._bits = IndexedBzip2File(str(self.path), parallelization=max(threads, 1))
            return self._bits
        if self.form == "zst":
            import pyarrow as pa

            return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd")
        return self._raw

    def readinto(self, buffer: memoryview, start: int, stop: int) -> int:
        """Fill `buffer[start:stop]` unless the file ends before; the number of bytes.

        `UserError` where the file is cut short or damaged.
        """
        at = start
        try:
            while at < stop:
                n = self._stream.readinto(buffer[at : min(at + _PIECE, stop)])
                if not n:
                    break
                at += n
        except _BROKEN as error:
            raise self._damaged(error, at - start) from error
        self.bytes += at - start
        return at - start

    def position(self) -> int:
        """How many bytes of the file itself have been read."""
        if not self._bits:
            return self._raw.tell()
        with suppress(IndexError):  # before its first block is read
            return int(self._bits.tell_compressed()) // 8
        return 0

    def close(self) -> None:
        self._stream.close()
        self._raw.close()

    def _damaged(self, error: Exception, more: int) -> UserError:
        if isinstance(error, OSError) and error.errno is not None:
            return UserError(f"cannot be read: {error.strerror}", where=self.path)
        at = f"{self.bytes + more:,} bytes of JSON, about byte {self.position():,} of {self.size:,}"
        return UserError(
            f"the file is cut short or damaged after {at} ({error or type(error).__name__})",
            where=self.path,
            hint="download it again; what was read before it is kept, and a rerun goes on",
        )
