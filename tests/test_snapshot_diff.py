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
from factdrift.builders.facts.snapshot_diff import SEEN_ORDER, Dump, changes, seen
from factdrift.builders.facts.timeline import KEY, TimeRule
from factdrift.builders.rows import Entity, Fact, FactChange, Gap, SeenFact
from tests.histories import NO_LIFE, day, fact, parquet
from tests.tables import read_table

OLD, NEW = date(2021, 1, 15), date(2022, 9, 15)
EXCLUSIVE = {"P6": TimeRule(exclusive=True)}


def stated(
    term: str, snapshot: date, relation: str = "P54", thing: str = "Q2", subject: str = "Q1"
) -> Fact:
    """A term is `start/end`; no end is open, a boundary `?` is unknown."""
    start, end = (
        (None, None) if day_ == "?" else day(day_) if day_ else None for day_ in term.split("/")
    )
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


RULES = read_table("snapshot_rules")
"""The terms of the older dump (2021-01-15), those of the newer (2022-09-15), and the change."""


def terms_of(side: str) -> list[str]:
    return [] if side == "-" else side.split()


@pytest.fixture(scope="module")
def ruled(duck: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every case compared in one table, each a subject of its own; `Q100`: a successor."""
    facts: list[list[Fact]] = [[], []]
    gaps: list[list[Gap]] = [[], []]
    for side, snapshot in enumerate((OLD, NEW)):
        for n, (*terms, _) in enumerate(RULES):
            for term in terms_of(terms[side]):
                if term == "undated":
                    always: Any = (None, None, None, None, True, "undated", "normal", snapshot)
                    gaps[side].append(Gap("Q1$b", f"Q{n}", "P54", "Q2", *always))
                else:
                    facts[side].append(stated(term, snapshot, subject=f"Q{n}"))
        facts[side].append(stated("2018/", snapshot, "P6", subject="Q100"))
    facts[1].append(stated("2021-02-13/", NEW, "P6", "Q3", "Q100"))
    path = tmp_path_factory.mktemp("rules")
    old, new = dumps(duck, path, facts, gaps)
    out = path / "changes.parquet"
    duck.write(changes(duck, old, new, EXCLUSIVE), out, FactChange, KEY)
    made = pq.read_table(out).to_pylist()
    places = [(int(r["subject"][1:]), r["object"]) for r in made]
    assert places == sorted(places)
    return {row["subject"] + row["object"]: row for row in made}


@pytest.mark.parametrize("number", range(len(RULES)), ids=map(" | ".join, RULES))
def test_rules(ruled: dict[str, dict[str, Any]], number: int) -> None:
    old, new, change = RULES[number]
    row = ruled[f"Q{number}Q2"]
    assert row["change"] == change
    for side, terms, snapshot in (("old", old, OLD), ("new", new, NEW)):
        named = sorted({"Q1$b" if t == "undated" else "Q1$a" for t in terms_of(terms)})
        assert row[f"{side}_statements"] == named
        assert (row[f"{side}_end_open"] is None) == (terms == "-")
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
    same = stated("2015/2018", OLD)
    open_ = stated("2015/", OLD, "P39")
    ended = stated("2015/2021", NEW, "P39")
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
    sides = [[stated("2015/", snapshot)] for snapshot in (OLD, other)]
    older, newer = dumps(duck, tmp_path, sides)
    with pytest.raises(UserError, match=f"2021-01-15 is not before that of {other}"):
        changes(duck, older, newer, EXCLUSIVE)
    with pytest.raises(UserError, match="give the older dump first"):
        seen(duck, [older.facts, newer.facts])
