"""Pages on any web server, or opened from disk: answers are posted, or saved and handed in.

`task.html` loads the HIT that its link names (`task.html?hit=3`) from `hits/0003.json` beside it,
so that no page holds them all; with `--split-pages` each HIT has a whole page of its own, which
opens from disk, too. A link that names no HIT takes one by a hash of the worker's id: nothing
counts there, so only links that name HITs give each as many workers as it wants.

Results are the submissions as the page makes them: files of JSON or JSON lines, a folder of them,
a CSV file with one column of JSON (what forms and table services export), or what a store of
objects or a browser's storage exports: objects and lists around submissions, or around their text.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout
from factdrift.annotation.links import place_query
from factdrift.annotation.order import Delivery
from factdrift.annotation.page import hit_file, render_page
from factdrift.annotation.platforms.base import FindItem, Platform, Recognition, write_csv
from factdrift.annotation.reading import is_table, json_documents, read_head
from factdrift.annotation.submission import (
    SUBMISSION_FORMAT,
    Refused,
    Submission,
    decode_json,
    submission_from_text,
    submission_from_value,
)
from factdrift.builders.core.config import display_path

# The end of a link. Prolific fills in its ids; a page takes an unfilled placeholder for no id.
IDS = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
# The batch of a submission, in JSON (`"batch": "0123456789abcdef"`) or in a quoted cell of CSV
# (`""batch"": ""0123456789abcdef""`) or text of JSON; not `"batch": "7"`, which is no id of ours.
_NAMED_BATCH = re.compile(r'[\\"]+batch[\\"]+: ?[\\"]+([0-9a-f]{16})[\\"]')


# How deep submissions lie in an export: a browser's storage has texts of a time and a text.
_DEEPEST = 6


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

    def read(
        self, results_path: Path, find_item: FindItem = lambda *item_ids: None
    ) -> Iterator[Submission | Refused]:
        """Yield the submissions of a results file, also those inside of what a store exports."""
        if is_table(results_path):
            yield from super().read(results_path, find_item)
            return
        where = display_path(results_path)
        for entry in json_documents(results_path):
            if isinstance(entry, Refused):
                yield entry
                continue
            inner_values = [*_inner_submissions(entry.value)] or [entry.value]
            for inner_value in inner_values:
                yield self.submission(inner_value, where, entry.line, table=False)

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """The submission that the value is, or that is in the only cell of a row that holds one."""
        if not table:
            return submission_from_value(value, where, line)
        json_cells = [row_cell for row_cell in value.values() if SUBMISSION_FORMAT in row_cell]
        if len(json_cells) == 1:
            cell_text = json_cells[0]
            if cell_text.lstrip().startswith('"'):  # JSON that was written as JSON once more
                with suppress(ValueError):
                    cell_text = str(decode_json(cell_text))
            return submission_from_text(cell_text, where, line)
        return Refused(
            where, line, "not a submission", f"{len(json_cells)} cells hold {SUBMISSION_FORMAT}"
        )


def _inner_submissions(value: Any, depth: int = _DEEPEST) -> Iterator[Any]:
    """The submissions inside of a value: `{"a": {"format": …}}`, or the same as texts of JSON."""
    if isinstance(value, dict) and value.get("format") == SUBMISSION_FORMAT:
        yield value
    elif depth and isinstance(value, dict | list):
        for inner_value in value.values() if isinstance(value, dict) else value:
            yield from _inner_submissions(inner_value, depth - 1)
    elif depth and isinstance(value, str) and SUBMISSION_FORMAT in value:
        with suppress(ValueError):
            yield from _inner_submissions(decode_json(value), depth - 1)


def named_batch(results_path: Path) -> str | None:
    """Return the id of the first batch that a file of our pages' submissions names, or None."""
    batch_match = _NAMED_BATCH.search(read_head(results_path))
    return batch_match[1] if batch_match else None
