"""Coefficients of agreement, and true values estimated from workers who err; values are nominal.

All are tested against the published tables of their papers and, on random tables, against the
usual libraries, which take a table with a cell for every value of every item: alpha of ten
thousand free texts needs gigabytes there.

Krippendorff's alpha (K. Krippendorff, Content Analysis, ch. 12) is 1 - observed / expected
disagreement, for any number of annotators and missing values. Only units with two values or more
say anything. Where all values are the same, nothing could disagree: alpha is undefined (None). Its
interval is a bootstrap over items.
"""

from collections import Counter, defaultdict
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
    """The counts from which Krippendorff's alpha is computed, with equal items counted together.

    Items are of one kind if they have the same values equally often. `times` has the number of
    items of each kind, and `disagreement` the disagreement within one such item. `item`, `value`
    and `number` are parallel arrays: an item of kind `item` has the value `value` `number` times.
    """

    times: Any
    disagreement: Any
    item: Any
    value: Any
    number: Any

    def alpha(self, item_times: Any = None) -> float | None:
        """Return alpha: 1 is perfect agreement and 0 agreement by chance; None if it is undefined.

        `item_times`, if it is given, replaces the number of items of each kind.
        """
        item_times = self.times if item_times is None else item_times
        expected_disagreement = self._expected(item_times)
        return (
            1 - float(item_times @ self.disagreement) / expected_disagreement
            if expected_disagreement
            else None
        )

    def _expected(self, item_times: Any) -> float | None:
        """Return the disagreement that chance would give these values; None for fewer than two."""
        value_totals = np.bincount(self.value, self.number * item_times[self.item])
        grand_total = value_totals.sum()
        return (
            float((grand_total * grand_total - value_totals @ value_totals) / (grand_total - 1))
            if grand_total > 1
            else None
        )

    def expected_share(self) -> float | None:
        """Return the share of pairs of values that would differ by chance; None if none could."""
        expected_disagreement = self._expected(self.times)
        return (
            expected_disagreement / float(self.number @ self.times[self.item])
            if expected_disagreement
            else None
        )

    def interval(self, seed: int = 0) -> tuple[float, float] | None:
        """A percentile interval of level `LEVEL`: `DRAWS` samples of items, with replacement.

        Samples in which alpha is undefined are left out; None where these are more than half, or
        where there are fewer than two items.
        """
        item_kinds = np.repeat(np.arange(len(self.times)), self.times)
        item_count = len(item_kinds)
        if item_count < 2:
            return None
        random_generator = np.random.default_rng(seed)
        drawn_kinds = (
            item_kinds[random_generator.integers(item_count, size=item_count)] for _ in range(DRAWS)
        )
        sample_times = (
            self.alpha(np.bincount(drawn_times, minlength=len(self.times)))
            for drawn_times in drawn_kinds
        )
        sample_alphas = [sample_alpha for sample_alpha in sample_times if sample_alpha is not None]
        if len(sample_alphas) * 2 < DRAWS:
            return None
        lower_end, upper_end = np.quantile(sample_alphas, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(lower_end), float(upper_end)


def alpha_units(items: Iterable[Sequence[Any]]) -> AlphaUnits:
    """Count the values of items for `AlphaUnits`.

    An item holds one value for each of its annotators: a code, or one code for each unit of the
    item, such as a character of its text. Items with fewer than two annotators are left out.
    """
    item_kinds = Counter[tuple[float, tuple[tuple[int, int], ...]]]()
    for item_values in items:
        item_codes = np.array(item_values)
        if len(item_codes) < 2 or not item_codes.size:
            continue
        item_codes = item_codes.reshape(len(item_codes), -1)
        counts_by_code = [
            (int(code_value), (item_codes == code_value).sum(axis=0))
            for code_value in np.unique(item_codes)
        ]
        differing_pairs = sum(
            int((value_count * (len(item_codes) - value_count)).sum())
            for _, value_count in counts_by_code
        )
        code_totals = tuple(
            (code_values, int(value_count.sum())) for code_values, value_count in counts_by_code
        )
        item_kinds[differing_pairs / (len(item_codes) - 1), code_totals] += 1
    kind_cells = [
        (value_count, *code_cell)
        for value_count, (_, code_totals) in enumerate(item_kinds)
        for code_cell in code_totals
    ]
    kind_numbers, code_values, code_counts = np.array(kind_cells, np.int64).reshape(-1, 3).T
    kind_disagreements = np.array([unit_disagreement for unit_disagreement, _ in item_kinds], float)
    return AlphaUnits(
        np.array([*item_kinds.values()], int),
        kind_disagreements,
        kind_numbers,
        code_values,
        code_counts,
    )


def fleiss_kappa(ratings: Iterable[Rating]) -> tuple[float | None, int]:
    """Fleiss (1971), for items with the same number of ratings, and how many these are.

    They are those with the usual number; where two numbers are as frequent, the larger.
    """
    by_item = [
        value_counts for value_counts in _counts(ratings).values() if value_counts.total() > 1
    ]
    size_counts = Counter(value_counts.total() for value_counts in by_item)
    if not size_counts:
        return None, 0
    rating_count = max(size_counts, key=lambda value_count: (size_counts[value_count], value_count))
    item_counts = [value_counts for value_counts in by_item if value_counts.total() == rating_count]
    value_totals = Counter(
        rated_value for value_counts in item_counts for rated_value in value_counts.elements()
    )
    agreeing_pairs = sum(
        value_count * (value_count - 1)
        for value_counts in item_counts
        for value_count in value_counts.values()
    )
    agreed_share = agreeing_pairs / (rating_count * (rating_count - 1) * len(item_counts))
    by_chance = sum(
        (value_count / (len(item_counts) * rating_count)) ** 2
        for value_count in value_totals.values()
    )
    kappa_value = None if len(value_totals) < 2 else (agreed_share - by_chance) / (1 - by_chance)
    return kappa_value, len(item_counts)


def cohen_kappas(ratings: Iterable[Rating], fewest_common: int = 2) -> dict[tuple[str, str], float]:
    """Return Cohen's kappa (1960) of each pair of workers for which it is defined.

    Pairs with less than `fewest_common` items in common are left out.
    Of a worker who judged an item twice the first rating counts.
    """
    by_item: dict[str, dict[str, str]] = {}
    for item_id, worker_id, rated_value in ratings:
        by_item.setdefault(item_id, {}).setdefault(worker_id, rated_value)
    by_pair: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for value_by_worker in by_item.values():
        for first_worker, second_worker in combinations(sorted(value_by_worker), 2):
            by_pair.setdefault((first_worker, second_worker), []).append(
                (value_by_worker[first_worker], value_by_worker[second_worker])
            )
    kappa_by_pair = {}
    for worker_pair, value_pairs in sorted(by_pair.items()):
        first_side, second_side = (
            Counter(worker_values) for worker_values in zip(*value_pairs, strict=True)
        )
        agreed_share = sum(
            first_value == second_value for first_value, second_value in value_pairs
        ) / len(value_pairs)
        by_chance = (
            sum(
                value_count * second_side[side_value]
                for side_value, value_count in first_side.items()
            )
            / len(value_pairs) ** 2
        )
        if len(value_pairs) >= fewest_common and by_chance < 1:
            kappa_by_pair[worker_pair] = (agreed_share - by_chance) / (1 - by_chance)
    return kappa_by_pair


def gwet_ac1(ratings: Iterable[Rating], category_count: int = 0) -> float | None:
    """Return Gwet's AC1 (2008), for any number of ratings an item; None where it is undefined.

    Where nearly all values are one, as among good workers, alpha and kappa come near 0 although
    hardly anybody differs; AC1 takes that chance differs least there. `category_count` is the
    number of values that could be given; values that nobody gave count, so without it those that
    were given are counted, and a single one leaves AC1 undefined.
    """
    by_item = [*_counts(ratings).values()]
    compared_items = [value_counts for value_counts in by_item if value_counts.total() > 1]
    value_shares = defaultdict[str, float](float)
    for value_counts in by_item:
        for rated_value, value_count in value_counts.items():
            value_shares[rated_value] += value_count / value_counts.total() / len(by_item)
    category_count = max(category_count, len(value_shares))
    if category_count < 2 or not compared_items:
        return None
    agreed_share = sum(map(_agreeing_share, compared_items)) / len(compared_items)
    by_chance = sum(share * (1 - share) for share in value_shares.values()) / (category_count - 1)
    return (agreed_share - by_chance) / (1 - by_chance)


def _agreeing_share(value_counts: Counter[str]) -> float:
    """The share of an item's pairs of ratings that agree."""
    rating_count = value_counts.total()
    agreeing_pairs = sum(value_count * (value_count - 1) for value_count in value_counts.values())
    return agreeing_pairs / (rating_count * (rating_count - 1))


def dawid_skene(ratings: Iterable[Rating]) -> dict[str, dict[str, float]]:
    """A. P. Dawid and A. M. Skene (1979): the probability of each value of each item.

    Maximum likelihood by EM, from shares of the votes; rounds end when no probability changes by
    more than `TOLERANCE`, or after `ROUNDS`. The first value is the most probable, among equal ones
    the first in order.

    crowd-kit, which is tested against, comes to the same values where it may go on as long. It
    ends as soon as a rating's likelihood grows by less than 1e-5, often after six rounds: on 30
    random tables a probability was then up to 0.52 away, and 2 of 967 items had another value.
    """
    sorted_ratings = sorted(ratings)
    if not sorted_ratings:
        return {}
    item_ids, worker_ids, rated_values = (
        sorted({single_rating[column_index] for single_rating in sorted_ratings})
        for column_index in range(3)
    )
    code_maps = [
        {code_name: column_index for column_index, code_name in enumerate(known_names)}
        for known_names in (item_ids, worker_ids, rated_values)
    ]
    item_codes, worker_codes, value_codes = (
        np.array(
            [
                code_maps[column_index][single_rating[column_index]]
                for single_rating in sorted_ratings
            ],
            np.int64,
        )
        for column_index in range(3)
    )
    value_count = len(rated_values)
    value_probabilities = np.zeros((len(item_ids), value_count))
    np.add.at(value_probabilities, (item_codes, value_codes), 1.0)
    value_probabilities /= value_probabilities.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        error_rates = np.zeros((len(worker_ids), value_count, value_count))
        np.add.at(
            error_rates.transpose(0, 2, 1),
            (worker_codes, value_codes),
            value_probabilities[item_codes],
        )
        rate_sums = error_rates.sum(axis=2, keepdims=True)
        error_rates = np.divide(
            error_rates, rate_sums, out=np.zeros_like(error_rates), where=rate_sums > 0
        )
        with np.errstate(divide="ignore"):
            log_scores = np.tile(np.log(value_probabilities.mean(axis=0)), (len(item_ids), 1))
            np.add.at(log_scores, item_codes, np.log(error_rates[worker_codes, :, value_codes]))
        log_scores -= log_scores.max(axis=1, keepdims=True)
        earlier_probabilities, value_probabilities = value_probabilities, np.exp(log_scores)
        value_probabilities /= value_probabilities.sum(axis=1, keepdims=True)
        if np.abs(value_probabilities - earlier_probabilities).max() < TOLERANCE:
            break
    return {
        code_name: {
            rated_values[column_index]: float(item_probabilities[column_index])
            for column_index in np.argsort(-item_probabilities, kind="stable")
        }
        for code_name, item_probabilities in zip(item_ids, value_probabilities, strict=True)
    }


def majority(ratings: Iterable[Rating]) -> dict[str, str | None]:
    """Return the most frequent value of each item; None if two are equally frequent."""
    majority_values: dict[str, str | None] = {}
    for item_id, value_counts in _counts(ratings).items():
        (first_value, first_count), *other_values = value_counts.most_common(2)
        majority_values[item_id] = (
            None if other_values and other_values[0][1] == first_count else first_value
        )
    return majority_values


def _counts(ratings: Iterable[Rating]) -> Mapping[str, Counter[str]]:
    by_item: dict[str, Counter[str]] = {}
    for item_id, _, rated_value in ratings:
        by_item.setdefault(item_id, Counter())[rated_value] += 1
    return by_item
