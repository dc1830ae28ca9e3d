"""The result of a builder: tables, dropped rows, statistics, plots and metadata of a release.

These classes only hold data; `builders.release.publish.write_release` writes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import pyarrow as pa
from pydantic import AfterValidator, ConfigDict, Field

from factdrift.builders.core.schema import ROW_GROUP


def _inside(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or str(pure) != path or path == ".":
        raise ValueError(f"{path!r} is not a plain path inside the release")
    # Windows would take `\\` for a separator, and `C:` for a drive
    if "\\" in path or not path.isprintable() or path[1:2] == ":":
        raise ValueError(f"{path!r} is not a plain path inside the release")
    return path


RelativePath = Annotated[str, AfterValidator(_inside)]
"""A plain relative POSIX path that stays below the folder of a release."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


FORBID = ConfigDict(extra="forbid")
"""Makes a class of a manifest refuse fields that it does not have."""

Scalar = str | int | float | bool | None
"""A JSON scalar."""

Json = Scalar | Sequence["Json"] | Mapping[str, "Json"]
"""A JSON value, such as a parameter of a recipe."""


@dataclass(frozen=True)
class FromParquet:
    """Rows of a sorted Parquet file, those where each column in `where` has the given value.

    None in `where` stands for null. The rows keep their order, so the file must be sorted in the
    order of the release. Columns that the row type does not have are left out of the release.
    """

    path: Path
    where: Mapping[str, Scalar] = field(default_factory=dict)


RowSource = FromParquet | Callable[[], Iterable[pa.RecordBatch]]
"""The source of the rows of one split: a sorted file, or a function that makes the batches."""


@dataclass(frozen=True)
class Table:
    """One config as Hugging Face defines it: rows of one type in named splits.

    A split can be empty. If the row type has a column `id`, ids are unique over all splits of the
    table. `group` is the number of rows in a Parquet row group, which should be small if a row
    holds a whole page.
    """

    name: str
    row: type
    description: str
    splits: Mapping[str, RowSource]
    group: int = ROW_GROUP


@dataclass(frozen=True)
class Statistics:
    """A table of statistics for the card and the manifest, each row a scalar by column.

    A float is printed as a percentage if the name of its column starts with `share`.
    """

    __pydantic_config__ = FORBID

    name: str
    title: str
    rows: Sequence[Mapping[str, Scalar]]
    caption: str = ""


@dataclass(frozen=True)
class Plot:
    """A picture for the card, `plots/<name>.png`. `title` is also its alternative text.

    For the kind `periods`, `data` holds counts by series and period. Each series has its own panel,
    and a line across each bar shows the value of `expected`. For the kind `bars`, `data` holds
    counts by label and part, drawn as horizontal bars. Both keep the order of the mappings. `unit`
    names what is counted.
    """

    name: str
    kind: Literal["periods", "bars"]
    title: str
    caption: str
    data: Mapping[str, Mapping[str, int]]
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unit: str = "rows"


@dataclass(frozen=True)
class Dataset:
    """All contents of a release that are made from data.

    `dropped` are sources of `rows.Dropped` in any order; they are merged and sorted. `examples` are
    the facts that prompts show (`rows.PromptFact`). `reasons` explains drop reasons that only this
    dataset has, such as those of a filter; it is searched before `data_cards/drop_reasons.yaml`.
    """

    tables: tuple[Table, ...]
    dropped: tuple[RowSource, ...] = ()
    statistics: tuple[Statistics, ...] = ()
    plots: tuple[Plot, ...] = ()
    examples: FromParquet | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Input:
    """One input of a release with its checksum. `file` is the name of its file, without folders."""

    __pydantic_config__ = FORBID

    name: str
    file: RelativePath
    sha256: Sha256
    bytes: Count
    licence: str
    snapshot: date | None = None
    homepage: str | None = None
    note: str | None = None
    citation: str | None = None


@dataclass(frozen=True)
class Meta:
    """The metadata of a release.

    `dataset` is its name in paths, in the manifest and in the canary, such as `dynamic-templama`.
    `licence` is an SPDX identifier. `published` is the day of the snapshot, so that it is the same
    whenever the release is built. `recipe` is the text of the recipe, which the release holds as
    `recipe.yaml`; it must not contain paths of this machine. `rebuild` is the command that builds
    the release again. `templates` are the texts of the user's own relation templates by file name,
    which the release holds in `templates/`. `prose` is a Markdown file with the sections of the
    card that a person wrote (see `builders.release.card.SECTIONS`). `citations` are BibTeX entries
    of papers, the one of the method first.
    """

    dataset: str
    title: str
    summary: str
    builder: str
    licence: str
    published: date
    prose: Path
    recipe: str
    seed: int
    rebuild: str
    code_version: str
    libraries: Mapping[str, str]
    parameters: Mapping[str, Json] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    citations: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    homepage: str | None = None
    creators: tuple[str, ...] = ("factdrift contributors",)
