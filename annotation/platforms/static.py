"""Pages on any web server, or opened from disk: answers are posted, or saved and handed in.

A page takes the HIT that its link names (`task.html?hit=3`), else one by a hash of the worker's id:
nothing counts there, so only links that name HITs give each as many workers as it wants. Results
are the submissions as the page makes them: files of JSON or JSON lines, a folder of them, or a
CSV file with one column of JSON (what forms and table services export).
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from annotation.batch import Batch
from annotation.layout import Layout
from annotation.page import render
from annotation.platforms.base import Decide, Delivery
from annotation.reading import Row, documents, table
from annotation.submission import FORMAT, Refused, Submission, from_text
from builders.config import shown

PAGE = "task.html"
LINKS = "links.csv"
WHO = "PROLIFIC_PID={{%PROLIFIC_PID%}}"
"""Of a link: Prolific puts the participant's id there; a page takes it unfilled for no id."""


class Static:
    """Self-contained pages; see `Delivery` for what they can be told."""

    name = "static"
    heeds: tuple[str, ...] = ("post", "code", "complete", "split")
    piecewise = False

    def export(
        self, batch: Batch, layout: Layout, layout_folder: Path, folder: Path, delivery: Delivery
    ) -> list[str]:
        """`task.html` with all HITs, or `hit-0001.html` …; `links.csv`: a link a judgment."""
        deliver = delivery.named("post", "code", "complete")
        pages = (
            {f"hit-{n:04}.html": [hit] for n, hit in enumerate(batch.hits, 1)}
            if delivery.split
            else {PAGE: list(batch.hits)}
        )
        for name, hits in pages.items():
            text = render(
                layout,
                batch.layout,
                layout_folder,
                hits,
                batch=batch.id,
                mode="static",
                deliver=deliver,
            )
            (folder / name).write_text(text, "utf-8", newline="\n")
        (folder / LINKS).write_text(_links(batch, layout, delivery), "utf-8", newline="\n")
        return [*pages, LINKS]

    def knows(self, path: Path) -> bool:
        """Anything: results that no platform knows are reported as such, line by line."""
        return True

    def read(self, path: Path) -> Iterator[Submission | Refused]:
        """Submissions of a JSON, JSONL or CSV file."""
        where = shown(path)
        if path.suffix.lower() in (".csv", ".tsv"):
            for row in table(path):
                yield row if isinstance(row, Refused) else _from_row(row, where)
            return
        for found in documents(path):
            if isinstance(found, Refused):
                yield found
            else:
                yield from_text(found.text, where, found.line)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """None: there is nobody to tell."""
        return []


def _links(batch: Batch, layout: Layout, delivery: Delivery) -> str:
    """Every HIT as often as it is to be judged; round by round, so that a cut list is even."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["assignment", "hit", "link"])
    for turn in range(1, layout.assignments + 1):
        for number, hit in enumerate(batch.hits, 1):
            page = f"hit-{number:04}.html?" if delivery.split else f"{PAGE}?hit={number}&"
            write.writerow([turn, hit.id, page + WHO])
    return out.getvalue()


def _from_row(row: Row, where: str) -> Submission | Refused:
    """The one cell of a row that holds a submission."""
    cells = [cell for cell in row.cells.values() if FORMAT in cell]
    if len(cells) != 1:
        detail = f"{len(cells)} cells hold {FORMAT}"
        return Refused(where, row.line, "not a submission", detail)
    return from_text(cells[0], where, row.line)
