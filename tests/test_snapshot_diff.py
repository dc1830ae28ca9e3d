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
from factdrift.builders.facts.time_rules import TimeRule
from factdrift.builders.rows import Entity, Fact, FactChange, Gap, SeenFact
from tests.histories import NO_LIFE, day, fact, parquet
from tests.tables import columns_of, read_table

OLD, NEW = date(2021, 1, 15), date(2022, 9, 15)
EXCLUSIVE = {"P6": TimeRule(exclusive=True)}


def stated(
    term: str, snapshot: date, relation: str = "P54", object_id: str = "Q2", subject: str = "Q1"
) -> Fact:
    """A term is `start/end`; no end is open, a boundary `?` is unknown."""
    start, end = (
        (None, None) if day_ == "?" else day(day_) if day_ else None for day_ in term.split("/")
    )
    assert start
    return fact(subject, relation, object_id, start, end, snapshot=snapshot, statement="Q1$a")


def tables(duck: Engine, path: Path, *snapshots: Sequence[Fact]) -> list[Any]:
    return [
        duck.read(parquet(path / f"{table_number}.parquet", Fact, facts), Fact)
        for table_number, facts in enumerate(snapshots)
    ]


def dumps(
    duck: Engine, path: Path, sides: Sequence[Sequence[Fact]], gaps: Sequence[Sequence[Gap]] = ()
) -> list[Dump]:
    twenty_entities = [
        Entity(f"Q{table_number}", f"Q{table_number}", (), None, 0, 0, 0, *NO_LIFE)
        for table_number in range(20)
    ]
    entities = duck.read(parquet(path / "e.parquet", Entity, twenty_entities), Entity)
    gap_tables = [
        duck.read(parquet(path / f"gaps{table_number}.parquet", Gap, side_gaps), Gap)
        for table_number, side_gaps in enumerate(gaps or ([], []))
    ]
    facts = tables(duck, path, *sides)
    return [
        Dump(facts_table, gaps_table, entities)
        for facts_table, gaps_table in zip(facts, gap_tables, strict=True)
    ]


RULES = read_table("snapshot_rules")
"""The terms of the older dump (2021-01-15), those of the newer (2022-09-15), and the changes.

There is a change for each segment, in order of time; `corrected` has what differs behind it.
"""


def terms_of(side: str) -> list[str]:
    return [] if side == "-" else side.split()


@pytest.fixture(scope="module")
def ruled(
    duck: Engine, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """Every case compared in one table, each a subject of its own; `Q100`: a successor."""
    facts: list[list[Fact]] = [[], []]
    gaps: list[list[Gap]] = [[], []]
    for side, snapshot in enumerate((OLD, NEW)):
        for rule_number, (*terms, _) in enumerate(RULES):
            for term in terms_of(terms[side]):
                if term == "undated":
                    any_time: Any = (None, None, None, None, True, "undated", "normal", snapshot)
                    gaps[side].append(Gap("Q1$b", f"Q{rule_number}", "P54", "Q2", *any_time))
                else:
                    facts[side].append(stated(term, snapshot, subject=f"Q{rule_number}"))
        facts[side].append(stated("2018/", snapshot, "P6", subject="Q100"))
    facts[1].append(stated("2021-02-13/", NEW, "P6", "Q3", "Q100"))
    path = tmp_path_factory.mktemp("rules")
    old_dump, new_dump = dumps(duck, path, facts, gaps)
    out_path = path / "changes.parquet"
    duck.write(changes(duck, old_dump, new_dump, EXCLUSIVE), out_path, FactChange, CHANGE_ORDER)
    change_rows = pq.read_table(out_path).to_pylist()
    places = [(int(change["subject"][1:]), change["object"]) for change in change_rows]
    assert places == sorted(places)
    rows_by_fact: dict[str, list[dict[str, Any]]] = {}
    for row in change_rows:
        rows_by_fact.setdefault(row["subject"] + row["object"], []).append(row)
    return rows_by_fact


@pytest.mark.parametrize("number", range(len(RULES)), ids=map(" | ".join, RULES))
def test_rules(ruled: dict[str, list[dict[str, Any]]], number: int) -> None:
    old_facts, new_facts, changes_expected = RULES[number]
    fact_rows = ruled[f"Q{number}Q2"]
    found_changes = [
        ":".join([row["change"], ",".join(row["differs"])]).removesuffix(":") for row in fact_rows
    ]
    assert found_changes == changes_expected.split()
    for side, terms, snapshot in (("old", old_facts, OLD), ("new", new_facts, NEW)):
        assert [row[f"{side}_snapshot"] for row in fact_rows] == [snapshot] * len(fact_rows)
        has_side = [row[f"{side}_end_open"] is not None for row in fact_rows]
        assert has_side.count(True) == max(1, len(set(terms_of(terms)) - {"undated"})) * (
            terms != "-"
        )
        for row in fact_rows:
            assert (row[f"{side}_statements"] == []) == (row[f"{side}_end_open"] is None)
    assert len(ruled) == len(RULES) + 2


def test_ended_by_a_successor(ruled: dict[str, list[dict[str, Any]]]) -> None:
    (ended,), (begun,) = ruled["Q100Q2"], ruled["Q100Q3"]
    assert (ended["change"], begun["change"]) == ("obsolete", "new")
    assert [ended[f"old_end_{column_end}"] for column_end in ("first", "last", "open")] == [
        None,
        None,
        True,
    ]
    assert [ended[f"new_end_{column_end}"] for column_end in ("first", "last")] == [
        date(2018, 1, 1),
        date(2021, 2, 13),
    ]


def test_seen(duck: Engine, tmp_path: Path) -> None:
    same_fact = stated("2015/2018", OLD)
    open_fact = stated("2015/", OLD, "P39")
    ended_fact = stated("2015/2021", NEW, "P39")
    promoted_fact = replace(same_fact, snapshot=NEW, rank="preferred")
    out_path = tmp_path / "seen.parquet"
    snapshots = tables(duck, tmp_path, [same_fact, open_fact], [promoted_fact, ended_fact])
    assert duck.write(seen(duck, snapshots), out_path, SeenFact, SEEN_ORDER) == 3
    seen_rows = columns_of(
        duck.rows(duck.read(out_path, SeenFact)),
        "relation",
        "end_open",
        "rank",
        "first_seen",
        "last_seen",
    )
    assert seen_rows == [
        ("P39", True, "normal", OLD, OLD),
        ("P39", False, "normal", NEW, NEW),
        ("P54", False, "preferred", OLD, NEW),
    ]


@pytest.mark.parametrize("other_day", [OLD, OLD - timedelta(days=1)])
def test_snapshots_in_order(duck: Engine, tmp_path: Path, other_day: date) -> None:
    sides = [[stated("2015/", snapshot)] for snapshot in (OLD, other_day)]
    older, newer = dumps(duck, tmp_path, sides)
    with pytest.raises(UserError, match=f"2021-01-15 is not before that of {other_day}"):
        changes(duck, older, newer, EXCLUSIVE)
    with pytest.raises(UserError, match="give the older dump first"):
        seen(duck, [older.facts, newer.facts])
