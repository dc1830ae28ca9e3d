"""The base of all filters: a filter gets questions with their articles and judges each of them.

A filter of one question alone subclasses `ItemFilter`, any other one `Filter`. Both work the same
in `factdrift.filters` and in a package that offers them as `factdrift.filters` entry points.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from factdrift.builders.core.config import Strict
from factdrift.builders.core.errors import UserError
from factdrift.builders.generate.backends import AnyModel, CachedModel
from factdrift.builders.generate.fact_check import AnswerFacts
from factdrift.builders.generate.prompts import ModelSettings
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
    skipped: Annotated[bool, "kept without having been judged, for something lacks for it"] = False
    aliases: Annotated[tuple[str, ...], "further names of the answer that the filter knows"] = ()


Items = Sequence[QuestionItem]
Verdicts = Sequence[FilterVerdict]
KEEP = FilterVerdict(True, "")
"""The verdict that keeps an item and measures nothing."""
SKIPPED = FilterVerdict(True, "", skipped=True)
"""The verdict that keeps an item which could not be judged."""


class AnsweringModel(Protocol):
    """A model that answers questions, as the round trip needs it; language models are such."""

    def answer(self, queries: Sequence[Query]) -> Sequence[Result]:
        """Return a result for each query, in order; its text is None where it has no answer."""


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
        """Return the `k` best passages published on `until` or before, best first."""


class FactSource(Protocol):
    """What is known of answers; `builders.generate.fact_check.FactLookup` is one."""

    def look_up(self, questions: Sequence[Question]) -> Sequence[AnswerFacts | None]:
        """Return what timelines say about the answer of each question, None where nothing is."""


class NameFinder(Protocol):
    """A finder of named entities, such as a spaCy pipeline."""

    def names(self, texts: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the named entities in each text."""


@dataclass(frozen=True)
class FilterContext:
    """The resources that a run gives to its filters. Each filter gets a `memory` of its own."""

    answering: AnsweringModel | None = None
    search: Search | None = None
    names: NameFinder | None = None
    facts: Annotated[FactSource | None, "timelines of a dump; not every recipe has one"] = None
    model: Annotated[Callable[[AnyModel], CachedModel] | None, "opens a language model, once"] = (
        None
    )
    cache: Annotated[Path | None, "folder for answers of paid services"] = None
    say: Callable[[str], None] = lambda text: None
    memory: Annotated[dict[Any, Any], "what filters remember within one run"] = field(
        default_factory=dict
    )

    def answering_model(self, own_model: AnyModel | None) -> AnsweringModel | None:
        """Return a filter's own model, or without one the model that wrote the questions."""
        if own_model is None:
            return self.answering
        return self.model(own_model) if self.model else None


Need = Literal["answering", "search", "names", "model", "facts"]
"""The name of a resource that a filter may need: a field of `FilterContext`."""


class Filter(Strict, ABC):
    """One filter of a recipe: a frozen model that holds its parameters and judges questions.

    A subclass gives its name as `filter: Literal["no-acronyms"] = "no-acronyms"`, declares its
    parameters as fields, and writes `judge`.
    """

    needs: ClassVar[frozenset[Need]] = frozenset()
    """The resources of the context that it cannot do without."""
    cheap: ClassVar[bool] = False
    """Whether it costs next to nothing and looks at each question by itself. Such filters run
    first, while questions are still being written, so that a bad question is replaced."""
    reasons: ClassVar[Mapping[str, str]] = {}
    """A sentence for every reason that it drops a question for; cards print them."""

    filter: str
    """Its name in the recipe, and the `step` of the rows that it drops."""

    def resources(self) -> frozenset[Need]:
        """Return what it cannot do without, with these parameters; by default its `needs`."""
        return self.needs

    def own_model(self) -> AnyModel | None:
        """Return the language model that its parameters name: its `backend`, if it has one."""
        backend = getattr(self, "backend", None)
        return backend if isinstance(backend, ModelSettings) else None

    def expect(self, items: Items, context: FilterContext) -> None:
        """Called with items that may be judged soon, one by one, so that a filter that is faster
        over many can work ahead. Its verdicts must be the same without this call."""

    @abstractmethod
    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Return one verdict for each item, in their order.

        An item whose answer of a model waits (`protocol.WAITING`) is kept: the run ends before
        anything is released, and the filters after this one ask in the same round.
        """


class ItemFilter(Filter):
    """A filter that decides on each item by itself and needs nothing of the run."""

    cheap: ClassVar[bool] = True

    @abstractmethod
    def verdict(self, item: QuestionItem) -> FilterVerdict:
        """Decide whether to keep the item."""

    def judge(self, items: Items, context: FilterContext) -> Verdicts:
        """Return one verdict for each item, in their order."""
        return [self.verdict(item) for item in items]


class ModelFilter(Filter):
    """A filter that asks a language model about each question: by default the one that wrote it."""

    needs: ClassVar[frozenset[Need]] = frozenset({"model"})

    backend: AnyModel | None = None

    def open_model(self, context: FilterContext) -> CachedModel:
        """Return the model; `UserError` where there is none."""
        model = context.answering_model(self.backend)
        if not isinstance(model, CachedModel):
            raise missing_resource("model", "a language model", self.filter)
        return model


def queries_of(items: Items) -> list[Query]:
    """Return each question with its article and answer, as a model is asked about it."""
    queries = []
    for item in items:
        question = item.question
        query = Query(item.article, question.question, question.draw.question_day, question.answer)
        queries.append(query)
    return queries


def missing_resource(need: Need, description: str, filter_name: str) -> UserError:
    """Return the error of a filter whose run lacks a resource that it needs."""
    return UserError(
        f"the filter {filter_name!r} needs {description}",
        hint=f"give the run one (`{need}`), or leave {filter_name!r} out of the recipe's filters",
    )


def drop_if(reason: str | None, detail: str | None = None) -> FilterVerdict:
    """Return the verdict of a filter without a score: the item is kept where `reason` is None."""
    return KEEP if reason is None else FilterVerdict(False, reason, detail=detail)
