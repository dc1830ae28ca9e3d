"""Flags of doubtful judgments, and what the judgments of a row come to by its layout's rule.

Only two things set a judgment aside here: it is a further one of the worker for the row, or an
item with a known answer was failed in its HIT. Too little time and the same answer to everything
are flagged and no more: a person looks at them in the report.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
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
# Rows from which one answer to all of them is flagged. A flag sets nothing aside, so that the
# number need not be exact: it is well above the rows of one HIT.
MONOTONOUS_ROWS = 20


def flag_judgments(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    experts: Collection[str] = (),
    expert_batches: Collection[str] = (),
) -> list[Judgment]:
    """The judgments sorted by id, with flags, and with `counted` false where they are set aside.

    `too_fast`: less than `min_seconds` on the item. `failed_attention`: on every judgment of a
    submission in which an item with a known answer was answered otherwise. `duplicate_worker`: a
    further submission for the HIT, or the same row in another HIT (the one with the smallest id
    stays). `same_answer`: on all judgments of a worker who gave one answer to `MONOTONOUS_ROWS`
    rows or more, if nobody else judged these rows or others found them to differ. `expert`: by a
    listed expert in a batch made for experts. `copied_text`: a free text nearly the same as
    another worker's.
    """
    judgments = sorted(judgments, key=lambda judgment: judgment.id)
    failed_submissions = {
        _submission(judgment) for judgment in judgments if failed_answers(layout, judgment, items)
    }
    repeat_ids = _further_ids(judgments, expert_batches)
    once_judged = [judgment for judgment in judgments if judgment.id not in repeat_ids]
    monotonous_workers = _monotonous(layout, once_judged)
    copies = find_copies(layout, judgments, items)
    flagged = []
    for judgment in judgments:
        seconds = judgment.seconds
        signs = {
            TOO_FAST: seconds is not None and seconds < layout.min_seconds,
            FAILED_ATTENTION: _submission(judgment) in failed_submissions,
            DUPLICATE: judgment.id in repeat_ids,
            SAME_ANSWER: judgment.worker in monotonous_workers,
            EXPERT: judgment.worker in experts and judgment.batch in expert_batches,
            COPIED_TEXT: judgment.id in copies,
        }
        flags = tuple(sorted(name for name, is_flagged in signs.items() if is_flagged))
        counted = not (signs[FAILED_ATTENTION] or signs[DUPLICATE])
        is_unchanged = judgment.flags == flags and judgment.counted == counted
        flagged.append(
            judgment if is_unchanged else replace(judgment, flags=flags, counted=counted)
        )
    return flagged


def failed_answers(layout: Layout, judgment: Judgment, items: Mapping[str, Item]) -> list[str]:
    """The names of answers that differ from the known ones; empty for items without known ones."""
    known_answers = None if judgment.row else items[judgment.item].answers
    if not known_answers:
        return []
    answers = judgment_answers(judgment)
    compared = compared_answers(layout)
    return [
        name
        for name, value in known_answers.items()
        if name in compared and not values_agree(compared[name], value, answers.get(name))
    ]


def _submission(judgment: Judgment) -> tuple[bool, str, str, str, str]:
    return DUPLICATE in judgment.flags, *submission_key(judgment)


def _further_ids(judgments: Sequence[Judgment], expert_batches: Collection[str]) -> set[str]:
    """The ids of judgments of a worker's further submission for a HIT, or for a row."""
    further = {judgment.id for judgment in judgments if DUPLICATE in judgment.flags}
    seen: set[tuple[str, str, bool]] = set()
    for judgment in judgments:
        if judgment.row and judgment.id not in further:
            key = judgment.worker, judgment.row, judgment.batch in expert_batches
            if key in seen:
                further.add(judgment.id)
            seen.add(key)
    return further


def _monotonous(layout: Layout, judgments: Sequence[Judgment]) -> set[str]:
    """The workers who gave the same answers to many rows, where others did not agree to that."""
    compared = compared_answers(layout) or layout.answers
    by_worker: dict[str, dict[str, str]] = {}
    by_row: dict[str, dict[str, str]] = {}
    for judgment in judgments:
        if judgment.row:
            answers = judgment_answers(judgment)
            keys = []
            for name, answer in compared.items():
                keys.append(comparison_key(answer, answers[name]) if name in answers else "")
            value = "\n".join(keys)
            by_worker.setdefault(judgment.worker, {})[judgment.row] = value
            by_row.setdefault(judgment.row, {})[judgment.worker] = value
    monotonous = set()
    for worker, value_by_row in by_worker.items():
        values = set(value_by_row.values())
        if len(value_by_row) < MONOTONOUS_ROWS or len(values) > 1:
            continue
        values_of_others: set[str] = set()
        for row in value_by_row:
            other_values = {name: value for name, value in by_row[row].items() if name != worker}
            values_of_others.update(other_values.values())
        if values_of_others != values:
            monotonous.add(worker)
    return monotonous


def gold_row(
    layout: Layout,
    row: str,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    settled: bool = False,
) -> Gold:
    """The gold row that the judgments of a row come to; some of them may be set aside.

    The row is `open` where fewer than `assignments` judgments count, unless they are `settled`:
    an expert's, or of a batch that has passed an expert. Under `majority` more than half must
    agree with one judgment, and those decide; under `unanimous` each must agree with each; under
    `any` all are taken, and one value of `accept` accepts the row. An agreed value outside of
    `accept` rejects it.
    """
    counted = [judgment for judgment in judgments if judgment.counted]
    counted.sort(key=lambda judgment: judgment.id)
    agreeing = _largest_agreeing(layout, counted)
    decision: Decision = "open"
    if counted and (settled or len(counted) >= layout.assignments):
        decision = _decision(layout, counted, agreeing)
    use_all = decision in ("open", "disputed") or layout.rule.by == "any"
    item = (agreeing or judgments)[0].item
    return Gold(
        row=row,
        layout=judgments[0].layout,
        dataset=judgments[0].dataset,
        decision=decision,
        answers=_json(_gold_answers(layout, counted if use_all else agreeing, items)),
        shown=_json(items[item].fields),
        judgments=len(counted),
        agreeing=len(agreeing),
    )


def _largest_agreeing(layout: Layout, counted: Sequence[Judgment]) -> list[Judgment]:
    """The largest group of judgments that agree with one judgment, which comes first.

    Between groups of the same size the answers of the first judgment decide.
    """
    groups = []
    for judgment in counted:
        group = [judgment]
        for other_judgment in counted:
            if other_judgment is not judgment and judgments_agree(layout, judgment, other_judgment):
                group.append(other_judgment)
        groups.append(group)
    return min(groups, key=lambda group: (-len(group), group[0].answers, group[0].id), default=[])


def _decision(layout: Layout, counted: Sequence[Judgment], agreeing: list[Judgment]) -> Decision:
    rule = layout.rule
    if rule.by == "any":
        is_accepted = any(_accepts(layout, judgment) for judgment in counted)
        return "accepted" if is_accepted else "rejected"
    if rule.by == "unanimous":
        pairs = combinations(counted, 2)
        if not all(judgments_agree(layout, first, second) for first, second in pairs):
            return "disputed"
    elif len(agreeing) * 2 <= len(counted):
        return "disputed"
    return "accepted" if _accepts(layout, agreeing[0]) else "rejected"


def _accepts(layout: Layout, judgment: Judgment) -> bool:
    """Whether a judgment's answers accept the row by the layout's rule."""
    rule, answers = layout.rule, judgment_answers(judgment)
    if answers.get(BROKEN) and layout.broken:
        return False
    value = rule_value(answers.get(rule.of or ""))
    return value in rule.accept if rule.of and rule.accept else value not in rule.reject


def _gold_answers(
    layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> dict[str, Any]:
    """The answers of a gold row, from the judgments that decide it.

    For an answer that is compared and agreed, the agreed value. For any other a list with an
    entry for each judgment, null where it gave none. An answer that nobody gave is absent.
    """
    gold_answers: dict[str, Any] = {}
    answers_of_each = [judgment_answers(judgment) for judgment in judgments]
    fields = [items[judgment.item].fields for judgment in judgments]
    compared = compared_answers(layout)
    for name, answer in layout.answers.items():
        values = [answers.get(name) for answers in answers_of_each]
        if all(value is None for value in values):
            continue
        is_agreed = name in compared and _all_agree(answer, values)
        gold_answers[name] = values[_most_typical(answer, values, fields)] if is_agreed else values
    return gold_answers


def _all_agree(answer: LayoutAnswer, values: Sequence[Any]) -> bool:
    return all(values_agree(answer, first, second) for first, second in combinations(values, 2))


def _most_typical(
    answer: LayoutAnswer, values: Sequence[Any], fields: Sequence[Mapping[str, Any]]
) -> int:
    """The index of the value to take among values that agree.

    It is the first of the most frequent spelling. For spans it is the one that has the most in
    common with all of them, and among equal ones the shorter.
    """
    if comparison(answer) == "span":
        marks = [marked_characters(answer, *pair) for pair in zip(values, fields, strict=True)]
        order = []
        for index, mark in enumerate(marks):
            common = sum(_common_share(mark, other_mark) for other_mark in marks)
            order.append((-common, mark.sum(), mark.nonzero()[0].tolist(), index))
        return int(min(order)[-1])
    texts = [_json(value) for value in values]
    counts = Counter(texts)
    return texts.index(min(counts, key=lambda text: (-counts[text], text)))


def _common_share(first: Any, second: Any) -> float:
    """The share of characters marked in both, of those marked in either (Jaccard)."""
    size = min(len(first), len(second))
    in_both = (first[:size] & second[:size]).sum()
    in_either = first.sum() + second.sum() - in_both
    return float(in_both / in_either) if in_either else 0.0


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
