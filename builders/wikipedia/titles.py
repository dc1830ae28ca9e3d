"""Titles of pages: their one spelling, millions of them as sorted hashes, and redirects."""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.references import without_references

_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\ufeff]")
_ILLEGAL = re.compile(r"[\[\]{}|<>\x00-\x1f\x7f\ufffd]")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ITEM = re.compile(r"Q([1-9]\d{0,17})", re.ASCII)
_LONGEST = 255
"""Bytes of UTF-8 in a title, as MediaWiki allows."""

Hashes = Any
"""A numpy array of uint64."""


def normalise(title: str) -> str:
    """The spelling in which MediaWiki keeps a title; empty where no page can have it.

    Underscores are spaces, runs of spaces one, a fragment (`#…`) goes, the first letter is a
    capital, `%28` and `&amp;` are decoded, letters are in NFC.
    """
    title = without_references(title)
    if "%" in title and _PERCENT.search(title):
        title = unquote(title)
    if not title.isascii():
        title = unicodedata.normalize("NFC", _MARKS.sub("", title))
    if "#" in title or "_" in title:
        title = title.partition("#")[0].replace("_", " ")
    title = " ".join(title.split())
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
    return int.from_bytes(fast_hash(title.encode("utf-8", "replace")))


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
        self.doubled: list[int] = []
        """Items whose title is also that of another item, which keeps it."""
        self.unusable: list[int] = []
        """Items whose title no page can have."""

    @classmethod
    def of(cls, given: Mapping[str, str] | Iterable[tuple[str, str]]) -> "Titles":
        """From pairs of title and item id, gone through once.

        Of two items with one title the smaller id is kept, the other is in `doubled`.
        `UserError`: no id of an item.
        """
        hashes, items = array("Q"), array("Q")
        unusable: list[int] = []
        for title, item in given.items() if isinstance(given, Mapping) else given:
            if not (number := number_of(item)):
                raise UserError(f"not the id of a Wikidata item: {item!r} (of {title!r})")
            if not (name := normalise(title)):
                unusable.append(number)
                continue
            hashes.append(hash_of(name))
            items.append(number)
        keys, numbers = np.frombuffer(hashes, np.uint64), np.frombuffer(items, np.uint64)
        order = np.lexsort((numbers, keys))
        keys, numbers = keys[order], numbers[order]
        first = np.ones(len(keys), bool)
        first[1:] = keys[1:] != keys[:-1]
        made = cls(keys[first], numbers[first])
        lost = np.unique(numbers[~first])
        made.doubled = lost[~np.isin(lost, made.items)].tolist()
        made.unusable = unusable
        return made

    def find(self, key: int) -> int:
        """The item of a hash; -1 where it is not among the titles."""
        at = int(self.hashes.searchsorted(np.uint64(key)))
        found = at < len(self.hashes) and int(self.hashes[at]) == key
        return int(self.items[at]) if found else -1

    @cached_property
    def _sorted_items(self) -> Any:
        return np.sort(self.items)

    def has_item(self, number: int) -> bool:
        """Whether a title's item has this number."""
        return bool(member(np.array([number], np.uint64), self._sorted_items)[0])

    def save(self, path: Path) -> None:
        """Write both columns as one `.npy` array of two rows."""
        np.save(path, np.stack([self.hashes, self.items]))

    @classmethod
    def load(cls, path: Path) -> "Titles":
        """Map what `save` wrote: its pages in memory are shared by all processes."""
        both = np.load(path, mmap_mode="r")
        return cls(np.asarray(both[0]), np.asarray(both[1]))


def hashes_of(titles: Iterable[str]) -> Hashes:
    """The sorted hashes of titles; those that no page can have are passed over."""
    return np.unique(np.array([hash_of(n) for n in map(normalise, titles) if n], np.uint64))


def member(keys: Hashes, among: Hashes) -> Any:
    """Which of `keys` are in the sorted array `among`."""
    if not len(among):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return among[at] == keys


# --- Redirects ----------------------------------------------------------------------------------


class PartRedirects(NamedTuple):
    """Some redirects of a part: hashes of their titles and of their targets, and the targets."""

    of: Hashes
    to: Hashes
    titles: list[str]

    def where(self, mask: Any) -> "PartRedirects":
        """The redirects that a mask selects."""
        titles = [self.titles[i] for i in np.flatnonzero(mask)]
        return PartRedirects(self.of[mask], self.to[mask], titles)


def _redirects_of(parts: Sequence[Path]) -> Iterator[PartRedirects]:
    """The redirects of every part, in order."""
    for path in parts:
        with np.load(path) as held:
            both = held["redirects"]
            if len(both):
                titles = held["titles"].tobytes().decode().split("\n")
                yield PartRedirects(both[:, 0], both[:, 1], titles)


class Resolver:
    """Maps titles of redirects to the titles they lead to, 12 bytes each.

    Only redirects to `targets` are kept, and those to such a redirect; of two redirects with
    one title the first is.
    """

    def __init__(self, parts: Sequence[Path], targets: Hashes) -> None:
        empty = np.empty(0, np.uint64)
        self._of: Hashes = empty
        self._title = np.empty(0, np.uint32)
        self._titles: list[str] = []
        if not len(targets):
            return
        number: dict[str, int] = {}
        direct: list[tuple[Hashes, Any]] = []
        for found in _redirects_of(parts):
            kept = found.where(member(found.to, targets) & ~member(found.of, targets))
            ids = [number.setdefault(t, len(number)) for t in kept.titles]
            direct.append((kept.of, np.array(ids, np.uint32)))
        self._titles = list(number)
        self._set([empty, *(of for of, _ in direct)], [self._title, *(i for _, i in direct)])
        double_of, double_title = [self._of], [self._title]
        for found in _redirects_of(parts):
            mask = member(found.to, self._of) & ~member(found.of, self._of)
            mask &= ~member(found.of, targets)
            of, to = found.of[mask], found.to[mask]
            double_of.append(of)
            double_title.append(self._title[np.searchsorted(self._of, to)] if len(of) else [])
        self._set(double_of, [np.asarray(t, np.uint32) for t in double_title])

    def _set(self, of: list[Hashes], title: list[Any]) -> None:
        keys, first = np.unique(np.concatenate(of), return_index=True)
        self._of, self._title = keys, np.concatenate(title)[first]

    def __call__(self, title: str) -> str:
        """The same title, or the one that a redirect of this title leads to."""
        key = np.uint64(hash_of(title))
        at = int(self._of.searchsorted(key))
        found = at < len(self._of) and self._of[at] == key
        return self._titles[int(self._title[at])] if found else title


class Followed(NamedTuple):
    """Where redirects with wanted titles lead, by hash, and why other titles have no page."""

    page: dict[int, int]
    reason: dict[int, str]


def follow(parts: Sequence[Path], needed: Hashes) -> Followed:
    """The pages that titles without a page of their own lead to, over two redirects at most.

    `needed`: hashes. Reasons are `page_dropped`, `redirect_to_nothing`, `redirect_loop` and
    `redirect_chain` (of three redirects or more); titles that nothing has are in neither table.
    """
    page: dict[int, int] = {}
    first = _targets(parts, needed)
    second = _targets(parts, _keys(first.values()))
    third = _targets(parts, _keys(second.values()))
    pages = pages_among(parts, _keys([*first.values(), *second.values()]))
    reason = dict.fromkeys(pages_among(parts, needed), "page_dropped")
    for key, to in first.items():
        last = second.get(to)
        if to in pages:
            page[key] = to
        elif to == key or last in (key, to):
            reason[key] = "redirect_loop"
        elif last is None:
            reason[key] = "redirect_to_nothing"
        elif last in pages:
            page[key] = last
        elif third.get(last) in (key, to, last):
            reason[key] = "redirect_loop"
        else:
            reason[key] = "redirect_chain" if last in third else "redirect_to_nothing"
    return Followed(page, reason)


def _keys(values: Iterable[int]) -> Hashes:
    return np.unique(np.array(list(values), np.uint64))


def _targets(parts: Sequence[Path], keys: Hashes) -> dict[int, int]:
    """The targets of the redirects with these titles."""
    targets: dict[int, int] = {}
    if len(keys):
        for found in _redirects_of(parts):
            mask = member(found.of, keys)
            for of, to in zip(found.of[mask].tolist(), found.to[mask].tolist(), strict=True):
                targets.setdefault(of, to)
    return targets


def pages_among(parts: Sequence[Path], keys: Hashes) -> dict[int, int]:
    """The number of the first part that has an article of each of these titles."""
    found: dict[int, int] = {}
    if len(keys):
        for n, path in enumerate(parts):
            with np.load(path) as held:
                articles = held["articles"]
            for key in articles[member(articles, keys)].tolist():
                found.setdefault(key, n)
    return found
