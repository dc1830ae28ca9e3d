"""The filters of a recipe with their resources; every question passes them here."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Annotated, Self

from factdrift.builders.core.config import Strict
from factdrift.builders.core.steps import NOT_IN_KEY, Workspace
from factdrift.builders.generate.backends import AnyModel, CachedModel, open_model
from factdrift.builders.generate.candidates import SpacyFinder
from factdrift.builders.generate.fact_check import FactLookup
from factdrift.builders.streamingqa.corpus import SearchIndex
from factdrift.builders.streamingqa.news_facts import NewsFacts
from factdrift.filters import AnyFilter
from factdrift.filters.base import FilterContext
from factdrift.filters.run import FilterRun, cheap_first
from factdrift.filters.search_index import Index


@dataclass(frozen=True)
class StartedFilters:
    """Running filters, the language models that they have opened so far, and other resources."""

    run: FilterRun
    models: list[CachedModel]
    resources: ExitStack

    def finish(self) -> None:
        """Close what was opened; raise a `UserError` where answers of a model are still to come."""
        self.resources.close()
        for model in self.models:
            model.finish()


def resources_of(filters: Iterable[AnyFilter]) -> frozenset[str]:
    """Return all that some filters need beside the questions: models, a search, names, facts."""
    return frozenset[str]().union(*(chosen_filter.resources() for chosen_filter in filters))


class QuestionFilters(Strict):
    """The filters of a recipe, and their resources.

    `index`: None where no filter searches; `news_facts`: None where no filter checks facts, or
    there are none; `writer`: the model that wrote the questions, if one did; `offline`: use cached
    answers alone.
    """

    filters: tuple[AnyFilter, ...]
    index: SearchIndex | None
    news_facts: NewsFacts | None
    writer: AnyModel | None
    seed: int
    offline: Annotated[bool, NOT_IN_KEY]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the filters, in the order in which they run."""
        return tuple(chosen_filter.filter for chosen_filter in cheap_first(self.filters))

    def without(self, filter_names: tuple[str, ...]) -> Self:
        """Return the same without the filters of these names."""
        remaining = tuple(
            chosen_filter
            for chosen_filter in self.filters
            if chosen_filter.filter not in filter_names
        )
        return self.model_copy(update={"filters": remaining})

    def start(self, workspace: Workspace, finder: SpacyFinder | None = None) -> StartedFilters:
        """Give the filters the resources that they need; `UserError` where one lacks something.

        Filters that use the same model share it. `finder`: one that is loaded already.
        """
        opened_models: list[CachedModel] = []

        def open_once(settings: AnyModel) -> CachedModel:
            new_model = open_model(
                settings, self.seed, workspace.work("answers"), offline=self.offline
            )
            for model in opened_models:
                same_model = (
                    model.identity == new_model.identity and model.prompts == new_model.prompts
                )
                if same_model and model.cutoff == new_model.cutoff:
                    return model
            opened_models.append(new_model)
            return new_model

        needs = resources_of(self.filters)
        context = FilterContext(
            model=open_once,
            search=Index(workspace.folder(self.index) / "index") if self.index else None,
            cache=workspace.work("scores"),
            say=workspace.say,
        )
        if self.writer and needs & {"answering", "model"}:
            context = replace(context, answering=open_once(self.writer))
        if "names" in needs:  # the pipeline takes seconds to load
            context = replace(context, names=finder or SpacyFinder())
        resources = ExitStack()
        if self.news_facts is not None and "facts" in needs:
            opened_facts = resources.enter_context(self.news_facts.opened(workspace))
            if opened_facts is not None:
                context = replace(context, facts=FactLookup(*opened_facts))
        return StartedFilters(FilterRun(self.filters, context), opened_models, resources)
