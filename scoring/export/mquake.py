"""MQuAKE: questions of several hops whose answer changes with an edit.

The record is that of MQuAKE-T (Zhong et al. 2023), whose edits are changes of the world.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from factdrift.builders.facts.relations import property_of
from factdrift.scoring.export.edit_rules import fault_of_case
from factdrift.scoring.export.edits import EditRecord, edit_records, joined_labels
from factdrift.scoring.export.release import Release, Row


def write(release: Release) -> None:
    """`mquake.json`: a case for each question of the config `portability`.

    Left out, and counted, is a question whose answer before the edit is not known, or whose edit
    has several objects: a case has one answer before and one after at each hop.
    """
    release.json_list("mquake.json", _cases(edit_records(release), release))


def _cases(edits: Iterable[EditRecord], release: Release) -> Iterator[Row]:
    case_id = 0
    for edit in edits:
        for question in edit.questions["portability"]:
            if not question["previous_hops"]:
                release.notes["questions left out: the answer before is not known"] += 1
                continue
            case = _case(edit, question, case_id + 1)
            fault = fault_of_case(case)
            if fault:
                release.notes[f"questions left out: {fault}"] += 1
            else:
                case_id += 1
                yield case


def _case(edit: EditRecord, question: Row, case_id: int) -> dict[str, Any]:
    row = edit.edit
    new_object, old_object = row["answers"][0], row["previous_answers"][0]
    new_hops = [_edited_hop(row, new_object), *question["hops"]]
    old_hops = [_edited_hop(row, old_object), *question["previous_hops"]]
    new_triples, old_triples = _triples(new_hops), _triples(old_hops)
    new_names, old_names = _names(question["answers"]), _names(question["previous_answers"])
    return {
        "case_id": case_id,
        "requested_rewrite": [
            {
                "prompt": row["prompt"].replace(row["subject_name"], "{}"),
                "relation_id": property_of(row["relation"]),
                "target_new": {"str": new_object["label"], "id": new_object["id"]},
                "target_true": {"str": old_object["label"], "id": old_object["id"]},
                "subject": row["subject_name"],
                "question": row["question"],
            }
        ],
        "questions": [question["prompt"], *question["rewordings"]],
        "answer": old_names[0],
        "answer_alias": old_names[1:],
        "answer_extended": old_names,
        "new_answer": new_names[0],
        "new_answer_alias": new_names[1:],
        "single_hops": [_single_hop(hop) for hop in old_hops],
        "new_single_hops": [_single_hop(hop) for hop in new_hops],
        "orig": {
            "triples": [triple[0] for triple in old_triples],
            "triples_labeled": [triple[1] for triple in old_triples],
            "new_triples": [triple[0] for triple in new_triples],
            "new_triples_labeled": [triple[1] for triple in new_triples],
            "edit_triples": [new_triples[0][0]],
        },
        **edit.common_fields,
        "row": question["id"],
        "edit": row["id"],
    }


def _edited_hop(row: Row, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The edit itself as the first hop, with what held before or after it."""
    return {
        "subject": row["subject"],
        "subject_label": row["subject_label"],
        "relation": row["relation"],
        "relation_label": row["relation_label"],
        "question": row["question"],
        "cloze": row["prompt"],
        "answers": [answer],
    }


def _single_hop(hop: Mapping[str, Any]) -> dict[str, Any]:
    answer, *aliases = _names(hop["answers"])
    return {
        "question": hop["question"],
        "cloze": hop["cloze"],
        "answer": answer,
        "answer_alias": aliases,
    }


def _triples(hops: Sequence[Mapping[str, Any]]) -> list[tuple[list[str], list[str]]]:
    """The hops as triples of ids, and of names; of several objects the first."""
    return [
        (
            [hop["subject"], property_of(hop["relation"]), hop["answers"][0]["id"]],
            [hop["subject_label"], hop["relation_label"], joined_labels(hop["answers"])],
        )
        for hop in hops
    ]


def _names(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The labels of answers, then their aliases, each once."""
    labels = [answer["label"] for answer in answers]
    aliases = [alias for answer in answers for alias in answer["aliases"]]
    return list(dict.fromkeys([*labels, *aliases]))
