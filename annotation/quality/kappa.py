"""Coefficients of agreement beside alpha, and true values estimated from workers who err.

A rating is (item, worker, value); values are nominal. All are tested against the published tables
of their papers and, on random tables, against the usual libraries.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

ROUNDS = 2_000
TOLERANCE = 1e-9


class Rating(NamedTuple):
    item: str
    worker: str
    value: str


@dataclass(frozen=True)
class FleissKappa:
    """Of the items with `ratings` values each, the most frequent number; None: undefined."""

    kappa: float | None
    items: int
    ratings: int


@dataclass(frozen=True)
class CohenKappa:
    """Of two workers, over the items that both judged; None where it is undefined."""

    workers: tuple[str, str]
    items: int
    kappa: float | None


@dataclass(frozen=True)
class TrueValues:
    """What is estimated of each item: its most probable value, and how probable it is.

    `accuracy`: of each worker, the estimated probability of giving the true value.
    """

    values: Mapping[str, tuple[str, float]]
    accuracy: Mapping[str, float]
    marginals: Mapping[str, float]


def fleiss_kappa(ratings: Iterable[Rating]) -> FleissKappa:
    """Fleiss (1971), for items with the same number of ratings: those with the usual number.

    Where two numbers are as frequent the larger is taken.
    """
    by_item = _counts(ratings)
    sizes = Counter(n for counts in by_item.values() if (n := sum(counts.values())) > 1)
    if not sizes:
        return FleissKappa(None, 0, 0)
    size = max(sizes, key=lambda n: (sizes[n], n))
    found = [counts for counts in by_item.values() if sum(counts.values()) == size]
    totals = Counter[str]()
    agreed = 0.0
    for counts in found:
        totals.update(counts)
        agreed += sum(n * (n - 1) for n in counts.values()) / (size * (size - 1))
    many = len(found)
    by_chance = sum((n / (many * size)) ** 2 for n in totals.values())
    kappa = None if len(totals) < 2 else (agreed / many - by_chance) / (1 - by_chance)
    return FleissKappa(kappa, many, size)


def cohen_kappas(ratings: Iterable[Rating], fewest: int = 2) -> list[CohenKappa]:
    """Cohen (1960) for every pair of workers with `fewest` items or more in common, by name.

    Of a worker who judged an item twice the first rating counts.
    """
    by_item: dict[str, dict[str, str]] = {}
    for item, worker, value in ratings:
        by_item.setdefault(item, {}).setdefault(worker, value)
    by_pair: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for given in by_item.values():
        for first, second in combinations(sorted(given), 2):
            pair = by_pair.setdefault((first, second), Counter())
            pair[given[first], given[second]] += 1
    return [
        CohenKappa(workers, n, _cohen(table))
        for workers, table in sorted(by_pair.items())
        if (n := sum(table.values())) >= fewest
    ]


def _cohen(table: Mapping[tuple[str, str], int]) -> float | None:
    n = sum(table.values())
    sides = [Counter[str](), Counter[str]()]
    for values, count in table.items():
        for side, value in zip(sides, values, strict=True):
            side[value] += count
    agreed = sum(count for (one, other), count in table.items() if one == other) / n
    by_chance = sum(count * sides[1][value] for value, count in sides[0].items()) / n**2
    return None if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)


def dawid_skene(ratings: Iterable[Rating]) -> TrueValues:
    """A. P. Dawid and A. M. Skene (1979): maximum likelihood by EM, from shares of the votes.

    Rounds end when no probability changes by more than `TOLERANCE`, or after `ROUNDS`. Among equal
    probabilities the first value in order is taken.
    """
    rated = sorted(ratings)
    if not rated:
        return TrueValues({}, {}, {})
    items, workers, values = (sorted({one[n] for one in rated}) for n in range(3))
    places = [{name: n for n, name in enumerate(names)} for names in (items, workers, values)]
    at, who, what = (np.array([places[n][one[n]] for one in rated], np.int64) for n in range(3))
    many = len(values)
    truth = np.zeros((len(items), many))
    np.add.at(truth, (at, what), 1.0)
    truth /= truth.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        errors = np.zeros((len(workers), many, many))
        np.add.at(errors.transpose(0, 2, 1), (who, what), truth[at])
        sums = errors.sum(axis=2, keepdims=True)
        errors = np.divide(errors, sums, out=np.zeros_like(errors), where=sums > 0)
        marginals = truth.mean(axis=0)
        with np.errstate(divide="ignore"):
            scores = np.tile(np.log(marginals), (len(items), 1))
            np.add.at(scores, at, np.log(errors[who, :, what]))
        scores -= scores.max(axis=1, keepdims=True)
        before, truth = truth, np.exp(scores)
        truth /= truth.sum(axis=1, keepdims=True)
        if np.abs(truth - before).max() < TOLERANCE:
            break
    best = truth.argmax(axis=1)
    diagonal = np.einsum("wtt,t->w", errors, marginals)
    return TrueValues(
        {name: (values[best[n]], float(truth[n, best[n]])) for n, name in enumerate(items)},
        {name: float(diagonal[n]) for n, name in enumerate(workers)},
        {name: float(marginals[n]) for n, name in enumerate(values)},
    )


def majority(ratings: Iterable[Rating]) -> dict[str, str | None]:
    """The most frequent value of each item; None where two are as frequent."""
    found: dict[str, str | None] = {}
    for item, counts in _counts(ratings).items():
        top: Sequence[tuple[str, int]] = counts.most_common(2)
        is_tie = len(top) > 1 and top[0][1] == top[1][1]
        found[item] = None if is_tie else top[0][0]
    return found


def _counts(ratings: Iterable[Rating]) -> dict[str, Counter[str]]:
    by_item: dict[str, Counter[str]] = {}
    for item, _, value in ratings:
        by_item.setdefault(item, Counter())[value] += 1
    return by_item
