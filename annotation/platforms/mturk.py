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
from factdrift.annotation.platforms.base import Decide, FitsHit, Platform, Recognition, write_csv
from factdrift.annotation.reading import csv_rows, is_table, read_head
from factdrift.annotation.submission import (
    Refused,
    Submission,
    decode_json,
    submission_from_value,
)
from factdrift.builders.core.config import display_path
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.limits import LONGEST_ROW

# Where answers go, unless the page's address names the sandbox.
SITE = "https://www.mturk.com"
# The column, and field of the page's form, that holds base64 of the submission's JSON.
ANSWER = "Answer.submission"
# Bytes of a template with its data.
_FORM = re.compile(r"<form\b.*?</form>\n?", re.DOTALL)
"""A form with all in it and the line end after it: `<form id="a">…</form>`, but not `<formula>`."""
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
        page_size = len(page_template) - len(VARIABLE) + _SPARE + max(map(len, cells), default=0)
        readme_text = resource("annotation/platforms/mturk_readme.txt").read_text("utf-8")
        file_texts = {
            "template.html": page_template,
            "README.txt": readme_text.format(size=page_size),
        }
        for file_name, file_text in file_texts.items():
            (folder / file_name).write_text(file_text, "ascii", newline="\n")
        write_csv(folder / "hits.csv", [["data"], *([row_cell] for row_cell in cells)])

    def hit_limit(self, layout: Layout) -> FitsHit:
        """Whether a template with the given items stays within MTurk's 65,535 bytes."""
        bytes_left = LARGEST - _SPARE - len(hit_template(layout, ""))
        any_id = "0" * 16
        return lambda items: len(packed_hit(Hit(any_id, tuple(items)), any_id)) <= bytes_left

    def recognises(self, results_path: Path) -> Recognition:
        """`SURE` of a table with the columns that only the requester site has."""
        column_names = read_head(results_path).split("\n", 1)[0]
        is_sure = (
            is_table(results_path) and "AssignmentId" in column_names and "WorkerId" in column_names
        )
        return Recognition.SURE if is_sure else Recognition.NO

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission from a row of the site's CSV, by the worker and assignment that it names."""
        if not table:
            return Refused(where, line, "not a table", "MTurk's results are the CSV of its site")
        platform_ids = {"worker": value.get("WorkerId"), "assignment": value.get("AssignmentId")}
        row_status = value.get("AssignmentStatus", "")
        encoded_answer = value.get(ANSWER, "").strip()
        if not all(platform_ids.values()):
            return Refused(where, line, "no worker or assignment")
        if not encoded_answer:
            return Refused(where, line, "no answers", f"the column {ANSWER} is missing or empty")
        if len(encoded_answer) > LONGEST_ROW:
            return Refused(where, line, "too long", f"{len(encoded_answer):,} characters")
        try:
            decoded_answer = decode_json(
                base64.b64decode(encoded_answer, validate=True).decode("utf-8")
            )
        except ValueError as error:
            if len(encoded_answer) == _CELL:
                refusal_detail = "a spreadsheet has cut it; take the file as MTurk gives it"
                return Refused(where, line, "cut short", refusal_detail)
            return Refused(where, line, "not a submission", str(error)[:120])
        for column_name, answer_text in platform_ids.items():
            if isinstance(decoded_answer, dict) and decoded_answer.get(column_name) not in (
                None,
                "",
                answer_text,
            ):
                return Refused(
                    where, line, "another's submission", f"it names another {column_name}"
                )
        return submission_from_value(decoded_answer, where, line, **platform_ids, status=row_status)

    def feedback(self, results_path: Path, decide: Decide, folder: Path) -> list[str]:
        """The CSV with Approve or Reject filled in, for work that still waits for a decision.

        It holds no cell that a spreadsheet would take for a formula; none is written where no
        row can be read: a row that is none has no id to decide by.
        """
        table_rows: list[list[str]] = []
        for table_row in csv_rows(results_path) if is_table(results_path) else ():
            if isinstance(table_row, Refused):
                continue
            column_names = [
                column_name
                for column_name in table_row.value
                if column_name not in ("Approve", "Reject")
            ]
            table_rows = table_rows or [[*map(_escape_formula, column_names), "Approve", "Reject"]]
            row_submission = self.submission(
                table_row.value, display_path(results_path), table_row.line, table=True
            )
            is_open = table_row.value.get("AssignmentStatus") in ("Submitted", "", None)
            verdict = (
                decide(row_submission)
                if is_open and isinstance(row_submission, Submission)
                else None
            )
            verdict_marks = ["", ""]
            if verdict is not None:
                verdict_marks = (
                    ["", _reason_for_worker(verdict.reason)] if verdict.reason else ["x", ""]
                )
            table_rows.append(
                [
                    *(
                        _escape_formula(table_row.value[column_name])
                        for column_name in column_names
                    ),
                    *verdict_marks,
                ]
            )
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
