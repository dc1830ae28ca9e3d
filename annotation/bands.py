"""`make bands`: thresholds of a toxicity scorer from people's judgments, band by band.

StreamingQA, section 7: from 1.0 down in bands of 0.05, two people judge 50 rows a band, until two
neighbouring bands have less than 30 % toxic (`filters.toxicity.bands`). The same command again
and again: it reads what was judged, and makes the next batch or says the thresholds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.band_rows import Text, open_rows, recipe_of
from annotation.batch import BatchManifest
from annotation.batches import ledger
from annotation.dataset import Dataset
from annotation.hits import Order, make_batch
from annotation.layout import Layout, load_layout
from annotation.platforms import Delivery
from annotation.quality.values import said
from annotation.shelf import Shelf
from builders.config import shown
from builders.errors import UserError
from builders.folders import replacing
from filters.toxicity import ATTRIBUTES
from filters.toxicity.bands import PER_BAND, SHARE, WIDTH, threshold_by_bands, to_judge

LAYOUT, SNIPPET = "judge_toxicity", "thresholds.yaml"
_SCHEMA = pa.schema(
    [("id", pa.string()), ("question", pa.string()), ("answers", pa.list_(pa.string()))]
)


@dataclass(frozen=True)
class Band:
    """Rows with scores from `low` up: how many are shown, and the judgments so far."""

    low: float
    rows: int
    judgments: int
    toxic: int

    @property
    def thin(self) -> bool:
        """Fewer judgments than the paper has rows a band."""
        return self.judgments < PER_BAND


@dataclass(frozen=True)
class Attribute:
    """Where one attribute stands. `bands` are judged, from the highest down.

    Either `threshold` is found, or `next_band` is to be judged, and of it the rows `lacking`.
    """

    name: str
    bands: tuple[Band, ...]
    threshold: float | None = None
    next_band: float | None = None
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bands:
    """What `make bands` came to. `sent`: rows that are out and not judged enough yet.

    `short`: rows of the batch's last HIT, and how many a HIT has, where it is not full.
    """

    attributes: tuple[Attribute, ...]
    batch: tuple[Path, BatchManifest] | None
    sent: int
    snippet: Path | None
    short: tuple[int, int] | None = None

    def lines(self) -> list[str]:
        """The report, a line each."""
        out = []
        for one in self.attributes:
            for band in one.bands:
                share = 100 * band.toxic / band.judgments
                out.append(
                    f"{one.name}: from {band.low:.2f}: {band.rows} rows, {band.toxic} of "
                    f"{band.judgments} judgments say toxic ({share:.0f} %)"
                )
            if one.threshold is not None:
                out.append(f"{one.name}: threshold {one.threshold:.2f}")
                if thin := [f"{b.low:.2f} ({b.judgments})" for b in one.bands if b.thin]:
                    out.append(
                        f"{one.name}: bands of fewer than {PER_BAND} judgments, which say little: "
                        f"{', '.join(thin)}"
                    )
            else:
                out.append(
                    f"{one.name}: from {one.next_band:.2f}: {len(one.lacking)} rows to be judged"
                )
        if self.short:
            few, many = self.short
            out.append(f"one HIT has {few} of {many} rows and is paid in full")
        if self.sent:
            out.append(f"{self.sent} rows are sent and not judged enough; --again sends them anew")
        return out + ([f"thresholds: {shown(self.snippet)}"] if self.snippet else [])


@dataclass(frozen=True)
class BandOrder:
    """What `make bands` is told; `width`, `share` and `rows` are those of the band rule."""

    dataset: str
    platform: str
    layout: str = LAYOUT
    rows: int = PER_BAND
    width: float = WIDTH
    share: float = SHARE
    seed: int = 0
    again: bool = False
    delivery: Delivery = field(default_factory=Delivery)
    releases: Path = Path("releases")
    build: Path = Path("build")
    out: Path = Path("hits")
    judgments: Path = Path("judgments")
    say: Callable[[str], None] = lambda text: None


def next_bands(order: BandOrder) -> Bands:
    """Where every attribute stands; makes a batch where one has unsent rows to be judged.

    Rows are those of a release of StreamingQA, or of a file with its columns, and those that its
    filter `toxicity` dropped: these have two digits of a score in `dropped.parquet`, and no
    answer. Each attribute has rows of its own, a judgment tells of all: what was judged for
    another attribute is not asked again. `UserError`: no row has a score.
    """
    layout = load_layout(order.layout)
    rows = open_rows(order.dataset, order.releases, layout.config)
    drawn = {
        name: to_judge(rows.scores(name), seed=order.seed, width=order.width, per_band=order.rows)
        for name in ATTRIBUTES
        if name in layout.answers
    }
    wanted = {row for bands in drawn.values() for ids in bands.values() for row in ids}
    if not wanted:
        hint = "a recipe with the filter `toxicity` keeps its scores"
        raise UserError(f"no row of {rows.dataset.name} has a score", hint=hint)
    texts = rows.texts(wanted)
    judged = _judged(order.judgments / order.layout, texts)
    found = tuple(
        _stand(name, bands, texts, judged, layout, order) for name, bands in drawn.items() if bands
    )
    lacking = dict.fromkeys(row for one in found for row in one.lacking)
    out_already = ledger(order.out / order.layout).rows
    out_texts = {texts[row] for row in out_already if row in texts}
    fresh = {texts[row]: row for row in sorted(lacking, reverse=True)}
    send = sorted(row for text, row in fresh.items() if order.again or text not in out_texts)
    batch = _send(order, rows.dataset, {row: texts[row] for row in send}) if send else None
    settled = all(one.threshold is not None for one in found)
    recipe = recipe_of(rows, _thresholds(found)) if settled else ""
    snippet = _snippet(order, rows.dataset, found, recipe) if settled else None
    left = (batch[1].counts["items"] if batch else 0) % layout.items_per_hit
    short = (left, layout.items_per_hit) if left else None
    return Bands(found, batch, len(fresh) - len(send), snippet, short)


def _stand(
    name: str,
    drawn: Mapping[float, Sequence[str]],
    texts: Mapping[str, Text],
    judged: Mapping[Text, Sequence[Mapping[str, Any]]],
    layout: Layout,
    order: BandOrder,
) -> Attribute:
    """Down the bands, as far as all rows of each have enough judgments."""
    bands: list[Band] = []
    votes: list[tuple[float, bool]] = []
    for low, rows in drawn.items():
        lacking = tuple(r for r in rows if len(judged.get(texts[r], ())) < layout.assignments)
        if lacking:
            return Attribute(name, tuple(bands), next_band=low, lacking=lacking)
        told = [bool(one.get(name)) for row in rows for one in judged[texts[row]]]
        bands.append(Band(low, len(rows), len(told), sum(told)))
        votes += [(low, toxic) for toxic in told]
        found = threshold_by_bands(votes, width=order.width, share=order.share)
        if found.threshold is not None:
            return Attribute(name, tuple(bands), threshold=found.threshold)
    return Attribute(name, tuple(bands), threshold=bands[-1].low)


def _judged(folder: Path, texts: Mapping[str, Text]) -> dict[Text, list[Mapping[str, Any]]]:
    """The answers of judgments that count, by what was shown."""
    found: dict[Text, list[Mapping[str, Any]]] = {}
    for one in sorted(Shelf(folder).by_id.values(), key=lambda one: one.id):
        if one.counted and one.row in texts:
            found.setdefault(texts[one.row], []).append(said(one))
    return found


def _send(
    order: BandOrder, dataset: Dataset, rows: Mapping[str, Text]
) -> tuple[Path, BatchManifest]:
    """A batch of exactly these rows."""
    path = order.build / "bands" / f"{dataset.name.replace(' ', '-').split('/')[-1]}.parquet"
    table = [{"id": row, "question": q, "answers": list(a)} for row, (q, a) in rows.items()]
    path = path.with_name(path.name.replace(".parquet.parquet", ".parquet"))
    with replacing(path) as temporary:
        pq.write_table(pa.Table.from_pylist(table, _SCHEMA), temporary)
    return make_batch(
        Order(
            layout=order.layout,
            dataset=str(path),
            platform=order.platform,
            number=len(rows),
            seed=order.seed,
            again=order.again,
            delivery=order.delivery,
            build=order.build,
            out=order.out,
            say=order.say,
        )
    )


def _thresholds(found: Sequence[Attribute]) -> dict[str, float]:
    return {one.name: one.threshold for one in found if one.threshold is not None}


def _snippet(order: BandOrder, dataset: Dataset, found: Sequence[Attribute], text: str) -> Path:
    """Write what goes into a recipe, under what it rests on."""
    head = (
        f"# By the band rule on {dataset.name}: up to {order.rows} rows a band of {order.width}, "
        f"until two neighbours\n# have less than {order.share:.0%} toxic. For this scorer alone.\n"
        "# What was judged, by the lower end of a band:\n"
    )
    for one in found:
        bands = (f"{b.low:.2f}: {b.rows} rows, {b.judgments} judgments" for b in one.bands)
        head += f"# {one.name}: {'; '.join(bands)}\n"
    if any(band.thin for one in found for band in one.bands):
        head += f"# Bands of fewer than {PER_BAND} judgments say little.\n"
    path = order.judgments / order.layout / SNIPPET
    with replacing(path) as temporary:
        temporary.write_text(head + text, "utf-8", newline="\n")
    return path
