"""A SPARQL endpoint that fails in every way that real ones do: the facts stay the same."""

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from builders.errors import UserError
from builders.wikidata.finish import Mined
from builders.wikidata.sparql import mine_sparql
from builders.wikidata.sparql_client import Patience
from tests.sparql_server import How, Server, serve

AGENT = "factdrift-tests/1.0 (mailto:tests@example.org)"
HASTE = Patience(timeout=5, tries=4, first_wait=0.01, longest_wait=2.0)
PEOPLE = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An endpoint with one office that many people held, a year each."""
    path = tmp_path_factory.mktemp("sparql") / "entities.jsonl"
    office = {"id": "Q9", "type": "item", "labels": {"en": _term("mayor")}}
    lines = [json.dumps(e) for e in (office, *(_person(n) for n in range(PEOPLE)))]
    path.write_text("\n".join(lines))
    with serve(path) as running:
        yield running


@pytest.fixture(scope="module")
def expected(server: Server, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    server.reset()
    return _mine(server, tmp_path_factory.mktemp("expected")).facts.read_bytes()


def _term(text: str) -> dict[str, str]:
    return {"language": "en", "value": text}


def _person(number: int) -> dict[str, Any]:
    snak = {"snaktype": "value", "property": "P39"}
    value = {"entity-type": "item", "numeric-id": 9, "id": "Q9"}
    began = {
        "time": f"+{1800 + number}-00-00T00:00:00Z",
        "precision": 9,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
    }
    statement = {
        "id": f"Q{100 + number}$00000000-0000-4000-8000-{number:012}",
        "rank": "normal",
        "mainsnak": snak | {"datavalue": {"type": "wikibase-entityid", "value": value}},
        "qualifiers": {
            "P580": [
                {
                    "snaktype": "value",
                    "property": "P580",
                    "datavalue": {"type": "time", "value": began},
                }
            ]
        },
    }
    labels = {"en": _term(f"Mayor {number}")}
    return {
        "id": f"Q{100 + number}",
        "type": "item",
        "labels": labels,
        "claims": {"P39": [statement]},
    }


def _mine(server: Server, folder: Path, patience: Patience = HASTE, **options: Any) -> Mined:
    given: dict[str, Any] = {"relations": {"P39": False}, "user_agent": AGENT}
    given |= {"cache": folder / "cache", "page": 40, "id_page": 100, "patience": patience}
    return mine_sparql(options.pop("endpoint", server.endpoint), folder / "out", **given | options)


def test_it_asks_by_post_with_the_contact_and_never_twice(server: Server, tmp_path: Path) -> None:
    server.reset()
    first = _mine(server, tmp_path)
    assert first.counts["counts"]["facts"] == PEOPLE
    log = server.log()
    assert {entry["agent"] for entry in log} == {AGENT}
    assert {entry["form"] for entry in log} == {"application/x-www-form-urlencoded"}
    assert not any("OFFSET" in entry["query"] for entry in log)
    # day, count; ids: 100, 20, none; statements: 3 and 1 pages; entities: 4 pages
    assert len(log) == 2 + 3 + 4 + 4
    before = [path.read_bytes() for path in (first.facts, first.entities, first.summary)]
    server.reset()
    again = _mine(server, tmp_path, page=7, id_page=3)
    assert server.log() == []
    assert [path.read_bytes() for path in (again.facts, again.entities, again.summary)] == before
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {
        *(f"{t}.parquet" for t in ("facts", "entities", "gaps", "dropped")),
        "mined.json",
    }


@pytest.mark.parametrize(
    "agent",
    [None, "", "factdrift/1.0", "Mozilla/5.0 (X11; Linux)", "me @ home", "a/1 (x@y.org)\nX: y"],
)
def test_it_refuses_to_run_without_a_contact(
    server: Server, tmp_path: Path, agent: str | None
) -> None:
    server.reset()
    with pytest.raises(UserError, match="contact"):
        _mine(server, tmp_path, user_agent=agent)
    assert server.log() == []


@pytest.mark.parametrize("agent", ["a/1 (mailto:a@b.org)", "a (https://b.org/a)", "a@b.org"])
def test_a_contact_is_an_address_of_any_kind(server: Server, tmp_path: Path, agent: str) -> None:
    server.reset()
    assert _mine(server, tmp_path, user_agent=agent).facts.is_file()


@pytest.mark.parametrize(
    ("fault", "at_least"),
    [
        ({"kind": "429", "after": "1"}, 1.0),
        ({"kind": "429", "after": "in two seconds"}, 2.0),
        ({"kind": "503", "after": "1"}, 1.0),
        ({"kind": "429", "after": "99999"}, 2.0),
        ({"kind": "429"}, 0.01),
        ({"kind": "503"}, 0.01),
        ({"kind": "500", "body": "NullPointerException"}, 0.01),
        ({"kind": "502"}, 0.01),
        ({"kind": "drop"}, 0.01),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else None,
)
def test_it_waits_as_long_as_it_is_told_and_asks_again(
    server: Server,
    tmp_path: Path,
    expected: bytes,
    fault: dict[str, str],
    at_least: float,
) -> None:
    if fault.get("after") == "in two seconds":
        fault = fault | {"after": formatdate(int(time.time()) + 3, usegmt=True)}
    server.reset(fault)
    assert _mine(server, tmp_path).facts.read_bytes() == expected
    first, second, *_ = server.log()
    assert first["query"] == second["query"]
    assert at_least <= second["time"] - first["time"] <= 10


@pytest.mark.parametrize("how", ["500", "504", "429", "truncated", "trace"])
def test_pages_shrink_until_the_endpoint_can_and_grow_again(
    server: Server, tmp_path: Path, expected: bytes, how: How
) -> None:
    server.reset(limit=60, how=how)
    assert _mine(server, tmp_path).facts.read_bytes() == expected
    log = server.log()
    assert any(entry["status"] == 504 for entry in log)
    limits = [int(e["query"].rpartition("LIMIT ")[2]) for e in log if "LIMIT" in e["query"]]
    assert limits == [100, 50, 55, 60, 65]  # the last page is empty, so its size does not matter


def test_an_endpoint_that_hangs_is_asked_for_less(
    server: Server, tmp_path: Path, expected: bytes
) -> None:
    server.reset(limit=220, how="hang")
    haste = Patience(timeout=1, tries=2, first_wait=0.01)
    assert _mine(server, tmp_path, haste, page=45).facts.read_bytes() == expected
    assert sum(entry["status"] == 504 for entry in server.log()) == 1


def test_the_smallest_page_is_tried_a_few_times_only(server: Server, tmp_path: Path) -> None:
    server.reset(limit=5)
    with pytest.raises(UserError, match=r"even small pages of ids-P39 \(10 rows, asked 4 times\)"):
        _mine(server, tmp_path)


def test_what_was_fetched_before_it_gave_up_is_not_asked_for_again(
    server: Server, tmp_path: Path, expected: bytes
) -> None:
    server.reset(*[{"kind": "429"}] * 4)
    with pytest.raises(UserError, match=r"asked 4 times: HTTP 429: told to fail\n.*run it again"):
        _mine(server, tmp_path)
    assert len(server.log()) == 4
    server.reset({"kind": "drop"}, limit=30)
    with pytest.raises(UserError, match="even small pages"):
        _mine(server, tmp_path, id_page=30, page=40)
    known = {entry["query"] for entry in server.log() if entry["status"] == 200}
    assert known
    server.reset()
    assert _mine(server, tmp_path).facts.read_bytes() == expected
    assert not known & {entry["query"] for entry in server.log()}


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_it_goes_on_after_a_stop(
    server: Server, tmp_path: Path, expected: bytes, stop: signal.Signals
) -> None:
    server.reset(delay=0.1)
    code = f"""
from pathlib import Path
from builders.wikidata.sparql import mine_sparql
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
    assert not (tmp_path / "out" / "facts.parquet").exists()
    server.reset()
    assert _mine(server, tmp_path, page=10, id_page=50).facts.read_bytes() == expected
    again = {entry["query"] for entry in server.log()}
    assert again & set(asked) <= {asked[-1]}  # at most the one that was under way


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            {"kind": "400", "body": "SPARQL-QUERY: SELECT\n\njava.x.MalformedQueryException: at 7"},
            r"HTTP 400: java\.x\.MalformedQueryException: at 7$",
        ),
        ({"kind": "401"}, "HTTP 401: told to fail"),
        ({"kind": "403", "body": "Error: banned until\nmorning"}, "HTTP 403: Error: banned until$"),
        ({"kind": "404"}, "HTTP 404"),
        ({"kind": "414"}, "HTTP 414"),
        ({"kind": "200", "body": "<html>\nWelcome"}, "not answer with SPARQL JSON.*: <html>"),
    ],
)
def test_a_refusal_is_said_once_and_plainly(
    server: Server, tmp_path: Path, fault: dict[str, str], message: str
) -> None:
    server.reset(fault)
    with pytest.raises(UserError, match=message):
        _mine(server, tmp_path)
    assert len(server.log()) == 1


@pytest.mark.parametrize("endpoint", ["query.wikidata.org", "ftp://a.org/sparql", "https://", ""])
def test_an_address_is_checked(server: Server, tmp_path: Path, endpoint: str) -> None:
    with pytest.raises(UserError, match="not the address"):
        _mine(server, tmp_path, endpoint=endpoint)


def test_an_endpoint_out_of_reach_is_no_traceback(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"asked 4 times: out of reach: .*refused"):
        _mine(server, tmp_path, endpoint="http://127.0.0.1:9/sparql")


def test_credentials_are_sent_and_never_kept(server: Server, tmp_path: Path) -> None:
    server.reset()
    endpoint = server.endpoint.replace("//", "//me:hunter2@") + "?key=s3cret"
    _mine(server, tmp_path, endpoint=endpoint)
    assert {entry["login"] for entry in server.log()} == {"Basic bWU6aHVudGVyMg=="}
    for path in tmp_path.rglob("*"):
        kept = path.name.encode() + (path.read_bytes() if path.is_file() else b"")
        kept += gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else b""
        assert not any(word in kept for word in (b"hunter2", b"s3cret", b"bWU6"))
    server.reset()
    _mine(server, tmp_path)  # the same endpoint, so the same pages
    assert server.log() == []


def test_a_damaged_page_names_its_file(server: Server, tmp_path: Path) -> None:
    server.reset()
    _mine(server, tmp_path)
    path = next((tmp_path / "cache").glob("ids-P39-*"))
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(UserError, match=rf"^{path}: not a page.*\n.*remove this file"):
        _mine(server, tmp_path)
