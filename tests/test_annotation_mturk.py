"""MTurk's files: what goes to it stays within its limits, a browser shows it as its site does, what
comes back is read or refused."""

import base64
import csv
import html
import json
import random
import re
import zlib
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest

from factdrift.annotation import page
from factdrift.annotation.batch import HitBatch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import layout_names, load_layout
from factdrift.annotation.order import BatchOrder
from factdrift.annotation.platforms import find_platform
from factdrift.annotation.platforms.base import Verdict
from factdrift.annotation.platforms.mturk import LARGEST, SITE, VARIABLE
from factdrift.annotation.submission import Refused
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import batch_of, hand_in, handed_in, submission, take
from tests.browser import Browser, Taker, browser, taker
from tests.simulated_workers import HOSTILE, mturk_csv, packed, work, written
from tests.tables import column_of, read_table

__all__ = ["browser", "taker"]  # fixtures
CASES = read_table("annotation_platforms")
ENTER = "\ue007"

MTURK = find_platform("mturk")


@pytest.mark.parametrize("column_name", layout_names())
def test_what_goes_to_mturk_is_plain_and_small(column_name: str, tmp_path: Path) -> None:
    hit_batch = written(tmp_path, column_name, "mturk")
    folder = hit_batch.folder / "mturk"
    for file_path in folder.iterdir():
        assert file_path.read_bytes().isascii()
    template = (folder / "template.html").read_text()
    assert "<form" not in template and "]]>" not in template
    assert len(template) < 48_000  # MTurk takes 65,535 bytes with the item
    assert re.findall(r"\$\{[^}]*\}", template) == [VARIABLE]
    for hit in hit_batch.hits:
        assert (
            len(template.replace(VARIABLE, page.packed_hit(hit, hit_batch.id)).encode()) <= LARGEST
        )
    with (folder / "hits.csv").open() as file:
        table_rows = list(csv.DictReader(file))
    assert [set(table_row) for table_row in table_rows] == [{"data"}] * len(hit_batch.hits)
    for table_row, hit in zip(table_rows, hit_batch.hits, strict=True):
        assert re.fullmatch(r"e[A-Za-z0-9+/]+=*", table_row["data"])  # no formula
        answer_value = json.loads(zlib.decompress(base64.b64decode(table_row["data"])))
        shared_texts = answer_value.pop("texts")
        for item in answer_value["items"]:
            item["fields"] |= {
                column_name: shared_texts[text_number]
                for column_name, text_number in item.pop("same").items()
            }
        assert answer_value == {
            "batch": hit_batch.id,
            "id": hit.id,
            "items": [
                {"id": hit_item.id, "fields": dict(hit_item.fields)} for hit_item in hit.items
            ],
        }
        assert HOSTILE in json.dumps(answer_value, ensure_ascii=False).replace('\\"', '"')


def test_hits_are_packed_to_fit_and_what_fits_none_is_counted(tmp_path: Path) -> None:
    random_source = random.Random(2)
    lengths = [9_000] * 10 + [60_000]
    row_texts = [
        "".join(chr(random_source.randint(65, 122)) for _ in range(row_number))
        for row_number in lengths
    ]
    table_rows = [
        {"id": f"r{row_number}", "question_ts": 0, "question": question}
        for row_number, question in enumerate(row_texts)
    ]
    rows_path = hand_in(tmp_path, table_rows, "rows.jsonl")
    counts = {}
    for platform in ("mturk", "static"):
        platform_folder = tmp_path / platform
        order = BatchOrder(
            layout="judge_question", dataset=str(rows_path), platform=platform, out=platform_folder
        )
        counts[platform] = make_batch(order)[1].counts
    assert counts["static"]["items"] == 11
    assert counts["static"]["hits"] == 1
    assert (counts["mturk"]["items"], counts["mturk"]["too large for mturk"]) == (10, 1)
    assert 3 <= counts["mturk"]["hits"] <= 10
    rows_path.write_text(json.dumps(table_rows[-1]))
    order = replace(order, platform="mturk", out=tmp_path / "large")
    with pytest.raises(UserError, match=r"every item is too large for mturk\n.*--platform static"):
        make_batch(order)


GOOD = handed_in("b", "h", "W", {"i": {"text": HOSTILE}}, assignment="A")


@pytest.mark.parametrize(
    ("form_value", "worker_id", "assignment", "expected_reason"),
    [
        (packed(GOOD), "W", "A", None),
        (packed(GOOD | {"worker": "", "assignment": ""}), "W", "A", None),
        (packed(GOOD), "W2", "A", "another's submission"),
        (packed(GOOD), "W", "A2", "another's submission"),
        (packed(GOOD), "", "A", "no worker or assignment"),
        ("", "W", "A", "no answers"),
        ("=1+1", "W", "A", "not a submission"),
        ("e" * 32_767, "W", "A", "cut short"),
        (base64.b64encode(b"\xff\xfe").decode(), "W", "A", "not a submission"),
        (base64.b64encode(b"[1]").decode(), "W", "A", "not a submission"),
        (packed(GOOD | {"extra": 1}), "W", "A", "not a submission"),
    ],
)
def test_answers_of_a_form(
    form_value: str, worker_id: str, assignment: str, expected_reason: str | None
) -> None:
    cells = {"WorkerId": worker_id, "AssignmentId": assignment, "Answer.submission": form_value}
    read_submission = MTURK.submission(cells, "f.csv", 2, table=True)
    if isinstance(read_submission, Refused):
        assert read_submission.reason == expected_reason
    else:
        assert (read_submission.worker, read_submission.assignment, expected_reason) == (
            "W",
            "A",
            None,
        )
        assert read_submission.answers == {"i": {"text": HOSTILE}}


def test_the_review_file_is_the_results_file_with_decisions(tmp_path: Path) -> None:
    hit_batch = written(tmp_path / "hits", "judge_question", "mturk")
    works = work(hit_batch, load_layout("judge_question"))
    works.append({**works[0], "assignment": "broken", "answers": {}})
    file_path = tmp_path / "Batch_7_batch_results.csv"
    mturk_csv(works, hit_batch, file_path)
    cell_text = file_path.read_text("utf-8")
    decided = cell_text.replace('"Ahit1W0","W0","Submitted"', '"Ahit1W0","W0","Approved"')
    assert decided != cell_text
    file_path.write_text(decided, "utf-8")
    import_report = take(tmp_path, file_path, feedback=tmp_path / "f")
    (review,) = (tmp_path / "f").glob("*.csv")
    with file_path.open(newline="") as file, review.open(newline="") as review_file:
        earlier_bytes, reviewed_rows = list(csv.DictReader(file)), list(csv.DictReader(review_file))
    assert [list(table_row) for table_row in reviewed_rows] == [
        list(table_row) for table_row in earlier_bytes
    ]
    decision_columns = ("Approve", "Reject")
    for was, now in zip(earlier_bytes, reviewed_rows, strict=True):
        plain_cells = {
            column_name: cell_text.removeprefix("'") for column_name, cell_text in now.items()
        }
        assert {**was, **dict.fromkeys(decision_columns)} == {
            **plain_cells,
            **dict.fromkeys(decision_columns),
        }
        assert not any(cell_text.startswith("=") for cell_text in now.values())
    for table_row in reviewed_rows:
        assert not table_row["Reject"].endswith(("?.", ".."))
    by_worker = {
        table_row["AssignmentId"]: (table_row["Approve"], table_row["Reject"])
        for table_row in reviewed_rows
    }
    # one is decided already; one is refused here, for a person to decide
    assert [by_worker[worker_id] for worker_id in ("Ahit1W0", "broken")] == [("", "")] * 2
    assert by_worker["Ahit1W1"] == ("x", "")
    approved = [approve_cell for approve_cell, _ in by_worker.values()].count("x")
    rejected = sum(bool(reject_cell) for _, reject_cell in by_worker.values())
    assert approved + rejected == import_report.new + import_report.further - 1
    decision_counts = next(
        text_line for text_line in import_report.lines() if text_line.startswith("feedback: ")
    )
    assert decision_counts.startswith(f"feedback: {approved} approved, {rejected} rejected, ")


def test_work_that_was_rejected_on_the_site_is_no_judgment(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path, platform="mturk")
    cells = {
        worker_id: base64.b64encode(json.dumps(submission(hit_batch, worker_id)).encode()).decode()
        for worker_id in ("W1", "W2")
    }
    results_path = tmp_path / "results.csv"
    for status, new_count, judgment_count in (
        ("Submitted", 2, 8),
        ("Rejected", 0, 4),
        ("Approved", 1, 8),
    ):
        results_path.write_text(
            "AssignmentId,WorkerId,AssignmentStatus,Answer.submission\n"
            f"A1,W1,{status},{cells['W1']}\n"
            f"A2,W2,Approved,{cells['W2']}\n"
        )
        import_report = take(tmp_path, results_path)
        assert (import_report.new, import_report.judgments) == (
            new_count,
            {"quick": judgment_count},
        )
        if status == "Rejected":
            assert import_report.refused == {"rejected on the platform": 1}


def test_a_review_holds_no_formula_and_what_has_no_rows_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "AssignmentId,WorkerId,Comment,@odd,Answer.note\n"
        'A1,W1,"=HYPERLINK(""https://x.org"")",-1,=2+2\nA2,W2,fine,,x\n'
    )
    (column_name,) = MTURK.feedback(tmp_path / "a.csv", lambda submission: Verdict(""), tmp_path)
    with (tmp_path / column_name).open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["AssignmentId", "WorkerId", "Comment", "'@odd", "Answer.note", "Approve", "Reject"],
            ["A1", "W1", '\'=HYPERLINK("https://x.org")', "'-1", "'=2+2", "", ""],
            ["A2", "W2", "fine", "", "x", "", ""],
        ]
    (tmp_path / "b.csv").write_text("AssignmentId,WorkerId,WorkerId\nA1,W1,W2\n")
    earlier_bytes = sorted(tmp_path.iterdir())
    assert MTURK.feedback(tmp_path / "b.csv", lambda submission: Verdict(""), tmp_path) == []
    assert sorted(tmp_path.iterdir()) == earlier_bytes


# What the requester site makes of a template: its form around it, its button below.
FRAME = """<!DOCTYPE html><html><head><meta http-equiv='Content-Type'
 content='text/html; charset=UTF-8'/></head><body>
<form name='mturk_form' method='post' id='mturk_form' action='%s/mturk/wrong'>
<input type='hidden' value='' name='assignmentId' id='assignmentId'/>
%s
<p><input type='submit' id='submitButton' value='Submit' /></p></form></body></html>"""


def shown_template(hit_batch: HitBatch, taker: Taker) -> str:
    """The page of the first HIT by the requester site."""
    folder = hit_batch.folder / "mturk"
    with (folder / "hits.csv").open() as file:
        table_row = next(csv.DictReader(file))
    cell_text = (folder / "template.html").read_text()
    for column_name, answer_value in table_row.items():
        cell_text = cell_text.replace("${" + column_name + "}", html.escape(answer_value))
    return FRAME % (taker.address, cell_text)


def test_a_form_posts_what_was_answered(browser: Browser, taker: Taker, tmp_path: Path) -> None:
    hit_batch = written(tmp_path / "hits", "answer_question", "mturk")
    cell_text = shown_template(hit_batch, taker).replace(SITE, taker.address)
    ids = {"assignmentId": "A1", "hitId": "H1", "workerId": "W1"}
    browser.size("wide")
    browser.open(cell_text, f"?{urlencode(ids | {'turkSubmitTo': 'https://evil.example'})}")
    browser.begin_trained("answer_question", "W1")
    browser.one("#item .option")
    assert not browser.all("#submitButton")
    assert not browser.all("#who")
    browser.keys("y")
    browser.keys(ENTER)  # in a radio button: submits no outer form
    browser.drag("succeeded Kofi Annan of Ghana")
    browser.all(".answer.text textarea")[0].send_keys("Kofi Annan =1+1 ${data} <b>")
    browser.press("Next")
    assert HOSTILE.split("\u202b")[0].strip()[:25] in browser.text("#item")
    browser.keys("n")
    assert [
        expected_message
        for expected_message in browser.messages()
        if "favicon" not in expected_message
    ] == []
    browser.press("Submit")
    file_path, posted_body = browser.until(lambda: taker.posted, "the form").pop()
    posted_form = {
        column_name: column_values[0]
        for column_name, column_values in parse_qs(posted_body.decode()).items()
    }
    posted_value = posted_form.pop("submission")
    assert (file_path, posted_form, taker.posted) == ("/mturk/externalSubmit", ids, [])
    results_path = tmp_path / "results.csv"
    results_path.write_text(f"AssignmentId,WorkerId,Answer.submission\nA1,W1,{posted_value}\n")
    import_report = take(tmp_path, results_path)
    assert (import_report.new, import_report.refused) == (1, {})
    posted_submission = json.loads(base64.b64decode(posted_value))
    first_answers, second_answers = (
        posted_submission["answers"][item.id] for item in hit_batch.hits[0].items
    )
    assert second_answers == {"answerable": "no"}
    assert first_answers["answer"] == "Kofi Annan =1+1 ${data} <b>"
    assert column_of(first_answers["evidence"], "text") == ["succeeded Kofi Annan of Ghana"]


@pytest.mark.parametrize(
    ("to", "action"),
    CASES["mturk_sites"],
)
def test_a_template_submits_to_the_site_that_it_is_on(
    to: str, action: str, browser: Browser, taker: Taker, tmp_path: Path
) -> None:
    hit_batch = written(tmp_path / "hits", "paraphrase", "mturk", hits=1)
    browser.open(shown_template(hit_batch, taker), f"?{urlencode({'turkSubmitTo': to})}")
    assert browser.js("return document.getElementById('form').action") == (
        f"{action}/mturk/externalSubmit"
    )
