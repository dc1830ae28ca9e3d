"""Snapshot diff: every rule by hand; random histories are in test_timelines_oracle."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.engine import Engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.snapshot_diff import CHANGE_ORDER, SEEN_ORDER, Dump, changes, seen
from factdrift.builders.facts.timeline import TimeRule
from factdrift.builders.rows import Entity, Fact, FactChange, Gap, SeenFact
from tests.histories import NO_LIFE, day, fact, parquet

OLD, NEW = date(2021, 1, 15), date(2022, 9, 15)
EXCLUSIVE = {"P6": TimeRule(exclusive=True)}


Term = tuple[str, str | None]
"""Start and end; no end is open, a boundary `?` is unknown, both `?` is undated."""


def stated(
    side: Term, snapshot: date, relation: str = "P54", thing: str = "Q2", subject: str = "Q1"
) -> Fact:
    start, end = ((None, None) if b == "?" else day(b) if b else None for b in side)
    assert start
    return fact(subject, relation, thing, start, end, snapshot=snapshot, statement="Q1$a")


def tables(duck: Engine, path: Path, *snapshots: Sequence[Fact]) -> list[Any]:
    return [
        duck.read(parquet(path / f"{n}.parquet", Fact, facts), Fact)
        for n, facts in enumerate(snapshots)
    ]


def dumps(
    duck: Engine, path: Path, sides: Sequence[Sequence[Fact]], gaps: Sequence[Sequence[Gap]] = ()
) -> list[Dump]:
    entity = [Entity(f"Q{n}", f"Q{n}", (), None, 0, 0, 0, *NO_LIFE) for n in range(20)]
    entities = duck.read(parquet(path / "e.parquet", Entity, entity), Entity)
    holes = [
        duck.read(parquet(path / f"gaps{n}.parquet", Gap, some), Gap)
        for n, some in enumerate(gaps or ([], []))
    ]
    facts = tables(duck, path, *sides)
    return [Dump(f, g, entities) for f, g in zip(facts, holes, strict=True)]


RULES: list[tuple[list[Term], list[Term], str]] = [
    ([("2015", None)], [("2015", "2021-06-30")], "obsolete"),
    ([("2015", None)], [("2015", "2021-01-15")], "obsolete"),
    ([("2015", "2022")], [("2015", "2022-09-14")], "obsolete"),
    ([("2015", "2018")], [("2015", "2018")], "static"),
    ([("2015", "2018")], [("2015", "2018-04")], "corrected"),
    ([("2015", None)], [("2015", None)], "static"),
    ([("2015", None)], [("2014", None)], "static"),
    ([("2015", None)], [("2015", "?")], "static"),
    ([], [("2021-06", "2022-01")], "new"),
    ([], [("2021", None)], "added"),
    ([], [("2012", "?")], "added"),
    ([], [("?", None)], "added"),
    ([], [("2012", "2020")], "added"),
    ([], [("?", "?")], "added"),
    ([], [("2021-06", None), ("?", "?")], "added"),
    ([], [("2021-06", None), ("2012", "2014")], "added"),
    ([("2012", "2022")], [], "removed"),
    ([("2012", "?")], [], "removed"),
    ([("2012", None)], [], "removed"),
    ([("?", "?")], [], "removed"),
    ([("?", "?")], [("?", "?")], "static"),
    ([("2012", None)], [("?", "?")], "static"),
    # To the day: T_old is 2021-01-15, T_new 2022-09-15.
    ([], [("2021-01-16", None)], "new"),
    ([], [("2021-01-15", None)], "added"),
    ([("2012", "2021-01-15")], [], "obsolete"),
    ([("2012", "2021-01-14")], [], "removed"),
    ([("2012", "2022-09-15")], [], "obsolete"),
    ([("2012", "2022-09-16")], [], "removed"),
    ([("2015", None)], [("2015", "2022-09-15")], "static"),
    ([("2015", None)], [("2015", "2021-01-14")], "corrected"),
    ([("?", "?")], [("2021-01-16", None)], "new"),
    ([("?", "?")], [("2021-01-15", None)], "static"),
    # A second term, after one that the older dump has as ended.
    ([("2017", "2020-01-20")], [("2017", "2020-01-20"), ("2021-06", None)], "returned"),
    ([("2009", "2013")], [("2009", "2013"), ("2021-02", "2022-01")], "returned"),
    ([("2009", "2013")], [("2021-02", None)], "returned"),
    ([("2006", "2010"), ("2012", "2018")], [("2006", "2010"), ("2012", "2018"), ("2022", None)],
     "returned"),
    # It ended and began again between the dumps, or may not have ended: it may be one long term.
    ([("2015", None)], [("2015", "2021-02"), ("2021-12", None)], "static"),
    ([("2009", "?")], [("2009", "?"), ("2021-02", None)], "static"),
    # No second term after the older dump: it was there, an editor reopened it, dates were mended.
    ([("2009", "2013")], [("2009", "2013"), ("2020", None)], "static"),
    ([("2009", "2013"), ("2018", None)], [("2009", "2013"), ("2018", None)], "static"),
    ([("2009", "2013")], [("2009", None)], "static"),
    ([("2009", "2013")], [("2009", "2013"), ("2016", "2018")], "corrected"),
    ([("2009", "2013"), ("2018", None)], [("2009", "2013"), ("2018", "2021-05")], "obsolete"),
]  # fmt: skip


@pytest.fixture(scope="module")
def ruled(duck: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every case compared in one table, each a subject of its own; `Q100`: a successor."""
    facts: list[list[Fact]] = [[], []]
    gaps: list[list[Gap]] = [[], []]
    for side, snapshot in enumerate((OLD, NEW)):
        for n, (*terms, _) in enumerate(RULES):
            for term in terms[side]:
                if term == ("?", "?"):
                    always: Any = (None, None, None, None, True, "undated", "normal", snapshot)
                    gaps[side].append(Gap("Q1$b", f"Q{n}", "P54", "Q2", *always))
                else:
                    facts[side].append(stated(term, snapshot, subject=f"Q{n}"))
        facts[side].append(stated(("2018", None), snapshot, "P6", subject="Q100"))
    facts[1].append(stated(("2021-02-13", None), NEW, "P6", "Q3", "Q100"))
    path = tmp_path_factory.mktemp("rules")
    old, new = dumps(duck, path, facts, gaps)
    out = path / "changes.parquet"
    duck.write(changes(duck, old, new, EXCLUSIVE), out, FactChange, CHANGE_ORDER)
    made = pq.read_table(out).to_pylist()
    places = [(int(r["subject"][1:]), r["object"]) for r in made]
    assert places == sorted(places)
    return {row["subject"] + row["object"]: row for row in made}


@pytest.mark.parametrize("number", range(len(RULES)), ids=[str(r) for r in RULES])
def test_rules(ruled: dict[str, dict[str, Any]], number: int) -> None:
    old, new, change = RULES[number]
    row = ruled[f"Q{number}Q2"]
    assert row["change"] == change
    for side, terms, snapshot in (("old", old, OLD), ("new", new, NEW)):
        named = sorted({"Q1$b" if t == ("?", "?") else "Q1$a" for t in terms})
        assert row[f"{side}_statements"] == named
        assert (row[f"{side}_end_open"] is None) == (not terms)
        assert row[f"{side}_snapshot"] == snapshot
    assert len(ruled) == len(RULES) + 2


def test_ended_by_a_successor(ruled: dict[str, dict[str, Any]]) -> None:
    ended = ruled["Q100Q2"]
    assert (ended["change"], ruled["Q100Q3"]["change"]) == ("obsolete", "new")
    assert [ended[f"old_end_{c}"] for c in ("first", "last", "open")] == [None, None, True]
    assert [ended[f"new_end_{c}"] for c in ("first", "last")] == [
        date(2018, 1, 1),
        date(2021, 2, 13),
    ]


def test_seen(duck: Engine, tmp_path: Path) -> None:
    same = stated(("2015", "2018"), OLD)
    open_ = stated(("2015", None), OLD, "P39")
    ended = stated(("2015", "2021"), NEW, "P39")
    promoted = replace(same, snapshot=NEW, rank="preferred")
    out = tmp_path / "seen.parquet"
    snapshots = tables(duck, tmp_path, [same, open_], [promoted, ended])
    assert duck.write(seen(duck, snapshots), out, SeenFact, SEEN_ORDER) == 3
    found = [
        (r["relation"], r["end_open"], r["rank"], r["first_seen"], r["last_seen"])
        for r in duck.rows(duck.read(out, SeenFact))
    ]
    assert found == [
        ("P39", True, "normal", OLD, OLD),
        ("P39", False, "normal", NEW, NEW),
        ("P54", False, "preferred", OLD, NEW),
    ]


@pytest.mark.parametrize("other", [OLD, OLD - timedelta(days=1)])
def test_snapshots_in_order(duck: Engine, tmp_path: Path, other: date) -> None:
    sides = [[stated(("2015", None), snapshot)] for snapshot in (OLD, other)]
    older, newer = dumps(duck, tmp_path, sides)
    with pytest.raises(UserError, match=f"2021-01-15 is not before that of {other}"):
        changes(duck, older, newer, EXCLUSIVE)
    with pytest.raises(UserError, match="give the older dump first"):
        seen(duck, [older.facts, newer.facts])
