"""Files of a dump: found, and dated by their names."""

from datetime import date
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.shards import find_shards, snapshot_of


def test_find_shards(tmp_path: Path) -> None:
    for name in ("b.json.gz", "a.json", "c.jsonl.bz2", "d.ndjson.zst", "notes.txt", ".hidden"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    names = ["a.json", "b.json.gz", "c.jsonl.bz2", "d.ndjson.zst"]
    assert [p.name for p in find_shards(tmp_path)] == names
    assert [p.name for p in find_shards(str(tmp_path / "*.json*"))] == names[:3]
    assert [p.name for p in find_shards([tmp_path / "b.json.gz", tmp_path])] == [
        "b.json.gz",
        *(n for n in names if n != "b.json.gz"),
    ]
    assert find_shards(tmp_path / "notes.txt") == [tmp_path / "notes.txt"]
    odd = tmp_path / "a[1]*.json"
    odd.write_bytes(b"x")
    assert find_shards(odd) == [odd]
    for wrong in ("none.json", "*.parquet", "empty"):
        with pytest.raises(UserError):
            find_shards(tmp_path / wrong)
    with pytest.raises(UserError):
        find_shards([])


@pytest.mark.parametrize(
    ("names", "given", "expected"),
    [
        ("wikidata-20261109-all.json.gz", None, "2026-11-09"),
        ("20261109.json.gz", None, "2026-11-09"),
        ("20261109-1.json 20261109-2.json", None, "2026-11-09"),
        ("20261109-1.json part-2.json", None, "2026-11-09"),
        ("latest-all.json.gz", "2026-11-09", "2026-11-09"),
        ("20261109.json.gz", "2026-11-01", "2026-11-01"),
        ("20261109.json 20261110.json", "2026-11-09", "2026-11-09"),
        ("latest-all.json.gz", None, "does not say the day"),
        ("wikidata-2026110900.json", None, "does not say the day"),
        ("20261109.json 20261110.json", None, "files of different days"),
        ("20261309.json", None, "20261309 in its name is not a day"),
        ("20260230.json", None, "is not a day"),
        ("20261109.json", "2026-02-30", "not a snapshot day: '2026-02-30'"),
        ("20261109.json", "yesterday", "not a snapshot day: 'yesterday'"),
        ("20261109.json", "9998-01-01", "day 9998-01-01 is after today"),
        ("99980101.json", None, "day 9998-01-01 is after today"),
    ],
)
def test_snapshot_of(names: str, given: str | None, expected: str) -> None:
    paths = [Path(n) for n in names.split()]
    if expected[:4].isdigit() and "not" not in expected:
        assert snapshot_of(paths, given) == date.fromisoformat(expected)
    else:
        with pytest.raises(UserError, match=expected):
            snapshot_of(paths, given)
