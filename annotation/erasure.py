"""`factdrift people`: who takes part, and how somebody is excluded, readmitted or erased.

Excluding sets work aside and keeps it. Erasing removes it, with all lines that name the person,
from judgments, gold rows, tables of checks, refused entries and the receiver's journals; a keyed
hash of the id stays, so that the same export brings nothing back. What lies outside of these is
named for the user to delete: original exports, and releases that were made with the work.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factdrift.annotation.batch import batch_folders, load_batch_manifest
from factdrift.annotation.matching import (
    Batches,
    check_salt,
    exact_hash,
    hash_id,
    read_salt,
)
from factdrift.annotation.order import PeopleOrder
from factdrift.annotation.people import EventName, PersonEvent, Register, today
from factdrift.annotation.platforms import ALL_PLATFORMS
from factdrift.annotation.reading import csv_rows, is_table, json_documents
from factdrift.annotation.results import (
    JUDGMENTS,
    REFUSED,
    JudgmentTable,
    has_results_suffix,
    load_tables,
    settle_anew,
)
from factdrift.annotation.sources import golds_of_worker, noted_sources
from factdrift.annotation.submission import Refused
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import disk_errors, locked, replacing
from factdrift.builders.rows.gold import FILE as GOLD

# The keys by which exports and journals name a worker.
_WORKER_KEYS = ("worker", "WorkerId", "completed_by")
# How deep a worker's id lies in an entry: Label Studio has tasks, annotations and their author.
_DEEPEST = 4
_LONGEST_ID = 200
"""Characters of a cell that may be a worker's id, as in submissions."""
_HASH = re.compile("[0-9a-f]{16}")
"""The hash of a worker, as reports and the register show it: `0123456789abcdef`."""


@dataclass(frozen=True)
class Person:
    """Somebody by the hashes of an id, as it is and in the platform's one spelling of it.

    `id` is empty where only a hash was given. `is_id` tells whether another id is this person's.
    """

    hashes: frozenset[str]
    id: str
    platforms: tuple[str, ...]
    salt: bytes = field(repr=False)

    def is_id(self, worker_id: str) -> bool:
        """Whether an id, on any platform that comes into question, is this person's."""
        worker_id = worker_id.strip()
        if not worker_id or len(worker_id) > _LONGEST_ID:
            return False
        for platform_name in self.platforms:
            if hash_id(self.salt, "worker", platform_name, worker_id) in self.hashes:
                return True
            if exact_hash(self.salt, "worker", platform_name, worker_id) in self.hashes:
                return True
        return False


def change_people(order: PeopleOrder) -> list[str]:
    """Do what is asked, and return lines that say what was done.

    `UserError`: nobody is named, or somebody whom nothing here knows.
    """
    if order.action == "list":
        return [person_work.line() for person_work in list_people(order)] or ["nobody yet"]
    with disk_errors(order.out), locked(order.out):
        salt = read_salt(order.hits)
        check_salt(salt, order.out)
        register = Register.read(order.out)
        person = _person(order, salt, register)
        if order.action == "erase":
            return _erase(order, person, register)
        new_event: EventName = "excluded" if order.action == "exclude" else "readmitted"
        person_events = [
            PersonEvent(worker_hash, new_event, order.platform or "", why=order.why, day=today())
            for worker_hash in sorted(person.hashes)
        ]
        added_count = register.add(order.out, person_events)
        if not added_count:
            return [f"nothing changes: the register has them as {new_event}, or has nothing to end"]
        return [f"{new_event}: {', '.join(sorted(person.hashes))}", *_settled(order, register)]


@dataclass(frozen=True)
class PersonWork:
    """Somebody of the register or of the judgments: the judgments by layout, and what they are."""

    worker: str
    platform: str
    judgments: Mapping[str, int]
    states: tuple[str, ...]

    def line(self) -> str:
        """Return the person as a line of text."""
        work_texts = [f"{count:,} of {name}" for name, count in sorted(self.judgments.items())]
        work_text = " and ".join(work_texts) or "no judgments"
        return "  ".join([self.worker, self.platform or "-", work_text, *self.states])


def list_people(order: PeopleOrder) -> list[PersonWork]:
    """Return everybody of the register and of the judgments, by their hashes.

    `UserError`: there is no folder of judgments.
    """
    if not order.out.is_dir():
        hint_text = "factdrift judgments makes it; --out says where it is"
        raise UserError("no folder of judgments", where=display_path(order.out), hint=hint_text)
    with disk_errors(order.out), locked(order.out):
        check_salt(read_salt(order.hits), order.out)
        register = Register.read(order.out)
        work_counts: dict[str, dict[str, int]] = {}
        platform_by_worker = {event.worker: event.platform for event in register.events}
        for table_path in sorted(order.out.glob(f"*/{JUDGMENTS}")):
            for judgment in JudgmentTable(table_path.parent).by_id.values():
                layout_counts = work_counts.setdefault(judgment.worker, {})
                layout_counts[judgment.layout] = layout_counts.get(judgment.layout, 0) + 1
                platform_by_worker[judgment.worker] = judgment.platform
    return [
        PersonWork(
            worker_hash,
            platform_by_worker.get(worker_hash) or "",
            work_counts.get(worker_hash, {}),
            tuple(_states(register, worker_hash)),
        )
        for worker_hash in sorted({*register.workers(), *work_counts})
    ]


def _states(register: Register, worker_hash: str) -> list[str]:
    """What the register says of somebody, in words."""
    state_words = []
    if register.is_erased(worker_hash):
        state_words.append("erased")
    if register.is_excluded(worker_hash):
        exclusion_reasons = [
            event.why
            for event in register.events
            if event.worker == worker_hash and event.event == "excluded"
        ]
        state_words.append(f"excluded ({exclusion_reasons[-1] or 'no reason given'})")
    if register.is_expert(worker_hash):
        state_words.append("expert")
    for text, day in register.consents(worker_hash):
        state_words.append(f"consented on {day} to {text[:8]}")
    return state_words + register.statuses_of(worker_hash)


def _person(order: PeopleOrder, salt: bytes, register: Register) -> Person:
    if not order.worker or not order.worker.strip():
        raise UserError(f"whom to {order.action}", hint="give an id with --platform, or a hash")
    worker_id = order.worker.strip()
    if order.platform:
        ALL_PLATFORMS.find(order.platform)
        hashes = {
            hash_id(salt, "worker", order.platform, worker_id),
            *_known_spelling(order, salt, worker_id, register),
        }
        return Person(frozenset(hashes), worker_id, (order.platform,), salt)
    if not _HASH.fullmatch(worker_id):
        hint_text = f"--platform {' or '.join(ALL_PLATFORMS.names())}"
        raise UserError(f"of what platform is the id {worker_id[:40]!r}", hint=hint_text)
    if not register.has(worker_id) and not _has_judgments(order.out, worker_id):
        raise UserError(
            f"nobody here has the hash {worker_id}",
            where=display_path(order.out),
            hint="factdrift people list shows them; an id needs --platform",
        )
    return Person(frozenset([worker_id]), "", tuple(ALL_PLATFORMS.names()), salt)


def _known_spelling(
    order: PeopleOrder, salt: bytes, worker_id: str, register: Register
) -> list[str]:
    """The hash of an id as it is spelled, where judgments of an earlier version have it."""
    spelled_hash = exact_hash(salt, "worker", order.platform or "", worker_id)
    is_known = register.has(spelled_hash) or _has_judgments(order.out, spelled_hash)
    return [spelled_hash] if is_known else []


def _has_judgments(judgments_folder: Path, worker_hash: str) -> bool:
    return any(
        JudgmentTable(table_path.parent).has_worker(worker_hash)
        for table_path in sorted(judgments_folder.glob(f"*/{JUDGMENTS}"))
    )


def _settled(order: PeopleOrder, register: Register) -> list[str]:
    """Settle all judgments anew, and say what it comes to; nothing where there are none."""
    if not any(order.out.glob(f"*/{JUDGMENTS}")):
        return ["  there are no judgments yet"]
    import_report = settle_anew(Batches(order.hits), order.out, load_tables(order.out), register)
    return [f"  {line}" for line in import_report.lines()]


# --- Erasing --------------------------------------------------------------------------------------


def _erase(order: PeopleOrder, person: Person, register: Register) -> list[str]:
    """Remove what somebody did and what names them; the lock of the judgments is held.

    The register is written first: whatever stops this, no import brings anything back, and the
    same command goes on.
    """
    journal_folders = [
        folder for folder in sorted(order.results.glob("*")) if any(_journals(folder))
    ]
    outcome_lines = [f"erased: {', '.join(sorted(person.hashes))}"]
    if any(order.out.glob(f"*/{JUDGMENTS}")):
        Batches(order.hits)  # without which nothing could be settled: say so before
    with ExitStack() as locks:
        for folder in journal_folders:
            locks.enter_context(locked(folder, "stop the server that serves this batch first"))
        for worker_hash in sorted(person.hashes):
            platform_name = order.platform or ""
            register.erase(
                order.out,
                PersonEvent(worker_hash, "erased", platform_name, why=order.why, day=today()),
            )
        outcome_lines += _erase_judgments(order, person, register)
        for folder in journal_folders:
            for journal_path in _journals(folder):
                removed_count = _rewrite_without(journal_path, person)
                if removed_count:
                    outcome_lines.append(
                        f"  {display_path(journal_path)}: {removed_count:,} lines out"
                    )
    return [*outcome_lines, *_sources_lines(order, person), *_release_lines(order, person)]


def _erase_judgments(order: PeopleOrder, person: Person, register: Register) -> list[str]:
    outcome_lines = []
    refused_path = order.out / REFUSED
    if refused_path.is_file() and (removed_count := _rewrite_without(refused_path, person)):
        outcome_lines.append(f"  {display_path(refused_path)}: {removed_count:,} lines out")
    judgment_tables = load_tables(order.out) if any(order.out.glob(f"*/{JUDGMENTS}")) else {}
    for name, judgment_table in sorted(judgment_tables.items()):
        removed_judgments = [
            judgment
            for worker_hash in person.hashes
            for judgment in judgment_table.remove_worker(worker_hash)
        ]
        if removed_judgments:
            judgment_table.save()
            row_count = len({judgment.row for judgment in removed_judgments if judgment.row})
            outcome_lines.append(
                f"  {name}: {len(removed_judgments):,} judgments of {row_count:,} rows out"
            )
    if judgment_tables:
        import_report = settle_anew(Batches(order.hits), order.out, judgment_tables, register)
        outcome_lines += [f"  {line}" for line in import_report.lines()]
    return outcome_lines


def _journals(results_folder: Path) -> Iterator[Path]:
    """The receiver's journals in a folder of results."""
    if results_folder.is_dir():
        for file_path in sorted(results_folder.iterdir()):
            if file_path.is_file() and file_path.suffix in (".jsonl", ".log"):
                yield file_path


def _rewrite_without(journal_path: Path, person: Person) -> int:
    """Take the lines that name somebody out of a file of lines; returns how many they were."""
    removed_count = 0
    with replacing(journal_path) as temporary:
        with (
            journal_path.open(encoding="utf-8", errors="surrogateescape") as journal_file,
            temporary.open("w", encoding="utf-8", errors="surrogateescape") as rest_file,
        ):
            for journal_line in journal_file:
                if _names(journal_line, person):
                    removed_count += 1
                else:
                    rest_file.write(journal_line)
        shutil.copymode(journal_path, temporary)
    return removed_count


def _names(journal_line: str, person: Person) -> bool:
    """Whether a line of JSON, or what is left of one, names somebody by id or hash."""
    if any(worker_hash in journal_line for worker_hash in person.hashes):
        return True
    try:
        entry = json.loads(journal_line)
    except (ValueError, RecursionError):
        return bool(person.id) and person.id.casefold() in journal_line.casefold()
    return any(map(person.is_id, worker_ids(entry)))


def worker_ids(value: Any, depth: int = _DEEPEST) -> Iterator[str]:
    """The workers' ids that an entry of a journal or an export names, but none of its answers."""
    if isinstance(value, Mapping) and depth:
        for key, inner_value in value.items():
            if key in _WORKER_KEYS and isinstance(inner_value, str | int):
                yield str(inner_value)
            elif key in _WORKER_KEYS and isinstance(inner_value, Mapping):
                yield from (
                    str(inner_value[name]) for name in ("id", "email") if inner_value.get(name)
                )
            elif key != "answers":
                yield from worker_ids(inner_value, depth - 1)
    elif isinstance(value, list) and depth:
        for inner_value in value:
            yield from worker_ids(inner_value, depth - 1)


def _sources_lines(order: PeopleOrder, person: Person) -> list[str]:
    """Lines on the files that people named to imports: those that hold the id, those that left."""
    naming_paths, missing_paths = [], []
    for _, source_path in noted_sources(order.out):
        if not source_path.exists():
            missing_paths.append(source_path.resolve())
        for file_path in _files_of(source_path):
            if _file_names(file_path, person):
                naming_paths.append(file_path.resolve())
    outcome_lines = [
        f"  delete it yourself, it names them: {display_path(file_path)}"
        for file_path in naming_paths
    ]
    for file_path in missing_paths:
        outcome_lines.append(
            f"  {display_path(file_path)} is not here any more: delete it where you keep it"
        )
    if not naming_paths and not missing_paths:
        outcome_lines.append("  no export that was read here names them any more")
    return outcome_lines


def _files_of(source_path: Path) -> list[Path]:
    if source_path.is_file():
        return [source_path]
    if not source_path.is_dir():
        return []
    return [
        file_path
        for file_path in sorted(source_path.rglob("*"))
        if file_path.is_file() and has_results_suffix(file_path.name)
    ]


def _file_names(file_path: Path, person: Person) -> bool:
    """Whether a file of results, of participants or of feedback names somebody."""
    if person.id and person.id.casefold() in file_path.name.casefold():
        return True
    try:
        return any(map(person.is_id, _ids_in_file(file_path)))
    except UserError:
        return False  # a workbook, or another file that no import read


def _ids_in_file(file_path: Path) -> Iterator[str]:
    if not is_table(file_path):
        for entry in json_documents(file_path):
            if not isinstance(entry, Refused):
                yield from worker_ids(entry.value)
        return
    for entry in csv_rows(file_path):
        if isinstance(entry, Refused):
            continue
        for cell_text in entry.value.values():
            if len(cell_text) <= _LONGEST_ID:
                yield cell_text
            elif cell_text.lstrip().startswith("{"):
                try:
                    yield from worker_ids(json.loads(cell_text))
                except (ValueError, RecursionError):
                    continue


def _release_lines(order: PeopleOrder, person: Person) -> list[str]:
    """Lines on the releases, and the batches drawn from them, that were made with the work."""
    tainted_sums, known_sums = set[str](), set[str]()
    for worker_hash in person.hashes:
        golds_with_worker, all_golds = golds_of_worker(order.out, worker_hash)
        tainted_sums |= golds_with_worker
        known_sums |= all_golds
    release_manifests = dict(_manifests(order.releases))
    holding_releases = _made_with(tainted_sums, release_manifests)
    outcome_lines = _withdrawal_lines(holding_releases)
    for release_folder, manifest in release_manifests.items():
        gold_inputs = [entry for entry in manifest["inputs"] if entry["file"] == GOLD]
        if release_folder not in holding_releases and set(_sums(gold_inputs)) - known_sums:
            release_place = display_path(release_folder)
            outcome_lines.append(
                f"  made with gold rows that are not here any more: {release_place}"
            )
    for batch_folder, dataset_name in _batches(order.hits):
        if dataset_name in holding_releases.values():
            batch_place = display_path(batch_folder)
            outcome_lines.append(f"  a batch that shows rows of these: {batch_place}")
    return outcome_lines or ["  no release here was made with their work"]


def _withdrawal_lines(holding_releases: Iterable[Path]) -> list[str]:
    """Lines on the releases that hold the work, and what to do with them."""
    outcome_lines: list[str] = []
    for release_folder in holding_releases:
        release_place = display_path(release_folder)
        outcome_lines.append(
            f"  made with their work: {release_place}; build it anew with --gold, and withdraw it "
            "where it was published"
        )
    if outcome_lines:
        outcome_lines.append(
            "  steps of these lie in the build folder: factdrift clean, after building anew"
        )
    return outcome_lines


def _made_with(
    tainted_sums: set[str], release_manifests: Mapping[Path, Mapping[str, Any]]
) -> dict[Path, str]:
    """The releases that were made from files of these checksums, and from one another."""
    holding_releases: dict[Path, str] = {}
    last_count = -1
    while len(holding_releases) > last_count:  # until no release is made from one of them
        last_count = len(holding_releases)
        for release_folder, manifest in release_manifests.items():
            is_from_them = not tainted_sums.isdisjoint(_sums(manifest["inputs"]))
            if is_from_them and release_folder not in holding_releases:
                holding_releases[release_folder] = f"{manifest['dataset']} {manifest['version']}"
                tainted_sums = tainted_sums.union(_sums(manifest["files"]))
    return holding_releases


def _manifests(releases_folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for manifest_path in sorted(releases_folder.glob("*/*/manifest.json")):
        try:
            manifest = json.loads(manifest_path.read_bytes())
            yield (
                manifest_path.parent,
                {key: manifest[key] for key in ("dataset", "version", "inputs", "files")},
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue  # no release of ours


def _sums(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (entry["sha256"] for entry in entries)


def _batches(hits_folder: Path) -> Iterator[tuple[Path, str]]:
    layout_folders = sorted(hits_folder.iterdir()) if hits_folder.is_dir() else []
    for layout_folder in layout_folders:
        for batch_folder in batch_folders(layout_folder):
            yield batch_folder, load_batch_manifest(batch_folder).dataset
