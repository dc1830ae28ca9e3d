"""An expert's checks of workers' batches: what they decide, what later results leave standing, and
how many wrong judgments they exclude."""

import json
from math import ceil

import pytest
from scipy.stats import hypergeom

from factdrift.annotation.layout import Rejection
from factdrift.annotation.quality import settle_rows
from factdrift.annotation.quality.expert import checked_share, rejection_reason, worker_batches
from factdrift.annotation.quality.sampling import ErrorBound, error_bound, sample_size, upper_bound
from factdrift.builders.rows import Judgment
from tests.annotation_judged import items, judged, layout
from tests.tables import read_table

CASES = read_table("annotation_quality")
CHOICE: dict[str, dict[str, object]] = {"verdict": {"kind": "choice"}}
SAMPLED = layout(CHOICE, {"by": "sampled", "sampled": 2}, assignments=1)
PART = [judged("w", f"r{n}", hit=f"h{n}", verdict="a") for n in range(30)]
EARLY, LATE = PART[:6], PART[6:]
(BATCH,) = worker_batches(SAMPLED, EARLY)
DRAWN = [*BATCH.sampled]


def _said(*right: bool) -> dict[str, bool]:
    """An expert's words on what was drawn of the early judgments."""
    return {one.id: ok for one, ok in zip(DRAWN, right, strict=False)}


def _settled(found: list[Judgment], **more: object) -> tuple[list[Judgment], dict[str, str]]:
    seen, gold = settle_rows(
        SAMPLED, found, items(found), experts={"x"}, expert_batches={"b9"},
        **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return seen, {one.row: one.decision for one in gold}


@pytest.mark.parametrize(("right", "decision", "aside"), CASES["expert"])
@pytest.mark.parametrize("by_table", [True, False])
def test_an_experts_word_on_two_items_decides_a_workers_batch(
    right: list[bool], decision: str, aside: int, by_table: bool
) -> None:
    assert len(DRAWN) == 2
    expert = [
        judged("x", one.row, batch="b9", verdict="a" if ok else "c")
        for one, ok in zip(DRAWN, right, strict=False)
    ]
    if by_table:
        seen, decisions = _settled(EARLY, verdicts=_said(*right))
    else:
        seen, decisions = _settled(EARLY + expert)
    assert sum("rejected_batch" in one.flags and not one.counted for one in seen) == aside
    own = set() if by_table else {one.row for one in expert}
    assert {decisions.pop(row) for row in own} <= {"accepted"}  # what the expert said stands
    assert set(decisions.values()) == {decision}


def test_each_worker_and_batch_is_checked_by_itself() -> None:
    found = [
        judged(worker, f"{worker}{batch}{n}", batch=batch, verdict="a")
        for worker in "uv"
        for batch in ("b1", "b2")
        for n in range(4)
    ]
    parts = worker_batches(SAMPLED, found)
    places = [("u", "b1"), ("v", "b1"), ("u", "b2"), ("v", "b2")]
    assert [(s.worker, s.batch, len(s.sampled)) for s in parts] == [(*p, 2) for p in places]
    seen, _ = _settled(found, verdicts={[*parts[0].sampled][1].id: False})
    assert {(o.worker, o.batch) for o in seen if not o.counted} == {("u", "b1")}


def test_where_nothing_is_compared_only_the_table_tells() -> None:
    asked = layout({"answer": {"kind": "text", "agree": "none"}}, {"by": "sampled"})
    found = [judged("w", "r1", answer="One"), judged("x", "r1", batch="b9", answer="One")]
    seen, _ = settle_rows(asked, found, items(found), experts={"x"}, expert_batches={"b9"})
    (batch,) = worker_batches(asked, seen)
    assert [*batch.sampled.values()] == [None]
    (batch,) = worker_batches(asked, found[:1], {found[0].id: True})
    assert batch.accepted is True


def test_an_experts_id_in_a_workers_batch_is_a_workers() -> None:
    """What an audit did: rows that an expert accepted, then answers as `worker: "ada"`."""
    forged = [judged("x", one.row, hit=one.hit, verdict="c") for one in EARLY]
    checks = [judged("x", one.row, batch="b9", verdict="a") for one in DRAWN]
    seen, decisions = _settled(EARLY + forged + checks)
    assert set(decisions.values()) == {"accepted"}
    assert {one.id for one in seen if "expert" in one.flags} == {one.id for one in checks}
    # settled anew
    _, gold = settle_rows(SAMPLED, seen, items(seen), experts={"x"}, expert_batches={"b9"})
    assert {json.loads(one.answers)["verdict"] for one in gold} == {"a"}


def test_what_was_drawn_and_judged_stays_drawn() -> None:
    (grown,) = worker_batches(SAMPLED, PART, _said(True, True))
    assert {*DRAWN} < grown.sampled.keys() and grown.right == 2
    checks = [judged("x", one.row, batch="b9", verdict="a") for one in DRAWN]
    seen, _ = _settled(PART + checks)
    (grown,) = worker_batches(SAMPLED, seen)
    assert {one.id for one in DRAWN} < {one.id for one in grown.sampled}


@pytest.mark.parametrize(("right", "more", "accepted"), CASES["late"])
def test_late_results_leave_accepted_what_was(right: list[bool], more: str, accepted: int) -> None:
    seen, _ = _settled(EARLY, verdicts=_said(True, True))
    passed = {one.id for one in seen if "accepted_batch" in one.flags}
    assert passed == {one.id for one in EARLY}
    verdicts = _said(*right)
    (grown,) = worker_batches(SAMPLED, PART, verdicts)
    verdicts |= {one.id: True for one in grown.sampled if more}
    if more == "all but the last":
        verdicts[[*grown.sampled][-1].id] = False
    _, decisions = _settled(PART, verdicts=verdicts, accepted_ids=passed)
    assert [*decisions.values()].count("accepted") == accepted
    assert set(decisions.values()) <= {"accepted", "open"}


def test_reasons_are_for_failed_items_and_rejected_batches_alone() -> None:
    sent = {
        "known": [
            judged("w", "?k", hit="hk", verdict="b"),
            judged("w", "r9", hit="hk", verdict="a"),
        ],
        "two": [judged("v", f"?{k}", hit="hk", verdict="b") for k in "kl"],
        "quick": [judged("q", "r1", verdict="a", seconds=0.1)],
        "again": [judged("w", "r0", hit="h0", verdict="c", flags=("duplicate_worker",))],
        "work": EARLY[:1],
        "late": LATE,
    }
    found = [*EARLY, *(one for name, some in sent.items() if name != "work" for one in some)]
    shown = items(found, k={"verdict": "a"}, l={"verdict": "a"})

    def tell(
        verdicts: dict[str, bool],
        rejection: Rejection = Rejection(),  # noqa: B008
        accepted: frozenset[str] = frozenset(),
    ) -> dict[str, str | None]:
        seen, _ = settle_rows(SAMPLED, found, shown, verdicts=verdicts, accepted_ids=accepted)
        by_id = {one.id: one for one in seen}
        parts = worker_batches(SAMPLED, seen, verdicts)
        return {
            name: rejection_reason(SAMPLED, [by_id[o.id] for o in some], shown, parts, rejection)
            for name, some in sent.items()
        }

    before = tell({})
    assert before["work"] is before["quick"] is None
    assert str(before["known"]).startswith("This HIT holds an item whose answer is known")
    assert "from the instructions. It was answered otherwise: Verdict" in str(before["known"])
    assert str(before["two"]).startswith("This HIT holds 2 items whose answers are known")
    lenient = tell({}, Rejection(failures=2, long_failures=2))
    assert (lenient["known"], bool(lenient["two"])) == ("", True)
    assert tell({}, Rejection(checks=("nonsense",), experts=False)) == dict.fromkeys(sent, "")
    (grown,) = worker_batches(SAMPLED, PART)
    right = {one.id: True for one in grown.sampled} | {sent["quick"][0].id: True}
    good = tell(right)
    assert [good[name] for name in ("work", "quick", "again")] == [""] * 3
    bad = tell(right | {next(iter(grown.sampled)).id: False})
    assert "checked 2 of your 30 items" in str(bad["work"]) and "found 1 not" in str(bad["work"])
    passed = tell(_said(True, True), accepted=frozenset(one.id for one in EARLY))
    assert (passed["work"], passed["late"]) == ("", None)


@pytest.mark.parametrize(("judgments", "max_error", "size"), CASES["needed"])
def test_how_many_checks_exclude_an_error(judgments: int, max_error: float, size: int) -> None:
    wrong = ceil(judgments * max_error)
    assert sample_size(judgments, max_error) == size
    assert hypergeom.pmf(0, judgments, wrong, size) <= 0.05
    assert size == 1 or hypergeom.pmf(0, judgments, wrong, size - 1) > 0.05


@pytest.mark.parametrize(("wrong", "checked", "bound"), CASES["bounds"])
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


@pytest.mark.parametrize(("workers", "rows", "checks"), CASES["workers"])
def test_one_worker_or_many(workers: int, rows: int, checks: int) -> None:
    rule = {"by": "sampled", "sampled": 2, "max_error": 0.1}
    asked = layout(CHOICE, rule, assignments=1, items_per_hit=4)
    found = [
        judged(f"w{who}", f"r{who}-{n}", hit=f"h{who}-{n // 4}", verdict="a")
        for who in range(workers)
        for n in range(rows)
    ]
    parts = worker_batches(asked, found)
    assert sum(len(one.sampled) for one in parts) == checks
    right = {one.id: True for part in parts for one in part.sampled}
    seen, gold = settle_rows(asked, found, items(found), verdicts=right)
    assert {one.decision for one in gold} == {"accepted"}
    share = checked_share(worker_batches(asked, seen, right))
    assert share.wrong == 0 and share.bound is not None and share.bound < 0.11
