"""Batches: items packed into HITs, written as a numbered folder and read back.

`hits/<layout>/0001/` holds `manifest.json`, `items.jsonl` (what is shown, and the row behind it),
`private.json` (known answers of attention items), `preview.html`, `layout/` (the layout as it was)
and a folder with the platform's files, the only ones that leave the machine.
"""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from annotation.batch import Batch, BatchManifest, Costs, Hit, Item, batch_id, public, rows_of
from annotation.items import Ledger, item_id
from annotation.layout import Layout
from annotation.page import render
from annotation.platforms import PLATFORMS, Delivery
from annotation.submission import decode
from builders.config import shown
from builders.errors import UserError
from builders.folders import whole
from builders.release.manifest import FileEntry, locate
from builders.store import digest, file_sha256

MANIFEST, ITEMS, PRIVATE, PREVIEW = "manifest.json", "items.jsonl", "private.json", "preview.html"
LAYOUT = "layout"
_NUMBER = re.compile("[0-9]{4,9}")
_NEVER_EDITED = "a batch is never edited; take the folder from where it was made"


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
    delivery.check(PLATFORMS[batch.platform])
    seen = public(batch)
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
            layout, batch.layout, layout_folder, seen.hits, batch=batch.id, mode="preview"
        )
        _write(folder / PREVIEW, page)
        (folder / batch.platform).mkdir()
        made = PLATFORMS[batch.platform].export(
            seen, layout, layout_folder, folder / batch.platform, delivery
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
            pay=Costs(
                currency=layout.pay.currency,
                per_hit=_money(layout.pay.per_hit),
                minutes_per_hit=layout.pay.minutes_per_hit,
                hourly=layout.pay.hourly,
                total=_money(total),
            ),
            hits=tuple(hit.id for hit in batch.hits),
            rows=rows_of(batch),
            files=tuple(_entry(folder, name) for name in sorted(names)),
        )
        _write(folder / MANIFEST, _pretty(manifest.model_dump(mode="json")))
    return manifest


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
    _unchanged(folder, manifest)
    try:
        hits = _hits(folder, manifest)
    except (KeyError, TypeError, ValueError, AttributeError):
        text = f"its {MANIFEST} and {ITEMS} do not fit each other"
        raise UserError(text, where=shown(folder), hint=_NEVER_EDITED) from None
    batch = Batch(
        id=manifest.id,
        number=manifest.number,
        layout=manifest.layout,
        layout_sha256=manifest.layout_sha256,
        dataset=manifest.dataset,
        platform=manifest.platform,
        seed=manifest.seed,
        hits=hits,
        folder=folder,
    )
    if batch_id(batch) != batch.id or manifest.rows != rows_of(batch):
        text = "the batch is not what its id says"
        raise UserError(text, where=shown(folder), hint=_NEVER_EDITED)
    return batch


def _unchanged(folder: Path, manifest: BatchManifest) -> None:
    """`UserError` where a file differs from its checksum, or one of a batch's files has none."""
    own = {ITEMS, PRIVATE, f"{LAYOUT}/layout.yaml", f"{LAYOUT}/task.html.j2"}
    if own - {entry.path for entry in manifest.files}:
        text = "its manifest does not name all of the batch's files"
        raise UserError(text, where=shown(folder), hint=_NEVER_EDITED)
    for entry in manifest.files:
        if file_sha256(locate(folder, entry.path)) != entry.sha256:
            raise UserError("has changed", where=shown(folder / entry.path), hint=_NEVER_EDITED)
    if layout_sha256(folder / LAYOUT) != manifest.layout_sha256:
        raise UserError("has changed", where=shown(folder / LAYOUT), hint=_NEVER_EDITED)


def _hits(folder: Path, manifest: BatchManifest) -> tuple[Hit, ...]:
    known = decode((folder / PRIVATE).read_text("utf-8"))["attention"]
    hits: dict[str, list[Item]] = {name: [] for name in manifest.hits}
    with (folder / ITEMS).open(encoding="utf-8") as file:
        for line in file:
            one = decode(line)
            answers = None if one["row"] else known[one["id"]]
            if item_id(manifest.layout, one["fields"]) != one["id"]:
                raise ValueError
            hits[one["hit"]].append(Item(one["id"], one["row"], one["fields"], answers))
    return tuple(Hit(name, tuple(items)) for name, items in hits.items())


def next_batch(
    shelf: Path, layout_folder: Path, hits: Sequence[Hit], *, dataset: str, platform: str, seed: int
) -> Batch:
    """The batch of these HITs under the next number of a shelf, `hits/<layout>`; not written."""
    before = folders(shelf)
    number = int(before[-1].name) + 1 if before else 1
    batch = Batch(
        id="",
        number=number,
        layout=shelf.name,
        layout_sha256=layout_sha256(layout_folder),
        dataset=dataset,
        platform=platform,
        seed=seed,
        hits=tuple(hits),
        folder=shelf / f"{number:04}",
    )
    return replace(batch, id=batch_id(batch))


def folders(shelf: Path) -> list[Path]:
    """The batches of one layout, `hits/<layout>`, by number; other names are passed over."""
    if not shelf.is_dir():
        return []
    found = [p for p in shelf.iterdir() if _NUMBER.fullmatch(p.name) and p.is_dir()]
    return sorted(found, key=lambda folder: int(folder.name))


def ledger(shelf: Path) -> Ledger:
    """What the batches of a layout sent before; `UserError` where one has been edited."""
    found = Ledger()
    for batch in map(read_batch, folders(shelf)):
        for item in (item for hit in batch.hits for item in hit.items if item.answers is None):
            found.rows.add(item.row)
            found.items.add(item.id)
    return found


def _money(sum_: Decimal) -> Decimal:
    """A sum with two digits after the point, or all that it has."""
    cents = sum_.quantize(Decimal("0.01"))
    return cents if cents == sum_ else sum_


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
