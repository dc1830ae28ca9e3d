"""Files of a dump: found, dated, told by their first bytes, read whole or refused."""

import bz2
import gzip
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
import zstandard

from factdrift.builders.core.errors import UserError
from factdrift.builders.wikidata.shards import find_shards, open_shard, snapshot_of

DATA = b"".join(b'{"id":"Q%d","type":"item"}\n' % n for n in range(20_000))


def read(path: Path, threads: int = 0) -> bytes:
    buffer = memoryview(bytearray(100_000))
    found = b""
    with open_shard(path, threads) as shard:
        while n := shard.readinto(buffer, 0, len(buffer)):
            found += buffer[:n]
        assert shard.position() >= shard.size - 8  # the end of a bz2 file is counted in bits
    return found


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": zstandard.compress,
}


@pytest.mark.parametrize("threads", [0, 1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_told_by_its_bytes(form: str, threads: int, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(FORMS[form](DATA))
    assert read(path, threads) == DATA
    path.write_bytes(FORMS[form](DATA) + FORMS[form](DATA))
    assert read(path, threads) == DATA + DATA


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("form", ["gz", "bz2", "zst"])
def test_a_file_that_is_cut_short_is_refused(form: str, threads: int, tmp_path: Path) -> None:
    whole = FORMS[form](random.Random(1).randbytes(1_000_000) + DATA)
    path = tmp_path / f"dump.json.{form}"
    for cut in (12, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(UserError, match=r"short or damaged after .* bytes of its text") as e:
            read(path, threads)
        assert str(path) in str(e.value)
        assert "a rerun goes on" in str(e.value)


@pytest.mark.parametrize("form", ["gz", "bz2", "zst"])
def test_a_file_that_is_damaged_is_refused(form: str, tmp_path: Path) -> None:
    data = bytearray(FORMS[form](random.Random(1).randbytes(1_000_000)))
    data[500_000] ^= 0xFF
    path = tmp_path / "dump"
    path.write_bytes(data)
    if form == "zst":  # it has no checksum of the content here: damage may go unseen
        return
    with pytest.raises(UserError, match="cut short or damaged"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n....", "a PNG picture"),
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"PK\x03\x04", "a zip archive"),
        (b"<!DOCTYPE html><html>", "XML or HTML"),
        (b"<mediawiki>", "XML or HTML"),
        (b"\xfd7zXZ\x00", "an xz file"),
    ],
)
def test_other_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        open_shard(path, 0)


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
