"""Buffers that several processes share."""

import mmap
from multiprocessing.shared_memory import SharedMemory
from typing import Any


class Memory:
    """Buffers that this process and its readers see; the most of each is never touched.

    Forked processes inherit them; spawned ones get their names.
    """

    views: list[memoryview]

    def __init__(self, count: int, size: int, fork: bool) -> None:
        self.named = [] if fork else [SharedMemory(create=True, size=size) for _ in range(count)]
        maps = [mmap.mmap(-1, size) for _ in range(count if fork else 0)]
        self.views = [memoryview(m) for m in maps] or _views(self.named)

    def __reduce__(self) -> tuple[Any, ...]:
        return _attached, ([m.name for m in self.named],)

    def close(self) -> None:
        for view in self.views:
            view.release()
        for memory in self.named:
            memory.close()
            memory.unlink()


def _attached(names: list[str]) -> Memory:
    memory = Memory(0, 0, True)
    memory.named = [SharedMemory(name) for name in names]
    memory.views = _views(memory.named)
    return memory


def _views(named: list[SharedMemory]) -> list[memoryview]:
    return [m.buf for m in named if m.buf is not None]
