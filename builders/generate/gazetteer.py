"""Known names as one sorted array of 64-bit hashes: 9 bytes a name, whatever its length.

A text's n-grams of tokens are hashed alike and looked up in one call. Two names share a hash
with probability 1e-7 at two million names; a false match is as rare.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import fast_hash
from factdrift.builders.text.dates import MONTHS, WEEKDAYS
from factdrift.builders.text.en.lexicon import COMMON, DEMONYMS
from factdrift.builders.text.words import plain_marks

KINDS = (None, "PERSON", "ORG", "GPE")
RELATION_KINDS = {
    "P6": ("GPE", "PERSON"),
    "P27": ("PERSON", "GPE"),
    "P35": ("GPE", "PERSON"),
    "P39": ("PERSON", None),
    "P54": ("PERSON", "ORG"),
    "P69": ("PERSON", "ORG"),
    "P102": ("PERSON", "ORG"),
    "P106": ("PERSON", None),
    "P108": ("PERSON", "ORG"),
    "P169": ("ORG", "PERSON"),
    "P286": ("ORG", "PERSON"),
    "P488": ("ORG", "PERSON"),
    "P937": ("PERSON", "GPE"),
}
"""What a fact of a relation says about its subject and its object."""

_MOST_TOKENS = 10
_NEVER = COMMON | DEMONYMS | frozenset((*WEEKDAYS, *MONTHS))


def capital(word: str) -> bool:
    """Whether a word starts as a name does: a capital, or a small prefix before one (`al-Sisi`)."""
    return word[:1].isupper() or (word[:3] in ("al-", "el-") and word[3:4].isupper())


def _hash(name: str) -> int:
    return int.from_bytes(fast_hash(name.encode()), "little")


def usable(name: str) -> bool:
    """Whether a name can be told from common words: its first and last words are capitalised."""
    if len(name) < 3 or len(name) > 100 or not name[0].isupper() or name in _NEVER:
        return False
    words = name.split()
    if len(words) > 1:
        return capital(words[-1].strip("(\"'")) or words[-1][0].isdigit()
    return any(c.islower() for c in name) or len(name) > 2


@dataclass(frozen=True)
class Gazetteer:
    """Hashes of names, sorted, and the kind of each (its place in `KINDS`)."""

    hashes: NDArray[np.uint64]
    kinds: NDArray[np.uint8]

    @classmethod
    def build(cls, names: Iterable[tuple[str, str | None]]) -> "Gazetteer":
        """Names with kinds as one table; a name of several kinds has none."""
        hashes, kinds = array("Q"), array("B")
        for raw, kind in names:
            name = plain_marks(raw)
            if usable(name):
                hashes.append(_hash(name))
                kinds.append(KINDS.index(kind) if kind in KINDS else 0)
        h = np.frombuffer(hashes, np.uint64) if hashes else np.empty(0, np.uint64)
        k = np.frombuffer(kinds, np.uint8) if kinds else np.empty(0, np.uint8)
        order = np.argsort(h, kind="stable")
        h, k = h[order], k[order]
        first = np.flatnonzero(np.r_[True, h[1:] != h[:-1]]) if len(h) else np.empty(0, np.intp)
        if not len(first):
            return cls(h, k)
        known = np.where(k == 0, 255, k)  # a name without a kind does not contradict one with
        low, high = np.minimum.reduceat(known, first), np.maximum.reduceat(k, first)
        return cls(h[first], np.where(low == high, high, 0).astype(np.uint8))

    @classmethod
    def from_tables(cls, entities: Path, facts: Path | None = None) -> "Gazetteer":
        """Labels and aliases of mined entities; their kinds by the facts that name them."""
        return cls.build(_names(entities, facts))

    def __len__(self) -> int:
        return len(self.hashes)

    def matches(
        self, text: str, tokens: list[tuple[int, int]]
    ) -> list[tuple[int, int, str | None]]:
        """Known names in `text`: start, end, kind; the longest wins, none overlap."""
        if not len(self.hashes):
            return []
        found: list[tuple[int, int]] = []
        keys = array("Q")
        words = [text[a:b] for a, b in tokens]
        big = [w[0].isupper() or w[0].isdigit() for w in words]
        ends = [b or w == "." or capital(w) for b, w in zip(big, words, strict=True)]
        for i, (start, _) in enumerate(tokens):
            if not words[i][0].isupper():
                continue
            for j in range(i, min(i + _MOST_TOKENS, len(tokens))):
                if ends[j]:
                    found.append((start, tokens[j][1]))
                    keys.append(_hash(plain_marks(text[start : tokens[j][1]])))
        if not found:
            return []
        wanted = np.frombuffer(keys, np.uint64)
        at = np.searchsorted(self.hashes, wanted)
        at[at == len(self.hashes)] = 0
        hit = np.flatnonzero(self.hashes[at] == wanted)
        taken: list[tuple[int, int, str | None]] = []
        last = 0
        best = sorted(((found[i], int(self.kinds[at[i]])) for i in hit), key=_longest)
        for (start, end), kind in best:
            if start >= last:
                taken.append((start, end, KINDS[kind]))
                last = end
        return taken


def _longest(hit: tuple[tuple[int, int], int]) -> tuple[int, int]:
    """Leftmost first, then the longest."""
    (start, end), _ = hit
    return start, -end


def _names(entities: Path, facts: Path | None) -> Iterator[tuple[str, str | None]]:
    """Every label and alias, a batch at a time."""
    for path in (entities, facts):
        if path is not None and not path.is_file():
            raise UserError("no such table", where=path, hint="mine the facts first")
    with duck.connect() as db:
        if facts is None:
            db.execute("create view kinds as select null::varchar id, null::varchar kind limit 0")
        else:
            rows = [(r, *k) for r, k in RELATION_KINDS.items()]
            db.execute("create table says (relation varchar, s varchar, o varchar)")
            db.executemany("insert into says values (?, ?, ?)", rows)
            db.execute(
                "create table kinds as with seen as ("
                "  select f.subject id, s kind from read_parquet($1) f join says using (relation)"
                "  union select f.object, o from read_parquet($1) f join says using (relation))"
                " select id, min(kind) kind from seen where kind is not null"
                " group by id having count(distinct kind) = 1",
                [str(facts)],
            )
        cursor = db.execute(
            "select label, aliases, kind from read_parquet($1) left join kinds using (id)"
            " where left(id, 1) = 'Q'",
            [str(entities)],
        )
        while batch := cursor.fetchmany(20_000):
            for label, aliases, kind in batch:
                yield label, kind
                for alias in aliases:
                    yield alias, kind
