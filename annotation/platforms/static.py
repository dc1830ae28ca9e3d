"""Pages on any web server, or opened from disk: answers are posted, or saved and handed in.

`task.html` loads the HIT that its link names (`task.html?hit=3`) from `hits/0003.json` beside it,
so that no page holds them all; with `--split-pages` each HIT has a whole page of its own, which
opens from disk, too. A link that names no HIT takes one by a hash of the worker's id: nothing
counts there, so only links that name HITs give each as many workers as it wants.

Results are the submissions as the page makes them: files of JSON or JSON lines, a folder of them,
or a CSV file with one column of JSON (what forms and table services export).
"""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout
from factdrift.annotation.page import hit_file, render, web_address
from factdrift.annotation.platforms.base import Delivery, Platform
from factdrift.annotation.submission import FORMAT, Refused, Submission, from_text, from_value

PAGE, HITS = "task.html", "hits"
_DELIVER = ("post", "code", "complete")
LINKS = "links.csv"
IDS = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
"""Of a link: Prolific puts its ids there; a page takes what was not filled in for no id."""


class Static(Platform):
    """Self-contained pages; `Delivery` says where their answers go."""

    name = "static"
    heeds: tuple[str, ...] = (*_DELIVER, "split", "url")

    def export(
        self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery
    ) -> list[str]:
        """`task.html` and `hits/0001.json` …, or `hit-0001.html` …; `links.csv`."""
        deliver = {
            name: value for name in _DELIVER if (value := getattr(delivery, name)) is not None
        }
        made = []
        for name, text in _pages(batch, layout, deliver, split=delivery.split):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "ascii", newline="\n")
            made.append(name)
        (folder / LINKS).write_text(_links(batch, layout, delivery), "utf-8", newline="\n")
        return [*made, LINKS]

    def knows(self, path: Path) -> bool:
        """Anything: results that no platform knows are reported as such, line by line."""
        return True

    def from_document(self, value: Any, where: str, line: int) -> Iterator[Submission | Refused]:
        yield from_value(value, where, line)

    def from_row(
        self, cells: dict[str, str], where: str, line: int
    ) -> Iterator[Submission | Refused]:
        """The submission in the one cell of a row that holds any."""
        found = [cell for cell in cells.values() if FORMAT in cell]
        if len(found) == 1:
            yield from_text(found[0], where, line)
        else:
            yield Refused(where, line, "not a submission", f"{len(found)} cells hold {FORMAT}")


def _pages(
    batch: HitBatch, layout: Layout, deliver: Mapping[str, str], *, split: bool
) -> Iterator[tuple[str, str]]:
    """The name and text of each page, and of each file of a HIT."""
    hits = enumerate(batch.hits, 1)
    if split:
        for n, hit in hits:
            page = render(layout, [hit], batch=batch.id, mode="static", deliver=deliver)
            yield f"hit-{n:04}.html", page
        return
    many = len(batch.hits)
    yield PAGE, render(layout, [], batch=batch.id, mode="static", deliver=deliver, files=many)
    for n, hit in hits:
        yield f"{HITS}/{n:04}.json", hit_file(hit)


def _links(batch: HitBatch, layout: Layout, delivery: Delivery) -> str:
    """Every HIT as often as it is to be judged; round by round, so that a cut list is even."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    root = f"{(web_address(delivery.url) or '').rstrip('/')}/" if delivery.url else ""
    write.writerow(["assignment", "hit", "link"])
    for turn in range(1, layout.assignments + 1):
        for number, hit in enumerate(batch.hits, 1):
            page = f"hit-{number:04}.html?" if delivery.split else f"{PAGE}?hit={number}&"
            write.writerow([turn, hit.id, root + page + IDS])
    return out.getvalue()
