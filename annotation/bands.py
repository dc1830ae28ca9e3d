"""Thresholds from judged bands of scores, after StreamingQA (section 7)."""

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from factdrift.annotation.order import BandRule
from factdrift.builders.core.hashing import seeded_hash


@dataclass(frozen=True, slots=True)
class JudgedBand:
    """How many judgments of the rows with scores from `low` up, below the next band, say toxic."""

    low: float
    judged: int
    toxic: int

    @property
    def share(self) -> float:
        """Share of judgments that say toxic."""
        return self.toxic / self.judged


def band_number(score: float, width: float) -> int:
    """Number of the band that holds `score`, from 0 at the bottom; 1.0 is in the highest."""
    return min(math.floor(score / width + 1e-9), round(1 / width) - 1)


def rows_to_judge(
    scores: Iterable[tuple[str, float]], seed: int, rule: BandRule
) -> dict[float, list[str]]:
    """Row ids to show annotators, by the lower end of their band, the highest first.

    `scores` holds (row id, score of one attribute). Each band's rows are those with the smallest
    hash of seed and id, whatever the order they come in.
    """
    chosen: dict[int, list[tuple[int, str]]] = {}
    for row, score in scores:
        heap = chosen.setdefault(band_number(score, rule.width), [])
        heapq.heappush(heap, (-seeded_hash(seed, row), row))
        if len(heap) > rule.rows:
            heapq.heappop(heap)
    return {
        _lower_end(band, rule.width): [row for _, row in sorted(chosen[band], reverse=True)]
        for band in sorted(chosen, reverse=True)
    }


def threshold_by_bands(
    judged: Iterable[tuple[float, bool]], rule: BandRule
) -> tuple[float | None, tuple[JudgedBand, ...]]:
    """The score from which rows are removed, by judgments: score and whether toxic; and the judged
    bands, the highest first.

    From 1.0 down, bands are removed until two neighbouring ones have less than `rule.share` toxic;
    the first of these two is removed too. A band without judgments (no row has such a score) is
    passed over. Where the judged bands end before two such neighbours, the threshold is None; below
    the lowest band everything is removed (threshold 0).

    The rule compares shares within bands, so the rows must be mixed as those of the release are:
    a table made of half toxic rows ends far too low.
    """
    counts: dict[int, list[int]] = {}
    for score, toxic in judged:
        count = counts.setdefault(band_number(score, rule.width), [0, 0])
        count[0] += 1
        count[1] += toxic
    band_numbers = sorted(counts, reverse=True)
    bands = tuple(JudgedBand(_lower_end(band, rule.width), *counts[band]) for band in band_numbers)
    for first, second in pairwise(bands):
        if first.share < rule.share and second.share < rule.share:
            return first.low, bands
    return 0.0 if 0 in counts else None, bands


def _lower_end(band: int, width: float) -> float:
    return round(band * width, 6)
