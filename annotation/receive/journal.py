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

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with path.open("rb") as file:
            whole = sum(len(line) for line in file if line.endswith(b"\n"))
        self.cut = os.fstat(self._handle).st_size - whole
        os.ftruncate(self._handle, whole)
        sync(path)
        sync(path.parent)

    def close(self) -> None:
        os.close(self._handle)

    def lines(self) -> Iterator[str]:
        """What is in the file."""
        with self.path.open(encoding="utf-8") as file:
            yield from file

    def append(self, line: str) -> None:
        """Write a line, and return when it is on the disk."""
        size = os.fstat(self._handle).st_size
        data = memoryview(line.encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, size)
            raise
