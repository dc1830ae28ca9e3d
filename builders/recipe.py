"""A recipe: what one dataset version is made from. One YAML file in `builders/recipes/`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from builders.cloze.dynamic_templama import DynamicTempLAMA
from builders.config import Strict, did_you_mean, load
from builders.errors import UserError
from builders.run import Input, Source, find
from builders.store import Store
from builders.wikidata.temporal_facts import TemporalFacts

Builder = Annotated[TemporalFacts | DynamicTempLAMA, Field(discriminator="builder")]
"""Every dataset builder; a recipe picks one with `build: {builder: …}`."""

FOLDER = Path(__file__).parent / "recipes"


class Recipe(Strict):
    """Inputs, parameters and seed of one dataset version, and what its card says."""

    dataset: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    version: Annotated[str, Field(pattern=r"^(auto|\d+\.\d+\.\d+)$")]
    title: str
    summary: str
    licence: str
    tags: tuple[str, ...] = ()
    prose: str | None = None
    """Name of the folder of `data_cards/` whose prose the card takes; the builder's by default."""
    seed: int = 0
    inputs: Mapping[str, Input]
    build: Builder

    @property
    def self_contained(self) -> bool:
        """Whether every input that it needs has a path, so that it runs without arguments."""
        return all(i.path or i.optional for i in self.inputs.values())


def read_recipe(path: Path) -> Recipe:
    """Read a recipe; `UserError` with file:line for every mistake in it."""
    return load(path, Recipe)


def recipes(folder: Path = FOLDER) -> dict[Path, Recipe]:
    """Every bundled recipe, by path."""
    return {path: read_recipe(path) for path in sorted(folder.glob("*.yaml"))}


def find_inputs(
    recipe: Recipe, path: Path, given: Mapping[str, str], store: Store
) -> dict[str, Source]:
    """The inputs of a run: those of the recipe, or, where any is given, the given ones alone.

    Mixing a given dump with the recipe's own older one would compare two different worlds; so a
    given input puts aside every path and checksum that the recipe names.
    """
    for name in given:
        if name not in recipe.inputs:
            raise UserError(
                f"the recipe has no input {name!r}{did_you_mean(name, recipe.inputs)}", where=path
            )
    found = {}
    for name, about in recipe.inputs.items():
        if name in given:
            loose = about.model_copy(update={"sha256": None, "snapshot": None})
            found[name] = find(name, loose, given[name], Path(), store)
        elif about.path and not given:
            found[name] = find(name, about, about.path, path.parent, store)
        elif not about.optional:
            raise UserError(
                f"input {name!r} is not given",
                where=path,
                hint=f"give it: make release RECIPE={path} {name.upper()}=path/to/the/file",
            )
    return found
