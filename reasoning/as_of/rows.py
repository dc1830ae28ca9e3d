"""Row types of `as-of`."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import MEASURED, RENDERED
from factdrift.builders.rows.roles import ColumnRoles

PassageSource = Literal["news", "page", "statement"]
Age = Literal["00-02 months", "03-11 months", "12-35 months", "36 months and more"]
QuestionKind = Literal["newest", "older", "change", "before", "two-hops", "abstain", "corrected"]
DAY_VERDICTS = {"right": "current", "outdated": "stale", "early": "early"}
"""What verdicts are called where a day is asked about on a later day (`as-of`): an answer is
current, was true before, or only later. To abstain is current where there is nothing to know."""


@dataclass(frozen=True, slots=True)
class DatedPassage:
    """One passage of the corpus, whether it states a fact or not."""

    id: Annotated[
        str, "of news the id of its passage in a BEIR export, of others a hash of source and text"
    ]
    day: Annotated[date, "the day from which on it may be known"]
    title: Annotated[str, "title of the page; empty for other sources"]
    text: Annotated[str, "the passage; empty where the text of news stays out", RENDERED]
    source: Annotated[PassageSource, "news, a page, or a statement of the dump in words"]
    place: Annotated[
        str | None,
        "where it stands: a passage of `factdrift corpus`, or page, revision and paragraph",
    ]


@dataclass(frozen=True, slots=True)
class PassageFact:
    """One fact that a passage states; a passage may state several, most state none."""

    passage: Annotated[str, "id of the passage"]
    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id of the relation"]
    object: Annotated[str, "item id of the object"]
    object_label: Annotated[str, "its label"]
    since: Annotated[date, "the last possible day on which the term of the fact began"]
    day: Annotated[date, "day of the passage"]
    relation_word: Annotated[
        str, "the word of the text that states the relation; empty: none is needed"
    ]
    is_current: Annotated[bool, "whether the text says that it holds on the passage's day"]
    is_change: Annotated[bool, "whether the text tells as its news that it began"]
    stated_from: Annotated[date | None, "the day from which on it held, as the text says"]
    stated_until: Annotated[date | None, "the day until which it held, as the text says"]
    start: Annotated[int, "first character of the sentence in the passage's text"]
    end: Annotated[int, "the character after its last"]
    also_named: Annotated[
        tuple[str, ...], "item ids of other objects of this history that the passage names, sorted"
    ]
    statements: Annotated[tuple[str, ...], "ids of the statements that say it, sorted"]


@dataclass(frozen=True, slots=True)
class AsOfQuestion:
    """One question about a day, asked on that day or later."""

    roles: ClassVar = ColumnRoles(
        previous="earlier",
        later="later",
        time=("as_of",),
        subject="subject",
        history=("subject", "relation"),
        strata=("kind", "relation", "superseded", "age"),
        popularity=("sitelinks",),
    )

    id: Annotated[str, "content hash of kind, subject, relation, question and both days"]
    kind: Annotated[QuestionKind, "newest, older, change, before, two-hops, abstain or corrected"]
    prompt: Annotated[str, "what a system is asked", RENDERED]
    targets: Annotated[
        tuple[str, ...],
        "accepted answers, labels before aliases; none where to abstain is right",
        RENDERED,
    ]
    question: Annotated[str, "the question", RENDERED]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "its label"]
    relation: Annotated[str, "property id of the relation; of two hops that of the last"]
    as_of: Annotated[date, "the day that is asked about"]
    asked_on: Annotated[date, "the day of asking: passages up to it may be known"]
    superseded: Annotated[str, "whether a newer object may be known when it is asked: yes or no"]
    age: Annotated[Age, "how long before the day asked about its fact began"]
    answer_ids: Annotated[tuple[str, ...], "item ids of what held, also where nothing states it"]
    earlier: Annotated[
        tuple[str, ...], "names of what held before that day, and not on it", RENDERED
    ]
    later: Annotated[
        tuple[str, ...], "names of what held after that day, and neither before nor on it", RENDERED
    ]
    evidence: Annotated[
        tuple[str, ...], "ids of the passages that prove the answer for that day (judged 2)"
    ]
    supporting: Annotated[
        tuple[str, ...], "ids of the passages that state the same term on earlier days (judged 1)"
    ]
    unjudged: Annotated[
        tuple[str, ...], "ids of the passages that state the answer, but prove nothing of the day"
    ]
    stale: Annotated[
        tuple[str, ...], "ids of the passages that state the term of another object (judged 0)"
    ]
    statements: Annotated[tuple[str, ...], "ids of the statements that it follows from, sorted"]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)", MEASURED]


@dataclass(frozen=True, slots=True)
class CertainStretch:
    """Days in a row on which it is certain what holds (an intermediate table)."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id of the relation"]
    first: Annotated[date, "the first of the days"]
    last: Annotated[date, "the last of the days"]
    objects: Annotated[tuple[str, ...], "item ids of all that holds then, sorted"]
    statements: Annotated[tuple[str, ...], "ids of the statements that say so, sorted"]
    since: Annotated[date, "the last possible day on which one of them began"]


@dataclass(frozen=True, slots=True)
class ItemMention:
    """An article or page that names an item (an intermediate table)."""

    item: Annotated[str, "item id"]
    document: Annotated[str, "id of the article, as its passages have it before the number"]
    day: Annotated[date, "its day"]
