"""Write rows from candidates: the question, its choices, and its facts in words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, permutations, product
from typing import NamedTuple, TypeVar

from factdrift.builders.core.hashing import row_id, seeded_hash, seeded_index
from factdrift.builders.facts.namesakes import REASON
from factdrift.builders.rows import Dropped, Segment
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import AnswerKind, QuestionCandidate, ReasoningQuestion

_INTRODUCTION = "Answer the question with a name, a number, yes or no."
_YES_NO = ("yes", "no")
# A guess: a table that takes some reading, and that fits the context of small models.
_FACTS = 20
"""The number of facts in the table that a question stands behind."""
# Four choices, as usual in multiple-choice tests, where the question does not name its only two.
_WRONG_CHOICES = 3
T = TypeVar("T")


class _Draft(NamedTuple):
    """The parts of a question before it is known whether it can be asked."""

    text: str
    label: str
    accepted_names: tuple[str, ...]
    shortcut_labels: tuple[str | None, str | None, str | None]
    """Labels of the newest and the longest-held object and of the first hop's answer."""
    facts: list[Segment]
    wrong_labels: list[str]
    wrong_count: int
    """The number of wrong choices that the question needs."""


class Writer:
    """Writes the rows of one release.

    `segments` are those of every subject and relation that a row needs. `recent` is the first day
    that counts for `changed_since`.
    """

    def __init__(
        self, names: Verbalizer, segments: Iterable[Segment], recent: date, seed: int
    ) -> None:
        self.names, self.recent, self.seed = names, recent, seed
        self.terms: dict[tuple[str, str], Segment] = {}
        self.pairs: dict[tuple[str, str], list[Segment]] = defaultdict(list)
        self.holders: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.pool: dict[str, dict[str, None]] = defaultdict(dict)
        for segment in segments:
            has_names = {segment.subject, segment.object} <= names.entities.keys()
            if has_names and names.phrases[segment.relation].was:
                for statement in segment.statements:
                    self.terms[segment.relation, statement] = segment
                self.pairs[segment.subject, segment.relation].append(segment)
                self.holders[segment.object, segment.relation].append(segment.subject)
                self.pool[segment.relation][segment.object] = None
        self.all_terms = list(dict.fromkeys(self.terms.values()))

    def question(self, row: QuestionCandidate) -> ReasoningQuestion | Dropped:
        """Return the question of a candidate, or a drop that says why it is not asked."""
        draft = self._draft(row)
        drop_reason = self._drop_reason(row, draft)
        if drop_reason:
            return _drop(row, drop_reason, draft.text)
        choices = sorted(
            [draft.label, *draft.wrong_labels],
            key=lambda choice: seeded_hash(self.seed, row.id, choice),
        )
        newest, longest, first_hop = draft.shortcut_labels
        return ReasoningQuestion(
            id=row.id,
            prompt=f"{_INTRODUCTION}\n{draft.text}",
            targets=draft.accepted_names,
            question=draft.text,
            question_id=row.id,
            context="",
            family=row.family,
            hops=row.hops,
            wording=row.wording,
            subject=row.subject,
            subject_label=self.names.name(row.subject),
            relation=row.relation,
            path=row.path,
            as_of=row.as_of,
            answer_kind=_answer_kind(row),
            answer_ids=row.answers,
            choices=tuple(choices),
            answer_index=choices.index(draft.label),
            statements=row.statements,
            evidence=tuple(map(self.names.sentence, draft.facts)),
            shortcut_newest=newest,
            shortcut_longest=longest,
            shortcut_first_hop=first_hop,
            changed=row.changed,
            changed_since=row.changed >= self.recent,
            sitelinks=self.names.entities[row.subject].sitelinks,
        )

    def _draft(self, row: QuestionCandidate) -> _Draft:
        label = self.names.name(row.answers[0]) if row.answers else row.answer or ""
        accepted_names = self.names.accepted_names(row.answers) or merge_targets([label])
        wrong_count = 1 if _has_two_choices(row) else _WRONG_CHOICES
        return _Draft(
            text=self.names.question(FAMILIES[row.family].texts[row.wording], row),
            label=label,
            accepted_names=accepted_names,
            shortcut_labels=(
                self._label(row.newest),
                self._label(row.longest),
                self._label(row.first_hop),
            ),
            facts=self._facts(row),
            wrong_labels=self._wrong_labels(row, _normalized(accepted_names), wrong_count),
            wrong_count=wrong_count,
        )

    def _label(self, item_id: str | None) -> str | None:
        entity = self.names.entities.get(item_id or "")
        return entity.label if entity else None

    def _drop_reason(self, row: QuestionCandidate, draft: _Draft) -> str | None:
        """Return why a question is not asked, or None if it is."""
        accepted_forms = _normalized(draft.accepted_names)
        question_form = normalize_or_keep(draft.text)
        # A question with two choices names both of them.
        if not _has_two_choices(row) and row.answers:
            for accepted_form in accepted_forms:
                if accepted_form in question_form:
                    return "answer_in_question"
        if self.names.may_mean_others(row.items, row.answers):
            return REASON
        if self._names_coincide(row, draft.facts):
            return "one_name"
        if accepted_forms & _normalized(label or "" for label in draft.shortcut_labels):
            return "shortcut"
        if len(draft.wrong_labels) < draft.wrong_count:
            return "few_choices"
        return None if draft.facts else "no_sentence"

    def in_context(
        self, row: QuestionCandidate, question: ReasoningQuestion
    ) -> ReasoningQuestion | Dropped:
        """Return the same question behind a table of facts.

        The table has the facts that the question needs, then other facts of the same subjects and
        relations, then facts of any others.
        """
        fact_lines = dict.fromkeys(question.evidence)
        if len(fact_lines) > _FACTS:
            return _drop(row, "many_facts", question.question)
        near_segments: list[Segment] = []
        for pair in sorted({(fact.subject, fact.relation) for fact in self._facts(row)}):
            near_segments += self.pairs[pair]
        near_segments.sort(key=lambda segment: seeded_hash(self.seed, row.id, *segment.statements))
        for segment in chain(near_segments, self._from_drawn_place(row, self.all_terms)):
            if len(fact_lines) == _FACTS:
                break
            fact_lines.setdefault(self.names.sentence(segment))
        shuffled_lines = sorted(
            fact_lines, key=lambda line: seeded_hash(self.seed, "context", question.id, line)
        )
        context = "\n".join(f"- {line}" for line in shuffled_lines)
        return replace(
            question,
            id=row_id("context", question.id),
            prompt=f"{_INTRODUCTION}\n\nFacts:\n{context}\n\nQuestion: {question.question}",
            context=context,
        )

    def _facts(self, row: QuestionCandidate) -> list[Segment]:
        """Return the terms that the answer follows from; none if one of them has no sentence."""
        relation_places: dict[str, int] = {}
        for place, relation in enumerate(row.relations):
            relation_places.setdefault(relation, place)
        # Two relations may share a statement; the fact is told as that of the question's relation.
        fact_terms: set[Segment] = set()
        for key in product(relation_places, row.statements):
            if key in self.terms:
                fact_terms.add(self.terms[key])
        stated = set(chain.from_iterable(term.statements for term in fact_terms))
        if not stated.issuperset(row.statements):
            return []
        return sorted(
            fact_terms,
            key=lambda term: (
                relation_places[term.relation],
                term.start_last or date.min,
                term.object,
            ),
        )

    def _names_coincide(self, row: QuestionCandidate, facts: Sequence[Segment]) -> bool:
        """Return whether the names of two items in a question cannot be told apart.

        In a chain the items of its facts count too. Where the answer is an item, a name within
        another name counts as well.
        """
        item_ids = set(row.items)
        if row.family == "chain":
            for fact in facts:
                item_ids |= {fact.subject, fact.object}
        name_forms = [normalize_or_keep(self.names.name(item_id)) for item_id in item_ids]
        if len(set(name_forms)) < len(name_forms):
            return True
        return bool(row.answers) and any(
            f" {inner} " in f" {outer} " for inner, outer in permutations(name_forms, 2)
        )

    def _wrong_labels(
        self, row: QuestionCandidate, accepted_forms: set[str], wrong_count: int
    ) -> list[str]:
        """Return at most `wrong_count` wrong choices, those of the nearest timelines first."""
        if row.answer in _YES_NO:
            return [choice for choice in _YES_NO if choice != row.answer]
        if row.answer:
            return self._near_numbers(row, int(row.answer))[:wrong_count]
        excluded_ids = {*row.answers, *row.items}
        groups = self._near_objects(row)
        if row.wording == "longer":  # the wrong choice is the other item of the question
            excluded_ids, groups = {*row.answers}, iter([row.others])
        labels_by_form: dict[str, str] = {}
        for item_id in chain.from_iterable(groups):
            if item_id in self.names.entities and item_id not in excluded_ids:
                label = self.names.name(item_id)
                name_form = normalize_or_keep(label)
                if name_form not in accepted_forms:
                    labels_by_form.setdefault(name_form, label)
            if len(labels_by_form) == wrong_count:
                break
        return list(labels_by_form.values())

    def _near_numbers(self, row: QuestionCandidate, right_number: int) -> list[str]:
        near_numbers: list[int] = []
        # More than three, so that the right number is not always the same one by size.
        for difference in (-1, 1, 2, -2, 3):
            if right_number + difference > 0:
                near_numbers.append(right_number + difference)
        near_numbers.sort(key=lambda number: seeded_hash(self.seed, row.id, number))
        return list(map(str, near_numbers))

    def _near_objects(self, row: QuestionCandidate) -> Iterator[Iterable[str]]:
        """Yield groups of objects, the nearest first.

        They are the objects of the same timeline, those of timelines that share an object with it,
        and all objects of the relation.
        """

        def in_drawn_order(item_ids: Iterable[str]) -> list[str]:
            return sorted(item_ids, key=lambda item_id: seeded_hash(self.seed, row.id, item_id))

        yield in_drawn_order(row.others)
        near_subjects: set[str] = set()
        for object_id in (*row.others, *row.answers):
            near_subjects.update(self.holders[object_id, row.relation])
        near_objects: set[str] = set()
        for subject in near_subjects:
            near_objects.update(segment.object for segment in self.pairs[subject, row.relation])
        yield in_drawn_order(near_objects)
        yield self._from_drawn_place(row, list(self.pool[row.relation]))

    def _from_drawn_place(self, row: QuestionCandidate, items: Sequence[T]) -> Iterator[T]:
        """Return all items in their order, beginning with a drawn one."""
        first_place = seeded_index(len(items), self.seed, row.id) if items else 0
        return chain(items[first_place:], items[:first_place])


def _has_two_choices(row: QuestionCandidate) -> bool:
    """Return whether the question itself names its two choices, or asks for yes or no."""
    return row.wording == "longer" or row.answer in _YES_NO


def _answer_kind(row: QuestionCandidate) -> AnswerKind:
    if row.answers:
        return "item"
    return "yes_no" if row.answer in _YES_NO else "number"


def _normalized(names: Iterable[str]) -> set[str]:
    return set(map(normalize_or_keep, names))


def _drop(row: QuestionCandidate, reason: str, detail: str) -> Dropped:
    return Dropped(
        step="reasoning",
        reason=reason,
        item=row.id,
        subject=row.subject,
        relation=row.relation,
        detail=detail,
    )
