"""Timelines and their differences are made in parts of the subjects: the same files."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.engine import engine
from factdrift.builders.core.steps import Workspace
from factdrift.builders.facts.steps import Facts, Timelines
from factdrift.builders.facts.time_rules import Rules
from factdrift.builders.rows import Dropped
from factdrift.builders.templama.steps import PeriodChanges
from tests import random_histories
from tests.histories import parquet
from tests.history_tables import tables

HISTORIES = 900


def facts_of_histories(folder: Path) -> tuple[Facts, Rules]:
    """A step of facts whose tables lie in this folder, and the rules of its relations."""
    with engine("duckdb", folder / "scratch") as duck:
        histories = random_histories.histories(5, HISTORIES)
        *_, rules = tables(duck, folder, histories, random_histories.SNAPSHOT)
    table_names = {"Fact": "facts", "Gap": "gaps", "Entity": "entities"}
    for row_name, table_name in table_names.items():
        (folder / f"{row_name}.parquet").rename(folder / f"{table_name}.parquet")
    parquet(folder / "dropped.parquet", Dropped, [])
    given_fields: dict[str, Any] = {"mined": None, "relations": tuple(rules)}
    return Facts.model_construct(pointwise=(), undated=(), **given_fields), rules


@pytest.mark.slow
def test_the_same_timelines_and_differences_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts, rules = facts_of_histories(tmp_path / "facts")
    timelines = Timelines(facts=facts, rules=rules)
    changes = PeriodChanges(
        facts=facts,
        timelines=timelines,
        first="2012Q1",
        last="2023Q2",
        granularity="quarter",
        relations=dict.fromkeys(rules, "relation"),
        silent=tuple(rules)[::3],
        subjects_per_relation=20,
        name_overlap="drop",
    )
    monkeypatch.setattr("factdrift.builders.core.engine._RANGES_IN_MEMORY", 50_000)
    written_bytes = []
    for part_count in (1, 4):
        monkeypatch.setattr("factdrift.builders.core.engine._DuckDB.parts", part_count)
        workspace = Workspace(tmp_path / f"build{part_count}", say=print, jobs=2)
        workspace.folders_by_key[facts.key] = tmp_path / "facts"
        table_paths = [
            path
            for step in (timelines, changes)
            for path in sorted(workspace.folder(step).glob("*.parquet"))
        ]
        named_paths = {f"{path.parent.name}/{path.name}": path for path in table_paths}
        written_bytes.append({name: path.read_bytes() for name, path in named_paths.items()})
        row_counts = {name: pq.read_metadata(path).num_rows for name, path in named_paths.items()}
        assert min(row_counts.values()) > 100, row_counts
    assert written_bytes[0] == written_bytes[1]
    dropped_table = pq.read_table(next((tmp_path / "build4").glob("deltas-*/dropped.parquet")))
    reasons = set(dropped_table["reason"].to_pylist())
    assert reasons >= {"few_objects", "life", "less_popular", "no_stated_holder", "stale_statement"}
