"""Label Studio: a labelling configuration and tasks to import, and its JSON export read back.

One task an item, with every field as plain text. Annotators do the tasks of a HIT one by one;
their annotations of it are put together as one submission, which is refused while some are
missing. What they skipped and what is only a draft is reported as such.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
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
        """Submissions in the order in which their HITs become whole, then those that did not.

        Holds the answers to the HITs that are not whole yet, never the tasks' texts.
        """
        where = shown(path)
        open_: dict[_Key, list[_Part]] = {}
        for found in documents(path):
            if isinstance(found, Refused):
                yield found
                continue
            for one in _annotations(found.text, where, found.line):
                if isinstance(one, Refused):
                    yield one
                    continue
                parts = open_.setdefault(one.key, [])
                part = next((p for p in parts if one.item not in p.answers), None)
                if part is None:
                    part = _Part(found.line)
                    parts.append(part)
                part.add(one)
                if len(part.answers) >= one.items:
                    yield part.submission(one.key, where)
                    parts.remove(part)
                    if not parts:
                        del open_[one.key]
        for key, parts in open_.items():
            yield from (part.submission(key, where) for part in parts)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """None: annotators there are one's own."""
        return []


_Key = tuple[str, str, str]


@dataclass
class _One:
    """One annotation: `key` is batch, HIT and worker."""

    key: _Key
    item: str
    items: int
    name: str
    answers: dict[str, Any]
    seconds: float | None


@dataclass
class _Part:
    """What a worker has said of a HIT so far."""

    line: int
    answers: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def add(self, one: _One) -> None:
        self.answers[one.item] = one.answers
        self.names.append(one.name)
        if one.seconds is not None:
            self.seconds[one.item] = one.seconds

    def submission(self, key: _Key, where: str) -> Submission | Refused:
        batch, hit, worker = key
        timed = len(self.seconds) == len(self.answers)
        value = {
            "format": SUBMISSION,
            "batch": batch,
            "hit": hit,
            "worker": worker,
            "assignment": "+".join(sorted(self.names))[:200],
            "seconds": sum(self.seconds.values()) if timed else None,
            "answers": self.answers,
            "item_seconds": self.seconds,
        }
        return from_value(value, where, self.line)


def _annotations(text: str, where: str, line: int) -> Iterator[_One | Refused]:
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
            yield _one(one, data, meta, refused)


def _one(
    one: dict[str, Any], data: dict[str, Any], meta: dict[str, Any], refused: Any
) -> _One | Refused:
    try:
        said = answers(one.get("result"), data, meta)
    except BadResultError as error:
        wrong: Refused = refused(error.reason, f"item {_id(meta.get('item'))}: {error.detail}")
        return wrong
    worker = one.get("completed_by")
    if isinstance(worker, dict):
        worker = worker.get("id")
    texts = [_id(meta.get(name)) for name in ("batch", "hit", "item")]
    items, time = meta.get("items"), one.get("lead_time")
    timed = isinstance(time, int | float) and not isinstance(time, bool)
    return _One(
        key=(texts[0], texts[1], _id(worker)),
        item=texts[2],
        items=items if isinstance(items, int) else 1,
        name=_id(one.get("id")),
        answers=said,
        seconds=float(time) if timed and time is not None else None,
    )


def _id(value: object) -> str:
    """An id as text; empty for what is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)
