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
    configs, blank = release.configs(InvariantCloze), release_blank(release.manifest)
    relations = []
    with release.query(_QUERY, {"cloze": configs}) as rows:
        for relation, group in groupby(rows, key=itemgetter("relation")):
            name = f"TREx/{relation}.jsonl"
            records = list(group)
            relations.append(
                {"relation": relation, "template": "", "label": records[0]["relation_label"]}
            )
            release.json_lines(name, _records(records, blank))
    release.json_lines("relations.jsonl", relations)


def _records(rows: list[Row], blank: str) -> Iterator[Row]:
    """A record for each subject; its wordings are sentences of one record."""
    for subject, group in groupby(rows, key=itemgetter("subject")):
        question_rows = list(group)
        first, answer = question_rows[0], question_rows[0]["answer"]
        sentences = [row["query"].replace(blank, MASK) for row in question_rows]
        surfaces = {"sub_surface": first["subject_label"], "obj_surface": answer["label"]}
        yield {
            "uuid": first["id"],
            "predicate_id": first["relation"],
            "sub_uri": subject,
            "sub_label": first["subject_label"],
            "obj_uri": answer["id"],
            "obj_label": answer["label"],
            "masked_sentences": sentences,
            "evidences": [{**surfaces, "masked_sentence": text} for text in sentences],
        }
