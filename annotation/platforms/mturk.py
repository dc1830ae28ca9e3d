"""Amazon Mechanical Turk, by its requester site: a CSV file, a template, and the CSV of results.

It takes no new requesters since 30 July 2026: this is for accounts that are older. Everyone else
has `static` pages, which Prolific, Connect and the like take as a link.

The template holds the page of `annotation.page` with one variable, `${data}`, for which a HIT is
put in: deflated JSON in base64, so that MTurk sees nothing but ASCII letters, whatever an article
holds. It may have up to 65,535 bytes with its data. The site puts a template into a form of its
own, with a button below it. HTML allows no form in a form, so the template (`mturk_head.html`)
makes its form by script, takes the button away, and lets no Enter key submit the outer form.

Results are the CSV file of the site (`WorkerId`, `AssignmentId`, `Answer.submission`). Worker and
assignment are those that MTurk says; a submission that says others was copied from elsewhere and
is refused.
"""

import base64
import csv
import re
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import Hit, HitBatch
from factdrift.annotation.layout import Layout
from factdrift.annotation.order import Delivery
from factdrift.annotation.page import packed_hit, render_page
from factdrift.annotation.platforms.base import Certainty, Decide, FitsHit, Platform, write_csv
from factdrift.annotation.reading import csv_rows, is_table, read_head
from factdrift.annotation.submission import (
    LONGEST,
    Refused,
    Submission,
    decode_json,
    submission_from_value,
)
from factdrift.builders.core.config import display_path
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256

# Where answers go, unless the page's address names the sandbox.
SITE = "https://www.mturk.com"
# The column, and field of the page's form, that holds base64 of the submission's JSON.
ANSWER = "Answer.submission"
# Bytes of a template with its data.
LARGEST = 65_535
VARIABLE = "${data}"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Bytes left for what the site puts around a template.
_SPARE = 2048
# Characters that a spreadsheet keeps of a cell.
_CELL = 32_767


class MTurk(Platform):
    """The requester site of Mechanical Turk, by files."""

    name = "mturk"

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """The CSV and template of the requester site."""
        page_template = hit_template(layout, batch.id)
        cells = [packed_hit(hit, batch.id) for hit in batch.hits]
        size = len(page_template) - len(VARIABLE) + _SPARE + max(map(len, cells), default=0)
        readme = resource("annotation/platforms/mturk_readme.txt").read_text("utf-8")
        files = {"template.html": page_template, "README.txt": readme.format(size=size)}
        for name, text in files.items():
            (folder / name).write_text(text, "ascii", newline="\n")
        write_csv(folder / "hits.csv", [["data"], *([cell] for cell in cells)])

    def hit_limit(self, layout: Layout) -> FitsHit:
        """Whether a template with the given items stays within MTurk's 65,535 bytes."""
        bytes_left = LARGEST - _SPARE - len(hit_template(layout, ""))
        any_id = "0" * 16
        return lambda items: len(packed_hit(Hit(any_id, tuple(items)), any_id)) <= bytes_left

    def recognises(self, path: Path) -> Certainty:
        """`SURE` of a table with the columns that only the requester site has."""
        columns = read_head(path).split("\n", 1)[0]
        is_sure = is_table(path) and "AssignmentId" in columns and "WorkerId" in columns
        return Certainty.SURE if is_sure else Certainty.NO

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission from a row of the site's CSV, by the worker and assignment that it names."""
        if not table:
            return Refused(where, line, "not a table", "MTurk's results are the CSV of its site")
        ids = {"worker": value.get("WorkerId"), "assignment": value.get("AssignmentId")}
        encoded = value.get(ANSWER, "").strip()
        if not all(ids.values()):
            return Refused(where, line, "no worker or assignment")
        if not encoded:
            return Refused(where, line, "no answers", f"the column {ANSWER} is missing or empty")
        if len(encoded) > LONGEST:
            return Refused(where, line, "too long", f"{len(encoded):,} characters")
        try:
            decoded = decode_json(base64.b64decode(encoded, validate=True).decode("utf-8"))
        except ValueError as error:
            if len(encoded) == _CELL:
                detail = "a spreadsheet has cut it; take the file as MTurk gives it"
                return Refused(where, line, "cut short", detail)
            return Refused(where, line, "not a submission", str(error)[:120])
        for name, text in ids.items():
            if isinstance(decoded, dict) and decoded.get(name) not in (None, "", text):
                return Refused(where, line, "another's submission", f"it names another {name}")
        return submission_from_value(decoded, where, line, **ids)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """The CSV with Approve or Reject filled in, for work that still waits for a decision.

        It holds no cell that a spreadsheet would take for a formula; none is written where no
        row can be read: a row that is none has no id to decide by.
        """
        rows: list[list[str]] = []
        for row in csv_rows(path) if is_table(path) else ():
            if isinstance(row, Refused):
                continue
            names = [name for name in row.value if name not in ("Approve", "Reject")]
            rows = rows or [[*map(_escape_formula, names), "Approve", "Reject"]]
            submission = self.submission(row.value, display_path(path), row.line, table=True)
            is_open = row.value.get("AssignmentStatus") in ("Submitted", "", None)
            verdict = decide(submission) if is_open and isinstance(submission, Submission) else None
            marks = ["", ""]
            if verdict is not None:
                marks = ["", _reason_for_worker(verdict.reason)] if verdict.reason else ["x", ""]
            rows.append([*(_escape_formula(row.value[name]) for name in names), *marks])
        if not rows:
            return []
        out = folder / f"mturk-{file_sha256(path)[:8]}-review.csv"
        return [write_csv(out, rows, quoting=csv.QUOTE_ALL, lineterminator="\r\n")]


def hit_template(layout: Layout, batch: str) -> str:
    """The page as a template of the requester site; it submits to the site that it is on."""
    page = render_page(layout, [], batch=batch, mode="mturk")
    inside = page[page.index("<body>") + len("<body>") : page.rindex("</body>")]
    without_forms = re.sub(r"<form\b.*?</form>\n?", "", inside, flags=re.DOTALL)
    form = resource("annotation/platforms/mturk_head.html").read_text("utf-8")
    return form.replace("SUBMIT_TO", SITE) + without_forms.lstrip("\n")


def _reason_for_worker(reason: str) -> str:
    text = f"The answers could not be used: {reason.replace('_', ' ')}"
    return (text if text.endswith((".", "?", "!")) else f"{text}.")[:1000]


def _escape_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
