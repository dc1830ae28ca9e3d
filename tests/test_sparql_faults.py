"""A SPARQL endpoint that fails as real ones do: the facts stay the same, no answer is lost."""

import gzip
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.wikidata.finish import TABLES, MinedTables
from factdrift.builders.wikidata.sparql import mine_sparql
from tests.conftest import checksums, start_process
from tests.dumps import item, lines, statement
from tests.sparql_server import How, Server, serve
from tests.tables import case_lists, column_of
from tests.test_sparql_mine import AGENT

HASTE = RetryPolicy(timeout=5, attempts=4, first_wait=0.01, longest_wait=2.0)
# three pages of 40 statements, two of 100 ids
PEOPLE = 120
CASES = case_lists("sparql_faults")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An endpoint with one office that many people held, a year each."""
    path = tmp_path_factory.mktemp("mayors") / "entities.jsonl"
    people = [
        item(
            f"Q{100 + mayor_number}",
            f"Mayor {mayor_number}",
            {"P39": [statement("Q9", f"{1800 + mayor_number}")]},
        )
        for mayor_number in range(PEOPLE)
    ]
    path.write_bytes(b"\n".join(lines([item("Q9", "mayor"), *people])))
    with serve(path) as running:
        yield running


@pytest.fixture(scope="module")
def expected(server: Server, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    server.reset()
    return mine_mayors(server, tmp_path_factory.mktemp("expected")).statements.read_bytes()


def mine_mayors(
    server: Server, folder: Path, policy: RetryPolicy = HASTE, **options: Any
) -> MinedTables:
    given_settings: dict[str, Any] = {"relations": {"P39": False}, "user_agent": AGENT}
    given_settings |= {"cache": folder / "cache", "page": 40, "id_page": 100, "policy": policy}
    return mine_sparql(
        options.pop("endpoint", server.endpoint), folder / "out", **given_settings | options
    )


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "at_least"), CASES["waits"])
def test_it_waits_as_long_as_it_is_told_and_asks_again(
    server: Server, tmp_path: Path, expected: bytes, fault: dict[str, str], at_least: float
) -> None:
    server.reset(fault)
    assert mine_mayors(server, tmp_path).statements.read_bytes() == expected
    first, second, *_ = server.log
    assert first["query"] == second["query"]
    assert at_least <= second["time"] - first["time"] <= 10


@pytest.mark.slow
@pytest.mark.parametrize("how", ["500", "503", "504", "429", "truncated", "trace"])
def test_pages_shrink_until_the_endpoint_can_and_grow_again(
    server: Server, tmp_path: Path, expected: bytes, how: How
) -> None:
    server.reset(limit=60, how=how)
    assert mine_mayors(server, tmp_path).statements.read_bytes() == expected
    log = server.log
    assert any(entry["status"] == 504 for entry in log)
    limits = [
        int(log_entry["query"].rpartition("LIMIT ")[2])
        for log_entry in log
        if "LIMIT" in log_entry["query"]
    ]
    assert limits == [100, 50, 55, 60, 65]  # the last page is empty, so its size does not matter


def test_an_endpoint_that_hangs_is_asked_for_less(
    server: Server, tmp_path: Path, expected: bytes
) -> None:
    server.reset(limit=220, how="hang")
    haste = RetryPolicy(timeout=1, attempts=2, first_wait=0.01)
    assert mine_mayors(server, tmp_path, haste, page=45).statements.read_bytes() == expected
    assert sum(entry["status"] == 504 for entry in server.log) == 1


@pytest.mark.parametrize(
    ("faults", "limit", "message"),
    [
        (0, 5, r"still unable to answer even small pages of ids-P39 \(10 rows\) after 4 attempts"),
        (4, None, r"still HTTP 429 after 4 attempts: told to fail\n.*run it again"),
    ],
)
def test_it_gives_up_after_a_few_attempts(
    server: Server, tmp_path: Path, faults: int, limit: int | None, message: str
) -> None:
    server.reset(*[{"kind": "429"}] * faults, limit=limit)
    with pytest.raises(UserError, match=message):
        mine_mayors(server, tmp_path)


@pytest.mark.parametrize(("fault", "message"), CASES["refusals"])
def test_a_refusal_is_said_once_and_plainly(
    server: Server, tmp_path: Path, fault: dict[str, str], message: str
) -> None:
    server.reset(fault)
    with pytest.raises(UserError, match=message):
        mine_mayors(server, tmp_path)
    assert len(server.log) == 1


@pytest.mark.parametrize(("options", "message"), CASES["mistakes"])
def test_mistakes_in_what_is_given(
    server: Server, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    server.reset()
    with pytest.raises(UserError, match=message):
        mine_mayors(server, tmp_path, **options)
    assert server.log == []


@pytest.mark.parametrize(
    ("passed", "message"), [(2, "gave 0 of 120 in ids-P39"), (4, "gave 0 of 40 in statements-P39")]
)
def test_an_answer_that_is_short_is_not_believed(
    server: Server, tmp_path: Path, expected: bytes, passed: int, message: str
) -> None:
    """Stores that cut answers short without a word exist (Virtuoso); so do odd orders of texts."""
    nothing = {"kind": "200", "body": '{"head": {}, "results": {"bindings": []}}'}
    server.reset(*[{"kind": "pass"}] * passed, nothing)
    with pytest.raises(UserError, match=message):
        mine_mayors(server, tmp_path, id_page=200)
    assert mine_mayors(server, tmp_path, id_page=200).statements.read_bytes() == expected


# --- What was answered is kept, and never asked for again -----------------------------------------


def test_it_asks_by_post_with_the_contact_and_never_twice(server: Server, tmp_path: Path) -> None:
    server.reset()
    first = mine_mayors(server, tmp_path)
    assert first.counts["counts"]["statements"] == PEOPLE
    log = server.log
    assert set(column_of(log, "agent")) == {AGENT}
    assert set(column_of(log, "form")) == {"application/x-www-form-urlencoded"}
    for entry in log:
        assert "OFFSET" not in entry["query"]
    # day, count; ids: 100, 20, none; statements: 3 and 1 pages; entities: 4 pages
    assert len(log) == 2 + 3 + 4 + 4
    sums_before = checksums(tmp_path / "out")
    server.reset()
    mine_mayors(server, tmp_path, page=7, id_page=3)
    assert server.log == []
    assert checksums(tmp_path / "out") == sums_before
    assert sums_before.keys() == {*TABLES}


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
    with start_process(sys.executable, "-c", code) as run:
        while len(server.log) < 8 and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(stop)
        printed_text = run.communicate()[1]
    assert ("UserError: stopped\n  run it again" in printed_text) == (stop == signal.SIGINT)
    queries = column_of(server.log, "query")
    assert len(queries) >= 8
    assert not (tmp_path / "out" / "statements.parquet").exists()
    server.reset()
    assert mine_mayors(server, tmp_path, page=10, id_page=50).statements.read_bytes() == expected
    later_queries = set(column_of(server.log, "query"))
    assert later_queries & set(queries) <= {queries[-1]}  # at most the one that was under way


def test_credentials_are_sent_and_never_kept(server: Server, tmp_path: Path) -> None:
    server.reset()
    endpoint = server.endpoint.replace("//", "//me:hunter2@") + "?key=s3cret"
    mine_mayors(server, tmp_path, endpoint=endpoint)
    assert set(column_of(server.log, "login")) == {"Basic bWU6aHVudGVyMg=="}
    for path in tmp_path.rglob("*"):
        file_bytes = path.name.encode() + (path.read_bytes() if path.is_file() else b"")
        file_bytes += gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else b""
        for word in (b"hunter2", b"s3cret", b"bWU6"):
            assert word not in file_bytes
    server.reset()
    mine_mayors(server, tmp_path)  # the same endpoint, so the same pages
    assert server.log == []


def test_a_damaged_page_names_its_file(server: Server, tmp_path: Path) -> None:
    server.reset()
    mine_mayors(server, tmp_path)
    path = next((tmp_path / "cache").glob("ids-P39-*"))
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(UserError, match=rf"^{path}: not a page.*\n.*remove this file"):
        mine_mayors(server, tmp_path)
