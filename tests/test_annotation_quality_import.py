"""From results files to settled judgments, an expert's batch, feedback and the report."""

import csv
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import Item, read_batch
from factdrift.annotation.hits import make_batch, make_expert_batches
from factdrift.annotation.matching import Batches, match_submission, read_salt
from factdrift.annotation.order import BatchOrder
from factdrift.annotation.quality.expert import CHECKS
from factdrift.annotation.results import JudgmentTable
from factdrift.annotation.submission import Refused, Submission, submission_from_value
from factdrift.builders.core.errors import UserError
from factdrift.builders.release.people import people_statistics
from tests.annotation_workers import LAYOUT, batch_of, hand_in, order, submission, take, work
from tests.browser import SIZES, Browser, browser
from tests.tables import columns_of, read_table

__all__ = ["browser"]

HOSTILE = "<script>alert(1)</script> \"'${x} {{ 7*7 }} \u202e=1+1 \U0001f600"


SAMPLED = (
    LAYOUT.split("attention:")[0]
    .replace("by: majority, of: verdict, accept: [yes]", "by: sampled, sampled: 2")
    .replace("assignments: 2", "assignments: 1")
    .replace("items_per_hit: 3", "items_per_hit: 2")
)
"""The small layout with per-worker batches."""


def _questions(tmp_path: Path, number: int) -> Path:
    """A batch of `judge_question` over so many rows."""
    table_rows = [
        {
            "id": f"q{row_number}",
            "question": f"Who won race {row_number}?{HOSTILE}",
            "question_ts": 1588723200,
        }
        for row_number in range(number)
    ]
    dataset = hand_in(tmp_path, table_rows, "q.jsonl")
    ordered = BatchOrder(layout="judge_question", dataset=str(dataset), out=tmp_path / "hits")
    return make_batch(replace(ordered, build=tmp_path / "build"))[0]


def _gold(tmp_path: Path, layout: str) -> dict[str, str]:
    table_rows = pq.read_table(tmp_path / "judgments" / layout / "gold.parquet").to_pylist()
    return {table_row["row"]: table_row["decision"] for table_row in table_rows}


def _seen_by_expert(tmp_path: Path) -> set[str]:
    table_rows = pq.read_table(tmp_path / "judgments" / "quick" / "gold.parquet").to_pylist()
    return {table_row["row"] for table_row in table_rows if table_row["expert_saw"]}


@pytest.fixture
def sampled(tmp_path: Path) -> tuple[str, Path, Path]:
    """A layout, its batch of 8 rows in 4 HITs, and the work of two people on it."""
    ordered = order(tmp_path, rows=8, number=8)
    (tmp_path / "quick" / "layout.yaml").write_text(SAMPLED, "utf-8")
    hit_batch, _ = make_batch(ordered)
    results_path = work(
        hit_batch,
        tmp_path / "results.jsonl",
        ["good", "bad"],
        lambda worker_id, batch_item: {"verdict": "yes" if worker_id == "good" else "no"},
        hits=lambda worker_id, number: (number < 2) == (worker_id == "good"),
    )
    return ordered.layout, hit_batch, results_path


def _expert_order(tmp_folder: Path, layout: str) -> BatchOrder:
    return BatchOrder(layout=layout, out=tmp_folder / "hits", judgments=tmp_folder / "judgments")


def test_an_expert_judges_a_batch_of_drawn_items(
    tmp_path: Path, sampled: tuple[str, Path, Path]
) -> None:
    layout, hit_batch, results_path = sampled
    take(tmp_path, results_path)
    assert set(_gold(tmp_path, "quick").values()) == {"open"}
    expert_batches = make_expert_batches(_expert_order(tmp_path, layout))
    ((folder, manifest),) = expert_batches
    assert (folder.name, manifest.counts["items"], manifest.dataset) == ("0002", 4, "rows.jsonl")
    sent_answers = {
        batch_item.id for batch_hit in read_batch(hit_batch).hits for batch_item in batch_hit.items
    }
    assert {
        hit_item.id for batch_hit in read_batch(folder).hits for hit_item in batch_hit.items
    } < sent_answers

    checked = work(
        folder,
        tmp_path / "expert.jsonl",
        ["boss"],
        lambda worker_id, batch_item: {"verdict": "yes"},
    )
    experts = tmp_path / "experts.txt"
    experts.write_text("# ours\nboss\n", "utf-8")
    take(tmp_path, checked, experts=experts)
    gold = _gold(tmp_path, "quick")
    item_by_row = {}
    for batch_hit in read_batch(hit_batch).hits:
        for batch_item in batch_hit.items:
            item_by_row[batch_item.row] = batch_item.id
    by_expert = {
        hit_item.row for batch_hit in read_batch(folder).hits for hit_item in batch_hit.items
    }
    first_two = {
        hit_item.row for batch_hit in read_batch(hit_batch).hits[:2] for hit_item in batch_hit.items
    }
    assert {
        table_row for table_row in item_by_row if gold[table_row] == "accepted"
    } == first_two | by_expert
    assert _seen_by_expert(tmp_path) == by_expert
    assert len([table_row for table_row, decision in gold.items() if decision == "open"]) == 2
    register_text = (tmp_path / "judgments" / "people.jsonl").read_text("utf-8")
    assert "boss" not in register_text and '"event": "expert"' in register_text

    second_report = take(tmp_path, results_path, checked)  # nothing new, the expert is still one
    assert (second_report.new, second_report.further, _gold(tmp_path, "quick")) == (0, 0, gold)
    # both drawn items of one worker are called wrong: a second expert looks before they are refused
    ((folder, manifest),) = make_expert_batches(_expert_order(tmp_path, layout))
    assert manifest.counts["items"] == 2
    for expert_id, rejected in (("boss", 0), ("deputy", 1)):
        second_file = work(
            folder,
            tmp_path / f"{expert_id}.jsonl",
            [expert_id],
            lambda worker_id, batch_item: {"verdict": "yes"},
        )
        experts.write_text("boss\nDeputy\n", "utf-8")
        take(tmp_path, second_file, experts=experts)
        report = (tmp_path / "judgments" / "quick" / "report.html").read_text("utf-8")
        assert f"1 accepted, {rejected} rejected, {1 - rejected} to check" in report
    with pytest.raises(UserError, match="nothing for an expert"):
        make_expert_batches(_expert_order(tmp_path, layout))


def test_an_expert_writes_into_the_table_of_checks(
    tmp_path: Path, sampled: tuple[str, Path, Path]
) -> None:
    _, _, results_path = sampled
    take(tmp_path, results_path)
    file_path = tmp_path / "judgments" / "quick" / CHECKS
    with file_path.open(encoding="utf-8", newline="") as file:
        table_rows = list(csv.DictReader(file))
    assert len(table_rows) == 4
    assert all(
        table_row["shown"].startswith("{") and table_row["answers"].startswith("{")
        for table_row in table_rows
    )
    for table_row in table_rows:
        table_row["verdict"] = "Accept " if '"yes"' in table_row["answers"] else "reject"
        table_row["second"] = "reject" if table_row["verdict"] == "reject" else ""
    with file_path.open("w", encoding="utf-8-sig", newline="") as file:  # as a spreadsheet saves it
        write = csv.DictWriter(file, list(table_rows[0]), delimiter=";")
        write.writeheader()
        write.writerows(table_rows)
    take(tmp_path)
    assert sorted(_gold(tmp_path, "quick").values()) == ["accepted"] * 4 + ["open"] * 4
    assert len(_seen_by_expert(tmp_path)) == 4
    settled = file_path.read_bytes()
    report_bytes = (tmp_path / "judgments" / "quick" / "report.html").read_bytes()
    take(tmp_path, results_path)
    assert file_path.read_bytes() == settled
    assert (tmp_path / "judgments" / "quick" / "report.html").read_bytes() == report_bytes
    assert b"1 accepted, 1 rejected, 0 to check" in report_bytes

    lines = file_path.read_text("utf-8").replace("reject", "perhaps", 2)
    file_path.write_text(lines, "utf-8")
    with pytest.raises(UserError, match=r"check.csv:\d: verdict 'perhaps'"):
        take(tmp_path)


@pytest.mark.parametrize(
    ("layout", "expected_message"),
    [
        ("judge_question", "its rule is unanimous"),
        ("paraphrase", "compares no answers(.|\\n)*paraphrase/check.csv"),
        ("verify_facts", "nothing for an expert to check"),
    ],
)
def test_where_there_is_no_batch_for_an_expert(
    tmp_path: Path, layout: str, expected_message: str
) -> None:
    with pytest.raises(UserError, match=expected_message):
        make_expert_batches(_expert_order(tmp_path, layout))


def test_nothing_to_settle_is_said(tmp_path: Path) -> None:
    _questions(tmp_path, 3)
    with pytest.raises(UserError, match="no judgments yet"):
        take(tmp_path)
    empty = tmp_path / "none.txt"
    empty.write_text("# nobody\n", "utf-8")
    with pytest.raises(UserError, match="no worker ids"):
        take(tmp_path, experts=empty)


def _verdict(worker_id: str, batch_item: Item) -> dict[str, Any]:
    """Rows by their number: 0-4 good, 5-9 one says bad, the rest bad."""
    if batch_item.answers is None:
        good_submission = int(batch_item.row[1:]) < (5 if worker_id == "w3" else 10)
    else:
        good_submission = (batch_item.answers["verdict"] == "good") != (worker_id == "w4")
    return {"verdict": "good"} if good_submission else {"verdict": "bad", "reasons": ["ambiguous"]}


def test_the_report_tells_all_and_runs_nothing(tmp_path: Path) -> None:
    hit_batch = _questions(tmp_path, 15)
    results_path = work(hit_batch, tmp_path / "r.jsonl", ["w1", "w2", "w3"], _verdict)
    (tmp_path / "bad.jsonl").write_text(
        results_path.read_text("utf-8").splitlines()[0].replace('"good"', '"<b>fine"') + "\n{}\n",
        "utf-8",
    )
    import_report = take(tmp_path, results_path, tmp_path / "bad.jsonl")
    assert import_report.decisions["judge_question"] == {
        "accepted": 5,
        "disputed": 5,
        "rejected": 5,
    }
    file_path = tmp_path / "judgments" / "judge_question" / "report.html"
    text = file_path.read_text("utf-8")
    assert not re.findall(r"<(script|img|link|iframe|object)\b|<[^>]+\s(src|href|on\w+)=", text)
    flat = " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())
    # by hand: 15 units of 3; 5 units a a b disagree: 1 a unit: Do = 5 * 2 / 45 = 2/9;
    # good 25, bad 20 of 45: De = 2*25*20/(45*44) = 50/99; alpha = 1 - (2/9)/(50/99) = 0.56
    assert "Is it a good question? verdict 15 78 % 0.56" in flat
    assert "Before and after exclusions" in flat and "Dawid–Skene" in flat
    assert HOSTILE.split("\u202e")[0].strip() in flat
    assert "invalid answer 1" in flat and "not a submission 1" in flat
    assert "3 HITs handed in" in flat
    assert "3.00" in flat and "USD due" in flat
    take(tmp_path, results_path, tmp_path / "bad.jsonl")
    assert file_path.read_text("utf-8") == text


@pytest.mark.parametrize("size", SIZES)
def test_the_report_in_a_browser(tmp_path: Path, browser: Browser, size: str) -> None:
    browser.size(size)
    hit_batch = _questions(tmp_path, 15)
    results_path = work(hit_batch, tmp_path / "r.jsonl", ["w1", "w2", "w3", "w4"], _verdict)
    take(tmp_path, results_path)
    browser.go((tmp_path / "judgments/judge_question/report.html").as_uri())
    assert browser.overflow() <= 0
    assert browser.requests() == []
    assert browser.messages() == []
    assert browser.js("return document.scripts.length") == 0
    dot, axis = (browser.one(f"td .axis{inner}").rect for inner in (" b", ""))
    assert axis["x"] <= dot["x"] and dot["x"] + dot["width"] <= axis["x"] + axis["width"] + 1
    assert {"bad", "good"} & {node.text.lower() for node in browser.all(".item b")}


def test_the_figures_of_a_report(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    submissions = [
        submission(
            hit_batch,
            worker_id,
            batch_hit,
            received=f"2026-11-{day}T10:00:00+00:00",
            reading_seconds=8.0,
        )
        for worker_id, day in (("u", "03"), ("v", "05"))
        for batch_hit in (0, 1)
    ]
    for item_answers in submissions[3]["answers"].values():
        item_answers["verdict"] = "no"  # v fails the known item of the second HIT, too
    take(tmp_path, hand_in(tmp_path, submissions))
    folder = tmp_path / "judgments/quick"
    written_bytes = (folder / "report.json").read_bytes()
    report_figures = json.loads(written_bytes)
    assert report_figures["days"] == ["2026-11-03", "2026-11-05"]
    assert (report_figures["workers"], report_figures["experts"], report_figures["judgments"]) == (
        2,
        0,
        16,
    )
    (verdict,) = (
        answer_figures
        for answer_figures in report_figures["agreement"]
        if answer_figures["answer"] == "verdict"
    )
    assert (verdict["before"]["items"], verdict["after"]["items"]) == (6, 3)
    assert verdict["after"]["percent"] == 100 > verdict["before"]["percent"]
    assert verdict["after"]["estimate"] == {"items": 3, "same": 3, "ties": 0, "differing": []}
    # 0.50 for four items of 4 seconds each, and 8 seconds before the first
    assert report_figures["paid_workers"] == {
        "workers": 2,
        "hits": 3,
        "due": "1.5",
        "hourly": [75.0] * 3,
    }
    assert columns_of(report_figures["checks"], "asked", "passed") == [(4, 3)]
    work_done, instructions = people_statistics([folder / "gold.parquet"])
    (table_row,) = work_done.rows
    assert (table_row["annotators"], table_row["days"]) == (2, "2026-11-03 to 2026-11-05")
    assert table_row["platform"] == "static" and str(table_row["agreement"]).startswith(
        ("alpha", "one")
    )
    assert instructions.rows[0]["instructions"] == "Read it."
    take(tmp_path)  # settled anew: the days stay
    assert (folder / "report.json").read_bytes() == written_bytes
    assert people_statistics([tmp_path / "gold.parquet"]) == ()


@pytest.mark.parametrize(
    ("text_line", "expected_message"), read_table("annotation_quality")["known"]
)
def test_known_answers_of_ones_own(tmp_path: Path, text_line: Any, expected_message: str) -> None:
    more_values = {"fields": {"question": "Is ice hot?"}, "answers": {"verdict": "no"}}
    known_file = hand_in(tmp_path, [more_values, text_line], "known.jsonl")
    ordered = replace(order(tmp_path), known=known_file, number=20)
    if expected_message:
        with pytest.raises(UserError, match=f"known.jsonl:2.*{expected_message}"):
            make_batch(ordered)
        return
    items = read_batch(make_batch(ordered)[0]).items
    checks = {
        str(batch_item.fields["question"]) for batch_item in items if batch_item.answers is not None
    }
    assert {"Is ice hot?"} < checks <= {"Is water wet?", "Is fire cold?", "Is ice hot?"}


@pytest.mark.parametrize(
    ("was", "now", "other_verdict"),
    [("per_hit: 0.50", "per_hit: 2.00", "yes"), (r"\byes\b", "fine", "fine")],
)
def test_a_batch_keeps_its_own_pay_and_choices(
    tmp_path: Path, was: str, now: str, other_verdict: str
) -> None:
    ordered = order(tmp_path)
    first_batch = read_batch(make_batch(ordered)[0])
    take(
        tmp_path,
        hand_in(tmp_path, [submission(first_batch, worker_id) for worker_id in "uv"], "one.jsonl"),
    )
    earlier_bytes = _gold(tmp_path, "quick")
    assert set(earlier_bytes.values()) == {"accepted", "rejected"}
    (tmp_path / "quick" / "layout.yaml").write_text(re.sub(was, now, LAYOUT), "utf-8")
    second_batch = read_batch(make_batch(ordered)[0])
    changed_submissions = [
        {
            **submitted,
            "answers": {item_id: {"verdict": other_verdict} for item_id in submitted["answers"]},
        }
        for submitted in (submission(second_batch, worker_id) for worker_id in "uv")
    ]
    import_report = take(tmp_path, hand_in(tmp_path, changed_submissions, "two.jsonl"))
    gold_after = _gold(tmp_path, "quick")
    assert {table_row: gold_after[table_row] for table_row in earlier_bytes} == earlier_bytes
    assert (
        import_report.decisions["quick"]["accepted"]
        == list(earlier_bytes.values()).count("accepted") + 3
    )
    report_html = (tmp_path / "judgments/quick/report.html").read_text("utf-8")
    pay = "5.00" if other_verdict == "yes" else "2.00"  # 2 HITs at 0.50 and 2 at 2.00, or 4 at 0.50
    assert f"<b>{pay}</b><span>USD due" in report_html
    assert ("1 had others" in report_html) == (other_verdict != "yes")
    assert "failed_attention" not in report_html.split("</style>")[1]
    assert "rows have judgments, 0 still open" in report_html


def test_a_hit_is_paid_once_to_a_worker(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    first_submission = submission(hit_batch, "w", assignment="one")
    take(tmp_path, hand_in(tmp_path, [first_submission]))
    import_report = take(
        tmp_path, hand_in(tmp_path, [{**first_submission, "assignment": "two"}], "again.jsonl")
    )
    assert (import_report.new, import_report.further) == (0, 1)
    report_html = (tmp_path / "judgments/quick/report.html").read_text("utf-8")
    assert "<b>0.50</b><span>USD due" in report_html
    judgments = JudgmentTable(tmp_path / "judgments/quick")
    batches = Batches(tmp_path / "hits")
    judgments.settle(batches)
    for assignment, reason in (("one", ""), ("two", "You handed in this HIT before")):
        later_submission = submission_from_value(
            {**first_submission, "assignment": assignment}, "x", 1
        )
        assert isinstance(later_submission, Submission)
        matched = match_submission(
            later_submission, batches, "static", read_salt(tmp_path / "hits")
        )
        assert not isinstance(matched, Refused)
        verdict = judgments.verdict(matched, batches)
        assert verdict is not None and verdict.reason.startswith(reason)
        assert bool(verdict.reason) == bool(reason)


def test_a_report_says_when_everything_was_set_aside(tmp_path: Path) -> None:
    """Both workers failed an item with a known answer in both HITs."""
    hit_batch = batch_of(tmp_path)
    submissions = [submission(hit_batch, worker_id, hit) for worker_id in "uv" for hit in (0, 1)]
    for handed_in in submissions:
        for item_answers in handed_in["answers"].values():
            item_answers["verdict"] = "no"
    (remark,) = take(tmp_path, hand_in(tmp_path, submissions)).remarks
    text = "Every one of the 16 judgments was set aside (flags: failed_attention 16): "
    assert text in remark
    folder = tmp_path / "judgments/quick"
    assert json.loads((folder / "report.json").read_text("utf-8"))["set_aside"] in remark
    assert text in (folder / "report.html").read_text("utf-8")
