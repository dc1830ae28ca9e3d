"""A submission against the batch that it says it answers: judgments, or why it is refused."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from annotation.batch import Batch, Hit, Item, Json
from annotation.batches import LAYOUT, folders, load_manifest, read_batch
from annotation.checks import problems
from annotation.ids import hashed
from annotation.layout import Answer, Layout, load_layout
from annotation.platforms import PLATFORMS
from annotation.submission import Refused, Submission
from builders.config import did_you_mean, shown
from builders.errors import UserError
from builders.rows import Judgment
from builders.store import row_id

DUPLICATE = "duplicate_worker"
"""Flag of a worker's further submission for a HIT."""


PIECEWISE = frozenset(name for name, one in PLATFORMS.items() if one.piecewise)
"""The platforms whose submissions have one item of a HIT."""


def handed_in(one: Judgment) -> tuple[str, str, str, str]:
    """What a judgment was handed in with: all of a worker's of a HIT, where it came piece by
    piece."""
    return one.batch, one.hit, one.worker, "" if one.platform in PIECEWISE else one.assignment


@dataclass(frozen=True)
class Edition:
    """Batches of one layout in which the same can be answered and accepted.

    `layout` is as the newest of them has it: its rule holds for all of them. `pay` of a HIT by
    batch; `items` of all by id, with their known answers; `sizes`: items of each HIT.
    """

    layout: Layout
    pay: dict[str, Decimal]
    items: dict[str, Item]
    sizes: dict[str, int]


@dataclass
class Batches:
    """The batches under `hits/`, found by id and read, checked, when an answer names them."""

    root: Path
    _places: dict[str, Path] = field(default_factory=dict)
    _read: dict[str, tuple[Batch, dict[str, Hit]]] = field(default_factory=dict)
    _layouts: dict[str, Layout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shelves = sorted(p for p in self.root.iterdir() if p.is_dir()) if self.root.is_dir() else []
        for folder in (f for shelf in shelves for f in folders(shelf)):
            found = load_manifest(folder)
            if found.layout != folder.parent.name:
                text = f"a batch of the layout {found.layout}, in the folder of another"
                raise UserError(text, where=shown(folder))
            other = self._places.setdefault(found.id, folder)
            if other != folder:
                text = f"the same batch as {shown(other)}"
                raise UserError(text, where=shown(folder), hint="remove the copy")
        if not self._places:
            hint = "make one with `make hits`, or name their folder with --hits"
            raise UserError("no batches here", where=shown(self.root), hint=hint)

    def get(self, name: str) -> tuple[Batch, dict[str, Hit]] | None:
        """A batch and its HITs by id."""
        if name in self._places and name not in self._read:
            batch = read_batch(self._places[name])
            self._read[name] = batch, {hit.id: hit for hit in batch.hits}
        return self._read.get(name)

    def near(self, name: str) -> str:
        """What to say of an id that is none of a batch."""
        near = did_you_mean(name, self._places)
        return f"did you mean {near}?" if near else f"not among the {len(self._places)} of hits/"

    def layout(self, batch: Batch) -> Layout:
        """The layout as it was when the batch was made: the batch has a copy."""
        if batch.id not in self._layouts:
            self._layouts[batch.id] = load_layout(str((batch.folder / LAYOUT).resolve()))
        return self._layouts[batch.id]

    def knows(self, name: str) -> bool:
        """Whether there is such a batch."""
        return name in self._places

    def editions(self, layout: str) -> list["Edition"]:
        """The batches of a layout by what can be answered, that of the newest batch last."""
        found: dict[str, Edition] = {}
        for name, folder in self._places.items():
            if folder.parent.name != layout or (read := self.get(name)) is None:
                continue
            own = self.layout(read[0])
            key = _answerable(own)
            before = found.pop(key, Edition(own, {}, {}, {}))
            pay = before.pay | {name: own.pay.per_hit}
            items = {item.id: item for hit in read[0].hits for item in hit.items}
            sizes = before.sizes | {hit.id: len(hit.items) for hit in read[0].hits}
            found[key] = Edition(own, pay, before.items | items, sizes)
        if not found:
            raise UserError(f"no batch of the layout {layout!r}", where=shown(self.root))
        return list(found.values())


def match(
    given: Submission, batches: Batches, platform: str, salt: bytes
) -> list[Judgment] | Refused:
    """One judgment an item, in the order of the HIT; or the first thing that is wrong with it."""

    def refused(reason: str, detail: str = "") -> Refused:
        return Refused(given.where, given.line, reason, detail)

    known = batches.get(given.batch)
    if known is None:
        return refused("unknown batch", batches.near(given.batch[:40]))
    batch, hits = known
    if batch.platform != platform:
        return refused("wrong platform", f"the batch went to {batch.platform}, not to {platform}")
    hit = hits.get(given.hit)
    if hit is None:
        return refused("unknown HIT", f"{given.hit[:40]!r} is not in {shown(batch.folder)}")
    items = {item.id: item for item in hit.items}
    if extra := sorted(given.answers.keys() - items.keys()):
        return refused("unknown item", f"{extra[0][:40]!r} is not in HIT {hit.id}")
    missing = [name for name in items if name not in given.answers]
    if missing and (platform not in PIECEWISE or not given.answers):
        worker = hashed(salt, "worker", platform, given.worker.strip())
        detail = f"{missing[0]}, {len(missing)} of {len(items)} of HIT {hit.id}, worker {worker}"
        return refused("missing item", detail)
    if strange := sorted(given.item_seconds.keys() - items.keys()):
        return refused("unknown item", f"{strange[0][:40]!r} has a time")
    if not given.worker.strip():
        return refused("not a submission", "no worker")
    layout = batches.layout(batch)
    said = tuple(item for item in hit.items if item.id in given.answers)
    for item in said:
        wrong = problems(layout, item.fields, given.answers[item.id])
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            return refused("invalid answer", f"item {item.id}: {wrong[0]}{more}")
    return list(_judgments(given, batch, Hit(hit.id, said), platform, salt))


def _answerable(layout: Layout) -> str:
    """The values that answers of a layout can have, and those that its rule accepts."""

    def values(asked: Mapping[str, Answer]) -> object:
        return [
            [name, one.kind, one.field, sorted(c.value for c in one.choices), values(one.answers)]
            for name, one in sorted(asked.items())
        ]

    return json.dumps([values(layout.answers), layout.rule.of, sorted(layout.rule.accept)])


def _judgments(
    given: Submission, batch: Batch, hit: Hit, platform: str, salt: bytes
) -> Iterator[Judgment]:
    worker = hashed(salt, "worker", platform, given.worker.strip())
    assignment = hashed(salt, "assignment", platform, given.assignment.strip())
    for item in hit.items:
        yield Judgment(
            id=row_id(batch.id, hit.id, item.id, worker),
            layout=batch.layout,
            batch=batch.id,
            hit=hit.id,
            item=item.id,
            row=item.row,
            dataset=batch.dataset,
            worker=worker,
            platform=platform,
            assignment=assignment,
            answers=_canonical(given.answers[item.id]),
            seconds=_time(given, item.id, len(hit.items)),
            flags=(),
            counted=True,
        )


def _canonical(answers: Mapping[str, Json]) -> str:
    """Answers as JSON, keys sorted, what was left empty left out."""
    kept = {name: value for name, value in answers.items() if value not in (None, "", [])}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _time(given: Submission, item: str, items: int) -> float | None:
    """Seconds on an item: its own, else its share of the HIT's."""
    own = given.item_seconds.get(item)
    if own is not None:
        return round(float(own), 1)
    return None if given.seconds is None else round(float(given.seconds) / items, 1)
