"""What a builder hands to a release: tables, drops, statistics, plots and metadata.

Nothing here reads or writes; `builders.release.publish.write_release` does.
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
    if "\\" in path or not path.isprintable() or path[1:2] == ":":
        raise ValueError(f"{path!r} is not a plain path inside the release")
    return path


RelativePath = Annotated[str, AfterValidator(_inside)]
"""A plain relative POSIX path that stays below the folder of a release."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


FORBID = ConfigDict(extra="forbid")
"""What a manifest that is read may not say of a class: more than its fields."""

Scalar = str | int | float | bool | None
"""A JSON scalar."""

Json = Scalar | Sequence["Json"] | Mapping[str, "Json"]
"""A JSON value: parameters of a recipe."""


@dataclass(frozen=True)
class FromParquet:
    """Rows of a sorted Parquet file where every column of `where` equals its value (None: null).

    The file's order is kept, and it must already be the order that the release wants. Columns
    beyond those of the row type (the ones to filter by) are left out of the release.
    """

    path: Path
    where: Mapping[str, Scalar] = field(default_factory=dict)


RowSource = FromParquet | Callable[[], Iterable[pa.RecordBatch]]
"""Where the rows of one split come from: a sorted file, or batches made anew at each call."""


@dataclass(frozen=True)
class Table:
    """One Hugging Face config: rows of one type in named splits; a split may have no rows.

    Where the row type has a column `id`, ids are unique within the table (over all splits).
    `group` is the number of rows of a Parquet row group: few where a row holds a whole page.
    """

    name: str
    row: type
    description: str
    splits: Mapping[str, RowSource]
    group: int = ROW_GROUP


@dataclass(frozen=True)
class Statistics:
    """A statistics table for the card and the manifest: rows of column -> scalar.

    A float in a column whose name starts with `share` is printed as a percentage.
    """

    __pydantic_config__ = FORBID

    name: str
    title: str
    rows: Sequence[Mapping[str, Scalar]]
    caption: str = ""


@dataclass(frozen=True)
class Plot:
    """A picture for the card, `plots/<name>.png`; `title` is its alternative text too.

    `periods`: series -> period -> count, one panel a series, periods in the order given; a line
    across each bar shows what `expected` holds of it. `unit` is what the counts count.
    `bars`: label -> part -> count, horizontal bars, the labels in the order given.
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
    """Everything a release holds that comes from data.

    `dropped` are sources of `rows.Dropped` in any order; they are merged and sorted. `examples`:
    the facts that prompts show (`rows.PromptFact`). `reasons`: sentences for drop reasons of this
    dataset, such as those of a filter; they come before those of `data_cards/drop_reasons.yaml`.
    """

    tables: tuple[Table, ...]
    dropped: tuple[RowSource, ...] = ()
    statistics: tuple[Statistics, ...] = ()
    plots: tuple[Plot, ...] = ()
    examples: FromParquet | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Input:
    """One checksummed input of a release; `file` is the file's name, never where it lay."""

    __pydantic_config__ = FORBID

    name: str
    file: RelativePath
    sha256: Sha256
    bytes: Count
    licence: str
    snapshot: date | None = None
    homepage: str | None = None
    citation: str | None = None


@dataclass(frozen=True)
class Meta:
    """The metadata of a release.

    `dataset` names it in paths, the manifest and the canary: `dynamic-templama`. `licence` is an
    SPDX id. `published` is a day of the data (the snapshot), never of a clock. `recipe` is the
    recipe's text, kept in the release as `recipe.yaml`; no machine path may be in it. `rebuild`
    is the command that makes the release again. `prose` is what only a person can write, in
    Markdown sections (see `builders.release.card.SECTIONS`). `citations` are BibTeX entries of
    the papers, the first is the method's own.
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
    inputs: tuple[Input, ...] = ()
    citations: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    homepage: str | None = None
    creators: tuple[str, ...] = ("factdrift contributors",)
