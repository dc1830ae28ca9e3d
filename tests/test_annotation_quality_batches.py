"""What comes later, late results and changed layouts, undoes nothing that was settled."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from factdrift.annotation.batch import read_batch
from factdrift.annotation.hits import make_batch
from factdrift.annotation.layout import Rejection
from factdrift.annotation.quality import settle
from factdrift.annotation.quality.expert import (
    WorkerBatch,
    rejection_reason,
    worker_batches,
)
from factdrift.builders.rows import Judgment
from tests.annotation_judged import items, judged, layout
from tests.annotation_workers import LAYOUT, hand_in, order, submission, take

SAMPLED = layout({"verdict": {"kind": "choice"}}, {"by": "sampled", "sampled": 2}, assignments=1)
PART = [judged("w", f"r{n}", hit=f"h{n}", verdict="a") for n in range(30)]
EARLY, LATE = PART[:6], PART[6:]


def _decisions(found: list[Judgment], **more: object) -> dict[str, str]:
    _, gold = settle(SAMPLED, found, items(found), **more)  # type: ignore[arg-type]
    return {one.row: one.decision for one in gold}


def _early(*right: bool) -> tuple[WorkerBatch, dict[str, bool]]:
    (share,) = worker_batches(SAMPLED, EARLY)
    return share, {one.id: ok for one, ok in zip(share.sampled, right, strict=True)}


def test_what_was_drawn_and_judged_stays_drawn() -> None:
    early, verdicts = _early(True, True)
    (whole,) = worker_batches(SAMPLED, PART, verdicts)
    assert {one.id for one in early.sampled} < {one.id for one in whole.sampled}
    assert whole.right == 2
    expert = [judged("x", one.row, batch="b9", verdict="a") for one in early.sampled]
    seen, _ = settle(SAMPLED, PART + expert, items(PART), experts={"x"}, expert_batches={"b9"})
    assert {one.id for one in early.sampled} < {
        o.id for s in worker_batches(SAMPLED, seen) for o in s.sampled
    }
    # a listed expert among the workers of a batch is one of them
    alone, listed = worker_batches(
        SAMPLED,
        settle(
            SAMPLED,
            EARLY
            + [judged("x", one.row, verdict="c") for one in EARLY if one not in early.sampled],
            items(EARLY),
            experts={"x"},
            expert_batches={"b9"},
        )[0],
    )
    assert [*alone.sampled] == [*early.sampled] and listed.worker == "x"


def test_late_results_leave_accepted_what_was_and_are_open_until_checked() -> None:
    _, verdicts = _early(True, True)
    seen, _ = settle(SAMPLED, EARLY, items(EARLY), verdicts=verdicts)
    passed = {one.id for one in seen if "accepted_batch" in one.flags}
    assert passed == {one.id for one in EARLY}
    after = _decisions(PART, verdicts=verdicts, accepted=passed)
    assert {row for row, decision in after.items() if decision == "accepted"} == {
        one.row for one in EARLY
    }
    (whole,) = worker_batches(SAMPLED, PART, verdicts)
    seen, _ = settle(SAMPLED, PART, items(PART), verdicts=verdicts, accepted=passed)
    by_id = {one.id: one for one in seen}
    told = [
        rejection_reason(SAMPLED, [by_id[o.id]], items(PART), [whole], Rejection())
        for o in (EARLY[0], LATE[0])
    ]
    assert told == ["", None]
    checked = verdicts | {one.id: True for one in whole.sampled}
    assert set(_decisions(PART, verdicts=checked, accepted=passed).values()) == {"accepted"}
    wrong = checked | {[*whole.sampled][-1].id: False}
    assert set(_decisions(PART, verdicts=wrong, accepted=passed).values()) == {"open"}
    taken_back = dict(list(verdicts.items())[:1])
    assert set(_decisions(PART, verdicts=taken_back, accepted=passed).values()) == {"open"}


def test_a_rejection_stands() -> None:
    _, verdicts = _early(True, False)
    seen, _ = settle(SAMPLED, PART, items(PART), verdicts=verdicts)
    assert all("rejected_batch" in one.flags and not one.counted for one in seen)


def _write(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "quick"
    (folder / "layout.yaml").write_text(text, "utf-8")
    return folder


def _decided(tmp_path: Path) -> dict[str, str]:
    rows = pq.read_table(tmp_path / "judgments/quick/gold.parquet").to_pylist()
    return {row["row"]: row["decision"] for row in rows}


@pytest.mark.parametrize(
    ("change", "other"),
    [
        (lambda text: text.replace("per_hit: 0.50", "per_hit: 2.00"), "yes"),
        (lambda text: re.sub(r"\byes\b", "fine", text), "fine"),
    ],
)
def test_a_batch_keeps_its_own_pay_and_choices(tmp_path: Path, change, other: str) -> None:  # type: ignore[no-untyped-def]
    given = order(tmp_path)
    first = read_batch(make_batch(given)[0])
    take(tmp_path, hand_in(tmp_path, [submission(first, w) for w in "uv"], "one.jsonl"))
    before = _decided(tmp_path)
    assert set(before.values()) == {"accepted", "rejected"}
    _write(tmp_path, change(LAYOUT))
    second = read_batch(make_batch(given)[0])
    made = [
        {**one, "answers": {k: {"verdict": other} for k in one["answers"]}}
        for one in (submission(second, w) for w in "uv")
    ]
    done = take(tmp_path, hand_in(tmp_path, made, "two.jsonl"))
    after = _decided(tmp_path)
    assert {row: after[row] for row in before} == before
    assert done.decisions["quick"]["accepted"] == list(before.values()).count("accepted") + 3
    report = (tmp_path / "judgments/quick/report.html").read_text("utf-8")
    pay = "5.00" if other == "yes" else "2.00"  # 2 HITs at 0.50 and 2 at 2.00, or 4 at 0.50
    assert f"<b>{pay}</b><span>USD due" in report
    assert ("1 had others" in report) == (other != "yes")
    assert "failed_attention" not in report.split("</style>")[1]
    assert "rows have judgments, 0 still open" in report
