"""Pages on any web server, or opened from disk: answers are posted, or saved and handed in.

`task.html` loads the HIT that its link names (`task.html?hit=3`) from `hits/0003.json` beside it,
so that no page holds them all; with `--split-pages` each HIT has a whole page of its own, which
opens from disk, too. A link that names no HIT takes one by a hash of the worker's id: nothing
counts there, so only links that name HITs give each as many workers as it wants.

Results are the submissions as the page makes them: files of JSON or JSON lines, a folder of them,
or a CSV file with one column of JSON (what forms and table services export).
"""

import re
from pathlib import Path
from typing import Any, ClassVar

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout
from factdrift.annotation.links import place_query
from factdrift.annotation.order import Delivery
from factdrift.annotation.page import hit_file, render_page
from factdrift.annotation.platforms.base import Platform, Recognition, write_csv
from factdrift.annotation.reading import read_head
from factdrift.annotation.submission import (
    SUBMISSION_FORMAT,
    Refused,
    Submission,
    submission_from_text,
    submission_from_value,
)

# The end of a link. Prolific fills in its ids; a page takes an unfilled placeholder for no id.
IDS = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
# The batch of a submission, in JSON (`"batch": "0123456789abcdef"`) or in a quoted cell of CSV
# (`""batch"": ""0123456789abcdef""`); not `"batch": "7"`, which is no id of ours.
_NAMED_BATCH = re.compile(r'"+batch"+: ?"+([0-9a-f]{16})"')


class Static(Platform):
    """Self-contained pages; `Delivery` says where their answers go."""

    name = "static"
    delivery_fields: ClassVar[tuple[str, ...]] = ("post", "code", "complete", "split_pages", "url")
    serves_pages = True
    # Who types an id by hand writes `ann` today and `Ann` tomorrow, on a phone that begins with a
    # capital. Ids of recruiting sites are hexadecimal digits (Prolific, Connect) or so long that
    # two of them never differ in case alone.
    ids_ignore_case = True

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """Write `task.html` with `hits/0001.json` …, or `hit-0001.html` …, and `links.csv`.

        The links name every HIT as often as it is to be judged, each a place of its own, and signed
        where `factdrift receive` can serve the page. They go round by round, so that the first
        part of the list covers all HITs evenly.
        """

        def page(*page_hits: Any, page_files: int = 0) -> str:
            return render_page(
                layout,
                page_hits,
                batch_id=batch.id,
                mode="static",
                delivery=delivery,
                files=page_files,
            )

        numbered = [*enumerate(batch.hits, 1)]
        if delivery.split_pages:
            page_files = {f"hit-{hit_number:04}.html": page(hit) for hit_number, hit in numbered}
            page_names = [f"{page_name}?" for page_name in page_files]
        else:
            page_files = {
                f"hits/{hit_number:04}.json": hit_file(hit) for hit_number, hit in numbered
            }
            page_files["task.html"] = page(page_files=len(numbered))
            page_names = []
        for page_name, page_text in page_files.items():
            (folder / page_name).parent.mkdir(exist_ok=True)
            (folder / page_name).write_text(page_text, "ascii", newline="\n")
        page_root = delivery.root() if delivery.url else ""
        link_rows = []
        for slot_number in range(1, layout.assignments + 1):
            for hit_number, hit in numbered:
                place = place_query(batch.link_key, batch.id, hit_number, slot_number)
                page_name = page_names[hit_number - 1] if page_names else f"task.html?{place}&"
                link_rows.append((slot_number, hit.id, page_root + page_name + IDS))
        write_csv(folder / "links.csv", [("assignment", "hit", "link"), *link_rows])

    def recognises(self, results_path: Path) -> Recognition:
        """`POSSIBLE` for submissions of our pages, which Prolific's workers use as well."""
        file_start = read_head(results_path)
        is_ours = SUBMISSION_FORMAT in file_start or _NAMED_BATCH.search(file_start) is not None
        return Recognition.POSSIBLE if is_ours else Recognition.NO

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """The submission that the value is, or that is in the only cell of a row that holds one."""
        if not table:
            return submission_from_value(value, where, line)
        json_cells = [row_cell for row_cell in value.values() if SUBMISSION_FORMAT in row_cell]
        if len(json_cells) == 1:
            return submission_from_text(json_cells[0], where, line)
        return Refused(
            where, line, "not a submission", f"{len(json_cells)} cells hold {SUBMISSION_FORMAT}"
        )


def named_batch(results_path: Path) -> str | None:
    """Return the id of the first batch that a file of our pages' submissions names, or None."""
    batch_match = _NAMED_BATCH.search(read_head(results_path))
    return batch_match[1] if batch_match else None
