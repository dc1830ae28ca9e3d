"""What `score` prints of verdicts: shares of the same rows, under the names that suit the rows."""

from typing import Any, cast

import pytest

from factdrift.scoring import knowledge
from factdrift.scoring.verdict_shares import VerdictShares, share_lines

SHARES = {"current": 0.5, "stale": 0.1, "early": 0.25, "abstained": 0.0, "wrong": 0.15}


def test_shares_of_verdicts_are_printed_by_config_and_kind() -> None:
    rows = [
        VerdictShares("questions", None, 1200, SHARES),
        VerdictShares("questions", "two-hops", 20, SHARES),
    ]
    heads, all_kinds, kind, note = share_lines(rows)
    assert heads.split() == ["verdicts", "rows", *SHARES]
    assert all_kinds.split() == ["questions", "1,200", "50.0", "10.0", "25.0", "0.0", "15.0"]
    assert kind.split()[:2] == ["two-hops", "20"]
    assert note == "in per cent of all rows; stale: right before, early: right only later"


def test_scores_of_older_versions_have_no_shares() -> None:
    assert [*share_lines([])] == []


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ((83, 0, 29, 4), "29 are outdated and none is right; it may stop before the first period"),
        ((83, 29, 0, 4), "29 are right and none is outdated; it may stop after the last period"),
        ((83, 5, 5, 1), "began in one period"),
    ],
)
def test_it_is_said_where_knowledge_may_stop_instead(
    counts: tuple[int, ...], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`counts`: rows, right ones, outdated ones, periods."""
    questions = type("Questions", (), {"db": None})()
    monkeypatch.setattr(knowledge, "single_row", lambda *_: counts)
    assert reason in str(knowledge.why_no_stop(cast(Any, questions)))
