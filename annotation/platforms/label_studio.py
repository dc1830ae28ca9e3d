"""Label Studio: a labelling configuration and tasks to import, and its JSON export read back.

One task an item, with every field as plain text. Annotators do tasks one by one and not HIT by
HIT: each annotation is a submission of its own, of one item. What they skipped and what is only a
draft is reported as such.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.batch import Batch
from annotation.layout import Layout
from annotation.platforms.base import Decide, Delivery
from annotation.platforms.label_studio_answers import BadResultError, answers
from annotation.platforms.label_studio_config import FORMAT, META, config, task
from annotation.reading import documents, head
from annotation.submission import FORMAT as SUBMISSION
from annotation.submission import Refused, Submission, decode, from_value
from builders.config import shown

CONFIG, TASKS, README = "config.xml", "tasks.json", "README.txt"
_HOW = """For Label Studio
  1. Create a project; paste config.xml into Settings, Labeling Interface, Code.
  2. Import tasks.json. For several annotators a task, set the overlap of annotations to {n}.
  3. Export as JSON (not JSON-MIN or CSV): make judgments RESULTS=export.json
Words found by a program are not highlighted there, and limits of texts are checked at import.
"""


class LabelStudio:
    """Label Studio, by files."""

    name = "label_studio"
    heeds: tuple[str, ...] = ()
    piecewise = True

    def export(
        self, batch: Batch, layout: Layout, layout_folder: Path, folder: Path, delivery: Delivery
    ) -> list[str]:
        """`config.xml` and `tasks.json`."""
        (folder / CONFIG).write_text(config(layout), "utf-8", newline="\n")
        (folder / README).write_text(_HOW.format(n=layout.assignments), "utf-8", newline="\n")
        lines = (
            json.dumps(task(layout, batch.id, hit, item), ensure_ascii=False, sort_keys=True)
            for hit in batch.hits
            for item in hit.items
        )
        with (folder / TASKS).open("w", encoding="utf-8", newline="\n") as file:
            for n, line in enumerate(lines):
                file.write(("[\n" if n == 0 else ",\n") + line)
            file.write("\n]\n" if batch.hits else "[]\n")
        return [CONFIG, TASKS, README]

    def knows(self, path: Path) -> bool:
        """Tasks of ours with annotations."""
        if path.suffix.lower() != ".json":
            return False
        start = head(path)
        return f'"{META}"' in start or ('"annotations"' in start and '"data"' in start)

    def read(self, path: Path) -> Iterator[Submission | Refused]:
        """A submission for each annotation, in order; `assignment` is the annotation's id."""
        where = shown(path)
        for found in documents(path):
            if isinstance(found, Refused):
                yield found
            else:
                yield from _annotations(found.text, where, found.line)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """None: annotators there are one's own."""
        return []


def _annotations(text: str, where: str, line: int) -> Iterator[Submission | Refused]:
    """The annotations of one task; what is skipped, a draft or not ours is refused."""

    def refused(reason: str, detail: str = "") -> Refused:
        return Refused(where, line, reason, detail)

    try:
        value = decode(text)
    except ValueError as error:
        yield refused("not valid JSON", str(error)[:120])
        return
    data = value.get("data") if isinstance(value, dict) else None
    data = data if isinstance(data, dict) else {}
    meta = data.get(META)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        yield refused("not a task of ours", f"its data has no {META} of {FORMAT}")
        return
    drafts = value.get("drafts") or []
    given = value.get("annotations") or []
    if not isinstance(given, list) or not isinstance(drafts, list):
        yield refused("not an export of Label Studio", "annotations is not a list")
        return
    for _ in drafts:
        yield refused("draft", f"item {_id(meta.get('item'))}: not submitted")
    for one in given:
        if not isinstance(one, dict):
            yield refused("not an export of Label Studio", "an annotation is not an object")
        elif one.get("was_cancelled") is True:
            yield refused("skipped", f"item {_id(meta.get('item'))}")
        else:
            yield _one(one, data, meta, where, line)


def _one(
    one: dict[str, Any], data: dict[str, Any], meta: dict[str, Any], where: str, line: int
) -> Submission | Refused:
    item = _id(meta.get("item"))
    try:
        said = answers(one.get("result"), data, meta)
    except BadResultError as error:
        return Refused(where, line, error.reason, f"item {item}: {error.detail}")
    worker = one.get("completed_by")
    if isinstance(worker, dict):
        worker = worker.get("id")
    time = one.get("lead_time")
    timed = isinstance(time, int | float) and not isinstance(time, bool)
    value = {
        "format": SUBMISSION,
        "batch": _id(meta.get("batch")),
        "hit": _id(meta.get("hit")),
        "worker": _id(worker),
        "assignment": _id(one.get("id")),
        "seconds": time if timed else None,
        "answers": {item: said},
        "item_seconds": {item: time} if timed else {},
    }
    return from_value(value, where, line)


def _id(value: object) -> str:
    """An id as text; empty for what is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)
