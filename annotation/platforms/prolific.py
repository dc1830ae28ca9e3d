"""Prolific: links and figures of a study, its list of participants, and what pays or rejects work.

Pages come from `factdrift receive`, which takes the answers, too. Of Prolific's documented
interfaces this uses: the placeholders of a study's link (the study object, `external_study_url`);
the CSV of Taskflow, a link and a number of participants a row; the export of a study's participants
(columns Submission id, Participant id and Status); ids of submissions for bulk approval; the lines
`participant id,amount` of bonus payments; and its policy for checks, by which work on a study of
five minutes or more is rejected for two failed checks, each of which says what to answer or makes
no sense. `SESSION_ID` of a link is the id of the submission.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote, urlsplit

import msgspec

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.layout import Layout, Qualifications, Rejection
from factdrift.annotation.links import place_query
from factdrift.annotation.order import Delivery
from factdrift.annotation.platforms.base import (
    Decide,
    Exclusion,
    ParticipantCheck,
    ReadAgain,
    Verdict,
    status_reason,
    write_csv,
)
from factdrift.annotation.platforms.static import IDS, Static
from factdrift.annotation.reading import csv_rows, require_entries
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.hashing import file_sha256
from factdrift.builders.core.text_files import table_columns

COMPLETION_LINK = "https://app.prolific.com/submissions/complete?cc={code}"
# An id of Prolific: `5f1d2c3b4a` is one, `=cmd|calc` is not. Theirs have 24 hexadecimal digits
# today; the bounds are wider, so that another form of id is not refused.
_ID = re.compile("[0-9A-Za-z]{8,64}")
_ISSUED = ("participant_id", "submission_id", "status")
# What Prolific called columns in earlier exports, when a session was not yet a submission.
_OLDER_NAMES = {
    "session_id": "submission_id",
    "submission_status": "status",
    "prolific_id": "participant_id",
}
# The study's id in the name that Prolific gives an export:
# `prolific_export_64f0a1b2c3d4e5f60718293a.csv`, but not `prolific_export_May.csv`
_STUDY_IN_NAME = re.compile(r"(?<![0-9a-f])[0-9a-f]{24}(?![0-9a-f])")


class Prolific(Static):
    """Studies on Prolific, whose participants come to a server of ours by a link."""

    name = "prolific"
    delivery_fields = ("url",)
    signs_visits = True
    lists_participants = True
    # prolific.com/pricing, read in September 2026; without taxes
    service_fees: ClassVar[Mapping[str, Decimal]] = {
        "academic and non-profit": Decimal("0.333"),
        "corporate": Decimal("0.428"),
    }
    rejection = Rejection(checks=("instruction", "nonsense"), long_failures=2, experts=False)

    def export(self, batch: HitBatch, layout: Layout, folder: Path, delivery: Delivery) -> None:
        """Write `README.txt` with the study's link and figures, and `taskflow.csv`.

        `taskflow.csv` has a signed link for each place at a HIT, which one worker takes.
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
            fees=", ".join(
                f"{100 * fee_share:.1f} % ({payer})"
                for payer, fee_share in self.service_fees.items()
            ),
        )
        (folder / "README.txt").write_text(readme_text, "utf-8", newline="\n")
        link_rows = []
        for slot_number in range(1, layout.assignments + 1):
            for hit_number in range(1, len(batch.hits) + 1):
                place = place_query(batch.link_key, batch.id, hit_number, slot_number)
                link_rows.append((f"{page_root}?{place}&{IDS}", 1))
        write_csv(folder / "taskflow.csv", link_rows)

    def submission(self, value: Any, where: str, line: int, *, table: bool) -> Submission | Refused:
        """A submission whose worker id can be one of Prolific's."""
        submission = super().submission(value, where, line, table=table)
        if isinstance(submission, Refused):
            return submission
        if not _ID.fullmatch(submission.worker.strip()):
            return Refused(where, line, "not an id of Prolific")
        row_status = value.get("Status") or value.get("status") if table else None
        return msgspec.structs.replace(submission, status=row_status or "")

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
            study_id = submission.study.strip()
            session_id = verdict.assignment.strip() or submission.assignment.strip()
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

    def page_host(self, folder: Path) -> str:
        """The host of the first link of `taskflow.csv`."""
        with (folder / "taskflow.csv").open(encoding="utf-8", newline="") as table_file:
            first_link = next(csv.reader(table_file))[0]
        return urlsplit(first_link).hostname or ""

    def completion_link(self, code: str) -> str:
        """The link that ends a submission on Prolific."""
        return COMPLETION_LINK.format(code=quote(code, safe=""))

    def check_participants(self, participants: Path, read_again: ReadAgain) -> ParticipantCheck:
        """Check submissions against Prolific's export of a study's participants."""
        listed = ProlificList(participants, read_again)
        return ParticipantCheck(listed.exclusion, listed.status, listed.completed)


class _DecidedSession(NamedTuple):
    """One submission of Prolific's, by its ids there, and the verdict on it."""

    study: str
    session: str
    worker: str
    verdict: Verdict


def _feedback_tables(
    decided_sessions: Sequence[_DecidedSession],
) -> dict[str, list[tuple[str, ...]]]:
    """The rows of the files `approve`, `reject` and `bonus` (one a study: `bonus-2` …), by name.

    `paid` and `counted` say what becomes of the work: some is paid whose answers are not used.
    """
    id_columns = ("study_id", "submission_id", "participant_id")
    approved_rows = [(*id_columns, "paid", "counted")]
    rejected_rows = [(*id_columns, "message", "paid", "counted")]
    bonuses_by_study: dict[str, dict[str, Decimal]] = {}
    for study_id, session_id, worker_id, verdict in decided_sessions:
        is_counted = "yes" if verdict.counted else "no"
        if verdict.reason:
            rejected_row = (study_id, session_id, worker_id, verdict.reason, "no", is_counted)
            rejected_rows.append(rejected_row)
            continue
        approved_rows.append((study_id, session_id, worker_id, "yes", is_counted))
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


class ProlificList:
    """An export of participants, or several, as they bear on the submissions of an import.

    An export has no study id in its cells. Its study is the one that its file name has, or one of
    which it lists at least half of the submissions: a single one may have come by a forged link.
    What belongs to another study is left alone.
    """

    def __init__(self, path: Path, read_again: ReadAgain) -> None:
        self.participants: Participants = {}
        self.studies: set[str] = set()
        for export_path in _export_files(path):
            for worker_id, statuses in read_participants(export_path).items():
                self.participants.setdefault(worker_id, {}).update(statuses)
            self.studies.update(_STUDY_IN_NAME.findall(export_path.name.lower()))
        self._listed_sessions = {
            session_id for statuses in self.participants.values() for session_id in statuses
        }
        self._studies_by_batch: dict[str, set[str]] = {}
        submission_counts, listed_counts = Counter[str](), Counter[str]()
        for submission in read_again():
            study_id = submission.study.strip()
            if study_id:
                self._studies_by_batch.setdefault(submission.batch, set()).add(study_id)
                submission_counts[study_id] += 1
                listed_counts[study_id] += self._listed_status(submission) is not None
        for study_id, listed_count in listed_counts.items():
            if 2 * listed_count >= submission_counts[study_id]:
                self.studies.add(study_id)

    def completed(self, submission: Submission) -> Submission:
        """The submission with its session, where its page was opened without SESSION_ID.

        That is the only session which the list has of the participant.
        """
        sessions = self._sessions(submission)
        if submission.assignment.strip() or len(sessions) != 1:
            return submission
        return msgspec.structs.replace(submission, assignment=next(iter(sessions)))

    def status(self, submission: Submission) -> str:
        """Prolific's word on a submission; empty where the list does not have it."""
        return self._listed_status(submission) or ""

    def exclusion(self, submission: Submission) -> Exclusion | None:
        """Why a submission is set aside, or None."""
        session_status = self._listed_status(submission)
        if session_status is not None:
            reason = status_reason(session_status)
            return Exclusion(reason) if reason else None
        if not self._is_of_listed_study(submission):
            return Exclusion("of a study that the list is not of", takes_out=False)
        sessions = self._sessions(submission)
        if not sessions:
            return Exclusion("unknown participant")
        if not submission.assignment.strip():
            return Exclusion("no session, and the participant has several", takes_out=False)
        return Exclusion("unknown session")

    def _sessions(self, submission: Submission) -> dict[str, str]:
        return self.participants.get(submission.worker.strip().casefold(), {})

    def _listed_status(self, submission: Submission) -> str | None:
        return self._sessions(submission).get(submission.assignment.strip())

    def _is_of_listed_study(self, submission: Submission) -> bool:
        """Whether the list should have a submission: it is of one of the list's studies.

        A submission that names no study counts as of those that others of its batch name.
        """
        if submission.assignment.strip() in self._listed_sessions:
            return True
        study_id = submission.study.strip()
        if study_id:
            return study_id in self.studies
        return self._studies_by_batch.get(submission.batch, set()) <= self.studies


def _export_files(path: Path) -> list[Path]:
    """The files of an export, or of a folder of them; `UserError` where there is none."""
    if path.is_dir():
        export_files = sorted(path.glob("*.csv"))
        if export_files:
            return export_files
    elif path.is_file():
        return [path]
    hint_text = "Prolific: Download demographic data; a folder holds several of them as *.csv"
    raise UserError("no such file", where=display_path(path), hint=hint_text)


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
        cells = _named_cells(export_row.value)
        _require_columns(cells, path)
        worker_id, session_id, session_status = (
            cells[column_name].strip() for column_name in _ISSUED
        )
        participants.setdefault(worker_id.casefold(), {})[session_id] = session_status
    if not participants:
        _require_columns(_named_cells(dict.fromkeys(table_columns(path), "")), path)
        raise UserError("nobody is in it", where=display_path(path))
    return participants


def _named_cells(row_cells: Mapping[str, str]) -> dict[str, str]:
    """The cells of a row by the names of today: `participant_id` for `Participant id`."""
    cells = {
        column_name.strip().lower().replace(" ", "_"): cell_text
        for column_name, cell_text in row_cells.items()
    }
    for older_name, column_name in _OLDER_NAMES.items():
        if older_name in cells:
            cells.setdefault(column_name, cells[older_name])
    return cells


def _require_columns(cells: Mapping[str, str], path: Path) -> None:
    """`UserError` where a table lacks a column that names a submission or its status."""
    missing_columns = [column_name for column_name in _ISSUED if column_name not in cells]
    if missing_columns:
        column_title = missing_columns[0].replace("_", " ").capitalize()
        hint_text = "take the file as Prolific exports it: More, Download demographic data"
        raise UserError(
            f"no column {column_title!r}", where=display_path(path), line=1, hint=hint_text
        )


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
    if qualifications.first_languages:
        criteria_parts.append(f"first language: {', '.join(qualifications.first_languages)}")
    if qualifications.education:
        criteria_parts.append(f"highest education level: {qualifications.education}")
    if qualifications.adult:
        criteria_parts.append("age from 18, with the content warning of a sensitive study")
    if qualifications.expert:
        criteria_parts.append("a custom allowlist of your experts' ids")
    return "; ".join(criteria_parts) or "nobody is left out"
