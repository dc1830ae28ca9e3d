"""`make hits`: rows of a dataset out to people, as one batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from annotation.batch import BatchManifest
from annotation.batches import ledger, next_batch, write_batch
from annotation.dataset import open_dataset
from annotation.items import Ledger, attention, make_items
from annotation.joins import Sources
from annotation.layout import FOLDER, Layout, load_layout
from annotation.packing import fitting, pack
from annotation.platforms import PLATFORMS, Delivery, Fits, Limited
from builders.config import did_you_mean, shown
from builders.errors import UserError
from builders.folders import alone
from builders.gold import FILE, NoGoldError, read_gold
from builders.store import Store


@dataclass(frozen=True)
class Order:
    """What a batch is made from.

    `again` sends rows that an earlier batch has sent; `undecided` those alone whose gold row in
    `judgments` is not accepted or rejected, or is not there.
    """

    layout: str
    dataset: str | None
    platform: str
    number: int = 100
    config: str | None = None
    split: str | None = None
    news: Sequence[str] = ()
    pages: Path | None = None
    until: date | None = None
    seed: int = 0
    again: bool = False
    undecided: bool = False
    delivery: Delivery = field(default_factory=Delivery)
    releases: Path = Path("releases")
    build: Path = Path("build")
    out: Path = Path("hits")
    judgments: Path = Path("judgments")
    say: Callable[[str], None] = lambda text: None


def make_batch(order: Order) -> tuple[Path, BatchManifest]:
    """Draw rows, show them as items, pack them into HITs and write `<out>/<layout>/<number>`."""
    platform = PLATFORMS.get(order.platform)
    if platform is None:
        near = did_you_mean(order.platform, PLATFORMS)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(PLATFORMS)}"
        raise UserError(f"no platform {order.platform!r}", hint=hint)
    layout = load_layout(order.layout)
    layout_folder = place_of(order.layout)
    name = layout_folder.name
    given = order.dataset or layout.dataset
    if given is None:
        raise UserError(f"the layout {name} names no dataset", hint="give one with --dataset")
    dataset = open_dataset(
        given, order.releases, config=order.config or _own(layout, given), split=order.split
    )
    if order.until is None and any(one.join == "search" for one in layout.fields.values()):
        hint = "--until YYYY-MM-DD (make: UNTIL=), a day before the first article of the rows"
        raise UserError(f"the layout {name} searches news up to a day: give it", hint=hint)
    pages = order.pages or dataset.beside("pages")
    sources = Sources(order.news, pages, order.until, Store(order.build, order.say))
    shelf = order.out / name
    with alone(shelf):
        made = make_items(
            layout,
            name,
            dataset,
            sources,
            number=order.number,
            seed=order.seed,
            ledger=_ledger(order, shelf),
        )
        known = attention(layout, name)
        items, groups = made.items, made.groups
        fits: Fits | None = None
        if isinstance(platform, Limited):
            fits = platform.room(layout, name, layout_folder)
            items, groups = fitting(items, groups, known, fits)
            made.counts[f"too large for {platform.name}"] = len(made.items) - len(items)
            if not items:
                hint = "--platform static takes items of any size"
                raise UserError(f"every item is too large for {platform.name}", hint=hint)
        hits = pack(items, groups, known, layout, order.seed, fits)
        batch = next_batch(
            shelf,
            layout_folder,
            hits,
            dataset=dataset.name,
            platform=order.platform,
            seed=order.seed,
        )
        manifest = write_batch(
            batch,
            layout,
            layout_folder,
            order.delivery,
            dataset_sha256=dataset.sha256,
            config=dataset.config,
            splits=dataset.splits,
            counts=made.counts,
        )
    return batch.folder, manifest


def summary(folder: Path, manifest: BatchManifest) -> list[str]:
    """What was made, and what it costs."""
    counts, pay = manifest.counts, manifest.pay
    usual = {"hits", "items", "attention", "assignments", "rows"}
    left = [f"{n:,} {name}" for name, n in sorted(counts.items()) if n and name not in usual]
    lines = [
        f"{folder}: {counts['items']:,} items of {manifest.dataset} in {counts['hits']:,} HITs "
        f"for {manifest.platform}",
        f"  {manifest.assignments} workers each at {pay.per_hit} {pay.currency} a HIT "
        f"({pay.hourly} {pay.currency} an hour): {pay.total} {pay.currency} in all, without fees",
    ]
    if left:
        lines.append(f"  left out: {', '.join(left)}")
    out = folder / manifest.platform
    return [
        *lines,
        f"  next: open {folder / 'preview.html'}, give out what is in {out}, and bring what comes",
        "  back: make judgments RESULTS=…",
    ]


def _ledger(order: Order, shelf: Path) -> Ledger:
    """What must not be sent, or what alone may be."""
    if order.undecided:
        if order.again:
            raise UserError("--open and --again exclude each other", hint="give one of them")
        sent = ledger(shelf).rows
        if not sent:
            hint = "without --open a first batch is made"
            raise UserError("nothing was sent yet", where=shown(shelf), hint=hint)
        return Ledger(open=sent - _decided(order.judgments / shelf.name, shelf.name))
    return Ledger() if order.again else ledger(shelf)


def _decided(folder: Path, layout: str) -> set[str]:
    """Rows of a layout that people's judgments have accepted or rejected."""
    path = folder / FILE
    if not path.is_file():
        return set()
    try:
        found = read_gold([path], layout)
        return {one.row for one in found if one.decision in ("accepted", "rejected")}
    except NoGoldError:
        return set()


def place_of(name: str) -> Path:
    """The folder of a layout that `load_layout` has found."""
    own = FOLDER / name
    return own if (own / "layout.yaml").is_file() else Path(name).resolve()


def _own(layout: Layout, given: str) -> str | None:
    """The layout's config, where the dataset is the layout's own; a file has none."""
    return None if Path(given).is_file() else layout.config
