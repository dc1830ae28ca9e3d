"""A batch of HITs: its items and manifest, its id, and how it is read back from its folder.

`hits/<layout>/0001/` holds `manifest.json`, `items.jsonl` (what is shown, and the row behind it),
`private.json` (known answers of attention items), `links.key` (see `annotation.links`),
`preview.html`, `layout/` (the layout as it was) and a folder with the platform's files, the only
ones that leave the machine. `annotation.hits`
writes it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from factdrift.annotation.checks import answer_problems
from factdrift.annotation.layout import KnownItem, Layout, load_layout
from factdrift.annotation.links import read_link_key
from factdrift.annotation.reading import json_documents, require_entries
from factdrift.annotation.submission import Json, decode_json
from factdrift.builders.core.config import Strict, display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import digest, file_sha256
from factdrift.builders.release.manifest import FileEntry, locate_file

MANIFEST, ITEMS, PRIVATE, PREVIEW = "manifest.json", "items.jsonl", "private.json", "preview.html"
LAYOUT_COPY = "layout"
LAYOUT_FILES = ("layout.yaml", "task.html.j2")
_NUMBER = re.compile("[0-9]{4,9}")
_NEVER_EDITED = "a batch is never edited; take the folder from where it was made"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to judge: what is shown, and the row of the dataset that it is about.

    `id` is a hash of layout and fields. `row` is empty for an attention item, whose known
    `answers` stay in the batch's folder and never go onto a page.
    """

    id: str
    row: str
    fields: Mapping[str, Json]
    answers: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    items: tuple[Item, ...]


@dataclass(frozen=True, kw_only=True)
class BatchIdentity:
    """The identity of a numbered batch of one layout; `id` is a hash of its content.

    `experts` says that the batch was made for experts, who check workers' answers in it. A worker
    counts as an expert only in such a batch.
    """

    id: str
    number: int
    layout: str
    layout_sha256: str
    dataset: str
    platform: str
    seed: int
    experts: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        """These alone."""
        return {
            identity_field.name: getattr(self, identity_field.name)
            for identity_field in fields(BatchIdentity)
        }


@dataclass(frozen=True, kw_only=True)
class HitBatch(BatchIdentity):
    """A batch with its items, and the `folder` that contains it.

    `link_key` signs the links to its pages; empty where it has none of our own.
    """

    hits: tuple[Hit, ...]
    folder: Path
    link_key: bytes = field(default=b"", repr=False)

    @property
    def items(self) -> list[Item]:
        """The items of all its HITs."""
        return [item for hit in self.hits for item in hit.items]

    @cached_property
    def hit_by_id(self) -> Mapping[str, Hit]:
        """Its HITs, by id."""
        return {hit.id: hit for hit in self.hits}

    @cached_property
    def layout_as_sent(self) -> Layout:
        """The layout as it was when the batch was made: the batch has a copy."""
        return load_layout(self.folder / LAYOUT_COPY)


class Costs(Strict):
    """The costs of a batch at the layout's pay, without the platform's fees.

    `with_fees` is the total with what the platform charges on top, by whom it charges; empty where
    no fee of it is known here.
    """

    currency: str
    per_hit: Decimal
    minutes_per_hit: Decimal
    hourly: Decimal
    total: Decimal
    with_fees: Mapping[str, Decimal] = {}


@dataclass(frozen=True, kw_only=True)
class BatchManifest(BatchIdentity):
    """`manifest.json` of a batch; `rows` are the ids of the rows that it sends."""

    __pydantic_config__ = Strict.model_config

    format: Literal["factdrift-batch/1"] = "factdrift-batch/1"
    dataset_sha256: str
    config: str | None
    splits: tuple[str, ...]
    assignments: int
    counts: dict[str, int]
    pay: Costs
    hits: tuple[str, ...]
    rows: tuple[str, ...]
    files: tuple[FileEntry, ...]


MANIFESTS = TypeAdapter(BatchManifest)


@dataclass
class Ledger:
    """The ids of the rows and items that earlier batches of a layout sent.

    If `open` is given, only these rows are to be sent.
    """

    rows: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    open: set[str] | None = None


def item_id(layout_name: str, item_fields: Mapping[str, Json]) -> str:
    """The id of an item: a hash of its layout's name and of what is shown."""
    return digest([layout_name, item_fields])


def attention_items(layout: Layout) -> list[Item]:
    """The layout's items with known answers."""
    return [_known_item(layout, known_item) for known_item in layout.attention]


def load_known_items(layout: Layout, items_path: Path | None) -> list[Item]:
    """Items with known answers of a file of JSON lines: `fields` and `answers`, as in layout.yaml.

    `UserError`, with the line: a field is missing or unknown, or an answer breaks its checks.
    """
    items_by_id: dict[str, Item] = {}
    for entry in require_entries(json_documents(items_path)) if items_path else ():
        try:
            known_item = KnownItem.model_validate(entry.value)
            item_problem = known_item_problem(layout, known_item)
        except ValidationError:
            item_problem = "needs `fields` and `answers`"
        if item_problem:
            raise UserError(
                f"an item with known answers: {item_problem}", where=items_path, line=entry.line
            )
        item = _known_item(layout, known_item)
        items_by_id[item.id] = item
    return [*items_by_id.values()]


def _known_item(layout: Layout, known_item: KnownItem) -> Item:
    return Item(item_id(layout.name, known_item.fields), "", known_item.fields, known_item.answers)


def known_item_problem(layout: Layout, known_item: KnownItem) -> str | None:
    """Return the mistake in an item with known answers, or None; it may lack some answers."""
    if unknown_fields := sorted(known_item.fields.keys() - layout.fields.keys()):
        return f"no field {unknown_fields[0]!r}"
    if missing_fields := [
        field_name
        for field_name, field in layout.fields.items()
        if not (field.optional or field_name in known_item.fields)
    ]:
        return f"lacks the field {missing_fields[0]!r}"
    if not known_item.answers:
        return "needs `fields` and `answers`"
    answer_mistakes = answer_problems(layout, known_item.fields, known_item.answers)
    return next(
        (
            answer_mistake
            for answer_mistake in answer_mistakes
            if not answer_mistake.endswith(": missing")
        ),
        None,
    )


def attention_kind(layout: Layout, attention_item: Item) -> str:
    """The kind of an attention item, which the layout says of one with the same fields."""
    known_kinds = (
        known_item.kind
        for known_item in layout.attention
        if known_item.fields == attention_item.fields
    )
    return next(known_kinds, "known")


def batch_id(batch: HitBatch) -> str:
    hit_contents = [
        [hit.id, [[item.id, item.row, item.answers] for item in hit.items]] for hit in batch.hits
    ]
    _, *identity_values, for_experts = batch.identity.values()
    return digest([*identity_values, hit_contents, *(["experts"] if for_experts else [])])


def layout_sha256(layout_folder: Path) -> str:
    return digest(
        [[file_name, file_sha256(layout_folder / file_name)] for file_name in LAYOUT_FILES]
    )


def sent_row_ids(batch: HitBatch) -> tuple[str, ...]:
    """The sorted ids of the rows that a batch sends."""
    return tuple(sorted(item.row for item in batch.items if item.answers is None))


def load_batch_manifest(batch_folder: Path) -> BatchManifest:
    """`manifest.json` of a batch; `UserError` where it is missing or broken."""
    manifest_path = batch_folder / MANIFEST
    try:
        return MANIFESTS.validate_json(manifest_path.read_bytes())
    except OSError as error:
        hint_text = "is this the folder of a batch, hits/<layout>/<number>?"
        raise UserError(
            f"cannot be read: {error.strerror}", where=display_path(manifest_path), hint=hint_text
        ) from None
    except ValidationError as error:
        first_mistake = error.errors(include_url=False, include_input=False)[0]
        field_place = ".".join(map(str, first_mistake["loc"]))
        raise UserError(
            f"broken manifest: {field_place}: {first_mistake['msg']}",
            where=display_path(manifest_path),
        ) from None


def read_batch(batch_folder: Path) -> HitBatch:
    """Read a batch with its known answers.

    Raises `UserError` if any file differs from the manifest.
    """
    manifest = load_batch_manifest(batch_folder)
    batch_files = {ITEMS, PRIVATE, *(f"{LAYOUT_COPY}/{file_name}" for file_name in LAYOUT_FILES)}
    if batch_files - {entry.path for entry in manifest.files}:
        raise _edited_error(batch_folder, "its manifest does not name all of the batch's files")
    for entry in manifest.files:
        if file_sha256(locate_file(batch_folder, entry.path)) != entry.sha256:
            raise _edited_error(batch_folder / entry.path, "has changed")
    if layout_sha256(batch_folder / LAYOUT_COPY) != manifest.layout_sha256:
        raise _edited_error(batch_folder / LAYOUT_COPY, "has changed")
    try:
        batch_hits = _read_hits(batch_folder, manifest)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _edited_error(
            batch_folder, f"its {MANIFEST} and {ITEMS} do not fit each other"
        ) from None
    batch = HitBatch(
        **manifest.identity,
        hits=batch_hits,
        folder=batch_folder,
        link_key=read_link_key(batch_folder),
    )
    if batch_id(batch) != batch.id or manifest.rows != sent_row_ids(batch):
        raise _edited_error(batch_folder, "the batch is not what its id says")
    return batch


def _edited_error(edited_path: Path, text: str) -> UserError:
    return UserError(text, where=display_path(edited_path), hint=_NEVER_EDITED)


def batch_folders(layout_hits: Path) -> list[Path]:
    """The batches of one layout, `hits/<layout>`, by number; other names are passed over."""
    if not layout_hits.is_dir():
        return []
    numbered_folders = [
        batch_folder
        for batch_folder in layout_hits.iterdir()
        if _NUMBER.fullmatch(batch_folder.name) and batch_folder.is_dir()
    ]
    return sorted(numbered_folders, key=lambda folder: int(folder.name))


def sent_ledger(layout_hits: Path) -> Ledger:
    """Return the rows and items that the batches of a layout sent before.

    Raises `UserError` if a batch has been edited.
    """
    earlier_batches = map(read_batch, batch_folders(layout_hits))
    sent_items = [item for batch in earlier_batches for item in batch.items if item.answers is None]
    return Ledger({item.row for item in sent_items}, {item.id for item in sent_items})


def _read_hits(batch_folder: Path, manifest: BatchManifest) -> tuple[Hit, ...]:
    known_answers = decode_json((batch_folder / PRIVATE).read_text("utf-8"))["attention"]
    items_by_hit: dict[str, list[Item]] = {hit_id: [] for hit_id in manifest.hits}
    with (batch_folder / ITEMS).open(encoding="utf-8") as items_file:
        for item_line in items_file:
            item_entry = decode_json(item_line)
            item_answers = None if item_entry["row"] else known_answers[item_entry["id"]]
            if item_id(manifest.layout, item_entry["fields"]) != item_entry["id"]:
                raise ValueError
            items_by_hit[item_entry["hit"]].append(
                Item(item_entry["id"], item_entry["row"], item_entry["fields"], item_answers)
            )
    return tuple(Hit(hit_id, tuple(hit_items)) for hit_id, hit_items in items_by_hit.items())
