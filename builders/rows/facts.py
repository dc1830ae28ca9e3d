"""Facts of Wikidata, their timelines, and what two dumps say of them."""

from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Literal

from factdrift.builders.core.schema import MEASURED, MEASURED_IF

# Statements of the third rank, `deprecated`, are never read.
Rank = Literal["normal", "preferred"]
# Reasons for which an object may have held although its statement is no fact.
GapReason = Literal["undated", "contradictory", "unlabelled_object", "object_kind", "unknown_value"]
# Nothing is asked about a subject without a name, so that a statement about one is no gap either.
NoFact = Literal[GapReason, "unlabelled_subject"]
# The end of an open segment is the snapshot day, which differs between two dumps that agree.
_WHILE_OPEN = MEASURED_IF + "end_open"
# How the changes are told apart is written at the top of `builders.facts.snapshot_diff`.
Change = Literal["new", "added", "obsolete", "static", "returned", "corrected", "removed"]


@dataclass(frozen=True, slots=True)
class StatedInterval:
    """An interval of one Wikidata statement: the first columns of all tables of statements."""

    statement: Annotated[str, "Wikidata statement id, with `$`"]
    subject: Annotated[str, "item id of the subject, redirects resolved"]
    relation: Annotated[str, "property id"]
    object: Annotated[str | None, "item id of the object; null where the value is unknown"]
    start_first: Annotated[date | None, "earliest possible first day (P580); null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day (P582); null: unknown or open"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown or open"]
    end_open: Annotated[bool, "true: no end is stated; false with a null end: ended, day unknown"]


@dataclass(frozen=True, slots=True)
class StatedFact(StatedInterval):
    """One validity interval of one Wikidata statement; nothing is inferred yet."""

    object: Annotated[str, "item id of the object, redirects resolved"]
    point: Annotated[bool, "true: held on one day inside the interval (P585 alone)"]
    sighting: Annotated[
        bool, "true: seen on a day from `end_first` to `start_last` (P585 alone of a state)"
    ]


@dataclass(frozen=True, slots=True)
class Fact(StatedFact):
    """One validity interval of one Wikidata statement, as one dump states it."""

    rank: Annotated[Rank, "rank of the statement; deprecated ones are never facts"]
    snapshot: Annotated[date, "day of the dump that states it"]


@dataclass(frozen=True, slots=True)
class Statement(StatedInterval):
    """One interval of one Wikidata statement about an item, of any relation, as mining keeps it.

    Relations are selected, and sightings turned into points, only later (`builders.facts.stated`),
    so that a dump need not be read again for another recipe.
    """

    sighting: Annotated[bool, "true: P585 alone: seen on a day from `end_first` to `start_last`"]
    rank: Annotated[Rank, "rank of the statement; deprecated ones are left out"]
    reason: Annotated[NoFact | None, "why it is no fact; null: it is one"]
    kind: Annotated[str | None, "kind of wiki page that the object is; null: a thing in the world"]
    snapshot: Annotated[date, "day of the dump that states it"]


@dataclass(frozen=True, slots=True)
class Gap(StatedInterval):
    """An interval in which an object may have held; all dates null and open: at any time.

    It gives no answer. The recipe says what happens to a comparison that it touches.
    """

    reason: Annotated[GapReason, "why it is no fact"]
    rank: Annotated[Rank, "rank of the statement; deprecated ones are never gaps"]
    snapshot: Annotated[date, "day of the dump that states it"]


@dataclass(frozen=True, slots=True)
class Entity:
    """An item or property that a fact names."""

    id: Annotated[str, "Wikidata id"]
    label: Annotated[str, "English label, else the `mul` label; empty: none, kept for its life"]
    aliases: Annotated[tuple[str, ...], "English and `mul` aliases, sorted, without the label"]
    enwiki: Annotated[str | None, "title of the English Wikipedia page; null: none"]
    sitelinks: Annotated[int, "number of sitelinks: the first measure of popularity"]
    statements: Annotated[int, "number of statements of any kind: the second measure"]
    facts: Annotated[
        int, "dated facts of any relation with this subject: the paper's measure of popularity"
    ]
    began_first: Annotated[date | None, "earliest day of birth or inception (P569, P571)"] = None
    began_last: Annotated[date | None, "latest day of birth or inception; null: unknown"] = None
    ended_first: Annotated[date | None, "earliest day of death or dissolution (P570, P576)"] = None
    ended_last: Annotated[date | None, "latest day of death or dissolution; null: not ended"] = None
    classes: Annotated[tuple[str, ...], "items that it is an instance of (P31), sorted"] = ()
    description: Annotated[str | None, "English description, else the `mul` one"] = None
    country: Annotated[
        str | None,
        "label of its only jurisdiction (P1001), else of its only country (P17); null: none",
    ] = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that was left out, and why."""

    step: Annotated[str, "step that dropped it: read, mine, diff, a filter's name"]
    reason: Annotated[str, "short reason, counted in the manifest"]
    item: Annotated[str, "what was dropped: file:line, statement id or row id"]
    subject: Annotated[str | None, "item id of the subject, where there is one"] = None
    relation: Annotated[str | None, "property id, where there is one"] = None
    period: Annotated[str | None, "period, where it is one comparison that was dropped"] = None
    score: Annotated[float | None, "the filter's score, where it has one"] = None
    detail: Annotated[str | None, "what was seen"] = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a timeline: the same object without a gap, several facts merged."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object"]
    start_first: Annotated[date | None, "earliest possible first day; null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day; null: unknown", _WHILE_OPEN]
    end_last: Annotated[date | None, "latest possible last day; null: unknown", _WHILE_OPEN]
    end_open: Annotated[bool, "true: no end is stated; it is taken to hold until the snapshot day"]
    end_inferred: Annotated[
        bool, "true: this end is not stated; a successor or an overlapping term of another tells it"
    ]
    rival: Annotated[
        bool, "true: another object may hold its place, so it may have held and surely never did"
    ]
    statements: Annotated[tuple[str, ...], "ids of the statements behind it, sorted"]
    snapshot: Annotated[date, "day of the dump that states it", MEASURED]
    # By keyword alone, so that the tables with more columns may have some without a default.
    stale_until: Annotated[
        date | None,
        "last day on which it would surely hold if it were not stale; null: it is not",
        MEASURED,
    ] = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """One accepted answer."""

    id: Annotated[str, "item id"]
    label: Annotated[str, "English label, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "other accepted names, sorted"]


@dataclass(frozen=True, slots=True)
class SubjectName:
    """How texts name a subject beside its label, so that no other one is meant."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    name: Annotated[str, "its label, and in brackets its country or description"]


@dataclass(frozen=True, slots=True)
class OfficeName:
    """An office whose label offices of other countries have, too."""

    id: Annotated[str, "item id"]
    label: Annotated[str, "its label"]
    name: Annotated[str, "its label, and its country in brackets"]
    names: Annotated[tuple[str, ...], "ways of writing it with its country"]


@dataclass(frozen=True, slots=True)
class AmbiguousRow:
    """A row that another subject of the same name would answer in another way."""

    key: Annotated[str, "what the row is called in its step"]
    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    rivals: Annotated[str, "item ids of the other subjects, joined by spaces"]


@dataclass(frozen=True, slots=True)
class Namesake:
    """An item whose name others have, in the same place of the same relation."""

    id: Annotated[str, "item id"]
    role: Annotated[Literal["subject", "object"], "the place"]
    name: Annotated[str | None, "what texts call it; null: nothing tells it from the others"]
    description: Annotated[str | None, "the description in `name`; null: there is none in it"]


@dataclass(frozen=True, slots=True)
class ItemNames:
    """An item, and the descriptions of others of its name (an intermediate table)."""

    id: Annotated[str, "item id"]
    role: Annotated[Literal["subject", "object"], "the place in which they stand"]
    name: Annotated[str, "its label, or that and its country"]
    description: Annotated[str | None, "its description"]
    others: Annotated[tuple[str, ...], "descriptions of the others; empty texts: none"]


@dataclass(frozen=True, slots=True)
class NameConflict:
    """A row, and another subject of its name with another answer (an intermediate table)."""

    key: Annotated[str, "what the row is called in its step"]
    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    name: Annotated[str, "what both are called"]
    description: Annotated[str | None, "description of the subject"]
    rival: Annotated[str, "item id of the other subject"]
    rival_description: Annotated[str | None, "its description"]
    objects: Annotated[tuple[Answer, ...], "all objects of the subject and relation, in no order"]


@dataclass(frozen=True, slots=True)
class FactChange:
    """The change of one term of a (subject, relation, object) between two dumps.

    The dates of each dump are those of this segment at its own snapshot day. They are null where
    the dump does not have it or states no date, and the end is null where it is open.
    """

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object"]
    change: Annotated[
        Change,
        "static (the same days), new, obsolete (it ended between the dumps), returned (it held "
        "before the older dump, not at it, and again after it), added (older or undated, and not "
        "in the older dump), corrected (an editor's change of days) or removed (an editor's)",
    ]
    differs: Annotated[
        tuple[str, ...], "what an editor corrected: `start`, `end` or both; empty: nothing"
    ]
    old_start_first: Annotated[date | None, "older dump: earliest possible first day"]
    old_start_last: Annotated[date | None, "older dump: latest possible first day"]
    old_end_first: Annotated[
        date | None, "older dump: earliest possible last day; null: unknown or open"
    ]
    old_end_last: Annotated[
        date | None, "older dump: latest possible last day; null: unknown or open"
    ]
    old_end_open: Annotated[bool | None, "older dump: no end is stated; null: not in it"]
    new_start_first: Annotated[date | None, "newer dump: earliest possible first day"]
    new_start_last: Annotated[date | None, "newer dump: latest possible first day"]
    new_end_first: Annotated[
        date | None, "newer dump: earliest possible last day; null: unknown or open"
    ]
    new_end_last: Annotated[
        date | None, "newer dump: latest possible last day; null: unknown or open"
    ]
    new_end_open: Annotated[bool | None, "newer dump: no end is stated; null: not in it"]
    old_statements: Annotated[tuple[str, ...], "ids of the older dump's statements, sorted"]
    new_statements: Annotated[tuple[str, ...], "ids of the newer dump's statements, sorted"]
    old_snapshot: Annotated[date, "day of the older dump"]
    new_snapshot: Annotated[date, "day of the newer dump"]


@dataclass(frozen=True, slots=True)
class SeenFact(StatedFact):
    """A fact on both axes of time: when it held, and which dumps stated it so."""

    rank: Annotated[Rank, "rank of the statement in the newest dump that has it"]
    first_seen: Annotated[date, "day of the oldest of the dumps that states it so"]
    last_seen: Annotated[date, "day of the newest of the dumps that states it so", MEASURED]


@dataclass(frozen=True)
class Labelled:
    """What releases add to a row: its own id, and a name for each id of an entity or relation."""

    id: Annotated[str, "content hash of what the row names"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation_label: Annotated[str, "name of the relation"]
    object_label: Annotated[str, "English label of the object, else the `mul` label"]


@dataclass(frozen=True)
class Dated(Labelled):
    """Valid time as people write it."""

    valid_from: Annotated[
        str | None,
        "start at its precision: `2019-07-24`, `2019-07`, `2019`, `201X` (a decade), "
        "`2019-03-01/2019-05-31` (between two days); null: unknown",
    ]
    valid_to: Annotated[str | None, "end at its precision; null: unknown, or open (`end_open`)"]


@dataclass(frozen=True)
class ReleasedFact(SeenFact, Dated):
    """A fact with names and both axes of time: valid time, and the snapshots that state it."""


@dataclass(frozen=True)
class ReleasedSegment(Segment, Dated):
    """A segment of a timeline with names.

    Columns: `id`, `subject_label`, `relation_label`, `object_label`, `valid_from`, `valid_to`, then
    those of `Segment`.
    """


@dataclass(frozen=True)
class ReleasedChange(FactChange, Labelled):
    """What became of a fact between two dumps, with names."""
