"""Streams of plain, gz, bz2 and zst files, with error messages that explain damaged files.

xopen opens the same formats and uses isal, too, but decompresses bz2 on several cores only with an
external program. It cannot read a part of a bz2 file, does not tell the position in the packed
file, which a progress bar needs, and passes on the various errors of the decompressors.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from isal.igzip_lib import IsalError

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import check_unpacked

if TYPE_CHECKING:  # working processes start in three quarters of the time without `requests`
    from factdrift.builders.core.streams import RemoteFile

Packing = Literal["plain", "gz", "bz2", "zst"]

HEAD = 8
"""Bytes at the beginning of a file that are read to recognise its format; no magic is longer."""
_PACKING_MAGIC: dict[bytes, Packing] = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zst",
}
_FOREIGN_MAGIC = {
    b"7z\xbc\xaf": "a 7z archive",
    b"\xfd7zXZ": "an xz file",
    b"PK\x03\x04": "a zip archive",
    b"\x89PNG": "a PNG picture",
}
"""Formats that are refused, by the first bytes of a file."""
# Unpacking such a file can help, so the error message suggests it.
_ARCHIVE_KINDS = ("a 7z archive", "an xz file", "a zip archive")
PIECE = 1 << 20
"""Bytes that `pieces` yields at a time: large enough that calls cost nothing, small in memory."""
_BUFFER_PIECE = 1 << 18
"""Bytes that are decompressed at a time when a buffer is filled."""
_DAMAGE_ERRORS: tuple[type[Exception], ...] = (
    *(OSError, EOFError, RuntimeError, ValueError),
    IsalError,  # type: ignore[assignment]  # its stub says an instance
)
"""The errors that the decompressors raise for data that is cut short or damaged."""


class Compressed:
    """One open file that is decompressed as it is read. Its first bytes tell its format.

    `threads` is the number of additional threads that decompress (at most one for gz). `block` is
    the number of bytes that the thread of a gz file hands over at a time. `foreign` maps more first
    bytes of refused files to the names of their formats. `within` is a range of bytes in the file
    that consists of whole bz2 streams; only these are read. `hint` says in error messages what to
    do about a damaged file. `remote` is a file that is read from its address as it comes; `path` is
    then its name.

    The attribute `head` holds the first bytes of the packed file, `size` is its size in bytes, and
    `read_bytes` counts the decompressed bytes. Raises `UserError` if the file cannot be read, is
    empty, has another format, is cut short or is damaged. The message says how far the file was
    read, and what the decompressor reported: a missing end, a wrong checksum.
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
        remote: "RemoteFile | None" = None,
    ) -> None:
        self.path = path
        self.read_bytes = 0
        self._hint = hint
        self._within = within
        self._bzip2: Any = None
        try:
            self.size = remote.size if remote else path.stat().st_size
            self._raw: RawIOBase = remote.open() if remote else path.open("rb", buffering=0)
            self.head = self._raw.read(HEAD) or b""
            self._raw.seek(0)
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror}", where=path) from error
        try:
            self.packing = _packing_of(path, self.head, foreign or {})
            if remote and self.packing == "bz2":
                hint_text = "name the .gz of the day, or leave --stream out"
                raise UserError("bz2 is not read as it comes", where=path, hint=hint_text)
            self._stream = self._open(threads, block)
        except UserError:
            self._raw.close()
            raise
        except _DAMAGE_ERRORS as error:
            self._raw.close()
            raise self._damaged(error, 0) from error

    def _open(self, threads: int, block_size: int) -> Any:
        if self._within is not None:
            import bz2

            # rapidgzip reads whole files only; the standard library is enough for some streams
            self._raw.seek(self._within[0])
            return bz2.open(BytesIO(self._raw.read(self._within[1] - self._within[0])))
        if self.packing == "gz":
            from isal import igzip, igzip_threaded

            if threads:
                # larger blocks change hands less often: each time costs a turn of the GIL
                return igzip_threaded.open(self._raw, "rb", threads=1, block_size=block_size)  # type: ignore[no-untyped-call]
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
        """Return the next bytes, at most `size`; they are empty at the end of the file."""
        try:
            piece = bytes(self._stream.read(size))
        except _DAMAGE_ERRORS as error:
            raise self._damaged(error, 0) from error
        self._count(len(piece))
        return piece

    def readinto(self, buffer: memoryview, start: int, stop: int) -> int:
        """Fill `buffer[start:stop]`, or less at the end of the file; return the number of bytes."""
        filled_to = start
        try:
            while filled_to < stop:
                byte_count = self._stream.readinto(
                    buffer[filled_to : min(filled_to + _BUFFER_PIECE, stop)]
                )
                if not byte_count:
                    break
                filled_to += byte_count
        except _DAMAGE_ERRORS as error:
            raise self._damaged(error, filled_to - start) from error
        self._count(filled_to - start)
        return filled_to - start

    def _count(self, byte_count: int) -> None:
        """Count what was unpacked; `UserError` where it is far more than honest files unpack to."""
        self.read_bytes += byte_count
        packed = self._within[1] - self._within[0] if self._within else self.size
        check_unpacked(packed, self.read_bytes, self.path)

    def position(self) -> int:
        """Return how many bytes of the packed file have been read, for a progress bar."""
        if not self._bzip2:
            return self._raw.tell()
        with suppress(IndexError):  # before its first block is read
            return int(self._bzip2.tell_compressed()) // 8  # it counts bits
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
        reached_place = f"{self.read_bytes + unfinished_bytes:,} bytes of its text"
        if self._within is not None:
            reached_place = f"byte {self._within[0] + 1:,} of {self.size:,}"
        elif not self._raw.closed:
            reached_place += f", about byte {self.position():,} of {self.size:,}"
        reason = error or type(error).__name__
        return UserError(
            f"the file is cut short or damaged after {reached_place} ({reason})",
            where=self.path,
            hint=self._hint,
        )


def pieces(
    path: Path, *, within: tuple[int, int] | None = None, threads: int = 0
) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, at most 1 MB at a time.

    For `within`, `threads` and `UserError` see `Compressed`.
    """
    with Compressed(path, threads=threads, within=within) as open_file:
        while piece := open_file.read(PIECE):
            yield piece


def _packing_of(path: Path, file_head: bytes, foreign: Mapping[bytes, str]) -> Packing:
    """Return the format of a file with these first bytes.

    Raises `UserError` if the file is empty or has a format that is refused.
    """
    if not file_head:
        raise UserError("the file is empty", where=path)
    for first_bytes, file_kind in {**_FOREIGN_MAGIC, **foreign}.items():
        if file_head.startswith(first_bytes):
            hint_text = "unpack it" if file_kind in _ARCHIVE_KINDS else None
            raise UserError(
                f"this is {file_kind}, not plain, gz, bz2 or zst", where=path, hint=hint_text
            )
    return next(
        (
            packing
            for first_bytes, packing in _PACKING_MAGIC.items()
            if file_head.startswith(first_bytes)
        ),
        "plain",
    )
