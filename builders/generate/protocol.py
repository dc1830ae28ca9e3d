"""Requests to language models, and their results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from threading import Lock
from typing import Literal

from factdrift.builders.rows import Article, Candidate

PATTERNS, FACTS = "parse", "facts"
"""The generators of questions by patterns, and about facts."""


@dataclass(frozen=True, slots=True)
class Request:
    """Write one question that `candidate` of `article` answers, asked on `question_day`."""

    article: Article
    candidate: Candidate
    question_day: date


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

Shape = Literal["question", "answer", "verdict"]
"""The form of a model's text, where the model can be held to one (JSON by a schema)."""

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
