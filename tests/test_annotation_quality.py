"""What judgments come to: rules, gold answers, flags, copied texts."""

import json
import random
from decimal import Decimal
from typing import Any

import pytest

from factdrift.annotation.batch import Item
from factdrift.annotation.layout import Layout
from factdrift.annotation.matching import LayoutVersion
from factdrift.annotation.quality import settle_rows
from factdrift.annotation.quality.agreement import measure_agreement
from factdrift.annotation.quality.copies import find_copies
from factdrift.annotation.quality.report import make_report
from factdrift.builders.rows import Judgment
from tests.annotation_judged import TEXT, brief, items, judged, layout, span
from tests.tables import column_of, ids_of, read_table

VERDICT: dict[str, dict[str, object]] = {"verdict": {"kind": "choice"}}
NAMED: dict[str, dict[str, object]] = {
    **VERDICT,
    "name": {"kind": "text", "when": {"verdict": ["a"]}},
    "note": {"kind": "text", "agree": "none", "required": False},
    "other": {"kind": "text", "agree": "none", "required": False},
}


CASES = read_table("annotation_quality")


def _verdict(rule: dict[str, object]) -> Layout:
    return layout(VERDICT, {"of": "verdict"} | rule, assignments=3)


@pytest.mark.parametrize(("rule", "votes", "expected_value"), CASES["rules"])
def test_rules(rule: dict[str, object], votes: str, expected_value: list[object]) -> None:
    found_judgments = [
        judged(f"w{worker_number}", "r", verdict=vote) for worker_number, vote in enumerate(votes)
    ]
    _, gold_rows = settle_rows(_verdict(rule), found_judgments, items(found_judgments))
    assert brief(gold_rows) == {"r": expected_value}


def test_a_rule_without_of_compares_all_answers() -> None:
    found_judgments = [
        judged("w1", "r", verdict="a", name="The Kofi Annan!", note="x"),
        judged("w2", "r", verdict="a", name="kofi annan", note="y"),
        judged("w3", "r", verdict="a", name="Ban", note="z"),
        judged("w1", "s", verdict="b"),
        judged("w2", "s", verdict="b"),
        judged("w3", "s", verdict="a", name="Ban"),
    ]
    _, gold_rows = settle_rows(
        layout(NAMED, {"by": "majority"}, assignments=3), found_judgments, items(found_judgments)
    )
    assert brief(gold_rows) == {"r": ["accepted", 3, 2], "s": ["accepted", 3, 2]}
    first_answers, second_answers = (json.loads(row.answers) for row in gold_rows)
    assert first_answers["verdict"] == "a" and first_answers["name"] in (
        "The Kofi Annan!",
        "kofi annan",
    )
    assert sorted(first_answers["note"]) == ["x", "y"]
    assert second_answers == {"verdict": "b"}  # the one odd name is nobody's answer


@pytest.mark.parametrize(("answer", "values", "expected_value"), CASES["gold"])
def test_gold_answers(answer: dict[str, object], values: list[Any], expected_value: Any) -> None:
    marked = "span" in str(answer["kind"])

    def said(answer_value: Any) -> Any:
        if isinstance(answer_value, list):
            return [*map(said, answer_value)]
        return span(answer_value) if marked else answer_value

    answer = answer | ({"field": "text"} if marked else {})
    asked_layout = layout({"x": answer}, {"by": "any"}, assignments=len(values))
    found_judgments = [
        judged(f"w{number}", "r", x=said(answer_value))
        for number, answer_value in enumerate(values)
    ]
    _, gold_rows = settle_rows(asked_layout, found_judgments, items(found_judgments))
    in_order = [
        json.loads(judgment.answers)["x"]
        for judgment in sorted(found_judgments, key=lambda judgment: judgment.id)
    ]
    assert json.loads(gold_rows[0].answers)["x"] == (
        in_order if expected_value is None else said(expected_value)
    )


def test_lists_have_an_entry_for_each_judgment() -> None:
    found_judgments = [
        judged("u", "r", verdict="a", name="UN"),
        judged("v", "r", verdict="b", note="unsure"),
    ]
    _, gold_rows = settle_rows(
        layout(NAMED, {"by": "any"}, assignments=2), found_judgments, items(found_judgments)
    )
    given_answers = [
        json.loads(judgment.answers)
        for judgment in sorted(found_judgments, key=lambda judgment: judgment.id)
    ]
    want = {
        answer_name: [item_answers.get(answer_name) for item_answers in given_answers]
        for answer_name in ("verdict", "name", "note")
    }
    assert json.loads(gold_rows[0].answers) == want


def test_what_comes_in_another_order_comes_to_the_same() -> None:
    random_source = random.Random(2)
    asked_layout = layout(
        VERDICT | {"name": {"kind": "text"}}, {"by": "majority"}, assignments=3, min_seconds=5
    )
    found_judgments = []
    for row_number in range(120):
        more_values: dict[str, Any] = {"hit": f"h{row_number}", "seconds": float(row_number % 9)}
        more_values |= {
            "verdict": random_source.choice("abc"),
            "name": random_source.choice(("A", "a", "the A", "B")),
        }
        found_judgments.append(judged(f"w{row_number % 7}", f"r{row_number % 11}", **more_values))
    shown_items = items(found_judgments)
    expected_value = settle_rows(asked_layout, found_judgments, shown_items)
    for seed in range(3):
        random.Random(seed).shuffle(found_judgments)
        assert settle_rows(asked_layout, found_judgments, shown_items) == expected_value


def test_flags_and_what_is_set_aside() -> None:
    cases = CASES["flags"]
    found_judgments = [
        judged(worker_id, row, **more_values) for worker_id, row, more_values in cases["judgments"]
    ]
    shown_items = items(found_judgments, k={"verdict": "a"})
    flagged_judgments, gold_rows = settle_rows(
        _verdict({"by": "majority", "accept": ["a"]}), found_judgments, shown_items
    )
    flagged = [
        [judgment.worker, judgment.item, [*judgment.flags], judgment.counted]
        for judgment in flagged_judgments
        if judgment.flags
    ]
    assert sorted(flagged) == cases["flagged"]
    assert brief(gold_rows) == cases["gold"]


@pytest.mark.parametrize(("table_rows", "own_vote", "other_votes", "flag"), CASES["monotonous"])
def test_the_same_answer_to_everything_is_flagged_and_counts(
    table_rows: int, own_vote: str, other_votes: str, flag: bool
) -> None:
    found_judgments = [
        judged(worker_id, f"r{row_number}", verdict=votes[row_number % len(votes)])
        for worker_id, votes in (("w", own_vote), ("o", other_votes))
        for row_number in range(table_rows if votes else 0)
    ]
    flagged_judgments, _ = settle_rows(
        _verdict({"by": "any"}), found_judgments, items(found_judgments)
    )
    assert {
        "same_answer" in judgment.flags for judgment in flagged_judgments if judgment.worker == "w"
    } == {flag}
    for judgment in flagged_judgments:
        assert judgment.counted


@pytest.mark.parametrize(("texts", "copies"), CASES["copies"])
def test_copied_texts_of_different_workers(texts: dict[str, str], copies: str) -> None:
    asked_layout = layout({"text_": {"kind": "text", "agree": "none"}}, {"by": "any"})
    found_judgments = [judged(who[0], who, text_=text) for who, text in texts.items()]
    assert find_copies(asked_layout, found_judgments, items(found_judgments)) == {
        other_judgment.id for other_judgment in found_judgments if other_judgment.worker in copies
    }
    flagged_judgments, _ = settle_rows(asked_layout, found_judgments, items(found_judgments))
    for judgment in flagged_judgments:
        assert judgment.counted  # flagged, and left to a person
    assert {
        judgment.worker for judgment in flagged_judgments if "copied_text" in judgment.flags
    } == {*copies}


def test_copies_in_groups() -> None:
    text = CASES["copies"][0][0]["u"]
    inner = {"question": {"kind": "text", "label": "Q", "agree": "none"}}
    asked_layout = layout(
        {"questions": {"kind": "group", "answers": inner, "max_items": 5}}, {"by": "any"}
    )
    found_judgments = [judged(who, who, questions=[{"question": text}]) for who in "uv"]
    shown_items = {
        judgment.item: Item(judgment.item, judgment.row, {"text": "Other"})
        for judgment in found_judgments
    }
    assert find_copies(asked_layout, found_judgments, shown_items) == set(ids_of(found_judgments))


# Agreement of each answer, worker and item, against values computed by hand.

ASKED: dict[str, dict[str, object]] = {
    "verdict": {"kind": "choice"},
    "name": {"kind": "text", "when": {"verdict": ["a"]}},
    "note": {"kind": "text", "agree": "none"},
}


def _said(table_rows: dict[str, list[str]]) -> list[Judgment]:
    """Rows of votes, one a worker; `a:Name` has a name, `.` is nothing."""
    found_judgments = []
    for row, votes in table_rows.items():
        for worker_id, vote in zip(("u", "v", "w"), votes, strict=False):
            verdict, _, name = vote.partition(":")
            if verdict != ".":
                more_values = {"name": name} if name else {}
                answers: dict[str, Any] = {"verdict": verdict, "note": "x", **more_values}
                found_judgments.append(judged(worker_id, row, **answers))
    return found_judgments


TABLE = {
    "r1": ["a:The UN", "a:un", "a:EU"],
    "r2": ["a:UN", "b", "a:U.N."],
    "r3": ["b", "b", "."],
    "r4": ["b", ".", "."],
}


def test_answers_workers_and_items() -> None:
    asked_layout = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=3)
    found_judgments = _said(TABLE)
    agreed = measure_agreement(asked_layout, found_judgments, items(found_judgments))
    assert [*agreed.answers] == ["verdict", "name"]  # notes are free
    verdict, name = agreed.answers.values()
    # verdict: pairs 3 + 3 + 1, agreeing 3 + 1 + 1. Units aaa, aab, bb: n = 8, a 5, b 3:
    # Do = (2 * 1 * 2 / 2) / 8 = 1/4; De = 2 * 15 / 56 = 15/28; alpha = 1 - 7/15
    assert (verdict["items"], verdict["pairs"]) == (3, 7)
    assert verdict["percent"] == pytest.approx(100 * 5 / 7)
    assert verdict["alpha"] == pytest.approx(8 / 15)
    # name, of those asked: units (un un eu), (un un): n = 5, un 4, eu 1: Do = 2/5, De = 8/20: 0
    assert (name["items"], name["pairs"]) == (2, 4)
    assert name["alpha"] == pytest.approx(0.0)
    # v: verdict with u 2 of 3, with w 1 of 2; name with u 1 of 1, with w 0 of 1
    assert (len(agreed.by_worker["v"]), sum(agreed.by_worker["v"])) == (7, 4)
    assert agreed.by_item["i-r3"] == [True]
    assert sorted(agreed.by_item["i-r1"]) == [False] * 2 + [True] * 4
    assert "i-r4" not in agreed.by_item
    # v's verdict: 2 of 5 pairs differ: 1 - (2/5) / (15/28)
    assert agreed.main == "verdict"
    assert agreed.alphas["v"] == pytest.approx(1 - 0.4 * 28 / 15)


def test_marked_text() -> None:
    asked_layout = layout({"x": {"kind": "spans", "field": "text"}}, {"by": "any"}, assignments=2)
    found_judgments = [
        judged("u", "r", x=[span("Kofi Annan")]),
        judged("v", "r", x=[span("Annan"), span("2007")]),
    ]
    agreed = measure_agreement(asked_layout, found_judgments, items(found_judgments))
    only = agreed.answers["x"]
    # of the characters u marks 10, v 9, both 5: 9 differ. n = 2 * length, 19 are in.
    number, marked_characters = 2 * len(TEXT), 19
    expected_value = 1 - (2 * 9 / number) / (
        2 * marked_characters * (number - marked_characters) / (number * (number - 1))
    )
    assert only["alpha"] == pytest.approx(expected_value)
    assert only["percent"] == 0.0  # 2007 meets nothing of the other
    chance = 2 * marked_characters * (number - marked_characters) / (number * (number - 1))
    assert agreed.alphas["u"] == pytest.approx(1 - 9 / len(TEXT) / chance)
    assert (only["low"], only["high"]) == (None, None)


@pytest.mark.parametrize(("votes", "percent"), CASES["undefined"])
def test_nothing_to_compare_is_undefined(votes: dict[str, list[str]], percent: float) -> None:
    asked_layout = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=2)
    found_judgments = _said(votes)
    verdict = measure_agreement(asked_layout, found_judgments, items(found_judgments)).answers[
        "verdict"
    ]
    assert (verdict["percent"], verdict["alpha"], verdict["low"]) == (percent, None, None)


def test_what_is_set_aside_is_not_compared() -> None:
    asked_layout = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=2)
    found_judgments = [
        *_said({"r1": ["a:X", "a:X"], "r2": ["b", "b"]}),
        judged("w", "r1", verdict="b"),
        judged("w", "?k", verdict="b"),
    ]
    shown_items = items(found_judgments, k={"verdict": "a"})
    flagged_judgments, gold_rows = settle_rows(asked_layout, found_judgments, shown_items)
    assert (
        measure_agreement(asked_layout, flagged_judgments, shown_items).answers["verdict"]["alpha"]
        == 1.0
    )
    versions = [LayoutVersion(asked_layout, {"b1": Decimal("1.50")}, shown_items, {"h1": 2})]
    quality_report = make_report(versions, "l", flagged_judgments, gold_rows)
    (worker_id,) = [person for person in quality_report["people"] if person["name"] == "w"]
    assert [worker_id[name] for name in ("checks", "passed", "counted", "due")] == [1, 0, 0, 0]
    assert [quality_report[name] for name in ("due", "submissions", "rows_sent")] == [3, 3, 2]
    assert quality_report["decisions"]["accepted"] == 2


@pytest.mark.parametrize(("table_rows", "pairs", "low"), [(4, 0, 2), (5, 1, 3), (23, 1, 10)])
def test_what_a_report_lists(table_rows: int, pairs: int, low: int) -> None:
    """Cohen's kappa of workers with five items in common; ten items of the least agreement."""
    asked_layout = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=2)
    votes = {
        f"r{row_number:02}": [
            "b",
            "ab"[row_number % 2] if row_number < 4 else "bac"[row_number % 3],
        ]
        for row_number in range(table_rows)
    }
    found_judgments = _said(
        {row: [vote.replace("a", "a:X") for vote in two] for row, two in votes.items()}
    )
    shown_items = items(found_judgments)
    versions = [LayoutVersion(asked_layout, {"b1": Decimal(1)}, shown_items, {"h1": table_rows})]
    quality_report = make_report(
        versions, "l", *settle_rows(asked_layout, found_judgments, shown_items)
    )
    assert quality_report["agreement"][0]["after"]["cohen_pairs"] == pairs
    differing = [
        row for row, (first_vote, second_vote) in votes.items() if first_vote != second_vote
    ]
    assert (
        column_of(quality_report["low_agreement"], "item")
        == [f"i-{row_id}" for row_id in differing][:low]
    )
