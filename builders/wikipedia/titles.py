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

# Marks of direction and soft hyphens, which MediaWiki strips from titles.
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\ufeff]")
# Characters that no title may have.
_ILLEGAL = re.compile(r"[\[\]{}|<>\x00-\x1f\x7f\ufffd]")
# `%28` of an address; `100% Leeds` is left as it is.
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ITEM = re.compile(r"Q([1-9]\d{0,17})", re.ASCII)
_LONGEST = 255
"""Bytes of UTF-8 in a title, as MediaWiki allows."""

# `#REDIRECT [[Leeds`, `#redirect: [[Leeds`; the target ends at a bar or the brackets.
# Nothing is given back (`++`): a thousand spaces could else be parted in a thousand ways.
_REDIRECT = re.compile(r"\s*+#redirect\w*+\s*+(?::\s*+)?\[\[([^\[\]|\n]*)", re.I)

Hashes = Any
"""A numpy array of uint64."""


def normalise_title(title: str) -> str:
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


def redirect_target(text: str) -> str | None:
    """Return the title that a page's text redirects to, or None if it is no redirect."""
    target_match = _REDIRECT.match(text)
    return target_match[1] if target_match else None


def title_hash(title: str) -> int:
    """64 bits that stand for a normalised title.

    Two of 20 million titles share them with a chance of about 1 in 100,000.
    """
    return int.from_bytes(fast_hash(title.encode("utf-8", "replace")))


def item_number_of(item: str) -> int:
    """123 of `Q123`; 0 where it is no id of an item."""
    item_match = _ITEM.fullmatch(item)
    return int(item_match[1]) if item_match else 0


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
    def of(cls, titles_and_items: Mapping[str, str] | Iterable[tuple[str, str]]) -> "Titles":
        """From pairs of title and item id, gone through once.

        Of two items with one title the smaller id is kept, the other is in `doubled`.
        `UserError`: no id of an item.
        """
        hashes, items = array("Q"), array("Q")
        unusable: list[int] = []
        for title, item in (
            titles_and_items.items() if isinstance(titles_and_items, Mapping) else titles_and_items
        ):
            if not (item_number := item_number_of(item)):
                raise UserError(f"not the id of a Wikidata item: {item!r} (of {title!r})")
            if not (normal_title := normalise_title(title)):
                unusable.append(item_number)
                continue
            hashes.append(title_hash(normal_title))
            items.append(item_number)
        sorted_keys, item_numbers = (
            np.frombuffer(hashes, np.uint64),
            np.frombuffer(items, np.uint64),
        )
        sort_order = np.lexsort((item_numbers, sorted_keys))
        sorted_keys, item_numbers = sorted_keys[sort_order], item_numbers[sort_order]
        is_first = np.ones(len(sorted_keys), bool)
        is_first[1:] = sorted_keys[1:] != sorted_keys[:-1]
        titles = cls(sorted_keys[is_first], item_numbers[is_first])
        lost_items = np.unique(item_numbers[~is_first])
        titles.doubled = lost_items[~np.isin(lost_items, titles.items)].tolist()
        titles.unusable = unusable
        return titles

    def find(self, title_key: int) -> int:
        """The item of a hash; -1 where it is not among the titles."""
        index = int(self.hashes.searchsorted(np.uint64(title_key)))
        is_found = index < len(self.hashes) and int(self.hashes[index]) == title_key
        return int(self.items[index]) if is_found else -1

    @cached_property
    def _sorted_items(self) -> Any:
        return np.sort(self.items)

    def has_item(self, item_number: int) -> bool:
        """Whether a title's item has this number."""
        return bool(are_members(np.array([item_number], np.uint64), self._sorted_items)[0])

    def save(self, path: Path) -> None:
        """Write both columns as one `.npy` array of two rows."""
        np.save(path, np.stack([self.hashes, self.items]))

    @classmethod
    def load(cls, path: Path) -> "Titles":
        """Map what `save` wrote: its pages in memory are shared by all processes."""
        hashes_and_items = np.load(path, mmap_mode="r")
        return cls(np.asarray(hashes_and_items[0]), np.asarray(hashes_and_items[1]))


def title_hashes(titles: Iterable[str]) -> Hashes:
    """The sorted hashes of titles; those that no page can have are passed over."""
    return np.unique(
        np.array([title_hash(title) for title in map(normalise_title, titles) if title], np.uint64)
    )


def are_members(keys: Hashes, sorted_keys: Hashes) -> Any:
    """Return, for each of `keys`, whether the sorted array `among` has it."""
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    indexes = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return sorted_keys[indexes] == keys


# --- Redirects ----------------------------------------------------------------------------------


class PartRedirects(NamedTuple):
    """Some redirects of a part: hashes of their titles and of their targets, and the targets."""

    of: Hashes
    to: Hashes
    titles: list[str]

    def where(self, mask: Any) -> "PartRedirects":
        """The redirects that a mask selects."""
        titles = [self.titles[index] for index in np.flatnonzero(mask)]
        return PartRedirects(self.of[mask], self.to[mask], titles)


def _redirects_of(parts: Sequence[Path]) -> Iterator[PartRedirects]:
    """The redirects of every part, in order."""
    for path in parts:
        with np.load(path) as arrays:
            hash_pairs = arrays["redirects"]
            if len(hash_pairs):
                titles = arrays["titles"].tobytes().decode().split("\n")
                yield PartRedirects(hash_pairs[:, 0], hash_pairs[:, 1], titles)


class Resolver:
    """Maps titles of redirects to the titles that they lead to, in 12 bytes each.

    Only redirects to `targets`, and double redirects (to a redirect of these), are kept. If two
    redirects have the same title, the first counts.
    """

    def __init__(self, parts: Sequence[Path], targets: Hashes) -> None:
        """Read the redirects of all parts twice: first the direct ones, then the double ones."""
        no_hashes = np.empty(0, np.uint64)
        self._of: Hashes = no_hashes
        self._title = np.empty(0, np.uint32)
        self._titles: list[str] = []
        if not len(targets):
            return
        title_numbers: dict[str, int] = {}
        direct: list[tuple[Hashes, Any]] = []
        for part in _redirects_of(parts):
            to_targets = part.where(are_members(part.to, targets) & ~are_members(part.of, targets))
            title_ids = [title_numbers.setdefault(t, len(title_numbers)) for t in to_targets.titles]
            direct.append((to_targets.of, np.array(title_ids, np.uint32)))
        self._titles = list(title_numbers)
        self._set(
            [no_hashes, *(of for of, _ in direct)],
            [self._title, *(titles_of_part for _, titles_of_part in direct)],
        )
        double_keys, double_titles = [self._of], [self._title]
        for part in _redirects_of(parts):
            is_double = are_members(part.to, self._of) & ~are_members(part.of, self._of)
            is_double &= ~are_members(part.of, targets)
            of, target_keys = part.of[is_double], part.to[is_double]
            double_keys.append(of)
            double_titles.append(
                self._title[np.searchsorted(self._of, target_keys)] if len(of) else []
            )
        self._set(double_keys, [np.asarray(t, np.uint32) for t in double_titles])

    def _set(self, redirect_keys: list[Hashes], title_indexes: list[Any]) -> None:
        unique_keys, first_indexes = np.unique(np.concatenate(redirect_keys), return_index=True)
        self._of, self._title = unique_keys, np.concatenate(title_indexes)[first_indexes]

    def __call__(self, title: str) -> str:
        """The same title, or the one that a redirect of this title leads to."""
        title_key = np.uint64(title_hash(title))
        index = int(self._of.searchsorted(title_key))
        is_found = index < len(self._of) and self._of[index] == title_key
        return self._titles[int(self._title[index])] if is_found else title


class FollowedRedirects(NamedTuple):
    """The targets of redirects with wanted titles, by hash, and why other titles have no page."""

    page: dict[int, int]
    reason: dict[int, str]


def follow_redirects(parts: Sequence[Path], needed: Hashes) -> FollowedRedirects:
    """The pages that titles without a page of their own lead to, over two redirects at most.

    `needed`: hashes. Reasons are `page_dropped`, `redirect_to_nothing`, `redirect_loop` and
    `redirect_chain` (of three redirects or more); titles that nothing has are in neither table.
    """
    page_keys: dict[int, int] = {}
    first_targets = _targets(parts, needed)
    second_targets = _targets(parts, _keys(first_targets.values()))
    third_targets = _targets(parts, _keys(second_targets.values()))
    article_keys = pages_among(parts, _keys([*first_targets.values(), *second_targets.values()]))
    reasons = dict.fromkeys(pages_among(parts, needed), "page_dropped")
    for title_key, target_key in first_targets.items():
        last_key = second_targets.get(target_key)
        if target_key in article_keys:
            page_keys[title_key] = target_key
        elif target_key == title_key or last_key in (title_key, target_key):
            reasons[title_key] = "redirect_loop"
        elif last_key is None:
            reasons[title_key] = "redirect_to_nothing"
        elif last_key in article_keys:
            page_keys[title_key] = last_key
        elif third_targets.get(last_key) in (title_key, target_key, last_key):
            reasons[title_key] = "redirect_loop"
        else:
            reasons[title_key] = (
                "redirect_chain" if last_key in third_targets else "redirect_to_nothing"
            )
    return FollowedRedirects(page_keys, reasons)


def _keys(values: Iterable[int]) -> Hashes:
    return np.unique(np.array(list(values), np.uint64))


def _targets(parts: Sequence[Path], keys: Hashes) -> dict[int, int]:
    """The targets of the redirects with these titles."""
    targets: dict[int, int] = {}
    if len(keys):
        for part in _redirects_of(parts):
            is_asked = are_members(part.of, keys)
            for title_key, target_key in zip(
                part.of[is_asked].tolist(), part.to[is_asked].tolist(), strict=True
            ):
                targets.setdefault(title_key, target_key)
    return targets


def pages_among(parts: Sequence[Path], keys: Hashes) -> dict[int, int]:
    """The number of the first part that has an article of each of these titles."""
    part_numbers: dict[int, int] = {}
    if len(keys):
        for part_number, path in enumerate(parts):
            with np.load(path) as arrays:
                articles = arrays["articles"]
            for title_key in articles[are_members(articles, keys)].tolist():
                part_numbers.setdefault(title_key, part_number)
    return part_numbers
