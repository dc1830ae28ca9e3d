"""Stable hashes and the draws made from them: the same on every machine, in every run.

Ids, split membership, samples and choices between wordings are all hashes of what they are for,
so that the fate of one row does not depend on the rows around it. Releases depend on the bytes
that are hashed here: a changed recipe changes ids or moves rows.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from factdrift.builders.core.errors import UserError


def digest(value: Any) -> str:
    """A hash of plain JSON-able data: 16 hex digits, the same on every machine."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return text_sha256(text)[:16]


def row_id(*parts: object) -> str:
    """The id of a row: a hash of what names it, 16 hex digits."""
    return text_sha256("\t".join(map(str, parts)))[:16]


def text_sha256(text: str) -> str:
    """The sha256 of a text in UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """The sha256 of a file, in hex, read in bounded memory."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=path) from error


def seeded_hash(*names: object) -> int:
    """64 bits drawn for what is named, usually the seed first: an order, or a state to begin with.

    They are the first 16 digits of the sha256, so `row_id` of the same parts shows them in hex.
    """
    text = "\t".join(map(str, names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def seeded_fraction(*names: object) -> float:
    """A number from 0 to below 1 drawn for what is named: to be compared with a share."""
    return float((seeded_hash(*names) >> 12) / 2**52)


def seeded_index(count: int, *names: object) -> int:
    """A number from 0 to `count` - 1 drawn for what is named."""
    return seeded_hash(*names) % count


def fast_hash(data: bytes, size: int = 8) -> bytes:
    """A hash of `size` bytes (BLAKE2b) for tables of millions of names in memory or on disk."""
    return hashlib.blake2b(data, digest_size=size).digest()


class RandomStream:
    """Draws in a row, begun with 64 bits (SplitMix64, Steele and others 2014)."""

    __slots__ = ("state",)

    def __init__(self, state: int) -> None:
        self.state = state & _MASK

    def next_bits(self) -> int:
        """64 bits."""
        self.state = z = (self.state + GOLDEN) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def next_below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        return (self.next_bits() >> 32) * limit >> 32


GOLDEN = 0x9E3779B97F4A7C15
"""What SplitMix64 adds at each step."""
_MASK = 2**64 - 1
