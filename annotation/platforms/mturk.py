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
import binascii
import csv
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import Hit, HitBatch
from factdrift.annotation.layout import Layout
from factdrift.annotation.page import data, render
from factdrift.annotation.platforms.base import Decide, Delivery, Fits, Platform
from factdrift.annotation.reading import csv_rows, head, is_table
from factdrift.annotation.submission import LONGEST, Refused, Submission, decode, from_value
from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256

SITE = "https://www.mturk.com"
"""Where answers go, unless the page's address names the sandbox."""
ANSWER = "submission"
"""The field of the page's form that holds everything: base64 of the submission's JSON."""
LARGEST = 65_535
"""Bytes of a template with its data."""
VARIABLE = "${data}"
CSV, TEMPLATE, README = "hits.csv", "template.html", "README.txt"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SPARE = 2048
"""Bytes left for what the site puts around a template."""
_CELL = 32_767
"""Characters that a spreadsheet keeps of a cell."""


class MTurk(Platform):
    name = "mturk"

    def export(
        self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery
    ) -> list[str]:
        """The CSV and template of the requester site."""
        made = template(layout, batch.id)
        size = check_sizes(made, batch)
        readme = resource("annotation/platforms/mturk_readme.txt").read_text("utf-8")
        files = {TEMPLATE: made, README: readme.format(size=size)}
        for name, text in files.items():
            (folder / name).write_text(text, "ascii", newline="\n")
        with (folder / CSV).open("w", encoding="ascii", newline="") as file:
            write = csv.writer(file, lineterminator="\n")
            write.writerow(["data"])
            write.writerows([data(hit, batch.id)] for hit in batch.hits)
        return [*files, CSV]

    def room(self, layout: Layout) -> Fits:
        """Whether a template with these items stays within MTurk's 65,535 bytes."""
        left = LARGEST - _SPARE - len(template(layout, ""))
        any_id = "0" * 16
        return lambda items: len(data(Hit(any_id, tuple(items)), any_id)) <= left

    def knows(self, path: Path) -> bool:
        first = head(path).split("\n", 1)[0]
        return is_table(path) and "AssignmentId" in first and "WorkerId" in first

    def from_document(self, value: Any, where: str, line: int) -> Iterator[Submission | Refused]:
        yield Refused(where, line, "not a table", "MTurk's results are the CSV of its site")

    def from_row(
        self, cells: dict[str, str], where: str, line: int
    ) -> Iterator[Submission | Refused]:
        yield from_cells(cells, where, line)

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """The CSV with Approve or Reject filled in, for work that still waits for a decision.

        It holds no cell that a spreadsheet would take for a formula; none is written where no
        row can be read.
        """
        name = f"mturk-{file_sha256(path)[:8]}-review.csv"
        return [name] if is_table(path) and _write_review(path, decide, folder / name) else []


def template(layout: Layout, batch: str) -> str:
    """The page as a template of the requester site; it submits to the site that it is on."""
    page = render(layout, [], batch=batch, mode="mturk")
    inside = page[page.index("<body>") + len("<body>") : page.rindex("</body>")]
    without_forms, forms = re.subn(r"<form\b.*?</form>\n?", "", inside, flags=re.DOTALL)
    if forms != 1 or "<form" in without_forms:
        raise AssertionError(f"{forms} forms in a page")
    form = resource("annotation/platforms/mturk_head.html").read_text("utf-8")
    return form.replace("SUBMIT_TO", SITE) + without_forms.lstrip("\n")


def check_sizes(template: str, batch: HitBatch) -> int:
    """Bytes of the largest HIT of a batch; `UserError` where MTurk would not take it."""
    page = len(template) - len(VARIABLE) + _SPARE
    sizes = [page + len(data(hit, batch.id)) for hit in batch.hits]
    large = [n for n, size in enumerate(sizes) if size > LARGEST]
    if not large:
        return max(sizes, default=page)
    fits = min(_how_many_fit(batch.hits[n], batch.id, LARGEST - page) for n in large)
    worst = max(large, key=sizes.__getitem__)
    text = (
        f"{len(large)} of {len(batch.hits)} HITs are too large for MTurk: HIT {worst + 1}, of "
        f"{len(batch.hits[worst].items)} items, has {sizes[worst]:,} bytes, of "
        f"which {page:,} are the page; {LARGEST:,} are taken"
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


def from_cells(cells: Mapping[str, str], where: str, line: int) -> Submission | Refused:
    """A submission from a row of the site's CSV."""
    given = cells.get(f"Answer.{ANSWER}", "")
    worker, assignment = cells.get("WorkerId", ""), cells.get("AssignmentId", "")
    return from_form(given, where, line, worker=worker, assignment=assignment)


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
            one = from_cells(cells, shown(path), row.line)
            is_open = cells.get("AssignmentStatus") in ("Submitted", "", None)
            found = decide(one) if is_open and isinstance(one, Submission) else None
            marks = ["", ""]
            if found is not None:
                marks = ["", _reason_for_worker(found.reason)] if found.reason else ["x", ""]
            write.writerow([*(_no_formula(cells[n]) for n in names), *marks])
    if not names:
        out.unlink()
    return bool(names)
