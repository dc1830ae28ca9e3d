"""The dataset builders by name: the project's table, and the entry points `factdrift.datasets`.

A package offers a builder in its `pyproject.toml`, as `two-hop = "two_hop.dataset:TwoHop"`. The
files `recipe.yaml` and `prose.md` are in the folder of the builder's module.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path

from factdrift.builders.ckl.clozes import CKLClozes
from factdrift.builders.ckl.easy import NewLAMAEasy, NewLAMAEasyClozes
from factdrift.builders.ckl.lama import NewLAMA, UpdatedLAMA
from factdrift.builders.ckl.questions import CKLQuestions
from factdrift.builders.core.extensions import ExtensionPoint
from factdrift.builders.core.files import resource
from factdrift.builders.core.run import DatasetBuilder
from factdrift.builders.facts.temporal_facts import TemporalFacts
from factdrift.builders.invariant.dataset import InvariantLAMA
from factdrift.builders.streamingqa.dataset import StreamingQA
from factdrift.builders.templama.dataset import DynamicTempLAMA
from factdrift.builders.timeqa.dataset import TimeQA
from factdrift.builders.wmt.dataset import WMTQuestionDates

BUILDERS: Mapping[str, type[DatasetBuilder]] = {
    "temporal-facts": TemporalFacts,
    "dynamic-templama": DynamicTempLAMA,
    "invariant-lama": InvariantLAMA,
    "timeqa": TimeQA,
    "wmt-question-dates": WMTQuestionDates,
    "streamingqa": StreamingQA,
    "ckl-questions": CKLQuestions,
    "ckl-clozes": CKLClozes,
    "updated-lama": UpdatedLAMA,
    "new-lama": NewLAMA,
    "new-lama-easy-clozes": NewLAMAEasyClozes,
    "new-lama-easy": NewLAMAEasy,
}
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
    if builder in BUILDERS.values():
        return resource("data_cards") / name / "prose.md"
    return _module_folder(builder) / "prose.md"


def _module_folder(builder: type[DatasetBuilder]) -> Path:
    return Path(inspect.getfile(builder)).parent
