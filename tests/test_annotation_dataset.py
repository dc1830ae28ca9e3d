"""The rows that a user names: releases, Parquet files, JSON lines, and what is wrong with them."""

import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.annotation.dataset import open_dataset, row_id_of, to_json_value
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hashing import file_sha256
from tests.tables import read_table


def test_lines(tmp_path: Path) -> None:
    file_path = tmp_path / "rows.jsonl"
    file_path.write_bytes(b'\xef\xbb\xbf{"id": "1"}\r\n\n  \n{"id": "2", "a": "\xc3\xa9"}')
    dataset = open_dataset(str(file_path), tmp_path)
    assert (dataset.name, dataset.config, dataset.splits, dataset.columns) == (
        "rows.jsonl",
        None,
        (),
        None,
    )
    assert dataset.sha256 == file_sha256(file_path)
    assert list(dataset.rows()) == [(0, {"id": "1"}), (1, {"id": "2", "a": "é"})]
    assert list(dataset.rows(None, {1})) == [(1, {"id": "2", "a": "é"})]
    assert dataset.sibling("pages") is None


def test_a_parquet_file(tmp_path: Path) -> None:
    file_path = tmp_path / "ROWS.PARQUET"
    pq.write_table(pa.table({"id": list(map(str, range(3000))), "a": range(3000)}), file_path)
    dataset = open_dataset(str(file_path), tmp_path)
    assert dataset.columns == ("id", "a")
    assert [place for place, _ in dataset.rows()] == list(range(3000))
    assert [row for _, row in dataset.rows(["a", "not there"])][2999] == {"a": 2999}
    chosen_rows = {0: "0", 1023: "1023", 1024: "1024", 2999: "2999"}
    assert dict(dataset.rows(["id"], chosen_rows)) == {
        row_number: {"id": text} for row_number, text in chosen_rows.items()
    }


CASES = read_table("annotation_dataset")


@pytest.mark.parametrize(("name", "content", "options", "expected_message"), CASES["files"])
def test_files_that_are_none(
    name: str, content: str, options: dict[str, Any], expected_message: str, tmp_path: Path
) -> None:
    file_path = tmp_path / name
    file_path.write_bytes(content.encode("latin-1"))
    with pytest.raises(UserError, match=f"(?s){expected_message}"):
        list(open_dataset(str(file_path), tmp_path, **options).rows())


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    file_path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [str(row_number) * 50 for row_number in range(5000)]}), file_path)
    file_bytes = bytearray(file_path.read_bytes())
    file_bytes[1000:3000] = bytes(2000)
    file_path.write_bytes(file_bytes)
    with pytest.raises(UserError, match=r"a\.parquet: damaged"):
        list(open_dataset(str(file_path), tmp_path).rows())


@pytest.mark.parametrize(("row", "same"), CASES["names"])
def test_names_of_rows(row: dict[str, Any], same: str | None) -> None:
    name = row_id_of(row)
    assert name == (same or name)
    if same is None:
        assert len(name) == 16
        assert name == row_id_of(dict(reversed(row.items())))
        assert name != row_id_of(row | {"b": 1})


def test_values_as_json() -> None:
    row = {
        "day": date(2020, 5, 6),
        "time": datetime(2020, 5, 6, 1, 2, 3, tzinfo=UTC),
        "price": Decimal("1.50"),
        "no": float("inf"),
        "deep": ({1: [True, None, 2.5]},),
    }
    assert to_json_value(row) == {
        "day": "2020-05-06",
        "time": "2020-05-06T01:02:03Z",
        "price": "1.50",
        "no": None,
        "deep": [{"1": [True, None, 2.5]}],
    }


def test_releases(sample: Path, tmp_path: Path) -> None:
    releases = sample / "releases"
    newest = open_dataset("streamingqa", releases)
    assert newest.name == "streamingqa 1.0.0"
    folder = releases / "streamingqa" / "1.0.0"
    assert open_dataset(str(folder), tmp_path) == newest
    assert newest.sha256 == file_sha256(folder / "manifest.json")
    dev = open_dataset("timeqa", releases, config="hard", split="dev")
    assert (dev.config, dev.splits) == ("hard", ("dev",))
    whole_config = open_dataset("timeqa", releases, config="hard")
    assert whole_config.splits == ("train", "dev", "test")
    assert {row["split"] for _, row in dev.rows(["split"])} == {"dev"}
    assert len(list(whole_config.rows(["id"]))) > len(list(dev.rows(["id"])))
    shutil.copytree(releases / "timeqa" / "1.0.0", tmp_path / "timeqa" / "1.0.0")
    shutil.copytree(releases / "timeqa" / "1.0.0", tmp_path / "timeqa" / "1.0.10")
    shutil.copytree(releases / "timeqa" / "1.0.0", tmp_path / "timeqa" / "1.0.9")
    dataset_files = open_dataset("timeqa", tmp_path).files
    for file_path in dataset_files:
        assert "1.0.10" in file_path.parts


@pytest.mark.parametrize(("name", "options", "expected_message"), CASES["releases"])
def test_releases_that_are_not_there(
    name: str, options: dict[str, str], expected_message: str, sample: Path
) -> None:
    with pytest.raises(UserError, match=f"(?s){expected_message}"):
        open_dataset(name, sample / "releases", **options)
