"""Row types of `temporal-reasoning`."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import MEASURED, RENDERED
from factdrift.builders.rows.roles import ColumnRoles

Family = Literal[
    "chain", "join", "neighbour", "order", "overlap", "duration", "offset", "count",
    "when", "ranking", "set",
]  # fmt: skip
AnswerKind = Literal["item", "yes_no", "number", "date", "list"]
_STRATA = ("family", "hops", "answer_kind", "relation")


@dataclass(frozen=True, slots=True)
class QuestionCandidate:
    """One question before it is written (an intermediate table).

    `wording` names the template of the family; `items` and `relations` are what it speaks of, in
    the order of the template's places.
    """

    id: Annotated[str, "content hash of what is asked"]
    family: Annotated[Family, "what has to be worked out"]
    hops: Annotated[int, "how many relations are followed, one after the other"]
    wording: Annotated[str, "name of the template among those of the family"]
    subject: Annotated[str, "item id of the subject that the question starts from"]
    relation: Annotated[str, "property id of the relation that gives the answer"]
    holder: Annotated[str, "item id of the subject whose timeline has the answer"]
    path: Annotated[str, "the relations of the question, from the subject on: `P54 P286`"]
    items: Annotated[tuple[str, ...], "item ids in the order of the template's places"]
    relations: Annotated[tuple[str, ...], "property ids in the order of the template's places"]
    as_of: Annotated[date, "the day that the question is about; of a stretch its last day"]
    since: Annotated[date | None, "the first day of the stretch that is asked about, if any"]
    number: Annotated[int | None, "the number in the question, if any"]
    answers: Annotated[
        tuple[str, ...], "item ids of the answers, of a list in its order; empty: it is no item"
    ]
    answer: Annotated[str | None, "the answer where it is no item: yes, no or a number"]
    statements: Annotated[tuple[str, ...], "ids of the statements that it follows from, sorted"]
    newest: Annotated[str | None, "of a chain: the newest object, followed at every hop"]
    longest: Annotated[str | None, "of a chain: the longest-held object, followed at every hop"]
    first_hop: Annotated[str | None, "shortcut: the answer of the first hop alone"]
    changed: Annotated[date, "last possible day on which one of its facts began"]
    turn: Annotated[int, "place among those of its family and number of hops, in drawn order"] = 0


@dataclass(frozen=True, slots=True)
class ReasoningQuestion:
    """One question that takes several facts, with the only answer that all readings allow.

    It stands alone, or behind a table of facts that holds those it needs, with the names of the
    source or with names that do not exist.
    """

    roles: ClassVar = ColumnRoles(
        choices="choices",
        answer_index="answer_index",
        free=True,
        time=("as_of",),
        subject="subject",
        group="question_id",
        twin="twin",
        strata=(*_STRATA, "path"),
        popularity=("sitelinks",),
    )

    id: Annotated[str, "content hash of what is asked"]
    prompt: Annotated[str, "what a model is asked", RENDERED]
    targets: Annotated[tuple[str, ...], "accepted answers, labels before aliases", RENDERED]
    question: Annotated[str, "the question", RENDERED]
    question_id: Annotated[str, "the id of the same question alone"]
    twin: Annotated[
        str | None, "of a row with invented names: the id of the row that has the real ones"
    ]
    context: Annotated[str, "the facts before it, one a line, shuffled; empty: none", RENDERED]
    family: Annotated[Family, "what has to be worked out"]
    hops: Annotated[int, "how many relations are followed, one after the other"]
    wording: Annotated[str, "name of the templates among those of the family"]
    variant: Annotated[int, "place of the template among those of that name, from 0"]
    subject: Annotated[str, "item id of the subject that the question starts from"]
    subject_label: Annotated[str, "its label"]
    relation: Annotated[str, "property id of the relation that gives the answer"]
    path: Annotated[str, "the relations of the question, from the subject on: `P54 P286`"]
    as_of: Annotated[date, "the day that the question is about; of a stretch its last day"]
    answer_kind: Annotated[AnswerKind, "an item, yes or no, a number, a date, or a list of items"]
    answer_ids: Annotated[
        tuple[str, ...], "item ids of the answers, of a list in its order; empty: it is no item"
    ]
    choices: Annotated[
        tuple[str, ...],
        "the answer and wrong ones from its own table, in a drawn order; empty: it has too few",
        RENDERED,
    ]
    answer_index: Annotated[
        int | None, "place of the answer among the choices, from 0; null: there are none"
    ]
    statements: Annotated[tuple[str, ...], "ids of the statements that it follows from, sorted"]
    evidence: Annotated[tuple[str, ...], "the facts that it follows from, in words", RENDERED]
    shortcut_first: Annotated[str | None, "label of the object that began first", RENDERED]
    shortcut_before_newest: Annotated[str | None, "label of the one before the newest", RENDERED]
    shortcut_newest: Annotated[str | None, "label of the object that began last", RENDERED]
    shortcut_longest: Annotated[str | None, "label of the object that held longest", RENDERED]
    shortcut_first_hop: Annotated[str | None, "label of the first hop's answer", RENDERED]
    table_size: Annotated[int, "objects of the answer's timeline that the question does not name"]
    changed: Annotated[date, "last possible day on which one of its facts began"]
    changed_since: Annotated[
        bool, "whether that lies within the last periods of the window, as the recipe says"
    ]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)", MEASURED]
