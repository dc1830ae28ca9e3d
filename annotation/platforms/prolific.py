"""Prolific: links and figures of a study, its list of participants, and what pays or rejects work.

Pages come from `factdrift receive`, which takes the answers, too. Of Prolific's documented
interfaces this uses: the placeholders of a study's link (the study object, `external_study_url`);
the CSV of Taskflow, a link and a number of participants a row; the export of a study's participants
(columns Submission id, Participant id and Status); ids of submissions for bulk approval; the lines
`participant id,amount` of bonus payments; and its policy for checks, by which work on a study of
five minutes or more is rejected for two failed checks, each of which says what to answer or makes
no sense. `SESSION_ID` of a link is the id of the submission.
"""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout, Qualifications, Rejection
from factdrift.annotation.order import Delivery
from factdrift.annotation.platforms.base import Decide, write_csv
from factdrift.annotation.platforms.static import IDS, Static
from factdrift.annotation.reading import csv_rows, require_entries
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256

GONE = ("RETURNED", "TIMED-OUT", "TIMED_OUT", "SCREENED-OUT", "SCREENED_OUT", "SCREENED OUT")
"""Statuses of people who left the study, or were sent away: their answers are not used."""
_ID = re.compile("[0-9A-Za-z]{8,64}")
_ISSUED = ("participant_id", "submission_id", "status")


class Prolific(Static):
    """Studies on Prolific, whose participants come to a server of ours by a link."""

    name = "prolific"
    heeds = ("url",)
    rejection = Rejection(checks=("instruction", "nonsense"), long_failures=2, experts=False)

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """`README.txt` with the study's link and figures, and `taskflow.csv`: a link a HIT."""
        if delivery.url is None:
            hint = "--url https://… (make: URL=), the address at which factdrift receive will be"
            raise UserError("Prolific's links need the address of the pages", hint=hint)
        root = delivery.root()
        names = resource("annotation/platforms/prolific_readme.txt").read_text("utf-8")
        text = names.format(
            layout=layout,
            pay=layout.pay,
            batch=batch,
            link=f"{root}?{IDS}",
            places=len(batch.hits) * layout.assignments,
            hits=len(batch.hits),
            checks=_checks(layout),
            who=screening(layout.qualifications),
        )
        (folder / "README.txt").write_text(text, "utf-8", newline="\n")
        numbers = range(1, len(batch.hits) + 1)
        links = [(f"{root}?hit={number}&{IDS}", layout.assignments) for number in numbers]
        write_csv(folder / "taskflow.csv", links)

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission whose worker can be one of Prolific's."""
        found = super().submission(value, where, line, table=table)
        if isinstance(found, Submission) and not _ID.fullmatch(found.worker.strip()):
            return Refused(where, line, "not an id of Prolific")
        return found

    def feedback(self, path: Path, decide: Decide, folder: Path) -> list[str]:
        """Submissions to approve and to reject, and bonuses as Prolific takes them.

        Each submission of Prolific is decided once, by the first of its answers; a file of bonuses
        is for one study.
        """
        approved: list[tuple[str, ...]] = []
        rejected: list[tuple[str, ...]] = []
        bonuses: dict[str, dict[str, Decimal]] = {}
        seen: set[tuple[str, str]] = set()
        for one in self.read(path):
            verdict = decide(one) if isinstance(one, Submission) else None
            if isinstance(one, Refused) or verdict is None:
                continue
            study, session, who = (i.strip() for i in (one.study, one.assignment, one.worker))
            if (session, who) in seen or not _ID.fullmatch(session):
                continue
            seen.add((session, who))
            if verdict.reason:
                rejected.append((study, session, who, verdict.reason))
                continue
            approved.append((study, session, who))
            if verdict.bonus:
                own = bonuses.setdefault(study, {})
                own[who] = own.get(who, Decimal(0)) + verdict.bonus
        columns = ("study_id", "submission_id", "participant_id")
        tables: dict[str, list[tuple[str, ...]]] = {
            "approve": [columns, *approved],
            "reject": [(*columns, "message"), *rejected],
        }
        for number, (_, own) in enumerate(sorted(bonuses.items()), 1):
            name = f"bonus-{number}" if number > 1 else "bonus"
            tables[name] = [(who, f"{amount:.2f}") for who, amount in sorted(own.items())]
        sign = file_sha256(path)[:8]
        paths = {folder / f"prolific-{sign}-{name}.csv": rows for name, rows in tables.items()}
        for file, rows in paths.items():
            write_csv(file, rows)
            file.chmod(0o600)
        return [file.name for file in paths]


Participants = dict[str, dict[str, str]]
"""Who took part, by Prolific's export: the status of each submission, by participant and id."""


def why_barred(participants: Participants, given: Submission) -> str:
    """Why the answers of a participant are set aside; empty: they are not."""
    sessions = participants.get(given.worker.strip())
    if sessions is None:
        return "unknown participant"
    status = sessions.get(given.assignment.strip())
    if status is None:
        return "unknown session"
    return "returned by the participant" if status.upper() in GONE else ""


def read_participants(path: Path) -> Participants:
    """Prolific's export of the participants of one study, or several such files put together."""
    found: Participants = {}
    if not path.is_file():
        raise UserError(
            "no such file", where=display_path(path), hint="Prolific: Download demographic data"
        )
    for row in require_entries(csv_rows(path)):
        cells = {name.strip().lower().replace(" ", "_"): text for name, text in row.value.items()}
        cells.setdefault("status", cells.get("submission_status", ""))
        missing = [name for name in _ISSUED if name not in cells]
        if missing:
            text = f"no column {missing[0].replace('_', ' ').capitalize()!r}"
            hint = "take the file as Prolific exports it"
            raise UserError(text, where=display_path(path), line=1, hint=hint)
        who, session, status = (cells[name].strip() for name in _ISSUED)
        found.setdefault(who, {})[session] = status
    if not found:
        raise UserError("nobody is in it", where=display_path(path))
    return found


def _checks(layout: Layout) -> str:
    rule = layout.rejects.get("prolific", Prolific.rejection)
    kinds = [one.kind for one in layout.attention]
    usable = sum(kind in rule.checks for kind in kinds)
    needed = rule.failures_to_reject(layout.pay)
    if min(usable, layout.attention_per_hit) < needed:
        return (
            f"No work can be rejected for a failed check: that takes {needed} in a HIT of this\n"
            f"   length, of the kinds {', '.join(rule.checks)}. Who fails an item with a known\n"
            "   answer is paid, and the answers are set aside all the same."
        )
    return f"Work is rejected for {needed} failed checks of the kinds {', '.join(rule.checks)}."


def screening(wanted: Qualifications) -> str:
    """Whom a study is for, in the words of Prolific's form."""
    parts = [f"location: {', '.join(wanted.countries)}"] if wanted.countries else []
    if wanted.approval_percent:
        parts.append(f"approval rate from {wanted.approval_percent}")
    if wanted.approved_hits:
        parts.append(f"previous submissions from {wanted.approved_hits}")
    return "; ".join([*parts, "first language: English"])
