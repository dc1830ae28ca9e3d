"""Cloze queries of one period."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict

from factdrift.builders.core.schema import MEASURED, RENDERED
from factdrift.builders.rows.facts import Answer
from factdrift.builders.rows.roles import ColumnRoles

# What became of the answer set between two periods: see the table in `builders.facts.period_diff`.
Split = Literal["unchanged", "updated", "new", "deleted"]
Views = Annotated[
    tuple[str, ...],
    "views that hold the row: multi_token; max_tokens_N and single_token, where all answers are "
    "short enough; max_tokens_N_any and single_token_any, where at least one is",
]
# The text is shared by rows whose examples come from different relations and sets of wordings.
_TEMPLATE = (
    "relation and place of the cloze variant in its file, from 1: `{0}/1`; of a named wording "
    "`{0}/{1}/1`"
)


@dataclass(frozen=True, slots=True)
class Cloze:
    """One cloze query of one (subject, relation) in one period."""

    roles: ClassVar = ColumnRoles(
        answers="answers",
        previous="previous_answers",
        neutral="still_true",
        time=("period_last",),
        subject="subject",
        history=("subject", "relation"),
        period="period",
        strata=("split", "period", "relation", "template", "views"),
        popularity=("sitelinks", "statements", "subject_facts"),
    )

    id: Annotated[str, "content hash of subject, relation, template and period"]
    prompt: Annotated[
        str,
        "what a model is asked: the last day of the period, or the period in words, and the query; "
        "for `deleted` it is the period before, the last in which the fact surely held",
        RENDERED,
    ]
    targets: Annotated[
        tuple[str, ...],
        "accepted answers, best first: the labels of `answers` (without `still_true`), "
        "then their aliases, then the names of `possible_answers`, each once",
        RENDERED,
    ]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    template: Annotated[str, _TEMPLATE.format("P54", "dynamic-templama")]
    query: Annotated[str, "text with the object blanked; the same in every period", RENDERED]
    question: Annotated[str | None, "the same asked in a sentence, with its time", RENDERED]
    period: Annotated[str, "period t+1 that is asked about: `2021Q3`, `2021M07`, `2021`"]
    period_first: Annotated[date, "first day of the period"]
    period_last: Annotated[date, "last day of the period"]
    split: Annotated[Split, "what became of the answer set since the period before"]
    answers: Annotated[
        tuple[Answer, ...], "gold answers, by id; for `deleted`, those of the period before"
    ]
    previous_answers: Annotated[tuple[Answer, ...], "answers of the period before, by id"]
    still_true: Annotated[
        tuple[Answer, ...],
        "answers that were so before the update, by id; a prediction of one is neither right nor "
        "wrong; of `deleted`, those of the row of the period before",
    ]
    possible_answers: Annotated[
        tuple[Answer, ...], "objects stated without any date, by id: accepted, and never asked for"
    ]
    added: Annotated[tuple[str, ...], "ids of the objects that came, sorted"]
    removed: Annotated[tuple[str, ...], "ids of the objects that went, sorted"]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)", MEASURED]
    statements: Annotated[int, "number of statements of the subject (popularity)", MEASURED]
    subject_facts: Annotated[
        int, "number of mined facts of the subject (the paper's popularity)", MEASURED
    ]
    answer_tokens: Annotated[
        tuple[int, ...],
        "tokens of each answer's label in the recipe's tokenizer, if any",
    ]
    views: Views


@dataclass(frozen=True, slots=True)
class ParaphraseCloze(Cloze):
    """The same cloze query in another wording of its relation."""

    roles: ClassVar = replace(Cloze.roles, group="cloze")

    cloze: Annotated[str, "id of the query in the config of its `split`"]


@dataclass(frozen=True, slots=True)
class PromptFact:
    """A fact that prompts show with its answer, of a subject that no row asks about."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    relation: Annotated[str, "property id"]
    subject: Annotated[str, "item id of the subject"]
    prompt: Annotated[str, "what a model is asked, as the rows are"]
    answer: Annotated[str, "label of the one right answer"]


@dataclass(frozen=True, slots=True)
class NamedInvariant:
    """A fact that does not change, with its names (an intermediate table)."""

    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object"]
    object_label: Annotated[str, "English label of the object, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "other names of the object, sorted"]
    sitelinks: Annotated[int | None, "number of sitelinks of the subject; null: not known"]
    statements: Annotated[int | None, "number of statements of the subject; null: not known"]


@dataclass(frozen=True, slots=True)
class ToldInvariant(NamedInvariant):
    """A `NamedInvariant` whose text means no other subject (an intermediate table)."""

    subject_name: Annotated[str, "what texts call the subject: its label, or that and more"]


@dataclass(frozen=True, slots=True)
class TrexFact(NamedInvariant):
    """A line of a T-REx file as LAMA has them (an intermediate table)."""

    file: Annotated[str, "name of the file"]
    line: Annotated[int, "its line, from 1"]


@dataclass(frozen=True, slots=True)
class InvariantCloze:
    """One cloze query of one (subject, relation) whose only answer does not change."""

    roles: ClassVar = ColumnRoles(
        answers="answer",
        subject="subject",
        strata=("relation", "template", "source", "views"),
        popularity=("sitelinks",),
    )

    id: Annotated[str, "content hash of subject, relation and template"]
    prompt: Annotated[str, "what a model is asked: the query, as no time matters to it", RENDERED]
    targets: Annotated[
        tuple[str, ...], "accepted answers: the label of `answer`, then its aliases", RENDERED
    ]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    template: Annotated[str, _TEMPLATE.format("P19", "ckl")]
    query: Annotated[str, "text with the object blanked", RENDERED]
    question: Annotated[str | None, "the same asked in a sentence", RENDERED]
    answer: Annotated[Answer, "the one gold answer"]
    sitelinks: Annotated[
        int | None, "sitelinks of the subject (popularity); null: from T-REx", MEASURED
    ]
    source: Annotated[Literal["wikidata", "trex"], "where the fact is from: a dump, or T-REx"]
    answer_tokens: Annotated[
        int | None, "tokens of the answer's label in the recipe's tokenizer; null: there is none"
    ]
    views: Views


@dataclass(frozen=True, slots=True)
class Delta:
    """How one (subject, relation) differs between a period and the one before (no text yet)."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    period: Annotated[int, "index of the period t+1 (`builders.core.dates.Period.index`)"]
    split: Annotated[Split, "unchanged, updated, new or deleted"]
    answers: Annotated[tuple[str, ...], "certain objects in t+1, by id; for `deleted`, those in t"]
    previous_answers: Annotated[tuple[str, ...], "certain objects in t, by id"]
    possible_answers: Annotated[
        tuple[str, ...], "objects of undated statements that may hold in t+1, by id; of unchanged"
    ]
    still_true: Annotated[
        tuple[str, ...], "of the answers of `updated` those that also held in t, by id"
    ]
    added: Annotated[tuple[str, ...], "in t+1 and not in t"]
    removed: Annotated[tuple[str, ...], "in t and not in t+1"]


@dataclass(frozen=True, slots=True)
class NamedDelta(Delta):
    """A `Delta` with the names that its text needs (an intermediate table)."""

    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    sitelinks: Annotated[int, "number of sitelinks of the subject"]
    statements: Annotated[int, "number of statements of the subject"]
    subject_facts: Annotated[int, "number of mined facts of the subject"]
    names: Annotated[tuple[Answer, ...], "every object of the pair's answers, in no order"]


@dataclass(frozen=True, slots=True)
class ToldDelta(NamedDelta):
    """A `NamedDelta` whose text means no other subject (an intermediate table)."""

    subject_name: Annotated[str, "what texts call the subject: its label, or that and more"]
