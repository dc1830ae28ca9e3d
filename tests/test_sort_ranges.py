"""Rows that are sorted in ranges on disk: the same file, however many ranges there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Annotated, Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core import duck as duckdb_queries
from factdrift.builders.core import sort_ranges
from factdrift.builders.core.engine import Spilled, engine
from factdrift.builders.core.schema import ROW_GROUP, typed_rows
from factdrift.builders.core.steps import Workspace
from tests.histories import parquet

ROW_COUNT = 3_000


@dataclass(frozen=True)
class SortedRow:
    """A row with columns of all types that files are sorted by."""

    subject: Annotated[str | None, "an id, sorted by its number"]
    text: Annotated[str | None, "any text"]
    number: Annotated[int | None, "a number"]
    score: Annotated[float | None, "a fraction"]
    items: Annotated[tuple[str, ...], "a list"]


ORDER = ("subject", "text", "number", "score", "items")
TEXTS = (None, "", "a", "a\0", "a\0b", "ab", "é", "Z", "\U0001f600", "\uffff", " ", "a" * 300)
NUMBERS = (None, 0, -1, 1, 2**40, -(2**40))
SCORES = (None, 0.5, -0.5, 1e300, -1e300, 1e-300)
LISTS: Sequence[tuple[str, ...]] = ((), ("",), ("a",), ("a", "b"), ("b",), ("a", ""))


def varied(draw: Random) -> SortedRow:
    subject = draw.choice([None, f"Q{draw.randrange(10 ** draw.randrange(1, 9))}"])
    columns: list[Sequence[Any]] = [TEXTS, NUMBERS, SCORES, LISTS]
    return SortedRow(subject, *map(draw.choice, columns))


CASES: dict[str, Callable[[Random], SortedRow]] = {
    "varied": varied,
    "ids": lambda draw: SortedRow(f"Q{draw.randrange(100_000)}", "", 0, 0.5, ()),
    "few ids, the rest decides": lambda draw: SortedRow(
        draw.choice(["Q9", "Q10"]), "", draw.randrange(10**9), None, ()
    ),
    "ties": lambda draw: SortedRow(draw.choice(["Q1", "Q2", None]), "t", 1, 0.5, ("Q2",)),
    "one value": lambda _: SortedRow("Q1", "t", 1, 0.5, ("Q2",)),
    "nulls": lambda draw: SortedRow(None, None, draw.choice([None, 1]), None, ()),
}


def in_order(row: SortedRow) -> list[tuple[bool, Any]]:
    """The values of a row as Python sorts them: nulls first, and ids by their length."""
    id_length = None if row.subject is None else len(row.subject)
    values = (id_length, row.subject, row.text, row.number, row.score, row.items)
    return [(value is not None, 0 if value is None else value) for value in values]


@pytest.mark.parametrize("case_name", CASES)
def test_a_file_is_the_same_however_many_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case_name: str
) -> None:
    draw = Random(1)
    rows = [CASES[case_name](draw) for _ in range(ROW_COUNT)]
    input_file = parquet(tmp_path / "rows.parquet", SortedRow, rows, group=100)
    out_file = tmp_path / "sorted.parquet"
    written_bytes = set()
    for row_bytes, ranges_in_memory in ((1, 1), (1_000_000, 2), (1_000_000, 10_000)):
        monkeypatch.setattr("factdrift.builders.core.engine._ROW_BYTES", row_bytes)
        monkeypatch.setattr("factdrift.builders.core.engine._RANGES_IN_MEMORY", ranges_in_memory)
        with engine("duckdb", tmp_path / "scratch", memory="200MB", threads=2) as duck:
            rows_table = duck.read(input_file, SortedRow)
            assert duck.write(rows_table, out_file, SortedRow, ORDER) == ROW_COUNT
            assert (duck.spilled.rows > 0) == (row_bytes > 1)
        written_bytes.add(out_file.read_bytes())
    assert list(typed_rows(out_file, SortedRow)) == sorted(rows, key=in_order)
    assert len(written_bytes) == 1
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
def test_row_groups_end_at_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    input_file, out_file = tmp_path / "rows.parquet", tmp_path / "sorted.parquet"
    row_count = 2 * ROW_GROUP + 1
    made_rows = "'Q' || hash(i) % 90000 AS subject, '' AS text, i AS number, 0.5 AS score"
    with duckdb_queries.connect(tmp_path) as connection:
        connection.execute(
            f"COPY (SELECT {made_rows}, []::VARCHAR[] AS items FROM range({row_count}) t(i))"
            f" TO '{input_file}' (FORMAT parquet)"
        )
    written_bytes = set()
    for row_bytes in (1, 1_000_000):
        monkeypatch.setattr("factdrift.builders.core.engine._ROW_BYTES", row_bytes)
        monkeypatch.setattr("factdrift.builders.core.engine._RANGES_IN_MEMORY", 100)
        with engine("duckdb", tmp_path / "scratch", memory="200MB", threads=2) as duck:
            duck.write(duck.read(input_file, SortedRow), out_file, SortedRow, ORDER)
            assert (duck.spilled.rows > 0) == (row_bytes > 1)
        written_bytes.add(out_file.read_bytes())
    metadata = pq.read_metadata(out_file)
    group_sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert group_sizes == [ROW_GROUP, ROW_GROUP, 1]
    assert len(written_bytes) == 1


def test_an_empty_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factdrift.builders.core.engine._ROW_BYTES", 10**9)
    input_file = parquet(tmp_path / "rows.parquet", SortedRow, [varied(Random(1))])
    with engine("duckdb", tmp_path / "scratch", memory="200MB", threads=2) as duck:
        rows_table = duck.read(input_file, SortedRow)
        no_rows = rows_table.filter(rows_table.subject == "none")
        assert duck.parts > 1
        assert duck.write(no_rows, tmp_path / "sorted.parquet", SortedRow, ORDER) == 0
    assert pq.read_table(tmp_path / "sorted.parquet").num_rows == 0


@pytest.mark.parametrize("case_name", CASES)
def test_ranges_follow_one_another_and_share_no_key(tmp_path: Path, case_name: str) -> None:
    draw = Random(2)
    rows = [CASES[case_name](draw) for _ in range(ROW_COUNT)]
    folder = tmp_path / "it's [a] * folder"
    folder.mkdir()
    input_file = parquet(tmp_path / "rows.parquet", SortedRow, rows)
    with duckdb_queries.connect(tmp_path, ordered=False) as connection:
        all_rows = f"SELECT * FROM {duckdb_queries.parquet(input_file)}"
        sort_ranges.store(connection, all_rows, folder / "stored.parquet", 1_000_000)
        sort_values = ["length(subject)", *ORDER]
        ranges = sort_ranges.distribute(connection, folder / "stored.parquet", sort_values, 2_000)
    keys_of_ranges = [
        [in_order(row) for file_path in file_paths for row in typed_rows(file_path, SortedRow)]
        for file_paths in ranges
    ]
    assert sum(map(len, keys_of_ranges)) == ROW_COUNT
    for keys, next_keys in pairwise(keys_of_ranges):
        assert max(keys) < min(next_keys)
    different_rows = len(set(rows))
    assert len(ranges) > 100 if different_rows > ROW_COUNT / 2 else len(ranges) <= different_rows


SPILLED_CASES = [
    (60, 30, 3, ""),
    (2_140, 960, 3, "3.1 GB beyond --memory 1GB: 2.1 GB of tables, 1.0 GB of rows to sort; "
     "made in 3 parts"),
    (200, 0, 1, "0.2 GB beyond --memory 1GB: 0.2 GB of tables, 0.0 GB of rows to sort"),
]  # fmt: skip
"""Megabytes of tables and of rows to sort, the number of parts, and what a run says."""


@pytest.mark.parametrize(("tables", "rows", "part_count", "expected"), SPILLED_CASES)
def test_a_run_says_what_lay_on_disk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tables: int,
    rows: int,
    part_count: int,
    expected: str,
) -> None:
    monkeypatch.setattr("factdrift.builders.core.engine._DuckDB.parts", part_count)
    messages: list[str] = []
    workspace = Workspace(tmp_path, say=messages.append, memory="1GB")
    with workspace.engine() as duck:
        duck.spilled = Spilled(tables * 1_000_000, rows * 1_000_000)
    told_place = f"  {tmp_path / 'scratch'} held up to "
    assert messages == ([told_place + expected] if expected else [])
