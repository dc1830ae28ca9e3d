"""Files that are read from their addresses as they come, and of which no copy is kept.

A connection that breaks off is taken up where it broke. The checksum that the publisher states is
compared when the last byte has come.
"""

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from factdrift.builders.core.addresses import WEB_SCHEMES, parse_address, without_credentials
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryError, RetryPolicy, retry
from factdrift.builders.core.progress import say
from factdrift.builders.core.remote import (
    INPUT_SCHEMES,
    POLICY,
    BucketFiles,
    Checksum,
    FileHead,
    WebFiles,
    differing_checksum,
)

__outside_step_keys__ = True


class DifferingStreamError(UserError):
    """A stream that was read to its end is not the file that its publisher means."""


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address, with its size in bytes and the checksum that is stated of it."""

    address: str
    size: int
    version: str | None
    stated: Checksum | None

    @property
    def name(self) -> str:
        """The name of the file, without the folders of its address."""
        return unquote(without_credentials(self.address).rpartition("/")[2])

    def open(self) -> "RemoteStream":
        """Return a stream of the file from its beginning."""
        return RemoteStream(self)


def remote_file(address: str, stated: Checksum | None, policy: RetryPolicy = POLICY) -> RemoteFile:
    """Return the file at an address; `UserError` if there is none, or its size is not said."""
    parse_address(address, INPUT_SCHEMES)
    where = without_credentials(address)
    remote_files = _files_at(address, policy)
    file_head = retry(
        lambda _: remote_files.look(address), policy, where=where, hint="run it again later"
    )
    if file_head.size is None:
        hint_text = "leave --stream out: the file is fetched first"
        raise UserError("the server does not say how large it is", where=where, hint=hint_text)
    return RemoteFile(address, file_head.size, file_head.version, stated)


def _files_at(address: str, policy: RetryPolicy) -> WebFiles | BucketFiles:
    is_web = address.partition("://")[0].lower() in WEB_SCHEMES
    return WebFiles(policy) if is_web else BucketFiles(address)


class RemoteStream(io.RawIOBase):
    """The bytes of a remote file, in order; it can go back to its beginning alone."""

    def __init__(
        self,
        file: RemoteFile,
        policy: RetryPolicy = POLICY,
        report: Callable[[str], None] = say,
    ) -> None:
        self._file, self._policy, self._report = file, policy, report
        self._remote_files = _files_at(file.address, policy)
        self._begin()

    def _begin(self) -> None:
        self._position = self._handed = 0
        self._first_piece = b""
        self._piece = memoryview(b"")
        self._pieces: Iterator[bytes] | None = None
        stated = self._file.stated
        self._hash = hashlib.new(stated.algorithm, usedforsecurity=False) if stated else None

    def readable(self) -> bool:
        """Return True: it is for reading."""
        return True

    def tell(self) -> int:
        """Return how many bytes were handed out."""
        return self._handed

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the beginning."""
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("a stream goes back to its beginning alone")
        if self._position == len(self._first_piece):
            # who looked at the first bytes alone needs no second connection
            self._piece, self._handed = memoryview(self._first_piece), 0
        else:
            self._begin()
        return 0

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what has come; 0 at the end. `UserError` where nothing comes."""
        if not self._piece and self._position < self._file.size:
            where = without_credentials(self._file.address)
            hint_text = "run the same command again: it goes on where this run stopped"
            fetched_piece = retry(
                lambda _: self._fetch(),
                self._policy,
                where=where,
                hint=hint_text,
                report=self._report,
            )
            self._take(fetched_piece)
        byte_count = min(len(buffer), len(self._piece))
        buffer[:byte_count] = self._piece[:byte_count]
        self._piece = self._piece[byte_count:]
        self._handed += byte_count
        return byte_count

    def _fetch(self) -> bytes:
        """Return the next piece of the file, over a new connection if there is none."""
        if self._pieces is None:
            if self._position and self._file.version is None:
                error_text = (
                    "it broke off, and the server does not say whether it is still the same"
                )
                hint_text = "leave --stream out: the file is fetched first"
                where = without_credentials(self._file.address)
                raise UserError(error_text, where=where, hint=hint_text)
            file_head = FileHead(self._file.size, self._file.version)
            self._pieces = iter(
                self._remote_files.read(self._file.address, self._position, file_head)
            )
        try:
            for piece in self._pieces:
                if piece:
                    return piece
        except RetryError:
            self._pieces = None
            raise
        self._pieces = None
        raise RetryError("an answer that breaks off")

    def _take(self, fetched_piece: bytes) -> None:
        """Keep a piece to hand it out; compare the checksum at the end of the file."""
        self._piece = memoryview(fetched_piece)
        if not self._position:
            self._first_piece = fetched_piece
        self._position += len(fetched_piece)
        stated = self._file.stated
        if self._hash is None or stated is None:
            return
        self._hash.update(fetched_piece)
        if self._position >= self._file.size and self._hash.hexdigest() != stated.digits:
            where = without_credentials(self._file.address)
            error = differing_checksum(where, stated, self._hash.hexdigest())
            raise DifferingStreamError(str(error))
