"""A check of a row, in words: two things that ought to agree."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RowCheck:
    """Two things that ought to agree, in words; `agrees` is false where they do not."""

    agrees: bool
    words: str


def disagreement(words: str) -> RowCheck:
    """Two things that do not agree."""
    return RowCheck(False, words)
