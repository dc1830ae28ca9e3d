"""LAMA: a file of JSON lines a relation, in the shape of its T-REx part (Petroni et al. 2019)."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from factdrift.builders.rows import InvariantCloze
from factdrift.scoring.export.release import Release, Row, release_blank

MASK = "[MASK]"
_QUERY = "SELECT * EXCLUDE (views) FROM cloze ORDER BY relation, subject, template, id"


def write(release: Release) -> None:
    """`TREx/<relation>.jsonl`, and `relations.jsonl` with every relation.

    A template there is empty: LAMA's code then reads the sentences, which have the right articles.
    """
    configs, blank_text = release.configs(InvariantCloze), release_blank(release.manifest)
    relations = []
    with release.query(_QUERY, {"cloze": configs}) as group_rows:
        for relation, group in groupby(group_rows, key=itemgetter("relation")):
            file_name = f"TREx/{relation}.jsonl"
            fact_records = list(group)
            relations.append(
                {"relation": relation, "template": "", "label": fact_records[0]["relation_label"]}
            )
            release.json_lines(file_name, _records(fact_records, blank_text))
    release.json_lines("relations.jsonl", relations)


def _records(group_rows: list[Row], blank_text: str) -> Iterator[Row]:
    """A record for each subject; its wordings are sentences of one record."""
    for subject, group in groupby(group_rows, key=itemgetter("subject")):
        question_rows = list(group)
        first_row, answer_label = question_rows[0], question_rows[0]["answer"]
        sentences = [row["query"].replace(blank_text, MASK) for row in question_rows]
        surface_forms = {
            "sub_surface": first_row["subject_label"],
            "obj_surface": answer_label["label"],
        }
        yield {
            "uuid": first_row["id"],
            "predicate_id": first_row["relation"],
            "sub_uri": subject,
            "sub_label": first_row["subject_label"],
            "obj_uri": answer_label["id"],
            "obj_label": answer_label["label"],
            "masked_sentences": sentences,
            "evidences": [
                {**surface_forms, "masked_sentence": sentence_text} for sentence_text in sentences
            ],
        }
