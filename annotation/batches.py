"""Batches: items packed into HITs, written as a numbered folder and read back.

`hits/<layout>/0001/` holds `manifest.json`, `items.jsonl` (what is shown, and the row behind it),
`private.json` (known answers of attention items), `preview.html`, `layout/` (the layout as it was)
and a folder with the platform's files, the only ones that leave the machine.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from annotation.batch import Batch, Hit, Item
from annotation.folders import whole
from annotation.items import Ledger, item_id
from annotation.layout import Layout
from annotation.page import render
from annotation.platforms import PLATFORMS, Delivery
from annotation.submission import decode
from builders.config import shown
from builders.errors import UserError
from builders.release.manifest import FileEntry, locate
from builders.store import digest, file_sha256

MANIFEST, ITEMS, PRIVATE, PREVIEW = "manifest.json", "items.jsonl", "private.json", "preview.html"
LAYOUT = "layout"


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


def layout_sha256(folder: Path) -> str:
    """A hash of the two files of a layout."""
    return digest([[path.name, file_sha256(path)] for path in _layout_files(folder)])


def _layout_files(folder: Path) -> list[Path]:
    return [folder / "layout.yaml", folder / "task.html.j2"]


def write_batch(
    batch: Batch,
    layout: Layout,
    layout_folder: Path,
    delivery: Delivery,
    *,
    dataset_sha256: str,
    config: str | None,
    splits: Sequence[str],
    counts: dict[str, int],
) -> BatchManifest:
    """Write `batch.folder`, whole or not at all."""
    public = _public(batch)
    total = layout.pay.per_hit * len(batch.hits) * layout.assignments
    inside = [item for hit in batch.hits for item in hit.items]
    sent = [item for item in inside if item.answers is None]
    counted = {
        "hits": len(batch.hits),
        "items": len(sent),
        "attention": len(inside) - len(sent),
        "assignments": len(batch.hits) * layout.assignments,
    }
    with whole(batch.folder) as folder:
        _write(folder / ITEMS, "".join(_lines(batch)))
        known = {item.id: item.answers for item in inside if item.answers is not None}
        _write(folder / PRIVATE, _pretty({"attention": known}))
        page = render(
            layout, batch.layout, layout_folder, public.hits, batch=batch.id, mode="preview"
        )
        _write(folder / PREVIEW, page)
        (folder / batch.platform).mkdir()
        made = PLATFORMS[batch.platform].export(
            public, layout, layout_folder, folder / batch.platform, delivery
        )
        (folder / LAYOUT).mkdir()
        for path in _layout_files(layout_folder):
            shutil.copyfile(path, folder / LAYOUT / path.name)
        own = [f"{LAYOUT}/{path.name}" for path in _layout_files(layout_folder)]
        names = [ITEMS, PRIVATE, PREVIEW, *own, *(f"{batch.platform}/{name}" for name in made)]
        manifest = BatchManifest(
            id=batch.id,
            number=batch.number,
            layout=batch.layout,
            layout_sha256=batch.layout_sha256,
            dataset=batch.dataset,
            dataset_sha256=dataset_sha256,
            config=config,
            splits=tuple(splits),
            platform=batch.platform,
            seed=batch.seed,
            assignments=layout.assignments,
            counts={**counted, **counts},
            pay=Costs(**layout.pay.model_dump(), hourly=layout.pay.hourly, total=total),
            hits=tuple(hit.id for hit in batch.hits),
            rows=tuple(sorted(item.row for item in sent)),
            files=tuple(_entry(folder, name) for name in sorted(names)),
        )
        _write(folder / MANIFEST, _pretty(manifest.model_dump(mode="json")))
    return manifest


def _public(batch: Batch) -> Batch:
    """The batch as workers may see it."""
    hits = (
        Hit(hit.id, tuple(replace(item, row="", answers=None) for item in hit.items))
        for hit in batch.hits
    )
    return replace(batch, hits=tuple(hits))


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
            [[hit.id, [i.id for i in hit.items]] for hit in batch.hits],
        ]
    )


def load_manifest(folder: Path) -> BatchManifest:
    """`manifest.json` of a batch; `UserError` where it is missing or broken."""
    path = folder / MANIFEST
    try:
        return BatchManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=shown(path)) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(f"broken manifest: {place}: {first['msg']}", where=shown(path)) from None


def read_batch(folder: Path) -> Batch:
    """A batch with its known answers; `UserError` where any file differs from its manifest."""
    manifest = load_manifest(folder)
    for entry in manifest.files:
        if file_sha256(locate(folder, entry.path)) != entry.sha256:
            hint = "a batch is never edited; take the folder from where it was made"
            raise UserError("has changed", where=shown(folder / entry.path), hint=hint)
    if {ITEMS, PRIVATE} - {entry.path for entry in manifest.files}:
        raise UserError(f"its manifest lacks {ITEMS} or {PRIVATE}", where=shown(folder))
    known = decode((folder / PRIVATE).read_text("utf-8"))["attention"]
    hits: dict[str, list[Item]] = {name: [] for name in manifest.hits}
    with (folder / ITEMS).open(encoding="utf-8") as file:
        for line in file:
            one = decode(line)
            item = Item(one["id"], one["row"], one["fields"], known.get(one["id"]))
            if item_id(manifest.layout, item.fields) != item.id:
                raise UserError(f"item {item.id} is not what its id says", where=shown(folder))
            hits[one["hit"]].append(item)
    batch = Batch(
        id=manifest.id,
        number=manifest.number,
        layout=manifest.layout,
        layout_sha256=manifest.layout_sha256,
        dataset=manifest.dataset,
        platform=manifest.platform,
        seed=manifest.seed,
        hits=tuple(Hit(name, tuple(items)) for name, items in hits.items()),
        folder=folder,
    )
    if batch_id(batch) != batch.id:
        raise UserError("the batch is not what its id says", where=shown(folder))
    return batch


def folders(shelf: Path) -> list[Path]:
    """The batches of one layout, `hits/<layout>`, by number; other names are passed over."""
    if not shelf.is_dir():
        return []
    return sorted(
        p for p in shelf.iterdir() if p.name.isdecimal() and len(p.name) >= 4 and p.is_dir()
    )


def ledger(shelf: Path) -> Ledger:
    """What the batches of a layout sent before."""
    found = Ledger()
    for folder in folders(shelf):
        found.rows.update(load_manifest(folder).rows)
        with (folder / ITEMS).open(encoding="utf-8") as file:
            found.items.update(one["id"] for one in map(decode, file) if one["row"])
    return found


def _lines(batch: Batch) -> Iterator[str]:
    for hit in batch.hits:
        for item in hit.items:
            one = {"hit": hit.id, "id": item.id, "row": item.row, "fields": item.fields}
            yield json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n"


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", newline="\n")


def _entry(folder: Path, name: str) -> FileEntry:
    path = folder / name
    return FileEntry(path=name, sha256=file_sha256(path), bytes=path.stat().st_size)
