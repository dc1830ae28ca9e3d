"""How many judgments an expert has to check, and what the checks say of all of them.

An expert looks at some judgments of each worker's part. `acceptance_plan` says how many, and how
many of them may be wrong; `refusal_chance` is the chance that the plan refuses somebody. With
`sample_size` many checks, a batch in which a share `max_error` or more were wrong would be refused
with probability `LEVEL`. `error_bound` is the upper end of a one-sided
confidence interval for the share of wrong judgments, by Clopper and Pearson (1934). Where the
workers' parts were sampled unequally, it uses the effective size of a weighted sample (Kish 1965;
Korn and Graubard 1998).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, comb
from typing import NamedTuple

from factdrift.annotation.layout import Rule
from factdrift.builders.core.hints import require_extra

LEVEL = 0.95
WRONG_SHARES = (0.03, 0.05, 0.10, 0.20)
"""Shares of wrong judgments of a good annotator (3 and 5 %) and of two whom a plan should find."""


class AcceptancePlan(NamedTuple):
    """How many of a worker's judgments are checked, and how many of these may be wrong."""

    sample: int
    errors: int


def acceptance_plan(
    rule: Rule, judgment_count: int, batch_size: int, *, is_one_hit: bool = False
) -> AcceptancePlan:
    """The plan of a rule for a worker with `judgment_count` of the judgments of a whole batch.

    Under `max_error` the sample is the worker's share of one of the whole batch (see
    `sample_size`), at least one, and at least `sampled` for who did more than one HIT; so many
    errors are allowed as are in proportion to it.
    """
    if rule.max_error is None:
        wanted = rule.sampled if rule.sample is None else rule.sample
        if wanted < 1:
            wanted = ceil(round(wanted * judgment_count, 6))
        return AcceptancePlan(min(int(wanted), judgment_count), rule.errors)
    whole_sample = sample_size(batch_size, rule.max_error, rule.errors)
    worker_share = ceil(whole_sample * judgment_count / batch_size)
    worker_sample = min(max(worker_share, 1 if is_one_hit else rule.sampled), judgment_count)
    allowed_errors = rule.errors * worker_sample // whole_sample
    return AcceptancePlan(worker_sample, min(allowed_errors, rule.errors))


def refusal_chance(plan: AcceptancePlan, wrong_share: float) -> float:
    """The chance that a plan refuses the work of somebody of whose judgments a share is wrong.

    Each judgment is wrong with that probability, whatever the others are; then the number of wrong
    ones in a sample is binomial, also in one without replacement.
    """
    accepted_chance = sum(
        comb(plan.sample, wrong_count)
        * wrong_share**wrong_count
        * (1 - wrong_share) ** (plan.sample - wrong_count)
        for wrong_count in range(min(plan.errors, plan.sample) + 1)
    )
    return max(0.0, 1 - accepted_chance)


def plan_in_words(plan: AcceptancePlan) -> str:
    """A plan with its chances: `30 checked, 2 may be wrong: refuses 6 % of annotators …`."""
    chances = ", ".join(
        f"{100 * refusal_chance(plan, share):.0f} % of those with {100 * share:g} % wrong"
        for share in WRONG_SHARES
    )
    return f"{plan.sample} checked, {plan.errors} may be wrong: refuses {chances}"


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


def sample_size(judgment_count: int, max_error: float, errors: int = 0) -> int:
    """Return the smallest sample that holds more than `errors` wrong ones with chance `LEVEL`.

    The sample is drawn without replacement from `judgment_count` judgments, of which the share
    `max_error`, but at least one judgment, is wrong. Where no more than `errors` would be wrong in
    all of them, it is all of them.
    """
    wrong_count = max(1, ceil(round(judgment_count * max_error, 6)))
    if wrong_count <= errors:
        return judgment_count
    right_count = judgment_count - wrong_count
    for checked_count in range(1, judgment_count):
        # exact integers: the chance of a sample with `errors` wrong ones or fewer
        passing_samples = sum(
            comb(wrong_count, wrong) * comb(right_count, checked_count - wrong)
            for wrong in range(min(errors, checked_count) + 1)
        )
        if passing_samples <= (1 - LEVEL) * comb(judgment_count, checked_count):
            return checked_count
    return judgment_count


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
    require_extra("score", "a bound of the share of wrong answers needs SciPy")
    from scipy.special import betaincinv  # 30 MB that few commands need

    return (
        1.0
        if wrong >= checked_count
        else float(betaincinv(wrong + 1, checked_count - wrong, LEVEL))
    )
