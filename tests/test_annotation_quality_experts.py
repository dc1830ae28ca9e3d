"""An expert's checks of workers' batches: what they decide, what later results leave standing, and
how many wrong judgments they exclude."""

import json
from collections import Counter
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import hypergeom

from factdrift.annotation.layout import Rejection, Rule
from factdrift.annotation.quality import settle_rows
from factdrift.annotation.quality.expert import (
    CHECKS,
    checked_share,
    read_expert_verdicts,
    rejection_reason,
    waiting_judgments,
    worker_batches,
)
from factdrift.annotation.quality.sampling import (
    WRONG_SHARES,
    AcceptancePlan,
    ErrorBound,
    acceptance_plan,
    error_bound,
    refusal_chance,
    sample_size,
    upper_bound,
)
from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Judgment
from tests.annotation_judged import items, judged, layout
from tests.tables import ids_of, read_table

CASES = read_table("annotation_quality")
CHOICE: dict[str, dict[str, object]] = {"verdict": {"kind": "choice"}}
SAMPLED = layout(CHOICE, {"by": "sampled", "sampled": 2}, assignments=1)
PART = [judged("w", f"r{n}", hit=f"h{n}", verdict="a") for n in range(30)]
EARLY, LATE = PART[:6], PART[6:]
(BATCH,) = worker_batches(SAMPLED, EARLY)
DRAWN = [*BATCH.sampled]


RIGHT: tuple[bool, ...] = (True,)
WRONG: tuple[bool, ...] = (False, False)
"""The words of experts on one judgment: right by one of them, wrong by two."""


def _said(*right: bool) -> dict[str, tuple[bool, ...]]:
    """Experts' words on what was drawn of the early judgments."""
    return {judgment.id: RIGHT if ok else WRONG for judgment, ok in zip(DRAWN, right, strict=False)}


def _settled(
    found_judgments: list[Judgment], **more_values: object
) -> tuple[list[Judgment], dict[str, str]]:
    flagged_judgments, gold_rows = settle_rows(
        SAMPLED, found_judgments, items(found_judgments), experts={*"xy"}, expert_batches={"b9"},
        **more_values,  # type: ignore[arg-type]
    )  # fmt: skip
    return flagged_judgments, {judgment.row: judgment.decision for judgment in gold_rows}


@pytest.mark.parametrize(("right", "decision", "aside"), CASES["expert"])
@pytest.mark.parametrize("by_table", [True, False])
def test_an_experts_word_on_two_items_decides_a_workers_batch(
    right: list[bool], decision: str, aside: int, by_table: bool
) -> None:
    assert len(DRAWN) == 2
    expert = []
    for judgment, ok in zip(DRAWN, right, strict=False):
        for expert_id in "xy":
            expert.append(judged(expert_id, judgment.row, batch="b9", verdict="a" if ok else "c"))
    if by_table:
        flagged_judgments, decisions = _settled(EARLY, verdicts=_said(*right))
    else:
        flagged_judgments, decisions = _settled(EARLY + expert)
    assert (
        sum(
            "rejected_batch" in judgment.flags and not judgment.counted
            for judgment in flagged_judgments
        )
        == aside
    )
    expert_rows = set() if by_table else {judgment.row for judgment in expert}
    assert {decisions.pop(row) for row in expert_rows} <= {
        "accepted"
    }  # what the expert said stands
    assert set(decisions.values()) == {decision}


def test_nothing_is_refused_by_the_word_of_one_expert() -> None:
    first, second = DRAWN
    doubted = {first.id: (False,), second.id: (True,)}
    (batch,) = worker_batches(SAMPLED, EARLY, doubted)
    assert batch.accepted is None and [*batch.doubted] == [first.id] and not batch.wrong
    assert [*waiting_judgments([batch])] == [first]
    flagged_judgments, decisions = _settled(EARLY, verdicts=doubted)
    assert set(decisions.values()) == {"open"}
    assert all(judgment.counted and judgment.paid for judgment in flagged_judgments)
    (batch,) = worker_batches(SAMPLED, EARLY, doubted | {first.id: (False, True)})
    assert batch.accepted is True
    (batch,) = worker_batches(SAMPLED, EARLY, doubted | {first.id: (False, False)})
    assert batch.accepted is False
    expert_judgments = [
        judged("x", first.row, batch="b9", verdict="c"),
        judged("x", first.row, batch="b8", verdict="c"),  # the same expert once more
        judged("x", second.row, batch="b9", verdict="a"),
    ]
    flagged_judgments, _ = settle_rows(
        SAMPLED, EARLY + expert_judgments, items(EARLY), experts={"x"}, expert_batches={"b8", "b9"}
    )
    (batch,) = worker_batches(SAMPLED, flagged_judgments)
    assert batch.accepted is None and len(batch.doubted) == 1


def test_what_the_plan_allows_is_accepted_and_what_is_wrong_is_left_out() -> None:
    asked_layout = layout(CHOICE, {"by": "sampled", "sample": 10, "errors": 1}, assignments=1)
    (batch,) = worker_batches(asked_layout, PART, rules={"b1": SAMPLED.rule})
    assert len(batch.sampled) == 2  # by the plan by which the batch was sent
    (batch,) = worker_batches(asked_layout, PART)
    drawn = [*batch.sampled]
    assert (len(drawn), batch.errors) == (10, 1)
    verdicts = dict.fromkeys((judgment.id for judgment in drawn), RIGHT)
    for wrong_count, decision, aside in ((1, "accepted", 1), (2, "open", 30)):
        verdicts |= {judgment.id: WRONG for judgment in drawn[:wrong_count]}
        flagged_judgments, gold_rows = settle_rows(
            asked_layout, PART, items(PART), verdicts=verdicts
        )
        decisions = Counter(gold_row.decision for gold_row in gold_rows)
        assert decisions.most_common(1)[0][0] == decision
        assert sum(not judgment.counted for judgment in flagged_judgments) == aside
        assert all(judgment.paid for judgment in flagged_judgments)  # use is one thing, pay another
    unpaid_layout = asked_layout.model_copy(update={"rejects": {"static": Rejection(experts=True)}})
    flagged_judgments, _ = settle_rows(unpaid_layout, PART, items(PART), verdicts=verdicts)
    assert not any(judgment.paid for judgment in flagged_judgments)


@pytest.mark.parametrize(("rule", "judgments", "batch", "one_hit", "plan"), CASES["plans"])
def test_plans(
    rule: dict[str, object], judgments: int, batch: int, one_hit: bool, plan: list[int]
) -> None:
    asked_rule = Rule.model_validate({"by": "sampled"} | rule)
    assert [*acceptance_plan(asked_rule, judgments, batch, is_one_hit=one_hit)] == plan


@pytest.mark.parametrize(("rule", "expected_message"), CASES["no_plans"])
def test_plans_that_say_nothing(rule: dict[str, object], expected_message: str) -> None:
    with pytest.raises(ValueError, match=expected_message):
        Rule.model_validate({"by": "sampled"} | rule)


def test_the_chance_of_being_refused_is_what_a_simulation_finds() -> None:
    """Annotators with so many wrong judgments, drawn and checked 1,000 times for each plan."""
    draws = np.random.default_rng(43)
    for plan in (AcceptancePlan(2, 0), AcceptancePlan(27, 0), AcceptancePlan(36, 3)):
        for wrong_share in WRONG_SHARES:
            is_wrong = draws.random((1000, 400)) < wrong_share
            order = draws.permuted(is_wrong, axis=1)[:, : plan.sample]
            refused = float((order.sum(axis=1) > plan.errors).mean())
            assert refused == pytest.approx(refusal_chance(plan, wrong_share), abs=0.05)
    assert refusal_chance(AcceptancePlan(27, 0), 0.03) == pytest.approx(0.56, abs=0.005)


def test_each_worker_and_batch_is_checked_by_itself() -> None:
    found_judgments = [
        judged(worker_id, f"{worker_id}{hit_batch}{row_number}", batch=hit_batch, verdict="a")
        for worker_id in "uv"
        for hit_batch in ("b1", "b2")
        for row_number in range(4)
    ]
    parts = worker_batches(SAMPLED, found_judgments)
    places = [("u", "b1"), ("v", "b1"), ("u", "b2"), ("v", "b2")]
    assert [
        (worker_batch.worker, worker_batch.batch, len(worker_batch.sampled))
        for worker_batch in parts
    ] == [(*batch_place, 2) for batch_place in places]
    flagged_judgments, _ = _settled(found_judgments, verdicts={[*parts[0].sampled][1].id: WRONG})
    assert {
        (other_judgment.worker, other_judgment.batch)
        for other_judgment in flagged_judgments
        if not other_judgment.counted
    } == {("u", "b1")}


def test_where_nothing_is_compared_only_the_table_tells() -> None:
    asked_layout = layout({"answer": {"kind": "text", "agree": "none"}}, {"by": "sampled"})
    found_judgments = [
        judged("w", "r1", answer="One"),
        judged("x", "r1", batch="b9", answer="One"),
    ]
    flagged_judgments, _ = settle_rows(
        asked_layout, found_judgments, items(found_judgments), experts={"x"}, expert_batches={"b9"}
    )
    (hit_batch,) = worker_batches(asked_layout, flagged_judgments)
    assert [*hit_batch.sampled.values()] == [None]
    (hit_batch,) = worker_batches(asked_layout, found_judgments[:1], {found_judgments[0].id: RIGHT})
    assert hit_batch.accepted is True


def test_an_experts_id_in_a_workers_batch_is_a_workers() -> None:
    """What an audit did: rows that an expert accepted, then answers as `worker: "ada"`."""
    forged = [judged("x", judgment.row, hit=judgment.hit, verdict="c") for judgment in EARLY]
    checks = [judged("x", judgment.row, batch="b9", verdict="a") for judgment in DRAWN]
    flagged_judgments, decisions = _settled(EARLY + forged + checks)
    assert set(decisions.values()) == {"accepted"}
    assert {judgment.id for judgment in flagged_judgments if "expert" in judgment.flags} == set(
        ids_of(checks)
    )
    # settled anew
    _, gold_rows = settle_rows(
        SAMPLED, flagged_judgments, items(flagged_judgments), experts={"x"}, expert_batches={"b9"}
    )
    assert {json.loads(judgment.answers)["verdict"] for judgment in gold_rows} == {"a"}


def test_what_was_drawn_and_judged_stays_drawn() -> None:
    (grown,) = worker_batches(SAMPLED, PART, _said(True, True))
    assert {*DRAWN} < grown.sampled.keys() and grown.right == 2
    checks = [judged("x", judgment.row, batch="b9", verdict="a") for judgment in DRAWN]
    flagged_judgments, _ = _settled(PART + checks)
    (grown,) = worker_batches(SAMPLED, flagged_judgments)
    assert set(ids_of(DRAWN)) < set(ids_of(grown.sampled))


@pytest.mark.parametrize(("right", "more_values", "accepted"), CASES["late"])
def test_late_results_leave_accepted_what_was(
    right: list[bool], more_values: str, accepted: int
) -> None:
    flagged_judgments, _ = _settled(EARLY, verdicts=_said(True, True))
    passed = {judgment.id for judgment in flagged_judgments if "accepted_batch" in judgment.flags}
    assert passed == set(ids_of(EARLY))
    verdicts = _said(*right)
    (grown,) = worker_batches(SAMPLED, PART, verdicts)
    verdicts |= {judgment.id: RIGHT for judgment in grown.sampled if more_values}
    if more_values == "all but the last":
        verdicts[[*grown.sampled][-1].id] = WRONG
    _, decisions = _settled(PART, verdicts=verdicts, accepted_ids=passed)
    assert [*decisions.values()].count("accepted") == accepted
    assert set(decisions.values()) <= {"accepted", "open"}


def test_reasons_are_for_failed_items_and_rejected_batches_alone() -> None:
    sent_judgments = {
        "known": [
            judged("w", "?k", hit="hk", verdict="b"),
            judged("w", "r9", hit="hk", verdict="a"),
        ],
        "two": [judged("v", f"?{row_letter}", hit="hk", verdict="b") for row_letter in "kl"],
        "quick": [judged("q", "r1", verdict="a", seconds=0.1)],
        "again": [judged("w", "r0", hit="h0", verdict="c", flags=("duplicate_worker",))],
        "work": EARLY[:1],
        "late": LATE,
    }
    found_judgments = [
        *EARLY,
        *(
            judgment
            for name, judgments in sent_judgments.items()
            if name != "work"
            for judgment in judgments
        ),
    ]
    shown_items = items(found_judgments, k={"verdict": "a"}, l={"verdict": "a"})

    def tell(
        verdicts: dict[str, tuple[bool, ...]],
        rejection: Rejection = Rejection(experts=True),  # noqa: B008
        accepted: frozenset[str] = frozenset(),
    ) -> dict[str, str | None]:
        flagged_judgments, _ = settle_rows(
            SAMPLED, found_judgments, shown_items, verdicts=verdicts, accepted_ids=accepted
        )
        by_id = {judgment.id: judgment for judgment in flagged_judgments}
        parts = worker_batches(SAMPLED, flagged_judgments, verdicts)
        return {
            name: rejection_reason(
                SAMPLED,
                [by_id[other_judgment.id] for other_judgment in judgments],
                shown_items,
                parts,
                rejection,
            )
            for name, judgments in sent_judgments.items()
        }

    earlier_bytes = tell({})
    assert earlier_bytes["work"] is earlier_bytes["quick"] is None
    assert str(earlier_bytes["known"]).startswith("This HIT holds an item whose answer is known")
    assert "from the instructions. It was answered otherwise: Verdict" in str(
        earlier_bytes["known"]
    )
    assert str(earlier_bytes["two"]).startswith("This HIT holds 2 items whose answers are known")
    lenient = tell({}, Rejection(failures=2, long_failures=2, experts=True))
    assert (lenient["known"], bool(lenient["two"])) == ("", True)
    assert tell({}, Rejection(checks=("nonsense",), experts=False)) == dict.fromkeys(
        sent_judgments, ""
    )
    (grown,) = worker_batches(SAMPLED, PART)
    right_verdicts = {judgment.id: RIGHT for judgment in grown.sampled} | {
        sent_judgments["quick"][0].id: RIGHT
    }
    good_submission = tell(right_verdicts)
    assert [good_submission[name] for name in ("work", "quick", "again")] == [""] * 3
    bad_reasons = tell(right_verdicts | {next(iter(grown.sampled)).id: WRONG})
    assert "checked 2 of your 30 items" in str(bad_reasons["work"]) and "found 1 not" in str(
        bad_reasons["work"]
    )
    passed = tell(_said(True, True), accepted=frozenset(ids_of(EARLY)))
    assert (passed["work"], passed["late"]) == ("", None)


@pytest.mark.parametrize(("judgments", "max_error", "size"), CASES["needed"])
def test_how_many_checks_exclude_an_error(judgments: int, max_error: float, size: int) -> None:
    wrong_judgments = ceil(judgments * max_error)
    assert sample_size(judgments, max_error) == size
    assert hypergeom.pmf(0, judgments, wrong_judgments, size) <= 0.05
    assert size == 1 or hypergeom.pmf(0, judgments, wrong_judgments, size - 1) > 0.05


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


@pytest.mark.parametrize(("workers", "table_rows", "checks"), CASES["workers"])
def test_one_worker_or_many(workers: int, table_rows: int, checks: int) -> None:
    rule = {"by": "sampled", "sampled": 2, "max_error": 0.1}
    asked_layout = layout(CHOICE, rule, assignments=1, items_per_hit=4)
    found_judgments = [
        judged(f"w{who}", f"r{who}-{row_number}", hit=f"h{who}-{row_number // 4}", verdict="a")
        for who in range(workers)
        for row_number in range(table_rows)
    ]
    parts = worker_batches(asked_layout, found_judgments)
    assert sum(len(judgment.sampled) for judgment in parts) == checks
    right_verdicts = {judgment.id: RIGHT for part in parts for judgment in part.sampled}
    flagged_judgments, gold_rows = settle_rows(
        asked_layout, found_judgments, items(found_judgments), verdicts=right_verdicts
    )
    assert {judgment.decision for judgment in gold_rows} == {"accepted"}
    sampled_share = checked_share(worker_batches(asked_layout, flagged_judgments, right_verdicts))
    assert (
        sampled_share.wrong == 0 and sampled_share.bound is not None and sampled_share.bound < 0.11
    )


@pytest.mark.parametrize(
    ("table_text", "expected"),
    [
        ("judgment,verdict\nj1, Accept\nj2,reject\nj3,\n", {"j1": (True,), "j2": (False,)}),
        ("judgment,verdict,second\nj1,accept,reject\n", {"j1": (True, False)}),
        ("judgment,words\nj1,accept\n", "check.csv:1: no column 'verdict'"),
        ("id,verdict\nj1,accept\n", "check.csv:1: no column 'judgment'"),
        ("judgment,verdict\nj1,accept\nj2,perhaps\n", "check.csv:3: verdict 'perhaps'"),
    ],
)
def test_the_table_of_checks_is_read_or_its_mistake_is_told(
    tmp_path: Path, table_text: str, expected: object
) -> None:
    (tmp_path / CHECKS).write_text(table_text, "utf-8")
    if isinstance(expected, str):
        with pytest.raises(UserError, match=expected):
            read_expert_verdicts(tmp_path)
    else:
        assert read_expert_verdicts(tmp_path) == expected
