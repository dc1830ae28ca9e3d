"""A small layout, batches of it, and workers who answer them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch, Item, read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.order import BatchOrder, ImportOrder
from factdrift.annotation.results import ImportReport, import_results
from factdrift.annotation.submission import SUBMISSION_FORMAT

LAYOUT = """\
title: Is it good?
summary: Say whether it is good.
instructions: [Read it.]
fields: {question: {label: Question}}
answers:
  verdict:
    kind: choice
    label: Good?
    choices: [{value: yes, label: Yes}, {value: no, label: No}]
    agree: value
  note: {kind: text, label: Note, required: false}
assignments: 2
items_per_hit: 3
pay: {per_hit: 0.50, minutes_per_hit: 2}
rule: {by: majority, of: verdict, accept: [yes]}
attention:
  - {fields: {question: "Is water wet?"}, answers: {verdict: yes}}
"""


def order(tmp: Path, rows: int = 20, **more: Any) -> BatchOrder:
    """An order of a small layout over a file of rows."""
    folder = tmp / "quick"
    folder.mkdir(exist_ok=True)
    (folder / "layout.yaml").write_text(LAYOUT, "utf-8")
    (folder / "task.html.j2").write_text("{{ everything() }}\n", "utf-8")
    lines = (json.dumps({"id": f"r{n}", "question": f"Is {n} odd?"}) for n in range(rows))
    (tmp / "rows.jsonl").write_text("\n".join(lines), "utf-8")
    made = BatchOrder(layout=str(folder), dataset=str(tmp / "rows.jsonl"), number=6)
    return replace(made, **{"out": tmp / "hits", "releases": tmp / "releases"} | more)


def batch_of(tmp: Path, **more: Any) -> HitBatch:
    """A batch of two HITs of three rows, each with an attention item."""
    return read_batch(make_batch(order(tmp, **more))[0])


def handed_in(
    batch: str, hit: str, worker: str, answers: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """What a page hands in."""
    return {
        "format": SUBMISSION_FORMAT,
        "batch": batch,
        "hit": hit,
        "worker": worker,
        "assignment": "",
        "seconds": 12.0,
        "answers": answers,
        "item_seconds": dict.fromkeys(answers, 4.0),
    } | more


def submission(batch: HitBatch, worker: str, hit: int = 0, **more: Any) -> dict[str, Any]:
    """What a page hands in: `yes` for rows of an odd number, and a note."""
    one = batch.hits[hit]
    answers = {item.id: _answers(item.row) for item in one.items}
    return handed_in(batch.id, one.id, worker, answers, **more)


def work(
    folder: Path,
    out: Path,
    workers: Sequence[str],
    says: Callable[[str, Item], dict[str, Any]],
    *,
    seconds: float = 30.0,
    hits: Callable[[str, int], bool] = lambda worker, number: True,
) -> Path:
    """Every worker does the HITs of a batch that `hits` gives them, items as `says(worker, item)`
    has it; the item comes with its known answers. A JSON lines file."""
    batch = read_batch(folder)
    given = []
    for worker, (number, hit) in product(workers, enumerate(batch.hits)):
        if hits(worker, number):
            answers = {item.id: says(worker, item) for item in hit.items}
            more = {"assignment": f"{worker}-{hit.id}", "seconds": seconds * len(answers)}
            given.append(handed_in(batch.id, hit.id, worker, answers, item_seconds={}, **more))
    return hand_in(out.parent, given, out.name)


def _answers(row: str) -> dict[str, Any]:
    odd = not row or int(row[1:]) % 2
    return {"verdict": "yes" if odd else "no", "note": f"about {row or 'it'}"}


def hand_in(tmp: Path, given: Sequence[Mapping[str, Any]], name: str = "results.jsonl") -> Path:
    """A results file of JSON lines."""
    path = tmp / name
    path.write_text("".join(json.dumps(one) + "\n" for one in given), "utf-8")
    return path


def take(tmp: Path, *paths: Path, out: str = "judgments", **more: Any) -> ImportReport:
    """Import results files of the batches of `tmp`."""
    order = ImportOrder(hits=tmp / "hits", out=tmp / out, **more)
    return import_results([str(p) for p in paths], order)


def refusals(tmp: Path, out: str = "judgments") -> list[tuple[str, int, str, str]]:
    """What `refused.jsonl` holds: file name, line, reason and detail."""
    lines = (tmp / out / "refused.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [(Path(r["file"]).name, r["line"], r["reason"], r["detail"]) for r in found]
