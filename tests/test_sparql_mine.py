"""The same facts, gaps, entities and counts from an endpoint as from a dump."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.wikidata.finish import Mined
from factdrift.builders.wikidata.mine import mine
from factdrift.builders.wikidata.sparql import mine_sparql
from tests.conftest import run
from tests.dumps import facts_of
from tests.sparql_server import Server, serve
from tests.wikibase_rdf import Flavour

AGENT = "factdrift-tests/1.0 (mailto:tests@example.org)"
DAY = date(2026, 2, 2)
GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
JULIAN = "http://www.wikidata.org/entity/Q1985786"


def mine_dump(
    paths: list[Path], out: Path, relations: dict[str, bool], day: date | str = DAY
) -> Mined:
    undated = [relation for relation, keep in relations.items() if keep]
    return mine(paths, out, undated=undated, snapshot=day)


def mine_endpoint(server: Server, out: Path, relations: dict[str, bool], **options: Any) -> Mined:
    given: dict[str, Any] = {"cache": out / "cache", "user_agent": AGENT}
    given["policy"] = RetryPolicy(timeout=5, attempts=2)
    return mine_sparql(server.endpoint, out, relations=relations, **given | options)


def assert_same(dump: Mined, sparql: Mined, build: Path, relations: dict[str, bool]) -> int:
    """Row for row; the number of rows compared.

    The facts of an entity are those of every relation, of which an endpoint was not asked.
    """
    compared = 0
    kept = [relation for relation, keep in relations.items() if keep]
    folders = [
        facts_of(mined, build / name, list(relations), kept)
        for name, mined in (("dump", dump), ("sparql", sparql))
    ]
    for name in ("facts", "gaps", "entities", "dropped"):
        paths = [folder / f"{name}.parquet" for folder in folders]
        expected, found = (
            [{**row, "facts": None} for row in pq.read_table(path).to_pylist()] for path in paths
        )
        for one, other in zip(expected, found, strict=False):
            assert one == other
        assert len(expected) == len(found)
        compared += len(expected)
    for relation in relations:
        told = [mined.counts["relations"].get(relation, {}) for mined in (dump, sparql)]
        assert told[0].get("statements") == told[1].get("statements"), relation
    assert dump.snapshot == sparql.snapshot
    return compared


# --- every form of a statement ------------------------------------------------------------


def snak(relation: str, value: Any) -> dict[str, Any]:
    """`...`: unknown; None: no value; text: an item; a tuple: time, precision, calendar."""
    if value is ... or value is None:
        kind = "novalue" if value is None else "somevalue"
        return {"snaktype": kind, "property": relation, "datatype": "wikibase-item"}
    found: dict[str, Any] = {"snaktype": "value", "property": relation}
    if isinstance(value, str):
        kind = {"Q": "item", "P": "property"}[value[0]]
        given = {"entity-type": kind, "numeric-id": int(value[1:]), "id": value}
        return found | {"datavalue": {"type": "wikibase-entityid", "value": given}}
    time, precision, calendar = value
    given = {"time": time, "precision": precision, "calendarmodel": calendar, "timezone": 0}
    return found | {"datavalue": {"type": "time", "value": given}}


def time(text: str, precision: int, calendar: str = GREGORIAN) -> tuple[str, int, str]:
    return f"{text}T00:00:00Z", precision, calendar


def year(year: int) -> tuple[str, int, str]:
    return time(f"+{year:04}-00-00", 9)


FORMS: dict[str, tuple[Any, str, dict[str, list[Any]]]] = {
    "year to day": ("Q1", "normal", {"P580": [year(2019)], "P582": [time("+2021-05-17", 11)]}),
    "month": ("Q1", "preferred", {"P580": [time("+2019-07-00", 10)]}),
    "decade and century": (
        "Q1",
        "normal",
        {"P580": [time("+2010-00-00", 8)], "P582": [time("+2000-00-00", 7)]},
    ),
    "julian day": ("Q1", "normal", {"P580": [time("+1582-10-04", 11, JULIAN)]}),
    "julian month": ("Q1", "normal", {"P580": [time("+1500-03-00", 10, JULIAN)]}),
    "julian year": ("Q1", "normal", {"P580": [time("+0044-00-00", 9, JULIAN)]}),
    "julian leap day": ("Q1", "normal", {"P585": [time("+1900-02-29", 11, JULIAN)]}),
    "before our era": (
        "Q1",
        "normal",
        {"P580": [time("-0044-03-15", 11, JULIAN)], "P582": [time("+0014-08-19", 11, JULIAN)]},
    ),
    "1 BCE and year 0": (
        "Q1",
        "normal",
        {"P580": [time("-0001-00-00", 9)], "P582": [time("+0000-00-00", 9)]},
    ),
    "far away": (
        "Q1",
        "normal",
        {"P580": [time("-13798000000-00-00", 3)], "P582": [time("+12019-01-01", 11)]},
    ),
    "point": ("Q1", "normal", {"P585": [time("+2019-07-24", 11)]}),
    "two points": ("Q1", "normal", {"P585": [year(2019), year(2021)]}),
    "unknown end": ("Q1", "normal", {"P580": [year(2019)], "P582": [...]}),
    "no end": ("Q1", "normal", {"P580": [year(2019)], "P582": [None]}),
    "no end alone": ("Q1", "normal", {"P582": [None]}),
    "unknown start": ("Q1", "normal", {"P580": [...], "P582": [year(2019)]}),
    "all unknown": ("Q1", "normal", {"P580": [...], "P582": [...], "P585": [...]}),
    "pairs": (
        "Q1",
        "normal",
        {"P580": [year(2001), year(2005)], "P582": [year(2003), year(2007)]},
    ),
    "many without order": (
        "Q1",
        "normal",
        {"P580": [year(2001), year(2002)], "P582": [year(2003), ...]},
    ),
    "equal as RDF, two in JSON": (
        "Q1",
        "normal",
        {"P580": [year(2001), time("+2001-01-01", 9)], "P582": [year(2003)]},
    ),
    "contradiction": ("Q1", "normal", {"P580": [year(2019)], "P582": [year(2001)]}),
    "undated": ("Q1", "normal", {}),
    "deprecated": ("Q1", "deprecated", {"P580": [year(2019)]}),
    "unknown value": (..., "normal", {"P580": [year(2019)]}),
    "no value": (None, "normal", {"P580": [year(2019)]}),
    "no value, deprecated": (None, "deprecated", {}),
    "a property": ("P31", "normal", {"P580": [year(2019)]}),
    "a category": ("Q2", "normal", {"P580": [year(2019)]}),
    "no label": ("Q3", "normal", {"P580": [year(2019)]}),
    "merged": ("Q4", "normal", {"P580": [year(2019)]}),
    "merged twice": ("Q5", "normal", {"P580": [year(2019)]}),
    "nowhere": ("Q6", "normal", {"P580": [year(2019)]}),
    "a name for all": ("Q7", "normal", {"P580": [year(2019)]}),
}


def _statement(subject: str, number: int, form: str, relation: str = "P39") -> dict[str, Any]:
    value, rank, times = FORMS[form]
    qualifiers = {name: [snak(name, time) for time in given] for name, given in times.items()}
    mark = f"{subject}$0a1B{number:04}-4D4F-4f4a-8dfe-{number:012X}"
    return {
        "id": mark.replace("Q", "q") if number % 3 == 0 else mark,
        "rank": rank,
        "mainsnak": snak(relation, value),
        "qualifiers": qualifiers,
    }


def term(text: str, language: str = "en") -> dict[str, str]:
    return {"language": language, "value": text}


def _kind(of: str, rank: str = "normal") -> dict[str, Any]:
    return {"id": f"Q2$kind-{of}-{rank}", "rank": rank, "mainsnak": snak("P31", of)}


def entities() -> Iterator[dict[str, Any]]:
    """One item a form, and what they point to."""
    for number, form in enumerate(FORMS):
        item = f"Q{1000 + number}"
        yield {
            "id": item,
            "labels": {"en": term(form), "mul": term("not this one", "mul")},
            "aliases": {"en": [term(form), term("é \"quoted\" \\ 'name'")]},
            "sitelinks": {"enwiki": {"site": "enwiki", "title": f"{form} (page)"}},
            "claims": {"P39": [_statement(item, number, form)]},
        }
    both = [_statement("Q77", 900, "pairs"), _statement("Q77", 901, "month")]
    yield {"id": "Q77", "labels": {"mul": term("Two", "mul")}, "claims": {"P39": both}}
    yield {"id": "Q78", "labels": [], "claims": {"P39": [_statement("Q78", 902, "point")]}}
    yield {
        "id": "P39",
        "type": "property",
        "labels": {"en": term("position held")},
        "claims": {"P39": [_statement("P39", 903, "point")]},
    }
    yield {"id": "Q1", "labels": {"en": term("mayor"), "de": term("Bürgermeister", "de")}}
    yield {
        "id": "Q2",
        "labels": {"en": term("Category:Mayors")},
        "claims": {"P31": [_kind("Q4167410", "deprecated"), _kind("Q4167836")]},
        "sitelinks": {
            "dewiki": {"site": "dewiki", "title": "x"},
            "commonswiki": {"site": "commonswiki", "title": "y"},
        },
    }
    yield {"id": "Q3", "labels": {"de": term("Bürgermeister", "de")}}
    yield {"entity": "Q4", "redirect": "Q8"}
    yield {"entity": "Q5", "redirect": "Q4"}
    yield {
        "id": "Q7",
        "labels": {"mul": term("Mayor 7", "mul")},
        "aliases": {
            "mul": [term("M7", "mul")],
            "en": [term("Mayor of 7")],
            "de": [term("B", "de")],
        },
        "claims": {"P31": [_kind("Q4167836", "deprecated")]},
    }
    yield {"id": "Q8", "labels": {"en": term("merged mayor")}, "aliases": [], "claims": []}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forms") / "entities.jsonl"
    path.write_text("\n".join(json.dumps({"type": "item"} | e) for e in entities()), "utf-8")
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
            about = sparql.counts["relations"]["P39"]
            passed = sum(
                about.get(reason, 0)
                for reason in ("undated", "deprecated", "novalue", "not_an_item")
            )
            assert about["statements"] + passed == len(FORMS) + 3
    facts = [row for row in pq.read_table(sparql.statements).to_pylist() if not row["reason"]]
    assert {fact["object"] for fact in facts} == {"Q1", "Q7", "Q8"}
    assert {fact["statement"][0] for fact in facts} == {"Q", "q"}


def test_the_command_line_passes_the_memory_on(forms: Path, tmp_path: Path) -> None:
    with serve(forms) as server:
        words = ["mine", "--endpoint", server.endpoint, "--out", tmp_path, "--user-agent", AGENT]
        words += ["--relations", "P39", "--snapshot-date", DAY, "--memory", "10KB"]
        done = run(*words, ok=False)
    assert "10KB of memory is too little" in done.stderr


# --- the snapshot day ---------------------------------------------------------------------


def test_the_snapshot_day_is_given_or_the_endpoints_own(forms: Path, tmp_path: Path) -> None:
    with serve(forms, dated="2026-11-09T23:59:59Z") as server:
        own = mine_endpoint(server, tmp_path, {"P39": False})
        assert own.snapshot == date(2026, 11, 9)
        given = mine_endpoint(server, tmp_path, {"P39": False}, snapshot=DAY)
        assert given.snapshot == DAY
    again = mine_endpoint(server, tmp_path, {"P39": False})  # without the server
    assert again.snapshot == date(2026, 11, 9)


def test_an_endpoint_without_a_day_asks_for_one(forms: Path, tmp_path: Path) -> None:
    with serve(forms, dated=None) as server:
        with pytest.raises(UserError, match=r"does not say of which day.*\n.*pass the snapshot"):
            mine_endpoint(server, tmp_path, {"P39": False})
        assert mine_endpoint(server, tmp_path, {"P39": False}, snapshot=DAY).snapshot == DAY
