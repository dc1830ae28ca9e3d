"""Whole relations in one answer: the same tables, byte for byte, as in pages of any size."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.wikidata.finish import TABLES, read_summary
from factdrift.builders.wikidata.sparql import ENDPOINTS, choose_road
from factdrift.builders.wikidata.sparql_client import SparqlClient, SparqlTerm
from factdrift.builders.wikidata.sparql_whole import WholeAnswers, read_term
from tests.conftest import checksums, run_cli, start_process
from tests.dumps import item, lines, rows, statement
from tests.sparql_server import TSV, How, Server, serve
from tests.tables import column_of
from tests.test_sparql_faults import HASTE
from tests.test_sparql_mine import AGENT, entities, mine_endpoint

QLEVER_TRAILER = "\n!!!!>># An error has occurred while exporting the query result.\nout of time\n"
"""What QLever adds to an answer that it had begun when time ran out."""


RECIPE_OF_CLASSES = """
dataset: classes
version: auto
title: Classes
summary: Classes.
licence: CC0-1.0
inputs: {dump: {licence: CC0-1.0}}
build: {builder: dynamic-templama, relations: [P279], window: {latest: 1}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Every form of a statement, and mayors of whom one has two offices."""
    path = tmp_path_factory.mktemp("whole") / "entities.jsonl"
    mayors = [
        item(
            f"Q{5000 + mayor_number}",
            f"Mayor {mayor_number}",
            {"P6": [statement("Q1", f"{1800 + mayor_number}"), statement("Q8")]},
        )
        for mayor_number in range(30)
    ]
    path.write_bytes(b"\n".join(lines([*entities(), *mayors])))
    with serve(path) as running:
        yield running


def mine_whole(server: Server, folder: Path, **options: Any) -> dict[str, str]:
    """Mine two relations as a whole, and return the checksums of the tables."""
    relations = options.pop("relations", {"P39": True, "P6": False})
    given_settings = {"road": "whole", "policy": HASTE, "cache": folder / "answers"}
    mine_endpoint(server, folder / "out", relations, **given_settings | options)
    return checksums(folder / "out")


@pytest.fixture(scope="module")
def expected(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The checksums of the tables that careful pages give."""
    server.reset()
    return mine_whole(server, tmp_path_factory.mktemp("pages"), road="pages", page=7, id_page=11)


def test_a_relation_is_one_request(
    server: Server, tmp_path: Path, expected: dict[str, str]
) -> None:
    server.reset()
    told: list[str] = []
    assert mine_whole(server, tmp_path, minutes=2, say=told.append) == expected
    assert "(whole): 9" in told[0]
    assert (
        "2 more requests for them, and about 3 for what they name; no request after 2 minutes"
        in told[0]
    )
    assert told[1] == "  7 requests were made"
    assert expected.keys() == {*TABLES}
    # the day, two counts, two relations, what they name, and what that redirects to
    assert len(server.log) == 1 + 2 + 2 + 2
    assert column_of(server.log, "accept").count(TSV) == 2
    server.reset()
    assert mine_whole(server, tmp_path) == expected
    assert server.log == []


def ask_whole(server: Server, folder: Path, policy: RetryPolicy = HASTE) -> dict[str, int]:
    """Ask for the 60 statements of the mayors; the number of rows about each."""
    client = SparqlClient(server.endpoint, AGENT, policy)
    answers = WholeAnswers(client, folder / "answers", policy, folder / "spill", "200MB")
    counts: Counter[str] = Counter()
    for chunk in answers.chunks("P6", 60):
        counts.update(row["statement"].value for row in chunk.rows)
        assert chunk.subjects.keys() >= {row["statement"].value for row in chunk.rows}
    return dict(counts)


def ask_twice(server: Server, folder: Path, policy: RetryPolicy = HASTE) -> None:
    """Check that all of each statement is there, and that the second time nothing is asked."""
    row_counts = ask_whole(server, folder, policy)
    # rank and object, and where it is dated the start, as a simple and as a full value
    assert Counter(row_counts.values()) == {2: 30, 4: 30}
    requests_before = len(server.log)
    assert ask_whole(server, folder) == row_counts
    assert len(server.log) == requests_before


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"kind": "504"}, marks=pytest.mark.slow),
        {"kind": "429", "body": "Operation timed out"},
        pytest.param({"kind": "cut"}, marks=pytest.mark.slow),
        {"kind": "cut", "body": QLEVER_TRAILER},
    ],
    ids=["out of time", "qlever's 429", "cut", "trailer"],
)
def test_what_is_too_large_is_asked_for_in_ten_parts(
    server: Server, tmp_path: Path, fault: dict[str, str]
) -> None:
    server.reset(fault)
    ask_twice(server, tmp_path)
    assert len(server.log) == 1 + 10


@pytest.mark.slow
@pytest.mark.parametrize("how", ["truncated", "503", "trace", "hang"])
def test_parts_fit_where_whole_answers_do_not(server: Server, tmp_path: Path, how: How) -> None:
    server.reset(limit=140, how=how)
    haste = RetryPolicy(timeout=1, attempts=2, first_wait=0.01) if how == "hang" else HASTE
    ask_twice(server, tmp_path, haste)
    assert column_of(server.log, "status") == [504] + [200] * 10


@pytest.mark.parametrize("fault", [{"kind": "429", "after": "0"}, {"kind": "drop"}])
def test_an_endpoint_that_is_busy_is_asked_again(
    server: Server, tmp_path: Path, fault: dict[str, str]
) -> None:
    server.reset(fault)
    ask_twice(server, tmp_path)
    assert column_of(server.log, "query") == [server.log[0]["query"]] * 2


def test_an_answer_that_is_short_is_not_believed(server: Server, tmp_path: Path) -> None:
    heads = "?statement\t?predicate\t?value\t?precision\t?calendar\n"
    server.reset({"kind": "200", "body": heads})
    with pytest.raises(UserError, match=r"gave 0 of 60 statements of P6\n.*--road pages"):
        ask_whole(server, tmp_path)
    ask_twice(server, tmp_path)


def test_a_web_page_is_no_answer(server: Server, tmp_path: Path) -> None:
    server.reset({"kind": "200", "body": "<html>\nwelcome\n"})
    with pytest.raises(UserError, match="does not answer with tab-separated values"):
        ask_whole(server, tmp_path)


def test_nothing_is_asked_after_the_minutes(server: Server) -> None:
    server.reset()
    client = SparqlClient(server.endpoint, AGENT, HASTE, minutes=0)
    with pytest.raises(UserError, match=r"stopped: 0 minutes have passed, with 0 req.*\n.*goes on"):
        client.answer("SELECT * WHERE {}")
    assert server.log == []


def test_more_than_the_minutes_can_hold_is_refused_before(server: Server, tmp_path: Path) -> None:
    server.reset()
    with pytest.raises(
        UserError, match=r"2 requests for 9\d stat.* more than the 0.4 allowed\n.*leave out P39"
    ):
        mine_whole(server, tmp_path, minutes=0.4)
    assert len(server.log) == 3


def test_the_road_is_chosen_by_the_host() -> None:
    for host, road in ENDPOINTS.items():
        assert choose_road(f"https://{host}/api/wikidata") == road
        assert choose_road(f"https://{host}/", "pages").name == "pages"
    assert choose_road("http://localhost:7001").name == "pages"
    assert choose_road("http://localhost:7001", "whole").name == "whole"


def test_terms() -> None:
    terms = ["<http://x/a>", "_:b0", '"say \\"so\\""@en', '"1"^^<http://x/t>', "11"]
    assert list(map(read_term, terms)) == [
        SparqlTerm("uri", "http://x/a"),
        SparqlTerm("bnode", "b0"),
        SparqlTerm("literal", 'say \\"so\\"'),
        SparqlTerm("literal", "1"),
        SparqlTerm("literal", "11"),
    ]


@pytest.mark.slow
def test_it_goes_on_after_two_kills(
    server: Server, tmp_path: Path, expected: dict[str, str]
) -> None:
    server.reset(delay=0.3)
    code = f"""
from pathlib import Path
from factdrift.builders.wikidata.sparql import mine_sparql
mine_sparql({server.endpoint!r}, Path({str(tmp_path / "out")!r}), user_agent={AGENT!r},
    relations={{"P39": True, "P6": False}}, cache=Path({str(tmp_path / "answers")!r}), road="whole")
"""
    for request_count in (4, 6):
        with start_process(sys.executable, "-c", code) as run:
            while len(server.log) < request_count and run.poll() is None:
                time.sleep(0.02)
            run.send_signal(signal.SIGKILL)
    queries = column_of(server.log, "query")
    server.reset()
    assert mine_whole(server, tmp_path) == expected
    queries += column_of(server.log, "query")
    # nothing but what was under way at a kill is asked twice
    assert len(queries) <= 7 + 2
    assert len(set(queries)) == 7


@pytest.mark.parametrize("road", ["pages", "whole"])
def test_classes_are_followed_up_from_what_is_named(tmp_path: Path, road: str) -> None:
    """Of all that is a subclass, only what leads up from named items is asked for."""
    path = tmp_path / "entities.jsonl"
    player = item("Q10", "Ann", {"P54": [statement("Q20", "2019")], "P31": [statement("Q5")]})
    club = item("Q20", "Hull", {"P31": [statement("Q30")], "P279": [statement("Q31")]})
    classes = [
        item("Q30", "football club", {"P279": [statement("Q32", rank="deprecated")]}),
        item("Q31", "club", {"P279": [statement("Q33"), statement("Q34")]}),
        item("Q33", "organisation", {"P279": [statement("Q31")], "P31": [statement("Q40")]}),
        item("Q40", "class of classes", {"P279": [statement("Q41")]}),
        item("Q50", "gene", {"P279": [statement("Q51")]}),
    ]
    path.write_bytes(b"\n".join(lines([player, club, *classes])))
    with serve(path, flavour="wdqs") as server:
        mined = mine_endpoint(
            server, tmp_path / "out", {"P54": False}, road=road, classes=True, page=2
        )
    edges = [row for row in rows(mined.statements) if row["relation"] == "P279"]
    assert {(row["subject"], row["object"]) for row in edges} == {
        ("Q20", "Q31"), ("Q31", "Q33"), ("Q31", "Q34"), ("Q33", "Q31"),
    }  # fmt: skip
    summary = read_summary(mined.summary)
    assert summary["partial"] == ["P279"]
    assert {"P54", "P279"} == set(summary["asked"])
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(RECIPE_OF_CLASSES)
    command_words = ["--dump", mined.summary.parent, "--out", tmp_path, "--build", tmp_path / "b"]
    refused_run = run_cli("release", recipe, *command_words, ok=False)
    assert "it has P279 only of what the other statements name" in refused_run.stderr
