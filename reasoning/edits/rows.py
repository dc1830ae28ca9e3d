"""Row types of `knowledge-edits`."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import MEASURED, RENDERED
from factdrift.builders.rows import Answer
from factdrift.builders.rows.roles import ColumnRoles

EditChange = Literal["updated", "new"]
QuestionKind = Literal[
    "statement", "completion", "question", "one hop", "two hops", "reverse", "same subject",
    "near subject",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnowledgeEdit:
    """One change of the answers to a subject and relation, as an edit of what a model knows."""

    roles: ClassVar = ColumnRoles(
        answers="answers",
        previous="previous_answers",
        neutral="still_true",
        time=("period_last",),
        subject="subject",
        history=("subject", "relation"),
        period="period",
        strata=("change", "period", "relation", "template"),
        popularity=("sitelinks",),
    )

    id: Annotated[str, "content hash of subject, relation and period"]
    prompt: Annotated[
        str, "a sentence up to its object, which an edit makes a model complete", RENDERED
    ]
    targets: Annotated[
        tuple[str, ...],
        "accepted answers, best first: the labels of `answers` (without `still_true`), then their "
        "aliases, then the names of `possible_answers`, each once",
        RENDERED,
    ]
    sequence: Annotated[int, "place in the order of edits, from 1: by period, relation, subject"]
    superseded: Annotated[bool, "whether a later edit of the release is of the same pair"]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    subject_name: Annotated[str, "the subject as `prompt` writes it", RENDERED]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    template: Annotated[str, "relation and place of the sentence in its file, from 1: `P54/1`"]
    question: Annotated[str, "the same asked in a sentence, on `period_last`", RENDERED]
    rephrases: Annotated[
        tuple[str, ...], "three other ways to ask, of the config `rephrases`", RENDERED
    ]
    change: Annotated[EditChange, "updated: there was another answer; new: there was none"]
    period: Annotated[str, "period in which it changed: `2021Q3`, `2021M07`, `2021`"]
    period_first: Annotated[date, "first day of the period"]
    period_last: Annotated[date, "last day of the period: the day after the change"]
    answers: Annotated[
        tuple[Answer, ...],
        "all that held on the last day of the period, by id; an office under a title that "
        "tells its country, its label among the aliases",
    ]
    previous_answers: Annotated[
        tuple[Answer, ...], "all that held on the last day of the period before, by id"
    ]
    still_true: Annotated[tuple[Answer, ...], "what is in both; neither right nor wrong"]
    possible_answers: Annotated[
        tuple[Answer, ...], "objects that may hold as well, by id: accepted, and never asked for"
    ]
    added: Annotated[tuple[str, ...], "ids of the objects that came, sorted"]
    removed: Annotated[tuple[str, ...], "ids of the objects that went, sorted"]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)", MEASURED]


@dataclass(frozen=True, slots=True)
class EditHop:
    """One relation that a question follows, with its answers on a day."""

    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "its label"]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    question: Annotated[str, "the question of this hop alone", RENDERED]
    cloze: Annotated[str, "a sentence of this hop up to its object", RENDERED]
    answers: Annotated[tuple[Answer, ...], "what answers it, by id"]


@dataclass(frozen=True, slots=True)
class EditQuestion:
    """A question by which one sees what an edit did: what should follow it, or stay untouched."""

    roles: ClassVar = ColumnRoles(
        answers="answers",
        previous="previous_answers",
        time=("as_of",),
        subject="subject",
        period="period",
        strata=("kind", "period", "relation"),
    )

    id: Annotated[str, "content hash of the edit and of what is asked"]
    prompt: Annotated[str, "what a model is asked", RENDERED]
    targets: Annotated[tuple[str, ...], "accepted answers, labels before aliases", RENDERED]
    edit: Annotated[str, "id of the edit in the config `edits`"]
    sequence: Annotated[int, "`sequence` of the edit"]
    period: Annotated[str, "`period` of the edit"]
    as_of: Annotated[date, "the day on which the answers hold: the last one of the period"]
    kind: Annotated[
        QuestionKind,
        "rephrases: statement (another sentence up to its object), completion (a noun phrase), "
        "question; portability: one hop, two hops (beyond the edit); reverse; locality: same "
        "subject (another relation), near subject (the same relation)",
    ]
    subject: Annotated[str, "item id of the subject that the text names"]
    subject_label: Annotated[str, "its label"]
    relation: Annotated[str, "property id of the relation that gives the answer"]
    relation_label: Annotated[str, "name of the relation"]
    path: Annotated[str, "the relations of the question, from the subject on: `P54 P286`"]
    question: Annotated[str, "the same asked in a sentence", RENDERED]
    rewordings: Annotated[tuple[str, ...], "other wordings of a question of several hops", RENDERED]
    answers: Annotated[tuple[Answer, ...], "what is right after the edit, by id"]
    previous_answers: Annotated[
        tuple[Answer, ...],
        "what was right on the last day of the period before, by id; empty: not known, or the same",
    ]
    hops: Annotated[tuple[EditHop, ...], "portability: the hops beyond the edit, in order"]
    previous_hops: Annotated[
        tuple[EditHop, ...], "portability: the same on the last day of the period before, if known"
    ]
    statements: Annotated[tuple[str, ...], "ids of the statements that it follows from, sorted"]


@dataclass(frozen=True, slots=True)
class EditChain:
    """A path of relations that begins with an edit (an intermediate table)."""

    subject: Annotated[str, "item id of the edit's subject"]
    relation: Annotated[str, "property id of the edit's relation"]
    as_of: Annotated[date, "last day of the edit's period, or of the period before"]
    path: Annotated[str, "the relations, from the edit's on: `P54 P286`"]
    items: Annotated[tuple[str, ...], "item ids of the objects that it goes through, in order"]
    answers: Annotated[tuple[str, ...], "item ids of the answers, sorted"]
    statements: Annotated[tuple[str, ...], "ids of the statements behind it, sorted"]


@dataclass(frozen=True, slots=True)
class EditNeighbour:
    """A fact that an edit must leave as it is (an intermediate table)."""

    subject: Annotated[str, "item id of the edit's subject"]
    relation: Annotated[str, "property id of the edit's relation"]
    as_of: Annotated[date, "last day of the edit's period"]
    kind: Annotated[QuestionKind, "same subject or near subject"]
    place: Annotated[int, "place among those of the kind, from 0, the best first"]
    near_subject: Annotated[str, "item id of the fact's subject"]
    near_relation: Annotated[str, "property id of the fact's relation"]
    objects: Annotated[tuple[str, ...], "item ids of its objects all the time, sorted"]
    statements: Annotated[tuple[str, ...], "ids of the statements behind it, sorted"]


@dataclass(frozen=True, slots=True)
class ReversibleEdit:
    """An edit whose object has its subject alone (an intermediate table)."""

    subject: Annotated[str, "item id of the edit's subject"]
    relation: Annotated[str, "property id of the edit's relation"]
    as_of: Annotated[date, "last day of the edit's period"]
    object: Annotated[str, "item id of the only object"]
    statements: Annotated[tuple[str, ...], "ids of the statements behind it, sorted"]
