"""Titles of pages: their one spelling, and millions of them as sorted hashes."""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from builders.errors import UserError

_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\ufeff]")
_ILLEGAL = re.compile(r"[\[\]{}|<>\x00-\x1f\x7f\ufffd]")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ITEM = re.compile(r"Q([1-9]\d{0,17})", re.ASCII)
_LONGEST = 255
"""Bytes of UTF-8 in a title, as MediaWiki allows."""

Hashes = Any
"""A numpy array of uint64."""


def normalise(title: str) -> str:
    """The spelling that MediaWiki keeps a title in; empty where it is none.

    Underscores are spaces, runs of spaces one, a fragment (`#…`) goes, the first letter is a
    capital, `%28` is decoded, letters are in NFC.
    """
    if "%" in title and _PERCENT.search(title):
        title = unquote(title)
    if not title.isascii():
        title = unicodedata.normalize("NFC", _MARKS.sub("", title))
    title = " ".join(title.partition("#")[0].replace("_", " ").split())
    title = title.removeprefix(":").lstrip()
    first = title[:1].upper()
    if not title or _ILLEGAL.search(title):
        return ""
    title = first + title[1:] if len(first) == 1 else title
    return title if len(title) < _LONGEST // 4 or len(title.encode()) <= _LONGEST else ""


def hash_of(title: str) -> int:
    """64 bits that stand for a normalised title.

    Two of 20 million titles share them with a chance of about 1 in 100,000.
    """
    return int.from_bytes(blake2b(title.encode("utf-8", "replace"), digest_size=8).digest())


def number_of(item: str) -> int:
    """123 of `Q123`; 0 where it is no id of an item."""
    found = _ITEM.fullmatch(item)
    return int(found[1]) if found else 0


class Titles:
    """Titles as sorted 64-bit hashes, each with the number of a Wikidata item (0: none).

    16 bytes a title; a process that works on it maps the file that `save` wrote.
    """

    def __init__(self, hashes: Hashes, items: Any) -> None:
        self.hashes, self.items = hashes, items
        self._sorted_items: Any = None
        self.doubled: list[int] = []
        """Items that were given a title of another item."""
        self.unusable: list[int] = []
        """Items that were given a title that no page can have."""

    @classmethod
    def of(cls, given: "Titles | Mapping[str, str] | Iterable[tuple[str, str]]") -> "Titles":
        """From pairs of title and item id, gone through once.

        Of two items with one title the smaller id is kept, the other is in `doubled`.
        `UserError`: no id of an item.
        """
        if isinstance(given, Titles):
            return given
        pairs = given.items() if isinstance(given, Mapping) else given
        hashes, items = array("Q"), array("Q")
        unusable: list[int] = []
        for title, item in pairs:
            if not (number := number_of(item)):
                raise UserError(f"not the id of a Wikidata item: {item!r} (of {title!r})")
            if not (name := normalise(title)):
                unusable.append(number)
                continue
            hashes.append(hash_of(name))
            items.append(number)
        made = cls._sorted(hashes, items)
        made.unusable = unusable
        return made

    @classmethod
    def without_items(cls, titles: "Titles | Iterable[str]") -> "Titles":
        """From titles alone; those that no page can have are passed over."""
        if isinstance(titles, Titles):
            return titles
        hashes = array("Q", (hash_of(n) for n in map(normalise, titles) if n))
        return cls._sorted(hashes, array("Q", bytes(8 * len(hashes))))

    @classmethod
    def _sorted(cls, hashes: "array[int]", items: "array[int]") -> "Titles":
        keys, numbers = np.frombuffer(hashes, np.uint64), np.frombuffer(items, np.uint64)
        order = np.lexsort((numbers, keys))
        keys, numbers = keys[order], numbers[order]
        first = np.ones(len(keys), bool)
        first[1:] = keys[1:] != keys[:-1]
        made = cls(keys[first], numbers[first])
        lost = np.unique(numbers[~first])
        made.doubled = lost[~np.isin(lost, made.items)].tolist()
        return made

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, key: int) -> int:
        """The item of a hash; -1 where it is not among the titles."""
        at = int(self.hashes.searchsorted(np.uint64(key)))
        found = at < len(self.hashes) and int(self.hashes[at]) == key
        return int(self.items[at]) if found else -1

    def has(self, keys: Hashes) -> Any:
        """Which of an array of hashes are among the titles."""
        return member(keys, self.hashes)

    def has_item(self, number: int) -> bool:
        """Whether a title's item has this number."""
        if self._sorted_items is None:
            self._sorted_items = np.sort(self.items)
        at = int(self._sorted_items.searchsorted(np.uint64(number)))
        return at < len(self.items) and int(self._sorted_items[at]) == number

    def save(self, path: Path) -> None:
        """Write both columns as one `.npy` array of two rows."""
        np.save(path, np.stack([self.hashes, self.items]))

    @classmethod
    def load(cls, path: Path) -> "Titles":
        """Map what `save` wrote: its pages in memory are shared by all processes."""
        both = np.load(path, mmap_mode="r")
        return cls(np.asarray(both[0]), np.asarray(both[1]))

    def digest(self) -> bytes:
        """What the titles and items are, as 16 bytes."""
        state = blake2b(digest_size=16)
        for column in (self.hashes, self.items):
            state.update(np.ascontiguousarray(column).data)
        return state.digest()


def member(keys: Hashes, among: Hashes) -> Any:
    """Which of `keys` are in the sorted array `among`."""
    if not len(among):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return among[at] == keys
