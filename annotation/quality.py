"""Stand-in until quality control is merged: every judgment counts, the majority is gold."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotation.batch import Item
from annotation.layout import Layout
from builders.rows import Decision, Gold, Judgment


def settle(
    layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> tuple[list[Judgment], list[Gold]]:
    """All judgments but a worker's further ones count; more than half of a row's decide it."""
    counted = [replace(one, counted="duplicate_worker" not in one.flags) for one in judgments]
    by_row: dict[str, list[Judgment]] = {}
    for one in counted:
        if one.row and one.counted:
            by_row.setdefault(one.row, []).append(one)
    return counted, [_gold(layout, row, found, items) for row, found in sorted(by_row.items())]


def _gold(layout: Layout, row: str, found: Sequence[Judgment], items: Mapping[str, Item]) -> Gold:
    of = layout.rule.of
    said = Counter(str(json.loads(one.answers).get(of)) if of else one.answers for one in found)
    value, votes = min(said.items(), key=lambda pair: (-pair[1], pair[0]))
    decision: Decision = "disputed"
    if len(found) < layout.assignments:
        decision = "open"
    elif votes * 2 > len(found):
        decision = (
            "accepted" if not layout.rule.accept or value in layout.rule.accept else "rejected"
        )
    return Gold(
        row=row,
        layout=found[0].layout,
        dataset=found[0].dataset,
        decision=decision,
        answers=found[0].answers,
        shown=json.dumps(items[found[0].item].fields, sort_keys=True, ensure_ascii=False),
        judgments=len(found),
        agreeing=votes,
    )
