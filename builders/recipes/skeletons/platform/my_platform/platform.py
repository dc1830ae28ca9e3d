"""The platform `my-platform`: replace both file forms by those of your platform."""

import json
from pathlib import Path
from typing import Any, ClassVar

from factdrift.kit import (
    SUBMISSION_FORMAT,
    Delivery,
    HitBatch,
    Layout,
    Platform,
    Recognition,
    Refused,
    Submission,
    read_head,
    submission_from_value,
)


class MyPlatform(Platform):
    """A site that takes a file of tasks, and returns a JSON line a worker and task."""

    name: ClassVar[str] = "my-platform"

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """Write `tasks.json`: for each HIT its id and what a worker sees of its items."""
        tasks = []
        for hit in batch.hits:
            items = {item.id: dict(item.fields) for item in hit.items}
            tasks.append({"my_platform_task": f"{batch.id} {hit.id}", "items": items})
        text = json.dumps(tasks, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / "tasks.json").write_text(text + "\n", "utf-8")

    def recognises(self, path: Path) -> Recognition:
        """Results name the task in a field that no other platform has."""
        return Recognition.SURE if '"my_platform_task"' in read_head(path) else Recognition.NO

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """One line: `{"my_platform_task": …, "worker": …, "answers": {item: {answer: value}}}`."""
        try:
            batch, hit = value["my_platform_task"].split()
            submission = {
                "format": SUBMISSION_FORMAT,
                "batch": batch,
                "hit": hit,
                "worker": value["worker"],
                "assignment": value["worker"],
                "answers": value["answers"],
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return Refused(where, line, "not a result of my-platform", str(error))
        return submission_from_value(submission, where, line)
