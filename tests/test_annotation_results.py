"""Results in: matched to their batch or refused with a reason; twice the same, nothing changes."""

import csv
import json
import re
import shutil
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.matching import DUPLICATE, Batches, hash_id, match_submission, read_salt
from factdrift.annotation.order import ImportOrder
from factdrift.annotation.reading import Entry, csv_rows
from factdrift.annotation.results import import_results
from factdrift.annotation.submission import Refused, submission_from_value
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import batch_of, hand_in, refusals, submission, take
from tests.conftest import run_cli
from tests.tables import read_table


def judged(tmp: Path, out: str = "judgments") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        tmp / out / "quick" / "judgments.parquet"
    ).to_pylist()
    return rows


def tables(tmp: Path, out: str = "judgments") -> list[bytes]:
    names = ("judgments.parquet", "gold.parquet")
    return [(tmp / out / "quick" / name).read_bytes() for name in names]


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    path = hand_in(tmp_path, [submission(batch, worker_id) for worker_id in ("A1", "B2")])
    take(tmp_path, path)
    before = tables(tmp_path)
    copy = hand_in(
        tmp_path,
        [submission(batch, worker_id, seconds=99) for worker_id in ("B2", "A1", "A1")],
        "c.jsonl",
    )
    report = take(tmp_path, path, copy, path)
    assert (report.files, report.new, report.known, report.further) == (2, 0, 5, 0)
    assert tables(tmp_path) == before


def test_files_in_any_order_and_in_one_run_or_many(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    submissions = [
        submission(batch, worker_id, hit) for worker_id in ("A1", "B2", "C3") for hit in (0, 1)
    ]
    paths = [
        hand_in(tmp_path, [submitted], f"{file_number}.jsonl")
        for file_number, submitted in enumerate(submissions)
    ]
    take(tmp_path, *paths, out="once")
    take(tmp_path, *paths[::-1], out="back")
    for path in paths[3:] + paths[:3]:
        take(tmp_path, path, out="many")
    assert tables(tmp_path, "once") == tables(tmp_path, "back") == tables(tmp_path, "many")
    rows = judged(tmp_path, "once")
    assert len({row["id"] for row in rows}) == 24 and rows == sorted(
        rows, key=lambda sorted_row: sorted_row["id"]
    )
    assert {(row["item"], row["row"]) for row in rows} == {
        (item.id, item.row) for item in batch.items
    }
    assert {(row["dataset"], row["seconds"]) for row in rows} == {("rows.jsonl", 4.0)}
    gold = pq.read_table(tmp_path / "once" / "quick" / "gold.parquet").to_pylist()
    assert sorted(row["row"] for row in gold) == sorted(
        item.row for item in batch.items if item.row
    )


def test_a_worker_who_answers_twice(tmp_path: Path) -> None:
    """The first answers count; others stay, flagged, and so it is whenever they are read again."""
    batch = batch_of(tmp_path)
    first, second = submission(batch, "A1"), submission(batch, "A1", assignment="again")
    third = submission(batch, "A1")
    third["answers"] = {name: {"verdict": "no"} for name in third["answers"]}
    report = take(tmp_path, hand_in(tmp_path, [first, second, third, first, second]))
    assert (report.new, report.further, report.known) == (1, 2, 2)
    rows = judged(tmp_path)
    assert len(rows) == 12
    assert [row["flags"] for row in rows if row["counted"]] == [[]] * 4
    assert [DUPLICATE in row["flags"] for row in rows if not row["counted"]] == [True] * 8
    before = tables(tmp_path)
    for again in ([third], [second, third], [first], [third, second, first]):
        take(tmp_path, hand_in(tmp_path, again, "again.jsonl"))
        assert tables(tmp_path) == before


CASES = read_table("annotation_results")


def edit(edited: dict[str, Any], place: str, value: Any) -> None:
    """Put a value in place of something in a submission, as the table has it."""
    *outer, name = place.split("/")
    inside = reduce(getitem, outer, edited)
    if value == "-":
        del inside[name]
    else:
        inside[name] = inside[name][:-1] + "x" if value == "…x" else value


@pytest.mark.parametrize(("place", "value", "reason", "detail"), CASES["refused"])
def test_what_does_not_belong(
    place: str, value: Any, reason: str, detail: str, tmp_path: Path
) -> None:
    batch = batch_of(tmp_path)
    wrong = submission(batch, "B2")
    long = "x" * 501 if value == "LONG" else value
    edit(wrong, place.replace("ITEM", batch.hits[0].items[1].id), long)
    good = submission(batch, "A1")
    report = take(tmp_path, hand_in(tmp_path, [good, wrong, good | {"worker": "C3"}]))
    assert (report.new, report.refused) == (2, {reason: 1})
    ((name, line, why, said),) = refusals(tmp_path)
    assert (name, line, why) == ("results.jsonl", 2, reason)
    assert detail in said
    assert any(f"results.jsonl:2: {reason}" in text for text in report.lines())
    assert len(judged(tmp_path)) == 8


def test_results_of_another_batch_of_the_same_rows(tmp_path: Path) -> None:
    first = batch_of(tmp_path)
    second = batch_of(tmp_path, again=True)
    mixed = submission(second, "A1") | {"batch": first.id}
    assert [item.id for item in first.hits[0].items] == [item.id for item in second.hits[0].items]
    report = take(tmp_path, hand_in(tmp_path, [mixed, submission(second, "A1")]))
    assert report.new == 2  # one content, one id: a HIT is what its items are
    other_batch = batch_of(tmp_path, seed=3, again=True)
    wrong = submission(other_batch, "A1") | {"batch": first.id}
    report = take(tmp_path, hand_in(tmp_path, [wrong]))
    assert report.refused == {"unknown HIT": 1}


def test_a_batch_of_another_platform(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    read_submission = submission_from_value(submission(batch, "A1"), "f", 1)
    assert not isinstance(read_submission, Refused)
    matched = match_submission(read_submission, Batches(tmp_path / "hits"), "mturk", b"salt")
    assert isinstance(matched, Refused)
    assert (matched.reason, matched.detail) == (
        "wrong platform",
        "the batch went to static, not to mturk",
    )


def test_an_edited_batch_takes_no_results(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    path = hand_in(tmp_path, [submission(batch, "A1")])
    items = batch.folder / "items.jsonl"
    items.write_text(items.read_text("utf-8").replace("odd?", "even?"), "utf-8")
    with pytest.raises(UserError, match=r"items.jsonl: has changed"):
        take(tmp_path, path)
    assert not list((tmp_path / "judgments").rglob("*.parquet"))
    assert not (tmp_path / "judgments" / "refused.jsonl").exists()


def test_a_copied_batch(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    path = hand_in(tmp_path, [submission(batch, "A1")])
    shutil.copytree(batch.folder, batch.folder.with_name("0002"))
    with pytest.raises(UserError, match=r"0002: the same batch as .*0001"):
        take(tmp_path, path)
    shutil.rmtree(batch.folder.with_name("0002"))
    batch.folder.parent.rename(tmp_path / "hits" / "other")
    with pytest.raises(UserError, match="a batch of the layout quick, in the folder of another"):
        take(tmp_path, path)


def test_worker_ids_are_kept_as_hashes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(tmp_path)
    worker, session = "A3RAWWORKERID", "S9RAWSESSIONID"
    good = submission(batch, worker, assignment=session)
    wrong = good | {"hit": "no", "worker": worker + "X"}
    twice = json.dumps(good)[:-1] + f', "worker": "{worker}"}}'
    path = hand_in(tmp_path, [good, wrong])
    path.write_text(path.read_text("utf-8") + twice + "\n", "utf-8")
    report = take(tmp_path, path)
    assert (report.new, sum(report.refused.values())) == (1, 2)
    for file in [output for output in (tmp_path / "judgments").rglob("*") if output.is_file()]:
        content = file.read_bytes()
        assert worker.encode() not in content
        assert session.encode() not in content
    for name in ("judgments", "gold"):
        written_table = pq.read_table(tmp_path / "judgments" / "quick" / f"{name}.parquet")
        assert worker not in str(written_table.to_pylist())
    assert worker not in "\n".join(report.lines())
    (row, *_) = judged(tmp_path)
    salt = read_salt(tmp_path / "hits")
    assert row["worker"] == hash_id(salt, "worker", "static", worker)
    assert row["assignment"] == hash_id(salt, "assignment", "static", session)
    assert (tmp_path / "hits" / ".salt").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("FACTDRIFT_SALT", "one of our own salts")
    take(tmp_path, path, out="other")
    with pytest.raises(UserError, match=r"made with another salt\n.*FACTDRIFT_SALT"):
        take(tmp_path, path)
    for short, message in (("x" * 15, "FACTDRIFT_SALT: too"), ("", r"\.salt: too")):
        monkeypatch.setenv("FACTDRIFT_SALT", short)
        (tmp_path / "hits" / ".salt").write_text("short")
        with pytest.raises(UserError, match=f"{message} short for a salt"):
            take(tmp_path, path, out="other")
    (other_judgment, *_) = judged(tmp_path, "other")
    assert re.fullmatch("[0-9a-f]{16}", other_judgment["worker"])
    assert other_judgment["worker"] == hash_id(b"one of our own salts", "worker", "static", worker)
    assert other_judgment["worker"] != row["worker"]


def test_hashes_of_ids() -> None:
    parts = ("salt", "worker", "static", "A1"), ("tlas", "assignment", "mturk", "A2")
    ids = [
        parts[0],
        *(
            (*parts[0][:part_number], parts[1][part_number], *parts[0][part_number + 1 :])
            for part_number in range(4)
        ),
    ]
    assert len({hash_id(salt.encode(), *names) for salt, *names in ids * 2}) == 5
    assert hash_id(b"salt", "assignment", "static", "") == ""


def test_a_run_that_takes_nothing(tmp_path: Path) -> None:
    batch_of(tmp_path)
    path = hand_in(tmp_path, [])
    finished_run = run_cli(
        "judgments", path, "--hits", tmp_path / "hits", "--out", tmp_path / "j", ok=False
    )
    assert finished_run.returncode == 1
    assert "no submission could be taken" in finished_run.stderr
    assert "results.jsonl: no submissions in it" in finished_run.stderr + finished_run.stdout
    with pytest.raises(UserError, match=r"no batches here\n.*factdrift hits"):
        import_results([str(path)], ImportOrder(hits=tmp_path / "none"))


def test_judgments_that_are_no_table(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    path = hand_in(tmp_path, [submission(batch, "A1")])
    place = tmp_path / "judgments" / "quick" / "judgments.parquet"
    place.parent.mkdir(parents=True)
    place.write_text("none")
    with pytest.raises(UserError, match=r"judgments.parquet: not a table of judgments"):
        take(tmp_path, path)


def test_results_as_a_table_of_cells(tmp_path: Path) -> None:
    """What form and table services export: a column of JSON among others."""
    batch = batch_of(tmp_path)
    path = tmp_path / "form.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file, delimiter=";")
        write.writerow(["time", "body"])
        write.writerow(["1", json.dumps(submission(batch, "A1"), indent=1)])
        write.writerow(["=HYPERLINK(1)", "not one"])
        write.writerow(["3", json.dumps(submission(batch, "B2"))])
    report = take(tmp_path, path)
    assert report.new == 2
    ((name, line, reason, _),) = refusals(tmp_path)
    assert (name, reason) == ("form.csv", "not a submission")
    assert line == path.read_text("utf-8-sig").splitlines().index("=HYPERLINK(1);not one") + 1


def test_a_folder_of_results(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    (tmp_path / "in").mkdir()
    for worker in ("A1", "B2"):
        hand_in(tmp_path / "in", [submission(batch, worker)], f"{worker}.json")
    (tmp_path / "in" / "notes.txt").write_text("not results")
    said = take(tmp_path, tmp_path / "in").lines()
    assert said[0].startswith("2 entries in 2 files: 2 new")
    assert said[1].startswith("quick: 8 judgments")


def test_judgments_of_a_batch_that_is_gone(tmp_path: Path) -> None:
    first: HitBatch = batch_of(tmp_path)
    second = batch_of(tmp_path)
    take(tmp_path, hand_in(tmp_path, [submission(first, "A1")]))
    shutil.rmtree(first.folder)
    with pytest.raises(UserError, match=f"judgments of the batch {first.id}, which is not in"):
        take(tmp_path, hand_in(tmp_path, [submission(second, "A1")], "b.jsonl"))


@pytest.mark.parametrize(("text", "expected"), CASES["tables"])
def test_tables_as_spreadsheets_save_them(tmp_path: Path, text: str, expected: object) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8")
    assert expected == [
        [table_entry.line, *table_entry.value.values()]
        if isinstance(table_entry, Entry)
        else table_entry.reason
        for table_entry in csv_rows(path)
    ]


def test_the_counts_add_up_and_worker_ids_are_trimmed(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    good = [submission(batch, " W1 "), submission(batch, "W1"), submission(batch, "W2")]
    path = hand_in(tmp_path, [*good, {}, submission(batch, "  ")])
    path.write_text(path.read_text("utf-8") + "no JSON\n", "utf-8")
    report = take(tmp_path, path)
    said = "6 entries in 1 file: 2 new, 1 known already, 0 a worker's further ones for a HIT, "
    assert report.lines()[0] == said + "3 refused"


def test_feedback_is_of_mturk_and_of_named_files(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    results = hand_in(tmp_path, [submission(batch, "ada")])
    report = take(tmp_path, results, feedback=tmp_path / "fb")
    said = "static takes no file of approvals; prolific and mturk do"
    assert any(said in line for line in report.lines())
    with pytest.raises(UserError, match="feedback is of results files, and none is named"):
        take(tmp_path, feedback=tmp_path / "fb")
