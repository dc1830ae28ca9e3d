"""KnowEdit: edits of what a model knows, from what changed between two dumps.

The record is that of `wiki_recent` (Zhang et al. 2024, A Comprehensive Study of Knowledge Editing):
what is new, what was, and what an edit must leave as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple

from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import seeded_hash
from factdrift.builders.facts.relations import Relation, load_relations
from factdrift.builders.rows import ReleasedChange
from factdrift.builders.text import render
from factdrift.scoring.export.edit_rules import fault_of_edit, gives_away
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

    An edit is a subject and relation with one object now, which it had not at the older dump; its
    subject is written as the prompt has it. Untouched are facts of the same subject under other
    relations, then of other subjects of the relation. What no editor can use is left out and
    counted by reason: several objects now, no untouched fact beside it, or a rule of `edit_rules`.
    """
    release_configs = {"changes": release.configs(ReleasedChange)}
    templates = load_relations(resource("templates")).whole()
    with release.query(_EDITS, release_configs) as fact_rows:
        changed_facts = list(fact_rows)
    edit_prompts = Counter(_prompt(fact_row, templates).text for fact_row in changed_facts)
    with release.query(_STATIC, release_configs) as fact_rows:
        untouched_facts = _Untouched(fact_rows, templates, edit_prompts)
    release.json_list(
        "edits.json",
        _records(changed_facts, untouched_facts, templates, edit_prompts, release.notes),
    )


class _Prompt(NamedTuple):
    """A prompt that its object ends, and its subject as the prompt writes it."""

    text: str
    subject: str


class _Untouched:
    """Facts that both dumps state alike and that hold still, by subject and by relation.

    Left out are facts whose prompt gives the answer away or is the prompt of an edit.
    """

    def __init__(
        self,
        fact_rows: Iterable[Row],
        templates: Mapping[str, Relation],
        edit_prompts: Container[str],
    ) -> None:
        self._by: dict[str, list[Row]] = defaultdict(list)
        for fact_row in fact_rows:
            prompt = _prompt(fact_row, templates).text
            is_given_away = any(gives_away(prompt, answer) for answer in fact_row["now"])
            if not is_given_away and prompt not in edit_prompts:
                fact = {"prompt": prompt, "ground_truth": [fact_row["now"]]}
                self._by[fact_row["subject"]].append(fact)
                self._by[fact_row["relation"]].append(fact)

    def beside(self, subject: str, relation: str) -> list[Row]:
        """Return facts that an edit of this pair must leave untouched, at most `NEIGHBOURS`.

        Facts of the same subject under other relations come first, then facts of other subjects
        under the same relation; no prompt stands twice. The pair itself has changed, so none of its
        facts is here.
        """
        neighbour_facts = self._by.get(relation, [])
        first_row = (
            seeded_hash("knowedit", subject, relation) % len(neighbour_facts)
            if neighbour_facts
            else 0
        )
        facts_in_turn = chain(
            self._by.get(subject, []),
            islice(neighbour_facts, first_row, None),
            islice(neighbour_facts, first_row),
        )
        chosen_facts: dict[str, Row] = {}
        for fact in facts_in_turn:
            chosen_facts.setdefault(fact["prompt"], fact)
            if len(chosen_facts) == NEIGHBOURS:
                break
        return list(chosen_facts.values())


def _records(
    changed_facts: Iterable[Row],
    untouched_facts: _Untouched,
    templates: Mapping[str, Relation],
    edit_prompts: Mapping[str, int],
    export_notes: Counter[str],
) -> Iterator[Row]:
    for fact_row in changed_facts:
        prompt = _prompt(fact_row, templates)
        previous_answers = [answer["label"] for answer in fact_row["before"] or ()]
        beside = untouched_facts.beside(fact_row["subject"], fact_row["relation"])
        record = {
            "subject": prompt.subject,
            "prompt": prompt.text,
            "target_new": fact_row["now"][0]["label"],
            "ground_truth": previous_answers[0] if previous_answers else None,
            "portability": {},
            "locality": {"Relation_Specificity": beside},
        }
        if len(fact_row["now"]) != 1:
            fault: str | None = "several objects hold now"
        elif fact_row["now"][0] in (fact_row["before"] or ()):
            fault = "a new term of who held before"
        elif not beside:
            fault = "nothing untouched beside them"
        elif edit_prompts[prompt.text] > 1:
            fault = "another one has the same prompt"
        else:
            fault = fault_of_edit(record)
        if fault:
            export_notes[f"changes left out: {fault}"] += 1
        else:
            yield record


def _prompt(fact_row: Row, templates: Mapping[str, Relation]) -> _Prompt:
    """Return a sentence that its object ends, of the relation's first template that is so.

    The subject stands in it once, as editors need it, where one of the templates allows that.
    """
    label, relation = fact_row["subject_label"], templates.get(fact_row["relation"])
    prompts = []
    for question_template in relation.cloze if relation else ():
        if render.object_last(question_template):
            question_text = render.query(question_template, label, "\0").partition("\0")[0]
            subject = render.written_subject(question_template, label)
            prompts.append(_Prompt(question_text.rstrip(), subject))
    prompts.append(_Prompt(f"The {fact_row['relation_label']} of {label} is", label))
    for prompt in prompts:
        if prompt.text.count(prompt.subject) == 1:
            return prompt
    return prompts[0]
