"""Rows out of candidates: the question, its choices, and its facts in words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, permutations, product
from typing import TypeVar

from factdrift.builders.core.hashing import row_id, seeded_hash, seeded_index
from factdrift.builders.rows import Dropped, Segment
from factdrift.builders.text.prompts import merge_targets
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.reasoning.families import FAMILIES
from factdrift.reasoning.names import Verbalizer
from factdrift.reasoning.rows import AnswerKind, QuestionCandidate, ReasoningQuestion

_INTRODUCTION = "Answer the question with a name, a number, yes or no."
_YES_NO = ("yes", "no")
_FACTS = 20
"""Sentences of the table that a question stands behind."""
T = TypeVar("T")


class Writer:
    """Writes the rows of one release.

    `segments`: those of every pair that a row needs; `recent`: the first day that counts for
    `changed_since`.
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
            is_named = {segment.subject, segment.object} <= names.entities.keys()
            if is_named and names.phrases[segment.relation].was:
                self.terms |= {
                    (segment.relation, statement): segment for statement in segment.statements
                }
                self.pairs[segment.subject, segment.relation].append(segment)
                self.holders[segment.object, segment.relation].append(segment.subject)
                self.pool[segment.relation][segment.object] = None
        self.every = list(dict.fromkeys(self.terms.values()))

    def question(self, row: QuestionCandidate) -> ReasoningQuestion | Dropped:
        """The question of a candidate, or why it is not asked."""
        text = self.names.question(FAMILIES[row.family].texts[row.wording], row)
        label = self.names.name(row.answers[0]) if row.answers else row.answer or ""
        accepted = self.names.accepted(row.answers) or merge_targets([label])
        right = {normalize_or_keep(name) for name in accepted}
        shortcuts = tuple(map(self._label, (row.newest, row.longest, row.first_hop)))
        facts = self._facts(row)
        wrong = self._wrong(row, right, _wrong_choices(row))
        if reason := self._drop_reason(row, normalize_or_keep(text), right, shortcuts):
            return _drop(row, reason, text)
        if len(wrong) < _wrong_choices(row):
            return _drop(row, "few_choices", text)
        if not facts:
            return _drop(row, "no_sentence", text)
        newest, longest, first_hop = shortcuts
        choices = sorted([label, *wrong], key=lambda choice: seeded_hash(self.seed, row.id, choice))
        return ReasoningQuestion(
            id=row.id,
            prompt=f"{_INTRODUCTION}\n{text}",
            targets=accepted,
            question=text,
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
            answer_index=choices.index(label),
            statements=row.statements,
            evidence=tuple(self.names.sentence(one) for one in facts),
            shortcut_newest=newest,
            shortcut_longest=longest,
            shortcut_first_hop=first_hop,
            changed=row.changed,
            changed_since=row.changed >= self.recent,
            sitelinks=self.names.entities[row.subject].sitelinks,
        )

    def _label(self, item: str | None) -> str | None:
        """The label of an item, if there is one and it has a name."""
        entity = self.names.entities.get(item or "")
        return entity.label if entity else None

    def _drop_reason(
        self,
        row: QuestionCandidate,
        question_form: str,
        right: set[str],
        shortcuts: Sequence[str | None],
    ) -> str | None:
        """Why the names in a question, its facts and its answers forbid to ask it."""
        if row.answers and not _of_two(row) and any(name in question_form for name in right):
            return "answer_in_question"
        if self._alike(row, self._facts(row)):
            return "one_name"
        if right & {normalize_or_keep(name or "") for name in shortcuts}:
            return "shortcut"
        return None

    def in_context(
        self, row: QuestionCandidate, asked_question: ReasoningQuestion
    ) -> ReasoningQuestion | Dropped:
        """The same question behind facts: those it needs, of the same timelines, then of others."""
        lines = dict.fromkeys(asked_question.evidence)
        if len(lines) > _FACTS:
            return _drop(row, "many_facts", asked_question.question)
        pairs = {(segment.subject, segment.relation) for segment in self._facts(row)}
        near = [segment for pair in sorted(pairs) for segment in self.pairs[pair]]
        near.sort(key=lambda segment: seeded_hash(self.seed, row.id, *segment.statements))
        for segment in chain(near, self._from_somewhere(row, self.every)):
            if len(lines) == _FACTS:
                break
            lines.setdefault(self.names.sentence(segment))
        shuffled = sorted(
            lines, key=lambda line: seeded_hash(self.seed, "context", asked_question.id, line)
        )
        context = "\n".join(f"- {line}" for line in shuffled)
        return replace(
            asked_question,
            id=row_id("context", asked_question.id),
            prompt=f"{_INTRODUCTION}\n\nFacts:\n{context}\n\nQuestion: {asked_question.question}",
            context=context,
        )

    def _facts(self, row: QuestionCandidate) -> list[Segment]:
        """The terms that the answer follows from; none where one of them has no sentence."""
        order = {relation: place for place, relation in reversed(list(enumerate(row.relations)))}
        facts = {self.terms[key] for key in product(order, row.statements) if key in self.terms}
        if not {statement for segment in facts for statement in segment.statements}.issuperset(
            row.statements
        ):
            return []
        return sorted(
            facts,
            key=lambda segment: (
                order[segment.relation],
                segment.start_last or date.min,
                segment.object,
            ),
        )

    def _alike(self, row: QuestionCandidate, facts: Sequence[Segment]) -> bool:
        """Whether two items of the question, or of a chain's facts, have one name, or in questions
        for an item one's name holds the other's."""
        items = set(row.items)
        if row.family == "chain":
            items |= {item for fact in facts for item in (fact.subject, fact.object)}
        forms = [normalize_or_keep(self.names.name(item)) for item in items]
        within = [f" {form} " in f" {other_form} " for form, other_form in permutations(forms, 2)]
        return len(set(forms)) < len(forms) or (bool(row.answers) and any(within))

    def _wrong(self, row: QuestionCandidate, right: set[str], most: int) -> list[str]:
        """Wrong choices, `most` at most; the nearest timelines come first."""
        if row.answer in _YES_NO:
            return [choice for choice in _YES_NO if choice != row.answer]
        if row.answer:
            number = int(row.answer)
            near = [number + offset for offset in (-1, 1, 2, -2, 3) if number + offset > 0]
            return [
                str(offset)
                for offset in sorted(
                    near, key=lambda offset: seeded_hash(self.seed, row.id, offset)
                )[:most]
            ]
        given_items, groups = {*row.answers, *row.items}, self._near(row)
        if row.wording == "longer":
            given_items, groups = {*row.answers}, iter([row.others])
        wrong_labels: dict[str, str] = {}
        for item in chain.from_iterable(groups):
            if item in self.names.entities and item not in given_items:
                label = self.names.name(item)
                if (form := normalize_or_keep(label)) not in right:
                    wrong_labels.setdefault(form, label)
            if len(wrong_labels) == most:
                break
        return list(wrong_labels.values())

    def _near(self, row: QuestionCandidate) -> Iterator[Iterable[str]]:
        """Objects of the same timeline, of those that share one with it, and of the relation."""

        def drawn(items: Iterable[str]) -> list[str]:
            return sorted(items, key=lambda item: seeded_hash(self.seed, row.id, item))

        yield drawn(row.others)
        shared = {
            holder for o in (*row.others, *row.answers) for holder in self.holders[o, row.relation]
        }
        yield drawn(
            {segment.object for holder in shared for segment in self.pairs[holder, row.relation]}
        )
        yield self._from_somewhere(row, list(self.pool[row.relation]))

    def _from_somewhere(self, row: QuestionCandidate, items: Sequence[T]) -> Iterator[T]:
        """All items, from a drawn one on."""
        start = seeded_index(len(items), self.seed, row.id) if items else 0
        return chain(items[start:], items[:start])


def _of_two(row: QuestionCandidate) -> bool:
    """Whether a question has two answers to choose from: yes and no, or the two that it names."""
    return row.wording == "longer" or row.answer in _YES_NO


def _wrong_choices(row: QuestionCandidate) -> int:
    """How many wrong choices stand beside the right one."""
    return 1 if _of_two(row) else 3


def _answer_kind(row: QuestionCandidate) -> AnswerKind:
    if row.answers:
        return "item"
    return "yes_no" if row.answer in _YES_NO else "number"


def _drop(row: QuestionCandidate, reason: str, detail: str) -> Dropped:
    return Dropped(
        step="reasoning",
        reason=reason,
        item=row.id,
        subject=row.subject,
        relation=row.relation,
        detail=detail,
    )
