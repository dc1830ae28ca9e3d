"""Dumps that are read from their address as they come, and of which no copy is kept."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from factdrift.builders.core import streams
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.core.remote import Checksum
from factdrift.builders.core.streams import RemoteFile, RemoteStream, remote_file
from factdrift.builders.wikidata.finish import TABLES
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.reader import Tuning
from tests import dumps
from tests.conftest import run_cli
from tests.dump_server import DumpServer, serve_dumps

QUICK = RetryPolicy(timeout=5.0, attempts=3, first_wait=0.01, longest_wait=0.05)
SMALL = Tuning(block=2000, blocks=1)
WORLD = dumps.array(dumps.world(200))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DumpServer]:
    monkeypatch.setattr(RemoteStream.__init__, "__defaults__", (QUICK, lambda _: None))
    with serve_dumps(monkeypatch) as dump_server:
        yield dump_server


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of the same dump on the disk."""
    folder = tmp_path_factory.mktemp("dump")
    file = dumps.compressed(WORLD, folder / "wikidata-20261109-all.json.gz")
    mine(file, folder / "mined")
    return tables(folder / "mined")


def tables(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in TABLES}


def served_file(server: DumpServer, data: bytes, end: str = "") -> RemoteFile:
    address = server.served.url + server.wikidata("20261109", data, end=end)
    return remote_file(address, None, QUICK)


@pytest.mark.slow
def test_the_command_keeps_no_copy(server: DumpServer, tmp_path: Path) -> None:
    file = dumps.compressed(WORLD, tmp_path / "wikidata-20261109-all.json.gz")
    run_cli("mine", file, "--out", tmp_path / "file")
    path = server.wikidata("20261109", gzip.compress(WORLD))
    server.served.faults[path] = ["ok", "cut", 503, "cut"]
    out = tmp_path / "stream"
    ended = run_cli("mine", "latest", "--stream", "--out", out)
    assert "statements of 2026-11-09" in ended.stderr
    assert tables(out) == tables(tmp_path / "file")
    assert not [*out.rglob("*.gz"), *out.rglob("*.part")]
    assert [line for line in server.served.asked if "bytes=" in line]  # it went on


@pytest.mark.parametrize("form", ["json", "json.zst"])
def test_other_packings(
    server: DumpServer, expected: dict[str, bytes], tmp_path: Path, form: str
) -> None:
    data = dumps.compressed(WORLD, tmp_path / f"x.{form}").read_bytes()
    mine([served_file(server, data, f"all.{form}")], tmp_path / "out")
    assert tables(tmp_path / "out") == expected


def test_a_stopped_run_goes_on(
    server: DumpServer, expected: dict[str, bytes], tmp_path: Path
) -> None:
    """Also with the file itself, once somebody has fetched it."""
    streamed_file = served_file(server, WORLD, "all.json")
    path = streamed_file.address.removeprefix(server.served.url)
    server.served.faults[path] = ["cut", 404]
    with pytest.raises(UserError, match="no such file"):
        mine([streamed_file], tmp_path, tuning=SMALL)
    spoken: list[str] = []
    file = dumps.compressed(WORLD, tmp_path / streamed_file.name)
    mine(file, tmp_path, tuning=SMALL, say=spoken.append)
    assert spoken[0].startswith("going on: ")
    assert tables(tmp_path) == expected


def test_a_stream_that_is_another_file(server: DumpServer, tmp_path: Path) -> None:
    data = gzip.compress(WORLD)
    streamed_file = served_file(server, data)
    wrong = RemoteFile(
        streamed_file.address, len(data), streamed_file.version, Checksum("sha1", "0" * 40)
    )
    with pytest.raises(UserError, match=r"has the sha1 [0-9a-f]{40}, and its publisher says 000"):
        mine([wrong], tmp_path, tuning=SMALL)
    assert not list(tmp_path.rglob("parts-*/*"))  # nothing of it is gone on with
    server.served.files[streamed_file.address.removeprefix(server.served.url)] = data[::-1]
    with pytest.raises(UserError, match="it changed while it was read"):
        mine([streamed_file], tmp_path)


def test_what_a_stream_refuses(server: DumpServer, tmp_path: Path) -> None:
    def refused(*words: object) -> str:
        return run_cli("mine", *words, "--out", tmp_path, ok=False).stderr

    assert "reads from addresses" in refused("dump.json.gz", "--stream")
    assert "--stream is for a dump" in refused("--endpoint", "http://x", "--stream")
    assert "on the disk" in refused("latest", "--stream", "--engine", "spark")
    server.wikidata("20261116", b"BZh91AY&SY", end="all.json.bz2")
    assert "bz2 is not read as it comes" in refused("2026-11-16", "--stream")
    path = server.wikidata("20261123", b"[{}]" * 1000, end="all.json")
    address = server.served.url + path
    server.served.faults[path] = ["more"]
    assert "does not say how large" in refused(address, "--stream")
    unversioned = RemoteFile(address, 4000, None, None)
    server.served.faults[path] = ["bare", "bare"]
    with streams.RemoteStream(unversioned, QUICK, lambda _: None) as stream:
        assert stream.read(10) == b"[{}][{}][{"
        assert stream.tell() == 10
        assert stream.seek(0) == 0
        assert len(stream.read()) == 4000 and stream.read(1) == b""
