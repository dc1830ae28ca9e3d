"""Which work is paid: a decision of its own, beside whether its answers are used.

Work is paid unless the rule of its platform (or of the layout for that platform) rejects it. What
our own sampling plan sets aside is paid, too, unless the rule says that an expert's no rejects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from factdrift.annotation.batch import Item
from factdrift.annotation.layout import Layout, Rejection
from factdrift.annotation.matching import is_repeat, submission_key
from factdrift.annotation.platforms import find_platform
from factdrift.annotation.quality.expert import WorkerBatch, rejection_reason
from factdrift.builders.rows import Judgment


def rejection_rule(layout: Layout, platform_name: str) -> Rejection:
    """What rejects work of a layout on a platform."""
    return layout.rejects.get(platform_name, find_platform(platform_name).rejection)


def with_pay(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    checked: Sequence[WorkerBatch],
) -> list[Judgment]:
    """The judgments with `paid` false where their submission is not paid.

    A worker's further submission for a HIT is not paid; one that waits for an expert is.
    """
    by_submission: dict[tuple[str, ...], list[Judgment]] = {}
    for judgment in judgments:
        if not is_repeat(judgment):
            by_submission.setdefault(submission_key(judgment), []).append(judgment)
    checked_by_worker = {(batch.batch, batch.worker): batch for batch in checked}
    unpaid_submissions = {
        key
        for key, submission in by_submission.items()
        if _is_rejected(layout, submission, items, checked_by_worker)
    }
    return [
        replace(
            judgment,
            paid=not is_repeat(judgment) and submission_key(judgment) not in unpaid_submissions,
        )
        for judgment in judgments
    ]


def _is_rejected(
    layout: Layout,
    submission: Sequence[Judgment],
    items: Mapping[str, Item],
    checked_by_worker: Mapping[tuple[str, str], WorkerBatch],
) -> bool:
    first_judgment = submission[0]
    checked_batch = checked_by_worker.get((first_judgment.batch, first_judgment.worker))
    rule = rejection_rule(layout, first_judgment.platform)
    checked_batches = [checked_batch] if checked_batch else []
    return bool(rejection_reason(layout, submission, items, checked_batches, rule))
