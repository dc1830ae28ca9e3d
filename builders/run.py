"""What every step of a run is given: inputs, templates, the build folder, the engine."""

import glob
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from builders.config import Strict
from builders.engine import EngineName
from builders.errors import UserError
from builders.store import Store


class Input(Strict):
    """One input as the recipe names it; `path` is relative to the recipe: a file, a folder or a
    glob of shards. Without a path it is given on the command line; `optional` ones may be absent.
    """

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
    about: Input

    @property
    def mined(self) -> Path | None:
        """The folder, where the input is an already mined one (`facts.parquet` inside)."""
        return self.files[0].parent if self.files[0].name == "facts.parquet" else None


@dataclass(frozen=True)
class Run:
    """One run of one recipe. `jobs` are processes, `memory` is DuckDB's limit, like `2GB`."""

    inputs: Mapping[str, Source]
    templates: Path
    store: Store
    engine: EngineName
    jobs: int
    memory: str
    seed: int


_FACT_TABLES = ("facts.parquet", "entities.parquet", "gaps.parquet", "dropped.parquet")


def find(name: str, about: Input, path: str, base: Path, store: Store) -> Source:
    """The files of an input, with checksums. `UserError`: nothing there, or another checksum."""
    files = _files(base / path)
    if not files:
        raise UserError(f"input {name!r}: no such file", where=str(base / path))
    sums = tuple(store.checksum(f) for f in files)
    if about.sha256 is not None and sums != (about.sha256,):
        raise UserError(
            f"input {name!r}: sha256 is {', '.join(sums)}, the recipe says {about.sha256}",
            where=files[0],
            hint="get the file that the recipe names, or put the new checksum into the recipe",
        )
    return Source(name, files, sums, about)


def _files(path: Path) -> tuple[Path, ...]:
    if path.is_dir():
        if (path / "facts.parquet").is_file():
            return tuple(path / table for table in _FACT_TABLES)
        return tuple(sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != "."))
    if path.is_file():
        return (path,)
    return tuple(sorted(Path(p) for p in glob.glob(str(path)) if Path(p).is_file()))
