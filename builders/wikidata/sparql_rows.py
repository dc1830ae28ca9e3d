"""The SPARQL route's queries, and what their answers' rows are: statements, entities, raw facts.

The queries are cheap for the engines that hold all of Wikidata, Blazegraph and QLever, for these
reasons:

- Ids first, in large pages that join nothing: a page by keyset has to scan and sort a relation's
  statements, whatever its size, so there should be few of them. What the statements say is asked
  for by name, in small pages that cost what they hold. (A page by OFFSET has the same cost and
  loses rows when the data moves on.)
- `VALUES` stands in every branch of a UNION, for QLever does not push bindings into one, and
  predicates of items are constants, for a popular item has thousands of triples. A statement has
  about ten: there one look-up by subject is cheapest.
- A query stays below 200 kB in its encoded form, where the Jetty of a stock Blazegraph refuses it.

Statements and entities are read in the words of the JSON data model. What RDF has differently: a
statement id has a `-` where JSON has `$`; an unknown value is a blank node, or the IRI that a store
made of one; no value is a class; times are read by `full_value_days`.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import get_args

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.rows import Rank
from factdrift.builders.text.references import clean_label as cleaned
from factdrift.builders.wikidata.documents import (
    BIRTHS,
    COUNTRIES,
    DEATHS,
    SUBCLASS,
    life_dates,
    only_country,
)
from factdrift.builders.wikidata.parts import RawEntity, page_kind
from factdrift.builders.wikidata.sparql_client import QueryTemplate, Row, SparqlTerm
from factdrift.builders.wikidata.statements import TIMES, LifeDate, Snak, SnakKind, StatementRows
from factdrift.builders.wikidata.times import possible_days, rdf_possible_days

ENTITY = "http://www.wikidata.org/entity/"
STATEMENT = "http://www.wikidata.org/entity/statement/"
PROPERTY = "http://www.wikidata.org/prop/"
ONTOLOGY = "http://wikiba.se/ontology#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_YEAR = 9
_ITEM = re.compile(r"Q[1-9][0-9]*")
_LOCAL = re.compile(r"[A-Za-z][\w-]*")
_RANKS = {"NormalRank": "normal", "PreferredRank": "preferred", "DeprecatedRank": "deprecated"}

_PREFIXES = "".join(
    f"PREFIX {name}: <{address}>\n"
    for name, address in {
        "wd": ENTITY,
        "wds": STATEMENT,
        "p": PROPERTY,
        "ps": f"{PROPERTY}statement/",
        "psv": f"{PROPERTY}statement/value/",
        "pq": f"{PROPERTY}qualifier/",
        "pqv": f"{PROPERTY}qualifier/value/",
        "wdno": f"{PROPERTY}novalue/",
        "wikibase": ONTOLOGY,
        "schema": "http://schema.org/",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "owl": "http://www.w3.org/2002/07/owl#",
    }.items()
)


def _select(name: str, columns: str, where: str, order: str = "") -> QueryTemplate:
    return QueryTemplate(name, f"{_PREFIXES}SELECT {columns} WHERE {{\n{where}\n}}{order}")


def day_query() -> QueryTemplate:
    """`?value ?source`: when the endpoint's data was last changed; Wikidata's own names itself.

    Other engines have the days of the dumps that they loaded, as Wikibase writes them, and QLever
    also says until when it has taken changes up since.
    """
    where = """
  { VALUES ?source { <http://www.wikidata.org> wikibase:Dump } ?source schema:dateModified ?value }
  UNION
  { wikibase:Dump wikibase:updatesCompleteUntil ?value BIND("updates" AS ?source) }"""
    return _select("day", "?value ?source", where)


def count_query(relation: str) -> QueryTemplate:
    """`?value`: the number of statements of a relation."""
    where = f"?subject p:{relation} ?statement"
    return _select(f"count-{relation}", "(COUNT(*) AS ?value)", where)


def ids_query(relation: str) -> QueryTemplate:
    """`?statement ?subject`: the statements of a relation after a given one."""
    where = f'?subject p:{relation} ?statement . FILTER(STR(?statement) > "{{after}}")'
    order = " ORDER BY STR(?statement) LIMIT {limit}"
    return _select(f"ids-{relation}", "?statement ?subject", where, order)


STATEMENT_COLUMNS = ("statement", "predicate", "value", "precision", "calendar")
"""The columns of a row about a statement."""
_FULL_TIME = """?node wikibase:timeValue ?value ;
      wikibase:timePrecision ?precision ;
      wikibase:timeCalendarModel ?calendar ."""


def statements_query(relation: str) -> QueryTemplate:
    """`?statement ?predicate ?value ?precision ?calendar`: what these statements say."""
    where = _saying(relation, "VALUES ?statement { {values} }")
    return _select(f"statements-{relation}", _question_marks(STATEMENT_COLUMNS), where)


def statements_of_subjects_query(relation: str) -> QueryTemplate:
    """`?subject` and the columns of `statements_query`: all statements of these subjects."""
    which = "VALUES ?subject { {values} } " + f"?subject p:{relation} ?statement ."
    columns = _question_marks(("subject", *STATEMENT_COLUMNS))
    return _select(f"subjects-{relation}", columns, _saying(relation, which))


def _question_marks(columns: Iterable[str]) -> str:
    return " ".join(f"?{column}" for column in columns)


def _saying(relation: str, which: str) -> str:
    """The pattern for what some statements say; `which` binds `?statement`."""
    simple_values = ", ".join(f"pq:{time}" for time in TIMES)
    full_values = " ".join(f"pqv:{time}" for time in TIMES)
    return f"""
  {{ {which}
    ?statement ?predicate ?value .
    FILTER(?predicate IN (rdf:type, wikibase:rank, ps:{relation}, {simple_values})) }}
  UNION
  {{ {which}
    VALUES ?predicate {{ {full_values} }}
    ?statement ?predicate ?node .
    {_FULL_TIME} }}"""


def relation_query(relation: str, last_digit: str = "") -> QueryTemplate:
    """The columns of `statements_query`, of all statements of a relation; `p:P54` has the subject.

    `last_digit`: only the statements of items whose id ends in it, a tenth of all.

    Engines that answer it join whole predicates, so that each predicate has a branch of its own.
    """
    part = f' FILTER(STRENDS(STR(?subject), "{last_digit}"))' if last_digit else ""
    statements = f"?subject p:{relation} ?statement .{part}"
    no_values = " ".join(f"wdno:{name}" for name in (relation, *TIMES))
    patterns = [
        f"{statements} BIND(p:{relation} AS ?predicate) BIND(?subject AS ?value)",
        f"{statements} VALUES ?value {{ {no_values} }} ?statement rdf:type ?value . "
        "BIND(rdf:type AS ?predicate)",
    ]
    for predicate in ("wikibase:rank", f"ps:{relation}", *(f"pq:{time}" for time in TIMES)):
        patterns.append(
            f"{statements} ?statement {predicate} ?value . BIND({predicate} AS ?predicate)"
        )
    for time in TIMES:
        full_value = f"?statement pqv:{time} ?node . {_FULL_TIME}"
        patterns.append(f"{statements} {full_value} BIND(pqv:{time} AS ?predicate)")
    where = "\n  UNION\n".join(f"  {{ {pattern} }}" for pattern in patterns)
    return _select(
        f"relation-{relation}{last_digit and f'-{last_digit}'}",
        _question_marks(STATEMENT_COLUMNS),
        where,
    )


def entities_query(superclasses: bool = False) -> QueryTemplate:
    """`?item ?part ?value`: names, page, counts, kinds, life dates and redirects of these entities.

    For a date, `?part` is its property, and `?rank ?time ?precision ?calendar` are bound as well.
    With `superclasses`, also what they are subclasses of.

    The query service attaches the counts to the item, and Wikibase's RDF to the item's document.
    """
    part_patterns = {
        "label": '?item rdfs:label ?value . FILTER(LANG(?value) IN ("en", "mul"))',
        "alias": '?item skos:altLabel ?value . FILTER(LANG(?value) IN ("en", "mul"))',
        "enwiki": "?page schema:about ?item ; "
        "schema:isPartOf <https://en.wikipedia.org/> ; schema:name ?value .",
        "class": "?item p:P31 ?claim . "
        "?claim ps:P31 ?value ; wikibase:rank ?rank . FILTER(?rank != wikibase:DeprecatedRank)",
        "redirect": "?item owl:sameAs ?value .",
        "description": '?item schema:description ?value . FILTER(LANG(?value) IN ("en", "mul"))',
    }
    if superclasses:
        part_patterns[SUBCLASS] = f"?item p:{SUBCLASS} ?claim . ?claim ps:{SUBCLASS} ?value ."
    for country in COUNTRIES:
        part_patterns[country] = (
            f"?item p:{country} ?claim . ?claim ps:{country} ?value ; wikibase:rank ?rank ."
        )
    for life_date in (*BIRTHS, *DEATHS):
        part_patterns[life_date] = (
            f"?item p:{life_date} ?claim . ?claim wikibase:rank ?rank ; ps:{life_date} ?value . "
            f"OPTIONAL {{ ?claim psv:{life_date} ?node . ?node wikibase:timeValue ?time ; "
            "wikibase:timePrecision ?precision ; wikibase:timeCalendarModel ?calendar . }"
        )
    for count_name in ("sitelinks", "statements"):
        part_patterns[count_name] = f"?item wikibase:{count_name} ?value ."
        part_patterns[f"document {count_name}"] = (
            f"?page schema:about ?item ; wikibase:{count_name} ?value ."
        )
    branches = "\n  UNION\n".join(
        f'  {{ VALUES ?item {{ {{values}} }} {where} BIND("{part_name.split()[-1]}" AS ?part) }}'
        for part_name, where in part_patterns.items()
    )
    columns = "?item ?part ?value ?rank ?time ?precision ?calendar"
    return _select("entities", columns, branches)


# --- Rows of answers ----------------------------------------------------------------------------


@dataclass(slots=True)
class RdfStatement:
    """One statement: `object` is an item id, or None where the value is none or is no item."""

    rank: str = ""
    kind: SnakKind | None = None
    object: str | None = None
    times: dict[str, list[Snak]] = field(default_factory=lambda: {time: [] for time in TIMES})
    literals: Counter[str] = field(default_factory=Counter)
    """How many simple values each time qualifier has."""

    def add(self, relation: str, row: Row) -> None:
        """Add one triple: the rank, the main value, or a time qualifier of the statement."""
        predicate, value = row["predicate"].value, row["value"]
        kind, _, property_id = predicate.removeprefix(PROPERTY).rpartition("/")
        if predicate == f"{ONTOLOGY}rank":
            self.rank = _RANKS[value.value.removeprefix(ONTOLOGY)]
        elif predicate == _TYPE:  # the class `wdno:P582` says that P582 has no value
            self._add_no_value(relation, value.value.removeprefix(f"{PROPERTY}novalue/"))
        elif kind == "statement":
            self.kind = "somevalue" if _unknown(value) else "value"
            self.object = item_id(value.value) if value.type == "uri" else None
        elif kind == "qualifier/value":
            self.times[property_id].append(Snak("value", _point(value, row)))
        elif _unknown(value):
            self.times[property_id].append(Snak("somevalue", None))
        else:
            self.literals[property_id] += 1

    def _add_no_value(self, relation: str, property_id: str) -> None:
        if property_id == relation:
            self.kind = "novalue"
        elif property_id in self.times:
            self.times[property_id].append(Snak("novalue", None))

    def complete_times(self) -> None:
        """Add a time without a date for each simple value that has no full value beside it."""
        for property_id, count in self.literals.items():
            snaks = self.times[property_id]
            full_values = sum(snak.kind == "value" for snak in snaks)
            snaks += [Snak("value", None)] * (count - full_values)

    def left_out_as(self) -> str | None:
        """The name under which a statement that is left out is counted; None: it is a fact."""
        if self.rank == "deprecated":
            return "deprecated"
        if self.kind == "novalue":
            return "novalue"
        return None if self.object or self.kind == "somevalue" else "not_an_item"


def statement_name(statement_iri: str) -> str:
    """The IRI of a statement as a query writes it: `wds:Q42-…`."""
    local_name = statement_iri.removeprefix(STATEMENT)
    return (
        f"wds:{local_name}"
        if local_name != statement_iri and _LOCAL.fullmatch(local_name)
        else f"<{statement_iri}>"
    )


def statement_id(statement_iri: str) -> str:
    """The id that JSON gives a statement: `Q42$…` for `…/Q42-…`, letters as they are."""
    return statement_iri.removeprefix(STATEMENT).replace("-", "$", 1)


def item_id(item_iri: str) -> str | None:
    """The id of an item; None for properties, lexemes and everything else."""
    local_name = item_iri.removeprefix(ENTITY)
    return local_name if local_name != item_iri and _ITEM.fullmatch(local_name) else None


def read_statements(
    relation: str,
    subjects: Mapping[str, str],
    answer_rows: Iterable[Row],
    statement_rows: StatementRows,
) -> None:
    """Add the statements of the answer's rows, sorted by id, to `statement_rows`.

    `subjects` gives the item of each statement's IRI. A statement without a rank was removed after
    its id was listed, and is left out.
    """
    statements: dict[str, RdfStatement] = {}
    for row in answer_rows:
        statements.setdefault(row["statement"].value, RdfStatement()).add(relation, row)
    for statement_iri in sorted(statements, key=statement_id):
        statement = statements[statement_iri]
        if not statement.rank:
            continue
        statement.complete_times()
        if reason := statement.left_out_as():
            statement_rows.counts[f"{relation}/{reason}"] += 1
            continue
        statement_rows.add(
            statement_id(statement_iri),
            subjects[statement_iri],
            relation,
            statement.object,
            statement.rank,
            statement.times,
        )


def _point(value: SparqlTerm, row: Row) -> PartialDate | None:
    return full_value_days(value.value, int(row["precision"].value), row["calendar"].value)


def full_value_days(time: str, precision: int, calendar: str) -> PartialDate | None:
    """The days that a full time value means; decades BCE alone are not counted from a year 0."""
    return (
        rdf_possible_days(time, precision)
        if precision >= _YEAR
        else possible_days(time, precision, calendar)
    )


def _unknown(value: SparqlTerm) -> bool:
    return value.type == "bnode" or (value.type == "uri" and "/.well-known/genid/" in value.value)


def read_superclasses(answer_rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Yield the items that rows say to be subclasses, each with a class that it is below."""
    for row in answer_rows:
        superclass = item_id(row["value"].value)
        if row["part"].value == SUBCLASS and superclass:
            yield row["item"].value.removeprefix(ENTITY), superclass


def read_entities(answer_rows: Iterable[Row]) -> Iterator[RawEntity]:
    """The entities that rows are about, in no order."""
    parts_by_entity: dict[str, dict[str, set[SparqlTerm]]] = {}
    dates: dict[str, dict[str, list[LifeDate]]] = {}
    for row in answer_rows:
        entity_id, part_name = row["item"].value.removeprefix(ENTITY), row["part"].value
        entity_parts = parts_by_entity.setdefault(entity_id, {})
        if part_name in COUNTRIES:
            # Ranks are kept in the part's name, so that a part is a set of values.
            rank = _RANKS[row["rank"].value.removeprefix(ONTOLOGY)]
            entity_parts.setdefault(f"{part_name} {rank}", set()).add(row["value"])
        elif part_name in (*BIRTHS, *DEATHS):
            dates.setdefault(entity_id, {}).setdefault(part_name, []).append(_dated(row))
        else:
            entity_parts.setdefault(part_name, set()).add(row["value"])
    for entity_id, entity_parts in parts_by_entity.items():
        label = _english_text(entity_parts.get("label", ()))
        aliases = {cleaned(term.value) for term in entity_parts.get("alias", ())} - {label}
        classes, redirect_targets, pages, sitelinks, statements = (
            sorted(term.value.removeprefix(ENTITY) for term in entity_parts.get(part_name, ()))
            for part_name in ("class", "redirect", "enwiki", "sitelinks", "statements")
        )
        began, ended = life_dates(dates.get(entity_id, {}))
        yield RawEntity(
            id=entity_id,
            label=label,
            aliases=tuple(sorted(aliases)),
            enwiki=pages[0] if pages else None,
            sitelinks=max(map(int, sitelinks), default=0),
            statements=max(map(int, statements), default=0),
            kind=page_kind(classes),
            redirect=redirect_targets[0] if redirect_targets else None,
            began=began,
            ended=ended,
            classes=tuple(classes),
            description=_english_text(entity_parts.get("description", ())),
            countries=only_country(_countries(entity_parts, name) for name in COUNTRIES),
        )


def _english_text(terms: Iterable[SparqlTerm]) -> str | None:
    texts = {term.lang.lower(): cleaned(term.value) for term in terms}
    return texts.get("en", texts.get("mul")) or None


def _countries(
    entity_parts: Mapping[str, Collection[SparqlTerm]], property_id: str
) -> dict[Rank, list[str]]:
    """The items that an entity has for a property, by rank; deprecated ones are left out."""
    items: dict[Rank, list[str]] = {}
    for rank in get_args(Rank):
        for term in entity_parts.get(f"{property_id} {rank}", ()):
            item = item_id(term.value) if term.type == "uri" else None
            if item:
                items.setdefault(rank, []).append(item)
    return items


def _dated(row: Row) -> LifeDate:
    """A date of a life; one without a full value is unknown."""
    rank = _RANKS[row["rank"].value.removeprefix(ONTOLOGY)]
    if "time" not in row:
        return LifeDate(rank, Snak("somevalue", None))
    return LifeDate(rank, Snak("value", _point(row["time"], row)))
