"""The same facts, gaps, entities and counts from an endpoint as from a dump."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.facts.mined_properties import properties_to_mine
from factdrift.builders.facts.relations import load_relations
from factdrift.builders.wikidata.documents import BIRTHS, DEATHS
from factdrift.builders.wikidata.finish import MinedTables
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.sparql import mine_sparql
from tests.conftest import DATA, ROOT, run_cli
from tests.dumps import (
    Json,
    facts_of,
    item,
    lines,
    prop,
    rows,
    snak,
    statement,
    term,
)
from tests.sparql_server import Server, serve
from tests.tables import column_of, read_table
from tests.wikibase_rdf import Flavour

AGENT = "factdrift-tests/1.0 (mailto:tests@example.org)"
DAY = date(2026, 2, 2)


def mine_dump(
    paths: list[Path], out: Path, relations: dict[str, bool], day: date | str = DAY
) -> MinedTables:
    undated = [relation for relation, keep in relations.items() if keep]
    return mine(paths, out, undated=undated, snapshot=day)


def mine_endpoint(
    server: Server, out: Path, relations: dict[str, bool], **options: Any
) -> MinedTables:
    given_settings: dict[str, Any] = {"cache": out / "cache", "user_agent": AGENT}
    given_settings["policy"] = RetryPolicy(timeout=5, attempts=2)
    return mine_sparql(server.endpoint, out, relations=relations, **given_settings | options)


def assert_same(
    dump: MinedTables, sparql: MinedTables, build: Path, relations: dict[str, bool]
) -> int:
    """Row for row; the number of rows compared.

    The facts of an entity are those of every relation, of which an endpoint was not asked.
    """
    compared = 0
    kept_columns = [relation for relation, keep in relations.items() if keep]
    folders = [
        facts_of(mined, build / name, list(relations), kept_columns)
        for name, mined in (("dump", dump), ("sparql", sparql))
    ]
    for name in ("facts", "gaps", "entities", "dropped"):
        paths = [folder / f"{name}.parquet" for folder in folders]
        expected, endpoint_tables = (
            [{**row, "facts": None} for row in rows(path)] for path in paths
        )
        for endpoint_row, dump_row in zip(expected, endpoint_tables, strict=False):
            assert endpoint_row == dump_row
        assert len(expected) == len(endpoint_tables)
        compared += len(expected)
    for relation in relations:
        told_counts = [mined.counts["relations"].get(relation, {}) for mined in (dump, sparql)]
        assert told_counts[0].get("statements") == told_counts[1].get("statements"), relation
    assert dump.snapshot == sparql.snapshot
    return compared


# --- every form of a statement ------------------------------------------------------------

ROWS = {form: (value, rank, times) for form, value, rank, times in read_table("statement_forms")}


def _statement(subject: str, number: int, form: str) -> Json:
    main, rank, times = ROWS[form]
    options = [part.split() for part in times.split("; ") if part]
    mark = f"{subject}$0a1B{number:04}-4D4F-4f4a-8dfe-{number:012X}"
    return {
        "id": mark.replace("Q", "q") if number % 3 == 0 else mark,
        "rank": rank,
        "mainsnak": snak(main),
        "qualifiers": {
            name: [snak(time) for time in times_of_name] for name, *times_of_name in options
        },
    }


def entities() -> Iterator[Json]:
    """One item a form, and what they point to."""
    for number, form in enumerate(ROWS):
        name = f"Q{1000 + number}"
        yield item(
            name,
            claims={"P39": [_statement(name, number, form)]},
            labels={"en": term(form), "mul": term("not this one", "mul")},
            aliases={"en": [term(form), term("é \"quoted\" \\ 'name'")]},
            sitelinks={"enwiki": {"site": "enwiki", "title": f"{form} (page)"}},
        )
    both = [_statement("Q77", 900, "pairs"), _statement("Q77", 901, "month")]
    yield item("Q77", claims={"P39": both}, labels={"mul": term("Two", "mul")})
    yield item("Q78", claims={"P39": [_statement("Q78", 902, "point")]}, labels=[])
    of_a_property = {"P39": [_statement("P39", 903, "point")]}
    yield {**prop("P39", "position held"), "claims": of_a_property}
    yield item("Q1", labels={"en": term("mayor"), "de": term("Bürgermeister", "de")})
    kinds = [statement("Q4167410", rank="deprecated"), statement("Q4167836")]
    links = {site: {"site": site, "title": "x"} for site in ("dewiki", "commonswiki")}
    yield item("Q2", "Category:Mayors", {"P31": kinds}, sitelinks=links)
    yield item("Q3", labels={"de": term("Bürgermeister", "de")})
    yield {"entity": "Q4", "redirect": "Q8"}
    yield {"entity": "Q5", "redirect": "Q4"}
    yield item(
        "Q7",
        claims={"P31": [statement("Q4167836", rank="deprecated")]},
        labels={"mul": term("Mayor 7", "mul")},
        aliases={language: [term(f"M {language}", language)] for language in ("mul", "en", "de")},
    )
    yield {**item("Q8", "merged mayor"), "aliases": [], "claims": []}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forms") / "entities.jsonl"
    path.write_bytes(b"\n".join(lines(entities())))
    return path


@pytest.mark.parametrize("flavour", [pytest.param("dump", marks=pytest.mark.slow), "wdqs"])
def test_every_form_of_a_statement_is_the_same(
    forms: Path, tmp_path: Path, flavour: Flavour
) -> None:
    with serve(forms, flavour=flavour) as server:
        for keep in (False, True):
            relations = {"P39": keep}
            dump = mine_dump([forms], tmp_path / f"dump {keep}", relations)
            options: dict[str, Any] = {"page": 11 + keep, "id_page": 20}
            sparql = mine_endpoint(server, tmp_path / f"sparql {keep}", relations, **options)
            assert assert_same(dump, sparql, tmp_path / f"facts {keep}", relations) > 50
            relation_counts = sparql.counts["relations"]["P39"]
            passed = sum(
                relation_counts.get(reason, 0)
                for reason in ("undated", "deprecated", "novalue", "not_an_item")
            )
            assert relation_counts["statements"] + passed == len(ROWS) + 3
    facts = [row for row in rows(sparql.statements) if not row["reason"]]
    assert set(column_of(facts, "object")) == {"Q1", "Q7", "Q8"}
    assert {fact["statement"][0] for fact in facts} == {"Q", "q"}


def test_the_command_line_passes_the_memory_on(forms: Path, tmp_path: Path) -> None:
    with serve(forms) as server:
        words = ["mine", "--endpoint", server.endpoint, "--out", tmp_path, "--user-agent", AGENT]
        words += ["--relations", "P39", "--snapshot-date", DAY, "--memory", "10KB"]
        completed = run_cli(*words, ok=False)
    assert "10KB of memory is too little" in completed.stderr


REAL = {
    **dict.fromkeys(("P6", "P39", "P54", "P108", "P102", "P286", "P69", "P488", "P127"), False),
    **dict.fromkeys(("P27", "P106", "P131", "P361"), True),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paths", "relations", "least"),
    [
        (["samples/wikidata/wikidata-20260202-all.json.gz"], None, 100),
        ([DATA / "wikidata/entities.jsonl.gz", DATA / "wikidata/properties.jsonl.gz"], REAL, 1000),
    ],
    ids=["sample", "real"],
)
def test_an_endpoint_gives_what_a_dump_gives(
    paths: list[Path], relations: dict[str, bool] | None, least: int, tmp_path: Path
) -> None:
    options = [ROOT / path for path in paths]
    if not options[0].exists():
        pytest.skip(f"no {options[0]}: set FACTDRIFT_DATA")
    relations = relations or properties_to_mine(load_relations(ROOT / "templates"))
    dump = mine_dump(options, tmp_path / "dump", relations, "2026-06-01")
    read_relations = (*relations, *BIRTHS, *DEATHS)
    with serve(*options, relations=read_relations, dated="2026-06-01T00:00:00Z") as server:
        mined = mine_endpoint(server, tmp_path / "sparql", relations)
    assert assert_same(dump, mined, tmp_path, relations) > least


# --- the snapshot day ---------------------------------------------------------------------


def test_the_snapshot_day_is_given_or_the_endpoints_own(forms: Path, tmp_path: Path) -> None:
    with serve(forms, dated="2026-11-09T23:59:59Z") as server:
        assert mine_endpoint(server, tmp_path, {"P39": False}).snapshot == date(2026, 11, 9)
        assert mine_endpoint(server, tmp_path, {"P39": False}, snapshot=DAY).snapshot == DAY
    second_mining = mine_endpoint(server, tmp_path, {"P39": False})  # without the server
    assert second_mining.snapshot == date(2026, 11, 9)


def test_an_endpoint_without_a_day_asks_for_one(forms: Path, tmp_path: Path) -> None:
    with serve(forms, dated=None) as server:
        with pytest.raises(UserError, match=r"does not say of which day.*\n.*pass the snapshot"):
            mine_endpoint(server, tmp_path, {"P39": False})
        assert mine_endpoint(server, tmp_path, {"P39": False}, snapshot=DAY).snapshot == DAY
