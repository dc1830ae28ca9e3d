"""`factdrift judgments`: results of a platform in, judgments and gold rows out.

Judgments of earlier runs stay; a file that was read before changes nothing. Files of any size are
read in bounded memory; the judgments of one layout are held, about 2 KB each. What cannot be taken
is in `refused.jsonl` of the run, with file, line and reason, and counted.
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
    PIECEWISE,
    Batches,
    check_salt,
    is_repeat,
    match_submission,
    read_salt,
)
from factdrift.annotation.order import ImportOrder
from factdrift.annotation.platforms import PLATFORMS, find_platform
from factdrift.annotation.platforms.base import Platform, Verdict
from factdrift.annotation.platforms.prolific import Participants, read_participants, why_barred
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
from factdrift.annotation.reading import read_head
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
_EXAMPLES = 20
_PAID_ONCE = (
    "You handed in this HIT before. A HIT is paid once to a worker, and it is the first submission "
    "that counts"
)
_BATCH = re.compile(r'"+batch"+: ?"+([0-9a-f]{16})"')
_SAVED_FILE = re.compile(r"([0-9a-f]{16}-[0-9a-f]{16}-).*(\.[a-z]+)$", re.DOTALL)
"""The name of a file that a page saves: it ends with the worker's id, which no output holds."""


@dataclass
class ImportReport:
    """What an import came to: submissions by what became of them, `refused` by reason, judgments
    and decisions by layout, files written, and further remarks."""

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
        return self.new + self.known + self.further + self.corrected

    def lines(self) -> list[str]:
        """The report, a line each; refused lines by their place, the first few."""
        refused = sum(self.refused.values())
        read = [
            f"{self.taken + refused:,} entries in {self.files} file{'s' * (self.files != 1)}: "
            f"{self.new:,} new, {self.known:,} known already, "
            f"{self.further:,} a worker's further ones for a HIT, {refused:,} refused"
            + (f", {self.corrected:,} corrected" if self.corrected else "")
        ]
        out = read if self.files else []
        out += [f"  refused, {reason}: {n:,}" for reason, n in sorted(self.refused.items())]
        out += [f"  {_refused_line(one)}" for one in self.examples]
        for layout, n in sorted(self.judgments.items()):
            gold = ", ".join(f"{k} {v:,}" for k, v in sorted(self.decisions[layout].items()))
            out.append(f"{layout}: {n:,} judgments; rows: {gold or 'none'}")
        return out + self.remarks + self.written


def import_results(
    given: Sequence[str], order: ImportOrder, say: Callable[[str], None] = lambda text: None
) -> ImportReport:
    """Read results files (or folders of them) and write `<out>/<layout>/judgments.parquet`.

    Nothing given: the judgments that are there are settled anew, as after an expert's checks. The
    same files in the same order give the same tables.
    """
    hits, out = order.hits, order.out
    if order.feedback is not None and not given:
        hint = "name the results that are to be approved or rejected, with --feedback"
        raise UserError("feedback is of results files, and none is named", hint=hint)
    hint = "results are .json, .jsonl or .csv files"
    files = (
        find_files(list(given), lambda n: n.lower().endswith(_SUFFIXES), "results", hint)
        if given
        else []
    )
    batches = Batches(hits)
    with disk_errors(out), locked(out):
        salt = read_salt(hits)
        check_salt(salt, out)
        if order.experts:
            add_experts(out, order.experts, salt, PLATFORMS)
        tables = {} if given else _load_tables(out)
        people = read_participants(order.participants) if order.participants else None
        run = _ImportRun(batches, salt, out, tables, ImportReport(files=len(files)), people)
        sources = [(path, _platform_of(path, order.platform, batches)) for path in files]
        if sources:
            run.read(sources, say)
        run.settle()
        if people is None and any(one.name == "prolific" for _, one in sources):
            text = "prolific: nobody's id was checked; give its export with --participants"
            run.done.remarks.append(text)
        if run.taken_out:
            text = f"{run.taken_out:,} earlier judgments of such participants were taken out"
            run.done.remarks.append(text)
        if order.feedback is not None:
            run.give_feedback(sources, order.feedback)
    return run.done


class JudgmentTable:
    """The judgments of one layout: those of earlier runs, and new ones as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checked: list[WorkerBatch] = []
        self.days: tuple[str, str] | None = None
        self.gold: list[Gold] = []
        self.by_id = {one.id: one for one in _read_judgments(folder / JUDGMENTS)}
        self._first: dict[SubmissionKey, tuple[str, str]] = {}
        first: dict[tuple[SubmissionKey, str], list[Judgment]] = {}
        for one in self.by_id.values():
            if not is_repeat(one):
                first.setdefault((_submission_key(one), one.assignment), []).append(one)
        for (key, assignment), own in first.items():
            self._first[key] = assignment, _content_hash(own)

    def add(self, found: list[Judgment]) -> str:
        """Take the judgments of one submission: `new`, `known`, `further` or `corrected`.

        Where items come one by one, the same assignment with other answers is a correction of
        the judgment that there is, and the same answers once more are known.
        """
        key = _submission_key(found[0])
        content = found[0].assignment, _content_hash(found)
        first = self._first.setdefault(key, content)
        if found[0].platform in PIECEWISE and first != content:
            if first[1] == content[1]:
                return "known"
            if first[0] == content[0]:
                self._first[key] = content
                self.by_id.update((one.id, one) for one in found)
                return "corrected"
        if first != content:
            aside: dict[str, Any] = {"flags": (DUPLICATE,), "counted": False}
            found = [replace(one, id=_repeat_id(one), **aside) for one in found]
        new = [one for one in found if one.id not in self.by_id]
        self.by_id.update((one.id, one) for one in new)
        return "known" if not new else "new" if first == content else "further"

    def settle(self, batches: Batches) -> list[Gold]:
        """Have quality control look at all of them, write both tables and return the gold rows.

        Each batch is judged by what could be answered in it; of a row that was sent again with
        other choices, the newest decide.
        """
        found = [_without_flags(self.by_id[name]) for name in sorted(self.by_id)]
        gone = next((one.batch for one in found if one.batch not in batches), None)
        if gone:
            hits = display_path(batches.root)
            text = f"it has judgments of the batch {gone}, which is not in {hits}"
            raise UserError(
                text, where=display_path(self.folder), hint="bring the batch's folder back"
            )
        verdicts = read_expert_verdicts(self.folder)
        experts = read_experts(self.folder.parent)
        accepted = {one.id for one in self.by_id.values() if ACCEPTED_BATCH in one.flags}
        judged: list[Judgment] = []
        by_row: dict[str, Gold] = {}
        self.checked = []
        items: dict[str, Item] = {}
        versions = batches.layout_versions(self.folder.name)
        for version in versions:
            seen, rows = settle_rows(
                version.layout,
                [one for one in found if one.batch in version.pay],
                version.items,
                experts=experts,
                expert_batches=version.experts,
                verdicts=verdicts,
                accepted=accepted,
            )
            judged += seen
            by_row.update((row.row, row) for row in rows)
            items |= version.items
            if version.layout.rule.by == "sampled":
                self.checked += worker_batches(version.layout, seen, verdicts)
        self.by_id = {one.id: one for one in judged}
        self.gold = [by_row[row] for row in sorted(by_row)]
        judged.sort(key=lambda one: one.id)
        for name, row, rows_of in ((JUDGMENTS, Judgment, judged), (GOLD, Gold, self.gold)):
            with replacing(self.folder / name) as path, writing(path, row) as into:
                for one in rows_of:
                    into.append(one)
        if any(v.layout.rule.by == "sampled" for v in versions):
            write_checks(self.folder, self.checked, items, verdicts)
        return self.gold

    def note_day(self, received: str) -> None:
        """Take the day on which a server took a submission into the days of the work."""
        try:
            day = datetime.fromisoformat(received).date().isoformat()
        except ValueError:
            return
        first, last = self._days_of_work() or (day, day)
        self.days = min(first, day), max(last, day)

    def _days_of_work(self) -> tuple[str, str] | None:
        """The first and last day that a server said of; of an earlier report, where none is new."""
        path = self.folder / REPORT
        if self.days is None and path.is_file():
            first, last = json.loads(path.read_text("utf-8"))["days"] or ("", "")
            self.days = (first, last) if first else None
        return self.days

    def remove(self, found: list[Judgment]) -> int:
        """Take the judgments of a submission out; how many were there."""
        ids = [name for one in found for name in (one.id, _repeat_id(one))]
        return sum(self.by_id.pop(name, None) is not None for name in ids)

    def verdict(self, found: list[Judgment], batches: Batches) -> Verdict | None:
        """What a submission comes to, as `annotation.platforms.base.Decide` has it."""
        version = next(
            v for v in batches.layout_versions(self.folder.name) if found[0].batch in v.pay
        )
        own, layout = self._settled(found), version.layout
        if all(map(is_repeat, own)) and _is_other_assignment(own, self.by_id):
            return Verdict(_PAID_ONCE)
        platform = PLATFORMS[found[0].platform]
        rule = layout.rejects.get(platform.name, platform.rejection)
        reason = rejection_reason(layout, own, version.items, self.checked, rule)
        if reason is None:
            return None
        clean = not reason and all(one.counted for one in own)
        return Verdict(reason, layout.pay.bonus if clean else Decimal(0))

    def report(self, batches: Batches, refused: Path) -> Path:
        """Write `report.html` and `report.json` of what `settle` came to.

        `refused`: what the last import refused.
        """
        name = self.folder.name
        versions = batches.layout_versions(name)
        judgments, days = [*self.by_id.values()], self._days_of_work()
        made = make_report(versions, name, judgments, self.gold, self.checked, days)
        page = render_report(made, versions[-1].layout, self.checked, refused)
        for path, text in ((self.folder / REPORT, report_json(made)), (self.folder / PAGE, page)):
            with replacing(path) as temporary:
                temporary.write_text(text, "utf-8", newline="\n")
        return path

    def _settled(self, found: list[Judgment]) -> list[Judgment]:
        further = [self.by_id[i] for i in map(_repeat_id, found) if i in self.by_id]
        return further or [self.by_id[one.id] for one in found if one.id in self.by_id]


@dataclass
class _ImportRun:
    batches: Batches
    salt: bytes
    out: Path
    tables: dict[str, JudgmentTable]
    done: ImportReport
    participants: Participants | None = None
    taken_out: int = 0

    def read(self, sources: Sequence[tuple[Path, Platform]], say: Callable[[str], None]) -> None:
        """Take every file; what is refused is written down as it comes."""
        with replacing(self.out / REFUSED) as path, path.open("w", encoding="utf-8") as report:
            for source, platform in sources:
                say(f"  {display_path(source)}: {platform.name}")
                is_empty = True
                for found in platform.read(source, self.batches.find):
                    is_empty = False
                    if (
                        wrong := found
                        if isinstance(found, Refused)
                        else self._take(found, platform)
                    ):
                        self._refuse(wrong, report)
                if is_empty:
                    self._refuse(Refused(display_path(source), 0, "no submissions in it"), report)

    def _take(self, given: Submission, platform: Platform) -> Refused | None:
        found = match_submission(given, self.batches, platform.name, self.salt)
        if isinstance(found, Refused):
            return found
        name = found[0].layout
        if name not in self.tables:
            self.tables[name] = JudgmentTable(self.out / name)
        table = self.tables[name]
        if barred := self._barred(given, platform):
            self.taken_out += table.remove(found)
            return barred
        outcome = table.add(found)
        if given.received:
            table.note_day(given.received)
        setattr(self.done, outcome, getattr(self.done, outcome) + 1)
        return None

    def _barred(self, given: Submission, platform: Platform) -> Refused | None:
        """What keeps a participant's answers out, by the list that the platform exports."""
        if self.participants is None or platform.name != "prolific":
            return None
        reason = why_barred(self.participants, given)
        return Refused(given.where, given.line, reason) if reason else None

    def _refuse(self, one: Refused, report: TextIO) -> None:
        self.done.refused[one.reason] += 1
        if len(self.done.examples) < _EXAMPLES:
            self.done.examples.append(one)
        name = _SAVED_FILE.sub(r"\1…\2", one.where)
        value = {"file": name, "line": one.line, "reason": one.reason, "detail": one.detail}
        report.write(json.dumps(value, sort_keys=True) + "\n")

    def settle(self) -> None:
        """Have quality control look at every layout, and write its tables and its report."""
        for name, table in sorted(self.tables.items()):
            self.done.decisions[name] = Counter(r.decision for r in table.settle(self.batches))
            self.done.judgments[name] = len(table.by_id)
            self.done.written.append(display_path(table.report(self.batches, self.out / REFUSED)))

    def give_feedback(self, sources: Sequence[tuple[Path, Platform]], folder: Path) -> None:
        """Write what the platforms take to approve or reject work, where no release can be."""
        place = folder.resolve()
        inside = next((p for p in (place, *place.parents) if (p / "manifest.json").exists()), None)
        if inside is not None:
            text = "these files name participants, and this is a folder of a release or batch"
            raise UserError(text, where=display_path(inside), hint="--feedback pay")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", "utf-8")
        counts = {"approved": 0, "rejected": 0, "undecided": 0}
        for path, platform in sources:

            def decide(given: Submission, platform: Platform = platform) -> Verdict | None:
                found = match_submission(given, self.batches, platform.name, self.salt)
                verdict = None
                if not isinstance(found, Refused) and self._barred(given, platform) is None:
                    verdict = self.tables[found[0].layout].verdict(found, self.batches)
                reason = None if verdict is None else verdict.reason
                counts["undecided" if reason is None else "rejected" if reason else "approved"] += 1
                return verdict

            names = platform.feedback(path, decide, folder)
            self.done.written += [display_path(folder / name) for name in names]
            if not names:
                text = f"{platform.name} takes no file of approvals; prolific and mturk do"
                self.done.remarks.append(f"{display_path(path)}: {text}")
        if any(counts.values()):
            outcomes = ", ".join(f"{n:,} {name}" for name, n in counts.items())
            self.done.remarks.append(f"feedback: {outcomes}")


def _load_tables(out: Path) -> dict[str, JudgmentTable]:
    places = sorted(out.glob(f"*/{JUDGMENTS}"))
    if not places:
        raise UserError(
            "no judgments yet", where=display_path(out), hint="name the results of a platform"
        )
    return {place.parent.name: JudgmentTable(place.parent) for place in places}


def _refused_line(one: Refused) -> str:
    place = f"{one.where}:{one.line}" if one.line else one.where
    detail = "".join(c if c.isprintable() else "?" for c in one.detail)
    return f"{place}: {one.reason}" + (f": {detail}" if detail else "")


def _platform_of(path: Path, name: str | None, batches: Batches) -> Platform:
    """The platform by its name, by the file, or for submissions of pages by their first batch."""
    if name:
        return find_platform(name)
    found = next(p for p in PLATFORMS.values() if p.knows(path))
    first = _BATCH.search(read_head(path)) if found.name == "static" else None
    batch = batches.get(first[1]) if first else None
    return PLATFORMS["prolific"] if batch and batch.platform == "prolific" else found


def _read_judgments(path: Path) -> list[Judgment]:
    if not path.is_file():
        return []
    try:
        return [*typed_rows(path, Judgment, 1024)]
    except (OSError, pa.ArrowException, ValueError) as error:
        text = f"not a table of judgments: {error}".splitlines()[0]
        raise UserError(text, where=display_path(path)) from None


def _submission_key(one: Judgment) -> SubmissionKey:
    return one.batch, one.hit, one.worker, one.item if one.platform in PIECEWISE else ""


def _content_hash(found: Sequence[Judgment]) -> str:
    """A hash of what one submission says."""
    return row_id(*sorted(map(_content_line, found)))


def _content_line(one: Judgment) -> str:
    return f"{one.item}\t{one.answers}"


def _is_other_assignment(own: Sequence[Judgment], by_id: Mapping[str, Judgment]) -> bool:
    """Whether the worker's first submission for the HIT has another id of the platform's."""
    ids = (row_id(one.batch, one.hit, one.item, one.worker) for one in own)
    first = {by_id[name].assignment for name in ids if name in by_id}
    return bool(first) and own[0].assignment not in first


def _without_flags(one: Judgment) -> Judgment:
    further = is_repeat(one)
    return replace(one, flags=(DUPLICATE,) if further else (), counted=not further)


def _repeat_id(one: Judgment) -> str:
    return row_id(one.id, one.assignment, _content_line(one))
