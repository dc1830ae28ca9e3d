"""What every filter is made of: items in, verdicts out, and what it may ask the run for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

from builders.errors import UserError
from builders.questions.protocol import Query, Result
from builders.rows import Article, Question
from filters.toxicity.scores import ToxicityScores


@dataclass(frozen=True, slots=True)
class Item:
    """A question and the article that it was written for."""

    question: Question
    article: Article


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a filter says of one item."""

    keep: Annotated[bool, "false: the item is dropped"]
    reason: Annotated[str, "short reason, counted; empty where nothing is to be said"]
    score: Annotated[float | None, "what the filter measured, where it measures"] = None
    detail: Annotated[str | None, "what was seen, for the reader of `dropped`"] = None
    scores: Annotated[ToxicityScores | None, "of the toxicity filter, kept or not"] = None


KEEP = Verdict(True, "")
"""The verdict of a filter that measures nothing and has nothing against the item."""


class Answering(Protocol):
    """The part of `builders.questions.protocol.Backend` that the round trip needs."""

    def answer(self, queries: Sequence[Query]) -> Sequence[Result]:
        """One result a query, in their order; its text is None where it finds no answer."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    id: Annotated[str, "passage id: article id, `_`, index of the passage"]
    day: Annotated[date, "UTC day of publication"]
    score: Annotated[float, "relevance, higher is better"]
    text: Annotated[str, "text of the passage"]


class Search(Protocol):
    """A search engine over the corpus; `filters.search_index.Index` is one."""

    def search(self, query: str, until: date, k: int) -> list[Hit]:
        """The `k` best passages published on `until` or before, best first."""


class EntityFinder(Protocol):
    """A finder of named entities, such as a spaCy pipeline."""

    def entities(self, items: Sequence[Item]) -> Sequence[Sequence[str]]:
        """The named entities in each item's question."""


def quiet(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Context:
    """What the run lends its filters; `run` gives each run its own `memory`."""

    answering: Answering | None = None
    search: Search | None = None
    entities: EntityFinder | None = None
    cache: Annotated[Path | None, "folder for answers of paid services"] = None
    say: Callable[[str], None] = quiet
    memory: Annotated[dict[Any, Any], "what filters remember within one run"] = field(
        default_factory=dict
    )


class Filter(Protocol):
    """A frozen pydantic model; its fields are its parameters in the recipe."""

    @property
    def filter(self) -> str:
        """Its name in the recipe, and the `step` of the rows it drops."""

    def judge(self, items: Sequence[Item], context: Context) -> Sequence[Verdict]:
        """One verdict an item, in their order."""


@runtime_checkable
class Surveyor(Filter, Protocol):
    """A filter whose verdicts need a look at every item first, whatever their order."""

    def survey(self, items: Sequence[Item], context: Context) -> None:
        """Called with every batch before `judge` is called with the first."""


def needed(name: str, what: str, step: str) -> UserError:
    """The error of a filter whose run was not given what it needs."""
    return UserError(
        f"the filter {step!r} needs {what}",
        hint=f"give the run one (Context.{name}), or leave {step!r} out of the recipe's filters",
    )


def judged(bad: str | None, detail: str | None = None) -> Verdict:
    """The verdict of a filter that measures nothing: `bad` is why to drop, None to keep."""
    return KEEP if bad is None else Verdict(False, bad, detail=detail)
