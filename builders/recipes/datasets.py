"""The dataset builders by name: the project's table, and the entry points `factdrift.datasets`.

A package offers a builder in its `pyproject.toml`, as `two-hop = "two_hop.dataset:TwoHop"`. The
files `recipe.yaml` and `prose.md` are in the folder of the builder's module.
"""

import inspect
from pathlib import Path

from factdrift.builders.core.extensions import ExtensionPoint, ImportedTable
from factdrift.builders.core.files import resource
from factdrift.builders.core.run import DatasetBuilder

BUILDERS: ImportedTable[type[DatasetBuilder]] = ImportedTable(
    {
        "temporal-facts": "factdrift.builders.facts.temporal_facts:TemporalFacts",
        "dynamic-templama": "factdrift.builders.templama.dataset:DynamicTempLAMA",
        "invariant-lama": "factdrift.builders.invariant.dataset:InvariantLAMA",
        "timeqa": "factdrift.builders.timeqa.dataset:TimeQA",
        "wmt-question-dates": "factdrift.builders.wmt.dataset:WMTQuestionDates",
        "streamingqa": "factdrift.builders.streamingqa.dataset:StreamingQA",
        "ckl-questions": "factdrift.builders.ckl.questions:CKLQuestions",
        "ckl-clozes": "factdrift.builders.ckl.clozes:CKLClozes",
        "updated-lama": "factdrift.builders.ckl.lama:UpdatedLAMA",
        "new-lama": "factdrift.builders.ckl.lama:NewLAMA",
        "new-lama-easy-clozes": "factdrift.builders.ckl.easy:NewLAMAEasyClozes",
        "knowledge-edits": "factdrift.reasoning.edits.dataset:KnowledgeEdits",
        "new-lama-easy": "factdrift.builders.ckl.easy:NewLAMAEasy",
    }
)
"""The builders of this package by their names in `build.builder` of recipes."""


def _is_builder(candidate: object) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, DatasetBuilder)


DATASETS: ExtensionPoint[type[DatasetBuilder]] = ExtensionPoint(
    kind="dataset", ours=BUILDERS, accepts=_is_builder, expected="a DatasetBuilder"
)


def find_builder(name: str) -> type[DatasetBuilder]:
    """Return the builder with a name.

    Raises `ValueError` if no builder has the name, which a validator of recipes reports with its
    line, and `UserError` if the package of the builder is broken.
    """
    if name not in DATASETS.names():
        raise ValueError(f"no dataset builder {name!r}, {DATASETS.suggestion(name)}")
    return DATASETS.find(name)


def recipe_of(name: str) -> Path | None:
    """Return the recipe in the package of a builder, or None for builders of the project."""
    if not DATASETS.offers(name):
        return None
    return _module_folder(DATASETS.find(name)) / "recipe.yaml"


def prose_of(builder: type[DatasetBuilder], name: str) -> Path:
    """Return the path of the prose for a dataset's card.

    For the project's datasets it is in `data_cards/NAME`, for others beside the builder's module.
    """
    if f"{builder.__module__}:{builder.__qualname__}" in BUILDERS.places.values():
        return resource("data_cards") / name / "prose.md"
    return _module_folder(builder) / "prose.md"


def _module_folder(builder: type[DatasetBuilder]) -> Path:
    return Path(inspect.getfile(builder)).parent
