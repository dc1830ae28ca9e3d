"""Lines in a file, each on the disk before its writer goes on."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from factdrift.builders.core.files import sync


class Journal:
    """A file of lines that only grows, for one process and one event loop.

    Lines that come while others are being written are written together, with one fsync for all of
    them. What a killed process left of a line, nobody was told of: it is cut off, and `cut` says
    how many bytes that were. `OSError` of an append: the line is not in the file.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        whole = self._last_line_end()
        self.cut = os.fstat(self._handle).st_size - whole
        if self.cut:
            os.ftruncate(self._handle, whole)
            os.fsync(self._handle)
        sync(path.parent)
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def lines(self) -> Iterator[str]:
        """What is in the file."""
        with self.path.open(encoding="utf-8") as file:
            yield from file

    async def append(self, line: str) -> None:
        """Write a line; done when it is on the disk."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((line.encode() + b"\n", done))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        await asyncio.shield(done)

    async def _write(self) -> None:
        while self._waiting:
            together, self._waiting = self._waiting, []
            error: OSError | None = None
            try:
                await asyncio.to_thread(self._put, b"".join(line for line, _ in together))
            except OSError as found:
                error = found
            for _, done in together:
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)
        self._writer = None

    def _put(self, data: bytes) -> None:
        size = os.fstat(self._handle).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, size)
            raise

    def _last_line_end(self) -> int:
        end = os.fstat(self._handle).st_size
        while end:
            start = max(0, end - (1 << 16))
            found = os.pread(self._handle, end - start, start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
        return 0
