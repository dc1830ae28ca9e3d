"""Thresholds from judged bands of scores, after StreamingQA (section 7)."""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from factdrift.builders.core.hashing import bits

WIDTH = 0.05
"""Width of a band of scores."""
PER_BAND = 50
"""Rows of a band that are judged."""
SHARE = 0.30
"""Share of toxic judgments below which a band is taken as clean."""


@dataclass(frozen=True, slots=True)
class JudgedBand:
    """How many judgments of the rows with scores in `[low, low + width)` say toxic."""

    low: Annotated[float, "lower end; the highest band holds 1.0 too"]
    judged: Annotated[int, "judgments"]
    toxic: Annotated[int, "judgments that say toxic"]

    @property
    def share(self) -> float:
        """Share of judgments that say toxic."""
        return self.toxic / self.judged

    @property
    def is_thin(self) -> bool:
        """Whether it has fewer judgments than the rule asks for, so that it says little."""
        return self.judged < PER_BAND


def place(score: float, width: float = WIDTH) -> int:
    """Number of the band that holds `score`, from 0 at the bottom; 1.0 is in the highest."""
    if not 0 <= score <= 1:
        raise ValueError(f"a score is between 0 and 1, not {score}")
    return min(math.floor(score / width + 1e-9), round(1 / width) - 1)


def to_judge(
    scores: Iterable[tuple[str, float]],
    *,
    seed: int,
    width: float = WIDTH,
    per_band: int = PER_BAND,
) -> dict[float, list[str]]:
    """Row ids to show annotators, by the lower end of their band, the highest first.

    `scores` holds (row id, score of one attribute). Each band's `per_band` rows are those with
    the smallest hash of seed and id, whatever the order they come in.
    """
    chosen: dict[int, list[tuple[int, str]]] = {}
    for row, score in scores:
        heap = chosen.setdefault(place(score, width), [])
        heapq.heappush(heap, (-bits(seed, row), row))
        if len(heap) > per_band:
            heapq.heappop(heap)
    return {
        _low(n, width): [row for _, row in sorted(chosen[n], reverse=True)]
        for n in sorted(chosen, reverse=True)
    }


def threshold_by_bands(
    judged: Iterable[tuple[float, bool]],
    *,
    width: float = WIDTH,
    share: float = SHARE,
) -> tuple[float | None, tuple[JudgedBand, ...]]:
    """The score from which rows are removed, for any scorer, by judgments: score and whether toxic.

    None: judge more bands. Beside it the judged bands, the highest first.

    From 1.0 down, bands are removed until two neighbouring ones have less than `share` toxic; the
    first of these two is removed too. A band without judgments (no row has such a score) is
    passed over.

    The rule compares shares within bands, so the rows must be mixed as those of the release are:
    a table made of half toxic rows ends far too low. `ValueError`: a score not from 0 to 1.
    """
    counts: dict[int, list[int]] = {}
    for score, toxic in judged:
        count = counts.setdefault(place(score, width), [0, 0])
        count[0] += 1
        count[1] += toxic
    order = sorted(counts, reverse=True)
    bands = tuple(JudgedBand(_low(n, width), *counts[n]) for n in order)
    for first, second in pairwise(bands):
        if first.share < share and second.share < share:
            return first.low, bands
    return None, bands


def _low(n: int, width: float) -> float:
    return round(n * width, 6)
