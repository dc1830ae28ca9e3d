"""Experts in their own batches alone, work paid once, copied texts, and what a sample excludes."""

from math import ceil
from pathlib import Path

import pytest
from scipy.stats import hypergeom

from factdrift.annotation.batch import Item
from factdrift.annotation.matching import Batches, match, read_salt
from factdrift.annotation.quality import settle
from factdrift.annotation.quality.copies import copied
from factdrift.annotation.quality.expert import checked_share, worker_batches
from factdrift.annotation.quality.sampling import ErrorBound, error_bound, needed, upper_bound
from factdrift.annotation.results import JudgmentTable
from factdrift.annotation.submission import Refused, Submission, from_value
from tests.annotation_judged import items, judged, layout
from tests.annotation_workers import batch_of, hand_in, submission, take

CHOICE: dict[str, dict[str, object]] = {"verdict": {"kind": "choice"}}


def test_an_experts_id_in_a_workers_batch_is_a_workers() -> None:
    """What the audit did: rows that an expert accepted, then answers as `worker: "ada"`."""
    asked = layout(CHOICE, {"by": "sampled", "sampled": 2}, assignments=1)
    work = [judged("w", f"r{n}", hit=f"h{n}", verdict="a") for n in range(6)]
    forged = [judged("ada", f"r{n}", hit=f"h{n}", verdict="c") for n in range(6)]
    (share,) = worker_batches(asked, work)
    checks = [judged("ada", one.row, batch="b9", verdict="a") for one in share.sampled]
    found = work + forged + checks
    seen, gold = settle(asked, found, items(found), experts={"ada"}, expert_batches={"b9"})
    assert {one.decision for one in gold} == {"accepted"}
    assert all('"a"' in one.answers for one in gold)
    by_id = {one.id: one for one in seen}
    assert not any("expert" in by_id[one.id].flags for one in forged)
    assert all("expert" in by_id[one.id].flags for one in checks)


def test_a_hit_is_paid_once_to_a_worker(tmp_path: Path) -> None:
    batch = batch_of(tmp_path)
    first = submission(batch, "w", assignment="one")
    take(tmp_path, hand_in(tmp_path, [first]))
    done = take(tmp_path, hand_in(tmp_path, [{**first, "assignment": "two"}], "again.jsonl"))
    assert (done.new, done.further) == (0, 1)
    report = (tmp_path / "judgments/quick/report.html").read_text("utf-8")
    assert "<b>0.50</b><span>USD due" in report
    table = JudgmentTable(tmp_path / "judgments/quick")
    batches = Batches(tmp_path / "hits")
    table.settle(batches)
    for assignment, reason in (("one", ""), ("two", "You handed in this HIT before")):
        given = from_value({**first, "assignment": assignment}, "x", 1)
        assert isinstance(given, Submission)
        found = match(given, batches, "static", read_salt(tmp_path / "hits"))
        assert not isinstance(found, Refused)
        verdict = table.verdict(found, batches)
        assert verdict is not None and verdict.reason.startswith(reason)
        assert bool(verdict.reason) == bool(reason)


PARIS = "Which of the two rivers that meet below the old town wall floods the market every spring?"
TEXTS = [
    ("u", "r1", PARIS, True),
    ("v", "r2", PARIS.replace("every spring", "each spring").replace("Which", "which"), True),
    ("u", "r3", PARIS, False),  # one's own text again is no other person's
    ("x", "r4", "Who succeeded Kofi Annan of Ghana in 2007?", False),  # the words of the item
    ("y", "r5", "Who succeeded Kofi Annan of Ghana in 2007?", False),
    ("z", "r6", "Yes", False),
    ("t", "r7", "Yes", False),
]


def test_copied_texts_of_different_ids() -> None:
    asked = layout({"text_": {"kind": "text", "agree": "none"}}, {"by": "any"})
    found = [judged(who, row, text_=text) for who, row, text, _ in TEXTS]
    flags = copied(asked, found, items(found))
    by_row = {one.row: one.id for one in found}
    expected = {by_row[row] for _, row, _, is_copy in TEXTS if is_copy}
    assert expected <= flags <= expected | {by_row["r3"]}
    seen, _ = settle(asked, found, items(found))
    assert all(one.counted for one in seen)  # flagged, and left to a person
    assert {one.id for one in seen if "copied_text" in one.flags} == flags


def test_copies_in_groups() -> None:
    inner = {"question": {"kind": "text", "label": "Q", "agree": "none"}}
    asked = layout(
        {"questions": {"kind": "group", "answers": inner, "max_items": 5}}, {"by": "any"}
    )
    found = [judged(who, who, questions=[{"question": PARIS}]) for who in "uv"]
    shown = {one.item: Item(one.item, one.row, {"text": "Other"}) for one in found}
    assert copied(asked, found, shown) == {one.id for one in found}


@pytest.mark.parametrize(
    ("judgments", "max_error", "size"),
    [(1, 0.1, 1), (10, 0.1, 10), (20, 0.1, 16), (346, 0.1, 27), (412, 0.05, 54), (10**5, 0.05, 59)],
)
def test_how_many_checks_exclude_an_error(judgments: int, max_error: float, size: int) -> None:
    wrong = ceil(judgments * max_error)
    assert needed(judgments, max_error) == size
    assert hypergeom.pmf(0, judgments, wrong, size) <= 0.05
    assert size == 1 or hypergeom.pmf(0, judgments, wrong, size - 1) > 0.05


@pytest.mark.parametrize(
    ("wrong", "checked", "bound"),
    [(0, 59, 1 - 0.05 ** (1 / 59)), (0, 1, 0.95), (1, 1, 1.0), (1, 50, 0.0914), (5, 100, 0.1023)],
)
def test_the_bound_of_clopper_and_pearson(wrong: int, checked: int, bound: float) -> None:
    assert upper_bound(wrong, checked) == pytest.approx(bound, abs=5e-5)


def test_the_bound_of_parts() -> None:
    even = error_bound([(10, 2, 0)] * 20)
    assert (even.judgments, even.checked, even.share) == (200, 40, 0)
    assert even.bound == pytest.approx(1 - 0.05 ** (1 / 40))
    uneven = error_bound([(100, 2, 1), (100, 50, 0)])
    assert uneven.share == pytest.approx(0.25)  # the part that was wrong is half of the work
    assert uneven.bound is not None and uneven.bound > 0.5
    assert error_bound([(3, 3, 1)]).bound == pytest.approx(1 / 3)  # all were looked at
    assert error_bound([(3, 0, 0)]) == ErrorBound(3, 0, 0, None, None)


@pytest.mark.parametrize(("workers", "rows", "checks"), [(1, 346, 27), (103, 4, 103), (10, 40, 30)])
def test_one_worker_or_many(workers: int, rows: int, checks: int) -> None:
    asked = layout(
        CHOICE, {"by": "sampled", "sampled": 2, "max_error": 0.1}, assignments=1, items_per_hit=4
    )
    found = [
        judged(f"w{who}", f"r{who}-{n}", hit=f"h{who}-{n // 4}", verdict="a")
        for who in range(workers)
        for n in range(rows)
    ]
    parts = worker_batches(asked, found)
    assert sum(len(one.sampled) for one in parts) == checks
    right = {one.id: True for part in parts for one in part.sampled}
    settled, gold = settle(asked, found, items(found), verdicts=right)
    assert {one.decision for one in gold} == {"accepted"}
    share = checked_share(worker_batches(asked, settled, right))
    assert share.wrong == 0 and share.bound is not None and share.bound < 0.11
