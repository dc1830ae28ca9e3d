"""Amazon Mechanical Turk, by files of its requester site: a CSV, a template, and a CSV of results.

It takes no new requesters since 30 July 2026; others have `static` pages, to which Prolific and
Connect send people. The template holds the page with one variable, `${data}`, for a HIT: deflated
JSON in base64, ASCII letters whatever an article holds. The site puts a template into a form of its
own with a button, and HTML allows no form in a form: `mturk_head.html` makes one by script, and
takes the button away. A submission that names another worker or assignment than the site does was
copied from elsewhere, and is refused.
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
from factdrift.annotation.platforms.base import Decide, FitsHit, Platform, Recognition, write_csv
from factdrift.annotation.reading import csv_rows, is_table, read_head
from factdrift.annotation.submission import Refused, Submission, decode_json, submission_from_value
from factdrift.builders.core.config import display_path
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.limits import LONGEST_ROW

# Where answers go, unless the page's address names the sandbox.
SITE = "https://www.mturk.com"
# The column, and field of the page's form, that holds base64 of the submission's JSON.
ANSWER = "Answer.submission"
# A form with all in it and the line end after it: `<form id="a">…</form>`, but not `<formula>`.
_FORM = re.compile(r"<form\b.*?</form>\n?", re.DOTALL)
# Bytes of a template with its data.
LARGEST = 65_535
VARIABLE = "${data}"
# The columns in which a requester decides.
_DECIDED = ("Approve", "Reject")
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
        page_size = len(page_template) - len(VARIABLE) + _SPARE + max(map(len, cells), default=0)
        readme_text = resource("annotation/platforms/mturk_readme.txt").read_text("utf-8")
        (folder / "template.html").write_text(page_template, "ascii", newline="\n")
        (folder / "README.txt").write_text(readme_text.format(size=page_size), "ascii")
        write_csv(folder / "hits.csv", [["data"], *([row_cell] for row_cell in cells)])

    def hit_limit(self, layout: Layout) -> FitsHit:
        """Whether a template with the given items stays within MTurk's 65,535 bytes."""
        bytes_left = LARGEST - _SPARE - len(hit_template(layout, ""))
        any_id = "0" * 16
        return lambda items: len(packed_hit(Hit(any_id, tuple(items)), any_id)) <= bytes_left

    def recognises(self, results_path: Path) -> Recognition:
        """`SURE` of a table with the columns that only the requester site has."""
        head = read_head(results_path).split("\n", 1)[0]
        is_sure = is_table(results_path) and "AssignmentId" in head and "WorkerId" in head
        return Recognition.SURE if is_sure else Recognition.NO

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission from a row of the site's CSV, by the worker and assignment that it names."""
        if not table:
            return Refused(where, line, "not a table", "MTurk's results are the CSV of its site")
        ids = {"worker": value.get("WorkerId"), "assignment": value.get("AssignmentId")}
        encoded_answer = value.get(ANSWER, "").strip()
        if not all(ids.values()):
            return Refused(where, line, "no worker or assignment")
        if not encoded_answer:
            return Refused(where, line, "no answers", f"the column {ANSWER} is missing or empty")
        if len(encoded_answer) > LONGEST_ROW:
            return Refused(where, line, "too long", f"{len(encoded_answer):,} characters")
        try:
            answer_text = base64.b64decode(encoded_answer, validate=True).decode("utf-8")
            answer = decode_json(answer_text)
        except ValueError as error:
            if len(encoded_answer) == _CELL:
                refusal_detail = "a spreadsheet has cut it; take the file as MTurk gives it"
                return Refused(where, line, "cut short", refusal_detail)
            return Refused(where, line, "not a submission", str(error)[:120])
        for name, platform_id in ids.items():
            if isinstance(answer, dict) and answer.get(name) not in (None, "", platform_id):
                return Refused(where, line, "another's submission", f"it names another {name}")
        status = value.get("AssignmentStatus") or ""
        return submission_from_value(answer, where, line, **ids, status=status)

    def feedback(self, results_path: Path, decide: Decide, folder: Path) -> list[str]:
        """The CSV with Approve or Reject filled in, for work that still waits for a decision.

        It holds no cell that a spreadsheet would take for a formula; none is written where no
        row can be read: a row that is none has no id to decide by.
        """
        table_rows: list[list[str]] = []
        for entry in csv_rows(results_path) if is_table(results_path) else ():
            if isinstance(entry, Refused):
                continue
            cells = {name: entry.value[name] for name in entry.value if name not in _DECIDED}
            table_rows = table_rows or [[*map(_escape_formula, cells), *_DECIDED]]
            submission = self.submission(cells, display_path(results_path), entry.line, table=True)
            is_open = cells.get("AssignmentStatus") in ("Submitted", "", None)
            verdict = decide(submission) if is_open and isinstance(submission, Submission) else None
            marks = ["", ""] if verdict is None else ["x", ""]
            if verdict is not None and verdict.reason:
                marks = ["", _reason_for_worker(verdict.reason)]
            table_rows.append([*map(_escape_formula, cells.values()), *marks])
        if not table_rows:
            return []
        feedback_path = folder / f"mturk-{file_sha256(results_path)[:8]}-review.csv"
        return [write_csv(feedback_path, table_rows, quoting=csv.QUOTE_ALL, lineterminator="\r\n")]


def hit_template(layout: Layout, batch: str) -> str:
    """The page as a template of the requester site; it submits to the site that it is on."""
    page_html = render_page(layout, [], batch_id=batch, mode="mturk")
    inside_form = page_html[page_html.index("<body>") + len("<body>") : page_html.rindex("</body>")]
    without_forms = _FORM.sub("", inside_form)
    form_html = resource("annotation/platforms/mturk_head.html").read_text("utf-8")
    return form_html.replace("SUBMIT_TO", SITE) + without_forms.lstrip("\n")


def _reason_for_worker(rejection_text: str) -> str:
    reason_text = f"The answers could not be used: {rejection_text.replace('_', ' ')}"
    return (reason_text if reason_text.endswith((".", "?", "!")) else f"{reason_text}.")[:1000]


def _escape_formula(cell_text: str) -> str:
    return f"'{cell_text}" if cell_text.startswith(_FORMULA) else cell_text
