"""A small layout, batches of it, and workers who answer them."""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch, Item, read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import FOLDER
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


def order(tmp_folder: Path, rows: int = 20, **more_values: Any) -> BatchOrder:
    """An order of a small layout over a file of rows."""
    folder = tmp_folder / "quick"
    folder.mkdir(exist_ok=True)
    (folder / "layout.yaml").write_text(LAYOUT, "utf-8")
    (folder / "task.html.j2").write_text("{{ everything() }}\n", "utf-8")
    lines = (
        json.dumps({"id": f"r{row_number}", "question": f"Is {row_number} odd?"})
        for row_number in range(rows)
    )
    (tmp_folder / "rows.jsonl").write_text("\n".join(lines), "utf-8")
    batch_order = BatchOrder(layout=str(folder), dataset=str(tmp_folder / "rows.jsonl"), number=6)
    return replace(
        batch_order,
        **{"out": tmp_folder / "hits", "releases": tmp_folder / "releases"} | more_values,
    )


def bare_layout(tmp_folder: Path, name: str) -> str:
    """The folder of a layout of ours without its checks, practice and consent."""
    folder = tmp_folder / "bare" / name
    folder.mkdir(parents=True)
    layout_text = (FOLDER / name / "layout.yaml").read_text("utf-8")
    # `consent:` with all lines below it that are indented
    bare_text = re.sub(r"(?m)^(?:attention|practice|consent):.*\n(?:[ #].*\n)*", "", layout_text)
    (folder / "layout.yaml").write_text(bare_text, "utf-8")
    shutil.copyfile(FOLDER / name / "task.html.j2", folder / "task.html.j2")
    return str(folder)


def batch_of(tmp_folder: Path, **more_values: Any) -> HitBatch:
    """A batch of two HITs of three rows, each with an attention item."""
    return read_batch(make_batch(order(tmp_folder, **more_values))[0])


def handed_in(
    hit_batch: str, hit: str, worker_id: str, item_answers: Mapping[str, Any], **more_values: Any
) -> dict[str, Any]:
    """What a page hands in."""
    return {
        "format": SUBMISSION_FORMAT,
        "batch": hit_batch,
        "hit": hit,
        "worker": worker_id,
        "assignment": "",
        "seconds": 12.0,
        "answers": item_answers,
        "item_seconds": dict.fromkeys(item_answers, 4.0),
    } | more_values


def submission(
    hit_batch: HitBatch, worker_id: str, hit: int = 0, **more_values: Any
) -> dict[str, Any]:
    """What a page hands in: `yes` for rows of an odd number, and a note."""
    answered_hit = hit_batch.hits[hit]
    item_answers = {item.id: _answers(item.row) for item in answered_hit.items}
    return handed_in(hit_batch.id, answered_hit.id, worker_id, item_answers, **more_values)


def work(
    folder: Path,
    out: Path,
    workers: Sequence[str],
    says: Callable[[str, Item], dict[str, Any]],
    *,
    seconds: float = 30.0,
    hits: Callable[[str, int], bool] = lambda worker_id, number: True,
) -> Path:
    """Every worker does the HITs of a batch that `hits` gives them, items as `says(worker, item)`
    has it; the item comes with its known answers. A JSON lines file."""
    hit_batch = read_batch(folder)
    given_answers = []
    for worker_id, (number, hit) in product(workers, enumerate(hit_batch.hits)):
        if hits(worker_id, number):
            item_answers = {item.id: says(worker_id, item) for item in hit.items}
            more_values = {
                "assignment": f"{worker_id}-{hit.id}",
                "seconds": seconds * len(item_answers),
            }
            given_answers.append(
                handed_in(
                    hit_batch.id, hit.id, worker_id, item_answers, item_seconds={}, **more_values
                )
            )
    return hand_in(out.parent, given_answers, out.name)


def _answers(row: str) -> dict[str, Any]:
    odd = not row or int(row[1:]) % 2
    return {"verdict": "yes" if odd else "no", "note": f"about {row or 'it'}"}


def hand_in(
    tmp_folder: Path, entries: Sequence[Mapping[str, Any]], name: str = "results.jsonl"
) -> Path:
    """A results file of JSON lines."""
    file_path = tmp_folder / name
    file_path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")
    return file_path


def take(
    tmp_folder: Path, *paths: Path, out: str = "judgments", **more_values: Any
) -> ImportReport:
    """Import results files of the batches of `tmp`."""
    order = ImportOrder(hits=tmp_folder / "hits", out=tmp_folder / out, **more_values)
    return import_results([str(file_path) for file_path in paths], order)


def refusals(tmp_folder: Path, out: str = "judgments") -> list[tuple[str, int, str, str]]:
    """What `refused.jsonl` holds: file name, line, reason and detail."""
    lines = (tmp_folder / out / "refused.jsonl").read_text("utf-8").splitlines()
    refused_entries = [json.loads(text_line) for text_line in lines]
    return [
        (
            Path(refused_entry["file"]).name,
            refused_entry["line"],
            refused_entry["reason"],
            refused_entry["detail"],
        )
        for refused_entry in refused_entries
    ]
