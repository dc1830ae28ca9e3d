"""Timelines: rows that are alike, tables of one snapshot, files as tables; what the rules say is in
test_timelines_oracle.
"""

from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random

import pytest

from factdrift.builders.core.engine import Engine, engine
from factdrift.builders.core.errors import UserError
from factdrift.builders.facts.timeline import snapshot_day, timeline
from factdrift.builders.rows import Fact, Segment
from tests.histories import Interval, day, fact, parquet

NOW = date(2022, 9, 15)


def one(thing: str, start: Interval, end: Interval | None, relation: str = "P54") -> Fact:
    return fact("Q1", relation, thing, start, end, snapshot=NOW)


def d(text: str) -> Interval:
    return day(text)


def test_one_snapshot_a_table(duck: Engine, tmp_path: Path) -> None:
    facts = [one("Q2", d("2019"), None)]
    table = duck.read(parquet(tmp_path / "a.parquet", Fact, facts), Fact)
    assert snapshot_day(duck, table) == NOW
    facts.append(replace(facts[0], snapshot=date(2023, 1, 1)))
    table = duck.read(parquet(tmp_path / "b.parquet", Fact, facts), Fact)
    with pytest.raises(UserError, match="several snapshot days"):
        snapshot_day(duck, table)
    table = duck.read(parquet(tmp_path / "c.parquet", Fact, []), Fact)
    with pytest.raises(UserError, match="no row"):
        snapshot_day(duck, table)


def test_what_cannot_be_read(duck: Engine, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such Parquet file"):
        duck.read(tmp_path / "none.parquet", Fact)
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(UserError, match=r"text\.parquet: not a Parquet file"):
        duck.read(tmp_path / "text.parquet", Fact)
    segments = parquet(tmp_path / "segments.parquet", Segment, [])
    with pytest.raises(UserError, match="no column statement, point, sighting, rank for Fact"):
        duck.read(segments, Fact)
    with pytest.raises(UserError, match="no engine 'sparc'"), engine("sparc", tmp_path):
        pass


def test_several_files_and_a_folder_are_one_table(duck: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "facts [1]*"
    folder.mkdir()
    facts = [one(f"Q{n}", d("2019"), None) for n in (2, 3)]
    paths = [parquet(folder / f"{n}.parquet", Fact, [f]) for n, f in enumerate(facts)]
    for table in (duck.read(paths, Fact), duck.read(folder, Fact)):
        assert sorted(r["object"] for r in duck.rows(table)) == ["Q2", "Q3"]


def test_equal_facts_of_many_objects(duck: Engine, tmp_path: Path) -> None:
    """Rows that sort alike stay in one segment: in which order they come is the engine's affair."""
    spells = [(d("2015"), d("2017")), (d("2019-01-01"), d("2020")), (d("2022-02-01"), None)]
    facts = [
        replace(one("Q2", *spell), subject=f"Q{n}", statement="same")
        for n in range(1, 1_000)
        for spell in spells
        for _ in range(8)
    ]
    Random(1).shuffle(facts)
    table = duck.read(parquet(tmp_path / "facts.parquet", Fact, facts), Fact)
    segments = timeline(duck, table).segments
    dates = segments.select("start_first", "end_last", "statements").distinct()
    for _ in range(4):
        assert [r["statements"] for r in duck.rows(dates)] == [["same"]] * 3
