"""Agreement of each answer, worker and item, against values computed by hand."""

from decimal import Decimal

import pytest

from factdrift.annotation.matching import LayoutVersion
from factdrift.annotation.quality import settle
from factdrift.annotation.quality.agreement import measure_agreement
from factdrift.annotation.quality.report import make_report
from factdrift.builders.rows import Judgment
from tests.annotation_judged import TEXT, items, judged, layout, span

ASKED: dict[str, dict[str, object]] = {
    "verdict": {"kind": "choice"},
    "name": {"kind": "text", "when": {"verdict": ["a"]}},
    "note": {"kind": "text", "agree": "none"},
}


def _said(table: dict[str, list[str]]) -> list[Judgment]:
    """Rows of votes, one a worker; `a:Name` has a name, `.` is nothing."""
    found = []
    for row, votes in table.items():
        for worker, vote in zip(("u", "v", "w"), votes, strict=False):
            verdict, _, name = vote.partition(":")
            if verdict != ".":
                more = {"name": name} if name else {}
                found.append(judged(worker, row, verdict=verdict, note="x", **more))  # type: ignore[arg-type]
    return found


TABLE = {
    "r1": ["a:The UN", "a:un", "a:EU"],
    "r2": ["a:UN", "b", "a:U.N."],
    "r3": ["b", "b", "."],
    "r4": ["b", ".", "."],
}


def test_answers_workers_and_items() -> None:
    asked = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=3)
    found = _said(TABLE)
    agreed = measure_agreement(asked, found, items(found))
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
    asked = layout({"x": {"kind": "spans", "field": "text"}}, {"by": "any"}, assignments=2)
    found = [
        judged("u", "r", x=[span("Kofi Annan")]),
        judged("v", "r", x=[span("Annan"), span("2007")]),
    ]
    agreed = measure_agreement(asked, found, items(found))
    only = agreed.answers["x"]
    # of the characters u marks 10, v 9, both 5: 9 differ. n = 2 * length, 19 are in.
    n, inside = 2 * len(TEXT), 19
    expected = 1 - (2 * 9 / n) / (2 * inside * (n - inside) / (n * (n - 1)))
    assert only["alpha"] == pytest.approx(expected)
    assert only["percent"] == 0.0  # 2007 meets nothing of the other
    chance = 2 * inside * (n - inside) / (n * (n - 1))
    assert agreed.alphas["u"] == pytest.approx(1 - 9 / len(TEXT) / chance)
    assert (only["low"], only["high"]) == (None, None)


@pytest.mark.parametrize(
    ("table", "percent"),
    [
        ({"r1": ["a:X"], "r2": ["b"]}, None),
        ({"r1": ["b", "b"], "r2": ["b", "b"]}, 100.0),
        ({}, None),
    ],
)
def test_nothing_to_compare_is_undefined(
    table: dict[str, list[str]], percent: float | None
) -> None:
    asked = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=2)
    found = _said(table)
    verdict = measure_agreement(asked, found, items(found)).answers["verdict"]
    assert (verdict["percent"], verdict["alpha"], verdict["low"]) == (percent, None, None)


def test_what_is_set_aside_is_not_compared() -> None:
    asked = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=2)
    found = [
        *_said({"r1": ["a:X", "a:X"], "r2": ["b", "b"]}),
        judged("w", "r1", verdict="b"),
        judged("w", "?k", verdict="b"),
    ]
    shown = items(found, k={"verdict": "a"})
    seen, gold = settle(asked, found, shown)
    assert measure_agreement(asked, seen, shown).answers["verdict"]["alpha"] == 1.0
    versions = [LayoutVersion(asked, {"b1": Decimal("1.50")}, shown, {"h1": 2})]
    report = make_report(versions, "l", seen, gold)
    (worker,) = [one for one in report["people"] if one["name"] == "w"]
    assert [worker[name] for name in ("checks", "passed", "counted", "due")] == [1, 0, 0, 0]
    assert [report[name] for name in ("due", "submissions", "rows_sent")] == [3, 3, 2]
    assert report["decisions"]["accepted"] == 2


@pytest.mark.parametrize(("rows", "pairs", "low"), [(4, 0, 2), (5, 1, 3), (23, 1, 10)])
def test_what_a_report_lists(rows: int, pairs: int, low: int) -> None:
    """Cohen's kappa of workers with five items in common; ten items of the least agreement."""
    asked = layout(ASKED, {"by": "majority", "of": "verdict"}, assignments=2)
    votes = {f"r{n:02}": ["b", "ab"[n % 2] if n < 4 else "bac"[n % 3]] for n in range(rows)}
    found = _said({row: [vote.replace("a", "a:X") for vote in two] for row, two in votes.items()})
    shown = items(found)
    versions = [LayoutVersion(asked, {"b1": Decimal(1)}, shown, {"h1": rows})]
    report = make_report(versions, "l", *settle(asked, found, shown))
    assert report["agreement"][0]["after"]["cohen_pairs"] == pairs
    differing = [row for row, (one, other) in votes.items() if one != other]
    assert [one["item"] for one in report["low_agreement"]] == [f"i-{r}" for r in differing][:low]
