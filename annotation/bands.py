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
    """The number of toxic judgments in a band: the scores from `low` up to the next band."""

    low: float
    judged: int
    toxic: int

    @property
    def share(self) -> float:
        """Share of judgments that say toxic."""
        return self.toxic / self.judged


def band_number(row_score: float, width: float) -> int:
    """Number of the band that holds `row_score`, from 0 at the bottom; 1.0 is in the highest."""
    return min(math.floor(row_score / width + 1e-9), round(1 / width) - 1)


def rows_to_judge(
    row_scores: Iterable[tuple[str, float]], seed: int, rule: BandRule
) -> dict[float, list[str]]:
    """Row ids to show annotators, by the lower end of their band, the highest first.

    `row_scores` holds (row id, score of one attribute). Each band's rows are those with the
    smallest hash of seed and id, whatever the order they come in.
    """
    rows_by_band: dict[int, list[tuple[int, str]]] = {}
    for row_id, row_score in row_scores:
        band_rows = rows_by_band.setdefault(band_number(row_score, rule.width), [])
        heapq.heappush(band_rows, (-seeded_hash(seed, row_id), row_id))
        if len(band_rows) > rule.rows:
            heapq.heappop(band_rows)
    return {
        _lower_end(band_index, rule.width): [
            row_id for _, row_id in sorted(rows_by_band[band_index], reverse=True)
        ]
        for band_index in sorted(rows_by_band, reverse=True)
    }


def threshold_by_bands(
    judged_scores: Iterable[tuple[float, bool]], rule: BandRule
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
    counts_by_band: dict[int, list[int]] = {}
    for row_score, is_toxic in judged_scores:
        band_counts = counts_by_band.setdefault(band_number(row_score, rule.width), [0, 0])
        band_counts[0] += 1
        band_counts[1] += is_toxic
    band_numbers = sorted(counts_by_band, reverse=True)
    judged_bands = tuple(
        JudgedBand(_lower_end(band_index, rule.width), *counts_by_band[band_index])
        for band_index in band_numbers
    )
    for upper_band, lower_band in pairwise(judged_bands):
        if upper_band.share < rule.share and lower_band.share < rule.share:
            return upper_band.low, judged_bands
    return 0.0 if 0 in counts_by_band else None, judged_bands


def _lower_end(band_index: int, width: float) -> float:
    return round(band_index * width, 6)
