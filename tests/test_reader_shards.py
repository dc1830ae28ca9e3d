"""Files of a dump: found, and dated by their names."""

import re
from datetime import date
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.shards import find_shards, snapshot_day
from tests.tables import names_of, table_cases


def test_find_shards(tmp_path: Path) -> None:
    for name in ("b.json.gz", "a.json", "c.jsonl.bz2", "d.ndjson.zst", "notes.txt", ".hidden"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    names = ["a.json", "b.json.gz", "c.jsonl.bz2", "d.ndjson.zst"]
    assert names_of(find_shards(tmp_path)) == names
    assert names_of(find_shards(str(tmp_path / "*.json*"))) == names[:3]
    assert names_of(find_shards([tmp_path / "b.json.gz", tmp_path])) == [
        "b.json.gz",
        *(shard_name for shard_name in names if shard_name != "b.json.gz"),
    ]
    assert find_shards(tmp_path / "notes.txt") == [tmp_path / "notes.txt"]
    odd = tmp_path / "a[1]*.json"
    odd.write_bytes(b"x")
    assert find_shards(odd) == [odd]
    for wrong_name in ("none.json", "*.parquet", "empty"):
        with pytest.raises(UserError):
            find_shards(tmp_path / wrong_name)
    with pytest.raises(UserError):
        find_shards([])


@pytest.mark.parametrize(("names", "snapshot_text", "expected"), table_cases("dump_days"))
def test_snapshot_of(names: str, snapshot_text: str, expected: str) -> None:
    paths = [Path(name) for name in names.split()]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", expected):
        assert snapshot_day(paths, snapshot_text or None) == date.fromisoformat(expected)
    else:
        with pytest.raises(UserError, match=expected):
            snapshot_day(paths, snapshot_text or None)
