"""Quality control: flags, rules, an expert's checks, agreement and the report.

`settle_rows` is the whole of it for one layout: what counts, and what each row comes to. In
`judgments/<layout>/` it leaves `judgments.parquet` and `gold.parquet` (written by
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
from factdrift.annotation.layout import Layout
from factdrift.annotation.quality.expert import worker_batches
from factdrift.annotation.quality.rules import (
    ACCEPTED_BATCH,
    EXPERT,
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
    verdicts: Mapping[str, bool] | None = None,
    accepted: Collection[str] = (),
) -> tuple[list[Judgment], list[Gold]]:
    """The judgments with flags, those set aside not `counted`, and a gold row for each row.

    `judgments` come bare, but for `duplicate_worker` on a worker's further submission for a HIT;
    their order does not matter. `experts` are hashes of worker ids, and are experts in
    `expert_batches` alone: anybody can give an id in a worker's batch. `verdicts`, by the id of a
    judgment, an expert's word on a sampled one. Under the rule `sampled` an expert's own judgment
    of a row is taken before any worker's; other judgments of a worker's batch that was rejected
    are set aside (`rejected_batch`), and the row is open again; in a batch that was not checked
    yet they count, and the row is open. `accepted`: judgments that had passed an expert before
    more of the worker's batch came in; they stay so unless one that was sampled is found wrong.
    """
    found = flag_judgments(layout, judgments, items, experts, expert_batches)
    passed: set[str] = set()
    sampled = layout.rule.by == "sampled"
    if sampled:
        rejected: set[str] = set()
        for batch in worker_batches(layout, found, verdicts):
            own = {one.id for one in batch.judgments}
            before = own.intersection(accepted)
            if batch.accepted is False:
                rejected |= own
            elif batch.accepted:
                passed |= own
            elif batch.right >= min(layout.rule.sampled, len(before)):
                passed |= before
        found = [
            _with_flag(one, REJECTED_BATCH, counted=False)
            if one.id in rejected
            else _with_flag(one, ACCEPTED_BATCH)
            if one.id in passed
            else one
            for one in found
        ]
    by_row: dict[str, list[Judgment]] = {}
    for one in found:
        if one.row:
            by_row.setdefault(one.row, []).append(one)
    rows = []
    for row, about in sorted(by_row.items()):
        by_experts = [one for one in about if one.counted and EXPERT in one.flags]
        good = by_experts or [one for one in about if one.id in passed]
        ready = sampled and (bool(by_experts) or len(good) >= layout.assignments)
        rows.append(gold_row(layout, row, good if ready else about, items, settled=ready))
        if sampled and not ready:
            rows[-1] = replace(rows[-1], decision="open")
    return found, rows


def _with_flag(one: Judgment, flag: str, *, counted: bool = True) -> Judgment:
    return replace(one, flags=tuple(sorted((*one.flags, flag))), counted=one.counted and counted)
