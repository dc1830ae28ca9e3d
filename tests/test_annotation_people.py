"""The register of people: who is set aside, erased or let in again, and what then changes where."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.erasure import change_people
from factdrift.annotation.layout import Consent
from factdrift.annotation.matching import exact_hash, hash_id, read_salt, with_worker
from factdrift.annotation.order import PeopleOrder
from factdrift.annotation.people import PersonEvent, Register, consent_sha256
from factdrift.annotation.platforms.base import status_reason
from factdrift.annotation.results import JudgmentTable
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from tests.annotation_workers import batch_of, hand_in, refusals, submission, take

GOLD = Path("judgments/quick/gold.parquet")


def _change(tmp_folder: Path, *words: str, **options: Any) -> list[str]:
    """What `factdrift people` says: the action, and the worker of the static pages if any."""
    action, *workers = words
    folders = {
        "hits": tmp_folder / "hits",
        "out": tmp_folder / "judgments",
        "results": tmp_folder / "results",
        "releases": tmp_folder / "releases",
    }
    named: dict[str, Any] = {"worker": workers[0], "platform": "static"} if workers else {}
    return change_people(PeopleOrder(action=action, **{**folders, **named, **options}))  # type: ignore[arg-type]


def _judged_by(tmp_folder: Path, worker: str) -> list[dict[str, Any]]:
    worker_hash = hash_id(read_salt(tmp_folder / "hits"), "worker", "static", worker)
    table = pq.read_table(tmp_folder / "judgments/quick/judgments.parquet").to_pylist()
    return [judgment_row for judgment_row in table if judgment_row["worker"] == worker_hash]


def _decisions(tmp_folder: Path) -> list[str]:
    return sorted(pq.read_table(tmp_folder / GOLD)["decision"].to_pylist())


def _work_of(tmp_folder: Path, workers: Sequence[str]) -> tuple[HitBatch, Path]:
    hit_batch = batch_of(tmp_folder)
    return hit_batch, hand_in(
        tmp_folder, [submission(hit_batch, worker_id) for worker_id in workers]
    )


def test_who_is_excluded_counts_for_nothing_and_may_come_back(tmp_path: Path) -> None:
    hit_batch, results_path = _work_of(tmp_path, ["ann", "bob"])
    take(tmp_path, results_path)
    assert _decisions(tmp_path) == ["accepted", "accepted", "rejected"]
    assert "excluded: " in _change(tmp_path, "exclude", "Ann", why="two accounts")[0]
    assert _decisions(tmp_path) == ["open"] * 3
    judged = _judged_by(tmp_path, "ann")
    assert [(row["counted"], row["paid"], row["flags"]) for row in judged] == [
        (False, True, ["excluded"])
    ] * 4
    more = take(tmp_path, hand_in(tmp_path, [submission(hit_batch, "ANN", 1)], "more.jsonl"))
    assert "quick: 8 judgments of 1 excluded person are set aside" in more.lines()
    report = json.loads((tmp_path / "judgments/quick/report.json").read_text("utf-8"))
    assert report["agreement"][0]["before"]["pairs"] == 0 and report["due"] == "1.5"
    listed = "\n".join(_change(tmp_path, "list"))
    assert "excluded (two accounts)" in listed and "ann" not in listed.replace("(two", "")
    assert "nothing changes" in _change(tmp_path, "exclude", "ann")[0]
    _change(tmp_path, "readmit", "ann")
    assert all(judgment_row["counted"] for judgment_row in _judged_by(tmp_path, "ann"))
    assert _decisions(tmp_path).count("accepted") == 2


def test_who_is_erased_is_in_nothing_and_does_not_come_back(tmp_path: Path) -> None:
    hit_batch, results_path = _work_of(tmp_path, ["ann", "bob", "cleo"])
    wrong = submission(hit_batch, "ann", 1)
    wrong["answers"].popitem()
    left_out = hand_in(tmp_path, [wrong, submission(hit_batch, "bob", 1)], "left_out.jsonl")
    take(tmp_path, results_path, left_out)
    ann_hash = hash_id(read_salt(tmp_path / "hits"), "worker", "static", "ann")
    journals = tmp_path / "results/quick-0001"
    journals.mkdir(parents=True)
    journal_lines = {
        "submissions.jsonl": [{"worker": "Ann ", "answers": {}}, {"worker": "bob"}],
        "given.log": [{"worker": "ann", "session": "", "hit": "h", "until": 1}, {"worker": "bob"}],
        "not-taken.log": [{"why": "x", "given": {"worker": "ann"}}, {"given": {"worker": "bob"}}],
    }
    for name, entries in journal_lines.items():
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (journals / name).write_text(text + '{"worker": "Ann', "utf-8")  # a line that was cut off
        (journals / name).chmod(0o600)
    release = tmp_path / "releases/timeqa/1.1.0"
    release.mkdir(parents=True)
    gold = {"file": "gold.parquet", "sha256": file_sha256(tmp_path / GOLD)}
    manifest = {"dataset": "timeqa", "version": "1.1.0", "inputs": [gold], "files": []}
    (release / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    said = "\n".join(_change(tmp_path, "erase", "Ann"))
    for expected in (
        "quick: 4 judgments of 3 rows out",
        "refused.jsonl: 1 lines out",
        "quick-0001/submissions.jsonl: 2 lines out",
        "quick-0001/not-taken.log: 2 lines out",
        "made with their work",
        "timeqa/1.1.0",
    ):
        assert expected in said
    named = [line for line in said.splitlines() if "delete it yourself" in line]
    assert [Path(line).name for line in named] == ["results.jsonl", "left_out.jsonl"]
    for path in [*(tmp_path / "judgments").rglob("*"), *journals.iterdir()]:
        if path.is_file():
            content = path.read_bytes()
            assert b'"ann"' not in content.lower(), path
            assert (ann_hash.encode() in content) == (path.name in ("people.jsonl", "golds.jsonl"))
    assert (journals / "given.log").stat().st_mode & 0o777 == 0o600
    assert _judged_by(tmp_path, "ann") == [] and len(_judged_by(tmp_path, "bob")) == 8
    again = take(tmp_path, results_path)
    assert again.refused == {"somebody who was erased": 1} and again.known == 2
    assert refusals(tmp_path)[0][3] == ""
    assert "made with their work" in "\n".join(_change(tmp_path, "erase", ann_hash, platform=None))
    _change(tmp_path, "readmit", "ann")
    assert take(tmp_path, results_path).new == 1


def test_nothing_is_taken_from_people_whom_nobody_names(tmp_path: Path) -> None:
    _, results_path = _work_of(tmp_path, ["ann"])
    take(tmp_path, results_path)
    for words, options, expected in (
        (["erase"], {}, "whom to erase"),
        (["erase", "ann"], {"platform": None}, "of what platform is the id 'ann'"),
        (["erase", "0" * 16], {"platform": None}, "nobody here has the hash 0000"),
        (["exclude", "ann"], {"platform": "prolifc"}, "prolific"),
    ):
        with pytest.raises(UserError, match=expected):
            _change(tmp_path, *words, **options)
    assert len(_judged_by(tmp_path, "ann")) == 4
    (tmp_path / "judgments/people.jsonl").write_text('{"worker": 1}\n', "utf-8")
    with pytest.raises(UserError, match=r"people.jsonl:1: not an event of the register"):
        _change(tmp_path, "list")


def test_consents_are_kept_once_with_their_first_day(tmp_path: Path) -> None:
    consent = Consent(text=("We study questions.",), contact="ada@example.org")
    text = consent_sha256(consent)
    assert text != consent_sha256(consent.model_copy(update={"contact": "bob@example.org"}))
    hit_batch = batch_of(tmp_path)
    given = {"text": text, "day": "2026-11-27"}
    entries = [
        submission(hit_batch, "ann", hit, consent=given | {"day": f"2026-11-2{7 + hit}"})
        for hit in (0, 1)
    ]
    report = take(tmp_path, hand_in(tmp_path, entries))
    assert "2 submissions name a consent text that is not their batch's" in report.lines()
    take(tmp_path, tmp_path / "results.jsonl")
    register = Register.read(tmp_path / "judgments")
    (worker,) = register.workers()
    assert register.consents(worker) == [(text, "2026-11-27")] and len(register.events) == 1
    assert "consented on 2026-11-27" in _change(tmp_path, "list")[0]


def test_judgments_of_an_earlier_version_are_read_on(tmp_path: Path) -> None:
    """Tables without the columns of today, experts in a file, and hashes of ids as spelled."""
    _, results_path = _work_of(tmp_path, ["Ann", "bob"])
    take(tmp_path, results_path)
    salt = read_salt(tmp_path / "hits")
    old_hash = exact_hash(salt, "worker", "static", "Ann")
    folder = tmp_path / "judgments/quick"
    table = JudgmentTable(folder)
    ann_hash = hash_id(salt, "worker", "static", "Ann")
    renamed = [
        with_worker([judgment], old_hash)[0] if judgment.worker == ann_hash else judgment
        for judgment in table.by_id.values()
    ]
    table.by_id = {judgment.id: judgment for judgment in renamed}
    rows = [{name: getattr(judgment, name) for name in judgment.__slots__} for judgment in renamed]
    old_columns = pq.read_table(folder / "judgments.parquet").schema
    for name in ("paid", "reading"):
        old_columns = old_columns.remove(old_columns.get_field_index(name))
    old_table = pq.read_table(folder / "judgments.parquet").from_pylist(rows, old_columns)
    pq.write_table(old_table, folder / "judgments.parquet")
    for name in ("people.jsonl", "sources.jsonl", "golds.jsonl"):
        (tmp_path / "judgments" / name).unlink(missing_ok=True)
    (tmp_path / "judgments/experts.txt").write_text("0123456789abcdef\n", "utf-8")
    report = take(tmp_path, results_path)
    assert (report.new, report.known, report.further) == (0, 2, 0)
    register = Register.read(tmp_path / "judgments")
    assert register.is_expert("0123456789abcdef") and not register.is_expert(ann_hash)
    said = "\n".join(_change(tmp_path, "erase", "Ann"))
    assert "quick: 4 judgments" in said
    assert take(tmp_path, results_path).refused == {"somebody who was erased": 1}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("Rejected", "rejected on the platform"),
        ("REJECTED", "rejected on the platform"),
        ("TIMED-OUT", "timed out on the platform"),
        ("TIMED_OUT", "timed out on the platform"),
        ("SCREENED OUT", "screened out by the platform"),
        (" returned ", "returned by the participant"),
        ("AWAITING REVIEW", ""),
        ("APPROVED", ""),
        ("", ""),
    ],
)
def test_statuses(status: str, reason: str) -> None:
    assert status_reason(status) == reason


def test_a_register_forgets_what_contradicts_it(tmp_path: Path) -> None:
    register = Register.read(tmp_path)
    events = [
        PersonEvent("w", "excluded", why="a"),
        PersonEvent("w", "excluded", why="b"),
        PersonEvent("w", "readmitted"),
        PersonEvent("v", "readmitted"),
        PersonEvent("w", "status", why="REJECTED", assignment="s"),
        PersonEvent("w", "status", why="APPROVED", assignment="s"),
        PersonEvent("x", "expert"),
    ]
    assert register.add(tmp_path, events) == 5
    register = Register.read(tmp_path)
    assert not register.is_excluded("w") and register.status("w", "s") == "APPROVED"
    assert register.workers() == ["w", "x"] and register.experts() == {"x"}
    register.erase(tmp_path, PersonEvent("w", "erased"))
    assert "REJECTED" not in (tmp_path / "people.jsonl").read_text("utf-8")
    assert Register.read(tmp_path).is_erased("w")
