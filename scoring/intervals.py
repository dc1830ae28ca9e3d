"""How sure a mean is: bootstrap by subject, and a paired test of two models.

Rows of one subject are not independent, so subjects are drawn, not rows (the cluster bootstrap).
Above `BUNDLES` subjects, they are dealt to so many bundles in turn, and bundles are drawn. All
sums are of whole numbers (`SCALE`), so that a result does not depend on the order of adding.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from factdrift.builders.core.hashing import bits
from factdrift.scoring.metrics import SCALE
from factdrift.scoring.words import Ints

BUNDLES = 1024
DRAWS = 1000
FLIPS = 10_000
LEVEL = 0.95
_BLOCK = 256

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean and its interval; `low` and `high` are NaN where nothing can be said."""

    mean: float
    low: float
    high: float


def bundles(subject: Ints) -> tuple[Ints, int]:
    """The bundle of each row's subject, and how many there are: subjects themselves if few."""
    count = int(subject.max(initial=-1)) + 1
    return subject % BUNDLES, min(count, BUNDLES)


def weights(count: int, seed: int, draws: int = DRAWS) -> Floats:
    """How often each of `count` bundles is drawn in each of `draws` draws of as many."""
    drawn = _random(seed, "bootstrap", draws * count).reshape(draws, count)
    places = ((drawn >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
    flat = places.astype(np.int64) + np.arange(draws)[:, None] * count
    return np.bincount(flat.ravel(), minlength=draws * count).reshape(draws, count).astype(float)


def intervals(sums: Ints, counts: Ints, subjects: Ints, drawn: Floats) -> list[Interval]:
    """Percentile intervals of means, at `LEVEL`.

    `sums`, `counts` of shape (means, bundles): the sum of a metric in units of 1/`SCALE`, and the
    number of rows; `subjects`: how many of a mean's subjects there are; `drawn`: as of `weights`.
    Where every row counts the same, the bound that is left is that of so many subjects that agree
    (Clopper and Pearson 1934); where one subject is all there is and it does not agree, none is.
    """
    found: list[Interval] = []
    for at in range(0, len(sums), _BLOCK):
        part = slice(at, at + _BLOCK)
        above, below = drawn @ sums[part].T.astype(float), drawn @ counts[part].T.astype(float)
        total, rows = sums[part].sum(1), counts[part].sum(1)
        mean = total / rows / SCALE
        again = np.where(below > 0, above / np.maximum(below, 1) / SCALE, mean)
        ends = [_place(len(drawn), side) for side in (0, 1)]
        low, high = np.partition(np.ascontiguousarray(again.T), ends, axis=1)[:, ends].T
        for n, one in enumerate(mean.tolist()):
            several = int(subjects[at + n])
            if one in (0.0, 1.0):
                least = ((1 - LEVEL) / 2) ** (1 / several)
                found.append(Interval(one, *((0.0, 1 - least) if one == 0 else (least, 1.0))))
            elif several < 2:
                found.append(Interval(one, np.nan, np.nan))
            else:
                found.append(Interval(one, float(low[n]), float(high[n])))
    return found


class Paired(NamedTuple):
    """Two models on the same rows: the mean difference, its interval, and how likely it is so far
    from 0 if neither model is better (a sign-flip test by subject, two-sided)."""

    n: int
    difference: float
    low: float
    high: float
    p: float


def paired(mine: Ints, theirs: Ints, bundle: Ints, count: int, seed: int) -> Paired | None:
    """A model's marks against another's on the same rows; None where no row has both.

    `mine`, `theirs`: whole numbers of 1/`SCALE`, negative where a row has none; `bundle` as of
    `bundles`. The differences of each bundle's rows keep or change their sign together.
    """
    both = (mine >= 0) & (theirs >= 0)
    n = int(both.sum())
    if n == 0:
        return None
    apart = (mine[both].astype(np.int64) - theirs[both]).astype(float)
    sums = np.bincount(bundle[both], weights=apart, minlength=count)
    counts = np.bincount(bundle[both], minlength=count)
    drawn = weights(count, seed)
    above, below = drawn @ sums, drawn @ counts
    mean = sums.sum() / n / SCALE
    again = np.sort(np.where(below > 0, above / np.maximum(below, 1) / SCALE, mean))
    low, high = (float(again[_place(len(drawn), side)]) for side in (0, 1))
    there = sums[sums != 0]
    far = 0
    for at in range(0, FLIPS, DRAWS):
        signs = _random(seed, f"flip {at}", DRAWS * len(there)).reshape(DRAWS, len(there))
        flipped = ((signs >> np.uint64(63)).astype(float) * 2 - 1) @ there
        far += int((np.abs(flipped) >= abs(sums.sum())).sum())
    return Paired(n, float(mean), low, high, (far + 1) / (FLIPS + 1))


def _place(draws: int, side: int) -> int:
    """Where the lower (0) or upper (1) bound stands among sorted draws."""
    outside = round(draws * (1 - LEVEL) / 2)
    return outside if side == 0 else draws - 1 - outside


def _random(seed: int, name: str, size: int) -> NDArray[np.uint64]:
    """Random bits of a generator whose stream NumPy never changes."""
    raw = np.random.PCG64(bits(seed, name)).random_raw(size)
    return np.asarray(raw, np.uint64)
