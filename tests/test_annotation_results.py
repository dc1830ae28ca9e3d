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
from tests.tables import column_of, columns_of, ids_of, read_table


def judged(tmp_folder: Path, out: str = "judgments") -> list[dict[str, Any]]:
    table_rows: list[dict[str, Any]] = pq.read_table(
        tmp_folder / out / "quick" / "judgments.parquet"
    ).to_pylist()
    return table_rows


def tables(tmp_folder: Path, out: str = "judgments") -> list[bytes]:
    names = ("judgments.parquet", "gold.parquet")
    return [(tmp_folder / out / "quick" / layout_name).read_bytes() for layout_name in names]


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    file_path = hand_in(tmp_path, [submission(hit_batch, worker_id) for worker_id in ("A1", "B2")])
    take(tmp_path, file_path)
    earlier_bytes = tables(tmp_path)
    copy = hand_in(
        tmp_path,
        [submission(hit_batch, worker_id, seconds=99) for worker_id in ("B2", "A1", "A1")],
        "c.jsonl",
    )
    import_report = take(tmp_path, file_path, copy, file_path)
    assert (import_report.files, import_report.new, import_report.known, import_report.further) == (
        2,
        0,
        5,
        0,
    )
    assert tables(tmp_path) == earlier_bytes


def test_files_in_any_order_and_in_one_run_or_many(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    submissions = [
        submission(hit_batch, worker_id, hit) for worker_id in ("A1", "B2", "C3") for hit in (0, 1)
    ]
    paths = [
        hand_in(tmp_path, [submitted], f"{file_number}.jsonl")
        for file_number, submitted in enumerate(submissions)
    ]
    take(tmp_path, *paths, out="once")
    take(tmp_path, *paths[::-1], out="back")
    for file_path in paths[3:] + paths[:3]:
        take(tmp_path, file_path, out="many")
    assert tables(tmp_path, "once") == tables(tmp_path, "back") == tables(tmp_path, "many")
    table_rows = judged(tmp_path, "once")
    assert len(set(column_of(table_rows, "id"))) == 24 and table_rows == sorted(
        table_rows, key=lambda sorted_row: sorted_row["id"]
    )
    assert set(columns_of(table_rows, "item", "row")) == {
        (item.id, item.row) for item in hit_batch.items
    }
    assert set(columns_of(table_rows, "dataset", "seconds")) == {("rows.jsonl", 4.0)}
    gold = pq.read_table(tmp_path / "once" / "quick" / "gold.parquet").to_pylist()
    assert sorted(column_of(gold, "row")) == sorted(
        item.row for item in hit_batch.items if item.row
    )


def test_a_worker_who_answers_twice(tmp_path: Path) -> None:
    """The first answers count; others stay, flagged, and so it is whenever they are read again."""
    hit_batch = batch_of(tmp_path)
    first_batch, second_batch = (
        submission(hit_batch, "A1"),
        submission(hit_batch, "A1", assignment="again"),
    )
    third = submission(hit_batch, "A1")
    third["answers"] = {layout_name: {"verdict": "no"} for layout_name in third["answers"]}
    import_report = take(
        tmp_path, hand_in(tmp_path, [first_batch, second_batch, third, first_batch, second_batch])
    )
    assert (import_report.new, import_report.further, import_report.known) == (1, 2, 2)
    table_rows = judged(tmp_path)
    assert len(table_rows) == 12
    assert [judgment_row["flags"] for judgment_row in table_rows if judgment_row["counted"]] == [
        []
    ] * 4
    assert [
        DUPLICATE in judgment_row["flags"]
        for judgment_row in table_rows
        if not judgment_row["counted"]
    ] == [True] * 8
    earlier_bytes = tables(tmp_path)
    for second_answer in (
        [third],
        [second_batch, third],
        [first_batch],
        [third, second_batch, first_batch],
    ):
        take(tmp_path, hand_in(tmp_path, second_answer, "again.jsonl"))
        assert tables(tmp_path) == earlier_bytes


CASES = read_table("annotation_results")


def edit(edited: dict[str, Any], place: str, answer_value: Any) -> None:
    """Put a value in place of something in a submission, as the table has it."""
    *outer_keys, layout_name = place.split("/")
    edited_part = reduce(getitem, outer_keys, edited)
    if answer_value == "-":
        del edited_part[layout_name]
    else:
        edited_part[layout_name] = (
            edited_part[layout_name][:-1] + "x" if answer_value == "…x" else answer_value
        )


@pytest.mark.parametrize(("place", "answer_value", "reason", "detail"), CASES["refused"])
def test_what_does_not_belong(
    place: str, answer_value: Any, reason: str, detail: str, tmp_path: Path
) -> None:
    hit_batch = batch_of(tmp_path)
    wrong_submission = submission(hit_batch, "B2")
    long = "x" * 501 if answer_value == "LONG" else answer_value
    edit(wrong_submission, place.replace("ITEM", hit_batch.hits[0].items[1].id), long)
    good_submission = submission(hit_batch, "A1")
    import_report = take(
        tmp_path,
        hand_in(tmp_path, [good_submission, wrong_submission, good_submission | {"worker": "C3"}]),
    )
    assert (import_report.new, import_report.refused) == (2, {reason: 1})
    ((layout_name, text_line, why, printed_text),) = refusals(tmp_path)
    assert (layout_name, text_line, why) == ("results.jsonl", 2, reason)
    assert detail in printed_text
    assert any(f"results.jsonl:2: {reason}" in text for text in import_report.lines())
    assert len(judged(tmp_path)) == 8


def test_results_of_another_batch_of_the_same_rows(tmp_path: Path) -> None:
    first_batch = batch_of(tmp_path)
    second_batch = batch_of(tmp_path, again=True)
    mixed = submission(second_batch, "A1") | {"batch": first_batch.id}
    assert ids_of(first_batch.hits[0].items) == ids_of(second_batch.hits[0].items)
    import_report = take(tmp_path, hand_in(tmp_path, [mixed, submission(second_batch, "A1")]))
    assert import_report.new == 2  # one content, one id: a HIT is what its items are
    other_batch = batch_of(tmp_path, seed=3, again=True)
    wrong_submission = submission(other_batch, "A1") | {"batch": first_batch.id}
    import_report = take(tmp_path, hand_in(tmp_path, [wrong_submission]))
    assert import_report.refused == {"unknown HIT": 1}


def test_a_batch_of_another_platform(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    read_submission = submission_from_value(submission(hit_batch, "A1"), "f", 1)
    assert not isinstance(read_submission, Refused)
    matched = match_submission(read_submission, Batches(tmp_path / "hits"), "mturk", b"salt")
    assert isinstance(matched, Refused)
    assert (matched.reason, matched.detail) == (
        "wrong platform",
        "the batch went to static, not to mturk",
    )


def test_an_edited_batch_takes_no_results(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    file_path = hand_in(tmp_path, [submission(hit_batch, "A1")])
    items = hit_batch.folder / "items.jsonl"
    items.write_text(items.read_text("utf-8").replace("odd?", "even?"), "utf-8")
    with pytest.raises(UserError, match=r"items.jsonl: has changed"):
        take(tmp_path, file_path)
    assert not list((tmp_path / "judgments").rglob("*.parquet"))
    assert not (tmp_path / "judgments" / "refused.jsonl").exists()


def test_a_copied_batch(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    file_path = hand_in(tmp_path, [submission(hit_batch, "A1")])
    shutil.copytree(hit_batch.folder, hit_batch.folder.with_name("0002"))
    with pytest.raises(UserError, match=r"0002: the same batch as .*0001"):
        take(tmp_path, file_path)
    shutil.rmtree(hit_batch.folder.with_name("0002"))
    hit_batch.folder.parent.rename(tmp_path / "hits" / "other")
    with pytest.raises(UserError, match="a batch of the layout quick, in the folder of another"):
        take(tmp_path, file_path)


def test_worker_ids_are_kept_as_hashes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit_batch = batch_of(tmp_path)
    worker_id, session = "A3RAWWORKERID", "S9RAWSESSIONID"
    good_submission = submission(hit_batch, worker_id, assignment=session)
    wrong_submission = good_submission | {"hit": "no", "worker": worker_id + "X"}
    twice = json.dumps(good_submission)[:-1] + f', "worker": "{worker_id}"}}'
    file_path = hand_in(tmp_path, [good_submission, wrong_submission])
    file_path.write_text(file_path.read_text("utf-8") + twice + "\n", "utf-8")
    import_report = take(tmp_path, file_path)
    assert (import_report.new, sum(import_report.refused.values())) == (1, 2)
    for file in [output for output in (tmp_path / "judgments").rglob("*") if output.is_file()]:
        file_bytes = file.read_bytes()
        assert worker_id.encode() not in file_bytes
        assert session.encode() not in file_bytes
    for layout_name in ("judgments", "gold"):
        written_table = pq.read_table(tmp_path / "judgments" / "quick" / f"{layout_name}.parquet")
        assert worker_id not in str(written_table.to_pylist())
    assert worker_id not in "\n".join(import_report.lines())
    (judgment_row, *_) = judged(tmp_path)
    salt = read_salt(tmp_path / "hits")
    assert judgment_row["worker"] == hash_id(salt, "worker", "static", worker_id)
    assert judgment_row["assignment"] == hash_id(salt, "assignment", "static", session)
    assert (tmp_path / "hits" / ".salt").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("FACTDRIFT_SALT", "one of our own salts")
    take(tmp_path, file_path, out="other")
    with pytest.raises(UserError, match=r"made with another salt\n.*FACTDRIFT_SALT"):
        take(tmp_path, file_path)
    for short, expected_message in (("x" * 15, "FACTDRIFT_SALT: too"), ("", r"\.salt: too")):
        monkeypatch.setenv("FACTDRIFT_SALT", short)
        (tmp_path / "hits" / ".salt").write_text("short")
        with pytest.raises(UserError, match=f"{expected_message} short for a salt"):
            take(tmp_path, file_path, out="other")
    (other_judgment, *_) = judged(tmp_path, "other")
    assert re.fullmatch("[0-9a-f]{16}", other_judgment["worker"])
    assert other_judgment["worker"] == hash_id(
        b"one of our own salts", "worker", "static", worker_id
    )
    assert other_judgment["worker"] != judgment_row["worker"]


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
    file_path = hand_in(tmp_path, [])
    finished_run = run_cli(
        "judgments", file_path, "--hits", tmp_path / "hits", "--out", tmp_path / "j", ok=False
    )
    assert finished_run.returncode == 1
    assert "no submission could be taken" in finished_run.stderr
    assert "results.jsonl: no submissions in it" in finished_run.stderr + finished_run.stdout
    with pytest.raises(UserError, match=r"no batches here\n.*factdrift hits"):
        import_results([str(file_path)], ImportOrder(hits=tmp_path / "none"))


def test_judgments_that_are_no_table(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    file_path = hand_in(tmp_path, [submission(hit_batch, "A1")])
    place = tmp_path / "judgments" / "quick" / "judgments.parquet"
    place.parent.mkdir(parents=True)
    place.write_text("none")
    with pytest.raises(UserError, match=r"judgments.parquet: not a table of judgments"):
        take(tmp_path, file_path)


def test_results_as_a_table_of_cells(tmp_path: Path) -> None:
    """What form and table services export: a column of JSON among others."""
    hit_batch = batch_of(tmp_path)
    file_path = tmp_path / "form.csv"
    with file_path.open("w", newline="", encoding="utf-8-sig") as file:
        write = csv.writer(file, delimiter=";")
        write.writerow(["time", "body"])
        write.writerow(["1", json.dumps(submission(hit_batch, "A1"), indent=1)])
        write.writerow(["=HYPERLINK(1)", "not one"])
        write.writerow(["3", json.dumps(submission(hit_batch, "B2"))])
    import_report = take(tmp_path, file_path)
    assert import_report.new == 2
    ((layout_name, text_line, reason, _),) = refusals(tmp_path)
    assert (layout_name, reason) == ("form.csv", "not a submission")
    assert (
        text_line
        == file_path.read_text("utf-8-sig").splitlines().index("=HYPERLINK(1);not one") + 1
    )


def test_a_folder_of_results(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    (tmp_path / "in").mkdir()
    for worker_id in ("A1", "B2"):
        hand_in(tmp_path / "in", [submission(hit_batch, worker_id)], f"{worker_id}.json")
    (tmp_path / "in" / "notes.txt").write_text("not results")
    printed_text = take(tmp_path, tmp_path / "in").lines()
    assert printed_text[0].startswith("2 entries in 2 files: 2 new")
    assert printed_text[1].startswith("quick: 8 judgments")


def test_judgments_of_a_batch_that_is_gone(tmp_path: Path) -> None:
    first_batch: HitBatch = batch_of(tmp_path)
    second_batch = batch_of(tmp_path)
    take(tmp_path, hand_in(tmp_path, [submission(first_batch, "A1")]))
    shutil.rmtree(first_batch.folder)
    with pytest.raises(
        UserError, match=f"judgments of the batch {first_batch.id}, which is not in"
    ):
        take(tmp_path, hand_in(tmp_path, [submission(second_batch, "A1")], "b.jsonl"))


@pytest.mark.parametrize(("text", "expected_value"), CASES["tables"])
def test_tables_as_spreadsheets_save_them(
    tmp_path: Path, text: str, expected_value: object
) -> None:
    file_path = tmp_path / "t.csv"
    file_path.write_text(text, "utf-8")
    assert expected_value == [
        [table_entry.line, *table_entry.value.values()]
        if isinstance(table_entry, Entry)
        else table_entry.reason
        for table_entry in csv_rows(file_path)
    ]


def test_the_counts_add_up_and_worker_ids_are_trimmed(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    good_submission = [
        submission(hit_batch, " W1 "),
        submission(hit_batch, "W1"),
        submission(hit_batch, "W2"),
    ]
    file_path = hand_in(tmp_path, [*good_submission, {}, submission(hit_batch, "  ")])
    file_path.write_text(file_path.read_text("utf-8") + "no JSON\n", "utf-8")
    import_report = take(tmp_path, file_path)
    printed_text = (
        "6 entries in 1 file: 2 new, 1 known already, 0 a worker's further ones for a HIT, "
    )
    assert import_report.lines()[0] == printed_text + "3 refused"


def test_feedback_is_of_mturk_and_of_named_files(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    results_path = hand_in(tmp_path, [submission(hit_batch, "ada")])
    import_report = take(tmp_path, results_path, feedback=tmp_path / "fb")
    printed_text = "static takes no file of approvals; prolific and mturk do"
    assert any(printed_text in text_line for text_line in import_report.lines())
    with pytest.raises(UserError, match="feedback is of results files, and none is named"):
        take(tmp_path, feedback=tmp_path / "fb")
