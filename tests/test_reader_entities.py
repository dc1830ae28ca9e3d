"""One line of a dump against the rows that it gives, in the forms of all its years."""

import json
from typing import Any

import pytest
from msgspec.structs import asdict

from factdrift.builders.wikidata.documents import DumpRows
from tests.dumps import Json, item, prop, snak, statement, term, time_snak, value
from tests.tables import case_lists, ids_of

UNDATED = ("P19",)


def read(*entities: Any) -> DumpRows:
    dump_rows = DumpRows(UNDATED)
    for entity in entities:
        dump_rows.add_line(entity if isinstance(entity, bytes) else json.dumps(entity).encode())
    return dump_rows


LINES = case_lists("dump_lines")


def written(part: str, source: Any, language: str = "") -> Any:
    """A part of an entity, with terms and statements for the texts that stand for them."""
    if isinstance(source, dict) and part != "sitelinks":
        return {key: written(part, part_value, key) for key, part_value in source.items()}
    if isinstance(source, list):
        return [written(part, part_value, language) for part_value in source]
    if not isinstance(source, str):
        return source
    if part != "claims":
        return term(source, language)
    value_form, *statement_rank = source.split()
    return statement(snak(value_form), rank=statement_rank[0] if statement_rank else "normal")


@pytest.mark.parametrize(("source", "expected"), LINES["entities"])
def test_an_entity(source: Json, expected: Json) -> None:
    parts = {
        part: part_value if part_value is None else written(part, part_value)
        for part, part_value in source.items()
    }
    entity_columns = asdict(read({"id": "Q1", "type": "item", **parts}).entities[0])
    entity_columns |= {
        column: entity_columns[column] and " to ".join(map(str, entity_columns[column]))
        for column in ("began", "ended")
    }
    entity_columns["aliases"] = list(entity_columns["aliases"])
    assert expected.items() <= entity_columns.items()


@pytest.mark.parametrize(("claim", "expected"), LINES["statements"])
def test_a_statement(claim: Json, expected: str) -> None:
    main, statement_parts = claim["main"], {"start": "2019", **claim}
    if isinstance(main, dict) and "snaktype" not in main:
        main = value(*next(iter(main.items())))
    del statement_parts["main"]
    dump_rows = read(item("Q1", "A", {"P6": [statement(main, **statement_parts)]}))
    if expected in ("Q2", "?"):
        [fact] = dump_rows.statements
        assert fact.object == (expected if expected == "Q2" else None)
        assert fact.reason is None
        assert (fact.subject, fact.relation, fact.end_open) == ("Q1", "P6", True)
        assert (str(fact.start_first), str(fact.start_last)) == ("2019-01-01", "2019-12-31")
    else:
        assert not dump_rows.statements
        counted = {"items": 1, f"P6/{expected}": 1}
        assert dump_rows.counts == counted or (
            expected == "not_an_item" and dump_rows.counts == {"items": 1}
        )
    assert not dump_rows.dropped


@pytest.mark.parametrize("broken", [{}, {"mainsnak": 5}, {"mainsnak": {"snaktype": 1}}, [], "x"])
def test_a_broken_statement_is_dropped_alone(broken: Any) -> None:
    entity_document = {
        "id": "Q1",
        "type": "item",
        "claims": {"P6": [broken, statement("Q2", "2019")]},
    }
    dump_rows = read(entity_document)
    assert [statement_row.object for statement_row in dump_rows.statements] == ["Q2"]
    [dropped_row] = dump_rows.dropped
    assert (dropped_row.step, dropped_row.reason, dropped_row.item) == (
        "mine",
        "malformed_statement",
        "Q1/P6",
    )


def test_bad_utf_8_in_a_statement_drops_it_alone() -> None:
    line = json.dumps(item("Q1", "A", {"P6": [statement("Q2", "2019", id="Q1$?")]})).encode()
    dump_rows = read(line.replace(b"$?", b"$\xff"))
    assert [dropped_row.reason for dropped_row in dump_rows.dropped] == ["malformed_statement"]
    assert ids_of(dump_rows.entities) == ["Q1"]
    assert not dump_rows.statements


def test_a_statement_that_contradicts_itself_is_dropped() -> None:
    dump_rows = read(item("Q1", "A", {"P6": [statement("Q2", "2020", "2019", id="Q1$x")]}))
    [dropped_row] = dump_rows.dropped
    assert (dropped_row.reason, dropped_row.item, dropped_row.relation) == (
        "contradictory",
        "Q1$x",
        "P6",
    )
    assert dropped_row.detail == "P580 2020-01-01/2020-12-31, P582 2019-01-01/2019-12-31"
    assert [
        (statement_row.reason, statement_row.start_first, statement_row.end_open)
        for statement_row in dump_rows.statements
    ] == [("contradictory", None, True)]


def test_undated_statements_are_kept_beside_dated_ones_and_where_the_relation_asks_for_it() -> None:
    claims = {
        "P6": [statement("Q2", "2019"), statement("Q3"), statement("Q4", rank="deprecated")],
        "P17": [statement("Q5"), statement("Q6")],
        "P19": [statement("Q7")],
    }
    dump_rows = read(item("Q1", "A", claims))
    statements = [
        (statement_row.object, statement_row.reason) for statement_row in dump_rows.statements
    ]
    assert statements == [("Q2", None), ("Q3", "undated"), ("Q7", "undated")]
    assert dump_rows.counts == {"items": 1, "P6/deprecated": 1, "P17/undated": 2}


@pytest.mark.parametrize(
    "broken", [{"time": 5, "precision": 11}, {"precision": 11}, "2019", {"time": "+2019"}]
)
def test_an_unreadable_time_is_an_unknown_one(broken: Any) -> None:
    qualifiers = {"P580": [value("time", broken)], "P582": [time_snak("2019")]}
    dump_rows = read(item("Q1", "A", {"P6": [statement("Q2", qualifiers=qualifiers)]}))
    assert [
        (statement_row.start_first, str(statement_row.end_last))
        for statement_row in dump_rows.statements
    ] == [(None, "2019-12-31")]
    assert dump_rows.counts["P6/coarse_time"] == 1


def test_a_statement_without_an_id_gets_one_of_what_it_says() -> None:
    def ids(*claims: dict[str, Any]) -> list[str]:
        entity_document = {"id": "Q1", "type": "item", "claims": {"P6": list(claims)}}
        return [statement_row.statement for statement_row in read(entity_document).statements]

    first_id, second_id, third = ids(*(statement("Q2", year) for year in ("2019", "2019", "2020")))
    assert first_id == second_id != third
    assert first_id.startswith("Q1$")
    assert len(first_id) == 35
    assert ids(statement("Q2", "2019")) == [first_id]


def test_other_kinds_of_entities() -> None:
    lexeme = {"type": "lexeme", "id": "L1", "lemmas": {}, "claims": {"P6": [statement("Q2")]}}
    dump_rows = read(
        {**prop("P6", "head"), "claims": {"P6": [statement("Q2", "2019")]}},
        lexeme,
        {"id": "L2"},
        {"type": "mediainfo", "id": "M7", "statements": []},
        {"id": "Q9", "labels": {}},
    )
    assert ids_of(dump_rows.entities) == ["P6", "Q9"]
    assert not dump_rows.statements
    kinds = ("properties", "lexemes", "other_entities", "items")
    assert [dump_rows.counts[column] for column in kinds] == [1, 2, 1, 1]


# deeper than a parser recurses
DEEP = '{"id":"Q1","x":' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize("line", [*LINES["no_entity"], pytest.param(DEEP, id="deep")])
def test_a_line_that_is_no_entity(line: str) -> None:
    dump_rows = DumpRows(UNDATED)
    with pytest.raises((ValueError, RecursionError)):
        dump_rows.add_line(line.encode("latin-1"))
    assert not dump_rows.entities
    assert not dump_rows.statements
