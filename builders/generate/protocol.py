"""Requests to language models, and their results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from threading import Lock
from typing import Literal

from factdrift.builders.rows import AnswerType, Article, Candidate, Subset

FACTS = "facts"
"""The generator of questions about facts."""

Style = Literal["article", "candidates"]
"""How a model is asked: once for the news of an article, or once for each span of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """Write one question that `candidate` of `article` answers, asked on `question_day`."""

    article: Article
    candidate: Candidate
    question_day: date


@dataclass(frozen=True, slots=True)
class ArticleRequest:
    """Write at most `most` questions about the news of `article`, asked on `question_day`.

    `subset` decides whether each question has to say when (`past`).
    """

    article: Article
    question_day: date
    subset: Subset
    most: int


@dataclass(frozen=True, slots=True)
class WrittenPair:
    """One question of a model about an article, with its answer, as the model wrote them.

    `sentence` is the sentence of the article that holds the answer, `event` what happened by which
    the answer became known, and `event_day` the day on which it did, where the model says one.
    """

    question: str
    answer: str
    answer_type: AnswerType
    sentence: str
    event: str
    event_day: str = ""


@dataclass(frozen=True, slots=True)
class WrittenPairs:
    """What a model wrote about one article: pairs, none where it declined, or why there are none.

    `reason` is None where the model's text is of use, and `reason` and `detail` are those of a
    `Result` else.
    """

    pairs: tuple[WrittenPair, ...] = ()
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """Answer `question`, asked on `question_day`, from `article`; or judge it, with its answer."""

    article: Article
    question: str
    question_day: date
    answer: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The text that a backend gave for one request, or a short reason why there is none."""

    text: str | None
    reason: str | None = None
    detail: str | None = None


Kind = Literal["causal", "seq2seq", "masked"]
"""The kind of a model: it continues a text, writes another one, or fills in masks."""

Shape = Literal["question", "pairs", "answer", "guess", "verdict", "news", "toxicity"]
"""The form of a model's text, where the model can be held to one (JSON by a schema).

`pairs` is the answer of style `article`; `guess` is an answer without the article; `verdict` is
that of `lm_judge`, `news` that of `news_and_unique`, `toxicity` the six scores of a rubric.
"""

WAITING = "waiting"
"""The reason of a request in a batch file: its answer comes with a later run."""

OnResult = Callable[[int, Result], None]
"""Called with the index of a request and its result as soon as that is known, in any order."""


@dataclass
class Usage:
    """The cost of a model so far; many threads may add to it."""

    calls: int = 0
    """Forward passes, texts written by a model here, or calls of a server."""
    tokens_read: int = 0
    tokens_written: int = 0
    cut: int = 0
    """The number of prompts that were too long for the model, which read a part of each."""
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, *, calls: int = 1, read: int = 0, written: int = 0, cut: int = 0) -> None:
        """Count what one call cost."""
        with self._lock:
            self.calls += calls
            self.tokens_read += read
            self.tokens_written += written
            self.cut += cut
