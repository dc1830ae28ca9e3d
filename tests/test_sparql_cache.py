"""What a SPARQL endpoint has answered is kept, and never asked for again."""

import gzip
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from tests.sparql_server import Server
from tests.test_sparql_faults import PEOPLE, mine_mayors, serve_mayors
from tests.test_sparql_mine import AGENT


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve_mayors(tmp_path_factory.mktemp("mayors")) as running:
        yield running


@pytest.fixture(scope="module")
def expected(server: Server, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    server.reset()
    return mine_mayors(server, tmp_path_factory.mktemp("expected")).statements.read_bytes()


def test_it_asks_by_post_with_the_contact_and_never_twice(server: Server, tmp_path: Path) -> None:
    server.reset()
    first = mine_mayors(server, tmp_path)
    assert first.counts["counts"]["statements"] == PEOPLE
    log = server.log()
    assert {entry["agent"] for entry in log} == {AGENT}
    assert {entry["form"] for entry in log} == {"application/x-www-form-urlencoded"}
    assert not any("OFFSET" in entry["query"] for entry in log)
    # day, count; ids: 100, 20, none; statements: 3 and 1 pages; entities: 4 pages
    assert len(log) == 2 + 3 + 4 + 4
    before = [path.read_bytes() for path in (first.statements, first.entities, first.summary)]
    server.reset()
    again = mine_mayors(server, tmp_path, page=7, id_page=3)
    assert server.log() == []
    assert [
        path.read_bytes() for path in (again.statements, again.entities, again.summary)
    ] == before
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {
        *(f"{t}.parquet" for t in ("statements", "entities", "dropped")),
        "mined.json",
    }


def test_what_was_fetched_before_it_gave_up_is_not_asked_for_again(
    server: Server, tmp_path: Path, expected: bytes
) -> None:
    server.reset(*[{"kind": "429"}] * 4)
    with pytest.raises(
        UserError, match=r"still HTTP 429 after 4 attempts: told to fail\n.*run it again"
    ):
        mine_mayors(server, tmp_path)
    assert len(server.log()) == 4
    server.reset({"kind": "drop"}, limit=30)
    with pytest.raises(UserError, match="even small pages"):
        mine_mayors(server, tmp_path, id_page=30, page=40)
    known = {entry["query"] for entry in server.log() if entry["status"] == 200}
    assert known
    server.reset()
    assert mine_mayors(server, tmp_path).statements.read_bytes() == expected
    assert not known & {entry["query"] for entry in server.log()}


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_it_goes_on_after_a_stop(
    server: Server, tmp_path: Path, expected: bytes, stop: signal.Signals
) -> None:
    server.reset(delay=0.1)
    code = f"""
from pathlib import Path
from factdrift.builders.wikidata.sparql import mine_sparql
mine_sparql({server.endpoint!r}, Path({str(tmp_path / "out")!r}), relations={{"P39": False}},
    user_agent={AGENT!r}, cache=Path({str(tmp_path / "cache")!r}), page=10, id_page=50)
"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as run:
        while len(server.log()) < 8 and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(stop)
        said = run.communicate()[1]
    assert ("UserError: stopped\n  run it again" in said) == (stop == signal.SIGINT)
    asked = [entry["query"] for entry in server.log()]
    assert len(asked) >= 8
    assert not (tmp_path / "out" / "statements.parquet").exists()
    server.reset()
    assert mine_mayors(server, tmp_path, page=10, id_page=50).statements.read_bytes() == expected
    again = {entry["query"] for entry in server.log()}
    assert again & set(asked) <= {asked[-1]}  # at most the one that was under way


def test_credentials_are_sent_and_never_kept(server: Server, tmp_path: Path) -> None:
    server.reset()
    endpoint = server.endpoint.replace("//", "//me:hunter2@") + "?key=s3cret"
    mine_mayors(server, tmp_path, endpoint=endpoint)
    assert {entry["login"] for entry in server.log()} == {"Basic bWU6aHVudGVyMg=="}
    for path in tmp_path.rglob("*"):
        kept = path.name.encode() + (path.read_bytes() if path.is_file() else b"")
        kept += gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else b""
        assert not any(word in kept for word in (b"hunter2", b"s3cret", b"bWU6"))
    server.reset()
    mine_mayors(server, tmp_path)  # the same endpoint, so the same pages
    assert server.log() == []


def test_a_damaged_page_names_its_file(server: Server, tmp_path: Path) -> None:
    server.reset()
    mine_mayors(server, tmp_path)
    path = next((tmp_path / "cache").glob("ids-P39-*"))
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(UserError, match=rf"^{path}: not a page.*\n.*remove this file"):
        mine_mayors(server, tmp_path)
