"""RDF terms back into the words of the JSON data model."""

import re
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.wikidata.sparql_client import Row, SparqlTerm
from factdrift.builders.wikidata.sparql_rows import (
    ENTITY,
    ONTOLOGY,
    PROPERTY,
    STATEMENT,
    item_id,
    read_entities,
    read_statements,
    statement_id,
    statement_name,
    written_point,
)
from factdrift.builders.wikidata.statements import Claims
from factdrift.builders.wikidata.times import point
from tests.wikibase_rdf import xsd_time

GREGORIAN = f"{ENTITY}Q1985727"
JULIAN = f"{ENTITY}Q1985786"


@pytest.mark.parametrize(
    ("local", "name", "json_id"),
    [
        ("Q42-F078E5B3-F9A8", "wds:Q42-F078E5B3-F9A8", "Q42$F078E5B3-F9A8"),
        ("q42-f078e5b3-f9a8", "wds:q42-f078e5b3-f9a8", "q42$f078e5b3-f9a8"),
        ("L1-F1-8a", "wds:L1-F1-8a", "L1$F1-8a"),
        ("Q42-a.b", f"<{STATEMENT}Q42-a.b>", "Q42$a.b"),
    ],
)
def test_statement_ids(local: str, name: str, json_id: str) -> None:
    assert statement_name(STATEMENT + local) == name
    assert statement_id(STATEMENT + local) == json_id


@pytest.mark.parametrize(
    ("iri", "item"),
    [
        (f"{ENTITY}Q42", "Q42"),
        (f"{ENTITY}P31", None),
        (f"{ENTITY}L42-S1", None),
        (f"{ENTITY}Q0", None),
        ("Q42", None),
        ("http://commons.wikimedia.org/wiki/Special:FilePath/Q42", None),
        ("http://www.wikidata.org/.well-known/genid/0a1b", None),
    ],
)
def test_only_items_are_items(iri: str, item: str | None) -> None:
    assert item_id(iri) == item


@example(year=-1, month=1, day=1, precision=8, julian=False)
@given(
    year=st.integers(-11_000, 11_000),
    month=st.integers(1, 12),
    day=st.integers(1, 28),
    precision=st.integers(7, 11),
    julian=st.booleans(),
)
def test_wikibase_times_come_back_as_they_were(
    year: int, month: int, day: int, precision: int, julian: bool
) -> None:
    month = month if precision >= 10 else 0
    day = day if precision == 11 else 0
    text = f"{'-' if year < 0 else '+'}{abs(year):04}-{month:02}-{day:02}T00:00:00Z"
    calendar = JULIAN if julian else GREGORIAN
    written = xsd_time(text, precision, calendar).value
    assert written_point(written, precision, calendar) == point(text, precision, calendar)


def _days(first: str, last: str = "") -> PartialDate:
    return PartialDate(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize(
    ("text", "precision", "in_json", "in_rdf"),
    [
        ("+2015-02-30", 11, None, _days("2015-02-28")),
        ("+2019-00-00", 11, _days("2019-01-01", "2019-12-31"), _days("2019-01-01")),
        ("+2019-07-00", 11, _days("2019-07-01", "2019-07-31"), _days("2019-07-01")),
        ("+2019-13-00", 10, None, _days("2019-12-01", "2019-12-31")),
    ],
)
def test_what_rdf_does_not_keep(
    text: str, precision: int, in_json: PartialDate | None, in_rdf: PartialDate
) -> None:
    """Impossible days: the losses that the docstring of the route names, and no others."""
    text += "T00:00:00Z"
    assert point(text, precision, GREGORIAN) == in_json
    written = xsd_time(text, precision, GREGORIAN).value
    assert written_point(written, precision, GREGORIAN) == in_rdf


def _row(predicate: str, value: SparqlTerm, **more: str) -> Row:
    row = {
        "statement": SparqlTerm("uri", f"{STATEMENT}Q1-a"),
        "predicate": SparqlTerm("uri", predicate),
    }
    return (
        row | {"value": value} | {name: SparqlTerm("literal", text) for name, text in more.items()}
    )


def _read(*rows: Row) -> Claims:
    claims = Claims()
    read_statements("P39", {f"{STATEMENT}Q1-a": "Q1"}, rows, claims)
    return claims


def test_a_statement_without_a_rank_is_gone() -> None:
    found = _read(_row(f"{PROPERTY}statement/P39", SparqlTerm("uri", f"{ENTITY}Q2")))
    assert (found.statements, found.counts) == ([], {})


def test_a_time_without_its_full_value_is_not_lost() -> None:
    """A store may lack the node of a value: the qualifier is there, and its day unknown."""
    found = _read(
        _row(f"{PROPERTY}statement/P39", SparqlTerm("uri", f"{ENTITY}Q2")),
        _row(f"{ONTOLOGY}rank", SparqlTerm("uri", f"{ONTOLOGY}NormalRank")),
        _row(f"{PROPERTY}qualifier/P582", SparqlTerm("literal", "2019-01-01T00:00:00Z")),
        _row(f"{PROPERTY}qualifier/P580", SparqlTerm("literal", "2020-01-01T00:00:00Z")),
        _row(
            f"{PROPERTY}qualifier/value/P580",
            SparqlTerm("literal", "2020-01-01T00:00:00Z"),
            precision="9",
            calendar=GREGORIAN,
        ),
    )
    (one,) = found.statements
    assert (one.start_first, one.start_last) == (date(2020, 1, 1), date(2020, 12, 31))
    assert (one.end_first, one.end_last, one.end_open) == (date(2020, 1, 1), None, False)
    assert found.counts == {"P39/coarse_time": 1}


def test_counts_stand_on_the_item_or_on_its_document() -> None:
    def row(part: str, value: str) -> Row:
        item = SparqlTerm("uri", f"{ENTITY}Q1")
        return {
            "item": item,
            "part": SparqlTerm("literal", part),
            "value": SparqlTerm("literal", value),
        }

    (entity,) = read_entities(
        [row("statements", "7"), row("sitelinks", "3"), row("sitelinks", "3")]
    )
    assert (entity.statements, entity.sitelinks, entity.label) == (7, 3, None)
    assert re.fullmatch(r"Q\d+", entity.id)
