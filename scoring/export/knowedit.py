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
    release_configs = {"changes": release.configs(ReleasedChange)}
    with release.query(_STATIC, release_configs) as fact_rows:
        static_config = _Untouched(list(fact_rows))
    templates = load_relations(resource("templates")).whole()
    with release.query(_EDITS, release_configs) as fact_rows:
        release.json_list(
            "edits.json", _records(fact_rows, static_config, templates, release.notes)
        )


class _Untouched:
    """Facts that both dumps state alike and that hold still, by subject and by relation."""

    def __init__(self, fact_rows: Sequence[Row]) -> None:
        self._by: dict[str, list[Row]] = defaultdict(list)
        for fact_row in fact_rows:
            self._by[fact_row["subject"]].append(fact_row)
            self._by[fact_row["relation"]].append(fact_row)

    def beside(self, subject: str, relation: str) -> list[Row]:
        """Return facts that an edit of this pair must leave untouched, at most `NEIGHBOURS`.

        Facts of the same subject under other relations come first, then facts of other subjects
        under the same relation. The pair itself has changed, so none of its facts is here.
        """
        neighbour_facts = self._by[relation]
        first_row = (
            seeded_hash("knowedit", subject, relation) % len(neighbour_facts)
            if neighbour_facts
            else 0
        )
        return [*self._by[subject], *neighbour_facts[first_row:], *neighbour_facts[:first_row]][
            :NEIGHBOURS
        ]


def _records(
    fact_rows: Iterator[Row],
    static_config: _Untouched,
    templates: Mapping[str, Relation],
    export_notes: Counter[str],
) -> Iterator[Row]:
    for fact_row in fact_rows:
        if len(fact_row["now"]) != 1:
            export_notes["changes left out: several objects hold now"] += 1
            continue
        if fact_row["now"][0] in (fact_row["before"] or ()):
            export_notes["changes left out: a new term of who held before"] += 1
            continue
        subject, relation = fact_row["subject"], fact_row["relation"]
        beside = static_config.beside(subject, relation)
        if not beside:
            export_notes["changes left out: nothing untouched beside them"] += 1
            continue
        previous_answer = [answer["label"] for answer in fact_row["before"] or ()]
        yield {
            "subject": fact_row["subject_label"],
            "prompt": _prompt(fact_row, templates),
            "target_new": fact_row["now"][0]["label"],
            "ground_truth": previous_answer[0] if previous_answer else None,
            "portability": {},
            "locality": {
                "Relation_Specificity": [
                    {"prompt": _prompt(answer, templates), "ground_truth": [answer["now"]]}
                    for answer in beside
                ]
            },
        }


def _prompt(fact_row: Row, templates: Mapping[str, Relation]) -> str:
    """A sentence that its object ends: of the relation's template, where one is so."""
    relation = templates.get(fact_row["relation"])
    for question_template in relation.cloze if relation else ():
        if render.object_last(question_template):
            question_text = render.query(question_template, fact_row["subject_label"], "\0")
            return question_text.partition("\0")[0].rstrip()
    return f"The {fact_row['relation_label']} of {fact_row['subject_label']} is"
