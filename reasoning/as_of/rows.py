"""Row types of `as-of`."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import MEASURED, RENDERED
from factdrift.builders.rows.roles import ColumnRoles

PassageSource = Literal["statement", "news", "page"]
Age = Literal["00-02 months", "03-11 months", "12-35 months", "36 months and more"]


@dataclass(frozen=True, slots=True)
class DatedPassage:
    """One text of the corpus, and the fact that it states."""

    id: Annotated[str, "content hash of source, day and text"]
    day: Annotated[date, "the day from which on it may be known"]
    text: Annotated[str, "the passage; empty where the text of news stays out", RENDERED]
    source: Annotated[PassageSource, "a statement of the dump in words, or where a sentence is of"]
    late: Annotated[bool, "of a statement: whether it comes long after what it states began"]
    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id of the relation"]
    object: Annotated[str, "item id of the object"]
    object_label: Annotated[str, "its label"]
    since: Annotated[date, "the last possible day on which the fact began"]
    statements: Annotated[tuple[str, ...], "ids of the statements that say it, sorted"]
    place: Annotated[
        str | None,
        "where a sentence stands: a passage of `factdrift corpus`, or page, revision and paragraph",
    ]
    start: Annotated[int | None, "its first character there"]
    end: Annotated[int | None, "the character after its last"]


@dataclass(frozen=True, slots=True)
class AsOfQuestion:
    """One question about a day, asked on that day or later."""

    roles: ClassVar = ColumnRoles(
        previous="earlier",
        later="later",
        time=("as_of",),
        subject="subject",
        history=("subject", "relation"),
        strata=("relation", "superseded", "age"),
        popularity=("sitelinks",),
    )

    id: Annotated[str, "content hash of subject, relation and both days"]
    prompt: Annotated[str, "what a system is asked", RENDERED]
    targets: Annotated[tuple[str, ...], "accepted answers, labels before aliases", RENDERED]
    question: Annotated[str, "the question", RENDERED]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "its label"]
    relation: Annotated[str, "property id of the relation"]
    as_of: Annotated[date, "the day that is asked about"]
    asked_on: Annotated[date, "the day of asking: passages up to it may be known"]
    superseded: Annotated[str, "whether a newer object may be known when it is asked: yes or no"]
    age: Annotated[Age, "how long before the day asked about its fact began"]
    answer_ids: Annotated[tuple[str, ...], "item ids of the answers"]
    earlier: Annotated[
        tuple[str, ...], "names of what held before that day, and not on it", RENDERED
    ]
    later: Annotated[
        tuple[str, ...], "names of what held after that day, and neither before nor on it", RENDERED
    ]
    evidence: Annotated[tuple[str, ...], "ids of the passages that state the answer"]
    stale: Annotated[tuple[str, ...], "ids of the passages that state another answer of the fact"]
    statements: Annotated[tuple[str, ...], "ids of the statements that it follows from, sorted"]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)", MEASURED]


@dataclass(frozen=True, slots=True)
class AskedDay:
    """A day on which what holds is known (an intermediate table)."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id of the relation"]
    as_of: Annotated[date, "the day"]
    objects: Annotated[tuple[str, ...], "item ids of all that holds then, sorted"]
    statements: Annotated[tuple[str, ...], "ids of the statements that say so, sorted"]
    since: Annotated[date, "the last possible day on which one of them began"]
