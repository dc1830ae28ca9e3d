"""A batch of the items that were drawn for an expert, of the same layout."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from annotation.batch import BatchManifest, Item
from annotation.batches import folders, load_manifest, next_batch, read_batch, write_batch
from annotation.hits import place_of
from annotation.layout import load_layout
from annotation.packing import pack
from annotation.platforms import PLATFORMS, Delivery
from annotation.quality.expert import waiting
from annotation.quality.spot_checks import CHECKS
from annotation.quality.values import compared
from annotation.shelf import Shelf
from builders.config import shown
from builders.errors import UserError
from builders.folders import alone

_SEED = 0


def make_expert_batches(
    layout_name: str,
    platform: str,
    *,
    delivery: Delivery | None = None,
    out: Path = Path("hits"),
    judgments: Path = Path("judgments"),
    say: Callable[[str], None] = lambda text: None,
) -> list[tuple[Path, BatchManifest]]:
    """Write the drawn items that no expert has judged yet, a batch for each dataset.

    They are the items as the workers saw them, so the expert's judgments meet theirs. The batch is
    for experts' eyes: whoever else answers it is a worker like others. Items of an expert's batch
    that is still out are sent once more. `UserError`: nothing is to be checked, or nothing of
    the layout's answers can be compared.
    """
    layout = load_layout(layout_name)
    folder = place_of(layout_name)
    name = folder.name
    if layout.rule.by != "sampled":
        raise UserError(f"the layout {name} has no expert's checks: its rule is {layout.rule.by}")
    if not compared(layout):
        hint = f"write accept or reject into {shown(judgments / name / CHECKS)}"
        raise UserError(f"the layout {name} compares no answers with an expert's", hint=hint)
    if platform not in PLATFORMS:
        hint = f"there are {', '.join(PLATFORMS)}"
        raise UserError(f"no platform {platform!r}", hint=hint)
    shelf = out / name
    done = []
    with alone(shelf):
        batches = {b.id: b for b in map(read_batch, folders(shelf))}
        wanted: dict[str, dict[str, Item]] = {}
        drawn = {(o.batch, o.item) for o in waiting(Shelf(judgments / name).drawn(layout))}
        for batch in batches.values():
            for hit in batch.hits:
                for item in hit.items:
                    if (batch.id, item.id) in drawn:
                        wanted.setdefault(batch.dataset, {})[item.id] = replace(item, answers=None)
        if not wanted:
            hint = "read the workers' results with `make judgments` first"
            raise UserError("nothing for an expert to check", where=shown(judgments), hint=hint)
        for dataset, found in sorted(wanted.items()):
            source = next(b for b in batches.values() if b.dataset == dataset)
            told = load_manifest(source.folder)
            items = [found[key] for key in sorted(found)]
            hits = pack(items, [""] * len(items), [], layout, _SEED)
            batch = next_batch(shelf, folder, hits, dataset=dataset, platform=platform, seed=_SEED)
            manifest = write_batch(
                batch,
                layout,
                folder,
                delivery or Delivery(),
                dataset_sha256=told.dataset_sha256,
                config=told.config,
                splits=told.splits,
                counts={},
            )
            say(f"  {len(items)} drawn items of {dataset} for an expert")
            done.append((batch.folder, manifest))
    return done
