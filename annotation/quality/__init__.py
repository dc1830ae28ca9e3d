"""Quality control: flags, rules, an expert's checks, agreement and the report.

`settle` is the whole of it for one layout: what counts, and what each row comes to. In
`judgments/<layout>/` it leaves `judgments.parquet` and `gold.parquet` (written by
`annotation.shelf`), `report.html`, and `check.csv` where an expert checks workers' batches.

An expert is a worker whose id was in a file given to `make judgments EXPERTS=…`. Layouts of the
rule `sampled` take an expert's word in two ways: `make hits LAYOUT=… EXPERT=1` makes a batch of
the drawn items, whose results come in like all others; or accept and reject are written into
`check.csv`, and `make judgments` without results settles anew.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from annotation.batch import Item
from annotation.layout import Layout
from annotation.quality.expert import shares
from annotation.quality.flags import ACCEPTED_BATCH, EXPERT, REJECTED_BATCH, flagged
from annotation.quality.rules import gold
from builders.rows import Gold, Judgment


def settle(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    experts: Collection[str] = (),
    verdicts: Mapping[str, bool] | None = None,
    accepted: Collection[str] = (),
) -> tuple[list[Judgment], list[Gold]]:
    """The judgments with flags, those set aside not `counted`, and a gold row for each row.

    `judgments` come bare, but for `duplicate_worker` on a worker's further submission for a HIT;
    their order does not matter. `experts` are hashes of worker ids; `verdicts`, by the id of a
    judgment, an expert's word on a drawn one. Under the rule `sampled` an expert's own judgment
    of a row is taken before any worker's; other judgments of a worker's batch that was rejected
    are set aside (`rejected_batch`), and the row is open again; in a batch that was not checked
    yet they count, and the row is open. `accepted`: judgments that had passed an expert before
    more of the worker's part came in; they stay so unless one that was drawn is found wrong.
    """
    found = flagged(layout, judgments, items, experts)
    passed: set[str] = set()
    sampled = layout.rule.by == "sampled"
    if sampled:
        rejected: set[str] = set()
        for share in shares(layout, found, verdicts):
            mine = {one.id for one in share.judgments}
            before = mine.intersection(accepted)
            if share.accepted is False:
                rejected |= mine
            elif share.accepted:
                passed |= mine
            elif share.verdicts.count(True) >= min(layout.rule.sampled, len(before)):
                passed |= before
        found = [
            _with(one, REJECTED_BATCH, counted=False)
            if one.id in rejected
            else _with(one, ACCEPTED_BATCH)
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
        best = [one for one in about if one.counted and EXPERT in one.flags]
        good = best or [one for one in about if one.id in passed]
        ready = sampled and (bool(best) or len(good) >= layout.assignments)
        rows.append(gold(layout, row, good if ready else about, items, settled=ready))
        if sampled and not ready:
            rows[-1] = replace(rows[-1], decision="open")
    return found, rows


def _with(one: Judgment, flag: str, *, counted: bool = True) -> Judgment:
    return replace(one, flags=tuple(sorted((*one.flags, flag))), counted=one.counted and counted)


__all__ = ["settle"]
