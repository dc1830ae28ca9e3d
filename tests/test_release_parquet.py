"""The Parquet writer: declared schema, row groups, filters, what a builder may get wrong."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.dataset import FromParquet, Scalar
from factdrift.builders.core.schema import arrow_schema, batches
from factdrift.builders.release import parquet
from factdrift.builders.release.parquet import read_source, type_name, write_split
from factdrift.builders.rows import Cloze
from tests.release_sample import cloze, from_rows


def test_schema_and_descriptions(tmp_path: Path) -> None:
    parquet_path = tmp_path / "a.parquet"
    assert write_split(parquet_path, Cloze, from_rows(Cloze, [cloze(1)])) == 1
    schema = pq.read_schema(parquet_path)
    assert schema.equals(arrow_schema(Cloze))
    assert schema.field("period_first").metadata[b"description"] == b"first day of the period"
    group = pq.ParquetFile(parquet_path).metadata.row_group(0).column(0)
    assert (group.compression, group.has_column_index, group.has_offset_index) == (
        "ZSTD",
        True,
        True,
    )


def test_row_groups_are_fixed(tmp_path: Path) -> None:
    cloze_rows = [cloze(row_number) for row_number in range(25)]
    seen_groups = set()
    for batch_size in (1, 3, 7, 25):
        parquet_path = tmp_path / f"{batch_size}.parquet"
        write_split(parquet_path, Cloze, from_rows(Cloze, cloze_rows, batch_size), group_rows=10)
        file_metadata = pq.ParquetFile(parquet_path).metadata
        assert [
            file_metadata.row_group(group_number).num_rows
            for group_number in range(file_metadata.num_row_groups)
        ] == [10, 10, 5]
        seen_groups.add(parquet_path.read_bytes())
    assert len(seen_groups) == 1


def test_filtered_in_order(tmp_path: Path) -> None:
    """A sorted intermediate file with columns of its own; looser types than the row's."""
    parquet_path = tmp_path / "all.parquet"
    cloze_rows = [
        cloze(row_number, "updated" if row_number % 3 else "new") for row_number in (5, 1, 4, 2, 3)
    ]
    parquet_table = pa.Table.from_batches(batches(Cloze, cloze_rows))
    loose_schema = pa.schema(
        [pa.field(schema_field.name, schema_field.type) for schema_field in parquet_table.schema]
    )
    extra = pa.array([None, 1, 1, None, 1])
    pq.write_table(
        parquet_table.cast(loose_schema).append_column("part", extra),
        parquet_path,
        row_group_size=2,
    )
    cases: list[tuple[dict[str, Scalar], list[str]]] = [
        ({}, ["Q5", "Q1", "Q4", "Q2", "Q3"]),
        ({"split": "updated"}, ["Q5", "Q1", "Q4", "Q2"]),
        ({"split": "updated", "part": 1}, ["Q1", "Q4"]),
        ({"part": None}, ["Q5", "Q2"]),
        ({"split": "deleted"}, []),
    ]
    for where, ids in cases:
        split_path = tmp_path / "out.parquet"
        assert write_split(split_path, Cloze, FromParquet(parquet_path, where)) == len(ids)
        assert pq.read_table(split_path)["subject"].to_pylist() == ids


def test_null_where_none_may_be(tmp_path: Path) -> None:
    parquet_table = pa.Table.from_batches(batches(Cloze, [cloze(1)]))
    null_place = parquet_table.schema.get_field_index("answers")
    null_part = pa.struct(
        [("id", pa.string()), ("label", pa.string()), ("aliases", pa.list_(pa.string()))]
    )
    column_values: list[Any] = [
        [{"id": None, "label": "x", "aliases": []}],
        [{"id": "Q1", "label": "x", "aliases": None}],
        [{"id": "Q1", "label": "x", "aliases": [None]}],
        [None],
        None,
    ]
    for value in column_values:
        bad_rows = parquet_table.set_column(
            null_place, "answers", pa.array([value], pa.list_(null_part))
        )
        with pytest.raises(ValueError, match=r"a\.parquet: answers.*: .*null"):
            write_split(tmp_path / "a.parquet", Cloze, bad_rows.to_batches)


def test_a_source_without_rows_a_column_or_an_end(tmp_path: Path) -> None:
    parquet_path = tmp_path / "a.parquet"
    assert write_split(parquet_path, Cloze, from_rows(Cloze, [])) == 0
    assert pq.read_table(parquet_path).schema.equals(arrow_schema(Cloze))
    parquet_table = pa.Table.from_batches(batches(Cloze, [cloze(1)])).drop_columns(
        ["views", "split"]
    )
    with pytest.raises(ValueError, match="without split, views"):
        write_split(parquet_path, Cloze, parquet_table.to_batches)
    row_source = from_rows(Cloze, [cloze(1), replace(cloze(2), added=("Q1",))])
    assert (
        [row_batch.num_rows for row_batch in read_source(row_source)]
        == [row_batch.num_rows for row_batch in read_source(row_source)]
        == [2]
    )
    names = {type_name(field.type) for field in arrow_schema(Cloze)}
    answers = "list<struct<id: string, label: string, aliases: list<string>>>"
    assert names >= {"string", "date", "list<int64>", answers}


@pytest.mark.parametrize(
    "where", [{}, {"split": "new"}, {"split": None}, {"day": date(2021, 1, 2)}]
)
def test_a_small_file_gives_the_rows_of_a_large_one(
    where: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read once for all splits, and a large one once for each; nulls equal nothing."""
    days = [date(2021, 1, 1 + number % 3) if number % 4 else None for number in range(50)]
    splits = [("new", "updated", None)[number % 3] for number in range(50)]
    table = pa.table({"split": splits, "day": days, "number": list(range(50))})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    row_source = FromParquet(tmp_path / "a.parquet", where)
    small_rows = pa.Table.from_batches(read_source(row_source, 8), schema=table.schema)
    monkeypatch.setattr(parquet, "_SMALL_FILE", 0)
    assert small_rows == pa.Table.from_batches(read_source(row_source, 8), schema=table.schema)
    assert small_rows.num_rows == (50 if not where else table.filter(mask(table, where)).num_rows)
    pq.write_table(table.slice(0, 9), tmp_path / "a.parquet")
    monkeypatch.undo()
    assert pa.Table.from_batches(read_source(FromParquet(row_source.path))).num_rows == 9


def mask(table: pa.Table, where: Mapping[str, Any]) -> list[bool]:
    """Which rows a condition names, by Python."""
    ((name, value),) = where.items()
    return [cell == value for cell in table.column(name).to_pylist()]
