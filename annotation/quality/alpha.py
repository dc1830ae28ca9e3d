"""Krippendorff's alpha with a bootstrap interval over items.

K. Krippendorff, Content Analysis, ch. 12: alpha = 1 - observed / expected disagreement, here for
nominal data with any number of judges and missing values. Only units with two values or more
say anything. Where all values are the same, nothing could disagree: alpha is undefined (None).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

DRAWS = 1_000
LEVEL = 0.95
_CELLS = 4_000_000


@dataclass(frozen=True)
class Units:
    """What items say, one row each.

    `disagreeing`: the item's share of observed disagreement, pairs of values that differ over
    values less one. `counts`: how often it has each value, items by values, sparse.
    """

    disagreeing: Any
    counts: Any

    @property
    def items(self) -> int:
        """Items with two values or more."""
        return len(self.disagreeing)


def of_values(items: Iterable[Sequence[str]]) -> Units:
    """Units of nominal values: each item is one unit, and has a value of each judge."""
    known: dict[str, int] = {}
    return _units(
        (_disagreeing(counts), {known.setdefault(value, len(known)): n for value, n in counts})
        for counts in (_counted(values) for values in items)
        if sum(n for _, n in counts) > 1
    )


def of_marks(items: Iterable[tuple[int, Sequence[Sequence[tuple[int, int]]]]]) -> Units:
    """Units of marked text: each character is one, with the values in and out.

    An item is the length of its text and what each judge marked, as [start, end) in order and
    without overlap. This is the simple form of unitising: where and how far marks overlap
    counts, how they are cut into pieces does not.
    """
    return _units(
        _marked(length, judges) for length, judges in items if len(judges) > 1 and length > 0
    )


def alpha(units: Units) -> float | None:
    """The coefficient: 1 perfect, 0 as by chance; None where it is undefined."""
    value = _alphas(units, np.ones((1, units.items)))[0] if units.items else np.nan
    return None if np.isnan(value) else float(value)


def interval(
    units: Units, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> tuple[float, float] | None:
    """A percentile interval: items drawn with replacement, `draws` times.

    Draws in which it is undefined are left out; None where these are more than half, or where
    there are fewer than two items.
    """
    if units.items < 2:
        return None
    rng = np.random.default_rng(seed)
    even = np.full(units.items, 1 / units.items)
    step = max(1, _CELLS // max(units.counts.shape))
    found = []
    for start in range(0, draws, step):
        weights = rng.multinomial(units.items, even, size=min(step, draws - start))
        found.append(_alphas(units, weights))
    values = np.concatenate(found)
    values = values[~np.isnan(values)]
    if len(values) * 2 < draws:
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def expected(units: Units) -> float | None:
    """Share of pairs of values that would differ by chance; None without any pair."""
    totals = np.asarray(units.counts.sum(axis=0), float).ravel()
    n = totals.sum()
    return float((n * n - (totals**2).sum()) / (n * (n - 1))) if n > 1 else None


def _alphas(units: Units, weights: Any) -> Any:
    """Alpha for each row of weights on items; NaN where it is undefined."""
    totals = np.asarray((units.counts.T @ weights.T).T, float)
    n = totals.sum(axis=1)
    by_chance = n * n - (totals**2).sum(axis=1)
    seen = weights @ units.disagreeing
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(by_chance > 0, 1 - (n - 1) * seen / by_chance, np.nan)


def _units(found: Iterable[tuple[float, Mapping[int, int]]]) -> Units:
    disagreeing: list[float] = []
    data: list[int] = []
    columns: list[int] = []
    ends = [0]
    for share, counts in found:
        disagreeing.append(share)
        data += counts.values()
        columns += counts.keys()
        ends.append(len(data))
    shape = len(disagreeing), max(columns, default=0) + 1
    cells = np.array(data, np.float64), np.array(columns, np.int64), np.array(ends)
    return Units(np.array(disagreeing, np.float64), csr_matrix(cells, shape))


def _counted(values: Sequence[str]) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for value in sorted(values):
        found[value] = found.get(value, 0) + 1
    return [*found.items()]


def _disagreeing(counts: Sequence[tuple[str, int]]) -> float:
    total = sum(n for _, n in counts)
    return sum(n * (total - n) for _, n in counts) / (total - 1)


def _marked(
    length: int, judges: Sequence[Sequence[tuple[int, int]]]
) -> tuple[float, dict[int, int]]:
    """Over all characters: disagreement, and how often they are in and out."""
    marks = np.zeros(length + 1, int)
    for spans in judges:
        for start, end in spans:
            marks[min(start, length)] += 1
            marks[min(end, length)] -= 1
    inside = np.cumsum(marks[:length])
    many = len(judges)
    share = float((2 * inside * (many - inside)).sum()) / (many - 1)
    marked = int(inside.sum())
    return share, {0: length * many - marked, 1: marked}
