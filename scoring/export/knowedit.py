"""KnowEdit: edits of what a model knows, from what changed between two dumps.

The record is that of `wiki_recent` (Zhang et al. 2024, A Comprehensive Study of Knowledge Editing):
what is new, what was, and what an edit must leave as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.facts.relations import Relation, load_relations
from factdrift.builders.rows import ReleasedChange
from factdrift.builders.text import render
from factdrift.scoring.export.release import Release, Row

NEIGHBOURS = 3
"""As many untouched facts beside an edit."""
_EDITS = """
    SELECT subject, relation, any_value(subject_label) AS subject_label,
        any_value(relation_label) AS relation_label,
        list({'id': object, 'label': object_label} ORDER BY object)
            FILTER (new_end_open) AS now,
        list({'id': object, 'label': object_label} ORDER BY object)
            FILTER (change = 'obsolete') AS before,
        bool_or(change IN ('new', 'returned') AND new_end_open) AS edited
    FROM changes GROUP BY ALL HAVING edited ORDER BY relation, subject
"""
_STATIC = """
    SELECT subject, relation, any_value(subject_label) AS subject_label,
        any_value(relation_label) AS relation_label,
        list(object_label ORDER BY object) FILTER (new_end_open) AS now
    FROM changes GROUP BY ALL HAVING bool_and(change = 'static') AND bool_or(new_end_open)
    ORDER BY relation, subject
"""


def write(release: Release) -> None:
    """`edits.json`: subject, prompt, target_new, ground_truth, locality.

    An edit is a subject and relation with one object now, which it had not at the older dump.
    Untouched are facts of the same subject under other relations, then of other subjects of the
    relation. What has several objects now, or no untouched fact beside it, is left out.
    """
    configs = {"changes": release.configs(ReleasedChange)}
    with release.query(_STATIC, configs) as rows:
        static = _Untouched(list(rows))
    templates = load_relations(resource("templates")).whole()
    with release.query(_EDITS, configs) as rows:
        release.json_list("edits.json", _records(rows, static, templates, release.notes))


class _Untouched:
    """Facts that both dumps state alike and that hold still, by subject and by relation."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._by: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._by[row["subject"]].append(row)
            self._by[row["relation"]].append(row)

    def beside(self, subject: str, relation: str) -> list[Row]:
        """Of the same subject under other relations, then of other subjects of the relation.

        What changed is of a pair of both, so none of these is.
        """
        neighbours = self._by[relation]
        first = seeded_hash("knowedit", subject, relation) % len(neighbours) if neighbours else 0
        return [*self._by[subject], *neighbours[first:], *neighbours[:first]][:NEIGHBOURS]


def _records(
    rows: Iterator[Row],
    static: _Untouched,
    templates: Mapping[str, Relation],
    notes: Counter[str],
) -> Iterator[Row]:
    for row in rows:
        if len(row["now"]) != 1:
            notes["changes left out: several objects hold now"] += 1
            continue
        subject, relation = row["subject"], row["relation"]
        beside = static.beside(subject, relation)
        if not beside:
            notes["changes left out: nothing untouched beside them"] += 1
            continue
        before = [answer["label"] for answer in row["before"] or ()]
        yield {
            "subject": row["subject_label"],
            "prompt": _prompt(row, templates),
            "target_new": row["now"][0]["label"],
            "ground_truth": before[0] if before else None,
            "portability": {},
            "locality": {
                "Relation_Specificity": [
                    {"prompt": _prompt(answer, templates), "ground_truth": [answer["now"]]}
                    for answer in beside
                ]
            },
        }


def _prompt(row: Row, templates: Mapping[str, Relation]) -> str:
    """A sentence that its object ends: of the relation's template, where one is so."""
    relation = templates.get(row["relation"])
    for template in relation.cloze if relation else ():
        if render.object_last(template):
            question = render.query(template, row["subject_label"], "\0")
            return question.partition("\0")[0].rstrip()
    return f"The {row['relation_label']} of {row['subject_label']} is"
