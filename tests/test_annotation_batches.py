"""Batches: numbered, whole or not there, the same bytes for the same seed, never edited."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import batch_folders, load_batch_manifest, read_batch
from factdrift.annotation.hits import batch_summary, make_batch
from factdrift.annotation.layout import layout_names
from factdrift.annotation.order import Delivery
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from tests.annotation_items import FIELDS
from tests.annotation_workers import batch_of, hand_in, order, submission, take
from tests.conftest import checksums, run_cli
from tests.tables import read_table
from tests.test_annotation_items import ARTICLE_ID

CASES = read_table("annotation_batches")


def test_a_batch_on_disk(tmp_path: Path) -> None:
    folder, manifest = make_batch(order(tmp_path))
    assert folder == tmp_path / "hits" / "quick" / "0001"
    entries = {entry.path: entry.sha256 for entry in manifest.files}
    assert checksums(folder) == entries | {"manifest.json": file_sha256(folder / "manifest.json")}
    batch_files = "items.jsonl layout/layout.yaml layout/task.html.j2 preview.html private.json"
    pages = "static/hits/0001.json static/hits/0002.json static/links.csv static/task.html"
    assert sorted(entries) == [*batch_files.split(), *pages.split()]
    counts = {"hits": 2, "items": 6, "attention": 2, "assignments": 4, "rows": 20, "sent_before": 0}
    assert manifest.counts == counts
    assert (str(manifest.pay.total), str(manifest.pay.hourly)) == ("2.00", "15.00")
    assert load_batch_manifest(folder) == manifest
    batch = read_batch(folder)
    assert [len(hit.items) for hit in batch.hits] == [4, 4]
    assert sorted(item.row for hit in batch.hits for item in hit.items if item.row) == list(
        manifest.rows
    )
    known_answers = [item.answers for hit in batch.hits for item in hit.items if not item.row]
    assert known_answers == [{"verdict": "yes"}] * 2
    said = batch_summary(folder, manifest)
    assert "6 items of rows.jsonl in 2 HITs for static" in said[0]
    assert "2 workers each at 0.50 USD a HIT (15.00 USD an hour): 2.00 USD in all" in said[1]
    for path in [folder / "preview.html", *(folder / "static").rglob("*.*")]:
        assert not any(f'"{row}"' in path.read_text("utf-8") for row in manifest.rows)


@pytest.mark.parametrize(("hits", "shown_count"), [(20, 20), (21, 20)])
def test_a_preview_has_some_hits(hits: int, shown_count: int, tmp_path: Path) -> None:
    folder, _ = make_batch(order(tmp_path, rows=3 * hits, number=3 * hits))
    assert (folder / "preview.html").read_text("utf-8").count('"items":[') == shown_count


def test_the_same_order_gives_the_same_bytes(tmp_path: Path) -> None:
    first, _ = make_batch(order(tmp_path))
    again, _ = make_batch(order(tmp_path, out=tmp_path / "other"))
    assert checksums(first) == checksums(again)
    other_folder, _ = make_batch(order(tmp_path, out=tmp_path / "third", seed=1))
    assert checksums(first) != checksums(other_folder)
    assert read_batch(first).id != read_batch(other_folder).id


def test_rows_are_never_sent_twice_unless_asked(tmp_path: Path) -> None:
    sent: list[str] = []
    for number, items in ((1, 6), (2, 6), (3, 6), (4, 2)):
        folder, manifest = make_batch(order(tmp_path, seed=number // 4))
        assert folder.name == f"{number:04}"
        counts = manifest.counts
        assert (counts["sent_before"], counts["items"]) == (len(sent), items)
        sent += manifest.rows
    assert sorted(sent) == sorted(f"r{row_number}" for row_number in range(20))
    with pytest.raises(UserError, match=r"sent_before: 20.*\n.*--again"):
        make_batch(order(tmp_path))
    folder, manifest = make_batch(order(tmp_path, again=True))
    assert manifest.counts["items"] == 6
    assert folder.name == "0005"
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
    batch = batch_of(tmp_path)
    judgments = tmp_path / "judgments"
    again = order(tmp_path, undecided=True, judgments=judgments, number=20)
    assert make_batch(again)[1].rows == load_batch_manifest(batch.folder).rows
    decided, open_rows = ({item.row for item in hit.items if item.row} for hit in batch.hits)
    take(tmp_path, hand_in(tmp_path, [submission(batch, worker) for worker in ("A1", "B2")]))
    _, manifest = make_batch(again)
    assert set(manifest.rows) == open_rows
    assert manifest.counts["not_open"] == 20 - len(open_rows)
    second = batch_of(tmp_path, undecided=True, judgments=judgments)
    submissions = [submission(second, worker) for worker in ("A1", "B2")]
    take(tmp_path, hand_in(tmp_path, submissions, "second.jsonl"))
    gold = pq.read_table(judgments / "quick" / "gold.parquet").to_pylist()
    assert {row["row"] for row in gold if row["decision"] != "open"} == decided | open_rows
    with pytest.raises(UserError, match=r"no row of rows.jsonl can be sent .*not_open: 20"):
        make_batch(again)
    with pytest.raises(UserError, match="--open and --again exclude each other"):
        make_batch(order(tmp_path, undecided=True, again=True))


def test_numbers_go_on_after_the_largest(tmp_path: Path) -> None:
    folder, _ = make_batch(order(tmp_path))
    layout_hits = folder.parent
    shutil.rmtree(folder)
    for name in ("9999", "10000", "x", "12", ".0007.tmp", "notes.txt"):
        (layout_hits / name).mkdir()
    assert [path.name for path in batch_folders(layout_hits)] == ["9999", "10000"]
    for name in ("9999", "10000"):
        (layout_hits / name).rmdir()
    batch_folder, _ = make_batch(order(tmp_path))
    batch_folder.rename(layout_hits / "9999")
    second, _ = make_batch(order(tmp_path))
    third, _ = make_batch(order(tmp_path))
    assert (second.name, third.name) == ("10000", "10001")


@pytest.mark.parametrize(
    ("name", "old", "new", "signed", "message"),
    CASES["edits"],
)
def test_an_edited_batch_is_refused(
    name: str, old: str, new: str, signed: bool, message: str, tmp_path: Path
) -> None:
    """`signed`: the checksum of the edited file is forged, too."""
    folder, _ = make_batch(order(tmp_path))
    path, manifest = folder / name, folder / "manifest.json"
    text, sha256 = path.read_text("utf-8"), file_sha256(path)
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    if signed:
        signs = manifest.read_text("utf-8").replace(sha256, file_sha256(path))
        manifest.write_text(signs, "utf-8")
    with pytest.raises(UserError, match=message):
        read_batch(folder)
    with pytest.raises(UserError, match=message):
        make_batch(order(tmp_path))


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    folder, _ = make_batch(order(tmp_path))
    (folder / "static" / "links.csv").unlink()
    with pytest.raises(UserError, match="it is missing"):
        read_batch(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(UserError, match=r"manifest.json: cannot be read"):
        read_batch(folder)


@pytest.mark.parametrize(("change", "message"), CASES["orders"])
def test_orders_that_cannot_be_met_leave_nothing(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    delivery = Delivery(**change.get("delivery", {}))
    with pytest.raises(UserError, match=f"(?s){message}"):
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
    words = ["hits", name, "--n", 7, "--releases", releases, "--out", tmp_path / "hits"]
    if name in OWN_ROWS:
        (tmp_path / "rows.jsonl").write_text(json.dumps(OWN_ROWS[name]) + "\n", "utf-8")
        words += ["--dataset", tmp_path / "rows.jsonl", "--build", tmp_path / "build"]
    if name == "ckl_expert":
        words += ["--until", "2020-04-30"]
    if name in PAGED:
        words += ["--pages", releases / "timeqa/1.0.0/data/pages"]
    finished_run = run_cli(*words)
    folder = tmp_path / "hits" / name / "0001"
    manifest = load_batch_manifest(folder)
    assert f"{manifest.counts['items']:,} items of" in finished_run.stderr + finished_run.stdout
    shown_items = [item for item in read_batch(folder).items if item.row]
    groups = {
        (item.fields["subject"], item.fields["relation"]) for item in shown_items if name in PAGED
    }
    assert len(shown_items) == 7 or (name in OWN_ROWS and len(shown_items) == 1) or len(groups) > 1
    if name in PAGED:
        assert manifest.config == "timelines"
        rows: list[Any] = [item.fields for item in shown_items]
        marked = [(fields, span) for fields in rows for span in fields["found"]]
        assert marked
        for fields, span in marked:
            text = fields["page"][span["paragraph"]]["text"]
            assert text[span["start"] : span["end"]] == fields["mention"]
