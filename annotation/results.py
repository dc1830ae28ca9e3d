"""`factdrift judgments`: results of a platform in, judgments and gold rows out.

Judgments of earlier runs stay; reading a file a second time changes nothing. Files of any size are
read in bounded memory; the judgments of one layout are held, about 2 KB each. Entries that are
refused are counted, and `refused.jsonl` of the run lists them with file, line and reason.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from factdrift.annotation.batch import Item
from factdrift.annotation.matching import (
    DUPLICATE,
    EXCLUDED,
    Batches,
    check_salt,
    exact_hash,
    hash_id,
    is_repeat,
    match_submission,
    read_salt,
    with_worker,
)
from factdrift.annotation.order import ImportOrder
from factdrift.annotation.people import PersonEvent, Register, consent_sha256, today
from factdrift.annotation.platforms import (
    ALL_PLATFORMS,
    detect_platform,
    find_platform,
    is_piecewise,
)
from factdrift.annotation.platforms.base import (
    Exclusion,
    ParticipantCheck,
    Platform,
    Verdict,
    status_reason,
)
from factdrift.annotation.platforms.static import named_batch
from factdrift.annotation.quality import settle_rows
from factdrift.annotation.quality.expert import (
    WorkerBatch,
    add_experts,
    read_expert_verdicts,
    rejection_reason,
    worker_batches,
    write_checks,
)
from factdrift.annotation.quality.payment import rejection_rule
from factdrift.annotation.quality.report import (
    all_set_aside,
    make_report,
    render_report,
    report_json,
)
from factdrift.annotation.quality.rules import ACCEPTED_BATCH, EXPERT
from factdrift.annotation.sources import SAVED_FILE, note_gold, note_sources
from factdrift.annotation.submission import Refused, Submission
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, find_files, locked, replacing
from factdrift.builders.core.hashing import row_id
from factdrift.builders.core.schema import typed_rows, writing
from factdrift.builders.release.people import REPORT
from factdrift.builders.rows import Gold, Judgment

JUDGMENTS, GOLD, REFUSED = "judgments.parquet", "gold.parquet", "refused.jsonl"
PAGE = "report.html"
ERASED_PERSON = "somebody who was erased"
SubmissionKey = tuple[str, str, str, str]
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")
# Refused entries that the report of a run shows; all of them are in `refused.jsonl`.
_EXAMPLES = 20
# Judgments that are decoded from Parquet together; it bounds memory and changes no result.
_ROWS_AT_A_TIME = 1024
_PAID_ONCE = (
    "You handed in this HIT before. A HIT is paid once to a worker, and it is the first submission "
    "that counts"
)


@dataclass
class ImportReport:
    """The outcome of an import.

    `new`, `known`, `further` and `corrected` count submissions (see `JudgmentTable.add`), and
    `refused` counts the refused ones by reason. `judgments` and `decisions` are by layout.
    `written` names the files written; `remarks` are further lines for the user.
    """

    files: int = 0
    new: int = 0
    known: int = 0
    further: int = 0
    corrected: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    examples: list[Refused] = field(default_factory=list)
    judgments: dict[str, int] = field(default_factory=dict)
    decisions: dict[str, Counter[str]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def taken(self) -> int:
        """The number of submissions that were not refused."""
        return self.new + self.known + self.further + self.corrected

    def lines(self) -> list[str]:
        """The report as lines of text, with the places of the first few refused entries."""
        refused_count = sum(self.refused.values())
        counts_line = [
            f"{self.taken + refused_count:,} entries in {self.files} "
            f"file{'s' * (self.files != 1)}: {self.new:,} new, {self.known:,} known already, "
            f"{self.further:,} a worker's further ones for a HIT, {refused_count:,} refused"
            + (f", {self.corrected:,} corrected" if self.corrected else "")
        ]
        report_lines = counts_line if self.files else []
        report_lines += [
            f"  refused, {refusal_reason}: {count:,}"
            for refusal_reason, count in sorted(self.refused.items())
        ]
        report_lines += [f"  {_refused_line(refusal)}" for refusal in self.examples]
        for name, judgment_count in sorted(self.judgments.items()):
            decision_counts = sorted(self.decisions[name].items())
            gold = ", ".join(
                f"{decision_name} {count:,}" for decision_name, count in decision_counts
            )
            report_lines.append(f"{name}: {judgment_count:,} judgments; rows: {gold or 'none'}")
        return report_lines + self.remarks


def import_results(
    results_names: Sequence[str], order: ImportOrder, say: Callable[[str], None] = lambda text: None
) -> ImportReport:
    """Read results files (or folders of them) and write `<out>/<layout>/judgments.parquet`.

    Without `results_names`, the judgments of earlier runs are settled again, for example after an
    expert's checks. The same files in the same order give the same tables. `UserError`: there is
    no batch, no judgment to settle, or a file cannot be read.
    """
    hits_folder, judgments_folder = order.hits, order.out
    if order.feedback is not None and not results_names:
        hint_text = "name the results that are to be approved or rejected, with --feedback"
        raise UserError("feedback is of results files, and none is named", hint=hint_text)
    results_files: list[Path] = []
    if results_names:
        hint_text = "results are .json, .jsonl or .csv files"
        results_files = find_files(list(results_names), has_results_suffix, "results", hint_text)
    batches = Batches(hits_folder)
    with disk_errors(judgments_folder), locked(judgments_folder):
        hash_salt = read_salt(hits_folder)
        check_salt(hash_salt, judgments_folder)
        register = Register.read(judgments_folder)
        if order.experts:
            expert_events = add_experts(order.experts, hash_salt, ALL_PLATFORMS.names())
            register.add(judgments_folder, expert_events)
        judgment_tables = {} if results_names else load_tables(judgments_folder)
        sources = [
            (results_path, _platform_of(results_path, order.platform, batches, say))
            for results_path in results_files
        ]
        checks = _participant_checks(sources, order.participants, batches)
        report = ImportReport(files=len(results_files))
        import_run = _ImportRun(
            batches, hash_salt, judgments_folder, judgment_tables, report, checks, register
        )
        if sources:
            import_run.read(sources, say)
            note_sources(judgments_folder, "results", results_files)
        if order.participants is not None:
            note_sources(judgments_folder, "participants", [order.participants])
        import_run.settle()
        import_run.add_remarks(sources)
        if order.feedback is not None:
            import_run.give_feedback(sources, order.feedback)
            note_sources(judgments_folder, "feedback", [order.feedback])
    return report


def settle_anew(
    batches: Batches,
    judgments_folder: Path,
    judgment_tables: dict[str, "JudgmentTable"],
    register: Register,
) -> ImportReport:
    """Settle all judgments once more, after the register changed; the folder's lock is held."""
    report = ImportReport()
    import_run = _ImportRun(batches, b"", judgments_folder, judgment_tables, report, {}, register)
    import_run.settle()
    import_run.add_remarks([])
    return report


def has_results_suffix(name: str) -> bool:
    """Whether a file with this name may hold results."""
    return name.lower().endswith(_SUFFIXES)


def _participant_checks(
    sources: Sequence[tuple[Path, Platform]], participants_path: Path | None, batches: Batches
) -> dict[str, ParticipantCheck]:
    """For each platform of the sources that lists participants, the check against that list."""
    if participants_path is None:
        return {}
    platform_by_name = {
        platform.name: platform for _, platform in sources if platform.lists_participants
    }
    checks: dict[str, ParticipantCheck] = {}
    for platform_name, platform in platform_by_name.items():

        def read_again(platform: Platform = platform) -> Iterator[Submission]:
            for results_path, source_platform in sources:
                if source_platform is platform:
                    for entry in platform.read(results_path, batches.find):
                        if isinstance(entry, Submission):
                            yield entry

        checks[platform_name] = platform.check_participants(participants_path, read_again)
    return checks


class JudgmentTable:
    """The judgments of one layout: those of earlier runs, and new ones as they come."""

    def __init__(self, layout_folder: Path) -> None:
        self.folder = layout_folder
        self.checked: list[WorkerBatch] = []
        self.days: tuple[str, str] | None = None
        self.gold: list[Gold] = []
        self.by_id = {
            judgment.id: judgment for judgment in _read_judgments(layout_folder / JUDGMENTS)
        }
        self._workers_before: set[str] | None = None
        # the assignment and the content of each worker's first submission for a HIT
        self._first: dict[SubmissionKey, tuple[str, str]] = {}
        first_judgments: dict[tuple[SubmissionKey, str], list[Judgment]] = {}
        for judgment in self.by_id.values():
            if not is_repeat(judgment):
                submission_key = _submission_key(judgment), judgment.assignment
                first_judgments.setdefault(submission_key, []).append(judgment)
        for (key_of_first, assignment_hash), submission in first_judgments.items():
            self._first[key_of_first] = assignment_hash, _content_hash(submission)

    def add(self, submission: list[Judgment]) -> str:
        """Take the judgments of one submission, and return what it is.

        `new`, or `known` where it was taken before; `further` where the worker handed in other
        answers to the HIT before: its judgments do not count. Where a platform hands out single
        items, other answers under the same assignment are a correction (`corrected`) and replace
        the judgment, and the same answers under another assignment are `known`.
        """
        submission_key = _submission_key(submission[0])
        assignment_content = submission[0].assignment, _content_hash(submission)
        first_content = self._first.setdefault(submission_key, assignment_content)
        if _is_without_session(submission[0], first_content, assignment_content):
            self._first[submission_key] = max(first_content, assignment_content)
            self._fill_assignment(submission)
            return "known"
        if is_piecewise(submission[0].platform) and first_content != assignment_content:
            if first_content[1] == assignment_content[1]:
                return "known"
            if first_content[0] == assignment_content[0]:
                self._first[submission_key] = assignment_content
                self.by_id.update((judgment.id, judgment) for judgment in submission)
                return "corrected"
        if first_content != assignment_content:
            aside_values: dict[str, Any] = {"flags": (DUPLICATE,), "counted": False}
            submission = [
                replace(judgment, id=_repeat_id(judgment), **aside_values)
                for judgment in submission
            ]
        new_judgments = [judgment for judgment in submission if judgment.id not in self.by_id]
        self.by_id.update((judgment.id, judgment) for judgment in new_judgments)
        if not new_judgments:
            return "known"
        return "new" if first_content == assignment_content else "further"

    def _fill_assignment(self, submission: list[Judgment]) -> None:
        """Note the session of judgments that came without it."""
        for judgment in submission:
            earlier_judgment = self.by_id[judgment.id]
            if not earlier_judgment.assignment:
                self.by_id[judgment.id] = replace(earlier_judgment, assignment=judgment.assignment)

    def settle(self, batches: Batches, register: Register | None = None) -> list[Gold]:
        """Apply quality control to all judgments, write both tables and return the gold rows.

        Each batch is judged by the layout as it was sent. Where a row was sent again with other
        choices, the newest batch decides. By the register, work of excluded people counts for
        nothing. `UserError`: a batch of the judgments is missing.
        """
        register = register or Register.read(self.folder.parent)
        plain_judgments = [
            _without_flags(self.by_id[judgment_id]) for judgment_id in sorted(self.by_id)
        ]
        self._require_batches(plain_judgments, batches)
        expert_verdicts = read_expert_verdicts(self.folder)
        accepted_ids = {
            judgment.id for judgment in self.by_id.values() if ACCEPTED_BATCH in judgment.flags
        }
        settled_judgments: list[Judgment] = []
        gold_by_row: dict[str, Gold] = {}
        self.checked = []
        item_by_id: dict[str, Item] = {}
        layout_versions = batches.layout_versions(self.folder.name)
        for version in layout_versions:
            version_judgments, gold_rows = settle_rows(
                version.layout,
                [judgment for judgment in plain_judgments if judgment.batch in version.pay],
                version.items,
                experts=register.experts(),
                excluded=register.excluded(),
                rules=version.rules,
                expert_batches=version.experts,
                verdicts=expert_verdicts,
                accepted_ids=accepted_ids,
            )
            if version.layout.rule.by == "sampled":
                self.checked += worker_batches(
                    version.layout, version_judgments, expert_verdicts, version.rules
                )
            settled_judgments += version_judgments
            gold_by_row.update((gold_row.row, gold_row) for gold_row in gold_rows)
            item_by_id |= version.items
        settled_judgments.sort(key=lambda judgment: judgment.id)
        self.by_id = {judgment.id: judgment for judgment in settled_judgments}
        rows_of_experts = self._rows_of_experts(settled_judgments)
        self.gold = []
        for gold_row_id in sorted(gold_by_row):
            expert_saw = gold_row_id in rows_of_experts
            self.gold.append(replace(gold_by_row[gold_row_id], expert_saw=expert_saw))
        _write_table(self.folder / JUDGMENTS, Judgment, settled_judgments)
        _write_table(self.folder / GOLD, Gold, self.gold)
        note_gold(self.folder, settled_judgments)
        if any(version.layout.rule.by == "sampled" for version in layout_versions):
            write_checks(self.folder, self.checked, item_by_id, expert_verdicts)
        return self.gold

    def _rows_of_experts(self, settled_judgments: Sequence[Judgment]) -> set[str]:
        """The rows that an expert judged, or of which an expert checked a worker's judgment."""
        expert_rows: set[str] = set()
        for judgment in settled_judgments:
            if judgment.counted and EXPERT in judgment.flags:
                expert_rows.add(judgment.row)
        for worker_batch in self.checked:
            for judgment, verdict in worker_batch.sampled.items():
                if verdict is not None or judgment.id in worker_batch.doubted:
                    expert_rows.add(judgment.row)
        return expert_rows

    def _require_batches(self, judgments: Sequence[Judgment], batches: Batches) -> None:
        """`UserError` where the folder of a judgment's batch is missing."""
        for judgment in judgments:
            if judgment.batch not in batches:
                hits = display_path(batches.root)
                raise UserError(
                    f"it has judgments of the batch {judgment.batch}, which is not in {hits}",
                    where=display_path(self.folder),
                    hint="bring the batch's folder back",
                )

    def note_day(self, received_at: str) -> None:
        """Extend the days of the work by the day on which a server received a submission."""
        try:
            received_day = datetime.fromisoformat(received_at).date().isoformat()
        except ValueError:
            return
        first_day, last_day = self._days_of_work() or (received_day, received_day)
        self.days = min(first_day, received_day), max(last_day, received_day)

    def _days_of_work(self) -> tuple[str, str] | None:
        """The first and last day that a server noted, or those of an earlier report."""
        report_path = self.folder / REPORT
        if self.days is None and report_path.is_file():
            first_day, last_day = json.loads(report_path.read_text("utf-8"))["days"] or ("", "")
            self.days = (first_day, last_day) if first_day else None
        return self.days

    def remove(self, submission: list[Judgment]) -> int:
        """Take the judgments of a submission out; returns how many were there.

        What the worker handed in under another assignment stays.
        """
        removed_judgments = []
        for judgment in submission:
            for judgment_id in (judgment.id, _repeat_id(judgment)):
                there = self.by_id.get(judgment_id)
                if there and (there.assignment == judgment.assignment or not there.assignment):
                    removed_judgments.append(self.by_id.pop(judgment_id))
        if removed_judgments:
            self._first.pop(_submission_key(submission[0]), None)
        return len(removed_judgments)

    def remove_worker(self, worker_hash: str) -> list[Judgment]:
        """Take all judgments of a worker out, and return them."""
        removed_judgments = [
            judgment for judgment in self.by_id.values() if judgment.worker == worker_hash
        ]
        for judgment in removed_judgments:
            del self.by_id[judgment.id]
        return removed_judgments

    def save(self) -> None:
        """Write the judgments as they are, before they are settled anew."""
        _write_table(self.folder / JUDGMENTS, Judgment, [*self.by_id.values()])

    def has(self, submission: list[Judgment]) -> bool:
        """Whether an earlier run took the judgments of a submission."""
        return all(
            judgment.id in self.by_id or _repeat_id(judgment) in self.by_id
            for judgment in submission
        )

    def has_worker(self, worker_hash: str) -> bool:
        """Whether judgments of an earlier run are of this worker."""
        if self._workers_before is None:
            self._workers_before = {judgment.worker for judgment in self.by_id.values()}
        return worker_hash in self._workers_before

    def verdict(self, submission: list[Judgment], batches: Batches) -> Verdict | None:
        """Return the verdict on a submission, or None if an expert has not checked it yet."""
        version = next(
            version
            for version in batches.layout_versions(self.folder.name)
            if submission[0].batch in version.pay
        )
        settled_judgments, layout = self._settled(submission), version.layout
        if all(map(is_repeat, settled_judgments)) and _is_other_assignment(
            settled_judgments, self.by_id
        ):
            return Verdict(_PAID_ONCE)
        rule = rejection_rule(layout, submission[0].platform)
        why_rejected = rejection_reason(
            layout, settled_judgments, version.items, self.checked, rule
        )
        if why_rejected is None:
            return None
        is_counted = all(judgment.counted for judgment in settled_judgments)
        earns_bonus = not why_rejected and is_counted
        return Verdict(why_rejected, layout.pay.bonus if earns_bonus else Decimal(0), is_counted)

    def report(self, batches: Batches, refused_path: Path) -> Path:
        """Write `report.html` and `report.json` of what `settle` decided; returns the page's path.

        `refused_path` is the file of entries that the last import refused.
        """
        name = self.folder.name
        layout_versions = batches.layout_versions(name)
        judgments, work_days = [*self.by_id.values()], self._days_of_work()
        report_figures = make_report(
            layout_versions, name, judgments, self.gold, self.checked, work_days
        )
        page_text = render_report(
            report_figures, layout_versions[-1].layout, self.checked, refused_path
        )
        page_path = self.folder / PAGE
        for output_path, output_text in (
            (self.folder / REPORT, report_json(report_figures)),
            (page_path, page_text),
        ):
            with replacing(output_path) as temporary:
                temporary.write_text(output_text, "utf-8", newline="\n")
        return page_path

    def _settled(self, submission: list[Judgment]) -> list[Judgment]:
        """A submission's judgments as they are in the table, with their flags."""
        repeat_ids = map(_repeat_id, submission)
        repeat_judgments = [
            self.by_id[repeat_id] for repeat_id in repeat_ids if repeat_id in self.by_id
        ]
        first_judgments = [
            self.by_id[judgment.id] for judgment in submission if judgment.id in self.by_id
        ]
        return repeat_judgments or first_judgments


@dataclass
class _ImportRun:
    """One call of `import_results`. `checks` check participants, by the platform's name.

    `events` are what the register learns from the results: consents, and platforms' statuses.
    """

    batches: Batches
    salt: bytes
    out: Path
    tables: dict[str, JudgmentTable]
    done: ImportReport
    checks: Mapping[str, ParticipantCheck]
    register: Register
    taken_out: int = 0
    consents_to_other_texts: int = 0
    without_consent: int = 0
    events: list[PersonEvent] = field(default_factory=list)

    def read(self, sources: Sequence[tuple[Path, Platform]], say: Callable[[str], None]) -> None:
        """Take every file; write refused entries down as they come."""
        with (
            replacing(self.out / REFUSED) as refused_path,
            refused_path.open("w", encoding="utf-8") as refused_file,
        ):
            for results_path, platform in sources:
                say(f"  {display_path(results_path)}: {platform.name}")
                is_empty = True
                for entry in platform.read(results_path, self.batches.find):
                    is_empty = False
                    refusal = entry if isinstance(entry, Refused) else self._take(entry, platform)
                    if refusal:
                        self._refuse(refusal, refused_file)
                if is_empty:
                    self._refuse(
                        Refused(display_path(results_path), 0, "no submissions in it"), refused_file
                    )
        self.register.add(self.out, self.events)

    def _take(self, submission: Submission, platform: Platform) -> Refused | None:
        """Add a submission to the judgments of its layout, or return why it is refused.

        Work that the register or the platform sets aside is refused, and judgments that an earlier
        run took from it are removed.
        """
        where, line = submission.where, submission.line
        submission, judgments = self._matched(submission, platform)
        if isinstance(judgments, Refused):
            return judgments
        worker_hash = judgments[0].worker
        if self.register.is_erased(worker_hash):
            return Refused(where, line, ERASED_PERSON)
        table = self.tables[judgments[0].layout]
        self._note_events(submission, judgments[0], platform)
        exclusion = self._exclusion(submission, judgments[0], platform)
        if exclusion and exclusion.takes_out:
            self.taken_out += table.remove(judgments)
        if exclusion and (exclusion.takes_out or not table.has(judgments)):
            return Refused(where, line, exclusion.reason, worker=worker_hash)
        submission_outcome = table.add(judgments)
        if submission.received:
            table.note_day(submission.received)
        setattr(self.done, submission_outcome, getattr(self.done, submission_outcome) + 1)
        return None

    def _matched(
        self, submission: Submission, platform: Platform
    ) -> tuple[Submission, list[Judgment] | Refused]:
        """A submission with what a list adds to it, and its judgments or why there are none.

        Where the judgments of an earlier version name a worker by the hash of another spelling,
        that hash stays.
        """
        if platform.name in self.checks:
            submission = self.checks[platform.name].completed(submission)
        worker_id = submission.worker.strip()
        judgments = match_submission(submission, self.batches, platform.name, self.salt)
        if isinstance(judgments, Refused):
            if judgments.reason == "not a submission":
                return submission, judgments
            worker_hash = hash_id(self.salt, "worker", platform.name, worker_id)
            if self.register.is_erased(worker_hash):
                return submission, Refused(judgments.where, judgments.line, ERASED_PERSON)
            return submission, replace(judgments, worker=worker_hash)
        name = judgments[0].layout
        if name not in self.tables:
            self.tables[name] = JudgmentTable(self.out / name)
        if platform.person_id(worker_id) != worker_id:
            spelled_hash = exact_hash(self.salt, "worker", platform.name, worker_id)
            if self.tables[name].has_worker(spelled_hash) or self.register.has(spelled_hash):
                judgments = with_worker(judgments, spelled_hash)
        return submission, judgments

    def _note_events(self, submission: Submission, judgment: Judgment, platform: Platform) -> None:
        """Note the consent that a submission says, and what the platform says of it."""
        hit_batch = self.batches.get(submission.batch)
        layout_consent = hit_batch.layout_as_sent.consent if hit_batch else None
        consent = submission.consent
        if consent is None and layout_consent is not None and not platform.piecewise:
            self.without_consent += 1
        if consent is not None:
            self.events.append(
                PersonEvent(
                    judgment.worker, "consented", platform.name, text=consent.text, day=consent.day
                )
            )
            if layout_consent is None or consent_sha256(layout_consent) != consent.text:
                self.consents_to_other_texts += 1
        known_status = self.register.status(judgment.worker, judgment.assignment)
        status_word = self._status(submission, judgment, platform)
        if status_word != known_status and (status_reason(status_word) or known_status):
            self.events.append(
                PersonEvent(
                    judgment.worker,
                    "status",
                    platform.name,
                    why=status_word,
                    day=today(),
                    assignment=judgment.assignment,
                )
            )

    def _exclusion(
        self, submission: Submission, judgment: Judgment, platform: Platform
    ) -> Exclusion | None:
        """Why a submission is set aside by the platform, now or by what it said before."""
        if platform.name in self.checks:
            exclusion = self.checks[platform.name].exclusion(submission)
            if exclusion:
                return exclusion
        reason = status_reason(self._status(submission, judgment, platform))
        return Exclusion(reason) if reason else None

    def _status(self, submission: Submission, judgment: Judgment, platform: Platform) -> str:
        """The platform's word on a submission: in these results, in its list, or before."""
        listed_status = ""
        if platform.name in self.checks:
            listed_status = self.checks[platform.name].status(submission)
        known_status = self.register.status(judgment.worker, judgment.assignment)
        return submission.status.strip() or listed_status.strip() or known_status

    def _refuse(self, refusal: Refused, refused_file: TextIO) -> None:
        self.done.refused[refusal.reason] += 1
        if len(self.done.examples) < _EXAMPLES:
            self.done.examples.append(refusal)
        refusal_value = {
            "file": SAVED_FILE.sub(r"\1…\2", refusal.where),
            "line": refusal.line,
            "reason": refusal.reason,
            "detail": refusal.detail,
            **({"worker": refusal.worker} if refusal.worker else {}),
        }
        refused_file.write(json.dumps(refusal_value, sort_keys=True) + "\n")

    def settle(self) -> None:
        """Apply quality control to every layout, and write its tables and its report."""
        for name, table in sorted(self.tables.items()):
            gold_rows = table.settle(self.batches, self.register)
            self.done.decisions[name] = Counter(gold_row.decision for gold_row in gold_rows)
            self.done.judgments[name] = len(table.by_id)
            if set_aside_text := all_set_aside(table.by_id.values()):
                self.done.remarks.append(f"{name}: {set_aside_text}")
            page_path = table.report(self.batches, self.out / REFUSED)
            self.done.written.append(display_path(page_path))

    def add_remarks(self, sources: Sequence[tuple[Path, Platform]]) -> None:
        """Say which platforms' participants were not checked, and which judgments were removed."""
        for platform_name in sorted({platform.name for _, platform in sources}):
            if find_platform(platform_name).lists_participants and platform_name not in self.checks:
                remark_text = "nobody's id was checked; give its export with --participants"
                self.done.remarks.append(f"{platform_name}: {remark_text}")
        if self.taken_out:
            remark_text = (
                f"{self.taken_out:,} earlier judgments of such participants were taken out"
            )
            self.done.remarks.append(remark_text)
        for name, table in sorted(self.tables.items()):
            aside = [judgment for judgment in table.by_id.values() if EXCLUDED in judgment.flags]
            if aside:
                excluded_people = len({judgment.worker for judgment in aside})
                self.done.remarks.append(
                    f"{name}: {len(aside):,} judgments of {excluded_people:,} excluded "
                    f"{'person' if excluded_people == 1 else 'people'} are set aside"
                )
        if self.without_consent:
            self.done.remarks.append(
                f"{self.without_consent:,} submissions do not say the consent that their layout "
                "asks for"
            )
        if self.consents_to_other_texts:
            self.done.remarks.append(
                f"{self.consents_to_other_texts:,} submissions name a consent text that is not "
                "their batch's"
            )

    def give_feedback(
        self, sources: Sequence[tuple[Path, Platform]], feedback_folder: Path
    ) -> None:
        """Write the files that approve or reject work; `UserError` inside of a release or batch."""
        _require_no_manifest(feedback_folder)
        feedback_folder.mkdir(parents=True, exist_ok=True)
        (feedback_folder / ".gitignore").write_text("*\n", "utf-8")
        outcome_counts = {"approved": 0, "rejected": 0, "undecided": 0}
        for results_path, platform in sources:

            def decide(submission: Submission, platform: Platform = platform) -> Verdict | None:
                verdict = self._verdict(submission, platform)
                if verdict is None:
                    outcome_counts["undecided"] += 1
                else:
                    outcome_counts["rejected" if verdict.reason else "approved"] += 1
                return verdict

            file_names = platform.feedback(results_path, decide, feedback_folder)
            self.done.written += [
                display_path(feedback_folder / file_name) for file_name in file_names
            ]
            if not file_names:
                remark_text = f"{platform.name} takes no file of approvals; prolific and mturk do"
                self.done.remarks.append(f"{display_path(results_path)}: {remark_text}")
        if any(outcome_counts.values()):
            outcome_texts = ", ".join(
                f"{outcome_count:,} {file_name}"
                for file_name, outcome_count in outcome_counts.items()
            )
            self.done.remarks.append(f"feedback: {outcome_texts}")

    def _verdict(self, submission: Submission, platform: Platform) -> Verdict | None:
        """Return the verdict on a submission.

        Returns None if it was refused or set aside, or is not checked yet.
        """
        submission, judgments = self._matched(submission, platform)
        if isinstance(judgments, Refused):
            return None
        if self.register.is_erased(judgments[0].worker):
            return None
        if self._exclusion(submission, judgments[0], platform):
            return None
        verdict = self.tables[judgments[0].layout].verdict(judgments, self.batches)
        return replace(verdict, assignment=submission.assignment) if verdict else None


def _require_no_manifest(feedback_folder: Path) -> None:
    """`UserError` where the folder is, or is inside of, a release or a batch."""
    resolved_folder = feedback_folder.resolve()
    for parent_folder in (resolved_folder, *resolved_folder.parents):
        if (parent_folder / "manifest.json").exists():
            text = "these files name participants, and this is a folder of a release or batch"
            raise UserError(text, where=display_path(parent_folder), hint="--feedback pay")


def _write_table(table_path: Path, row_type: type[Any], table_rows: Sequence[Any]) -> None:
    with replacing(table_path) as temporary, writing(temporary, row_type) as table_writer:
        for table_row in table_rows:
            table_writer.append(table_row)


def load_tables(judgments_folder: Path) -> dict[str, JudgmentTable]:
    """The judgments of every layout; `UserError` where there are none."""
    table_paths = sorted(judgments_folder.glob(f"*/{JUDGMENTS}"))
    if not table_paths:
        raise UserError(
            "no judgments yet",
            where=display_path(judgments_folder),
            hint="name the results of a platform",
        )
    return {table_path.parent.name: JudgmentTable(table_path.parent) for table_path in table_paths}


def _refused_line(refusal: Refused) -> str:
    refused_place = f"{refusal.where}:{refusal.line}" if refusal.line else refusal.where
    # a terminal must not be told control sequences of a file that anybody can send
    printable_detail = "".join(char if char.isprintable() else "?" for char in refusal.detail)
    return f"{refused_place}: {refusal.reason}" + (
        f": {printable_detail}" if printable_detail else ""
    )


def _platform_of(
    results_path: Path, platform_name: str | None, batches: Batches, say: Callable[[str], None]
) -> Platform:
    """The platform of a results file: the named one, else the one that recognises the file."""
    if platform_name:
        return find_platform(platform_name)

    def platform_of_batch() -> str | None:
        batch_id = named_batch(results_path)
        batch = batches.get(batch_id) if batch_id else None
        return batch.platform if batch else None

    return detect_platform(results_path, platform_of_batch, say)


def _read_judgments(table_path: Path) -> list[Judgment]:
    if not table_path.is_file():
        return []
    try:
        return [*typed_rows(table_path, Judgment, _ROWS_AT_A_TIME)]
    except (OSError, pa.ArrowException, ValueError) as error:
        text = f"not a table of judgments: {error}".splitlines()[0]
        raise UserError(text, where=display_path(table_path)) from None


def _submission_key(judgment: Judgment) -> SubmissionKey:
    """The batch, HIT and worker of a judgment, and its item where items come one by one."""
    item_id = judgment.item if is_piecewise(judgment.platform) else ""
    return judgment.batch, judgment.hit, judgment.worker, item_id


def _content_hash(judgments: Sequence[Judgment]) -> str:
    """A hash of all answers of one submission."""
    return row_id(*sorted(map(_content_line, judgments)))


def _content_line(judgment: Judgment) -> str:
    return f"{judgment.item}\t{judgment.answers}"


def _is_without_session(
    judgment: Judgment, first_content: tuple[str, str], content: tuple[str, str]
) -> bool:
    """Whether two submissions are one, of which a page or a list did not know the session."""
    is_listed = find_platform(judgment.platform).lists_participants
    is_alike = first_content != content and first_content[1] == content[1]
    return is_listed and is_alike and "" in (first_content[0], content[0])


def _is_other_assignment(judgments: Sequence[Judgment], by_id: Mapping[str, Judgment]) -> bool:
    """Whether the worker's first submission for the HIT had another assignment."""
    first_assignments = set()
    for judgment in judgments:
        first_id = row_id(judgment.batch, judgment.hit, judgment.item, judgment.worker)
        if first_id in by_id:
            first_assignments.add(by_id[first_id].assignment)
    return bool(first_assignments) and judgments[0].assignment not in first_assignments


def _without_flags(judgment: Judgment) -> Judgment:
    """A judgment as it was imported, before quality control flagged it."""
    is_further = is_repeat(judgment)
    return replace(judgment, flags=(DUPLICATE,) if is_further else (), counted=not is_further)


def _repeat_id(judgment: Judgment) -> str:
    """The id of a judgment of a worker's further submission for a HIT."""
    return row_id(judgment.id, judgment.assignment, _content_line(judgment))
