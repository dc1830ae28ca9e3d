"""zsRE as editors read it: a question, its new answer, one rephrase, one untouched question.

The form is that of the files of EasyEdit (Wang et al. 2023) and MEND (Mitchell et al. 2022).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from factdrift.scoring.export.edit_rules import LOCALITY_MARK, fault_of_question_edit
from factdrift.scoring.export.edits import EditRecord, edit_records, joined_labels
from factdrift.scoring.export.release import Release, Row


def write(release: Release) -> None:
    """`zsre.json`, and `zsre_portability.json` of those records that have a question of one hop.

    `pred` is what the model said before, where predictions are given, and else null. An edit
    without an old answer, a rephrase or an untouched fact has no record, and is counted.
    """
    for file_name, needs_hop in (("zsre.json", False), ("zsre_portability.json", True)):
        release.notes.clear()  # each file reads all edits
        release.json_list(file_name, _records(edit_records(release), release, needs_hop=needs_hop))


def _records(edits: Iterable[EditRecord], release: Release, *, needs_hop: bool) -> Iterator[Row]:
    for edit in edits:
        record = _record(edit)
        fault = fault_of_question_edit(record)
        if not fault and needs_hop and "portability" not in record:
            fault = "zsre_portability.json: no question of one hop"
        if fault:
            release.notes[f"edits left out: {fault}"] += 1
        else:
            yield record


def _record(edit: EditRecord) -> dict[str, Any]:
    row, questions = edit.edit, edit.questions
    old_answer = edit.ground_truth
    rephrases = [
        question["prompt"]
        for question in sorted(
            questions["rephrases"], key=lambda question: question["kind"] != "question"
        )
    ]
    untouched = sorted(
        questions["locality"], key=lambda question: question["kind"] == "same subject"
    )
    record = {
        "subject": row["subject_name"],
        "src": row["question"],
        "pred": edit.answer_before,
        "rephrase": rephrases[0] if rephrases else None,
        "alt": edit.target_new,
        "answers": [old_answer] if old_answer else [],
        "loc": f"{LOCALITY_MARK}{untouched[0]['question'].rstrip('?')}" if untouched else None,
        "loc_ans": joined_labels(untouched[0]["answers"]) if untouched else None,
        "cond": f"{old_answer} >> {edit.target_new} || {row['question']}",
        **edit.common_fields,
    }
    one_hop = next(
        (question for question in questions["portability"] if question["kind"] == "one hop"), None
    )
    if one_hop is not None:
        hop = one_hop["hops"][0]
        answer = joined_labels(one_hop["answers"])
        record["portability"] = {
            "Recalled Relation": f"({hop['subject_label']}, {hop['relation_label']}, {answer})",
            "New Question": one_hop["prompt"],
            "New Answer": answer,
        }
    return record
