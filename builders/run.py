"""What every step of a run is given: inputs, templates, the build folder, the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar, Literal

from builders.config import Strict
from builders.dataset import Dataset
from builders.engine import EngineName
from builders.store import Store


class Input(Strict):
    """One input as the recipe names it; `path` is relative to the recipe: a file, a folder or a
    glob of shards. Without a path it is given on the command line; `optional` ones may be absent.
    Of kind `gold`: what people said of rows of the dataset, beside whatever else it is made from.
    """

    kind: Literal["wikidata", "news", "pages", "gold", "file"] = "wikidata"
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
    about: Input

    @property
    def mined(self) -> Path | None:
        """The folder, where the input is an already mined one (`facts.parquet` inside)."""
        return self.files[0].parent if self.files[0].name == "facts.parquet" else None


@dataclass(frozen=True)
class Run:
    """One run of one recipe. `jobs` are processes, `memory` is DuckDB's limit, like `2GB`."""

    recipe: Path
    inputs: Mapping[str, Source]
    templates: Path
    store: Store
    engine: EngineName
    jobs: int
    memory: str
    seed: int


class DatasetBuilder(Strict):
    """What a recipe's `build:` holds: the parameters of a method, and the method itself."""

    tasks: ClassVar[tuple[str, ...]]
    """What the dataset is for, as the Hub names tasks."""
    citations: ClassVar[tuple[str, ...]]
    """BibTeX entries of the papers, the method's own first."""
    layouts: ClassVar[tuple[str, ...]] = ()
    """The annotation layouts whose gold rows it takes."""

    def build(self, run: Run) -> Dataset:
        """The dataset that this run makes."""
        raise NotImplementedError
