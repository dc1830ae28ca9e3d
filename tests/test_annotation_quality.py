"""What judgments come to: rules, gold answers, flags, an expert's batches."""

import json
import random
from typing import Any

import pytest

from factdrift.annotation.layout import Layout, Rejection
from factdrift.annotation.quality import settle
from factdrift.annotation.quality.expert import rejection_reason, worker_batches
from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Judgment
from tests.annotation_judged import brief, items, judged, layout, span

VERDICT: dict[str, dict[str, object]] = {"verdict": {"kind": "choice"}}


def _rule(by: str, **more: object) -> Layout:
    return layout(VERDICT, {"by": by, "of": "verdict", **more}, assignments=3)


def _votes(votes: str) -> list[Judgment]:
    return [judged(f"w{n}", "r", verdict=vote) for n, vote in enumerate(votes)]


@pytest.mark.parametrize(
    ("by", "votes", "expected"),
    [
        ("majority", "aa", ("open", 2, 2)),
        ("majority", "aaa", ("accepted", 3, 3)),
        ("majority", "aab", ("accepted", 3, 2)),
        ("majority", "abb", ("rejected", 3, 2)),
        ("majority", "abc", ("disputed", 3, 1)),
        ("majority", "aabb", ("disputed", 4, 2)),
        ("majority", "aaabb", ("accepted", 5, 3)),
        ("unanimous", "aa", ("open", 2, 2)),
        ("unanimous", "aaa", ("accepted", 3, 3)),
        ("unanimous", "bbb", ("rejected", 3, 3)),
        ("unanimous", "aab", ("disputed", 3, 2)),
        ("unanimous", "aaab", ("disputed", 4, 3)),
        ("any", "ab", ("open", 2, 1)),
        ("any", "abc", ("accepted", 3, 1)),
        ("any", "bcc", ("rejected", 3, 2)),
    ],
)
def test_rules(by: str, votes: str, expected: tuple[str, int, int]) -> None:
    found = _votes(votes)
    _, gold = settle(_rule(by, accept=["a"]), found, items(found))
    assert brief(gold) == {"r": expected}


def test_a_rule_without_of_compares_all_answers() -> None:
    answers: dict[str, dict[str, object]] = {
        "verdict": {"kind": "choice"},
        "name": {"kind": "text", "when": {"verdict": ["a"]}},
        "note": {"kind": "text", "agree": "none"},
    }
    asked = layout(answers, {"by": "majority"}, assignments=3)
    found = [
        judged("w1", "r", verdict="a", name="The Kofi Annan!", note="x"),
        judged("w2", "r", verdict="a", name="kofi annan", note="y"),
        judged("w3", "r", verdict="a", name="Ban", note="z"),
        judged("w1", "s", verdict="b"),
        judged("w2", "s", verdict="b"),
        judged("w3", "s", verdict="a", name="Ban"),
    ]
    _, gold = settle(asked, found, items(found))
    assert brief(gold) == {"r": ("accepted", 3, 2), "s": ("accepted", 3, 2)}
    assert json.loads(gold[0].answers)["verdict"] == "a"
    assert json.loads(gold[0].answers)["name"] in ("The Kofi Annan!", "kofi annan")
    assert sorted(json.loads(gold[0].answers)["note"]) == ["x", "y"]
    assert json.loads(gold[1].answers) == {"verdict": "b"}  # the one odd name is nobody's answer


@pytest.mark.parametrize(
    ("answer", "values", "expected"),
    [
        ({"kind": "flag"}, [True, True, True], True),
        ({"kind": "choices"}, [["b", "a"], ["a", "b"], ["a", "b"]], ["a", "b"]),
        ({"kind": "text"}, ["the  UN", "UN", "UN"], "UN"),
        ({"kind": "text"}, ["UN", "EU", "UN"], ["UN", "EU", "UN"]),
        ({"kind": "text", "agree": "none"}, ["UN", "UN", "UN"], ["UN", "UN", "UN"]),
        (
            {"kind": "span", "field": "text"},
            [span("Kofi Annan"), span("Kofi Annan"), span("Annan of Ghana")],
            span("Kofi Annan"),
        ),
        (
            {"kind": "span", "field": "text"},
            [span("Kofi Annan"), span("Ghana"), span("Ghana")],
            [span("Kofi Annan"), span("Ghana"), span("Ghana")],
        ),
        (
            {"kind": "spans", "field": "text"},
            [[span("Annan"), span("2007")], [span("2007"), span("Kofi Annan")]],
            [span("Annan"), span("2007")],
        ),
    ],
)
def test_gold_answers(answer: dict[str, object], values: list[Any], expected: Any) -> None:
    asked = layout({"x": answer}, {"by": "any"}, assignments=len(values))
    found = [judged(f"w{n}", "r", x=value) for n, value in enumerate(values)]
    _, gold = settle(asked, found, items(found))
    got = json.loads(gold[0].answers)["x"]
    in_order = [json.loads(one.answers)["x"] for one in sorted(found, key=lambda one: one.id)]
    if expected == values:
        assert got == in_order
    else:
        assert got == expected


def test_lists_have_an_entry_for_each_judgment() -> None:
    answers: dict[str, dict[str, object]] = {
        "verdict": {"kind": "choice"},
        "name": {"kind": "text", "when": {"verdict": ["a"]}},
        "note": {"kind": "text", "agree": "none", "required": False},
        "other": {"kind": "text", "agree": "none", "required": False},
    }
    asked = layout(answers, {"by": "any"}, assignments=2)
    found = [
        judged("u", "r", verdict="a", name="UN"),
        judged("v", "r", verdict="b", note="unsure"),
    ]
    _, gold = settle(asked, found, items(found))
    order = sorted(found, key=lambda one: one.id)
    want = {
        n: [json.loads(one.answers).get(n) for one in order] for n in ("verdict", "name", "note")
    }
    assert json.loads(gold[0].answers) == want


def test_what_comes_in_another_order_comes_to_the_same() -> None:
    rng = random.Random(2)
    asked = layout(
        VERDICT | {"name": {"kind": "text"}}, {"by": "majority"}, assignments=3, min_seconds=5
    )
    found = [
        judged(
            f"w{n % 7}",
            f"r{n % 11}",
            hit=f"h{n}",
            seconds=float(n % 9),
            verdict=rng.choice("abc"),
            name=rng.choice(["A", "a", "the A", "B"]),
        )
        for n in range(120)
    ]
    shown = items(found)
    expected = settle(asked, found, shown)
    for seed in range(3):
        random.Random(seed).shuffle(found)
        assert settle(asked, found, shown) == expected


def test_flags_and_what_is_set_aside() -> None:
    asked = _rule("majority")
    found = [
        judged("quick", "r1", verdict="a", seconds=1.9),
        judged("slow", "r1", verdict="a", seconds=2.0),
        judged("untimed", "r1", verdict="a", seconds=None),
        # fails the known item of h2: all of its h2 goes, its h3 stays
        judged("careless", "?k", hit="h2", verdict="b"),
        judged("careless", "r2", hit="h2", verdict="b"),
        judged("careless", "r3", hit="h3", verdict="b"),
        judged("careful", "?k", hit="h2", verdict="a"),
        judged("careful", "r2", hit="h2", verdict="a"),
        # a further submission, and the same row in another batch
        judged("eager", "r3", verdict="a"),
        judged("eager", "r3", verdict="b", flags=("duplicate_worker",)),
        judged("twice", "r3", verdict="c"),
        judged("twice", "r3", verdict="c", batch="b2"),
    ]
    seen, gold = settle(asked, found, items(found, k={"verdict": "a"}))
    signs = {(one.worker, one.item, one.batch, one.flags, one.counted) for one in seen}
    aside = {(w, i, f) for w, i, _, f, counted in signs if not counted}
    assert aside == {
        ("careless", "i-?k", ("failed_attention",)),
        ("careless", "i-r2", ("failed_attention",)),
        ("eager", "i-r3", ("duplicate_worker",)),
        ("twice", "i-r3", ("duplicate_worker",)),
    }
    assert {(w, i) for w, i, _, f, counted in signs if f and counted} == {("quick", "i-r1")}
    assert brief(gold) == {
        "r1": ("accepted", 3, 3),
        "r2": ("open", 1, 1),
        "r3": ("disputed", 3, 1),
    }


@pytest.mark.parametrize(
    ("rows", "own", "others", "flag"),
    [
        (20, "a", "", True),
        (19, "a", "", False),
        (20, "a", "a", False),  # the others find so too
        (20, "a", "b", True),
        (20, "a", "ab", True),
        (20, "ab", "b", False),
    ],
)
def test_the_same_answer_to_everything_is_flagged_and_counts(
    rows: int, own: str, others: str, flag: bool
) -> None:
    found = [judged("w", f"r{n}", verdict=own[n % len(own)]) for n in range(rows)]
    if others:
        found += [judged("o", f"r{n}", verdict=others[n % len(others)]) for n in range(rows)]
    seen, _ = settle(_rule("any"), found, items(found))
    assert {"same_answer" in one.flags for one in seen if one.worker == "w"} == {flag}
    assert all(one.counted for one in seen)


def _sampled() -> Layout:
    return layout(
        VERDICT | {"name": {"kind": "text", "when": {"verdict": ["b"]}}},
        {"by": "sampled", "sampled": 2},
        assignments=1,
    )


WORK = [judged("w", f"r{n}", hit=f"h{n}", verdict="a") for n in range(6)]
(SHARE,) = worker_batches(_sampled(), WORK)


@pytest.mark.parametrize(
    ("right", "decision", "aside"),
    [([], "open", 0), ([True], "open", 0), ([True, True], "accepted", 0), ([True, False], "", 6)],
)
@pytest.mark.parametrize("by_table", [True, False])
def test_an_experts_word_on_two_items_decides_a_workers_batch(
    right: list[bool], decision: str, aside: int, by_table: bool
) -> None:
    drawn = [*SHARE.sampled][: len(right)]
    verdicts = {one.id: ok for one, ok in zip(drawn, right, strict=True)}
    expert = [
        judged("x", one.row, batch="b9", verdict="a" if ok else "c")
        for one, ok in zip(drawn, right, strict=True)
    ]
    found = WORK if by_table else WORK + expert
    seen, gold = settle(
        _sampled(),
        found,
        items(found),
        experts={"x"},
        expert_batches={"b9"},
        verdicts=verdicts if by_table else None,
    )
    assert len(SHARE.sampled) == 2
    assert sum("rejected_batch" in one.flags and not one.counted for one in seen) == aside
    own = {one.row for one in expert} if not by_table else set()
    for row in gold:
        if row.row in own:  # what the expert said of a row stands
            assert row.decision == "accepted"
        else:
            assert row.decision == (decision or "open")
            assert row.judgments == (0 if aside else 1)
    wrong = [row for row in gold if row.row in own and not right[-1]]
    assert {json.loads(row.answers)["verdict"] for row in wrong} <= {"a", "c"}


def test_each_worker_and_batch_is_checked_by_itself() -> None:
    found = [
        judged(worker, f"{worker}{batch}{n}", batch=batch, verdict="a")
        for worker in "uv"
        for batch in ("b1", "b2")
        for n in range(4)
    ]
    parts = worker_batches(_sampled(), found)
    assert [(s.worker, s.batch, len(s.sampled)) for s in parts] == [
        ("u", "b1", 2),
        ("v", "b1", 2),
        ("u", "b2", 2),
        ("v", "b2", 2),
    ]
    bad = {[*parts[0].sampled][1].id: False}
    seen, _ = settle(_sampled(), found, items(found), verdicts=bad)
    assert {(o.worker, o.batch) for o in seen if not o.counted} == {("u", "b1")}


def test_where_nothing_is_compared_only_the_table_tells() -> None:
    free: dict[str, dict[str, object]] = {"answer": {"kind": "text", "agree": "none"}}
    asked = layout(free, {"by": "sampled"}, fields={"t": {}})
    found = [judged("w", "r1", answer="One"), judged("x", "r1", batch="b9", answer="Two")]
    (share,) = worker_batches(
        asked, settle(asked, found, items(found), experts={"x"}, expert_batches={"b9"})[0]
    )
    assert [*share.sampled.values()] == [None]
    (share,) = worker_batches(asked, found[:1], {next(iter(share.sampled)).id: True})
    assert share.accepted is True


def test_reasons_are_for_failed_items_and_rejected_batches_alone() -> None:
    asked = _sampled()
    known = [
        judged("w", "?k", hit="hk", verdict="b", name="x"),
        judged("w", "r9", hit="hk", verdict="a"),
    ]
    quick = [judged("q", "r1", verdict="a", seconds=0.1)]
    again = [judged("w", "r0", hit="h0", verdict="c", flags=("duplicate_worker",))]
    found = [*WORK, *known, *quick, *again]
    shown = items(found, k={"verdict": "a"})

    def tell(verdicts: dict[str, bool]) -> dict[str, str | None]:
        seen, _ = settle(asked, found, shown, verdicts=verdicts)
        by_id = {one.id: one for one in seen}
        parts = worker_batches(asked, seen, verdicts)
        sent = {"known": known, "quick": quick, "again": again, "work": WORK[:1]}
        return {
            name: rejection_reason(asked, [by_id[o.id] for o in some], shown, parts, Rejection())
            for name, some in sent.items()
        }

    drawn = {one.id: True for one in SHARE.sampled}
    before, good = tell({}), tell(drawn | {quick[0].id: True})
    bad = tell(drawn | {next(iter(SHARE.sampled)).id: False})
    assert before["work"] is before["quick"] is None
    assert (good["work"], good["quick"], good["again"]) == ("", "", "")
    assert "known" in str(before["known"]) and "Verdict" in str(before["known"])
    assert "checked 2 of your 6 items" in str(bad["work"]) and "together" in str(bad["work"])


def test_judgments_of_a_batch_that_is_gone_are_said_so() -> None:
    with pytest.raises(UserError, match="i-r is not there"):
        settle(_rule("any"), _votes("a"), {})
