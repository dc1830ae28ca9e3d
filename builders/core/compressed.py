"""Files opened for streaming, whether plain, gz, bz2 or zst; damage is told in plain words.

xopen opens the same formats, with bz2 on several cores only by a program that has to be installed.
It has no reading of some streams of a bz2 file, no position in the packed file for progress, and
leaves damage to the words of each decompressor. It stands on isal, too, as this module does.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from isal.igzip_lib import IsalError

from factdrift.builders.core.errors import UserError

Packing = Literal["plain", "gz", "bz2", "zst"]

HEAD = 8
"""Bytes at the beginning of a file by which it is told what it is."""
_MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
_FOREIGN = {
    b"7z\xbc\xaf": "a 7z archive",
    b"\xfd7zXZ": "an xz file",
    b"PK\x03\x04": "a zip archive",
    b"\x89PNG": "a PNG picture",
}
"""Files that no reader of ours takes, by their first bytes."""
_PACKED = ("a 7z archive", "an xz file", "a zip archive")
PIECE = 1 << 20
"""Bytes that `pieces` gives at a time."""
_PIECE = 1 << 18
"""Bytes that are decompressed at a time where a buffer is filled."""
_BROKEN: tuple[type[Exception], ...] = (
    *(OSError, EOFError, RuntimeError, ValueError),
    IsalError,  # type: ignore[assignment]  # its stub says an instance
)
"""What the decompressors raise on data that is cut or damaged."""


class Compressed:
    """One open file, decompressed as it is read; how it is packed is told by its first bytes.

    `threads`: how many may decompress beside the caller's (gz: one, bz2: so many); `block`: bytes
    that such a thread of gz hands over at a time. `foreign`: more first bytes of files that are
    refused, and what those are. `within`: bytes of the file that are whole bz2 streams, which
    alone are read. `hint`: what to do about a damaged file.

    `head` is the beginning of the file as it lies on the disk, `size` its bytes there, `read_bytes`
    counts what was decompressed. `UserError`: unreadable, empty, a file of another kind, cut short
    or damaged (with how far it was read, and what the decompressor says of it: the end is missing,
    a checksum differs).
    """

    def __init__(
        self,
        path: Path,
        *,
        threads: int = 0,
        block: int = 4 << 20,
        foreign: Mapping[bytes, str] | None = None,
        within: tuple[int, int] | None = None,
        hint: str = "download it again",
    ) -> None:
        self.path = path
        self.read_bytes = 0
        self._hint = hint
        self._within = within
        self._bzip2: Any = None
        try:
            self.size = path.stat().st_size
            self._raw = path.open("rb", buffering=0)
            self.head = self._raw.read(HEAD)
            self._raw.seek(0)
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror}", where=path) from error
        try:
            self.packing = _packing_of(path, self.head, foreign or {})
            self._stream = self._open(threads, block)
        except UserError:
            self._raw.close()
            raise
        except _BROKEN as error:
            self._raw.close()
            raise self._damaged(error, 0) from error

    def _open(self, threads: int, block: int) -> Any:
        if self._within is not None:
            import bz2

            self._raw.seek(self._within[0])
            return bz2.open(BytesIO(self._raw.read(self._within[1] - self._within[0])))
        if self.packing == "gz":
            from isal import igzip, igzip_threaded

            if threads:
                # larger blocks change hands less often: each time costs a turn of the GIL
                return igzip_threaded.open(self._raw, "rb", threads=1, block_size=block)  # type: ignore[no-untyped-call]
            return igzip.open(self._raw, "rb")  # type: ignore[no-untyped-call]
        if self.packing == "bz2":
            from rapidgzip import IndexedBzip2File

            self._bzip2 = IndexedBzip2File(str(self.path), parallelization=max(threads, 1))
            return self._bzip2
        if self.packing == "zst":
            import pyarrow as pa

            return pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), "zstd")
        return self._raw

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        try:
            piece = bytes(self._stream.read(size))
        except _BROKEN as error:
            raise self._damaged(error, 0) from error
        self.read_bytes += len(piece)
        return piece

    def readinto(self, buffer: memoryview, start: int, stop: int) -> int:
        """Fill `buffer[start:stop]` unless the file ends before; the number of bytes."""
        filled = start
        try:
            while filled < stop:
                byte_count = self._stream.readinto(buffer[filled : min(filled + _PIECE, stop)])
                if not byte_count:
                    break
                filled += byte_count
        except _BROKEN as error:
            raise self._damaged(error, filled - start) from error
        self.read_bytes += filled - start
        return filled - start

    def position(self) -> int:
        """How many bytes of the file itself have been read, for progress."""
        if not self._bzip2:
            return self._raw.tell()
        with suppress(IndexError):  # before its first block is read
            return int(self._bzip2.tell_compressed()) // 8
        return 0

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._raw.close()

    def __enter__(self) -> "Compressed":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _damaged(self, error: Exception, unfinished_bytes: int) -> UserError:
        if isinstance(error, OSError) and error.errno is not None:
            return UserError(f"cannot be read: {error.strerror}", where=self.path)
        place = f"{self.read_bytes + unfinished_bytes:,} bytes of its text"
        if self._within is not None:
            place = f"byte {self._within[0] + 1:,} of {self.size:,}"
        elif not self._raw.closed:
            place += f", about byte {self.position():,} of {self.size:,}"
        return UserError(
            f"the file is cut short or damaged after {place} ({error or type(error).__name__})",
            where=self.path,
            hint=self._hint,
        )


def pieces(
    path: Path, *, within: tuple[int, int] | None = None, threads: int = 0
) -> Iterator[bytes]:
    """A file's bytes, decompressed, in pieces of at most 1 MB.

    `within`, `threads` and `UserError`: see `Compressed`.
    """
    with Compressed(path, threads=threads, within=within) as file:
        while piece := file.read(PIECE):
            yield piece


def _packing_of(path: Path, head: bytes, foreign: Mapping[bytes, str]) -> Packing:
    """How a file with these first bytes is packed. `UserError`: it is empty, or of another kind."""
    if not head:
        raise UserError("the file is empty", where=path)
    for magic, what in {**_FOREIGN, **foreign}.items():
        if head.startswith(magic):
            hint = "unpack it" if what in _PACKED else None
            raise UserError(f"this is {what}, not plain, gz, bz2 or zst", where=path, hint=hint)
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), "plain")
