"""Rows of a sorted file, read by key in ascending order."""

from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Generic, TypeVar

from factdrift.builders.core.schema import typed_rows

T = TypeVar("T")


class SortedRows(Generic[T]):
    """The rows of a sorted file by a key; keys are asked for in ascending order."""

    def __init__(self, path: Path, row: type[T], key: str, batch: int = 4096) -> None:
        self._groups = groupby(typed_rows(path, row, batch), key=attrgetter(key))
        self._next: tuple[str, list[T]] | None = None

    def with_key(self, key: str) -> list[T]:
        """The rows with this key; none where the file has none."""
        # Item ids are sorted as numbers: `Q9` before `Q10`.
        sort_key = len(key), key
        while self._next is None or (len(self._next[0]), self._next[0]) < sort_key:
            group = next(self._groups, None)
            if group is None:
                return []
            self._next = group[0], list(group[1])
        return self._next[1] if self._next[0] == key else []
