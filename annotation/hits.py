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
    load_known_items,
    load_manifest,
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
_PREVIEWED = 20
"""HITs in `preview.html`."""


def make_batch(order: BatchOrder) -> tuple[Path, BatchManifest]:
    """Sample rows, show them as items, fill HITs with them and write `<out>/<layout>/<number>`."""
    find_platform(order.platform)
    layout = load_layout(order.layout)
    name = layout.name
    given = order.dataset or layout.dataset
    if given is None:
        raise UserError(f"the layout {name} names no dataset", hint="give one with --dataset")
    config = order.config or (None if Path(given).is_file() else layout.config)
    dataset = open_dataset(given, order.releases, config=config, split=order.split)
    if order.until is None and any(one.join == "search" for one in layout.fields.values()):
        hint = "--until YYYY-MM-DD (make: UNTIL=), a day before the first article of the rows"
        raise UserError(f"the layout {name} searches news up to a day: give it", hint=hint)
    pages = order.pages or dataset.sibling("pages")
    sources = TextSources(order.news, pages, order.until, Workspace(order.build, order.say))
    layout_hits = order.out / name
    with disk_errors(layout_hits), locked(layout_hits):
        ledger = _ledger(order, layout_hits)
        made = make_items(
            layout, dataset, sources, number=order.number, seed=order.seed, ledger=ledger
        )
        known = [*attention_items(layout), *load_known_items(layout, order.known)]
        return _write_next(order, layout, made, known, dataset)


def make_expert_batches(order: BatchOrder) -> list[tuple[Path, BatchManifest]]:
    """Write the items that an expert is to check and has not judged yet, a batch for each dataset.

    They are the items as the workers saw them, so the expert's judgments meet theirs. The batch is
    for experts' eyes, and only in it are they experts: whoever else answers it is a worker like
    others, and who answers a worker's batch under an expert's id is none. Items of an expert's
    batch that is still out are sent once more. `UserError`: nothing is to be checked, or nothing
    of the layout's answers can be compared.
    """
    find_platform(order.platform)
    layout = load_layout(order.layout)
    name = layout.name
    if layout.rule.by != "sampled":
        raise UserError(f"the layout {name} has no expert's checks: its rule is {layout.rule.by}")
    if not compared_answers(layout):
        hint = f"write accept or reject into {display_path(order.judgments / name / CHECKS)}"
        raise UserError(f"the layout {name} compares no answers with an expert's", hint=hint)
    layout_hits = order.out / name
    with disk_errors(layout_hits), locked(layout_hits):
        own = order.judgments / name
        judged = worker_batches(
            layout, JudgmentTable(own).by_id.values(), read_expert_verdicts(own)
        )
        to_check = {(one.batch, one.item) for one in waiting_judgments(judged)}
        wanted: dict[str, dict[str, Item]] = {}
        rows: dict[str, DatasetRows] = {}
        for batch in map(read_batch, batch_folders(layout_hits)):
            of = load_manifest(batch.folder)
            source = DatasetRows(of.dataset, of.dataset_sha256, of.config, of.splits, (), None)
            rows.setdefault(batch.dataset, source)
            for item in batch.items:
                if (batch.id, item.id) in to_check:
                    wanted.setdefault(batch.dataset, {})[item.id] = replace(item, answers=None)
        if not wanted:
            hint = "read the workers' results first: factdrift judgments results.jsonl"
            raise UserError(
                "nothing for an expert to check", where=display_path(order.judgments), hint=hint
            )
        done = []
        for dataset, found in sorted(wanted.items()):
            items = [found[key] for key in sorted(found)]
            order.say(f"  {len(items)} drawn items of {dataset} for an expert")
            drawn = replace(order, seed=_EXPERT_SEED)
            made = ItemSelection(items, [""] * len(items), {})
            done.append(_write_next(drawn, layout, made, [], rows[dataset], experts=True))
    return done


def batch_summary(folder: Path, manifest: BatchManifest) -> list[str]:
    """Lines that say what was made, what it costs, and what to do with it."""
    counts, pay = manifest.counts, manifest.pay
    usual = {"hits", "items", "attention", "assignments", "rows"}
    left = [f"{n:,} {name}" for name, n in sorted(counts.items()) if n and name not in usual]
    workers = "1 worker" if manifest.assignments == 1 else f"{manifest.assignments} workers"
    lines = [
        f"{folder}: {counts['items']:,} items of {manifest.dataset} in {counts['hits']:,} HITs "
        f"for {manifest.platform}",
        f"  {workers} each at {pay.per_hit} {pay.currency} a HIT "
        f"({pay.hourly} {pay.currency} an hour): {pay.total} {pay.currency} in all, without fees",
    ]
    if left:
        lines.append(f"  left out: {', '.join(left)}")
    out = folder / manifest.platform
    return [
        *lines,
        f"  next: open {folder / 'preview.html'}, give out what is in {out}, and bring what comes",
        "  back: factdrift judgments results.jsonl",
    ]


def group_into_hits(
    items: Sequence[Item],
    groups: Sequence[str],
    known: Sequence[Item],
    layout: Layout,
    seed: int,
    fits: FitsHit = lambda items: True,
) -> tuple[Hit, ...]:
    """Items in HITs of `items_per_hit`, in order; groups stay whole where they fit into a HIT.

    A HIT gets `attention_per_hit` of the `known` items, at places that its hash gives. A HIT ends
    early where with the next item, and any of the known ones, it would not fit.
    """
    hits = []
    checks = min(layout.attention_per_hit, len(known))
    enough = _with_largest(known, fits, checks)
    for chosen in _hit_items(items, groups, layout.items_per_hit, enough):
        inside = list(chosen)
        for n in range(checks):
            own = seeded_hash(seed, *([n] if n else []), *(item.id for item in chosen))
            left = [item for item in known if item not in inside]
            inside.insert(own % (len(inside) + 1), left[(own >> 32) % len(left)])
        hits.append(Hit(digest([seed, [item.id for item in inside]]), tuple(inside)))
    return tuple(hits)


def _with_largest(known: Sequence[Item], fits: FitsHit, number: int) -> FitsHit:
    largest = sorted(known, key=lambda item: len(str(item.fields)))[-number:] if number else []
    return lambda items: fits([*items, *largest])


def _hit_items(
    items: Sequence[Item], groups: Sequence[str], size: int, fits: FitsHit
) -> Iterator[list[Item]]:
    """Greedy: a group that does not fit any more begins a HIT; one that never fits is cut."""
    by_group: dict[str, list[Item]] = {}
    for n, (item, group) in enumerate(zip(items, groups, strict=True)):
        by_group.setdefault(group or str(n), []).append(item)
    inside: list[Item] = []
    for group_items in by_group.values():
        if inside and len(inside) + len(group_items) > size:
            yield inside
            inside = []
        for item in group_items:
            if inside and (len(inside) == size or not fits([*inside, item])):
                yield inside
                inside = []
            inside.append(item)
    if inside:
        yield inside


def _write_next(
    order: BatchOrder,
    layout: Layout,
    made: ItemSelection,
    known: Sequence[Item],
    dataset: DatasetRows,
    *,
    experts: bool = False,
) -> tuple[Path, BatchManifest]:
    """Fill HITs and write them as the next batch of `hits/<layout>`, without what fits into none.

    `UserError`: every item is too large for the platform.
    """
    fits = find_platform(order.platform).hit_limit(layout)
    fits_alone = _with_largest(known, fits, 1)
    kept = [n for n, item in enumerate(made.items) if fits_alone([item])]
    if not kept:
        hint = "--platform static takes items of any size"
        raise UserError(f"every item is too large for {order.platform}", hint=hint)
    left = len(made.items) - len(kept)
    counts = {**made.counts, **({f"too large for {order.platform}": left} if left else {})}
    items, groups = [made.items[n] for n in kept], [made.groups[n] for n in kept]
    hits = group_into_hits(items, groups, known, layout, order.seed, fits)
    before = batch_folders(order.out / layout.name)
    number = int(before[-1].name) + 1 if before else 1
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
    known = {item.id: item.answers for item in batch.items if item.answers is not None}
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
        lines = (json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in items)
        _write_text(folder / ITEMS, "".join(lines))
        _write_text(folder / PRIVATE, _pretty_json({"attention": known}))
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
    decided = {one.row for one in gold if one.decision in ("accepted", "rejected")}
    return Ledger(open=sent - decided)


def _money(amount: Decimal) -> Decimal:
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else amount


def _pretty_json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", newline="\n")
