"""Continual knowledge learning: news from which people make clozes, and those clozes."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, ClassVar, Literal

from factdrift.builders.core.schema import RENDERED
from factdrift.builders.rows.cloze import Views
from factdrift.builders.rows.roles import ColumnRoles

# What an expert found about the model's prediction in the old corpus; the column `grounds` says it.
Grounds = Literal["supported", "found", "not_found"]

# Types of columns that several rows of this module share, with their descriptions.
ArticleId = Annotated[str, "id of the article (WMT sorting key)"]
ArticleRowId = Annotated[str, "content hash of the article's id"]
ArticleDay = Annotated[date, "UTC day of the article"]
ClozePrompt = Annotated[
    str, "what a model is asked: `As of May 6, 2020: ` (the article's day) and the cloze", RENDERED
]
QueryPrompt = Annotated[
    str, "what a model is asked: `As of May 6, 2020: ` (the article's day) and the query", RENDERED
]
AnswerTargets = Annotated[tuple[str, ...], "accepted answers: `answer`", RENDERED]
AnswerTokens = Annotated[
    int | None, "tokens of the answer in the recipe's tokenizer; null: there is none"
]


@dataclass(frozen=True, slots=True)
class ArticleQuestions:
    """The questions, or the sentences with a gap, among which people choose for one article."""

    id: ArticleRowId
    evidence_id: ArticleId
    article_day: ArticleDay
    questions: Annotated[
        tuple[str, ...],
        "questions of a model, the latest event first, or sentences with a typed gap "
        "([BLANK-PERSON]) in the article's order",
    ]
    answers: Annotated[tuple[str, ...], "the span of the article that each is about"]
    generator: Annotated[str, "backend and model that wrote them; drafts: sentences with a gap"]


@dataclass(frozen=True, slots=True)
class ArticleWords:
    """What can be left out of the sentences of one recent article; people choose one."""

    id: ArticleRowId
    evidence_id: ArticleId
    article_day: ArticleDay
    candidates: Annotated[
        tuple[str, ...], "names, dates, numbers and nouns of the news, each once, in order"
    ]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where an article says it: characters of its sentences joined by line ends."""

    article: ArticleId
    day: ArticleDay
    start: Annotated[int, "first character"]
    end: Annotated[int, "character after the last"]


@dataclass(frozen=True, slots=True)
class NewsCloze:
    """A statement with a gap that a worker wrote, and what a model puts into the gap."""

    roles: ClassVar = ColumnRoles(
        answers="new_answer", time=("article_day",), subject="evidence_id", evidence="evidence_id"
    )

    id: Annotated[str, "content hash of article, statement and answer"]
    prompt: ClozePrompt
    targets: Annotated[tuple[str, ...], "accepted answers: `new_answer`", RENDERED]
    evidence_id: ArticleId
    article_day: ArticleDay
    cloze: Annotated[str, "the statement, with [BLANK] once"]
    new_answer: Annotated[str, "what belongs there, as the article has it"]
    answer_start: Annotated[int, "first character of the answer in the article's text"]
    question: Annotated[str, "the question, edited to stand alone"]
    generated_question: Annotated[str, "the question that was chosen, as generated"]
    prediction: Annotated[str | None, "what the model puts into the gap; null: nothing"]
    predictor: Annotated[str | None, "backend and model of the prediction; null: none was asked"]
    doubts: Annotated[tuple[str, ...], "what experts have to mend or overrule, a sentence each"]
    search: Annotated[str, "what the old corpus is searched for: statement, answer, prediction"]


@dataclass(frozen=True, slots=True)
class LamaCloze:
    """A cloze query on what a recent article says."""

    roles: ClassVar = ColumnRoles(
        answers="answer",
        time=("new_evidence.day",),
        subject="new_evidence.article",
        evidence="new_evidence.article",
        strata=("grounds", "views"),
    )

    id: Annotated[str, "content hash of article, statement and answer, as a worker wrote them"]
    prompt: QueryPrompt
    targets: AnswerTargets
    query: Annotated[str, "text with the answer blanked, as the expert left it"]
    answer: Annotated[str, "the new answer, as the article has it"]
    question: Annotated[str, "the same as a question, as the worker edited it"]
    new_evidence: Annotated[Evidence, "the answer in the recent article"]
    prediction: Annotated[str | None, "what the model said, as the expert saw it; null: nothing"]
    grounds: Annotated[
        Grounds,
        "supported: the old corpus says what the model said; found: it says something else; "
        "not_found: it says nothing",
    ]
    passages: Annotated[int, "passages of the old corpus that an expert was shown or opened"]
    searches: Annotated[tuple[str, ...], "what else the experts searched the old corpus for"]
    overruled: Annotated[tuple[str, ...], "doubts that both experts overruled"]
    clozes: Annotated[str, "dataset and version that the expert's row is from"]
    answer_tokens: AnswerTokens
    views: Views


@dataclass(frozen=True, slots=True)
class NewCloze(LamaCloze):
    """A cloze query whose answer the old corpus does not have."""


@dataclass(frozen=True, slots=True)
class UpdatedCloze(LamaCloze):
    """A cloze query that the old corpus answers otherwise."""

    roles: ClassVar = replace(LamaCloze.roles, previous="old_answer")

    old_answer: Annotated[str, "the answer of the old corpus"]
    old_evidence: Annotated[Evidence, "what the expert marked in the old corpus"]


@dataclass(frozen=True, slots=True)
class EasyCloze:
    """A sentence of a recent article with a word blanked, to be turned into a question."""

    roles: ClassVar = replace(NewsCloze.roles, answers="answer")

    id: Annotated[str, "content hash of article, sentence and word"]
    prompt: ClozePrompt
    targets: AnswerTargets
    evidence_id: ArticleId
    article_day: ArticleDay
    cloze: Annotated[str, "the sentence, rewritten if a backend was there, with [BLANK] once"]
    answer: Annotated[str, "the word or name that was blanked"]
    sentence: Annotated[int, "place of the sentence in the article, from 0 (the headline)"]
    decontextualiser: Annotated[
        str | None, "what made it stand alone: a model, or `annotator`; null: nothing"
    ]
    translators: Annotated[
        tuple[str, ...],
        "models of forward and back translation; none: the step was skipped",
    ]


@dataclass(frozen=True, slots=True)
class NewEasyCloze:
    """A sentence with a word blanked that two workers' questions lead back to."""

    roles: ClassVar = replace(LamaCloze.roles, strata=("views",))

    id: Annotated[str, "content hash of article, sentence and word"]
    prompt: QueryPrompt
    targets: AnswerTargets
    query: Annotated[str, "the sentence with the word blanked, as people saw it"]
    answer: Annotated[str, "the word or name"]
    questions: Annotated[tuple[str, ...], "the question of each worker, sorted"]
    new_evidence: Annotated[Evidence, "the word in the article"]
    clozes: Annotated[str, "dataset and version that the workers' row is from"]
    answer_tokens: AnswerTokens
    views: Views
