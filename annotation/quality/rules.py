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
from factdrift.annotation.matching import DUPLICATE, EXCLUDED, submission_key
from factdrift.annotation.quality.agreement import (
    compared_answers,
    comparison,
    comparison_key,
    is_known_answer,
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
FOUND_WRONG = "found_wrong"
_SETS_ASIDE = (FAILED_ATTENTION, DUPLICATE, EXCLUDED)
"""The flags whose judgments do not count."""
# Rows from which one answer to all of them is flagged. A flag sets nothing aside, so that the
# number need not be exact: it is well above the rows of one HIT.
MONOTONOUS_ROWS = 20


def flag_judgments(
    layout: Layout,
    judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    experts: Collection[str] = (),
    expert_batches: Collection[str] = (),
    excluded: Collection[str] = (),
) -> list[Judgment]:
    """The judgments sorted by id, with flags, and with `counted` false where they are set aside.

    `too_fast`: less than `min_seconds` on the item. `failed_attention`: on every judgment of a
    submission in which an item with a known answer was answered otherwise. `duplicate_worker`: a
    further submission for the HIT, or the same row in another HIT (the one with the smallest id
    stays). `same_answer`: on all judgments of a worker who gave one answer to `MONOTONOUS_ROWS`
    rows or more, if nobody else judged these rows or others found them to differ. `expert`: by a
    listed expert in a batch made for experts. `copied_text`: a free text nearly the same as
    another worker's. `excluded`: by a person whom the register excludes.
    """
    judgments = sorted(judgments, key=lambda judgment: judgment.id)
    failed_submissions = {
        _submission(judgment) for judgment in judgments if failed_answers(layout, judgment, items)
    }
    repeat_ids = _further_ids(judgments, expert_batches)
    once_judged = [judgment for judgment in judgments if judgment.id not in repeat_ids]
    monotonous_workers = _monotonous(layout, once_judged)
    copied_ids = find_copies(layout, judgments, items)
    flagged_judgments = []
    for judgment in judgments:
        item_seconds = judgment.seconds
        flag_signs = {
            TOO_FAST: item_seconds is not None and item_seconds < layout.min_seconds,
            FAILED_ATTENTION: _submission(judgment) in failed_submissions,
            DUPLICATE: judgment.id in repeat_ids,
            SAME_ANSWER: judgment.worker in monotonous_workers,
            EXPERT: judgment.worker in experts and judgment.batch in expert_batches,
            COPIED_TEXT: judgment.id in copied_ids,
            EXCLUDED: judgment.worker in excluded,
        }
        judgment_flags = tuple(
            sorted(flag_name for flag_name, is_flagged in flag_signs.items() if is_flagged)
        )
        is_counted = not any(flag_signs[flag_name] for flag_name in _SETS_ASIDE)
        is_unchanged = judgment.flags == judgment_flags and judgment.counted == is_counted
        flagged_judgments.append(
            judgment
            if is_unchanged
            else replace(judgment, flags=judgment_flags, counted=is_counted)
        )
    return flagged_judgments


def failed_answers(layout: Layout, judgment: Judgment, items: Mapping[str, Item]) -> list[str]:
    """The names of answers that differ from the known ones; empty for items without known ones."""
    known_answers = None if judgment.row else items[judgment.item].answers
    if not known_answers:
        return []
    given_answers = judgment_answers(judgment)
    return [
        answer_name
        for answer_name, known_value in known_answers.items()
        if answer_name in layout.answers
        and not is_known_answer(
            layout.answers[answer_name], known_value, given_answers.get(answer_name)
        )
    ]


def _submission(judgment: Judgment) -> tuple[bool, str, str, str, str]:
    return DUPLICATE in judgment.flags, *submission_key(judgment)


def _further_ids(judgments: Sequence[Judgment], expert_batches: Collection[str]) -> set[str]:
    """The ids of judgments of a worker's further submission for a HIT, or for a row."""
    further_ids = {judgment.id for judgment in judgments if DUPLICATE in judgment.flags}
    seen_keys: set[tuple[str, str, bool]] = set()
    for judgment in judgments:
        if judgment.row and judgment.id not in further_ids:
            worker_row = judgment.worker, judgment.row, judgment.batch in expert_batches
            if worker_row in seen_keys:
                further_ids.add(judgment.id)
            seen_keys.add(worker_row)
    return further_ids


def _monotonous(layout: Layout, judgments: Sequence[Judgment]) -> set[str]:
    """The workers who gave the same answers to many rows, where others did not agree to that."""
    compared_by_name = compared_answers(layout) or layout.answers
    rows_by_worker: dict[str, dict[str, str]] = {}
    workers_by_row: dict[str, dict[str, str]] = {}
    for judgment in judgments:
        if judgment.row:
            given_answers = judgment_answers(judgment)
            value_keys = []
            for answer_name, answer in compared_by_name.items():
                value_keys.append(
                    comparison_key(answer, given_answers[answer_name])
                    if answer_name in given_answers
                    else ""
                )
            joined_keys = "\n".join(value_keys)
            rows_by_worker.setdefault(judgment.worker, {})[judgment.row] = joined_keys
            workers_by_row.setdefault(judgment.row, {})[judgment.worker] = joined_keys
    monotonous_workers = set()
    for worker_hash, value_by_row in rows_by_worker.items():
        worker_values = set(value_by_row.values())
        if len(value_by_row) < MONOTONOUS_ROWS or len(worker_values) > 1:
            continue
        values_of_others: set[str] = set()
        for row_id in value_by_row:
            other_values = {
                answer_name: joined_keys
                for answer_name, joined_keys in workers_by_row[row_id].items()
                if answer_name != worker_hash
            }
            values_of_others.update(other_values.values())
        if values_of_others != worker_values:
            monotonous_workers.add(worker_hash)
    return monotonous_workers


def gold_row(
    layout: Layout,
    row_id: str,
    row_judgments: Sequence[Judgment],
    items: Mapping[str, Item],
    *,
    is_settled: bool = False,
) -> Gold:
    """The gold row that the judgments of a row come to; some of them may be set aside.

    The row is `open` where fewer than `assignments` judgments count, unless they are `is_settled`:
    an expert's, or of a batch that has passed an expert. Under `majority` more than half must
    agree with one judgment, and those decide; under `unanimous` each must agree with each; under
    `any` all are taken, and one value of `accept` accepts the row. An agreed value outside of
    `accept` rejects it.
    """
    counted_judgments = [judgment for judgment in row_judgments if judgment.counted]
    counted_judgments.sort(key=lambda judgment: judgment.id)
    agreeing_judgments = _largest_agreeing(layout, counted_judgments)
    row_decision: Decision = "open"
    if counted_judgments and (is_settled or len(counted_judgments) >= layout.assignments):
        row_decision = _decision(layout, counted_judgments, agreeing_judgments)
    use_all = row_decision in ("open", "disputed") or layout.rule.by == "any"
    shown_item = (agreeing_judgments or row_judgments)[0].item
    return Gold(
        row=row_id,
        layout=row_judgments[0].layout,
        dataset=row_judgments[0].dataset,
        decision=row_decision,
        answers=_json(
            _gold_answers(layout, counted_judgments if use_all else agreeing_judgments, items)
        ),
        shown=_json(items[shown_item].fields),
        judgments=len(counted_judgments),
        agreeing=len(agreeing_judgments),
    )


def _largest_agreeing(layout: Layout, counted_judgments: Sequence[Judgment]) -> list[Judgment]:
    """The largest group of judgments that agree with one judgment, which comes first.

    Between groups of the same size the answers of the first judgment decide.
    """
    agreeing_groups = []
    for judgment in counted_judgments:
        agreeing_group = [judgment]
        for other_judgment in counted_judgments:
            if other_judgment is not judgment and judgments_agree(layout, judgment, other_judgment):
                agreeing_group.append(other_judgment)
        agreeing_groups.append(agreeing_group)
    return min(
        agreeing_groups,
        key=lambda agreeing_group: (
            -len(agreeing_group),
            agreeing_group[0].answers,
            agreeing_group[0].id,
        ),
        default=[],
    )


def _decision(
    layout: Layout, counted_judgments: Sequence[Judgment], agreeing_judgments: list[Judgment]
) -> Decision:
    """Decide a row by the layout's rule.

    Under `any`, one accepting judgment accepts the row. Under `unanimous`, all judgments have to
    agree. Otherwise more than half of them have to be in the largest group that agrees.
    """
    rule = layout.rule
    if rule.by == "any":
        is_accepted = any(_accepts(layout, judgment) for judgment in counted_judgments)
        return "accepted" if is_accepted else "rejected"
    if rule.by == "unanimous":
        judgment_pairs = combinations(counted_judgments, 2)
        if not all(
            judgments_agree(layout, first_judgment, second_judgment)
            for first_judgment, second_judgment in judgment_pairs
        ):
            return "disputed"
    elif len(agreeing_judgments) * 2 <= len(counted_judgments):
        return "disputed"
    return "accepted" if _accepts(layout, agreeing_judgments[0]) else "rejected"


def _accepts(layout: Layout, judgment: Judgment) -> bool:
    """Whether a judgment's answers accept the row by the layout's rule."""
    rule, given_answers = layout.rule, judgment_answers(judgment)
    if given_answers.get(BROKEN) and layout.broken:
        return False
    rule_text = rule_value(given_answers.get(rule.of or ""))
    return rule_text in rule.accept if rule.of and rule.accept else rule_text not in rule.reject


def _gold_answers(
    layout: Layout, judgments: Sequence[Judgment], items: Mapping[str, Item]
) -> dict[str, Any]:
    """The answers of a gold row, from the judgments that decide it.

    For an answer that is compared and agreed, the agreed value. For any other a list with an
    entry for each judgment, null where it gave none. An answer that nobody gave is absent.
    """
    gold_answers: dict[str, Any] = {}
    answers_of_each = [judgment_answers(judgment) for judgment in judgments]
    shown_fields = [items[judgment.item].fields for judgment in judgments]
    compared_by_name = compared_answers(layout)
    for answer_name, answer in layout.answers.items():
        answer_values = [given_answers.get(answer_name) for given_answers in answers_of_each]
        if all(answer_value is None for answer_value in answer_values):
            continue
        is_agreed = answer_name in compared_by_name and _all_agree(answer, answer_values)
        gold_answers[answer_name] = (
            answer_values[_most_typical(answer, answer_values, shown_fields)]
            if is_agreed
            else answer_values
        )
    return gold_answers


def _all_agree(answer: LayoutAnswer, answer_values: Sequence[Any]) -> bool:
    return all(
        values_agree(answer, first_value, second_value)
        for first_value, second_value in combinations(answer_values, 2)
    )


def _most_typical(
    answer: LayoutAnswer, answer_values: Sequence[Any], shown_fields: Sequence[Mapping[str, Any]]
) -> int:
    """The index of the value to take among values that agree.

    It is the first of the most frequent spelling. For spans it is the one that has the most in
    common with all of them, and among equal ones the shorter.
    """
    if comparison(answer) == "span":
        character_marks = [
            marked_characters(answer, *value_and_fields)
            for value_and_fields in zip(answer_values, shown_fields, strict=True)
        ]
        ranked_values = []
        for value_index, value_marks in enumerate(character_marks):
            common_total = sum(
                _common_share(value_marks, other_mark) for other_mark in character_marks
            )
            ranked_values.append(
                (-common_total, value_marks.sum(), value_marks.nonzero()[0].tolist(), value_index)
            )
        return int(min(ranked_values)[-1])
    value_texts = [_json(answer_value) for answer_value in answer_values]
    text_counts = Counter(value_texts)
    return value_texts.index(
        min(text_counts, key=lambda value_text: (-text_counts[value_text], value_text))
    )


def _common_share(first_marks: Any, second_marks: Any) -> float:
    """The share of characters marked in both, of those marked in either (Jaccard)."""
    common_length = min(len(first_marks), len(second_marks))
    in_both = (first_marks[:common_length] & second_marks[:common_length]).sum()
    in_either = first_marks.sum() + second_marks.sum() - in_both
    return float(in_both / in_either) if in_either else 0.0


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
