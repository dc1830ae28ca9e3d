"""`factdrift judgments`: results of a platform in, judgments and gold rows out.

Judgments of earlier runs stay; reading a file a second time changes nothing. Files of any size are
read in bounded memory; the judgments of one layout are held, about 2 KB each. Entries that are
refused are counted, and `refused.jsonl` of the run lists them with file, line and reason.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from factdrift.annotation.batch import Item
from factdrift.annotation.matching import (
    DUPLICATE,
    Batches,
    check_salt,
    is_repeat,
    match_submission,
    read_salt,
)
from factdrift.annotation.order import ImportOrder
from factdrift.annotation.platforms import (
    ALL_PLATFORMS,
    detect_platform,
    find_platform,
    is_piecewise,
)
from factdrift.annotation.platforms.base import Platform, Verdict, WhyExcluded
from factdrift.annotation.platforms.static import named_batch
from factdrift.annotation.quality import settle_rows
from factdrift.annotation.quality.expert import (
    WorkerBatch,
    add_experts,
    read_expert_verdicts,
    read_experts,
    rejection_reason,
    worker_batches,
    write_checks,
)
from factdrift.annotation.quality.report import make_report, render_report, report_json
from factdrift.annotation.quality.rules import ACCEPTED_BATCH
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
# The name of a file that a page saves, `0123456789abcdef-fedcba9876543210-Ann.json`: batch, HIT
# and the worker's id, which no output may hold. `results-Ann.json` is not such a name.
_SAVED_FILE = re.compile(r"([0-9a-f]{16}-[0-9a-f]{16}-).*(\.[a-z]+)$", re.DOTALL)


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
        refused = sum(self.refused.values())
        read = [
            f"{self.taken + refused:,} entries in {self.files} file{'s' * (self.files != 1)}: "
            f"{self.new:,} new, {self.known:,} known already, "
            f"{self.further:,} a worker's further ones for a HIT, {refused:,} refused"
            + (f", {self.corrected:,} corrected" if self.corrected else "")
        ]
        out = read if self.files else []
        out += [f"  refused, {reason}: {count:,}" for reason, count in sorted(self.refused.items())]
        out += [f"  {_refused_line(refusal)}" for refusal in self.examples]
        for layout, judgment_count in sorted(self.judgments.items()):
            decisions = sorted(self.decisions[layout].items())
            gold = ", ".join(f"{decision} {count:,}" for decision, count in decisions)
            out.append(f"{layout}: {judgment_count:,} judgments; rows: {gold or 'none'}")
        return out + self.remarks + self.written


def import_results(
    results: Sequence[str], order: ImportOrder, say: Callable[[str], None] = lambda text: None
) -> ImportReport:
    """Read results files (or folders of them) and write `<out>/<layout>/judgments.parquet`.

    Without `results`, the judgments of earlier runs are settled again, for example after an
    expert's checks. The same files in the same order give the same tables. `UserError`: there is
    no batch, no judgment to settle, or a file cannot be read.
    """
    hits, out = order.hits, order.out
    if order.feedback is not None and not results:
        hint = "name the results that are to be approved or rejected, with --feedback"
        raise UserError("feedback is of results files, and none is named", hint=hint)
    files: list[Path] = []
    if results:
        hint = "results are .json, .jsonl or .csv files"
        files = find_files(list(results), _has_results_suffix, "results", hint)
    batches = Batches(hits)
    with disk_errors(out), locked(out):
        salt = read_salt(hits)
        check_salt(salt, out)
        if order.experts:
            add_experts(out, order.experts, salt, ALL_PLATFORMS.names())
        tables = {} if results else _load_tables(out)
        sources = [(path, _platform_of(path, order.platform, batches, say)) for path in files]
        excluded_by = _participant_checks(sources, order.participants)
        report = ImportReport(files=len(files))
        run = _ImportRun(batches, salt, out, tables, report, excluded_by)
        if sources:
            run.read(sources, say)
        run.settle()
        run.add_remarks(sources)
        if order.feedback is not None:
            run.give_feedback(sources, order.feedback)
    return report


def _has_results_suffix(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def _participant_checks(
    sources: Sequence[tuple[Path, Platform]], participants: Path | None
) -> dict[str, WhyExcluded]:
    """For each platform of the sources that lists participants, the check against that list."""
    if participants is None:
        return {}
    platforms = {platform.name: platform for _, platform in sources if platform.lists_participants}
    return {name: platform.excluded_by(participants) for name, platform in platforms.items()}


class JudgmentTable:
    """The judgments of one layout: those of earlier runs, and new ones as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checked: list[WorkerBatch] = []
        self.days: tuple[str, str] | None = None
        self.gold: list[Gold] = []
        self.by_id = {judgment.id: judgment for judgment in _read_judgments(folder / JUDGMENTS)}
        # the assignment and the content of each worker's first submission for a HIT
        self._first: dict[SubmissionKey, tuple[str, str]] = {}
        first_judgments: dict[tuple[SubmissionKey, str], list[Judgment]] = {}
        for judgment in self.by_id.values():
            if not is_repeat(judgment):
                key = _submission_key(judgment), judgment.assignment
                first_judgments.setdefault(key, []).append(judgment)
        for (key_of_first, assignment), judgments in first_judgments.items():
            self._first[key_of_first] = assignment, _content_hash(judgments)

    def add(self, submission: list[Judgment]) -> str:
        """Take the judgments of one submission, and return what it is.

        `new`, or `known` where it was taken before; `further` where the worker handed in other
        answers to the HIT before: its judgments do not count. Where a platform hands out single
        items, other answers under the same assignment are a correction (`corrected`) and replace
        the judgment, and the same answers under another assignment are `known`.
        """
        key = _submission_key(submission[0])
        content = submission[0].assignment, _content_hash(submission)
        first = self._first.setdefault(key, content)
        if is_piecewise(submission[0].platform) and first != content:
            if first[1] == content[1]:
                return "known"
            if first[0] == content[0]:
                self._first[key] = content
                self.by_id.update((judgment.id, judgment) for judgment in submission)
                return "corrected"
        if first != content:
            aside: dict[str, Any] = {"flags": (DUPLICATE,), "counted": False}
            submission = [
                replace(judgment, id=_repeat_id(judgment), **aside) for judgment in submission
            ]
        new = [judgment for judgment in submission if judgment.id not in self.by_id]
        self.by_id.update((judgment.id, judgment) for judgment in new)
        if not new:
            return "known"
        return "new" if first == content else "further"

    def settle(self, batches: Batches) -> list[Gold]:
        """Apply quality control to all judgments, write both tables and return the gold rows.

        Each batch is judged by the layout as it was sent. Where a row was sent again with other
        choices, the newest batch decides. `UserError`: a batch of the judgments is missing.
        """
        judgments = [_without_flags(self.by_id[name]) for name in sorted(self.by_id)]
        self._require_batches(judgments, batches)
        verdicts = read_expert_verdicts(self.folder)
        experts = read_experts(self.folder.parent)
        accepted = {
            judgment.id for judgment in self.by_id.values() if ACCEPTED_BATCH in judgment.flags
        }
        settled: list[Judgment] = []
        gold_by_row: dict[str, Gold] = {}
        self.checked = []
        items: dict[str, Item] = {}
        versions = batches.layout_versions(self.folder.name)
        for version in versions:
            version_judgments, gold_rows = settle_rows(
                version.layout,
                [judgment for judgment in judgments if judgment.batch in version.pay],
                version.items,
                experts=experts,
                expert_batches=version.experts,
                verdicts=verdicts,
                accepted=accepted,
            )
            settled += version_judgments
            gold_by_row.update((gold.row, gold) for gold in gold_rows)
            items |= version.items
            if version.layout.rule.by == "sampled":
                self.checked += worker_batches(version.layout, version_judgments, verdicts)
        settled.sort(key=lambda judgment: judgment.id)
        self.by_id = {judgment.id: judgment for judgment in settled}
        self.gold = [gold_by_row[row] for row in sorted(gold_by_row)]
        _write_table(self.folder / JUDGMENTS, Judgment, settled)
        _write_table(self.folder / GOLD, Gold, self.gold)
        if any(version.layout.rule.by == "sampled" for version in versions):
            write_checks(self.folder, self.checked, items, verdicts)
        return self.gold

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

    def note_day(self, received: str) -> None:
        """Extend the days of the work by the day on which a server received a submission."""
        try:
            day = datetime.fromisoformat(received).date().isoformat()
        except ValueError:
            return
        first, last = self._days_of_work() or (day, day)
        self.days = min(first, day), max(last, day)

    def _days_of_work(self) -> tuple[str, str] | None:
        """The first and last day that a server noted, or those of an earlier report."""
        path = self.folder / REPORT
        if self.days is None and path.is_file():
            first, last = json.loads(path.read_text("utf-8"))["days"] or ("", "")
            self.days = (first, last) if first else None
        return self.days

    def remove(self, submission: list[Judgment]) -> int:
        """Take the judgments of a submission out; returns how many were there."""
        removed = 0
        for judgment in submission:
            for name in (judgment.id, _repeat_id(judgment)):
                removed += self.by_id.pop(name, None) is not None
        return removed

    def verdict(self, submission: list[Judgment], batches: Batches) -> Verdict | None:
        """The verdict on a submission; None while an expert has not checked it."""
        version = next(
            version
            for version in batches.layout_versions(self.folder.name)
            if submission[0].batch in version.pay
        )
        judgments, layout = self._settled(submission), version.layout
        if all(map(is_repeat, judgments)) and _is_other_assignment(judgments, self.by_id):
            return Verdict(_PAID_ONCE)
        platform = find_platform(submission[0].platform)
        rule = layout.rejects.get(platform.name, platform.rejection)
        reason = rejection_reason(layout, judgments, version.items, self.checked, rule)
        if reason is None:
            return None
        earns_bonus = not reason and all(judgment.counted for judgment in judgments)
        return Verdict(reason, layout.pay.bonus if earns_bonus else Decimal(0))

    def report(self, batches: Batches, refused: Path) -> Path:
        """Write `report.html` and `report.json` of what `settle` decided; returns the page's path.

        `refused` is the file of entries that the last import refused.
        """
        name = self.folder.name
        versions = batches.layout_versions(name)
        judgments, days = [*self.by_id.values()], self._days_of_work()
        figures = make_report(versions, name, judgments, self.gold, self.checked, days)
        page_text = render_report(figures, versions[-1].layout, self.checked, refused)
        page = self.folder / PAGE
        for path, text in ((self.folder / REPORT, report_json(figures)), (page, page_text)):
            with replacing(path) as temporary:
                temporary.write_text(text, "utf-8", newline="\n")
        return page

    def _settled(self, submission: list[Judgment]) -> list[Judgment]:
        """A submission's judgments as they are in the table, with their flags."""
        repeat_ids = map(_repeat_id, submission)
        repeats = [self.by_id[name] for name in repeat_ids if name in self.by_id]
        first = [self.by_id[judgment.id] for judgment in submission if judgment.id in self.by_id]
        return repeats or first


@dataclass
class _ImportRun:
    """One call of `import_results`. `excluded_by` checks participants, by the platform's name."""

    batches: Batches
    salt: bytes
    out: Path
    tables: dict[str, JudgmentTable]
    done: ImportReport
    excluded_by: Mapping[str, WhyExcluded]
    taken_out: int = 0

    def read(self, sources: Sequence[tuple[Path, Platform]], say: Callable[[str], None]) -> None:
        """Take every file; write refused entries down as they come."""
        with replacing(self.out / REFUSED) as path, path.open("w", encoding="utf-8") as report:
            for source, platform in sources:
                say(f"  {display_path(source)}: {platform.name}")
                is_empty = True
                for entry in platform.read(source, self.batches.find):
                    is_empty = False
                    refusal = entry if isinstance(entry, Refused) else self._take(entry, platform)
                    if refusal:
                        self._refuse(refusal, report)
                if is_empty:
                    self._refuse(Refused(display_path(source), 0, "no submissions in it"), report)

    def _take(self, submission: Submission, platform: Platform) -> Refused | None:
        judgments = match_submission(submission, self.batches, platform.name, self.salt)
        if isinstance(judgments, Refused):
            return judgments
        name = judgments[0].layout
        if name not in self.tables:
            self.tables[name] = JudgmentTable(self.out / name)
        table = self.tables[name]
        if exclusion := self._exclusion(submission, platform):
            self.taken_out += table.remove(judgments)
            return exclusion
        outcome = table.add(judgments)
        if submission.received:
            table.note_day(submission.received)
        setattr(self.done, outcome, getattr(self.done, outcome) + 1)
        return None

    def _exclusion(self, submission: Submission, platform: Platform) -> Refused | None:
        """Why a submission is set aside by the platform's list of participants, if it is."""
        why_excluded = self.excluded_by.get(platform.name)
        reason = why_excluded(submission) if why_excluded else ""
        return Refused(submission.where, submission.line, reason) if reason else None

    def _refuse(self, refusal: Refused, report: TextIO) -> None:
        self.done.refused[refusal.reason] += 1
        if len(self.done.examples) < _EXAMPLES:
            self.done.examples.append(refusal)
        value = {
            "file": _SAVED_FILE.sub(r"\1…\2", refusal.where),
            "line": refusal.line,
            "reason": refusal.reason,
            "detail": refusal.detail,
        }
        report.write(json.dumps(value, sort_keys=True) + "\n")

    def settle(self) -> None:
        """Apply quality control to every layout, and write its tables and its report."""
        for name, table in sorted(self.tables.items()):
            gold_rows = table.settle(self.batches)
            self.done.decisions[name] = Counter(gold.decision for gold in gold_rows)
            self.done.judgments[name] = len(table.by_id)
            page = table.report(self.batches, self.out / REFUSED)
            self.done.written.append(display_path(page))

    def add_remarks(self, sources: Sequence[tuple[Path, Platform]]) -> None:
        """Say which platforms' participants were not checked, and which judgments were removed."""
        for name in sorted({platform.name for _, platform in sources}):
            if find_platform(name).lists_participants and name not in self.excluded_by:
                text = "nobody's id was checked; give its export with --participants"
                self.done.remarks.append(f"{name}: {text}")
        if self.taken_out:
            text = f"{self.taken_out:,} earlier judgments of such participants were taken out"
            self.done.remarks.append(text)

    def give_feedback(self, sources: Sequence[tuple[Path, Platform]], folder: Path) -> None:
        """Write the files that approve or reject work; `UserError` inside of a release or batch."""
        _require_no_manifest(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", "utf-8")
        counts = {"approved": 0, "rejected": 0, "undecided": 0}
        for path, platform in sources:

            def decide(submission: Submission, platform: Platform = platform) -> Verdict | None:
                verdict = self._verdict(submission, platform)
                if verdict is None:
                    counts["undecided"] += 1
                else:
                    counts["rejected" if verdict.reason else "approved"] += 1
                return verdict

            names = platform.feedback(path, decide, folder)
            self.done.written += [display_path(folder / name) for name in names]
            if not names:
                text = f"{platform.name} takes no file of approvals; prolific and mturk do"
                self.done.remarks.append(f"{display_path(path)}: {text}")
        if any(counts.values()):
            outcomes = ", ".join(f"{count:,} {name}" for name, count in counts.items())
            self.done.remarks.append(f"feedback: {outcomes}")

    def _verdict(self, submission: Submission, platform: Platform) -> Verdict | None:
        """The verdict on a submission; None where it was refused, set aside or not checked yet."""
        judgments = match_submission(submission, self.batches, platform.name, self.salt)
        if isinstance(judgments, Refused) or self._exclusion(submission, platform):
            return None
        return self.tables[judgments[0].layout].verdict(judgments, self.batches)


def _require_no_manifest(folder: Path) -> None:
    """`UserError` where the folder is, or is inside of, a release or a batch."""
    place = folder.resolve()
    for parent in (place, *place.parents):
        if (parent / "manifest.json").exists():
            text = "these files name participants, and this is a folder of a release or batch"
            raise UserError(text, where=display_path(parent), hint="--feedback pay")


def _write_table(path: Path, row_type: type[Any], rows: Sequence[Any]) -> None:
    with replacing(path) as temporary, writing(temporary, row_type) as table:
        for row in rows:
            table.append(row)


def _load_tables(out: Path) -> dict[str, JudgmentTable]:
    paths = sorted(out.glob(f"*/{JUDGMENTS}"))
    if not paths:
        raise UserError(
            "no judgments yet", where=display_path(out), hint="name the results of a platform"
        )
    return {path.parent.name: JudgmentTable(path.parent) for path in paths}


def _refused_line(refusal: Refused) -> str:
    place = f"{refusal.where}:{refusal.line}" if refusal.line else refusal.where
    # a terminal must not be told control sequences of a file that anybody can send
    detail = "".join(char if char.isprintable() else "?" for char in refusal.detail)
    return f"{place}: {refusal.reason}" + (f": {detail}" if detail else "")


def _platform_of(
    path: Path, name: str | None, batches: Batches, say: Callable[[str], None]
) -> Platform:
    """The platform of a results file: the named one, else the one that recognises the file."""
    if name:
        return find_platform(name)

    def platform_of_batch() -> str | None:
        batch_id = named_batch(path)
        batch = batches.get(batch_id) if batch_id else None
        return batch.platform if batch else None

    return detect_platform(path, platform_of_batch, say)


def _read_judgments(path: Path) -> list[Judgment]:
    if not path.is_file():
        return []
    try:
        return [*typed_rows(path, Judgment, _ROWS_AT_A_TIME)]
    except (OSError, pa.ArrowException, ValueError) as error:
        text = f"not a table of judgments: {error}".splitlines()[0]
        raise UserError(text, where=display_path(path)) from None


def _submission_key(judgment: Judgment) -> SubmissionKey:
    """The batch, HIT and worker of a judgment, and its item where items come one by one."""
    item = judgment.item if is_piecewise(judgment.platform) else ""
    return judgment.batch, judgment.hit, judgment.worker, item


def _content_hash(judgments: Sequence[Judgment]) -> str:
    """A hash of all answers of one submission."""
    return row_id(*sorted(map(_content_line, judgments)))


def _content_line(judgment: Judgment) -> str:
    return f"{judgment.item}\t{judgment.answers}"


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
    repeat = is_repeat(judgment)
    return replace(judgment, flags=(DUPLICATE,) if repeat else (), counted=not repeat)


def _repeat_id(judgment: Judgment) -> str:
    """The id of a judgment of a worker's further submission for a HIT."""
    return row_id(judgment.id, judgment.assignment, _content_line(judgment))
