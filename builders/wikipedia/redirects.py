"""Redirects: where the links of a page lead, and which page a redirected title is."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from builders.wikipedia.titles import Hashes, Titles, hash_of, member


class Sends(NamedTuple):
    """Some redirects of a part: hashes of the titles they are of and lead to, and these titles."""

    of: Hashes
    to: Hashes
    titles: list[str]

    def chosen(self, mask: Any) -> "Sends":
        titles = [self.titles[i] for i in np.flatnonzero(mask)]
        return Sends(self.of[mask], self.to[mask], titles)


def sends_of(parts: Sequence[Path]) -> Iterator[Sends]:
    """The redirects of every part, in order."""
    for path in parts:
        with np.load(path) as held:
            both = held["sends"]
            if len(both):
                titles = held["titles"].tobytes().decode().split("\n")
                yield Sends(both[:, 0], both[:, 1], titles)


class Resolver:
    """Maps titles of redirects to the titles they lead to, 12 bytes each.

    Only redirects to `targets` are kept, and those to such a redirect; of two redirects with
    one title the first is.
    """

    def __init__(self, parts: Sequence[Path], targets: Titles) -> None:
        empty = np.empty(0, np.uint64)
        self._of: Hashes = empty
        self._title = np.empty(0, np.uint32)
        self._titles: list[str] = []
        if not len(targets):
            return
        number: dict[str, int] = {}
        direct: list[tuple[Hashes, Any]] = []
        for sends in sends_of(parts):
            kept = sends.chosen(targets.has(sends.to) & ~targets.has(sends.of))
            ids = [number.setdefault(t, len(number)) for t in kept.titles]
            direct.append((kept.of, np.array(ids, np.uint32)))
        self._titles = list(number)
        self._set([empty, *(of for of, _ in direct)], [self._title, *(i for _, i in direct)])
        double_of, double_title = [self._of], [self._title]
        for sends in sends_of(parts):
            mask = member(sends.to, self._of) & ~member(sends.of, self._of)
            mask &= ~targets.has(sends.of)
            of, to = sends.of[mask], sends.to[mask]
            double_of.append(of)
            double_title.append(self._title[np.searchsorted(self._of, to)] if len(of) else [])
        self._set(double_of, [np.asarray(t, np.uint32) for t in double_title])

    def _set(self, of: list[Hashes], title: list[Any]) -> None:
        keys, first = np.unique(np.concatenate(of), return_index=True)
        self._of, self._title = keys, np.concatenate(title)[first]

    def __len__(self) -> int:
        return len(self._of)

    def __call__(self, targets: pa.Array) -> pa.Array:
        """The same titles, those of redirects replaced."""
        if not len(self._of) or not len(targets):
            return targets
        coded = targets.dictionary_encode()
        names = coded.dictionary.to_pylist()
        keys = np.array([hash_of(n) for n in names], np.uint64)
        hits = np.flatnonzero(member(keys, self._of))
        for i in hits.tolist():
            names[i] = self._titles[int(self._title[np.searchsorted(self._of, keys[i])])]
        return pa.array(names, pa.string()).take(coded.indices)


REASONS = ("no_page", "page_dropped", "redirect_to_nothing", "redirect_loop", "redirect_chain")
"""Why a title has no page: nothing has it, its page is unreadable, or where it leads."""


class Followed(NamedTuple):
    """Where redirects with wanted titles lead, by hash; a number in `REASONS` for each title."""

    page: dict[int, int]
    reason: Any


def follow(parts: Sequence[Path], needed: Hashes) -> Followed:
    """The pages that titles without a page of their own lead to, over two redirects at most.

    `needed`: sorted hashes, parallel to `reason`; three redirects are a `redirect_chain`.
    """
    page: dict[int, int] = {}
    reason = np.zeros(len(needed), np.uint8)
    first = _steps(parts, needed)
    own = pages_among(parts, needed)
    second = _steps(parts, _keys(first.values()))
    third = _steps(parts, _keys(second.values()))
    there = pages_among(parts, _keys([*first.values(), *second.values()]))
    said = dict.fromkeys(own, "page_dropped")
    for key, to in first.items():
        last = second.get(to)
        if to in there:
            page[key] = to
        elif to == key or last in (key, to):
            said[key] = "redirect_loop"
        elif last is None:
            said[key] = "redirect_to_nothing"
        elif last in there:
            page[key] = last
        elif third.get(last) in (key, to, last):
            said[key] = "redirect_loop"
        else:
            said[key] = "redirect_chain" if last in third else "redirect_to_nothing"
    for key, why in said.items():
        reason[np.searchsorted(needed, np.uint64(key))] = REASONS.index(why)
    return Followed(page, reason)


def _keys(values: Iterable[int]) -> Hashes:
    return np.unique(np.array(list(values), np.uint64))


def _steps(parts: Sequence[Path], keys: Hashes) -> dict[int, int]:
    """Where the redirects with these titles lead."""
    found: dict[int, int] = {}
    if len(keys):
        for sends in sends_of(parts):
            mask = member(sends.of, keys)
            for of, to in zip(sends.of[mask].tolist(), sends.to[mask].tolist(), strict=True):
                found.setdefault(of, to)
    return found


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
