"""Flags of doubtful judgments, and what the judgments of a row come to by its layout's rule.

Only two things set a judgment aside here: it is a further one of the worker for the row, or an
item with a known answer was failed in its HIT. Too little time and the same answer to everything
are flagged and no more: a person looks at them in the report.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from factdrift.annotation.batch import Item
from factdrift.annotation.layout import BROKEN, Layout, LayoutAnswer
from factdrift.annotation.matching import DUPLICATE, submission_key
from factdrift.annotation.quality.agreement import (
    compared_answers,
    comparison,
    comparison_key,
    judgment_answers,
    judgments_agree,
    marked_characters,
    rule_value,
    values_agree,
)
from factdrift.annotation.quality.copies import find_copies
from factdrift.builders.rows import Decision, Gold, Judgment

TOO_FAST = "too_fast"
FAILED_ATTENTION = "failed_attention"
SAME_ANSWER = "same_answer"
EXPERT = "expert"
COPIED_TEXT = "copied_text"
REJECTED_BATCH = "rejected_batch"
ACCEPTED_BATCH = "accepted_batch"
MONOTONOUS_ROWS = 20
"""Rows from which one answer to all of them is flagged."""


def flag_judgments(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    experts: Collection[str] = (),
    expert_batches: Collection[str] = (),
) -> list[Judgment]:
    """The judgments by id, with flags and with `counted` false where they are set aside.

    `too_fast`: less than `min_seconds` on the item. `failed_attention`: on every judgment of a
    submission that has an item answered otherwise than known. `duplicate_worker`: a further
    submission for the HIT, or the same row in another HIT (the one with the smallest id stays).
    `same_answer`: on all of a worker with one answer to `MONOTONOUS_ROWS` rows or more, where
    nobody else judged these rows or others found them to differ. `expert`: of a listed expert, in
    a batch made for experts. `copied_text`: a free text nearly the same as another worker's.
    """
    judgments = sorted(judgments, key=lambda one: one.id)
    failed = {_submission(one) for one in judgments if failed_answers(layout, one, items)}
    again = _further_ids(judgments, expert_batches)
    monotonous = _monotonous(layout, [one for one in judgments if one.id not in again])
    copies = find_copies(layout, judgments, items)
    found = []
    for one in judgments:
        signs = {
            TOO_FAST: one.seconds is not None and one.seconds < layout.min_seconds,
            FAILED_ATTENTION: _submission(one) in failed,
            DUPLICATE: one.id in again,
            SAME_ANSWER: one.worker in monotonous,
            EXPERT: one.worker in experts and one.batch in expert_batches,
            COPIED_TEXT: one.id in copies,
        }
        names = tuple(sorted(name for name, is_so in signs.items() if is_so))
        counted = not (signs[FAILED_ATTENTION] or signs[DUPLICATE])
        same = one.flags == names and one.counted == counted
        found.append(one if same else replace(one, flags=names, counted=counted))
    return found


def failed_answers(layout: Layout, one: Judgment, items: Mapping[str, Item]) -> list[str]:
    """The answers that an item with known ones was answered otherwise; none for other items."""
    known = None if one.row else items[one.item].answers
    given = judgment_answers(one) if known else {}
    asked = compared_answers(layout)
    return [
        name
        for name, value in (known or {}).items()
        if name in asked and not values_agree(asked[name], value, given.get(name))
    ]


def _submission(one: Judgment) -> tuple[bool, str, str, str, str]:
    return DUPLICATE in one.flags, *submission_key(one)


def _further_ids(judgments: Sequence[Judgment], expert_batches: Collection[str]) -> set[str]:
    found = {one.id for one in judgments if DUPLICATE in one.flags}
    seen: set[tuple[str, str, bool]] = set()
    for one in judgments:
        if one.row and one.id not in found:
            key = one.worker, one.row, one.batch in expert_batches
            if key in seen:
                found.add(one.id)
            seen.add(key)
    return found


def _monotonous(layout: Layout, judgments: Sequence[Judgment]) -> set[str]:
    asked = compared_answers(layout) or layout.answers
    by_worker: dict[str, dict[str, str]] = {}
    by_row: dict[str, dict[str, str]] = {}
    for one in judgments:
        if one.row:
            given = judgment_answers(one)
            keys = (comparison_key(asked[n], given[n]) if n in given else "" for n in asked)
            value = "\n".join(keys)
            by_worker.setdefault(one.worker, {})[one.row] = value
            by_row.setdefault(one.row, {})[one.worker] = value
    found = set()
    for worker, values in by_worker.items():
        if len(values) >= MONOTONOUS_ROWS and len(set(values.values())) == 1:
            others = {v for row in values for w, v in by_row[row].items() if w != worker}
            if others != {*values.values()}:
                found.add(worker)
    return found


def gold_row(
    layout: Layout,
    row: str,
    found: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    settled: bool = False,
) -> Gold:
    """The gold row of a row's judgments, set aside or not (`found` is not empty).

    `open` where fewer than `assignments` count, unless `settled`: they are an expert's, or their
    batch has passed an expert. `majority`: more than half agree with one judgment, and they
    decide. `unanimous`: each agrees with each. `any`: all are taken, and one value of `accept`
    accepts. An agreed value outside of `accept` rejects the row.
    """
    counted = sorted((one for one in found if one.counted), key=lambda one: one.id)
    agreeing = _largest_agreeing(layout, counted)
    decision: Decision = "open"
    if counted and (settled or len(counted) >= layout.assignments):
        decision = _decision(layout, counted, agreeing)
    use_all = decision in ("open", "disputed") or layout.rule.by == "any"
    item = (agreeing or found)[0].item
    return Gold(
        row=row,
        layout=found[0].layout,
        dataset=found[0].dataset,
        decision=decision,
        answers=_json(_gold_answers(layout, counted if use_all else agreeing, items)),
        shown=_json(items[item].fields),
        judgments=len(counted),
        agreeing=len(agreeing),
    )


def _largest_agreeing(layout: Layout, counted: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that agree with the one that most agree with; ties by their answers."""
    sides = [
        [one, *(o for o in counted if o is not one and judgments_agree(layout, one, o))]
        for one in counted
    ]
    return min(sides, key=lambda side: (-len(side), side[0].answers, side[0].id), default=[])


def _decision(layout: Layout, counted: Sequence[Judgment], agreeing: list[Judgment]) -> Decision:
    rule = layout.rule
    if rule.by == "any":
        return "accepted" if any(_accepts(layout, one) for one in counted) else "rejected"
    if rule.by == "unanimous":
        pairs = ((one, other) for i, one in enumerate(counted) for other in counted[:i])
        if not all(judgments_agree(layout, *pair) for pair in pairs):
            return "disputed"
    elif len(agreeing) * 2 <= len(counted):
        return "disputed"
    return "accepted" if _accepts(layout, agreeing[0]) else "rejected"


def _accepts(layout: Layout, one: Judgment) -> bool:
    rule, answers = layout.rule, judgment_answers(one)
    if answers.get(BROKEN) and layout.broken:
        return False
    value = rule_value(answers.get(rule.of or ""))
    return value in rule.accept if rule.of and rule.accept else value not in rule.reject


def _gold_answers(
    layout: Layout, taken: Sequence[Judgment], items: Mapping[str, Item]
) -> dict[str, Any]:
    """Of a compared answer the agreed value; of one on which they differ, and of a free one, a
    list with an entry for each judgment, null where it gave none. What nobody gave is absent."""
    found: dict[str, Any] = {}
    given = [judgment_answers(one) for one in taken]
    fields = [items[one.item].fields for one in taken]
    asked = compared_answers(layout)
    for name, answer in layout.answers.items():
        values = [answers.get(name) for answers in given]
        if all(value is None for value in values):
            continue
        agreed = all(values_agree(answer, one, other) for one in values for other in values)
        is_one = name in asked and agreed
        found[name] = values[_most_typical(answer, values, fields)] if is_one else values
    return found


def _most_typical(
    answer: LayoutAnswer, values: Sequence[Any], fields: Sequence[Mapping[str, Any]]
) -> int:
    """Which of some values that agree to take: the first of the most frequent spelling; of spans
    the one that has the most in common with all, then the shorter."""
    if comparison(answer) == "span":
        marks = [marked_characters(answer, *pair) for pair in zip(values, fields, strict=True)]
        order = [
            (-sum(map(partial(_common_share, one), marks)), one.sum(), one.nonzero()[0].tolist(), n)
            for n, one in enumerate(marks)
        ]
        return min(order)[-1]
    written = [_json(value) for value in values]
    counts = Counter(written)
    return written.index(min(counts, key=lambda text: (-counts[text], text)))


def _common_share(one: Any, other: Any) -> float:
    size = min(len(one), len(other))
    union = one.sum() + other.sum() - (both := (one[:size] & other[:size]).sum())
    return float(both / union) if union else 0.0


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
