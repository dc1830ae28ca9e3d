"""RDF terms back into the words of the JSON data model."""

from datetime import date

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from factdrift.builders.wikidata.sparql_client import Row, SparqlTerm
from factdrift.builders.wikidata.sparql_rows import (
    ENTITY,
    ONTOLOGY,
    PROPERTY,
    STATEMENT,
    full_value_days,
    item_id,
    read_entities,
    read_statements,
    statement_id,
    statement_name,
)
from factdrift.builders.wikidata.statements import StatementRows
from factdrift.builders.wikidata.times import possible_days
from tests.dumps import GREGORIAN, JULIAN
from tests.tables import case_lists
from tests.wikibase_rdf import xsd_time

CASES = case_lists("rdf_terms")


@pytest.mark.parametrize(("local", "name", "json_id"), CASES["statements"])
def test_statement_ids(local: str, name: str, json_id: str) -> None:
    assert statement_name(STATEMENT + local) == name
    assert statement_id(STATEMENT + local) == json_id


@pytest.mark.parametrize(("iri", "item"), CASES["items"])
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
    # the first two days of the Julian year 1 are in a year that Python has not
    assume(not (julian and year == 1 and month <= 1 and day <= 2))
    text = f"{'-' if year < 0 else '+'}{abs(year):04}-{month:02}-{day:02}T00:00:00Z"
    calendar = JULIAN if julian else GREGORIAN
    written = xsd_time(text, precision, calendar).value
    assert full_value_days(written, precision, calendar) == possible_days(text, precision, calendar)


@pytest.mark.parametrize(("text", "precision", "in_json", "in_rdf"), CASES["losses"])
def test_what_rdf_does_not_keep(
    text: str, precision: int, in_json: str | None, in_rdf: str
) -> None:
    """Impossible days: the losses that the docstring of the route names, and no others."""
    written_time = xsd_time(f"{text}T00:00:00Z", precision, GREGORIAN).value
    rdf_rows = (
        possible_days(text, precision, GREGORIAN),
        full_value_days(written_time, precision, GREGORIAN),
    )
    assert [days and " to ".join(map(str, days)) for days in rdf_rows] == [in_json, in_rdf]


def _row(predicate: str, value: str, **more: str) -> Row:
    """Addresses are IRIs, all else is literal."""
    texts = {"statement": f"{STATEMENT}Q1-a", "predicate": predicate, "value": value, **more}
    return {
        name: SparqlTerm("uri" if text.startswith("http") else "literal", text)
        for name, text in texts.items()
    }


def _read(*rows: Row) -> StatementRows:
    claims = StatementRows()
    read_statements("P39", {f"{STATEMENT}Q1-a": "Q1"}, rows, claims)
    return claims


def test_a_statement_without_a_rank_is_gone() -> None:
    statement_rows = _read(_row(f"{PROPERTY}statement/P39", f"{ENTITY}Q2"))
    assert (statement_rows.statements, statement_rows.counts) == ([], {})


def test_a_time_without_its_full_value_is_not_lost() -> None:
    """A store may lack the node of a value: the qualifier is there, and its day unknown."""
    time = "2020-01-01T00:00:00Z"
    statement_rows = _read(
        _row(f"{PROPERTY}statement/P39", f"{ENTITY}Q2"),
        _row(f"{ONTOLOGY}rank", f"{ONTOLOGY}NormalRank"),
        _row(f"{PROPERTY}qualifier/P582", "2019-01-01T00:00:00Z"),
        _row(f"{PROPERTY}qualifier/P580", time),
        _row(f"{PROPERTY}qualifier/value/P580", time, precision="9", calendar=GREGORIAN),
    )
    (statement_row,) = statement_rows.statements
    assert (statement_row.start_first, statement_row.start_last) == (
        date(2020, 1, 1),
        date(2020, 12, 31),
    )
    assert (statement_row.end_first, statement_row.end_last, statement_row.end_open) == (
        date(2020, 1, 1),
        None,
        False,
    )
    assert statement_rows.counts == {"P39/coarse_time": 1}


def test_counts_stand_on_the_item_or_on_its_document() -> None:
    rows = [
        _row("", value, item=f"{ENTITY}Q1", part=part)
        for part, value in (("statements", "7"), ("sitelinks", "3"), ("sitelinks", "3"))
    ]
    (entity,) = read_entities(rows)
    assert (entity.id, entity.statements, entity.sitelinks, entity.label) == ("Q1", 7, 3, None)
