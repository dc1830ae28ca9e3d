"""How many judgments an expert has to check, and what the checks say of all of them.

An expert looks at some judgments of each worker's part. `sample_size` gives the number of judgments
to check: if a share `max_error` or more of all judgments were wrong, a sample of that size would
contain a wrong one with probability `LEVEL`. `error_bound` is the upper end of a one-sided
confidence interval for the share of wrong judgments, by Clopper and Pearson (1934). Where the
workers' parts were sampled unequally, it uses the effective size of a weighted sample (Kish 1965;
Korn and Graubard 1998).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

LEVEL = 0.95


@dataclass(frozen=True)
class ErrorBound:
    """An estimate of the share of wrong judgments, from those that were checked.

    `judgments`, `checked` and `wrong` are the numbers of all judgments, of those that an expert
    checked, and of those that were found wrong. `share` is the estimated share of wrong judgments,
    in which each part has the weight of its size, and `bound` is its upper confidence bound. Both
    are None if nothing was checked.
    """

    judgments: int
    checked: int
    wrong: int
    share: float | None
    bound: float | None


def sample_size(judgment_count: int, max_error: float) -> int:
    """Return the smallest sample size that finds a wrong judgment with probability `LEVEL`.

    The sample is drawn without replacement from `judgment_count` judgments, of which the share
    `max_error`, but at least one judgment, is wrong.
    """
    right_count = judgment_count - max(1, ceil(round(judgment_count * max_error, 6)))
    missed_probability, checked_count = 1.0, 0
    while missed_probability > 1 - LEVEL:
        missed_probability *= (right_count - checked_count) / (judgment_count - checked_count)
        checked_count += 1
    return checked_count


def error_bound(batch_parts: Iterable[tuple[int, int, int]]) -> ErrorBound:
    """Return the share of wrong judgments over several parts, with its upper bound.

    Each part is given by the numbers of its judgments, of those that were checked, and of those
    that were found wrong. A part without checks is assumed to be like the others.
    """
    part_sizes = [*batch_parts]
    judgment_count = sum(size for size, _, _ in part_sizes)
    sampled_parts = [
        (size / checked_count, checked_count, wrong)
        for size, checked_count, wrong in part_sizes
        if checked_count
    ]
    all_checked_count = sum(checked_count for _, checked_count, _ in sampled_parts)
    if not all_checked_count:
        return ErrorBound(judgment_count, 0, 0, None, None)
    total_weight = sum(
        part_weight * checked_count for part_weight, checked_count, _ in sampled_parts
    )
    wrong_share = sum(part_weight * wrong for part_weight, _, wrong in sampled_parts) / total_weight
    effective_size = total_weight**2 / sum(
        part_weight**2 * checked_count for part_weight, checked_count, _ in sampled_parts
    )
    all_checked = all_checked_count == judgment_count
    upper_end = (
        wrong_share if all_checked else upper_bound(wrong_share * effective_size, effective_size)
    )
    return ErrorBound(
        judgment_count,
        all_checked_count,
        sum(wrong for *_, wrong in sampled_parts),
        wrong_share,
        upper_end,
    )


def upper_bound(wrong: float, checked_count: float) -> float:
    """Return the upper end of Clopper and Pearson's one-sided interval.

    `checked_count` may be a fraction.
    """
    from scipy.special import betaincinv  # 30 MB that few commands need

    return (
        1.0
        if wrong >= checked_count
        else float(betaincinv(wrong + 1, checked_count - wrong, LEVEL))
    )
