"""Every row type of every release.

A row is a frozen dataclass; each field is `Annotated[type, "what it is"]`. Parquet schemas
and the column tables of data cards are printed from here (see `builders.schema`), so a
column is described once. Dates are UTC days; `None` means unknown.
"""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

RENDERED = "rendered"
"""Marks a column that a template renders: a change of it alone is a patch version."""

Rank = Literal["normal", "preferred"]
Split = Literal["unchanged", "updated", "new", "deleted"]
Change = Literal["new", "obsolete", "static", "corrected", "removed"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One validity interval of one Wikidata statement, as stated; nothing is inferred yet."""

    statement: Annotated[str, "Wikidata statement id, with `$`"]
    subject: Annotated[str, "item id of the subject, redirects resolved"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object, redirects resolved"]
    start_first: Annotated[date | None, "earliest possible first day (P580); null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day (P582); null: unknown or open"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown or open"]
    end_open: Annotated[bool, "true: no end is stated; false with a null end: ended, day unknown"]
    point: Annotated[bool, "true: held on one day inside the interval (P585 alone)"]
    rank: Annotated[Rank, "rank of the statement; deprecated ones are never facts"]
    snapshot: Annotated[date, "day of the dump that states it"]


@dataclass(frozen=True, slots=True)
class Gap:
    """An interval in which a subject had a value that cannot be named.

    Nobody may say what changed there: the period diff takes the pair as in doubt.
    """

    statement: Annotated[str, "Wikidata statement id, with `$`"]
    subject: Annotated[str, "item id of the subject, redirects resolved"]
    relation: Annotated[str, "property id"]
    object: Annotated[str | None, "item id of the object; null where the value is unknown"]
    start_first: Annotated[date | None, "earliest possible first day; null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day; null: unknown or open"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown or open"]
    end_open: Annotated[bool, "true: no end is stated"]
    reason: Annotated[str, "why it is no fact: unlabelled_object, object_kind, unknown_value"]
    snapshot: Annotated[date, "day of the dump that states it"]


@dataclass(frozen=True, slots=True)
class Entity:
    """An item or property that a fact names."""

    id: Annotated[str, "Wikidata id"]
    label: Annotated[str, "English label, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "English and `mul` aliases, sorted, without the label"]
    enwiki: Annotated[str | None, "title of the English Wikipedia page; null: none"]
    sitelinks: Annotated[int, "number of sitelinks: the first measure of popularity"]
    statements: Annotated[int, "number of statements of any kind: the second measure"]
    facts: Annotated[int, "number of mined facts with this subject: the paper's measure"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that was left out, and why."""

    step: Annotated[str, "step that dropped it: read, mine, diff, a filter's name"]
    reason: Annotated[str, "short reason, counted in the manifest"]
    item: Annotated[str, "what was dropped: file:line, statement id or row id"]
    subject: Annotated[str | None, "item id of the subject, where there is one"]
    relation: Annotated[str | None, "property id, where there is one"]
    period: Annotated[str | None, "period, where it is one comparison that was dropped"]
    score: Annotated[float | None, "the filter's score, where it has one"]
    detail: Annotated[str | None, "what was seen"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a timeline: the same object without a gap, several facts merged."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object"]
    start_first: Annotated[date | None, "earliest possible first day; null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day; null: unknown"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown"]
    end_open: Annotated[bool, "true: no end is stated; it is taken to hold until the snapshot day"]
    end_inferred: Annotated[bool, "true: never closed, but an exclusive successor began"]
    statements: Annotated[tuple[str, ...], "ids of the statements behind it, sorted"]
    snapshot: Annotated[date, "day of the dump that states it"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One accepted answer."""

    id: Annotated[str, "item id"]
    label: Annotated[str, "English label, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "other accepted names, sorted"]


@dataclass(frozen=True, slots=True)
class Cloze:
    """One cloze query of one (subject, relation) in one period."""

    id: Annotated[str, "content hash of subject, relation, template and period"]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    template: Annotated[str, "relation and place of the cloze variant in its file, from 1: `P54/1`"]
    query: Annotated[str, "text with the object blanked; the same in every period", RENDERED]
    period: Annotated[str, "period t+1 that is asked about: `2021Q3`, `2021M07`, `2021`"]
    period_first: Annotated[date, "first day of the period"]
    period_last: Annotated[date, "last day of the period"]
    split: Annotated[Split, "what became of the answer set since the period before"]
    answers: Annotated[
        tuple[Answer, ...], "gold answers, by id; for `deleted`, those of the period before"
    ]
    previous_answers: Annotated[tuple[Answer, ...], "answers of the period before, by id"]
    added: Annotated[tuple[str, ...], "ids of the objects that came, sorted"]
    removed: Annotated[tuple[str, ...], "ids of the objects that went, sorted"]
    sitelinks: Annotated[int, "number of sitelinks of the subject (popularity)"]
    statements: Annotated[int, "number of statements of the subject (popularity)"]
    subject_facts: Annotated[int, "number of mined facts of the subject (the paper's popularity)"]
    answer_tokens: Annotated[
        tuple[int, ...],
        "tokens of each answer's label in the recipe's tokenizer, if any",
    ]
    views: Annotated[
        tuple[str, ...], "views that hold the row: multi_token, max_tokens_N, single_token"
    ]


@dataclass(frozen=True, slots=True)
class Delta:
    """How one (subject, relation) differs between a period and the one before (no text yet)."""

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    period: Annotated[int, "index of the period t+1 (`builders.dates.Period.index`)"]
    split: Annotated[Split, "unchanged, updated, new or deleted"]
    answers: Annotated[tuple[str, ...], "certain objects in t+1, by id; for `deleted`, those in t"]
    previous_answers: Annotated[tuple[str, ...], "certain objects in t, by id"]
    added: Annotated[tuple[str, ...], "in t+1 and not in t"]
    removed: Annotated[tuple[str, ...], "in t and not in t+1"]


@dataclass(frozen=True, slots=True)
class FactChange:
    """What became of one (subject, relation, object) between two dumps.

    Each side's dates are the hull of its segments at its own snapshot day, null throughout where
    the side does not have it. Open facts hold until that day.
    """

    subject: Annotated[str, "item id of the subject"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object"]
    change: Annotated[
        Change,
        "static, new, obsolete (it ended between the dumps), corrected (it lies wholly before "
        "the older dump: an editor's change) or removed (an editor's decision)",
    ]
    started_after_old: Annotated[
        bool | None, "of `new`: it began after the older dump's day; null: unknown"
    ]
    old_start_first: Annotated[date | None, "older dump: earliest possible first day"]
    old_start_last: Annotated[date | None, "older dump: latest possible first day"]
    old_end_first: Annotated[date | None, "older dump: earliest possible last day"]
    old_end_last: Annotated[date | None, "older dump: latest possible last day"]
    old_end_open: Annotated[bool | None, "older dump: no end is stated; null: not in it"]
    new_start_first: Annotated[date | None, "newer dump: earliest possible first day"]
    new_start_last: Annotated[date | None, "newer dump: latest possible first day"]
    new_end_first: Annotated[date | None, "newer dump: earliest possible last day"]
    new_end_last: Annotated[date | None, "newer dump: latest possible last day"]
    new_end_open: Annotated[bool | None, "newer dump: no end is stated; null: not in it"]
    old_statements: Annotated[tuple[str, ...], "ids of the older dump's statements, sorted"]
    new_statements: Annotated[tuple[str, ...], "ids of the newer dump's statements, sorted"]
    old_snapshot: Annotated[date, "day of the older dump"]
    new_snapshot: Annotated[date, "day of the newer dump"]


@dataclass(frozen=True, slots=True)
class SeenFact:
    """A fact on both axes of time: when it held, and which dumps stated it so."""

    statement: Annotated[str, "Wikidata statement id, with `$`"]
    subject: Annotated[str, "item id of the subject, redirects resolved"]
    relation: Annotated[str, "property id"]
    object: Annotated[str, "item id of the object, redirects resolved"]
    start_first: Annotated[date | None, "earliest possible first day (P580); null: unknown"]
    start_last: Annotated[date | None, "latest possible first day; null: unknown"]
    end_first: Annotated[date | None, "earliest possible last day (P582); null: unknown or open"]
    end_last: Annotated[date | None, "latest possible last day; null: unknown or open"]
    end_open: Annotated[bool, "true: no end is stated; false with a null end: ended, day unknown"]
    point: Annotated[bool, "true: held on one day inside the interval (P585 alone)"]
    rank: Annotated[Rank, "rank of the statement in the newest dump that has it"]
    first_seen: Annotated[date, "day of the oldest of the dumps that states it so"]
    last_seen: Annotated[date, "day of the newest of the dumps that states it so"]


@dataclass(frozen=True)
class Labelled:
    """A row's id, and names beside ids, as releases have them."""

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
    """A segment of a timeline with names."""


@dataclass(frozen=True)
class ReleasedChange(FactChange, Labelled):
    """What became of a fact between two dumps, with names."""


@dataclass(frozen=True, slots=True)
class NamedDelta(Delta):
    """A `Delta` with the names that its text needs (an intermediate table)."""

    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    sitelinks: Annotated[int, "number of sitelinks of the subject"]
    statements: Annotated[int, "number of statements of the subject"]
    subject_facts: Annotated[int, "number of mined facts of the subject"]
    names: Annotated[tuple[Answer, ...], "every object of the pair's answers, in no order"]


Subset = Literal["recent", "past"]
Part = Literal["eval", "train", "valid"]
AnswerType = Literal["entity", "date", "phrase"]
TimeSpec = Literal["none", "absolute", "relative", "own"]


@dataclass(frozen=True, slots=True)
class ArticleRef:
    """Where one article of a news archive lies; the text stays in the archive."""

    id: Annotated[str, "sorting key: day and sha256 of the third field, as the original has it"]
    day: Annotated[date, "UTC day of publication"]
    ts: Annotated[int, "UTC seconds at midnight of that day"]
    file: Annotated[str, "name of the archive file"]
    line: Annotated[int, "line in that file, from 1"]
    sentences: Annotated[int, "number of sentences, the headline among them"]
    sha256: Annotated[str, "sha256 of the base64 bytes of the unsplit text"]


@dataclass(frozen=True, slots=True)
class Article:
    """One article, as read; never released."""

    id: Annotated[str, "sorting key"]
    day: Annotated[date, "UTC day of publication"]
    sentences: Annotated[tuple[str, ...], "sentences of the split text, the headline first"]
    text: Annotated[str, "the sentences joined by line ends; character offsets count in it"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A few sentences of an article with its day in words, as a search index holds them."""

    id: Annotated[str, "id of the article, `_` and the number"]
    article: Annotated[str, "id of the article"]
    number: Annotated[int, "place of the passage in the article, from 0"]
    day: Annotated[date, "UTC day of publication"]
    text: Annotated[str, "`Thursday, February 7, 2019. ` and the sentences, joined by spaces"]
    sha256: Annotated[str, "checksum of the article: sha256 of the base64 of its unsplit text"]


@dataclass(frozen=True, slots=True)
class Draw:
    """A question date drawn for an article (StreamingQA, section 3.1)."""

    id: Annotated[str, "content hash of dataset, part, subset, draw number"]
    article: Annotated[str, "id of the article"]
    part: Annotated[Part, "eval, train or valid"]
    subset: Annotated[Subset, "recent or past"]
    article_day: Annotated[date, "UTC day of the article, d_c"]
    question_day: Annotated[date, "UTC day of the question, d_q"]
    quarter: Annotated[str, "quarter of the question day: `2020Q2`"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span of an article that can be an answer: `text[start:end]`."""

    start: Annotated[int, "first character in the article's text"]
    end: Annotated[int, "character after the last"]
    text: Annotated[str, "the span, unchanged"]
    type: Annotated[AnswerType, "entity, date or phrase (prepositional)"]
    label: Annotated[str | None, "finer type where the pipeline knows one: PERSON, GPE, DATE, …"]
    sentence: Annotated[int, "index of the sentence that holds it"]


@dataclass(frozen=True, slots=True)
class Question:
    """A generated question, on its way through the filters."""

    id: Annotated[str, "content hash of draw, answer span and generator"]
    draw: Annotated[Draw, "article, days and subset"]
    question: Annotated[str, "the question as generated, without time specification"]
    answer: Annotated[Candidate, "the span it was generated for"]
    generator: Annotated[str, "backend and model that wrote it"]


@dataclass(frozen=True, slots=True)
class NewsQuestion:
    """One question of StreamingQA: asked on a day, answered by an article of an earlier day."""

    id: Annotated[str, "content hash of draw, answer span and generator"]
    qa_id: Annotated[str, "the same, under the name that the original data set uses"]
    question: Annotated[str, "the question, with its time specification"]
    answers: Annotated[tuple[str, ...], "gold answers"]
    answers_additional: Annotated[tuple[str, ...], "further references, from people"]
    question_ts: Annotated[int, "UTC seconds at midnight of the question's day"]
    evidence_ts: Annotated[int, "UTC seconds at midnight of the article's day"]
    evidence_id: Annotated[str, "id of the article (WMT sorting key)"]
    recent_or_past: Annotated[Subset, "subset"]
    written_or_generated: Annotated[Literal["written", "generated"], "by people or by a backend"]
    toxicity_identity_attack: Annotated[float | None, "score in [0, 1]; null: not given"]
    toxicity_insult: Annotated[float | None, "score in [0, 1]; null: not given"]
    toxicity_profanity: Annotated[float | None, "score in [0, 1]; null: not given"]
    toxicity_severe_toxicity: Annotated[float | None, "score in [0, 1]; null: not given"]
    toxicity_sexually_explicit: Annotated[float | None, "score in [0, 1]; null: not given"]
    toxicity_threat: Annotated[float | None, "score in [0, 1]; null: not given"]
    split: Annotated[Part, "eval, train or valid; no article is in two of them"]
    quarter: Annotated[str, "quarter of the question's day: its corpus ends with it"]
    answer_type: Annotated[AnswerType, "entity, date or phrase"]
    answer_start: Annotated[int, "first character of the answer in the article's text"]
    time_spec: Annotated[TimeSpec, "absolute, relative, own (it had one) or none"]
    generator: Annotated[str, "backend and model that wrote it"]
    filters: Annotated[tuple[str, ...], "filters that it passed, in order"]
