"""Amazon Mechanical Turk by its requester site: a CSV file and a template.

It takes no new requesters since 30 July 2026: this is for accounts that are older. Everyone else
has `static` pages, which Prolific, Connect and the like take as a link.

A HIT is a row for a template. The template holds the page of `annotation.page` with one variable,
`${data}`, for which a HIT is put in: deflated JSON in base64, so that MTurk sees nothing but ASCII
letters, whatever an article holds. Both together have up to 65,535 bytes. The site puts a template
into a form of its own, with a button below it. HTML allows no form in a form, so the template
(`mturk_head.html`) makes its form by script, takes the button away, and lets no Enter key submit
the outer form.

Results are the CSV file of the site (`WorkerId`, `AssignmentId`, `Answer.submission`). Worker and
assignment are those that MTurk says; a submission that says others was copied from elsewhere and
is refused.
"""

import base64
import binascii
import csv
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import Batch, Hit
from factdrift.annotation.layout import Layout
from factdrift.annotation.page import data, render
from factdrift.annotation.platforms.base import Decide, Delivery, Fits, Platform
from factdrift.annotation.reading import csv_rows, head, is_table
from factdrift.annotation.submission import LONGEST, Refused, Submission, decode, from_value
from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256

SUBMIT = "https://www.mturk.com"
"""Where answers go."""
ANSWER = "submission"
"""The field of the page's form that holds everything: base64 of the submission's JSON."""
LARGEST = 65_535
"""Bytes of a question."""
VARIABLE = "${data}"
CSV, TEMPLATE, README = "hits.csv", "template.html", "README.txt"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SPARE = 512
_CELL = 32_767
"""Characters that a spreadsheet keeps of a cell."""


class MTurk(Platform):
    name = "mturk"
    heeds = ("submit",)

    def export(self, batch: Batch, layout: Layout, folder: Path, delivery: Delivery) -> list[str]:
        """The CSV and the template; `delivery.submit` takes the place of the site's address."""
        files = {TEMPLATE: template(layout, batch.id, delivery.submit or SUBMIT)}
        size = check_sizes(files[TEMPLATE], batch)
        place = f"hits/{batch.folder.parent.name}/{batch.folder.name}"
        readme = resource("annotation/platforms/mturk_readme.txt").read_text("utf-8")
        files[README] = readme.format(batch=place, size=size)
        for name, text in files.items():
            (folder / name).write_text(text, "ascii", newline="\n")
        with (folder / CSV).open("w", encoding="ascii", newline="") as file:
            write = csv.writer(file, lineterminator="\n")
            write.writerow(["data"])
            write.writerows([data(hit, batch.id)] for hit in batch.hits)
        return [*files, CSV]

    def room(self, layout: Layout) -> Fits:
        """Whether a template with these items stays within MTurk's 65,535 bytes.

        Some bytes are left for addresses.
        """
        bare = template(layout, "", SUBMIT)
        left = LARGEST - _SPARE - len(bare)
        any_id = "0" * 16
        return lambda items: len(data(Hit(any_id, tuple(items)), any_id)) <= left

    def knows(self, path: Path) -> bool:
        start = head(path)
        if is_table(path):
            first = start.split("\n", 1)[0]
            return "AssignmentId" in first and "WorkerId" in first
        return False

    def from_document(self, value: Any, where: str, line: int) -> Iterator[Submission | Refused]:
        cells = {k: str(v) for k, v in value.items()} if isinstance(value, dict) else {}
        yield _from_row(cells, where, line)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """The CSV with Approve or Reject filled in.

        Only what still waits for a decision is decided. It holds no cell that a spreadsheet would
        take for a formula; none is written where no row can be read.
        """
        name = f"mturk-{file_sha256(path)[:8]}-review.csv"
        return [name] if _write_review(path, decide, folder / name) else []


def template(layout: Layout, batch: str, submit: str) -> str:
    """The page as a template of the requester site; see the head of this module.

    It submits to the site that it is on, `submit` where the address does not say.
    """
    page = render(layout, [], batch=batch, mode="mturk", deliver={"submit": submit})
    inside = page[page.index("<body>") + len("<body>") : page.rindex("</body>")]
    bare, forms = re.subn(r"<form\b.*?</form>\n?", "", inside, flags=re.DOTALL)
    if forms != 2 or "<form" in bare:
        raise AssertionError(f"{forms} forms in a page")
    form = resource("annotation/platforms/mturk_head.html").read_text("utf-8")
    return form.replace("SUBMIT_TO", submit.rstrip("/")) + bare.lstrip("\n")


def check_sizes(template: str, batch: Batch) -> int:
    """Bytes of the template with the largest HIT; `UserError` where MTurk would not take it."""
    bare = len(template) - len(VARIABLE)
    sizes = [bare + len(data(hit, batch.id)) for hit in batch.hits]
    large = [n for n, size in enumerate(sizes) if size > LARGEST]
    if not large:
        return max(sizes, default=bare)
    fits = min(_how_many_fit(batch.hits[n], batch.id, LARGEST - bare) for n in large)
    worst = max(large, key=sizes.__getitem__)
    text = (
        f"{len(large)} of {len(batch.hits)} HITs are too large for MTurk: HIT {worst + 1}, of "
        f"{len(batch.hits[worst].items)} items, makes a page of {sizes[worst]:,} bytes, of "
        f"which {bare:,} are the page; {LARGEST:,} are taken"
    )
    hint = f"set items_per_hit: {fits} in its layout.yaml"
    if not fits:
        hint = (
            "one item alone is too large: use --platform static, whose pages hold any text, "
            "and let them be found from MTurk, Prolific or Connect by a link"
        )
    raise UserError(text, hint=hint)


def _how_many_fit(hit: Hit, batch: str, left: int) -> int:
    """How many items of a HIT fit together for sure, the largest first, each packed by itself."""
    sizes = sorted((len(data(Hit(hit.id, (i,)), batch)) for i in hit.items), reverse=True)
    return sum(total <= left for total in accumulate(sizes))


def from_form(
    given: str, where: str, line: int, *, worker: str, assignment: str
) -> Submission | Refused:
    """A submission from its base64, by the worker and assignment that MTurk names."""
    if not worker or not assignment:
        return Refused(where, line, "no worker or assignment")
    if not given.strip():
        return Refused(where, line, "no answers", f"the field {ANSWER} is missing or empty")
    if len(given) > LONGEST:
        return Refused(where, line, "too long", f"{len(given):,} characters")
    try:
        value = decode(base64.b64decode(given.strip(), validate=True).decode("utf-8"))
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        if len(given) == _CELL:
            detail = "a spreadsheet has cut it; take the file as MTurk gives it"
            return Refused(where, line, "cut short", detail)
        return Refused(where, line, "not a submission", str(error)[:120])
    for name, text in (("worker", worker), ("assignment", assignment)):
        own = value.get(name) if isinstance(value, dict) else None
        if own and own != text:
            return Refused(where, line, "another's submission", f"it names another {name}")
    return from_value(value, where, line, worker=worker, assignment=assignment)


def _from_row(cells: Mapping[str, str], where: str, line: int) -> Submission | Refused:
    given = cells.get(f"Answer.{ANSWER}", "")
    worker, assignment = cells.get("WorkerId", ""), cells.get("AssignmentId", "")
    return from_form(given, where, line, worker=worker, assignment=assignment)


def _is_undecided(status: object) -> bool:
    return status in ("Submitted", "", None)


def _reason_for_worker(reason: str) -> str:
    text = f"The answers could not be used: {reason.replace('_', ' ')}"
    return (text if text.endswith((".", "?", "!")) else f"{text}.")[:1000]


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _write_review(path: Path, decide: Decide, out: Path) -> bool:
    """Whether any row could be read; a row that is none has no id to decide by."""
    names: list[str] = []
    with out.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        for row in csv_rows(path):
            if isinstance(row, Refused):
                continue
            cells: dict[str, str] = row.value
            if not names:
                names = [n for n in cells if n not in ("Approve", "Reject")]
                write.writerow([*map(_no_formula, names), "Approve", "Reject"])
            one = _from_row(cells, shown(path), row.line)
            is_open = _is_undecided(cells.get("AssignmentStatus"))
            found = decide(one) if is_open and isinstance(one, Submission) else None
            marks = ["", ""]
            if found is not None:
                marks = ["", _reason_for_worker(found.reason)] if found.reason else ["x", ""]
            write.writerow([*(_no_formula(cells[n]) for n in names), *marks])
    if not names:
        out.unlink()
    return bool(names)
