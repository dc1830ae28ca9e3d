"""Pages on any web server, or opened from disk: answers are posted, or saved and handed in.

`task.html` loads the HIT that its link names (`task.html?hit=3`) from `hits/0003.json` beside it,
so that no page holds them all; with `--split-pages` each HIT has a whole page of its own, which
opens from disk, too. A link that names no HIT takes one by a hash of the worker's id: nothing
counts there, so only links that name HITs give each as many workers as it wants.

Results are the submissions as the page makes them: files of JSON or JSON lines, a folder of them,
or a CSV file with one column of JSON (what forms and table services export).
"""

from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout
from factdrift.annotation.order import Delivery
from factdrift.annotation.page import hit_file, render_page
from factdrift.annotation.platforms.base import Platform, write_csv
from factdrift.annotation.submission import (
    FORMAT,
    Refused,
    Submission,
    submission_from_text,
    submission_from_value,
)

IDS = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
"""Of a link: Prolific puts its ids there; a page takes what was not filled in for no id."""


class Static(Platform):
    """Self-contained pages; `Delivery` says where their answers go."""

    name = "static"
    heeds: tuple[str, ...] = ("post", "code", "complete", "split_pages", "url")

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """`task.html` and `hits/0001.json` …, or `hit-0001.html` …; `links.csv`.

        Links name every HIT as often as it is to be judged; round by round, so that a cut list
        is even.
        """

        def page(*hits: Any, files: int = 0) -> str:
            return render_page(
                layout, hits, batch=batch.id, mode="static", delivery=delivery, files=files
            )

        numbered = [*enumerate(batch.hits, 1)]
        if delivery.split_pages:
            files = {f"hit-{n:04}.html": page(hit) for n, hit in numbered}
            names = [f"{name}?" for name in files]
        else:
            files = {f"hits/{n:04}.json": hit_file(hit) for n, hit in numbered}
            files["task.html"] = page(files=len(numbered))
            names = [f"task.html?hit={n}&" for n, _ in numbered]
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "ascii", newline="\n")
        root = delivery.root() if delivery.url else ""
        links = [
            (turn, hit.id, root + name + IDS)
            for turn in range(1, layout.assignments + 1)
            for hit, name in zip(batch.hits, names, strict=True)
        ]
        write_csv(folder / "links.csv", [("assignment", "hit", "link"), *links])

    def knows(self, path: Path) -> bool:
        """Anything: results that no platform knows are reported as such, line by line."""
        return True

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission, or that in the one cell of a row that holds any."""
        if not table:
            return submission_from_value(value, where, line)
        found = [cell for cell in value.values() if FORMAT in cell]
        if len(found) == 1:
            return submission_from_text(found[0], where, line)
        return Refused(where, line, "not a submission", f"{len(found)} cells hold {FORMAT}")
