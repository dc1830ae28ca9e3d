"""Simulated workers: answers to the HITs of a batch, as results files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import Item, read_batch

Says = Callable[[str, Item], dict[str, Any]]


def work(
    batch: Path,
    out: Path,
    workers: list[str],
    says: Says,
    *,
    seconds: float = 30.0,
    hits: Callable[[str, int], bool] = lambda worker, number: True,
) -> Path:
    """Every worker does the HITs of a batch that `hits` gives them, items as `says(worker, item)`
    has it; the item comes with its known answers. A JSON lines file."""
    found = read_batch(batch)
    with out.open("w", encoding="utf-8") as file:
        for worker in workers:
            for number, hit in enumerate(found.hits):
                if not hits(worker, number):
                    continue
                one = {
                    "format": "factdrift-submission/1",
                    "batch": found.id,
                    "hit": hit.id,
                    "worker": worker,
                    "assignment": f"{worker}-{hit.id}",
                    "seconds": seconds * len(hit.items),
                    "answers": {item.id: says(worker, item) for item in hit.items},
                    "item_seconds": {},
                }
                file.write(json.dumps(one) + "\n")
    return out
