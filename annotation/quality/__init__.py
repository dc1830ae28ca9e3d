"""Quality control: flags, rules, an expert's checks, agreement and the report.

`settle_rows` does all of it for one layout: it decides which judgments count, and the gold row of
each row. In `judgments/<layout>/` it leaves `judgments.parquet` and `gold.parquet` (written by
`annotation.results`), `report.html`, and `check.csv` where an expert checks workers' batches.

An expert is a worker whose id was in a file given as `factdrift judgments --experts`, in a batch
that was made for experts. Layouts of
the rule `sampled` take an expert's word in two ways: `factdrift hits LAYOUT --expert` makes a batch
of the sampled items, whose results come in like all others; or accept and reject are written into
`check.csv`, and `factdrift judgments` without results settles anew.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from factdrift.annotation.batch import Item
from factdrift.annotation.layout import Layout, Rule
from factdrift.annotation.quality.expert import Verdicts, WorkerBatch, worker_batches
from factdrift.annotation.quality.payment import with_pay
from factdrift.annotation.quality.rules import (
    ACCEPTED_BATCH,
    EXPERT,
    FOUND_WRONG,
    REJECTED_BATCH,
    flag_judgments,
    gold_row,
)
from factdrift.builders.rows import Gold, Judgment


def settle_rows(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    experts: Collection[str] = (),
    expert_batches: Collection[str] = (),
    verdicts: Verdicts | None = None,
    accepted_ids: Collection[str] = (),
    excluded: Collection[str] = (),
    rules: Mapping[str, Rule] | None = None,
) -> tuple[list[Judgment], list[Gold]]:
    """Flag the judgments of a layout and decide its rows.

    Returns all judgments, with `counted` false for those set aside and `paid` false for those that
    are not paid, and a gold row for each row.
    The judgments come without flags, except `duplicate_worker` on a worker's further submission
    for a HIT; their order does not matter. `experts` are hashes of worker ids. They count as
    experts only in `expert_batches`, since anybody can give an id in a worker's batch. `verdicts`
    are experts' words on sampled judgments, by their ids. Judgments of `excluded` people count for
    nothing. `rules` are those by which batches were sent, where that is not the layout's.

    Under the rule `sampled`, an expert's own judgment of a row is taken before any worker's. The
    judgments of a worker's batch that was rejected are set aside (`rejected_batch`), and their
    rows are open again; in a batch that was not checked yet they count, and the row is open.
    `accepted_ids` are the judgments that had passed an expert before more of the worker's batch
    came in. They stay accepted unless one of those sampled is found wrong.
    """
    flagged_judgments = flag_judgments(layout, judgments, items, experts, expert_batches, excluded)
    passed_ids: set[str] = set()
    checked_batches: list[WorkerBatch] = []
    is_sampled = layout.rule.by == "sampled"
    if is_sampled:
        checked_batches = worker_batches(layout, flagged_judgments, verdicts, rules)
        rejected_ids, passed_ids, wrong_ids = _checked_ids(layout, checked_batches, accepted_ids)
        flagged_judgments = [
            _with_check(judgment, rejected_ids, passed_ids, wrong_ids)
            for judgment in flagged_judgments
        ]
    flagged_judgments = with_pay(layout, flagged_judgments, items, checked_batches)
    by_row: dict[str, list[Judgment]] = {}
    for judgment in flagged_judgments:
        if judgment.row:
            by_row.setdefault(judgment.row, []).append(judgment)
    gold_rows = []
    for row_id, row_judgments in sorted(by_row.items()):
        if is_sampled:
            gold_rows.append(_sampled_gold_row(layout, row_id, row_judgments, items, passed_ids))
        else:
            gold_rows.append(gold_row(layout, row_id, row_judgments, items))
    return flagged_judgments, gold_rows


def _checked_ids(
    layout: Layout, checked_batches: Sequence[WorkerBatch], accepted_ids: Collection[str]
) -> tuple[set[str], set[str], set[str]]:
    """Return the ids of the judgments in rejected batches, of those that passed, and of wrong ones.

    `accepted_ids` are the judgments whose batch an expert had accepted before more judgments of the
    same worker and batch came in. The wrong ones are in batches that passed all the same.
    """
    rejected_ids: set[str] = set()
    passed_ids: set[str] = set()
    wrong_ids: set[str] = set()
    fewest_checks = layout.rule.sampled
    if layout.rule.sample is not None and layout.rule.sample >= 1:
        fewest_checks = int(layout.rule.sample)
    for batch in checked_batches:
        batch_ids = {judgment.id for judgment in batch.judgments}
        accepted_before = batch_ids.intersection(accepted_ids)
        if batch.accepted is False:
            rejected_ids |= batch_ids
        elif batch.accepted:
            passed_ids |= batch_ids
            wrong_ids |= batch.called_wrong()
        else:
            # `accepted` is None: the expert has not seen the whole sample yet. The judgments that
            # were accepted before stay accepted if enough sampled ones were found right: as many as
            # the rule asks for, or as many as were accepted before where these are fewer.
            required_right = min(fewest_checks, len(accepted_before)) - batch.errors
            if batch.right >= max(required_right, 1):
                passed_ids |= accepted_before
                wrong_ids |= batch.called_wrong() & accepted_before
    return rejected_ids, passed_ids - wrong_ids, wrong_ids


def _with_check(
    judgment: Judgment, rejected_ids: set[str], passed_ids: set[str], wrong_ids: set[str]
) -> Judgment:
    """Return a judgment with the flag of its batch's check.

    A judgment of a rejected batch is no longer counted, nor one that was found wrong itself.
    """
    if judgment.id in rejected_ids or judgment.id in wrong_ids:
        new_flag = REJECTED_BATCH if judgment.id in rejected_ids else FOUND_WRONG
        new_flags = tuple(sorted((*judgment.flags, new_flag)))
        return replace(judgment, flags=new_flags, counted=False)
    if judgment.id in passed_ids:
        return replace(judgment, flags=tuple(sorted((*judgment.flags, ACCEPTED_BATCH))))
    return judgment


def _sampled_gold_row(
    layout: Layout,
    row_id: str,
    row_judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    passed_ids: set[str],
) -> Gold:
    """Return the gold row under the rule `sampled`.

    Experts' own judgments decide it; if there are none, workers' judgments that passed an expert.
    """
    by_experts = [
        judgment for judgment in row_judgments if judgment.counted and EXPERT in judgment.flags
    ]
    passed_judgments = [judgment for judgment in row_judgments if judgment.id in passed_ids]
    trusted_judgments = by_experts or passed_judgments
    if len(by_experts) > 1:
        trusted_judgments = by_experts + passed_judgments
    if by_experts or len(trusted_judgments) >= layout.assignments:
        return gold_row(layout, row_id, trusted_judgments, items, is_settled=True)
    return replace(gold_row(layout, row_id, row_judgments, items), decision="open")
