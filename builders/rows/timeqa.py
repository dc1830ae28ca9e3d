"""Timelines aligned with text, and the time-sensitive questions made of them."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import RENDERED
from factdrift.builders.rows.facts import Answer, Dated, Segment
from factdrift.builders.rows.roles import ColumnRoles

# In the order in which they are tried; the first rule that holds aligns a segment.
AlignmentRule = Literal["link", "name", "similar", "none"]
Specifier = Literal["in", "between", "before", "after"]
Difficulty = Literal["easy", "hard"]
# The two ways to be unanswerable are told apart because only one of them depends on the page.
Answerable = Literal["yes", "not_in_page", "nothing_holds"]
Verification = Literal["automatic", "human"]
# How many boundaries of a segment the page states near the mention of its object.
EvidenceTier = Literal["both", "one", "none"]
Revision = Literal["object", "place", "span", "unanswerable", "time"]


@dataclass(frozen=True, slots=True)
class NamedSegment(Segment):
    """A segment of a timeline and the names of its object: what is looked for in a page."""

    object_label: Annotated[str, "English label of the object, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "other accepted names of the object, sorted"]
    object_title: Annotated[str | None, "title of its English Wikipedia page; null: none"]


@dataclass(frozen=True, slots=True)
class AlignedSegment(Segment):
    """A segment of a timeline and where its subject's page names the object."""

    object_label: Annotated[str, "English label of the object, else the `mul` label"]
    aliases: Annotated[tuple[str, ...], "other accepted names of the object, sorted"]
    page: Annotated[int, "page id; 0: not given"]
    revision: Annotated[int, "revision id; 0: not given"]
    rule: Annotated[
        AlignmentRule,
        "first rule that held: the object is linked, a name of it stands in the text, the text "
        "is similar (TF-IDF), or none: unanswerable from the page",
    ]
    paragraph: Annotated[int | None, "place of the paragraph in the page, from 0"]
    start: Annotated[int | None, "first character of the mention in the paragraph"]
    end: Annotated[int | None, "character after the last"]
    mention: Annotated[str | None, "the paragraph's `text[start:end]`"]
    score: Annotated[float | None, "similarity in [0, 1], of the rule `similar`"]
    start_stated: Annotated[
        bool | None, "whether its start's year is written near the mention; null: none, or nowhere"
    ]
    end_stated: Annotated[
        bool | None,
        "whether its end's year is; of an open one whether the page leaves it open (`since 2003`)",
    ]
    evidence: Annotated[
        EvidenceTier, "which boundaries the page states near the mention: both, one or none of them"
    ]
    contradicted: Annotated[
        bool, "whether dates stand beside the mention and none has the year of a boundary"
    ]
    verification: Annotated[Verification, "automatic, or human: people checked it"]


@dataclass(frozen=True)
class ReleasedAlignedSegment(AlignedSegment, Dated):
    """A segment of a timeline with names, and where its subject's page names the object."""


@dataclass(frozen=True, slots=True)
class PageSubject:
    """A subject with histories and the page that should tell them (an intermediate table)."""

    subject: Annotated[str, "item id of the subject"]
    label: Annotated[str, "English label of the subject, else the `mul` label"]
    title: Annotated[str, "title of its English Wikipedia page"]
    began: Annotated[date | None, "first day on which it certainly was; null: unknown"]
    ended: Annotated[date | None, "last day on which it certainly was; null: not ended, unknown"]


@dataclass(frozen=True, slots=True)
class Spans:
    """Answers as reading-comprehension trainers expect them, parallel lists."""

    text: Annotated[tuple[str, ...], "spans of the context"]
    answer_start: Annotated[tuple[int, ...], "first character of each in the context"]


@dataclass(frozen=True, slots=True)
class AddedParagraph:
    """A paragraph of another page in a context."""

    title: Annotated[str, "title of its page"]
    paragraph: Annotated[int, "its place in that page, from 0"]
    text: Annotated[str, "the paragraph, as it stands in the context"]


@dataclass(frozen=True, slots=True)
class TimeQuestion:
    """A question about one subject and relation at a time, over the subject's page."""

    roles: ClassVar = ColumnRoles(
        context="context",
        answers="answers",
        time=("time_last", "time_first"),
        subject="subject",
        history=("subject", "relation"),
        strata=(
            *("split", "difficulty", "specifier", "answerable"),
            *("relation", "template", "verification"),
        ),
    )

    id: Annotated[str, "content hash of subject, relation, template, specifier and its dates"]
    prompt: Annotated[str, "what a model is asked, over `context`: the question", RENDERED]
    targets: Annotated[
        tuple[str, ...],
        "accepted answers, best first: the labels of `objects`, then the page's words for them, "
        "then aliases, each once whatever its case; those that the page names first, of them first "
        "the object of `segment`; empty: unanswerable from it",
        RENDERED,
    ]
    title: Annotated[str, "title of the page"]
    context: Annotated[
        str,
        "the page's paragraphs, then those of `added`, joined by line ends; empty with "
        "`text: false`",
    ]
    question: Annotated[str, "the question with its time specifier", RENDERED]
    answers: Annotated[
        Spans,
        "where the context says the answer, in the order of `targets`; empty: unanswerable from it",
    ]
    objects: Annotated[
        tuple[Answer, ...],
        "every object that surely holds on some day of the time, by id; but of `easy` questions "
        "from A to B not what ends in A or begins in B; empty: nothing is known to",
    ]
    answerable: Annotated[
        Answerable,
        "yes; not_in_page: something holds, but the context does not name it; nothing_holds: no "
        "object is known to hold at the time",
    ]
    evidence: Annotated[
        EvidenceTier,
        "which boundaries of `segment` the page states near its mention: both, one or none",
    ]
    context_cut: Annotated[
        bool, "whether the paragraphs that name an answer are left out of the context"
    ]
    split: Annotated[str, "train, dev or test; a subject is in one of them"]
    difficulty: Annotated[Difficulty, "easy: the specifier is the segment's own boundaries"]
    specifier: Annotated[Specifier, "in, between, before or after"]
    time_first: Annotated[
        date | None, "first day of the time asked about (of its earliest unit); null: before …"
    ]
    time_last: Annotated[date | None, "last day of it (of its latest unit); null: after …"]
    subject: Annotated[str, "item id of the subject"]
    subject_label: Annotated[str, "English label of the subject, else the `mul` label"]
    relation: Annotated[str, "property id"]
    relation_label: Annotated[str, "name of the relation"]
    template: Annotated[str, "relation and place of the variant in its file, from 1: `P54/1`"]
    rules: Annotated[tuple[AlignmentRule, ...], "how each object was found, parallel to objects"]
    paragraphs: Annotated[tuple[int, ...], "paragraph of the page of each answer span, from 0"]
    segment: Annotated[
        str | None,
        "id of the segment that the question was made from, in `timelines` (of checked facts in "
        "`human_timelines`): easy and hard questions and probes of one fact share it; null: "
        "nothing holds at the time",
    ]
    segments: Annotated[tuple[str, ...], "ids of all segments that answer it, in order of time"]
    verification: Annotated[Verification, "automatic, or human: people checked the facts"]
    page: Annotated[int, "page id; 0: not given"]
    revision: Annotated[int, "revision id; 0: not given"]
    left_out: Annotated[
        tuple[int, ...],
        "paragraphs of the page that the context leaves out, from 0: with `context_cut` those that "
        "name an answer, else as many words of others, so that its length does not tell",
    ]
    added: Annotated[
        tuple[AddedParagraph, ...],
        "paragraphs of other pages behind those of the page, that hold no answer (`pool`)",
    ]
    context_sha256: Annotated[str, "sha256 of the context, hex: it can be checked when rebuilt"]


@dataclass(frozen=True, slots=True)
class TimeProbe(TimeQuestion):
    """The same question at another time inside the same segment (consistency, section 4.5)."""

    roles: ClassVar = replace(TimeQuestion.roles, group="probe_of")

    probe_of: Annotated[str, "id of the question whose specifier was moved"]
    probe: Annotated[int, "number of the perturbation, from 1"]


@dataclass(frozen=True)
class VerifiedSegment(ReleasedAlignedSegment):
    """A segment that people checked against its page, with what they changed."""

    segment: Annotated[str, "id of the segment in `timelines`; several rows where several hold"]
    revisions: Annotated[
        tuple[Revision, ...],
        "what people changed. object: another one; place: the same object, other words of the "
        "page; span: words for it where none were found; unanswerable: not in the page; time: the "
        "page does not give it, so that the segment is as good as not in the page. Empty: nothing",
    ]
    suggested: Annotated[str, "label of the object before people looked"]
    complete: Annotated[bool, "whether the whole history was checked, so that it is asked about"]


@dataclass(frozen=True, slots=True)
class ParaphrasedQuestion(TimeQuestion):
    """A question in people's words; its answers are those of the question that they were shown."""

    roles: ClassVar = replace(TimeQuestion.roles, group="paraphrase_of")

    question: Annotated[str, "the question as people put it, with the same time"]
    paraphrase_of: Annotated[str, "id of the question that was paraphrased"]
    templated: Annotated[str, "that question as it was made from a template", RENDERED]
    shown_from: Annotated[str, "dataset and version that it was shown from: `timeqa 1.0.0`"]
