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
    """Of `judgments`, `checked` were looked at and `wrong` found wrong.

    `share`: the estimated share of wrong ones, each part by its size; `bound`: its upper end.
    Both are None where nothing was checked.
    """

    judgments: int
    checked: int
    wrong: int
    share: float | None
    bound: float | None


def sample_size(judgments: int, max_error: float) -> int:
    """The smallest sample, without replacement, that would most likely hold a wrong judgment.

    With `judgments` in all of which `max_error` or more, but at least one, are wrong.
    """
    right = judgments - max(1, ceil(round(judgments * max_error, 6)))
    missed, size = 1.0, 0
    while missed > 1 - LEVEL:
        missed *= (right - size) / (judgments - size)
        size += 1
    return size


def error_bound(parts: Iterable[tuple[int, int, int]]) -> ErrorBound:
    """What parts come to: of each its judgments, how many of them were checked, and found wrong.

    Parts of which nothing was checked are taken to be like the others.
    """
    part_sizes = [*parts]
    judgments = sum(size for size, _, _ in part_sizes)
    sampled = [
        (size / checked_count, checked_count, wrong)
        for size, checked_count, wrong in part_sizes
        if checked_count
    ]
    checked = sum(checked_count for _, checked_count, _ in sampled)
    if not checked:
        return ErrorBound(judgments, 0, 0, None, None)
    total = sum(weight * checked_count for weight, checked_count, _ in sampled)
    share = sum(weight * wrong for weight, _, wrong in sampled) / total
    effective = total**2 / sum(weight**2 * checked_count for weight, checked_count, _ in sampled)
    all_checked = checked == judgments
    bound = share if all_checked else upper_bound(share * effective, effective)
    return ErrorBound(judgments, checked, sum(wrong for *_, wrong in sampled), share, bound)


def upper_bound(wrong: float, checked: float) -> float:
    """The upper end of Clopper and Pearson's one-sided interval; `checked` may be a fraction."""
    from scipy.special import betaincinv  # 30 MB that few commands need

    return 1.0 if wrong >= checked else float(betaincinv(wrong + 1, checked - wrong, LEVEL))
