"""Batches: numbered, whole or not there, the same bytes for the same seed, never edited."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from factdrift.annotation.batch import batch_folders, load_batch_manifest, read_batch
from factdrift.annotation.hits import batch_summary, make_batch
from factdrift.annotation.layout import layout_names
from factdrift.annotation.order import Delivery
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from tests.annotation_items import FIELDS
from tests.annotation_workers import batch_of, hand_in, order, submission, take
from tests.conftest import checksums, run_cli
from tests.tables import names_of, read_table
from tests.test_annotation_items import ARTICLE_ID

CASES = read_table("annotation_batches")


def test_a_batch_on_disk(tmp_path: Path) -> None:
    batch_folder, manifest = make_batch(order(tmp_path))
    assert batch_folder == tmp_path / "hits" / "quick" / "0001"
    entries = {entry.path: entry.sha256 for entry in manifest.files}
    key_path = batch_folder / "links.key"
    assert key_path.stat().st_mode & 0o777 == 0o600
    assert checksums(batch_folder) == entries | {
        "links.key": file_sha256(key_path),
        "manifest.json": file_sha256(batch_folder / "manifest.json"),
    }
    batch_files = "items.jsonl layout/layout.yaml layout/task.html.j2 preview.html private.json"
    pages = "static/hits/0001.json static/hits/0002.json static/links.csv static/task.html"
    assert sorted(entries) == [*batch_files.split(), *pages.split()]
    expected_counts = {
        "hits": 2,
        "items": 6,
        "attention": 2,
        "assignments": 4,
        "rows": 20,
        "sent_before": 0,
    }
    assert manifest.counts == expected_counts
    assert (str(manifest.pay.total), str(manifest.pay.hourly)) == ("2.00", "15.00")
    assert load_batch_manifest(batch_folder) == manifest
    hit_batch = read_batch(batch_folder)
    assert [len(hit.items) for hit in hit_batch.hits] == [4, 4]
    assert sorted(
        batch_item.row for hit in hit_batch.hits for batch_item in hit.items if batch_item.row
    ) == list(manifest.rows)
    known_answers = []
    for hit in hit_batch.hits:
        for batch_item in hit.items:
            if not batch_item.row:
                known_answers.append(batch_item.answers)
    assert known_answers == [{"verdict": "yes"}] * 2
    printed_text = batch_summary(batch_folder, manifest)
    assert "6 items of rows.jsonl in 2 HITs for static" in printed_text[0]
    assert (
        "2 workers each at 0.50 USD a HIT (15.00 USD an hour): 2.00 USD in all" in printed_text[1]
    )
    for file_path in [batch_folder / "preview.html", *(batch_folder / "static").rglob("*.*")]:
        for row in manifest.rows:
            assert f'"{row}"' not in file_path.read_text("utf-8")


@pytest.mark.parametrize(("hits", "shown_count"), [(20, 20), (21, 20)])
def test_a_preview_has_some_hits(hits: int, shown_count: int, tmp_path: Path) -> None:
    batch_folder, _ = make_batch(order(tmp_path, rows=3 * hits, number=3 * hits))
    assert (batch_folder / "preview.html").read_text("utf-8").count('"items":[') == shown_count


def test_the_same_order_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same key of links, which is otherwise drawn for each batch."""
    monkeypatch.setenv("FACTDRIFT_LINK_KEY", "a key of links for tests")
    first_batch, _ = make_batch(order(tmp_path))
    second_batch, _ = make_batch(order(tmp_path, out=tmp_path / "other"))
    assert checksums(first_batch) == checksums(second_batch)
    other_folder, _ = make_batch(order(tmp_path, out=tmp_path / "third", seed=1))
    assert checksums(first_batch) != checksums(other_folder)
    assert read_batch(first_batch).id != read_batch(other_folder).id


def test_rows_are_never_sent_twice_unless_asked(tmp_path: Path) -> None:
    sent_rows: list[str] = []
    for batch_number, items in ((1, 6), (2, 6), (3, 6), (4, 2)):
        batch_folder, manifest = make_batch(order(tmp_path, seed=batch_number // 4))
        assert batch_folder.name == f"{batch_number:04}"
        manifest_counts = manifest.counts
        assert (manifest_counts["sent_before"], manifest_counts["items"]) == (len(sent_rows), items)
        sent_rows += manifest.rows
    assert sorted(sent_rows) == sorted(f"r{row_number}" for row_number in range(20))
    with pytest.raises(UserError, match=r"sent_before: 20.*\n.*--again"):
        make_batch(order(tmp_path))
    batch_folder, manifest = make_batch(order(tmp_path, again=True))
    assert manifest.counts["items"] == 6
    assert batch_folder.name == "0005"
    assert (
        len(
            {
                read_batch(layout_folder).id
                for layout_folder in batch_folders(tmp_path / "hits" / "quick")
            }
        )
        == 5
    )
    with pytest.raises(UserError, match="sent_before"):
        make_batch(order(tmp_path))


def test_only_what_is_not_decided_is_sent_once_more(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing was sent yet"):
        make_batch(order(tmp_path, undecided=True))
    hit_batch = batch_of(tmp_path)
    judgments = tmp_path / "judgments"
    undecided_order = order(tmp_path, undecided=True, judgments=judgments, number=20)
    assert make_batch(undecided_order)[1].rows == load_batch_manifest(hit_batch.folder).rows
    decided, open_rows = (
        {batch_item.row for batch_item in hit.items if batch_item.row} for hit in hit_batch.hits
    )
    take(
        tmp_path,
        hand_in(tmp_path, [submission(hit_batch, worker_id) for worker_id in ("A1", "B2")]),
    )
    _, manifest = make_batch(undecided_order)
    assert set(manifest.rows) == open_rows
    assert manifest.counts["not_open"] == 20 - len(open_rows)
    second_batch = batch_of(tmp_path, undecided=True, judgments=judgments)
    submissions = [submission(second_batch, worker_id) for worker_id in ("A1", "B2")]
    take(tmp_path, hand_in(tmp_path, submissions, "second.jsonl"))
    gold = pq.read_table(judgments / "quick" / "gold.parquet").to_pylist()
    assert {row["row"] for row in gold if row["decision"] != "open"} == decided | open_rows
    with pytest.raises(UserError, match=r"no row of rows.jsonl can be sent .*not_open: 20"):
        make_batch(undecided_order)
    with pytest.raises(UserError, match="--open and --again exclude each other"):
        make_batch(order(tmp_path, undecided=True, again=True))


def test_numbers_go_on_after_the_largest(tmp_path: Path) -> None:
    folder, _ = make_batch(order(tmp_path))
    layout_hits = folder.parent
    shutil.rmtree(folder)
    for name in ("9999", "10000", "x", "12", ".0007.tmp", "notes.txt"):
        (layout_hits / name).mkdir()
    assert names_of(batch_folders(layout_hits)) == ["9999", "10000"]
    for name in ("9999", "10000"):
        (layout_hits / name).rmdir()
    batch_folder, _ = make_batch(order(tmp_path))
    batch_folder.rename(layout_hits / "9999")
    second_batch, _ = make_batch(order(tmp_path))
    third, _ = make_batch(order(tmp_path))
    assert (second_batch.name, third.name) == ("10000", "10001")


@pytest.mark.parametrize(
    ("name", "old", "new", "signed", "expected_message"),
    CASES["edits"],
)
def test_an_edited_batch_is_refused(
    name: str, old: str, new: str, signed: bool, expected_message: str, tmp_path: Path
) -> None:
    """`signed`: the checksum of the edited file is forged, too."""
    batch_folder, _ = make_batch(order(tmp_path))
    file_path, manifest = batch_folder / name, batch_folder / "manifest.json"
    text, sha256 = file_path.read_text("utf-8"), file_sha256(file_path)
    assert old in text
    file_path.write_text(text.replace(old, new, 1), "utf-8")
    if signed:
        signs = manifest.read_text("utf-8").replace(sha256, file_sha256(file_path))
        manifest.write_text(signs, "utf-8")
    with pytest.raises(UserError, match=expected_message):
        read_batch(batch_folder)
    with pytest.raises(UserError, match=expected_message):
        make_batch(order(tmp_path))


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    batch_folder, _ = make_batch(order(tmp_path))
    (batch_folder / "static" / "links.csv").unlink()
    with pytest.raises(UserError, match="it is missing"):
        read_batch(batch_folder)
    (batch_folder / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"manifest.json: cannot be read"):
        read_batch(batch_folder)


@pytest.mark.parametrize(("change", "expected_message"), CASES["orders"])
def test_orders_that_cannot_be_met_leave_nothing(
    change: dict[str, Any], expected_message: str, tmp_path: Path
) -> None:
    delivery = Delivery(**change.get("delivery", {}))
    with pytest.raises(UserError, match=f"(?s){expected_message}"):
        make_batch(order(tmp_path, **{**change, "delivery": delivery}))
    assert [*tmp_path.glob("hits/*/*")] == []
    assert make_batch(order(tmp_path))[0].name == "0001"


PAGED = {"verify_facts"}
OWN_ROWS: dict[str, dict[str, Any]] = {
    "ckl_expert": {k: v for k, v in FIELDS["ckl_expert"].items() if k != "results"},
    "easy_question": FIELDS["easy_question"] | {"article": ARTICLE_ID},
}


@pytest.mark.parametrize("name", layout_names())
def test_make_hits_from_the_sample(name: str, sample: Path, tmp_path: Path) -> None:
    releases = sample / "releases"
    command_words = ["hits", name, "--n", 7, "--releases", releases, "--out", tmp_path / "hits"]
    if name in OWN_ROWS:
        (tmp_path / "rows.jsonl").write_text(json.dumps(OWN_ROWS[name]) + "\n", "utf-8")
        command_words += ["--dataset", tmp_path / "rows.jsonl", "--build", tmp_path / "build"]
    if name == "ckl_expert":
        command_words += ["--until", "2020-04-30"]
    if name in PAGED:
        command_words += ["--pages", releases / "timeqa/1.0.0/data/pages"]
    finished_run = run_cli(*command_words)
    batch_folder = tmp_path / "hits" / name / "0001"
    manifest = load_batch_manifest(batch_folder)
    assert f"{manifest.counts['items']:,} items of" in finished_run.stderr + finished_run.stdout
    shown_items = [batch_item for batch_item in read_batch(batch_folder).items if batch_item.row]
    groups = {
        (batch_item.fields["subject"], batch_item.fields["relation"])
        for batch_item in shown_items
        if name in PAGED
    }
    assert len(shown_items) == 7 or (name in OWN_ROWS and len(shown_items) == 1) or len(groups) > 1
    if name in PAGED:
        assert manifest.config == "timelines"
        table_rows: list[Any] = [batch_item.fields for batch_item in shown_items]
        marked = [
            (item_fields, span) for item_fields in table_rows for span in item_fields["found"]
        ]
        assert marked
        for item_fields, span in marked:
            text = item_fields["page"][span["paragraph"]]["text"]
            assert text[span["start"] : span["end"]] == item_fields["mention"]


def test_checks_take_turns_and_some_are_kept_for_later_batches(tmp_path: Path) -> None:
    checks: list[dict[str, Any]] = [
        {"fields": {"question": f"Check {number}?"}, "answers": {"verdict": "yes"}}
        for number in range(4)
    ]
    checks[3]["reserve"] = True
    batch_order = order(tmp_path, rows=60, number=18)
    layout_path = Path(str(batch_order.layout)) / "layout.yaml"
    settings = yaml.safe_load(layout_path.read_text("utf-8")) | {"attention": checks}
    layout_path.write_text(yaml.safe_dump(settings), "utf-8")

    def shown_checks() -> Counter[str]:
        hits = read_batch(make_batch(batch_order)[0]).hits
        return Counter(str(i.fields["question"]) for hit in hits for i in hit.items if not i.row)

    assert shown_checks() == {"Check 0?": 2, "Check 1?": 2, "Check 2?": 2}
    assert shown_checks() == {"Check 3?": 6}  # new to whoever worked on the first batch
    assert len(shown_checks()) == 4
