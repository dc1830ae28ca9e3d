"""Cloze queries with choices, of which one is right."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import MEASURED, RENDERED
from factdrift.builders.rows.cloze import Cloze, Split
from factdrift.builders.rows.facts import Answer
from factdrift.builders.rows.roles import ColumnRoles

# The column `choice_kinds` says what each kind is.
ChoiceKind = Literal["answer", "stale", "other_time", "shared_holder", "same_relation"]


@dataclass(frozen=True, slots=True)
class Distractor:
    """An object that is no answer, and may be offered beside one."""

    id: Annotated[str, "item id"]
    label: Annotated[str, "English label, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "other names, sorted"]
    kind: Annotated[ChoiceKind, "why it is hard"]
    place: Annotated[int, "its place among those of its kind, the hardest first, from 1"]


@dataclass(frozen=True, slots=True)
class OfferedCloze(Cloze):
    """A `Cloze` with what may be offered beside its answers (an intermediate table)."""

    distractors: Annotated[tuple[Distractor, ...], "in no order"]


@dataclass(frozen=True, slots=True)
class ChoiceCloze:
    """One cloze query of one (subject, relation) in one period, with choices."""

    roles: ClassVar = ColumnRoles(
        answers="answers",
        previous="previous_answers",
        choices="choices",
        answer_index="answer_index",
        time=("period_last",),
        subject="subject",
        history=("subject", "relation"),
        period="period",
        strata=("split", "period", "relation", "template"),
        popularity=("sitelinks", "statements", "subject_facts"),
    )

    id: Annotated[str, "content hash of the id of the cloze and of how many choices there are"]
    cloze: Annotated[str, "id of the same query without choices, in the config of its `split`"]
    prompt: Annotated[
        str,
        "what a model is asked, without the choices: the period in words, and the query",
        RENDERED,
    ]
    choices: Annotated[
        tuple[str, ...],
        "labels of one answer and of others, in an order drawn by the row's id",
        RENDERED,
    ]
    answer_index: Annotated[int, "place of the right one among `choices`, from 0"]
    targets: Annotated[
        tuple[str, ...],
        "accepted answers, best first: the label of the right choice, then those of the other "
        "`answers`, then aliases, each once",
        RENDERED,
    ]
    choice_ids: Annotated[tuple[str, ...], "item ids of the choices"]
    choice_kinds: Annotated[
        tuple[ChoiceKind, ...],
        "what each choice is. answer: the right one; stale: an answer of the period before that "
        "is none any more; other_time: an answer to the same query at another time, the nearest "
        "first; shared_holder: somebody else who had the right answer also had it; same_relation: "
        "the answer for another subject in the same period",
    ]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    template: Annotated[str, "the first cloze variant of the relation: `P54/1`"]
    query: Annotated[str, "text with the object blanked; the same in every period", RENDERED]
    period: Annotated[str, "period t+1 that is asked about: `2021Q3`, `2021M07`, `2021`"]
    period_first: Annotated[date, "first day of the period"]
    period_last: Annotated[date, "last day of the period"]
    split: Annotated[Split, "what became of the answer set since the period before"]
    answers: Annotated[
        tuple[Answer, ...], "gold answers, by id; for `deleted`, those of the period before"
    ]
    previous_answers: Annotated[tuple[Answer, ...], "answers of the period before, by id"]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)", MEASURED]
    statements: Annotated[int, "number of statements of the subject (popularity)", MEASURED]
    subject_facts: Annotated[
        int, "number of mined facts of the subject (the paper's popularity)", MEASURED
    ]
