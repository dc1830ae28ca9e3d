"""How sure a mean is: bootstrap by subject, and a paired test of two models.

Rows of one subject are not independent, so subjects are drawn, not rows (the cluster bootstrap).
Above `BUNDLES` subjects, they are dealt to so many bundles in turn, and bundles are drawn. All
sums are of whole numbers (`SCALE`), so that a result does not depend on the order of adding.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core.hashing import seeded_hash

SCALE = 1 << 20
"""A metric is kept as a whole number of 1/SCALE, so that sums are exact in any order."""
BUNDLES = 1024
DRAWS = 1000
FLIPS = 10_000
LEVEL = 0.95
FEW = 10
"""Subjects with something right, or wrong, from which draws are believed."""
_BLOCK = 256

Ints = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean and its interval; `low` and `high` are NaN where nothing can be said."""

    mean: float
    low: float
    high: float


def subject_bundles(subject: Ints) -> tuple[Ints, int]:
    """The bundle of each row's subject, and how many there are: subjects themselves if few."""
    count = int(subject.max(initial=-1)) + 1
    return subject % BUNDLES, min(count, BUNDLES)


def bundle_weights(count: int, seed: int, draws: int = DRAWS) -> Floats:
    """How often each of `count` bundles is drawn in each of `draws` draws of as many."""
    random_bits = _random(seed, "bootstrap", draws * count).reshape(draws, count)
    places = ((random_bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
    flat = places.astype(np.int64) + np.arange(draws)[:, None] * count
    return np.bincount(flat.ravel(), minlength=draws * count).reshape(draws, count).astype(float)


def mean_intervals(sums: Ints, counts: Ints, subjects: Ints, weights: Floats) -> list[Interval]:
    """Percentile intervals of means, at `LEVEL`.

    `sums`, `counts` of shape (means, bundles): the sum of a metric in units of 1/`SCALE`, and the
    number of rows; `subjects`: how many of a mean's subjects there are; `drawn`: as of `weights`.
    Where fewer than `FEW` subjects have something right, or something wrong, draws say little: the
    bounds are the exact ones of so many subjects (Clopper and Pearson 1934). Where one subject is
    all there is and it does not agree, there are none.
    """
    intervals: list[Interval] = []
    for block_start in range(0, len(sums), _BLOCK):
        part = slice(block_start, block_start + _BLOCK)
        drawn_sums, drawn_counts = (
            weights @ sums[part].T.astype(float),
            weights @ counts[part].T.astype(float),
        )
        total, rows = sums[part].sum(1), counts[part].sum(1)
        mean = total / rows / SCALE
        drawn_means = np.where(
            drawn_counts > 0, drawn_sums / np.maximum(drawn_counts, 1) / SCALE, mean
        )
        bound_places = bounds(len(weights))
        low, high = np.partition(np.ascontiguousarray(drawn_means.T), bound_places, axis=1)[
            :, bound_places
        ].T
        right = (sums[part] > 0).sum(1)
        wrong = (sums[part] < counts[part] * SCALE).sum(1)
        few_subjects = np.minimum(right, wrong) < FEW
        exact_bounds = _exact(mean, subjects[part])
        low, high = np.where(few_subjects, exact_bounds, (low, high))
        intervals += map(Interval, mean.tolist(), low.tolist(), high.tolist())
    return intervals


def _exact(mean: Floats, subject_count: Ints) -> Floats:
    """The bounds of Clopper and Pearson for shares of `n`, of shape (2, means)."""
    from scipy.special import betaincinv

    hit_count, outside = mean * subject_count, (1 - LEVEL) / 2
    low = np.where(
        hit_count > 0,
        betaincinv(np.maximum(hit_count, 1e-9), subject_count - hit_count + 1, outside),
        0.0,
    )
    high = betaincinv(hit_count + 1, np.maximum(subject_count - hit_count, 1e-9), 1 - outside)
    bounds: Floats = np.stack([low, np.where(hit_count < subject_count, high, 1.0)])
    bounds[:, (subject_count < 2) & (mean > 0) & (mean < 1)] = np.nan
    return bounds


class PairedDifference(NamedTuple):
    """Two models on the same rows: the mean difference, its interval, and how likely it is so far
    from 0 if neither model is better (a sign-flip test by subject, two-sided)."""

    row_count: int
    difference: float
    low: float
    high: float
    p_value: float


def paired_difference(
    mine: Ints, theirs: Ints, bundle: Ints, count: int, seed: int
) -> PairedDifference:
    """A model's marks against another's on the same rows, some at least.

    `mine`, `theirs`: whole numbers of 1/`SCALE`; `bundle` as of `bundles`. The differences of each
    bundle's rows keep or change their sign together.
    """
    row_count, differences = len(mine), (mine - theirs).astype(float)
    sums = np.bincount(bundle, weights=differences, minlength=count)
    counts = np.bincount(bundle, minlength=count)
    weights = bundle_weights(count, seed)
    drawn_sums, drawn_counts = weights @ sums, weights @ counts
    mean = sums.sum() / row_count / SCALE
    drawn_means = np.sort(
        np.where(drawn_counts > 0, drawn_sums / np.maximum(drawn_counts, 1) / SCALE, mean)
    )
    low, high = drawn_means[bounds(len(weights))].tolist()
    nonzero_sums = sums[sums != 0]
    extreme_draws = 0
    for first_draw in range(0, FLIPS, DRAWS):
        signs = _random(seed, f"flip {first_draw}", DRAWS * len(nonzero_sums)).reshape(
            DRAWS, len(nonzero_sums)
        )
        flipped = ((signs >> np.uint64(63)).astype(float) * 2 - 1) @ nonzero_sums
        extreme_draws += int((np.abs(flipped) >= abs(sums.sum())).sum())
    return PairedDifference(row_count, float(mean), low, high, (extreme_draws + 1) / (FLIPS + 1))


def bounds(draws: int) -> list[int]:
    """Where the lower and the upper bound stand among sorted draws."""
    outside = round(draws * (1 - LEVEL) / 2)
    return [outside, draws - 1 - outside]


def _random(seed: int, name: str, size: int) -> NDArray[np.uint64]:
    """Random bits of a generator whose stream NumPy never changes."""
    raw = np.random.PCG64(seeded_hash(seed, name)).random_raw(size)
    return np.asarray(raw, np.uint64)
