"""The dataset builders by name: ours in one table, everybody's by entry point.

A package offers one in its `pyproject.toml`: `[project.entry-points."factdrift.datasets"]` and
`two-hop = "two_hop.dataset:TwoHop"`. `recipe.yaml` and `prose.md` lie beside its module.
"""

import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from factdrift.builders.ckl.clozes import CKLClozes
from factdrift.builders.ckl.easy import NewLAMAEasy, NewLAMAEasyClozes
from factdrift.builders.ckl.lama import NewLAMA, UpdatedLAMA
from factdrift.builders.ckl.questions import CKLQuestions
from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.run import DatasetBuilder
from factdrift.builders.facts.temporal_facts import TemporalFacts
from factdrift.builders.invariant.dataset import InvariantLAMA
from factdrift.builders.streamingqa.dataset import StreamingQA
from factdrift.builders.templama.dataset import DynamicTempLAMA
from factdrift.builders.timeqa.dataset import TimeQA
from factdrift.builders.wmt.dataset import WMTQuestionDates

GROUP = "factdrift.datasets"

BUILDERS: Mapping[str, type[DatasetBuilder]] = {
    kind.model_fields["builder"].annotation.__args__[0]: kind  # type: ignore[union-attr]
    for kind in (
        *(TemporalFacts, DynamicTempLAMA, InvariantLAMA, TimeQA, WMTQuestionDates, StreamingQA),
        *(CKLQuestions, CKLClozes, UpdatedLAMA, NewLAMA, NewLAMAEasyClozes, NewLAMAEasy),
    )
}
"""Ours, by the name that each says itself."""


def find_builder(name: str) -> type[DatasetBuilder]:
    """The builder of a name; `ValueError` where there is none, `UserError` where it is broken."""
    if name in BUILDERS:
        return BUILDERS[name]
    if name in (offered := _offered()):
        return _loaded(offered[name])
    near = did_you_mean(name, [*BUILDERS, *offered])
    known = ", ".join([*BUILDERS, *offered])
    hint = f"did you mean {near!r}?" if near else f"there are {known}"
    raise ValueError(f"no dataset builder {name!r}, {hint}")


def recipe_of(name: str) -> Path | None:
    """The recipe that comes with the builder of somebody's package."""
    offered = {} if name in BUILDERS else _offered()
    return _folder(_loaded(offered[name])) / "recipe.yaml" if name in offered else None


def prose_of(kind: type[DatasetBuilder], name: str) -> Path:
    """The prose of a dataset's card: ours by name, somebody's beside her module."""
    ours = kind in BUILDERS.values()
    return resource("data_cards") / name / "prose.md" if ours else _folder(kind) / "prose.md"


def _offered() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=GROUP)}


def _loaded(entry: EntryPoint) -> type[DatasetBuilder]:
    package = entry.dist.name if entry.dist else entry.value
    try:
        kind = entry.load()
    except Exception as error:  # whatever the code of somebody raises when it is imported
        text = f"the dataset {entry.name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise UserError(text, where=package) from error
    if not (isinstance(kind, type) and issubclass(kind, DatasetBuilder)):
        raise UserError(f"{entry.value} is no DatasetBuilder", where=package)
    return kind


def _folder(kind: type[DatasetBuilder]) -> Path:
    return Path(inspect.getfile(kind)).parent
