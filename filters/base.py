"""What a filter is: it gets questions with their articles and gives a verdict on each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import AnyModel, CachedModel
from factdrift.builders.generate.protocol import Query, Result
from factdrift.builders.rows import Article, Question
from factdrift.filters.toxicity.scores import ToxicityScores


@dataclass(frozen=True, slots=True)
class QuestionItem:
    """A question and the article that it was written for."""

    question: Question
    article: Article


@dataclass(frozen=True, slots=True)
class FilterVerdict:
    """The decision of a filter on one item."""

    keep: Annotated[bool, "false: the item is dropped"]
    reason: Annotated[str, "short reason, counted; empty where the item is kept"]
    score: Annotated[float | None, "what the filter measured, where it measures"] = None
    detail: Annotated[str | None, "the words that decided it, for the reader of `dropped`"] = None
    scores: Annotated[
        ToxicityScores | None, "of the toxicity filter, also where it keeps the item"
    ] = None


Items = Sequence[QuestionItem]
Verdicts = Sequence[FilterVerdict]
KEEP = FilterVerdict(True, "")
"""The verdict of a filter that keeps an item and measures nothing."""


class AnsweringModel(Protocol):
    """What the round trip needs of a question backend (`builders.generate.protocol.Backend`)."""

    def answer(self, queries: Sequence[Query]) -> Sequence[Result]:
        """One result a query, in their order; its text is None where it finds no answer."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of a search."""

    id: Annotated[str, "passage id: article id, `_`, index of the passage"]
    day: Annotated[date, "UTC day of publication"]
    score: Annotated[float, "relevance, higher is better"]
    text: Annotated[str, "text of the passage"]


class Search(Protocol):
    """A search engine over the corpus; `filters.search_index.Index` is one."""

    def search(self, query: str, until: date, k: int) -> list[SearchResult]:
        """The `k` best passages published on `until` or before, best first."""


class NameFinder(Protocol):
    """A finder of named entities, such as a spaCy pipeline."""

    def names(self, texts: Sequence[str]) -> Sequence[Sequence[str]]:
        """The named entities in each text."""


@dataclass(frozen=True)
class FilterContext:
    """What a run gives to its filters; `FilterRun` gives each filter its own `memory`."""

    answering: AnsweringModel | None = None
    search: Search | None = None
    names: NameFinder | None = None
    model: Annotated[Callable[[AnyModel], CachedModel] | None, "opens a language model, once"] = (
        None
    )
    cache: Annotated[Path | None, "folder for answers of paid services"] = None
    say: Callable[[str], None] = lambda text: None
    memory: Annotated[dict[Any, Any], "what filters remember within one run"] = field(
        default_factory=dict
    )

    def answering_model(self, own: AnyModel | None) -> AnsweringModel | None:
        """The model that a filter asks: its own, or the one that wrote the questions."""
        if own is None:
            return self.answering
        return self.model(own) if self.model else None


Need = Literal["answering", "search", "names", "model", "nothing"]
"""What a filter takes of its context: a field of `FilterContext`; `nothing`: it is free."""


class Filter(Protocol):
    """What the run needs of a filter, which is a frozen pydantic model with its parameters."""

    needs: ClassVar[frozenset[Need]]
    """What of the context it cannot do without."""

    @property
    def filter(self) -> str:
        """Its name in the recipe, and the `step` of the rows it drops."""

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """One verdict an item, in their order."""


class ItemFilter(Strict, ABC):
    """A filter that decides on each item by itself and asks the run for nothing."""

    needs: ClassVar[frozenset[Need]] = frozenset({"nothing"})

    @abstractmethod
    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Whether to keep the item."""

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """One verdict an item, in their order."""
        return [self.verdict(item) for item in items]


def missing_resource(name: str, what: str, step: str) -> UserError:
    """The error of a filter whose run was not given what it needs."""
    return UserError(
        f"the filter {step!r} needs {what}",
        hint=f"give the run one (`{name}`), or leave {step!r} out of the recipe's filters",
    )


def drop_if(bad: str | None, detail: str | None = None) -> FilterVerdict:
    """The verdict of a filter that measures nothing: `bad` is the reason to drop, None to keep."""
    return KEEP if bad is None else FilterVerdict(False, bad, detail=detail)
