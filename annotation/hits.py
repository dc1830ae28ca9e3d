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
from factdrift.annotation.links import LINK_KEY, make_link_key
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
from factdrift.annotation.quality.plans import plan_lines
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
    is_file = Path(dataset_source).is_file()  # which has neither configs nor splits
    config_name = order.config or (None if is_file else layout.config)
    split_name = order.split or (None if is_file else layout.split)
    dataset = open_dataset(dataset_source, order.releases, config=config_name, split=split_name)
    if order.until is None and any(field.join == "search" for field in layout.fields.values()):
        hint_text = "--until YYYY-MM-DD (make: UNTIL=), a day before the first article of the rows"
        raise UserError(f"the layout {name} searches news up to a day: give it", hint=hint_text)
    page_table = order.pages or dataset.sibling("pages")
    sources = TextSources(order.news, page_table, order.until, Workspace(order.build, order.say))
    layout_hits = order.out / name
    with disk_errors(layout_hits), locked(layout_hits):
        sent_before = _ledger(order, layout_hits)
        selection = make_items(
            layout, dataset, sources, number=order.number, seed=order.seed, ledger=sent_before
        )
        own_items = attention_items(layout)
        fresh_items = fresh_checks(layout, own_items, batch_folders(layout_hits))
        given_items = load_known_items(layout, order.known)
        known_by_id = {item.id: item for item in (*fresh_items, *given_items)}
        return _write_next(order, layout, selection, [*known_by_id.values()], dataset)


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
        checks_file = display_path(order.judgments / name / CHECKS)
        hint_text = f"write accept or reject into {checks_file}"
        raise UserError(f"the layout {name} compares no answers with an expert's", hint=hint_text)
    layout_hits = order.out / name
    with disk_errors(layout_hits), locked(layout_hits):
        items_by_dataset, rows_by_dataset = _items_to_check(
            layout, order.judgments / name, layout_hits
        )
        if not items_by_dataset:
            hint_text = "read the workers' results first: factdrift judgments results.jsonl"
            judgments_folder = display_path(order.judgments)
            raise UserError(
                "nothing for an expert to check", where=judgments_folder, hint=hint_text
            )
        written_batches = []
        for dataset_name, items_by_id in sorted(items_by_dataset.items()):
            expert_items = [items_by_id[item_id] for item_id in sorted(items_by_id)]
            order.say(f"  {len(expert_items)} drawn items of {dataset_name} for an expert")
            expert_order = replace(order, seed=_EXPERT_SEED)
            selection = ItemSelection(expert_items, [""] * len(expert_items), {})
            dataset_rows = rows_by_dataset[dataset_name]
            written_batches.append(
                _write_next(expert_order, layout, selection, [], dataset_rows, experts=True)
            )
    return written_batches


def _items_to_check(
    layout: Layout, judgments_folder: Path, layout_hits: Path
) -> tuple[dict[str, dict[str, Item]], dict[str, DatasetRows]]:
    """The items that wait for an expert by dataset and id, and what each dataset is."""
    sent_batches = [*map(read_batch, batch_folders(layout_hits))]
    sent_rules = {batch.id: batch.layout_as_sent.rule for batch in sent_batches}
    checked_batches = worker_batches(
        layout,
        JudgmentTable(judgments_folder).by_id.values(),
        read_expert_verdicts(judgments_folder),
        sent_rules,
    )
    to_check = {(judgment.batch, judgment.item) for judgment in waiting_judgments(checked_batches)}
    items_by_dataset: dict[str, dict[str, Item]] = {}
    rows_by_dataset: dict[str, DatasetRows] = {}
    for batch in sent_batches:
        batch_manifest = load_batch_manifest(batch.folder)
        rows_by_dataset.setdefault(
            batch.dataset,
            DatasetRows(
                name=batch_manifest.dataset,
                sha256=batch_manifest.dataset_sha256,
                config=batch_manifest.config,
                splits=batch_manifest.splits,
                files=(),
                columns=None,
            ),
        )
        for item in batch.items:
            if (batch.id, item.id) in to_check:
                checked_items = items_by_dataset.setdefault(batch.dataset, {})
                checked_items[item.id] = replace(item, answers=None)
    return items_by_dataset, rows_by_dataset


def batch_summary(batch_folder: Path, manifest: BatchManifest) -> list[str]:
    """Lines that say what was made, what it costs, and what to do with it."""
    batch_counts, pay = manifest.counts, manifest.pay
    usual_names = {"hits", "items", "attention", "assignments", "rows"}
    left_out = [
        f"{row_count:,} {count_name}"
        for count_name, row_count in sorted(batch_counts.items())
        if row_count and count_name not in usual_names
    ]
    workers_text = "1 worker" if manifest.assignments == 1 else f"{manifest.assignments} workers"
    summary_lines = [
        f"{batch_folder}: {batch_counts['items']:,} items of {manifest.dataset} "
        f"in {batch_counts['hits']:,} HITs for {manifest.platform}",
        f"  {workers_text} each at {pay.per_hit} {pay.currency} a HIT "
        f"({pay.hourly} {pay.currency} an hour): {pay.total} {pay.currency} in all, without fees",
    ]
    if pay.with_fees:
        fee_texts = [f"{amount} ({payer})" for payer, amount in pay.with_fees.items()]
        summary_lines.append(f"  with {manifest.platform}'s fee {' or '.join(fee_texts)}")
    if not manifest.experts:
        layout = load_layout(batch_folder / LAYOUT_COPY)
        judgment_count = batch_counts["items"] * manifest.assignments
        summary_lines += [f"  {line}" for line in plan_lines(layout, judgment_count)]
    if left_out:
        summary_lines.append(f"  left out: {', '.join(left_out)}")
    platform_folder = batch_folder / manifest.platform
    return [
        *summary_lines,
        f"  next: open {batch_folder / 'preview.html'}, give out what is in {platform_folder}, "
        "and bring what comes",
        "  back: factdrift judgments results.jsonl",
    ]


def group_into_hits(
    items: Sequence[Item],
    group_keys: Sequence[str],
    known_items: Sequence[Item],
    layout: Layout,
    seed: int,
    fits: FitsHit = lambda items: True,
) -> tuple[Hit, ...]:
    """Items in HITs of `items_per_hit`, in order; groups stay whole where they fit into a HIT.

    A HIT gets `attention_per_hit` of the known items, in turns, at places that its hash gives. It
    ends early where with the next item, and any of the known ones, it would not fit.
    """
    grouped_hits = []
    check_count = min(layout.attention_per_hit, len(known_items))
    fits_with_checks = _with_largest(known_items, fits, check_count)
    packed_items = _hit_items(items, group_keys, layout.items_per_hit, fits_with_checks)
    for hit_number, row_items in enumerate(packed_items):
        hit_items = list(row_items)
        for check_number in range(check_count):
            # checks take turns, so that each is seen as seldom as can be
            turn = seed + hit_number * check_count + check_number
            check_hash = seeded_hash(seed, check_number, *(item.id for item in row_items))
            hit_items.insert(
                check_hash % (len(hit_items) + 1), known_items[turn % len(known_items)]
            )
        grouped_hits.append(Hit(digest([seed, [item.id for item in hit_items]]), tuple(hit_items)))
    return tuple(grouped_hits)


def fresh_checks(
    layout: Layout, own_items: Sequence[Item], earlier_folders: Sequence[Path]
) -> list[Item]:
    """The attention items of a layout for its next batch.

    The first batch has those that are not kept in reserve. A later one has those that no batch
    before has shown, so that whoever worked on them meets new ones; once all were shown, all.
    """
    earlier_batches = [batch for batch in map(read_batch, earlier_folders) if not batch.experts]
    if not earlier_batches:
        reserved = [known_item.reserve for known_item in layout.attention]
        open_items = [
            item for item, is_kept in zip(own_items, reserved, strict=True) if not is_kept
        ]
        return open_items or [*own_items]
    shown_ids = {item.id for batch in earlier_batches for item in batch.items}
    return [item for item in own_items if item.id not in shown_ids] or [*own_items]


def _with_largest(known_items: Sequence[Item], fits: FitsHit, largest_count: int) -> FitsHit:
    largest_items = (
        sorted(known_items, key=lambda known_item: len(str(known_item.fields)))[-largest_count:]
        if largest_count
        else []
    )
    return lambda items: fits([*items, *largest_items])


def _hit_items(
    items: Sequence[Item], group_keys: Sequence[str], hit_size: int, fits: FitsHit
) -> Iterator[list[Item]]:
    """Greedy: a group that does not fit any more begins a HIT; one that never fits is cut."""
    items_by_group: dict[str, list[Item]] = {}
    for item_number, (item, group_key) in enumerate(zip(items, group_keys, strict=True)):
        items_by_group.setdefault(group_key or str(item_number), []).append(item)
    hit_items: list[Item] = []
    for group_items in items_by_group.values():
        if hit_items and len(hit_items) + len(group_items) > hit_size:
            yield hit_items
            hit_items = []
        for item in group_items:
            if hit_items and (len(hit_items) == hit_size or not fits([*hit_items, item])):
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
    fitting_places = [
        item_place
        for item_place, selected_item in enumerate(selection.items)
        if fits_alone([selected_item])
    ]
    if not fitting_places:
        hint_text = "--platform static takes items of any size"
        raise UserError(f"every item is too large for {order.platform}", hint=hint_text)
    too_large = len(selection.items) - len(fitting_places)
    batch_counts = {
        **selection.counts,
        **({f"too large for {order.platform}": too_large} if too_large else {}),
    }
    fitting_items, fitting_groups = (
        [selection.items[item_place] for item_place in fitting_places],
        [selection.groups[item_place] for item_place in fitting_places],
    )
    batch_hits = group_into_hits(
        fitting_items, fitting_groups, known_items, layout, order.seed, fits
    )
    earlier_folders = batch_folders(order.out / layout.name)
    batch_number = int(earlier_folders[-1].name) + 1 if earlier_folders else 1
    batch = HitBatch(
        id="",
        number=batch_number,
        layout=layout.name,
        layout_sha256=layout_sha256(layout.folder),
        dataset=dataset.name,
        platform=order.platform,
        seed=order.seed,
        hits=batch_hits,
        folder=order.out / layout.name / f"{batch_number:04}",
        experts=experts,
    )
    batch = replace(batch, id=batch_id(batch))
    return batch.folder, write_batch(batch, layout, order.delivery, dataset, batch_counts)


def write_batch(
    batch: HitBatch,
    layout: Layout,
    delivery: Delivery,
    dataset: DatasetRows,
    other_counts: dict[str, int],
) -> BatchManifest:
    """Write `batch.folder`, whole or not at all."""
    platform = find_platform(batch.platform)
    delivery.check(platform.name, platform.delivery_fields)
    known_answers = {item.id: item.answers for item in batch.items if item.answers is not None}
    sent_rows = sent_row_ids(batch)
    assignment_count = len(batch.hits) * layout.assignments
    other_counts = {
        "hits": len(batch.hits),
        "items": len(sent_rows),
        "attention": len(batch.items) - len(sent_rows),
        "assignments": assignment_count,
        **other_counts,
    }
    with atomic_folder(batch.folder) as folder:
        item_entries = (
            {"hit": hit.id, "id": item.id, "row": item.row, "fields": item.fields}
            for hit in batch.hits
            for item in hit.items
        )
        item_lines = (
            json.dumps(item_entry, ensure_ascii=False, sort_keys=True) + "\n"
            for item_entry in item_entries
        )
        _write_text(folder / ITEMS, "".join(item_lines))
        _write_text(folder / PRIVATE, _pretty_json({"attention": known_answers}))
        preview_page = render_page(
            layout, batch.hits[:_PREVIEWED], batch_id=batch.id, mode="preview"
        )
        _write_text(folder / PREVIEW, preview_page)
        (folder / batch.platform).mkdir()
        if platform.serves_pages:
            batch = replace(batch, link_key=make_link_key(folder))
        platform.export(batch, layout, folder / batch.platform, delivery)
        (folder / LAYOUT_COPY).mkdir()
        for layout_file in LAYOUT_FILES:
            shutil.copyfile(layout.folder / layout_file, folder / LAYOUT_COPY / layout_file)
        path_by_name = {
            written_path.relative_to(folder).as_posix(): written_path
            for written_path in folder.rglob("*")
            if written_path.is_file() and written_path.name != LINK_KEY
        }
        manifest = BatchManifest(
            **batch.identity,
            dataset_sha256=dataset.sha256,
            config=dataset.config,
            splits=dataset.splits,
            assignments=layout.assignments,
            counts=other_counts,
            pay=Costs(
                currency=layout.pay.currency,
                per_hit=_money(layout.pay.per_hit),
                minutes_per_hit=layout.pay.minutes_per_hit,
                hourly=layout.pay.hourly,
                total=_money(layout.pay.per_hit * assignment_count),
                with_fees={
                    payer: round(layout.pay.per_hit * assignment_count * (1 + fee_share), 2)
                    for payer, fee_share in platform.service_fees.items()
                },
            ),
            hits=tuple(hit.id for hit in batch.hits),
            rows=sent_rows,
            files=tuple(
                FileEntry(
                    path=file_name, sha256=file_sha256(file_path), bytes=file_path.stat().st_size
                )
                for file_name, file_path in sorted(path_by_name.items())
            ),
        )
        _write_text(folder / MANIFEST, _pretty_json(MANIFESTS.dump_python(manifest, mode="json")))
    return manifest


def _ledger(order: BatchOrder, layout_hits: Path) -> Ledger:
    """Return the rows that the new batch must not send, or the only ones that it may send.

    With `--open`, these are the rows that were sent and have no decision yet; with `--again`, any
    row may be sent.
    """
    if not order.undecided:
        return Ledger() if order.again else sent_ledger(layout_hits)
    if order.again:
        raise UserError("--open and --again exclude each other", hint="give one of them")
    sent_rows = sent_ledger(layout_hits).rows
    if not sent_rows:
        hint_text = "without --open a first batch is made"
        raise UserError("nothing was sent yet", where=display_path(layout_hits), hint=hint_text)
    gold_path, name = order.judgments / layout_hits.name / FILE, layout_hits.name
    try:
        gold_rows = [*read_gold([gold_path], name)] if gold_path.is_file() else []
    except NoGoldError:
        gold_rows = []
    decided_rows = {
        gold_row.row for gold_row in gold_rows if gold_row.decision in ("accepted", "rejected")
    }
    return Ledger(open=sent_rows - decided_rows)


def _money(money_amount: Decimal) -> Decimal:
    whole_cents = money_amount.quantize(Decimal("0.01"))
    return whole_cents if whole_cents == money_amount else money_amount


def _pretty_json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _write_text(file_path: Path, file_text: str) -> None:
    file_path.write_text(file_text, "utf-8", newline="\n")
