"""What every step of a run is given: inputs, templates, the build folder, the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from builders.config import Strict
from builders.engine import EngineName
from builders.store import Store


class Input(Strict):
    """One input as the recipe names it; `path` is relative to the recipe: a file, a folder or a
    glob of shards. Without a path it is given on the command line; `optional` ones may be absent.
    """

    kind: Literal["wikidata", "news", "pages", "file"] = "wikidata"
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
