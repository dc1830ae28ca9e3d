"""Dated news, question dates and generated questions."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import RENDERED
from factdrift.builders.rows.roles import ColumnRoles

Subset = Literal["recent", "past"]
NewsSplit = Literal["eval", "train", "valid"]
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
class Parse:
    """What a pipeline says of an article, token by token; never released."""

    article: Annotated[str, "id of the article"]
    sentences: Annotated[tuple[int, ...], "first token of each sentence after the headline"]
    starts: Annotated[tuple[int, ...], "first character of each token in the article's text"]
    ends: Annotated[tuple[int, ...], "character after its last"]
    heads: Annotated[tuple[int, ...], "the token that it depends on; a root depends on itself"]
    tags: Annotated[tuple[str, ...], "part of speech, as the Penn treebank has it"]
    deps: Annotated[tuple[str, ...], "kind of the dependency"]
    lemmas: Annotated[tuple[str, ...], "base form"]
    entities: Annotated[tuple[str, ...], "`B-PERSON`, `I-PERSON`; empty: no part of an entity"]


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

    roles: ClassVar = ColumnRoles(
        answers="answers",
        time=("question_ts",),
        subject="evidence_id",
        evidence="evidence_id",
        period="quarter",
        strata=(
            *("split", "quarter", "recent_or_past", "written_or_generated"),
            *("answer_type", "time_spec", "generator"),
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
    split: Annotated[NewsSplit, "eval, train or valid; no article is in two of them"]
    quarter: Annotated[str, "quarter of the question's day: its corpus ends with it"]
    answer_type: Annotated[AnswerType, "entity, date or phrase"]
    answer_start: Annotated[int, "first character of the answer in the article's text"]
    time_spec: Annotated[TimeSpec, "absolute, relative, own (it had one) or none"]
    generator: Annotated[str, "backend and model that wrote it"]
    filters: Annotated[tuple[str, ...], "filters that it passed, in order"]


@dataclass(frozen=True, slots=True)
class HumanAnswer:
    """What somebody answered who was given the article: the human baseline."""

    id: Annotated[str, "id of the question"]
    answer: Annotated[str | None, "the answer; null: no answer was found in the article"]
    exact_match: Annotated[float, "1 if it is one of the references after SQuAD normalisation"]
    f1: Annotated[float, "its best F1 with one of the references, in words, from 0 to 1"]
