"""Stable hashes and random draws from them, the same on every machine and in every run.

Ids, splits, samples and choices between wordings are hashes of the names of what they are for, so
that the result for one row does not depend on other rows. If the hashed bytes change, ids of
releases change and rows move between splits.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from factdrift.builders.core.errors import UserError


def digest(value: Any) -> str:
    """Return a hash of JSON data, 16 hex digits."""
    json_text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return text_sha256(json_text)[:16]


def row_id(*parts: object) -> str:
    """Return the id of a row: a hash of the parts that identify it, 16 hex digits."""
    return text_sha256("\t".join(map(str, parts)))[:16]


def text_sha256(text: str) -> str:
    """Return the sha256 of a text in UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file in hex, reading it in bounded memory."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=path) from error


def seeded_hash(*names: object) -> int:
    """Return 64 random bits for some names, usually the seed first: a sort key or a start state.

    They are the first 16 hex digits of the sha256, which are also the `row_id` of the same parts.
    """
    joined_names = "\t".join(map(str, names))
    return int.from_bytes(hashlib.sha256(joined_names.encode()).digest()[:8], "big")


def seeded_fraction(*names: object) -> float:
    """Return a random number from 0 to below 1 for some names, to compare with a share."""
    # 52 bits: a float holds each of these numbers exactly
    return float((seeded_hash(*names) >> 12) / 2**52)


def seeded_index(count: int, *names: object) -> int:
    """Return a random number from 0 to `count` - 1 for some names."""
    return seeded_hash(*names) % count


def fast_hash(data: bytes, size: int = 8) -> bytes:
    """Return a BLAKE2b hash of `size` bytes, for tables with millions of names."""
    return hashlib.blake2b(data, digest_size=size).digest()


class RandomStream:
    """A generator of random numbers from a 64-bit state: SplitMix64 (Steele and others, 2014)."""

    __slots__ = ("state",)

    def __init__(self, state: int) -> None:
        self.state = state & _WORD_MASK

    def next_bits(self) -> int:
        """Return the next 64 random bits."""
        # the shifts and factors are those of the paper
        self.state = mixed_bits = (self.state + GOLDEN) & _WORD_MASK
        mixed_bits = ((mixed_bits ^ (mixed_bits >> 30)) * 0xBF58476D1CE4E5B9) & _WORD_MASK
        mixed_bits = ((mixed_bits ^ (mixed_bits >> 27)) * 0x94D049BB133111EB) & _WORD_MASK
        return mixed_bits ^ (mixed_bits >> 31)

    def next_below(self, limit: int) -> int:
        """Return a random integer from 0 to `limit` - 1."""
        return (self.next_bits() >> 32) * limit >> 32


GOLDEN = 0x9E3779B97F4A7C15
"""SplitMix64 adds this at each step: 2**64 divided by the golden ratio, made odd."""
_WORD_MASK = 2**64 - 1
