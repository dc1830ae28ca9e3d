"""One run of one recipe: its inputs, its templates, its seed, and the build folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar, Self

from factdrift.builders.core.config import Strict
from factdrift.builders.core.dataset import Dataset
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.inputs import Kind
from factdrift.builders.core.steps import Step, Workspace

__outside_step_keys__ = True


class RecipeInput(Strict):
    """One input as the recipe names it.

    `kind`: what it holds, by default that of its name (dump, news, pages, …); `gold` is what people
    said of rows of the dataset, beside whatever else it is made from. `path`: a file, a folder, a
    glob or an address, relative to the recipe, without which it is given on the command line;
    `sha256`: the checksum that the file has to have; `licence`: that of the input, as SPDX names
    it; `snapshot`: its day, where no file name says it; `homepage`: where it comes from;
    `optional`: whether it may be absent.
    """

    kind: Kind = "wikidata"
    path: str | None = None
    sha256: str | None = None
    licence: str
    snapshot: date | None = None
    homepage: str | None = None
    optional: bool = False


@dataclass(frozen=True)
class Source:
    """An input that was found: its files, their checksums (sha256, hex) and what is said of it."""

    name: str
    files: tuple[Path, ...]
    sha256: tuple[str, ...]
    snapshot: date
    about: RecipeInput

    def key_data(self) -> list[object]:
        """What tells these files from others: their names, contents and day."""
        file_names = [file.name for file in self.files]
        return [file_names, list(self.sha256), self.snapshot.isoformat()]

    @property
    def mined(self) -> Path | None:
        """The folder, where the input is an already mined one (`statements.parquet` inside)."""
        return self.files[0].parent if self.files[0].name == "statements.parquet" else None


@dataclass(frozen=True)
class Run:
    """One run of one recipe: what it is made from, and where its steps are made."""

    recipe: Path
    inputs: Mapping[str, Source]
    templates: Path
    workspace: Workspace
    seed: int

    def folder(self, step: Step) -> Path:
        """The folder of a step, which is made unless it is there already."""
        return self.workspace.folder(step)


class DatasetBuilder(Strict):
    """What a recipe's `build:` holds: the parameters of a method, and the method itself."""

    tasks: ClassVar[tuple[str, ...]]
    """What the dataset is for, as the Hub names tasks."""
    citations: ClassVar[tuple[str, ...]]
    """The papers by their keys in `data_cards/papers.bib`, the method's own first."""
    layouts: ClassVar[tuple[str, ...]] = ()
    """The annotation layouts whose gold rows it takes."""

    builder: str
    """The name by which recipes ask for it; a subclass has its own as `Literal["…"]`."""

    def limited(self, rows: int) -> Self:
        """The same builder for a sample of at most so many rows; `UserError` where it has none."""
        message = f"the builder {self.builder!r} makes no limited release"
        raise UserError(message, hint="--limit is for streamingqa")

    def build(self, run: Run) -> Dataset:
        """The dataset that this run makes."""
        raise NotImplementedError
