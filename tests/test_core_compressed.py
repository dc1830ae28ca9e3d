"""The opener of compressed files: every packing, its progress, and damage told in words."""

import bz2
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from factdrift.builders.core.compressed import Compressed, pieces
from factdrift.builders.core.errors import UserError

# what cannot be packed, and then what packs very well: pieces of every length
DATA = random.Random(1).randbytes(300_000) + b"a line\n" * 50_000
PACK: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


def put(folder: Path, data: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("threads", [0, 1, 2])
@pytest.mark.parametrize("form", PACK)
def test_read_whole_with_progress(form: str, threads: int, tmp_path: Path) -> None:
    path = put(tmp_path, PACK[form](DATA) + PACK[form](b"more"))
    with Compressed(path, threads=threads) as file:
        assert file.packing == form
        read_bytes, places = b"", [0]
        while piece := file.read(100_000):
            read_bytes += piece
            places.append(file.position())
        assert read_bytes == DATA + b"more" and file.read_bytes == len(read_bytes)
        assert places == sorted(places) and file.size - 8 <= places[-1] <= file.size


@pytest.mark.parametrize("form", ["gz", "bz2", "zst"])
@pytest.mark.parametrize("damage", ["cut", "changed", "header"])
def test_damage_is_told(form: str, damage: str, tmp_path: Path) -> None:
    packed_bytes = bytearray(PACK[form](DATA))
    if damage == "cut":
        del packed_bytes[-3:]
    elif damage == "changed":
        packed_bytes[len(packed_bytes) // 2] ^= 0xFF
    else:
        packed_bytes[4:] = b"\xff" * 2000
    path = put(tmp_path, bytes(packed_bytes))
    with pytest.raises(UserError, match="cut short or damaged after") as error:
        list(pieces(path))
    assert str(error.value).startswith(f"{path}: ") and "\n  download it again" in str(error.value)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"", "the file is empty"),
        (b"\xfd7zXZ\x00", "an xz file.*\n  unpack it"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x89PNG\r", "a PNG picture, not plain, gz, bz2 or zst$"),
        (b"<html>", "a page"),
    ],
)
def test_other_files(head: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        Compressed(put(tmp_path, head), foreign={b"<": "a page"})


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        Compressed(tmp_path / "none")
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        Compressed(tmp_path)


def test_streams_within_a_file(tmp_path: Path) -> None:
    first_stream, second_stream = bz2.compress(b"first "), bz2.compress(b"second")
    path = put(tmp_path, first_stream + second_stream + b"no bz2")
    ends = len(first_stream), len(first_stream + second_stream)
    assert b"".join(pieces(path, within=(0, ends[1]))) == b"first second"
    assert b"".join(pieces(path, within=ends)) == b"second"
    with pytest.raises(UserError, match=f"damaged after byte {ends[0] + 1} of"):
        list(pieces(path, within=(ends[0], ends[1] - 9)))
    parts = pieces(put(tmp_path, bytes(3 << 19)))
    assert [len(part) for part in parts] == [1_048_576, 524_288]
