"""Lines in a file, each on the disk before its writer goes on."""

import os
from collections.abc import Iterator
from pathlib import Path

from factdrift.builders.core.files import sync


class Journal:
    """A file of lines that only grows, for one process.

    What a killed process left of a line, nobody was told of: it is cut off, and `cut` says how
    many bytes that were. `OSError` of an append: the line is not in the file.
    """

    def __init__(self, journal_path: Path) -> None:
        journal_path.parent.mkdir(parents=True, exist_ok=True)
        self.path = journal_path
        self._handle = os.open(journal_path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with journal_path.open("rb") as journal_file:
            complete_size = sum(
                len(file_line) for file_line in journal_file if file_line.endswith(b"\n")
            )
        self.cut = os.fstat(self._handle).st_size - complete_size
        os.ftruncate(self._handle, complete_size)
        sync(journal_path)
        sync(journal_path.parent)

    def close(self) -> None:
        os.close(self._handle)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        with self.path.open(encoding="utf-8") as journal_file:
            yield from journal_file

    def append(self, journal_line: str) -> None:
        """Write a line, and return when it is on the disk."""
        earlier_size = os.fstat(self._handle).st_size
        unwritten_bytes = memoryview(journal_line.encode() + b"\n")
        try:
            while unwritten_bytes:
                unwritten_bytes = unwritten_bytes[os.write(self._handle, unwritten_bytes) :]
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, earlier_size)
            raise
