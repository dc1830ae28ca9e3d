"""Coefficients of agreement, and true values estimated from workers who err; values are nominal.

All are tested against the published tables of their papers and, on random tables, against the
usual libraries, which take a table with a cell for every value of every item: alpha of ten
thousand free texts needs gigabytes there.

Krippendorff's alpha (K. Krippendorff, Content Analysis, ch. 12) is 1 - observed / expected
disagreement, for any number of annotators and missing values. Only units with two values or more
say anything. Where all values are the same, nothing could disagree: alpha is undefined (None). Its
interval is a bootstrap over items.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

# Bootstrap samples of an interval.
DRAWS = 1_000
LEVEL = 0.95
# Most rounds of an estimate by Dawid and Skene.
ROUNDS = 2_000
TOLERANCE = 1e-9


class Rating(NamedTuple):
    item: str
    worker: str
    value: str


@dataclass(frozen=True)
class AlphaUnits:
    """What alpha is computed from: how many items (`times`) are alike, the `disagreement` within
    one, and how often (`number`) such an item (`item`) has a value (`value`), side by side."""

    times: Any
    disagreement: Any
    item: Any
    value: Any
    number: Any

    def alpha(self, times: Any = None) -> float | None:
        """1 perfect, 0 as by chance, also of so many items of each kind; None: undefined."""
        times = self.times if times is None else times
        expected = self._expected(times)
        return 1 - float(times @ self.disagreement) / expected if expected else None

    def _expected(self, times: Any) -> float | None:
        """The disagreement by chance of as many values; None: none is possible."""
        totals = np.bincount(self.value, self.number * times[self.item])
        total = totals.sum()
        return float((total * total - totals @ totals) / (total - 1)) if total > 1 else None

    def expected_share(self) -> float | None:
        """The share of pairs of values that would differ by chance; None: nothing could differ."""
        expected = self._expected(self.times)
        return expected / float(self.number @ self.times[self.item]) if expected else None

    def interval(self, seed: int = 0) -> tuple[float, float] | None:
        """A percentile interval of level `LEVEL`: `DRAWS` samples of items, with replacement.

        Samples in which alpha is undefined are left out; None where these are more than half, or
        where there are fewer than two items.
        """
        kinds = np.repeat(np.arange(len(self.times)), self.times)
        item_count = len(kinds)
        if item_count < 2:
            return None
        rng = np.random.default_rng(seed)
        drawn = (kinds[rng.integers(item_count, size=item_count)] for _ in range(DRAWS))
        samples = (self.alpha(np.bincount(sample, minlength=len(self.times))) for sample in drawn)
        values = [value for value in samples if value is not None]
        if len(values) * 2 < DRAWS:
            return None
        low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def alpha_units(items: Iterable[Sequence[Any]]) -> AlphaUnits:
    """Of each item what each annotator gave: a code, or as many codes as the item has units."""
    kinds = Counter[tuple[float, tuple[tuple[int, int], ...]]]()
    for item_values in items:
        values = np.array(item_values)
        if len(values) < 2 or not values.size:
            continue
        values = values.reshape(len(values), -1)
        counts = [(int(v), (values == v).sum(axis=0)) for v in np.unique(values)]
        differing = sum(
            int((value_count * (len(values) - value_count)).sum()) for _, value_count in counts
        )
        totals = tuple((value, int(value_count.sum())) for value, value_count in counts)
        kinds[differing / (len(values) - 1), totals] += 1
    cells = [
        (value_count, *cell) for value_count, (_, totals) in enumerate(kinds) for cell in totals
    ]
    item, value, number = np.array(cells, np.int64).reshape(-1, 3).T
    disagreement = np.array([unit_disagreement for unit_disagreement, _ in kinds], float)
    return AlphaUnits(np.array([*kinds.values()], int), disagreement, item, value, number)


def fleiss_kappa(ratings: Iterable[Rating]) -> tuple[float | None, int]:
    """Fleiss (1971), for items with the same number of ratings, and how many these are.

    They are those with the usual number; where two numbers are as frequent, the larger.
    """
    by_item = [counts for counts in _counts(ratings).values() if counts.total() > 1]
    sizes = Counter(counts.total() for counts in by_item)
    if not sizes:
        return None, 0
    size = max(sizes, key=lambda count: (sizes[count], count))
    item_counts = [counts for counts in by_item if counts.total() == size]
    totals = Counter(value for counts in item_counts for value in counts.elements())
    pairs = sum(count * (count - 1) for counts in item_counts for count in counts.values())
    agreed = pairs / (size * (size - 1) * len(item_counts))
    by_chance = sum((count / (len(item_counts) * size)) ** 2 for count in totals.values())
    kappa = None if len(totals) < 2 else (agreed - by_chance) / (1 - by_chance)
    return kappa, len(item_counts)


def cohen_kappas(ratings: Iterable[Rating], fewest: int = 2) -> dict[tuple[str, str], float]:
    """Cohen (1960) of pairs of workers with `fewest` items or more in common, where it is defined.

    Of a worker who judged an item twice the first rating counts.
    """
    by_item: dict[str, dict[str, str]] = {}
    for item, worker, value in ratings:
        by_item.setdefault(item, {}).setdefault(worker, value)
    by_pair: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for value_by_worker in by_item.values():
        for first, second in combinations(sorted(value_by_worker), 2):
            by_pair.setdefault((first, second), []).append(
                (value_by_worker[first], value_by_worker[second])
            )
    kappas = {}
    for pair, values in sorted(by_pair.items()):
        first_side, second_side = (Counter(side) for side in zip(*values, strict=True))
        agreed = sum(first_value == second_value for first_value, second_value in values) / len(
            values
        )
        by_chance = (
            sum(count * second_side[side_value] for side_value, count in first_side.items())
            / len(values) ** 2
        )
        if len(values) >= fewest and by_chance < 1:
            kappas[pair] = (agreed - by_chance) / (1 - by_chance)
    return kappas


def dawid_skene(ratings: Iterable[Rating]) -> dict[str, dict[str, float]]:
    """A. P. Dawid and A. M. Skene (1979): the probability of each value of each item.

    Maximum likelihood by EM, from shares of the votes; rounds end when no probability changes by
    more than `TOLERANCE`, or after `ROUNDS`. The first value is the most probable, among equal ones
    the first in order.
    """
    rated = sorted(ratings)
    if not rated:
        return {}
    items, workers, values = (sorted({rating[index] for rating in rated}) for index in range(3))
    places = [
        {name: index for index, name in enumerate(names)} for names in (items, workers, values)
    ]
    item_codes, worker_codes, value_codes = (
        np.array([places[index][rating[index]] for rating in rated], np.int64) for index in range(3)
    )
    value_count = len(values)
    truth = np.zeros((len(items), value_count))
    np.add.at(truth, (item_codes, value_codes), 1.0)
    truth /= truth.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        errors = np.zeros((len(workers), value_count, value_count))
        np.add.at(errors.transpose(0, 2, 1), (worker_codes, value_codes), truth[item_codes])
        sums = errors.sum(axis=2, keepdims=True)
        errors = np.divide(errors, sums, out=np.zeros_like(errors), where=sums > 0)
        with np.errstate(divide="ignore"):
            scores = np.tile(np.log(truth.mean(axis=0)), (len(items), 1))
            np.add.at(scores, item_codes, np.log(errors[worker_codes, :, value_codes]))
        scores -= scores.max(axis=1, keepdims=True)
        before, truth = truth, np.exp(scores)
        truth /= truth.sum(axis=1, keepdims=True)
        if np.abs(truth - before).max() < TOLERANCE:
            break
    return {
        name: {values[index]: float(row[index]) for index in np.argsort(-row, kind="stable")}
        for name, row in zip(items, truth, strict=True)
    }


def majority(ratings: Iterable[Rating]) -> dict[str, str | None]:
    """The most frequent value of each item; None where two are as frequent."""
    majority_values: dict[str, str | None] = {}
    for item, counts in _counts(ratings).items():
        (first, count), *rest = counts.most_common(2)
        majority_values[item] = None if rest and rest[0][1] == count else first
    return majority_values


def _counts(ratings: Iterable[Rating]) -> Mapping[str, Counter[str]]:
    by_item: dict[str, Counter[str]] = {}
    for item, _, value in ratings:
        by_item.setdefault(item, Counter())[value] += 1
    return by_item
