"""A batch: items packed into HITs, as it is written and as it is read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from builders.release.manifest import FileEntry
from builders.store import digest

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


@dataclass(frozen=True)
class Item:
    """One thing to judge: what is shown, and the row it is about.

    `id` is a hash of layout and fields. `row` is empty for an attention item, whose known
    `answers` stay in the batch's folder and never go onto a page.
    """

    id: str
    row: str
    fields: Mapping[str, Json]
    answers: Mapping[str, Json] | None = None


@dataclass(frozen=True)
class Hit:
    """Items that one worker judges in one go."""

    id: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Batch:
    """A numbered batch of one layout: `id` is a hash of its content, `folder` its place."""

    id: str
    number: int
    layout: str
    layout_sha256: str
    dataset: str
    platform: str
    seed: int
    hits: tuple[Hit, ...]
    folder: Path = Path()


class Costs(BaseModel):
    """What the batch costs at the layout's pay, without the platform's fees."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    currency: str
    per_hit: Decimal
    minutes_per_hit: Decimal
    hourly: Decimal
    total: Decimal


class BatchManifest(BaseModel):
    """`manifest.json` of a batch; `rows` are the ledger of what was sent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["factdrift-batch/1"] = "factdrift-batch/1"
    id: str
    number: int
    layout: str
    layout_sha256: str
    dataset: str
    dataset_sha256: str
    config: str | None
    splits: tuple[str, ...]
    platform: str
    seed: int
    assignments: int
    counts: dict[str, int]
    pay: Costs
    hits: tuple[str, ...]
    rows: tuple[str, ...]
    files: tuple[FileEntry, ...]


def batch_id(batch: Batch) -> str:
    """The id of a batch: a hash of what it holds and of its number."""
    return digest(
        [
            batch.number,
            batch.layout,
            batch.layout_sha256,
            batch.dataset,
            batch.platform,
            batch.seed,
            [[hit.id, [[i.id, i.row, i.answers] for i in hit.items]] for hit in batch.hits],
        ]
    )


def public(batch: Batch) -> Batch:
    """The batch as workers may see it."""
    hits = (
        Hit(hit.id, tuple(replace(item, row="", answers=None) for item in hit.items))
        for hit in batch.hits
    )
    return replace(batch, hits=tuple(hits))


def rows_of(batch: Batch) -> tuple[str, ...]:
    """The rows that a batch sends: the ledger."""
    items = (item for hit in batch.hits for item in hit.items)
    return tuple(sorted(item.row for item in items if item.answers is None))
