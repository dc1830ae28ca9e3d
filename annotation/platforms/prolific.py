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
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout, Qualifications, Rejection
from factdrift.annotation.order import Delivery
from factdrift.annotation.platforms.base import Decide, Verdict, WhyExcluded, write_csv
from factdrift.annotation.platforms.static import IDS, Static
from factdrift.annotation.reading import csv_rows, require_entries
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256

COMPLETION_LINK = "https://app.prolific.com/submissions/complete?cc={code}"
# Statuses of people who left the study, or were sent away: their answers are not used.
GONE = ("RETURNED", "TIMED-OUT", "TIMED_OUT", "SCREENED-OUT", "SCREENED_OUT", "SCREENED OUT")
# An id of Prolific: `5f1d2c3b4a` is one, `=cmd|calc` is not. Theirs have 24 hexadecimal digits
# today; the bounds are wider, so that another form of id is not refused.
_ID = re.compile("[0-9A-Za-z]{8,64}")
_ISSUED = ("participant_id", "submission_id", "status")


class Prolific(Static):
    """Studies on Prolific, whose participants come to a server of ours by a link."""

    name = "prolific"
    delivery_fields = ("url",)
    lists_participants = True
    rejection = Rejection(checks=("instruction", "nonsense"), long_failures=2, experts=False)

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """Write `README.txt` with the study's link and figures, and `taskflow.csv`.

        `taskflow.csv` has a link for each HIT and the number of workers it needs.
        """
        if delivery.url is None:
            hint_text = (
                "--url https://… (make: URL=), the address at which factdrift receive will be"
            )
            raise UserError("Prolific's links need the address of the pages", hint=hint_text)
        page_root = delivery.root()
        readme_template = resource("annotation/platforms/prolific_readme.txt").read_text("utf-8")
        readme_text = readme_template.format(
            layout=layout,
            pay=layout.pay,
            batch=batch,
            link=f"{page_root}?{IDS}",
            places=len(batch.hits) * layout.assignments,
            hits=len(batch.hits),
            checks=_checks(layout),
            who=screening(layout.qualifications),
        )
        (folder / "README.txt").write_text(readme_text, "utf-8", newline="\n")
        hit_numbers = range(1, len(batch.hits) + 1)
        link_rows = [
            (f"{page_root}?hit={hit_number}&{IDS}", layout.assignments)
            for hit_number in hit_numbers
        ]
        write_csv(folder / "taskflow.csv", link_rows)

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission whose worker id can be one of Prolific's."""
        submission = super().submission(value, where, line, table=table)
        if isinstance(submission, Submission) and not _ID.fullmatch(submission.worker.strip()):
            return Refused(where, line, "not an id of Prolific")
        return submission

    def feedback(self, results_path: Path, decide: Decide, folder: Path) -> list[str]:
        """Write the submissions to approve and to reject, and bonuses in Prolific's form.

        Each submission of Prolific is decided once, by the first of its answers. Each file of
        bonuses is for one study.
        """
        decided_sessions: list[_DecidedSession] = []
        seen_sessions: set[tuple[str, str]] = set()
        for submission in self.read(results_path):
            if isinstance(submission, Refused) or (verdict := decide(submission)) is None:
                continue
            study_id, session_id = submission.study.strip(), submission.assignment.strip()
            worker_id = submission.worker.strip()
            if (session_id, worker_id) not in seen_sessions and _ID.fullmatch(session_id):
                seen_sessions.add((session_id, worker_id))
                decided_sessions.append(_DecidedSession(study_id, session_id, worker_id, verdict))
        file_sign = file_sha256(results_path)[:8]
        file_names = []
        for table_name, table_rows in _feedback_tables(decided_sessions).items():
            table_path = folder / f"prolific-{file_sign}-{table_name}.csv"
            file_names.append(write_csv(table_path, table_rows))
            table_path.chmod(0o600)  # it names people
        return file_names

    def completion_link(self, code: str) -> str:
        """The link that ends a submission on Prolific."""
        return COMPLETION_LINK.format(code=quote(code, safe=""))

    def excluded_by(self, participants: Path) -> WhyExcluded:
        """Check submissions against Prolific's export of a study's participants."""
        participant_statuses = read_participants(participants)
        return lambda submission: why_excluded(participant_statuses, submission)


class _DecidedSession(NamedTuple):
    """One submission of Prolific's, by its ids there, and the verdict on it."""

    study: str
    session: str
    worker: str
    verdict: Verdict


def _feedback_tables(
    decided_sessions: Sequence[_DecidedSession],
) -> dict[str, list[tuple[str, ...]]]:
    """The rows of the files `approve`, `reject` and `bonus` (one a study: `bonus-2` …), by name."""
    id_columns = ("study_id", "submission_id", "participant_id")
    approved_rows, rejected_rows = [id_columns], [(*id_columns, "message")]
    bonuses_by_study: dict[str, dict[str, Decimal]] = {}
    for study_id, session_id, worker_id, verdict in decided_sessions:
        if verdict.reason:
            rejected_rows.append((study_id, session_id, worker_id, verdict.reason))
            continue
        approved_rows.append((study_id, session_id, worker_id))
        if verdict.bonus:
            study_bonuses = bonuses_by_study.setdefault(study_id, {})
            study_bonuses[worker_id] = study_bonuses.get(worker_id, Decimal(0)) + verdict.bonus
    rows_by_table: dict[str, list[tuple[str, ...]]] = {
        "approve": [*approved_rows],
        "reject": [*rejected_rows],
    }
    for study_number, (_, study_bonuses) in enumerate(sorted(bonuses_by_study.items()), 1):
        table_name = f"bonus-{study_number}" if study_number > 1 else "bonus"
        worker_amounts = sorted(study_bonuses.items())
        rows_by_table[table_name] = [
            (worker_id, f"{bonus_amount:.2f}") for worker_id, bonus_amount in worker_amounts
        ]
    return rows_by_table


# The participants by Prolific's export: the status of each of their submissions, by their ids.
Participants = dict[str, dict[str, str]]


def why_excluded(participants: Participants, submission: Submission) -> str:
    """Why a participant's answers are set aside; empty where they are not."""
    worker_sessions = participants.get(submission.worker.strip())
    if worker_sessions is None:
        return "unknown participant"
    session_status = worker_sessions.get(submission.assignment.strip())
    if session_status is None:
        return "unknown session"
    return "returned by the participant" if session_status.upper() in GONE else ""


def read_participants(path: Path) -> Participants:
    """Read Prolific's export of the participants of a study, or several exports put together.

    `UserError`: the file is missing, lacks a column or names nobody.
    """
    participants: Participants = {}
    if not path.is_file():
        raise UserError(
            "no such file",
            where=display_path(path),
            hint="Prolific: Download demographic data",
        )
    for export_row in require_entries(csv_rows(path)):
        cells = {
            column_name.strip().lower().replace(" ", "_"): cell_text
            for column_name, cell_text in export_row.value.items()
        }
        cells.setdefault("status", cells.get("submission_status", ""))
        missing_columns = [column_name for column_name in _ISSUED if column_name not in cells]
        if missing_columns:
            cell_text = f"no column {missing_columns[0].replace('_', ' ').capitalize()!r}"
            hint_text = "take the file as Prolific exports it"
            raise UserError(cell_text, where=display_path(path), line=1, hint=hint_text)
        worker_id, session_id, session_status = (
            cells[column_name].strip() for column_name in _ISSUED
        )
        participants.setdefault(worker_id, {})[session_id] = session_status
    if not participants:
        raise UserError("nobody is in it", where=display_path(path))
    return participants


def _checks(layout: Layout) -> str:
    """Return the README's sentence on attention items: how many failures reject work, if any."""
    rule = layout.rejects.get("prolific", Prolific.rejection)
    usable_count = sum(known_item.kind in rule.checks for known_item in layout.attention)
    needed = rule.failures_to_reject(layout.pay)
    if min(usable_count, layout.attention_per_hit) < needed:
        return (
            f"No work can be rejected for a failed check: that takes {needed} in a HIT of this\n"
            f"   length, of the kinds {', '.join(rule.checks)}. Who fails an item with a known\n"
            "   answer is paid, and the answers are set aside all the same."
        )
    return f"Work is rejected for {needed} failed checks of the kinds {', '.join(rule.checks)}."


def screening(qualifications: Qualifications) -> str:
    """The people that a study is for, in the words of Prolific's form."""
    criteria_parts = []
    if qualifications.countries:
        criteria_parts.append(f"location: {', '.join(qualifications.countries)}")
    if qualifications.approval_percent:
        criteria_parts.append(f"approval rate from {qualifications.approval_percent}")
    if qualifications.approved_hits:
        criteria_parts.append(f"previous submissions from {qualifications.approved_hits}")
    return "; ".join([*criteria_parts, "first language: English"])
