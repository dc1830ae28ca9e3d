"""Amazon Mechanical Turk: by its requester site (a CSV file and a template) or its API.

It takes no new requesters since 30 July 2026: this is for accounts that are older. Everyone else
has `static` pages, which Prolific, Connect and the like take as a link.

Results are the CSV file of the requester site (`WorkerId`, `AssignmentId`, `Answer.submission`),
the JSON lines that `factdrift mturk results` writes, or the answer of the API operation
ListAssignmentsForHIT. Worker and assignment are those that MTurk says; a submission that says
others was copied from elsewhere and is refused.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.batch import Batch
from annotation.layout import Layout
from annotation.page import data
from annotation.platforms.base import Decide, Delivery, Fits
from annotation.platforms.mturk_answers import ANSWER, from_assignment, taken
from annotation.platforms.mturk_page import SUBMIT, check_sizes, question, room, template
from annotation.reading import documents, head, table
from annotation.submission import Refused, Submission, decode
from builders.config import shown
from builders.store import file_sha256

FORMAT = "factdrift-mturk/1"
"""Of the lines that the API's results are kept in."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
CSV, TEMPLATE, README = "hits.csv", "template.html", "README.txt"
_HOW = """For MTurk. It takes no new requesters since 30 July 2026; whoever has no account there
can use PLATFORM=static with Prolific, Connect or people of their own.

By the requester site
  1. Create a project with the title, pay, assignments and qualifications of ../layout/layout.yaml.
  2. Paste template.html into its Design Layout, in place of what is there.
  3. Publish a batch with hits.csv.
  4. Download the results as CSV: make judgments RESULTS=file.csv
  5. FEEDBACK=folder writes a file with Approve and Reject filled in, for Upload CSV.

By the API (.venv/bin/pip install boto3; keys where boto3 finds them), on the sandbox without
--production
  .venv/bin/factdrift mturk publish {batch}
  .venv/bin/factdrift mturk results {batch}
  make judgments RESULTS=results/ FEEDBACK=decisions
  .venv/bin/factdrift mturk decide decisions

The largest question has {size:,} of 65,535 bytes.
"""


class MTurk:
    """Amazon Mechanical Turk."""

    name = "mturk"
    heeds: tuple[str, ...] = ("submit",)
    piecewise = False

    def export(
        self, batch: Batch, layout: Layout, layout_folder: Path, folder: Path, delivery: Delivery
    ) -> list[str]:
        """The CSV and template of the requester site, and the questions of both sites of the API.

        `delivery.submit` takes the place of the sandbox.
        """
        submits = {**SUBMIT, **({"sandbox": delivery.submit} if delivery.submit else {})}
        files = {
            f"question-{site}.xml": question(layout, batch.layout, layout_folder, batch.id, submit)
            for site, submit in submits.items()
        }
        size = max(check_sizes(text, batch) for text in files.values())
        submit = delivery.submit or SUBMIT["production"]
        files[TEMPLATE] = template(layout, batch.layout, layout_folder, batch.id, submit)
        place = f"{batch.folder.parent.name}/{batch.folder.name}"
        files[README] = _HOW.format(batch=f"hits/{place}", size=size)
        for name, text in files.items():
            (folder / name).write_text(text, "ascii", newline="\n")
        with (folder / CSV).open("w", encoding="ascii", newline="") as file:
            write = csv.writer(file, lineterminator="\n")
            write.writerow(["data"])
            write.writerows([data(hit, batch.id)] for hit in batch.hits)
        return [*files, CSV]

    def room(self, layout: Layout, name: str, layout_folder: Path) -> Fits:
        """Whether a question with these items stays within MTurk's 65,535 bytes."""
        return room(question(layout, name, layout_folder, "", SUBMIT["sandbox"]))

    def knows(self, path: Path) -> bool:
        """Columns of the requester site, or assignments of the API."""
        start = head(path)
        if _is_table(path):
            first = start.split("\n", 1)[0]
            return "AssignmentId" in first and "WorkerId" in first
        return f'"format": "{FORMAT}"' in start or '"AssignmentId"' in start

    def read(self, path: Path) -> Iterator[Submission | Refused]:
        """The submissions of a results file, in its order."""
        if _is_table(path):
            for row in table(path):
                yield row if isinstance(row, Refused) else _from_row(row.cells, path, row.line)
            return
        for line, value in _assignments(path):
            if isinstance(value, Refused):
                yield value
            else:
                yield from_assignment(value, shown(path), line)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """The CSV with Approve or Reject filled in, or decisions for the API.

        Only what still waits for a decision is decided. The CSV holds no cell that a
        spreadsheet would take for a formula; none is written where no row can be read.
        """
        sign = file_sha256(path)[:8]
        if _is_table(path):
            name = f"mturk-{sign}-review.csv"
            if not _review(path, decide, folder / name):
                return []
        else:
            name = f"mturk-{sign}-decisions.jsonl"
            _decisions(path, decide, folder / name)
        return [name]


def _is_table(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv")


def _from_row(cells: Mapping[str, str], path: Path, line: int) -> Submission | Refused:
    given = cells.get(f"Answer.{ANSWER}", "")
    worker, assignment = cells.get("WorkerId", ""), cells.get("AssignmentId", "")
    return taken(given, shown(path), line, worker=worker, assignment=assignment)


def _assignments(path: Path) -> Iterator[tuple[int, dict[str, Any] | Refused]]:
    """The assignments of a file of the API, one a document or in a list."""
    for found in documents(path):
        if isinstance(found, Refused):
            yield found.line, found
            continue
        try:
            value = decode(found.text)
        except ValueError as error:
            yield found.line, Refused(shown(path), found.line, "not valid JSON", str(error)[:120])
            continue
        many = value.get("Assignments") if isinstance(value, dict) else None
        for one in many if isinstance(many, list) else [value]:
            if isinstance(one, dict):
                yield found.line, one
            else:
                yield found.line, Refused(shown(path), found.line, "not an assignment")


def _open(status: object) -> bool:
    """Whether an assignment waits for a decision."""
    return status in ("Submitted", "", None)


def _said(reason: str) -> str:
    """A reason as a worker reads it."""
    text = f"The answers could not be used: {reason.replace('_', ' ')}"
    return (text if text.endswith((".", "?", "!")) else f"{text}.")[:1000]


def _quiet(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _review(path: Path, decide: Decide, out: Path) -> bool:
    """Whether any row could be read; a row that is none has no id to decide by."""
    names: list[str] | None = None
    with out.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        for row in table(path):
            if isinstance(row, Refused):
                continue
            if names is None:
                names = [n for n in row.cells if n not in ("Approve", "Reject")]
                write.writerow([*map(_quiet, names), "Approve", "Reject"])
            one = _from_row(row.cells, path, row.line)
            known = isinstance(one, Submission) and _open(row.cells.get("AssignmentStatus"))
            reason = decide(one) if known and isinstance(one, Submission) else None
            marks = ["", ""] if reason is None else ["", _said(reason)] if reason else ["x", ""]
            write.writerow([*(_quiet(row.cells[n]) for n in names), *marks])
    if names is None:
        out.unlink()
    return names is not None


def _decisions(path: Path, decide: Decide, out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="\n") as file:
        for line, value in _assignments(path):
            if isinstance(value, Refused) or not _open(value.get("AssignmentStatus")):
                continue
            one = from_assignment(value, shown(path), line)
            reason = decide(one) if isinstance(one, Submission) else None
            if reason is None or isinstance(one, Refused):
                continue
            made = {
                "AssignmentId": one.assignment,
                "site": value.get("site", ""),
                "decision": "reject" if reason else "approve",
                "feedback": _said(reason) if reason else "",
            }
            file.write(json.dumps(made, sort_keys=True) + "\n")
