"""Confidence intervals of means by a bootstrap over subjects, and a paired test of two models.

Rows of one subject are not independent, so subjects are drawn, not rows (the cluster bootstrap).
A bundle is the unit that is drawn. Each subject is a bundle of its own; if there are more than
`BUNDLES` subjects, they are dealt in turn to that number of bundles, which bounds the memory. All
sums are of whole numbers (`SCALE`), so that a result does not depend on the order of adding.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core.hashing import seeded_hash

SCALE = 1 << 20
"""A metric is kept as a whole number of 1/SCALE, so that sums are exact in any order."""
BUNDLES = 1024
"""The most bundles of subjects: it bounds the weights to `DRAWS` times 1,024 numbers (8 MB). Each
bundle is drawn as a whole, as a subject is."""
DRAWS = 1000
"""Draws of the bootstrap: the usual number for percentile intervals (Efron and Tibshirani 1993)."""
FLIPS = 10_000
"""Random sign flips of the paired test: its p-values are exact to about 1/10,000."""
LEVEL = 0.95
"""The conventional level of an interval, as in the papers that these benchmarks come from."""
FEW = 10
"""Subjects with something right, or something wrong, from which the bootstrap is believed. With
fewer the percentiles are too narrow; about ten is the rule of thumb for the normal approximation
of a share."""
# means whose draws are computed together: bounds the memory to `DRAWS` times 256 numbers
_BLOCK = 256

Ints = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]


class ConfidenceInterval(NamedTuple):
    """A mean and its interval; `low` and `high` are NaN where there is no interval."""

    mean: float
    low: float
    high: float


def subject_bundles(subject_numbers: Ints) -> tuple[Ints, int]:
    """Return the bundle of each row's subject, and the number of bundles.

    If there are at most `BUNDLES` subjects, each is a bundle of its own.
    """
    subject_count = int(subject_numbers.max(initial=-1)) + 1
    return subject_numbers % BUNDLES, min(subject_count, BUNDLES)


def bundle_weights(bundle_count: int, bootstrap_seed: int, draw_count: int = DRAWS) -> Floats:
    """Return how often each draw of the bootstrap takes each bundle, of shape (draws, bundles).

    Each of the `draw_count` draws takes `bundle_count` bundles, with replacement.
    """
    random_bits = _random(bootstrap_seed, "bootstrap", draw_count * bundle_count).reshape(
        draw_count, bundle_count
    )
    bundle_places = ((random_bits >> np.uint64(32)) * np.uint64(bundle_count)) >> np.uint64(32)
    flat_places = bundle_places.astype(np.int64) + np.arange(draw_count)[:, None] * bundle_count
    return (
        np.bincount(flat_places.ravel(), minlength=draw_count * bundle_count)
        .reshape(draw_count, bundle_count)
        .astype(float)
    )


def mean_intervals(
    metric_sums: Ints, row_counts: Ints, subject_counts: Ints, draw_weights: Floats
) -> list[ConfidenceInterval]:
    """Return the mean of each of several sets of rows, with its percentile interval at `LEVEL`.

    `metric_sums` and `row_counts` have the shape (means, bundles): for each mean and bundle the sum
    of the metric in units of 1/`SCALE`, and the number of rows. `subject_counts` has the number of
    subjects of each mean. `draw_weights`, from `bundle_weights`, says how often each draw of the
    bootstrap takes each bundle: the mean of a draw is the weighted sum of the metric over the
    weighted number of rows.

    If fewer than `FEW` subjects have something right, or something wrong, the bootstrap is too
    narrow. The interval then is the exact binomial one for that number of subjects (Clopper and
    Pearson 1934). If there is only one subject and its rows do not agree, both bounds are NaN.
    """
    intervals: list[ConfidenceInterval] = []
    # a bundle without rows adds nothing to a draw
    has_rows = row_counts.any(0)
    metric_sums, row_counts = metric_sums[:, has_rows], row_counts[:, has_rows]
    draw_weights = draw_weights[:, has_rows]
    for block_start in range(0, len(metric_sums), _BLOCK):
        block_slice = slice(block_start, block_start + _BLOCK)
        drawn_sums, drawn_counts = (
            draw_weights @ metric_sums[block_slice].T.astype(float),
            draw_weights @ row_counts[block_slice].T.astype(float),
        )
        block_totals, block_rows = metric_sums[block_slice].sum(1), row_counts[block_slice].sum(1)
        block_means = block_totals / block_rows / SCALE
        drawn_means = np.where(
            drawn_counts > 0, drawn_sums / np.maximum(drawn_counts, 1) / SCALE, block_means
        )
        bound_places = bounds(len(draw_weights))
        low, high = np.partition(np.ascontiguousarray(drawn_means.T), bound_places, axis=1)[
            :, bound_places
        ].T
        right_counts = (metric_sums[block_slice] > 0).sum(1)
        wrong_counts = (metric_sums[block_slice] < row_counts[block_slice] * SCALE).sum(1)
        few_subjects = np.minimum(right_counts, wrong_counts) < FEW
        exact_bounds = _exact(block_means, subject_counts[block_slice])
        low, high = np.where(few_subjects, exact_bounds, (low, high))
        intervals += map(ConfidenceInterval, block_means.tolist(), low.tolist(), high.tolist())
    return intervals


def _exact(mean: Floats, subject_count: Ints) -> Floats:
    """Return the bounds of Clopper and Pearson for shares of subjects, of shape (2, means)."""
    from scipy.special import betaincinv

    hit_count, tail_share = mean * subject_count, (1 - LEVEL) / 2
    low = np.where(
        hit_count > 0,
        betaincinv(np.maximum(hit_count, 1e-9), subject_count - hit_count + 1, tail_share),
        0.0,
    )
    high = betaincinv(hit_count + 1, np.maximum(subject_count - hit_count, 1e-9), 1 - tail_share)
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
    first_marks: Ints, second_marks: Ints, bundle_numbers: Ints, count: int, seed: int
) -> PairedDifference:
    """A model's marks against another's on the same rows, some at least.

    `first_marks`, `second_marks`: the marks of each row in units of 1/`SCALE`. `bundle_numbers`: as
    `subject_bundles` returns them. The differences of a bundle's rows change their sign together.
    """
    row_count, bundle_differences = len(first_marks), (first_marks - second_marks).astype(float)
    sums = np.bincount(bundle_numbers, weights=bundle_differences, minlength=count)
    counts = np.bincount(bundle_numbers, minlength=count)
    draw_weights = bundle_weights(count, seed)
    drawn_sums, drawn_counts = draw_weights @ sums, draw_weights @ counts
    mean = sums.sum() / row_count / SCALE
    drawn_means = np.sort(
        np.where(drawn_counts > 0, drawn_sums / np.maximum(drawn_counts, 1) / SCALE, mean)
    )
    low, high = drawn_means[bounds(len(draw_weights))].tolist()
    nonzero_sums = sums[sums != 0]
    extreme_draws = 0
    for first_draw in range(0, FLIPS, DRAWS):
        random_signs = _random(seed, f"flip {first_draw}", DRAWS * len(nonzero_sums)).reshape(
            DRAWS, len(nonzero_sums)
        )
        flipped_sums = ((random_signs >> np.uint64(63)).astype(float) * 2 - 1) @ nonzero_sums
        extreme_draws += int((np.abs(flipped_sums) >= abs(sums.sum())).sum())
    return PairedDifference(row_count, float(mean), low, high, (extreme_draws + 1) / (FLIPS + 1))


def bounds(draw_count: int) -> list[int]:
    """Return the places of the lower and the upper bound among sorted draws."""
    tail_share = round(draw_count * (1 - LEVEL) / 2)
    return [tail_share, draw_count - 1 - tail_share]


def _random(seed: int, draw_name: str, draw_count: int) -> NDArray[np.uint64]:
    """Random bits of a generator whose stream NumPy never changes."""
    raw_bits = np.random.PCG64(seeded_hash(seed, draw_name)).random_raw(draw_count)
    return np.asarray(raw_bits, np.uint64)
