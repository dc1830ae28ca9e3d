"""Dated news, question dates and generated questions."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import RENDERED
from factdrift.builders.rows.roles import ColumnRoles

Subset = Literal["recent", "past"]
NewsSplit = Literal["eval", "train", "valid"]
QuestionSplit = Literal["eval", "train", "valid", "unjudged"]
AnswerType = Literal["entity", "date", "phrase"]
TimeSpec = Literal["none", "absolute", "relative", "own"]
# An event happens on a day, and a state lasts: both are asked about in other words.
About = Literal["event", "state"]


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

    id: Annotated[str, "content hash of dataset, split, subset, draw number"]
    article: Annotated[str, "id of the article"]
    split: Annotated[NewsSplit, "eval, train or valid; no article is in two of them"]
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
class Grounding:
    """The facts that a question is asked about, and what they say."""

    relation: Annotated[str, "property id"]
    subject: Annotated[str, "item id of the fact's subject"]
    object: Annotated[str, "item id of the fact's object"]
    about: Annotated[About, "event: it began; state: it held"]
    answers: Annotated[tuple[str, ...], "labels of all that the timeline accepts"]
    aliases: Annotated[tuple[str, ...], "their other names"]
    statements: Annotated[tuple[str, ...], "ids of the statements that say so, sorted"]
    holds: Annotated[
        bool | None, "whether the same is true on the question's day; null: it is in doubt"
    ]


@dataclass(frozen=True, slots=True)
class Question:
    """A generated question, on its way through the filters."""

    id: Annotated[str, "content hash of draw, answer span and generator"]
    draw: Annotated[Draw, "article, days and subset"]
    question: Annotated[str, "the question as generated, without time specification"]
    answer: Annotated[Candidate, "the span it was generated for"]
    generator: Annotated[str, "backend and model that wrote it"]
    time_spec: Annotated[TimeSpec | None, "of a question that is complete; null: not decided"] = (
        None
    )
    recent: Annotated[
        bool | None, "whether it asks about what happened lately; null: the draw decides"
    ] = None
    grounding: Annotated[Grounding | None, "the facts, where it is made of facts"] = None
    event_day: Annotated[
        date | None, "day of what happened, as the model that wrote it says; null: it says none"
    ] = None


@dataclass(frozen=True, slots=True)
class NewsQuestion:
    """One question of StreamingQA: asked on a day, answered by an article of an earlier day."""

    roles: ClassVar = ColumnRoles(
        answers="answers",
        time=("question_ts",),
        subject="evidence_id",
        evidence="evidence_id",
        period="quarter",
        strata=(
            *("split", "quarter", "recent_or_past", "written_or_generated"),
            *("answer_type", "time_spec", "generator", "relation", "about"),
        ),
    )

    id: Annotated[
        str, "content hash of draw, answer span and generator; of draw and text if people wrote it"
    ]
    prompt: Annotated[
        str, "what a model is asked: `Today is Wednesday, May 6, 2020. ` and the question", RENDERED
    ]
    targets: Annotated[
        tuple[str, ...],
        "accepted answers: those of `answers`, then of `answers_additional`, each once",
        RENDERED,
    ]
    qa_id: Annotated[str, "the same, under the name that the original data set uses"]
    question: Annotated[str, "the question, with its time specification"]
    answers: Annotated[tuple[str, ...], "gold answers"]
    answers_additional: Annotated[
        tuple[str, ...], "further references: other names of facts' answers, answers of people"
    ]
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
    split: Annotated[
        QuestionSplit,
        "eval, train or valid, no article in two of them; unjudged: for eval, once people judge it",
    ]
    quarter: Annotated[str, "quarter of the question's day: its corpus ends with it"]
    answer_type: Annotated[AnswerType, "entity, date or phrase"]
    answer_start: Annotated[int, "first character of the answer in the article's text"]
    evidence_sentence: Annotated[
        int, "the line of the article's split text that holds the answer, from 0"
    ]
    time_spec: Annotated[TimeSpec, "absolute, relative, own (it had one) or none"]
    relation: Annotated[str | None, "property id of the fact that it asks about, if any"]
    about: Annotated[About | None, "of a fact: event, it began, or state, it held"]
    statements: Annotated[tuple[str, ...], "ids of the statements that it follows from"]
    holds: Annotated[
        bool | None, "whether the answer is still true on the question's day; null: not known"
    ]
    generator: Annotated[str, "backend and model that wrote it"]
    filters: Annotated[tuple[str, ...], "filters that it passed, in order"]
    judged: Annotated[Literal["yes", "no"], "whether people judged it, and found it good"] = "no"


@dataclass(frozen=True, slots=True)
class HumanAnswer:
    """What somebody answered who was given the article: the human baseline."""

    id: Annotated[str, "id of the question"]
    answer: Annotated[str | None, "the answer; null: no answer was found in the article"]
    exact_match: Annotated[float, "1 if it is one of the references after SQuAD normalisation"]
    f1: Annotated[float, "its best F1 with one of the references, in words, from 0 to 1"]
