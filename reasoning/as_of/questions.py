"""Questions with their judgments: drafts are drawn evenly by kind, then judged and written."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from factdrift.builders import rows
from factdrift.builders.core.hashing import row_id, seeded_hash
from factdrift.builders.facts.namesakes import REASON
from factdrift.builders.text.squad import normalize_or_keep
from factdrift.builders.wmt.passages import question_prefix
from factdrift.reasoning.as_of.drafts import AskableDraft
from factdrift.reasoning.as_of.judgments import Grade, judge
from factdrift.reasoning.as_of.rows import Age, AsOfQuestion, QuestionKind
from factdrift.reasoning.names import Verbalizer

_INTRODUCTION = (
    'Answer the question with a name, or with "unknown" if nothing that you have been given by '
    "today says it."
)
# One quarter, one year and three years, each with the longest number of days it can have.
_AGES: tuple[tuple[int, Age], ...] = (
    (92, "00-02 months"),
    (366, "03-11 months"),
    (1096, "12-35 months"),
)
_STEP = "as-of"
_MOST_ANSWERS = 3
"""Holders at one time beyond which nobody asks for them: members of a parliament, for example."""


@dataclass(slots=True)
class _Judgments:
    """Ids of passages by what they are worth; of several facts of one passage the best counts."""

    grades: dict[str, Grade] = field(default_factory=dict)

    def add(self, passage_id: str, grade: Grade) -> None:
        """Judge a passage, unless a better judgment of it is there."""
        order = get_args(Grade)
        earlier_grade = self.grades.get(passage_id)
        if earlier_grade is None or order.index(grade) < order.index(earlier_grade):
            self.grades[passage_id] = grade

    def ids(self, grade: Grade) -> tuple[str, ...]:
        """The sorted ids of the passages that are judged so."""
        return tuple(sorted(key for key, value in self.grades.items() if value == grade))


def judge_passages(draft: AskableDraft) -> _Judgments:
    """Judge every passage that states a fact of a draft's histories by the day of asking."""
    judgments = _Judgments()
    for hop in draft.hops:
        for fact in hop.history.facts_until(draft.asked_on):
            grade = judge(fact, hop.stretch.objects, hop.stretch.statements, draft.as_of)
            judgments.add(fact.passage, grade)
    return judgments


class QuestionWriter:
    """Makes rows of drafts, or says why a draft is not asked.

    `of_statements`: the passages are sentences made from facts. The same question may be asked of
    both corpora and has other answers in each, so that its id tells them apart.
    """

    def __init__(self, names: Verbalizer, *, of_statements: bool = False) -> None:
        self._names = names
        self._id_root = "as-of-statements" if of_statements else "as-of"

    def question(self, draft: AskableDraft) -> AsOfQuestion | rows.Dropped:
        """The row of a draft."""
        history, stretch = draft.history, draft.stretch
        question_id = row_id(
            self._id_root, draft.kind, history.key, draft.question, draft.as_of, draft.asked_on
        )
        accepted_names = self._names.accepted_names(stretch.objects)
        accepted_forms = set(map(normalize_or_keep, accepted_names))
        judgments = judge_passages(draft)
        reason = self._drop_reason(draft, judgments, accepted_forms)
        if reason:
            return rows.Dropped(
                step=_STEP,
                reason=reason,
                item=question_id,
                subject=history.subject,
                relation=history.relation,
                detail=draft.question,
            )
        ended_objects = history.ended_objects(draft.as_of)
        later_objects = {term.object for term in history.terms} - ended_objects
        is_superseded = history.is_superseded(stretch, draft.as_of, draft.asked_on)
        statements: set[str] = set()
        for hop in draft.hops:
            statements.update(hop.stretch.statements)
        return AsOfQuestion(
            id=question_id,
            kind=draft.kind,
            prompt=f"{question_prefix(draft.asked_on)}{_INTRODUCTION}\n{draft.question}",
            targets=() if draft.kind == "abstain" else accepted_names,
            question=draft.question,
            subject=history.subject,
            subject_label=self._names.name(history.subject),
            relation=history.relation,
            as_of=draft.as_of,
            asked_on=draft.asked_on,
            superseded="yes" if is_superseded else "no",
            age=_age((draft.as_of - stretch.since).days),
            answer_ids=stretch.objects,
            earlier=self._other_names(ended_objects, stretch.objects, accepted_forms),
            later=self._other_names(later_objects, stretch.objects, accepted_forms),
            evidence=judgments.ids("proves"),
            supporting=judgments.ids("supports"),
            unjudged=judgments.ids("unjudged"),
            stale=judgments.ids("stale"),
            statements=tuple(sorted(statements)),
            sitelinks=self._names.entities[draft.hops[0].history.subject].sitelinks,
        )

    def _drop_reason(
        self, draft: AskableDraft, judgments: _Judgments, accepted_forms: Collection[str]
    ) -> str | None:
        """Why a draft is not asked, or None if it is."""
        answers = draft.stretch.objects
        if len(answers) > _MOST_ANSWERS:
            return "too_many_answers"
        if not accepted_forms or not self._names.entities.keys() >= set(answers):
            return "unlabelled_object"
        question_form = normalize_or_keep(draft.question)
        if any(form in question_form for form in accepted_forms):
            return "answer_in_question"
        if self._names.may_mean_others([draft.hops[0].history.subject], answers):
            return REASON
        return _judged_reason(draft.kind, judgments)

    def _other_names(
        self, objects: set[str], answers: Sequence[str], accepted_forms: Collection[str]
    ) -> tuple[str, ...]:
        """Return the names of objects that are no answer and have no name of one."""
        named_objects = sorted(objects.difference(answers) & self._names.entities.keys())
        other_names: list[str] = []
        for name in self._names.accepted_names(named_objects):
            if normalize_or_keep(name) not in accepted_forms:
                other_names.append(name)
        return tuple(other_names)


def _judged_reason(kind: QuestionKind, judgments: _Judgments) -> str | None:
    """Why a question of a kind is not asked with these judgments, or None if it is."""
    grades = set(judgments.grades.values())
    if kind == "abstain":
        return "stated_after_all" if grades - {"stale"} else None
    is_stated = "proves" in grades or (kind != "change" and "supports" in grades)
    return None if is_stated else "not_yet_stated"


def drawn_by_kind(
    drafts: Iterable[AskableDraft], seed: int
) -> dict[QuestionKind, list[AskableDraft]]:
    """The drafts of each kind in the order in which they are asked.

    Histories take turns, so that no history has a second question of a kind before each has one.
    """
    by_kind: dict[QuestionKind, list[tuple[int, AskableDraft]]] = defaultdict(list)
    seen_texts: set[tuple[object, ...]] = set()
    for draft in drafts:
        # The same question, asked a little later, is no other one.
        text_key = (draft.kind, draft.question, draft.as_of)
        if text_key not in seen_texts:
            seen_texts.add(text_key)
            order = seeded_hash(seed, "as-of", draft.history.key, *text_key)
            by_kind[draft.kind].append((order, draft))
    drawn: dict[QuestionKind, list[AskableDraft]] = {}
    for kind, ordered_drafts in by_kind.items():
        ordered_drafts.sort(key=lambda entry: entry[0])
        turns: dict[str, int] = defaultdict(int)
        in_turns: list[tuple[int, int, AskableDraft]] = []
        for order, draft in ordered_drafts:
            in_turns.append((turns[draft.history.key], order, draft))
            turns[draft.history.key] += 1
        in_turns.sort(key=lambda entry: entry[:2])
        drawn[kind] = [draft for _, _, draft in in_turns]
    return drawn


def shares(available: Mapping[QuestionKind, int], most: int) -> dict[QuestionKind, int]:
    """How many questions each kind gets: as evenly as their numbers allow.

    What a kind with few rows leaves goes to the others in equal parts.
    """
    granted: dict[QuestionKind, int] = {}
    rows_left = most
    by_size = sorted(available.items(), key=lambda entry: (entry[1], entry[0]))
    for place, (kind, count) in enumerate(by_size):
        granted[kind] = min(count, rows_left // (len(by_size) - place))
        rows_left -= granted[kind]
    return granted


def _age(days: int) -> Age:
    return next((name for upper_days, name in _AGES if days < upper_days), "36 months and more")
