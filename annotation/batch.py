"""A batch: items packed into HITs, as it is written and as it is read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
