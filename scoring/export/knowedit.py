"""KnowEdit: edits of what a model knows, with what follows from each and what must stay.

The record is that of `wiki_recent` (Zhang et al. 2024, A Comprehensive Study of Knowledge Editing):
what is new, what was, questions that the edit reaches, and facts that it must not.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from factdrift.scoring.export.edit_rules import fault_of_edit
from factdrift.scoring.export.edits import EditRecord, edit_records, joined_labels
from factdrift.scoring.export.release import Release, Row

NEIGHBOURS = 3
"""As many untouched facts beside an edit."""


def write(release: Release) -> None:
    """`edits.json`: subject, prompt, target_new, ground_truth, portability, locality and more.

    Several new objects are one target, joined by `and`. Beside the fields of KnowEdit stand
    `rephrases`, `question`, `answers`, `previous_answers`, and `sequence` with the `period`; and
    `answer_before` where predictions are given. What no editor can use is left out and counted by
    the rule of `edit_rules` that it breaks.
    """
    release.json_list("edits.json", _records(edit_records(release), release))


def _records(edits: Iterable[EditRecord], release: Release) -> Iterator[Row]:
    for edit in edits:
        record = _record(edit)
        fault = fault_of_edit(record)
        if fault:
            release.notes[f"edits left out: {fault}"] += 1
        else:
            yield record


def _record(edit: EditRecord) -> dict[str, Any]:
    row, questions = edit.edit, edit.questions
    portability = {
        "Reasoning": [_fact(question) for question in questions["portability"]],
        "Logical_Generalization": [_fact(question) for question in questions["reverse"]],
    }
    # Of the same subject, then of others: a stable sort keeps the order within each.
    untouched = sorted(
        questions["locality"], key=lambda question: question["kind"] != "same subject"
    )
    return {
        "subject": row["subject_name"],
        "prompt": row["prompt"],
        "target_new": edit.target_new,
        "ground_truth": edit.ground_truth,
        "rephrases": row["rephrases"],
        "question": row["question"],
        "portability": {kind: facts for kind, facts in portability.items() if facts},
        "locality": {
            "Relation_Specificity": [_fact(question) for question in untouched[:NEIGHBOURS]]
        },
        "answers": [answer["label"] for answer in row["answers"]],
        "previous_answers": [answer["label"] for answer in row["previous_answers"]],
        **edit.common_fields,
    }


def _fact(question: Row) -> dict[str, Any]:
    """A prompt and its accepted answers, the names of all objects first where there are several."""
    joined = joined_labels(question["answers"])
    return {
        "prompt": question["prompt"],
        "ground_truth": [list(dict.fromkeys([joined, *question["targets"]]))],
    }
