"""`factdrift hits`: rows of a dataset out to people, as a batch of HITs."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from factdrift.annotation.batch import (
    ITEMS,
    LAYOUT_COPY,
    LAYOUT_FILES,
    MANIFEST,
    MANIFESTS,
    PREVIEW,
    PRIVATE,
    BatchManifest,
    Costs,
    Hit,
    HitBatch,
    Item,
    Ledger,
    attention_items,
    batch_folders,
    batch_id,
    layout_sha256,
    load_batch_manifest,
    load_known_items,
    read_batch,
    sent_ledger,
    sent_row_ids,
)
from factdrift.annotation.dataset import DatasetRows, open_dataset
from factdrift.annotation.items import ItemSelection, TextSources, make_items
from factdrift.annotation.layout import Layout, load_layout
from factdrift.annotation.order import BatchOrder, Delivery
from factdrift.annotation.page import render_page
from factdrift.annotation.platforms import find_platform
from factdrift.annotation.platforms.base import FitsHit
from factdrift.annotation.quality.agreement import compared_answers
from factdrift.annotation.quality.expert import (
    CHECKS,
    read_expert_verdicts,
    waiting_judgments,
    worker_batches,
)
from factdrift.annotation.results import JudgmentTable
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import atomic_folder, disk_errors, locked
from factdrift.builders.core.hashing import digest, file_sha256, seeded_hash
from factdrift.builders.core.steps import Workspace
from factdrift.builders.release.manifest import FileEntry
from factdrift.builders.rows.gold import FILE, NoGoldError, read_gold

_EXPERT_SEED = 0
# HITs in `preview.html`.
_PREVIEWED = 20


def make_batch(order: BatchOrder) -> tuple[Path, BatchManifest]:
    """Sample rows, show them as items, fill HITs with them and write `<out>/<layout>/<number>`."""
    find_platform(order.platform)
    layout = load_layout(order.layout)
    name = layout.name
    dataset_source = order.dataset or layout.dataset
    if dataset_source is None:
        raise UserError(f"the layout {name} names no dataset", hint="give one with --dataset")
    config = order.config or (None if Path(dataset_source).is_file() else layout.config)
    dataset = open_dataset(dataset_source, order.releases, config=config, split=order.split)
    if order.until is None and any(field.join == "search" for field in layout.fields.values()):
        hint = "--until YYYY-MM-DD (make: UNTIL=), a day before the first article of the rows"
        raise UserError(f"the layout {name} searches news up to a day: give it", hint=hint)
    pages = order.pages or dataset.sibling("pages")
    sources = TextSources(order.news, pages, order.until, Workspace(order.build, order.say))
    layout_hits = order.out / name
    with disk_errors(layout_hits), locked(layout_hits):
        ledger = _ledger(order, layout_hits)
        selection = make_items(
            layout, dataset, sources, number=order.number, seed=order.seed, ledger=ledger
        )
        attention = [*attention_items(layout), *load_known_items(layout, order.known)]
        return _write_next(order, layout, selection, attention, dataset)


def make_expert_batches(order: BatchOrder) -> list[tuple[Path, BatchManifest]]:
    """Write the items that an expert is to check and has not judged yet, a batch for each dataset.

    The items are as the workers saw them, so that the expert's judgments meet theirs. The batch is
    for experts alone: anybody else who answers it is a worker like others, and an expert's id in a
    worker's batch does not make an expert. Items of an expert's batch that is still out are sent
    once more. `UserError`: nothing is to be checked, or none of the layout's answers can be
    compared.
    """
    find_platform(order.platform)
    layout = load_layout(order.layout)
    name = layout.name
    if layout.rule.by != "sampled":
        raise UserError(f"the layout {name} has no expert's checks: its rule is {layout.rule.by}")
    if not compared_answers(layout):
        checks = display_path(order.judgments / name / CHECKS)
        hint = f"write accept or reject into {checks}"
        raise UserError(f"the layout {name} compares no answers with an expert's", hint=hint)
    layout_hits = order.out / name
    with disk_errors(layout_hits), locked(layout_hits):
        items_by_dataset, sources = _items_to_check(layout, order.judgments / name, layout_hits)
        if not items_by_dataset:
            hint = "read the workers' results first: factdrift judgments results.jsonl"
            where = display_path(order.judgments)
            raise UserError("nothing for an expert to check", where=where, hint=hint)
        written = []
        for dataset, items_by_id in sorted(items_by_dataset.items()):
            items = [items_by_id[key] for key in sorted(items_by_id)]
            order.say(f"  {len(items)} drawn items of {dataset} for an expert")
            expert_order = replace(order, seed=_EXPERT_SEED)
            selection = ItemSelection(items, [""] * len(items), {})
            source = sources[dataset]
            written.append(_write_next(expert_order, layout, selection, [], source, experts=True))
    return written


def _items_to_check(
    layout: Layout, judgments: Path, layout_hits: Path
) -> tuple[dict[str, dict[str, Item]], dict[str, DatasetRows]]:
    """The items that wait for an expert by dataset and id, and what each dataset is."""
    table = JudgmentTable(judgments)
    checked = worker_batches(layout, table.by_id.values(), read_expert_verdicts(judgments))
    to_check = {(judgment.batch, judgment.item) for judgment in waiting_judgments(checked)}
    items_by_dataset: dict[str, dict[str, Item]] = {}
    sources: dict[str, DatasetRows] = {}
    for batch in map(read_batch, batch_folders(layout_hits)):
        manifest = load_batch_manifest(batch.folder)
        sources.setdefault(
            batch.dataset,
            DatasetRows(
                name=manifest.dataset,
                sha256=manifest.dataset_sha256,
                config=manifest.config,
                splits=manifest.splits,
                files=(),
                columns=None,
            ),
        )
        for item in batch.items:
            if (batch.id, item.id) in to_check:
                checked_items = items_by_dataset.setdefault(batch.dataset, {})
                checked_items[item.id] = replace(item, answers=None)
    return items_by_dataset, sources


def batch_summary(folder: Path, manifest: BatchManifest) -> list[str]:
    """Lines that say what was made, what it costs, and what to do with it."""
    counts, pay = manifest.counts, manifest.pay
    usual = {"hits", "items", "attention", "assignments", "rows"}
    left_out = [
        f"{count:,} {name}" for name, count in sorted(counts.items()) if count and name not in usual
    ]
    workers = "1 worker" if manifest.assignments == 1 else f"{manifest.assignments} workers"
    lines = [
        f"{folder}: {counts['items']:,} items of {manifest.dataset} in {counts['hits']:,} HITs "
        f"for {manifest.platform}",
        f"  {workers} each at {pay.per_hit} {pay.currency} a HIT "
        f"({pay.hourly} {pay.currency} an hour): {pay.total} {pay.currency} in all, without fees",
    ]
    if left_out:
        lines.append(f"  left out: {', '.join(left_out)}")
    platform_folder = folder / manifest.platform
    return [
        *lines,
        f"  next: open {folder / 'preview.html'}, give out what is in {platform_folder}, "
        "and bring what comes",
        "  back: factdrift judgments results.jsonl",
    ]


def group_into_hits(
    items: Sequence[Item],
    groups: Sequence[str],
    known_items: Sequence[Item],
    layout: Layout,
    seed: int,
    fits: FitsHit = lambda items: True,
) -> tuple[Hit, ...]:
    """Items in HITs of `items_per_hit`, in order; groups stay whole where they fit into a HIT.

    A HIT gets `attention_per_hit` of the `known` items, at places that its hash gives. A HIT ends
    early where with the next item, and any of the known ones, it would not fit.
    """
    hits = []
    check_count = min(layout.attention_per_hit, len(known_items))
    fits_with_checks = _with_largest(known_items, fits, check_count)
    for row_items in _hit_items(items, groups, layout.items_per_hit, fits_with_checks):
        hit_items = list(row_items)
        for check_number in range(check_count):
            # the first check's hash has no number: a HIT with one check has the id it always had
            number_key = [check_number] if check_number else []
            check_hash = seeded_hash(seed, *number_key, *(item.id for item in row_items))
            unused_items = [item for item in known_items if item not in hit_items]
            hit_items.insert(
                check_hash % (len(hit_items) + 1),
                unused_items[(check_hash >> 32) % len(unused_items)],
            )
        hits.append(Hit(digest([seed, [item.id for item in hit_items]]), tuple(hit_items)))
    return tuple(hits)


def _with_largest(known_items: Sequence[Item], fits: FitsHit, number: int) -> FitsHit:
    largest = (
        sorted(known_items, key=lambda item: len(str(item.fields)))[-number:] if number else []
    )
    return lambda items: fits([*items, *largest])


def _hit_items(
    items: Sequence[Item], groups: Sequence[str], size: int, fits: FitsHit
) -> Iterator[list[Item]]:
    """Greedy: a group that does not fit any more begins a HIT; one that never fits is cut."""
    by_group: dict[str, list[Item]] = {}
    for number, (item, group) in enumerate(zip(items, groups, strict=True)):
        by_group.setdefault(group or str(number), []).append(item)
    hit_items: list[Item] = []
    for group_items in by_group.values():
        if hit_items and len(hit_items) + len(group_items) > size:
            yield hit_items
            hit_items = []
        for item in group_items:
            if hit_items and (len(hit_items) == size or not fits([*hit_items, item])):
                yield hit_items
                hit_items = []
            hit_items.append(item)
    if hit_items:
        yield hit_items


def _write_next(
    order: BatchOrder,
    layout: Layout,
    selection: ItemSelection,
    known_items: Sequence[Item],
    dataset: DatasetRows,
    *,
    experts: bool = False,
) -> tuple[Path, BatchManifest]:
    """Fill HITs and write them as the next batch of `hits/<layout>`, without what fits into none.

    `UserError`: every item is too large for the platform.
    """
    fits = find_platform(order.platform).hit_limit(layout)
    fits_alone = _with_largest(known_items, fits, 1)
    fitting = [index for index, item in enumerate(selection.items) if fits_alone([item])]
    if not fitting:
        hint = "--platform static takes items of any size"
        raise UserError(f"every item is too large for {order.platform}", hint=hint)
    too_large = len(selection.items) - len(fitting)
    counts = {
        **selection.counts,
        **({f"too large for {order.platform}": too_large} if too_large else {}),
    }
    items, groups = (
        [selection.items[index] for index in fitting],
        [selection.groups[index] for index in fitting],
    )
    hits = group_into_hits(items, groups, known_items, layout, order.seed, fits)
    earlier_folders = batch_folders(order.out / layout.name)
    number = int(earlier_folders[-1].name) + 1 if earlier_folders else 1
    batch = HitBatch(
        id="",
        number=number,
        layout=layout.name,
        layout_sha256=layout_sha256(layout.folder),
        dataset=dataset.name,
        platform=order.platform,
        seed=order.seed,
        hits=hits,
        folder=order.out / layout.name / f"{number:04}",
        experts=experts,
    )
    batch = replace(batch, id=batch_id(batch))
    return batch.folder, write_batch(batch, layout, order.delivery, dataset, counts)


def write_batch(
    batch: HitBatch,
    layout: Layout,
    delivery: Delivery,
    dataset: DatasetRows,
    counts: dict[str, int],
) -> BatchManifest:
    """Write `batch.folder`, whole or not at all."""
    platform = find_platform(batch.platform)
    delivery.check(platform.name, platform.delivery_fields)
    known_answers = {item.id: item.answers for item in batch.items if item.answers is not None}
    rows = sent_row_ids(batch)
    assignments = len(batch.hits) * layout.assignments
    counts = {
        "hits": len(batch.hits),
        "items": len(rows),
        "attention": len(batch.items) - len(rows),
        "assignments": assignments,
        **counts,
    }
    with atomic_folder(batch.folder) as folder:
        items = (
            {"hit": hit.id, "id": item.id, "row": item.row, "fields": item.fields}
            for hit in batch.hits
            for item in hit.items
        )
        lines = (
            json.dumps(item_entry, ensure_ascii=False, sort_keys=True) + "\n"
            for item_entry in items
        )
        _write_text(folder / ITEMS, "".join(lines))
        _write_text(folder / PRIVATE, _pretty_json({"attention": known_answers}))
        preview = render_page(layout, batch.hits[:_PREVIEWED], batch=batch.id, mode="preview")
        _write_text(folder / PREVIEW, preview)
        (folder / batch.platform).mkdir()
        platform.export(batch, layout, folder / batch.platform, delivery)
        (folder / LAYOUT_COPY).mkdir()
        for part in LAYOUT_FILES:
            shutil.copyfile(layout.folder / part, folder / LAYOUT_COPY / part)
        paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
        manifest = BatchManifest(
            **batch.identity,
            dataset_sha256=dataset.sha256,
            config=dataset.config,
            splits=dataset.splits,
            assignments=layout.assignments,
            counts=counts,
            pay=Costs(
                currency=layout.pay.currency,
                per_hit=_money(layout.pay.per_hit),
                minutes_per_hit=layout.pay.minutes_per_hit,
                hourly=layout.pay.hourly,
                total=_money(layout.pay.per_hit * assignments),
            ),
            hits=tuple(hit.id for hit in batch.hits),
            rows=rows,
            files=tuple(
                FileEntry(path=name, sha256=file_sha256(path), bytes=path.stat().st_size)
                for name, path in sorted(paths.items())
            ),
        )
        _write_text(folder / MANIFEST, _pretty_json(MANIFESTS.dump_python(manifest, mode="json")))
    return manifest


def _ledger(order: BatchOrder, layout_hits: Path) -> Ledger:
    if not order.undecided:
        return Ledger() if order.again else sent_ledger(layout_hits)
    if order.again:
        raise UserError("--open and --again exclude each other", hint="give one of them")
    sent = sent_ledger(layout_hits).rows
    if not sent:
        hint = "without --open a first batch is made"
        raise UserError("nothing was sent yet", where=display_path(layout_hits), hint=hint)
    path, name = order.judgments / layout_hits.name / FILE, layout_hits.name
    try:
        gold = [*read_gold([path], name)] if path.is_file() else []
    except NoGoldError:
        gold = []
    decided = {gold_row.row for gold_row in gold if gold_row.decision in ("accepted", "rejected")}
    return Ledger(open=sent - decided)


def _money(amount: Decimal) -> Decimal:
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else amount


def _pretty_json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", newline="\n")
