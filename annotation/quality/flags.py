"""What is doubtful in judgments, and which of them are set aside.

Only two things set a judgment aside here: it is a further one of the worker for the row, or an
item with a known answer was failed in its HIT. Too little time and the same answer to everything
are flagged and no more: a person looks at them in the report.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from annotation.batch import Item
from annotation.layout import Layout
from annotation.matching import DUPLICATE, handed_in
from annotation.quality.values import compared, key, said, same
from builders.rows import Judgment

TOO_FAST = "too_fast"
FAILED_ATTENTION = "failed_attention"
SAME_ANSWER = "same_answer"
EXPERT = "expert"
REJECTED_BATCH = "rejected_batch"
ACCEPTED_BATCH = "accepted_batch"
ALIKE = 20
"""Rows from which one answer to all of them is flagged."""


def flagged(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    experts: Collection[str] = (),
) -> list[Judgment]:
    """The judgments by id, with flags and with `counted` false where they are set aside.

    `too_fast`: less than `min_seconds` on the item. `failed_attention`: on every judgment of a
    submission that has an item answered otherwise than known. `duplicate_worker`: a further
    submission for the HIT, or the same row in another HIT (the one with the smallest id stays).
    `same_answer`: on all of a worker with one answer to `ALIKE` rows or more, where nobody else
    judged these rows or others found them to differ. `expert`: of a listed expert.
    """
    judgments = sorted(judgments, key=lambda one: one.id)
    failed = {_submission(one) for one in judgments if failures(layout, one, items)}
    again = _further(judgments)
    monotonous = _monotonous(layout, [one for one in judgments if one.id not in again])
    found = []
    for one in judgments:
        signs = {
            TOO_FAST: one.seconds is not None and one.seconds < layout.min_seconds,
            FAILED_ATTENTION: _submission(one) in failed,
            DUPLICATE: one.id in again,
            SAME_ANSWER: one.worker in monotonous,
            EXPERT: one.worker in experts,
        }
        names = tuple(sorted(name for name, is_so in signs.items() if is_so))
        aside = signs[FAILED_ATTENTION] or signs[DUPLICATE]
        found.append(replace(one, flags=names, counted=not aside))
    return found


def failures(layout: Layout, one: Judgment, items: Mapping[str, Item]) -> list[str]:
    """The answers that an item with known ones was answered otherwise; none for other items."""
    item = items.get(one.item)
    known = item.answers if item is not None and not one.row else None
    given = said(one) if known else {}
    asked = compared(layout)
    return [
        name
        for name, value in (known or {}).items()
        if name in asked and not same(asked[name], value, given.get(name))
    ]


def _submission(one: Judgment) -> tuple[bool, str, str, str, str]:
    return DUPLICATE in one.flags, *handed_in(one)


def _further(judgments: Sequence[Judgment]) -> set[str]:
    """Ids of a worker's judgments of a row beyond the first, by id, and of further submissions."""
    found = {one.id for one in judgments if DUPLICATE in one.flags}
    seen: set[tuple[str, str]] = set()
    for one in judgments:
        if one.row and one.id not in found:
            if (one.worker, one.row) in seen:
                found.add(one.id)
            seen.add((one.worker, one.row))
    return found


def _monotonous(layout: Layout, judgments: Sequence[Judgment]) -> set[str]:
    asked = compared(layout) or layout.answers
    by_worker: dict[str, dict[str, str]] = {}
    by_row: dict[str, dict[str, str]] = {}
    for one in judgments:
        if one.row:
            given = said(one)
            value = "\n".join(key(asked[n], given[n]) if n in given else "" for n in asked)
            by_worker.setdefault(one.worker, {})[one.row] = value
            by_row.setdefault(one.row, {})[one.worker] = value
    found = set()
    for worker, values in by_worker.items():
        if len(values) >= ALIKE and len(set(values.values())) == 1:
            others = {v for row in values for w, v in by_row[row].items() if w != worker}
            if not others or len(others) > 1 or others != set(values.values()):
                found.add(worker)
    return found
