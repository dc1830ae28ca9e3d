"""A file that grows over several runs, with a checksum of what is in it so far."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from factdrift.builders.core.files import clear_place, sync
from factdrift.builders.core.seals import sealed, unsealed

__outside_step_keys__ = True

_NOTE_EVERY = 1 << 20
"""Bytes between two notes: what a killed run loses at most."""
_READ_SIZE = 1 << 20  # bytes


class GrowingFile:
    """An unfinished file at `path`; a note beside it has its size and sha256.

    A run that was stopped leaves both. `take_up` checks the file against its note before a later
    run goes on with it: a bit that was flipped meanwhile would be part of the finished file.
    """

    def __init__(self, path: Path, algorithm: str = "sha256") -> None:
        """`algorithm` is that of a second checksum, `hexdigest`."""
        self.path = path
        self._note = path.with_name(f"{path.name}.json")
        self._algorithm = algorithm
        self._begin()

    def _begin(self) -> None:
        self._hash = hashlib.sha256()
        self._second_hash = hashlib.new(self._algorithm, usedforsecurity=False)
        self.size = 0

    def _count(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._second_hash.update(piece)
        self.size += len(piece)

    def take_up(self) -> bool:
        """Go on with what an earlier run left; return False if that was changed, and is gone."""
        if self.path.is_symlink():  # a planted link is not written through
            self.path.unlink()
        if not self.path.is_file():
            return True
        note = None
        with suppress(OSError):
            note = unsealed(self._note.read_bytes())
        if note and self._read(int(note["size"])) and self.sha256() == note["sha256"]:
            with self.path.open("r+b") as file:
                file.truncate(self.size)
            return True
        self.clear()
        return False

    def _read(self, size: int) -> bool:
        """Read the first bytes into the checksum; return False if there are not so many."""
        self._begin()
        with self.path.open("rb") as file:
            while self.size < size and (piece := file.read(min(_READ_SIZE, size - self.size))):
                self._count(piece)
        return self.size == size

    @contextmanager
    def appending(self) -> Iterator[Callable[[bytes], None]]:
        """Open the file; the function that is yielded writes a piece at its end."""
        noted_size = self.size
        if not self.size:
            clear_place(self.path)
        with self.path.open("ab" if self.size else "wb") as file:

            def append(piece: bytes) -> None:
                nonlocal noted_size
                file.write(piece)
                self._count(piece)
                if self.size - noted_size >= _NOTE_EVERY:
                    file.flush()
                    self._write_note()
                    noted_size = self.size

            try:
                yield append
            finally:
                file.flush()
                self._write_note()

    def _write_note(self) -> None:
        unfinished_note = clear_place(self._note.with_name(f"{self._note.name}.tmp"))
        note = sealed({"size": self.size, "sha256": self.sha256()})
        unfinished_note.write_text(json.dumps(note), "utf-8")
        unfinished_note.replace(self._note)

    def sha256(self) -> str:
        """Return the sha256 of what is in the file, in hex."""
        return self._hash.hexdigest()

    def hexdigest(self) -> str:
        """Return the checksum of the second algorithm of what is in the file."""
        return self._second_hash.hexdigest()

    def clear(self) -> None:
        """Remove the file and its note, and begin anew."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self._begin()

    def finish(self, target_path: Path) -> None:
        """Give the file, which is complete, its own name."""
        sync(self.path)
        self.path.replace(target_path)
        self._note.unlink(missing_ok=True)
