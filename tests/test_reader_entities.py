"""One line of a dump against the rows that it gives, in the forms of all its years."""

import json
from datetime import date
from random import Random
from typing import Any

import pytest

from factdrift.builders.wikidata.documents import Rows
from factdrift.builders.wikidata.parts import RawEntity
from tests.dumps import item, item_snak, prop, statement, term, time_snak, value

UNDATED = ("P19",)


def read(*entities: Any) -> Rows:
    rows = Rows(UNDATED)
    for entity in entities:
        rows.read(entity if isinstance(entity, bytes) else json.dumps(entity).encode())
    return rows


def entity(given: dict[str, Any]) -> RawEntity:
    return read(given).entities[-1]


ALIASES = {"en": [*map(term, "cAb")], "mul": [*map(term, "bÄ")], "de": [term("x")]}


@pytest.mark.parametrize(
    ("given", "label", "aliases"),
    [
        ({"labels": {"en": term("A")}}, "A", ()),
        ({"labels": {"mul": term("M", "mul"), "de": term("D", "de")}}, "M", ()),
        ({"labels": {"en": term("A"), "mul": term("M")}}, "A", ()),
        ({"labels": {"de": term("D", "de")}}, None, ()),
        ({"labels": {"en": term("")}}, None, ()),
        ({"labels": []}, None, ()),
        ({"labels": None}, None, ()),
        ({}, None, ()),
        ({"labels": {"en": term("A")}, "aliases": ALIASES}, "A", ("b", "c", "Ä")),
        ({"labels": {"en": term("A")}, "aliases": []}, "A", ()),
        ({"aliases": {"en": {"0": term("z"), "2": term("y")}}}, None, ("y", "z")),
        ({"labels": {"en": term('Łódź \N{DUCK} "q"')}}, 'Łódź \N{DUCK} "q"', ()),
    ],
)
def test_names(given: dict[str, Any], label: str | None, aliases: tuple[str, ...]) -> None:
    found = entity({"id": "Q1", "type": "item", **given})
    assert (found.label, found.aliases) == (label, aliases)


LINK = {"site": "enwiki", "title": "The page", "badges": ["Q17437796"]}
OTHER = {"site": "dewiki", "title": 'Der "site": Artikel', "badges": []}


@pytest.mark.parametrize(
    ("sitelinks", "count", "title"),
    [
        ({"enwiki": LINK, "dewiki": OTHER}, 2, "The page"),
        ({"dewiki": OTHER, "enwiki": LINK}, 2, "The page"),
        ({"dewiki": OTHER}, 1, None),
        ({"enwiki": {"site": "enwiki", "title": "a } b"}}, 1, "a } b"),
        ({"enwiki": {"site": "enwiki", "title": "Ten \N{EN DASH} \u00e9 \\ /"}}, 1, "Ten – é \\ /"),
        ({}, 0, None),
        ([], 0, None),
        (None, 0, None),
    ],
)
@pytest.mark.parametrize("spaces", [False, True])
def test_sitelinks(sitelinks: Any, count: int, title: str | None, spaces: bool) -> None:
    given = {"id": "Q1", "type": "item", "sitelinks": sitelinks}
    line = json.dumps(given, separators=(", ", " : ") if spaces else (",", ":")).encode()
    found = read(line).entities[0]
    assert (found.sitelinks, found.enwiki) == (count, title)


@pytest.mark.parametrize(
    ("claims", "count", "kind"),
    [
        ({}, 0, None),
        ([], 0, None),
        (None, 0, None),
        ({"P31": [statement("Q5")], "P6": [statement("Q1"), statement("Q2")]}, 3, None),
        ({"P31": [statement("Q5"), statement("Q4167836")]}, 2, "category"),
        ({"P31": [statement("Q4167410")]}, 1, "disambiguation"),
        ({"P31": [statement("Q11266439")]}, 1, "template"),
        ({"P31": [statement("Q13406463")]}, 1, "list"),
        ({"P31": [statement("Q13406463", rank="deprecated")]}, 1, None),
        ({"P31": [statement({"snaktype": "somevalue"})]}, 1, None),
        ({"P31": [{"nonsense": 1}]}, 1, None),
    ],
)
def test_statements_and_kind(claims: Any, count: int, kind: str | None) -> None:
    found = entity({"id": "Q1", "type": "item", "claims": claims})
    assert (found.statements, found.kind) == (count, kind)


def main_value(**what: Any) -> dict[str, Any]:
    return value("wikibase-entityid", what)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (statement("Q2", "2019"), "Q2"),
        (statement(main_value(**{"entity-type": "item", "numeric-id": 2}), "2019"), "Q2"),
        (statement(main_value(id="Q2"), "2019"), "Q2"),
        (statement({**item_snak("Q2"), "datatype": "wikibase-item", "hash": "0"}, "2019"), "Q2"),
        (statement("Q2", "2019", type="claim", references=[{"snaks": {}}]), "Q2"),
        (statement({"snaktype": "somevalue"}, "2019"), "a gap"),
        (statement({"snaktype": "somevalue", "datatype": "wikibase-item"}, "2019"), "a gap"),
        (statement({"snaktype": "somevalue"}), "undated"),
        (statement({"snaktype": "somevalue", "datatype": "string"}, "2019"), "not_an_item"),
        (statement({"snaktype": "novalue"}, "2019"), "novalue"),
        (statement("Q2", "2019", rank="deprecated"), "deprecated"),
        (statement({"snaktype": "novalue"}, rank="deprecated"), "deprecated"),
        (statement(value("string", "x"), "2019"), "not_an_item"),
        (statement(value("quantity", {"amount": "+1"}), "2019"), "not_an_item"),
        (statement(time_snak("2019"), "2019"), "not_an_item"),
        (statement(main_value(**{"entity-type": "property", "id": "P2"}), "2019"), "not_an_item"),
        (statement(main_value(**{"entity-type": "lexeme", "id": "L2"}), "2019"), "not_an_item"),
        (statement(main_value(**{"entity-type": "item"}), "2019"), "not_an_item"),
        (statement({"snaktype": "value"}, "2019"), "not_an_item"),
        (statement("Q2"), "undated"),
        (statement("Q2", qualifiers=[]), "undated"),
        (statement("Q2", qualifiers={}), "undated"),
        (statement("Q2", qualifiers={"P1": [{"snaktype": "novalue"}]}), "undated"),
    ],
)
def test_a_statement(claim: dict[str, Any], expected: str) -> None:
    rows = read(item("Q1", "A", {"P6": [claim]}))
    if expected in ("Q2", "a gap"):
        [fact] = rows.statements
        assert fact.object == (expected if expected == "Q2" else None)
        assert fact.reason is None
        assert (fact.subject, fact.relation, fact.end_open) == ("Q1", "P6", True)
        assert (str(fact.start_first), str(fact.start_last)) == ("2019-01-01", "2019-12-31")
    else:
        assert not rows.statements
        counted = [f"P6/{reason}" for reason in (expected, "undated")]
        assert expected == "not_an_item" or sum(rows.counts[key] for key in counted) >= 1
    assert not rows.dropped


@pytest.mark.parametrize("broken", [{}, {"mainsnak": 5}, {"mainsnak": {"snaktype": 1}}, [], "x"])
def test_a_broken_statement_is_dropped_alone(broken: Any) -> None:
    given = {"id": "Q1", "type": "item", "claims": {"P6": [broken, statement("Q2", "2019")]}}
    rows = read(given)
    assert [f.object for f in rows.statements] == ["Q2"]
    [dropped] = rows.dropped
    assert (dropped.step, dropped.reason, dropped.item) == ("mine", "malformed_statement", "Q1/P6")


def test_bad_utf_8_in_a_statement_drops_it_alone() -> None:
    line = json.dumps(item("Q1", "A", {"P6": [statement("Q2", "2019", id="Q1$?")]})).encode()
    rows = read(line.replace(b"$?", b"$\xff"))
    assert [d.reason for d in rows.dropped] == ["malformed_statement"]
    assert [e.id for e in rows.entities] == ["Q1"]
    assert not rows.statements


def test_a_statement_that_contradicts_itself_is_dropped() -> None:
    rows = read(item("Q1", "A", {"P6": [statement("Q2", "2020", "2019", id="Q1$x")]}))
    [dropped] = rows.dropped
    assert (dropped.reason, dropped.item, dropped.relation) == ("contradictory", "Q1$x", "P6")
    assert dropped.detail == "P580 2020-01-01/2020-12-31, P582 2019-01-01/2019-12-31"
    assert [(s.reason, s.start_first, s.end_open) for s in rows.statements] == [
        ("contradictory", None, True)
    ]


def test_undated_statements_are_kept_beside_dated_ones_and_where_the_relation_asks_for_it() -> None:
    claims = {
        "P6": [statement("Q2", "2019"), statement("Q3"), statement("Q4", rank="deprecated")],
        "P17": [statement("Q5"), statement("Q6")],
        "P19": [statement("Q7")],
    }
    rows = read(item("Q1", "A", claims))
    found = [(s.object, s.reason) for s in rows.statements]
    assert found == [("Q2", None), ("Q3", "undated"), ("Q7", "undated")]
    assert rows.counts == {"items": 1, "P6/deprecated": 1, "P17/undated": 2}


def test_the_days_of_a_life() -> None:
    born = [statement(time_snak("1950")), statement(time_snak("1951"), rank="preferred")]
    died = [statement({"snaktype": "somevalue"})]
    made = [statement(time_snak("1960-02"), rank="deprecated"), statement("Q5")]
    person = entity(item("Q1", "A", {"P569": born, "P570": died}))
    assert person.began == (date(1951, 1, 1), date(1951, 12, 31))
    assert person.ended == (date.min, date.max)
    thing = entity(item("Q2", "B", {"P571": made, "P576": [statement({"snaktype": "novalue"})]}))
    assert (thing.began, thing.ended) == ((date.min, date.max), None)


@pytest.mark.parametrize(
    "broken", [{"time": 5, "precision": 11}, {"precision": 11}, "2019", {"time": "+2019"}]
)
def test_an_unreadable_time_is_an_unknown_one(broken: Any) -> None:
    qualifiers = {"P580": [value("time", broken)], "P582": [time_snak("2019")]}
    rows = read(item("Q1", "A", {"P6": [statement("Q2", qualifiers=qualifiers)]}))
    assert [(f.start_first, str(f.end_last)) for f in rows.statements] == [(None, "2019-12-31")]
    assert rows.counts["P6/coarse_time"] == 1


def test_a_statement_without_an_id_gets_one_of_what_it_says() -> None:
    def ids(*claims: dict[str, Any]) -> list[str]:
        given = {"id": "Q1", "type": "item", "claims": {"P6": list(claims)}}
        return [f.statement for f in read(given).statements]

    first, second, third = ids(*(statement("Q2", y) for y in ("2019", "2019", "2020")))
    assert first == second != third
    assert first.startswith("Q1$")
    assert len(first) == 35
    assert ids(statement("Q2", "2019")) == [first]


@pytest.mark.parametrize(
    ("line", "redirects"),
    [
        ({"entity": "Q1", "redirect": "Q2"}, [("Q1", "Q2")]),
        ({"type": "item", "id": "Q2", "redirects": {"from": "Q1", "to": "Q2"}}, [("Q1", "Q2")]),
        ({"type": "item", "id": "Q2", "redirects": []}, []),
    ],
)
def test_redirects(line: dict[str, Any], redirects: list[tuple[str, str]]) -> None:
    rows = read(line)
    assert [(e.id, e.redirect) for e in rows.entities if e.redirect] == redirects


def test_other_kinds_of_entities() -> None:
    lexeme = {"type": "lexeme", "id": "L1", "lemmas": {}, "claims": {"P6": [statement("Q2")]}}
    rows = read(
        {**prop("P6", "head"), "claims": {"P6": [statement("Q2", "2019")]}},
        lexeme,
        {"id": "L2"},
        {"type": "mediainfo", "id": "M7", "statements": []},
        {"id": "Q9", "labels": {}},
    )
    assert [e.id for e in rows.entities] == ["P6", "Q9"]
    assert not rows.statements
    kinds = ("properties", "lexemes", "other_entities", "items")
    assert [rows.counts[k] for k in kinds] == [1, 2, 1, 1]


def test_every_layout_of_a_line_gives_the_same_rows() -> None:
    """Spaces between tokens, other orders of members, escapes in keys, keys within strings."""
    chance = Random(11)
    trap = 'x"claims":{"P6":[{"qualifiers":{"P580":[{"'
    claims = {
        "P6": [statement("Q2", "2019", "2020"), statement("Q3"), statement("Q4", point="2001")],
        "P31": [statement("Q4167836"), {"mainsnak": 7, "qualifiers": {}}],
        "P569": [statement(time_snak("1950"))],
    }
    more = {
        "aliases": {"en": [term("x")]},
        "sitelinks": {"enwiki": LINK},
        "descriptions": {trap: 1},
    }
    given = item("Q1", "A", claims, **more)

    def shuffled(part: Any) -> Any:
        if isinstance(part, list):
            return [shuffled(one) for one in part]
        if not isinstance(part, dict):
            return part
        return {key: shuffled(part[key]) for key in chance.sample(list(part), len(part))}

    expected = read(given)
    assert len(expected.statements) == 3 and not expected.dropped
    for number in range(40):
        space = [(", ", ": "), (",", ":"), (" ,", " : ")][number % 3]
        line = json.dumps(shuffled(given), separators=space).encode()
        name = chance.choice([b"qualifiers", b"P580", b"P585", b"mainsnak", b"claims"])
        line = line.replace(b'"%s"' % name, b'"\\u%04x%s"' % (name[0], name[1:]))
        found = read(line)
        by_id = sorted(found.statements, key=lambda s: s.statement)
        assert (by_id, found.entities) == (expected.statements, expected.entities), line


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"Q1","labels":{"en":{"val',
        b'{"id":"Q1","labels":{"en":{"value":"\xff\xfe"}}}',
        b"{}",
        b'{"entity":"Q1"}',
        b'"Q1"',
        b"[1]",
        b"garbage",
        b'{"id":7}',
        b'{"id":"Q1","claims":"none"}',
        b'{"id":"Q1"} {"id":"Q2"}',
        b'{"entities":{"Q1":{"id":"Q1"}}}',
        b'{"id":"Q1","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_a_line_that_is_no_entity(line: bytes) -> None:
    rows = Rows(UNDATED)
    with pytest.raises((ValueError, RecursionError)):
        rows.read(line)
    assert not rows.entities
    assert not rows.statements
