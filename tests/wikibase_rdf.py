"""JSON entities as the RDF that Wikibase makes of them, for a test endpoint.

Follows the RDF mapping of Wikibase (mediawiki.org, Wikibase/Indexing/RDF_Dump_Format), its
losses included: coarse dates are filled with 01, impossible days cut to the month's last,
Julian days turned into Gregorian ones, years BCE counted with a year 0. Two flavours of it are
in the world: `dump`, as Wikibase writes it, with blank nodes and page counts on the document
node, and `wdqs`, as Wikidata's query service stores it, with skolem IRIs for unknown values and
counts on the item itself.
"""

import hashlib
import json
import re
from calendar import monthrange
from collections.abc import Collection, Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Literal

from pyoxigraph import BlankNode, NamedNode, Quad
from pyoxigraph import Literal as Text

Flavour = Literal["dump", "wdqs"]
Json = Mapping[str, Any]

WD = "http://www.wikidata.org/entity/"
DATA = "https://www.wikidata.org/wiki/Special:EntityData/"
PROP = "http://www.wikidata.org/prop/"
ONTOLOGY = "http://wikiba.se/ontology#"
SCHEMA = "http://schema.org/"
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SAME = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
NAMES = {
    "labels": NamedNode("http://www.w3.org/2000/01/rdf-schema#label"),
    "aliases": NamedNode("http://www.w3.org/2004/02/skos/core#altLabel"),
    "descriptions": NamedNode("http://schema.org/description"),
}
XSD = "http://www.w3.org/2001/XMLSchema#"
RANKS = {"normal": "NormalRank", "preferred": "PreferredRank", "deprecated": "DeprecatedRank"}
WIKI = re.compile(r"([a-z_]+)wiki")


def dataset(day: str) -> Quad:
    """The triple that dates a whole endpoint."""
    return _quad("http://www.wikidata.org", SCHEMA + "dateModified", _typed(day, "dateTime"))


LANGUAGES = {"en", "mul", "en-gb", "de"}


def entity_rdf(
    entity: Json, flavour: Flavour = "dump", relations: Collection[str] | None = None
) -> Iterator[Quad]:
    """The triples of one entity document, or of a redirect; only some relations, if asked."""
    if "redirect" in entity:
        old_node, new_node = (NamedNode(WD + entity[key]) for key in ("entity", "redirect"))
        yield Quad(old_node, SAME, new_node)
        return
    node = NamedNode(WD + entity["id"])
    for part, predicate in NAMES.items():
        for language, terms in _map(entity.get(part)).items():
            if language in LANGUAGES:
                for term in terms if isinstance(terms, list) else [terms]:
                    yield Quad(node, predicate, Text(term["value"], language=term["language"]))
    yield from _page(entity, node, flavour)
    for relation, statements in _map(entity.get("claims")).items():
        if relations is None or relation in relations:
            for statement in statements:
                yield from _statement(node, relation, statement, flavour)


def _page(entity: Json, node: NamedNode, flavour: Flavour) -> Iterator[Quad]:
    """Site links and counts; the query service moves counts from the document to the item."""
    document = DATA + entity["id"]
    yield _quad(document, SCHEMA + "about", node)
    links = _map(entity.get("sitelinks"))
    counted = node.value if flavour == "wdqs" else document
    claims = sum(len(statements) for statements in _map(entity.get("claims")).values())
    yield _quad(counted, ONTOLOGY + "statements", _typed(str(claims), "integer"))
    if entity["id"].startswith("Q"):
        yield _quad(counted, ONTOLOGY + "sitelinks", _typed(str(len(links)), "integer"))
    for site, link in links.items():
        result = WIKI.fullmatch(site)
        if not result:
            continue
        wiki = f"https://{result[1].replace('_', '-')}.wikipedia.org/"
        page = wiki + "wiki/" + hashlib.sha256(link["title"].encode()).hexdigest()
        yield _quad(page, SCHEMA + "about", node)
        yield _quad(page, SCHEMA + "isPartOf", NamedNode(wiki))
        yield _quad(page, SCHEMA + "name", Text(link["title"], language=result[1][:2]))


def _statement(
    subject: NamedNode, relation: str, statement: Json, flavour: Flavour
) -> Iterator[Quad]:
    name = re.sub(r"[^\w-]", "-", statement["id"])
    node = NamedNode(f"{WD}statement/{name}")
    yield Quad(subject, NamedNode(f"{PROP}{relation}"), node)
    yield Quad(node, TYPE, NamedNode(ONTOLOGY + "Statement"))
    yield _quad(
        node.value, ONTOLOGY + "rank", NamedNode(ONTOLOGY + RANKS[statement.get("rank", "normal")])
    )
    yield from _snak(node, "statement", relation, statement["mainsnak"], flavour)
    for name, snaks in _map(statement.get("qualifiers")).items():
        for snak in snaks:
            yield from _snak(node, "qualifier", name, snak, flavour)


def _snak(
    node: NamedNode, place: str, relation: str, snak: Json, flavour: Flavour
) -> Iterator[Quad]:
    simple = NamedNode(f"{PROP}{place}/{relation}")
    if snak["snaktype"] == "novalue":
        yield Quad(node, TYPE, NamedNode(f"{PROP}novalue/{relation}"))
    elif snak["snaktype"] == "somevalue":
        mark = hashlib.sha256(f"{node.value} {place} {relation}".encode()).hexdigest()
        skolem = NamedNode(f"http://www.wikidata.org/.well-known/genid/{mark}")
        yield Quad(node, simple, skolem if flavour == "wdqs" else BlankNode(mark))
    else:
        kind, value = snak["datavalue"]["type"], snak["datavalue"]["value"]
        if kind == "wikibase-entityid":
            letter = {"item": "Q", "property": "P"}.get(value.get("entity-type", "item"))
            target = value.get("id") or f"{letter}{value['numeric-id']}"
            yield Quad(node, simple, NamedNode(WD + target))
        elif kind == "time":
            yield from _time(node, place, relation, value)
        else:
            yield Quad(node, simple, Text(json.dumps(value, sort_keys=True)))


def _time(node: NamedNode, place: str, relation: str, value: Json) -> Iterator[Quad]:
    """A full time value, with a node of its own that equal values share."""
    literal = xsd_time(value["time"], value["precision"], value["calendarmodel"])
    mark = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    time_node = NamedNode(f"http://www.wikidata.org/value/{mark}")
    yield Quad(node, NamedNode(f"{PROP}{place}/{relation}"), literal)
    yield Quad(node, NamedNode(f"{PROP}{place}/value/{relation}"), time_node)
    yield _quad(time_node.value, ONTOLOGY + "timeValue", literal)
    precision = _typed(str(value["precision"]), "integer")
    yield _quad(time_node.value, ONTOLOGY + "timePrecision", precision)
    yield _quad(time_node.value, ONTOLOGY + "timeCalendarModel", NamedNode(value["calendarmodel"]))


def xsd_time(time: str, precision: int, calendar: str) -> Text:
    """The `xsd:dateTime` that Wikibase writes; the text as it is for the year 0."""
    day_text, _, clock = time.partition("T")
    year, month, day = (int(part) for part in day_text[1:].split("-"))
    if not year:
        return Text(time)
    month, day = min(max(month, 1), 12), max(day, 1)
    is_bce = time[0] == "-"
    if calendar.endswith("Q1985786") and precision >= 11:
        year, month, day = _gregorian(1 - year if is_bce else year, month, day)
    else:
        if precision <= 9:
            month = 1
        if precision <= 10:
            day = 1
        day = min(day, monthrange(2000 + year % 400, month)[1])
        if is_bce:
            year = 1 - year if precision >= 9 else -year
    sign = "-" if year < 0 else ""
    return _typed(f"{sign}{abs(year):04}-{month:02}-{day:02}T{clock}", "dateTime")


def _gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """A Julian date in the Gregorian calendar; one of another era as it is."""
    if not 1 <= year < 9999:
        return year, month, day
    since = year - (month < 3)
    result = date(year, month, 1) + timedelta(day - 1 + since // 100 - since // 400 - 2)
    return result.year, result.month, result.day


def _map(value: Any) -> Mapping[str, Any]:
    """A JSON object; Wikibase writes an empty one as `[]`."""
    return value if isinstance(value, dict) else {}


def _typed(text: str, kind: str) -> Text:
    return Text(text, datatype=NamedNode(XSD + kind))


def _quad(subject: str, predicate: str, value: NamedNode | Text) -> Quad:
    return Quad(NamedNode(subject), NamedNode(predicate), value)
