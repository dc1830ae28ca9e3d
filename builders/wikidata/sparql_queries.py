"""The queries of the SPARQL route.

Cheap for the engines that hold all of Wikidata, Blazegraph and QLever, for these reasons:

- Ids first, in large pages that join nothing: a page by keyset has to scan and sort a relation's
  statements, whatever its size, so there should be few of them. What the statements say is asked
  for by name, in small pages that cost what they hold. (A page by OFFSET has the same cost and
  loses rows when the data moves on.)
- `VALUES` stands in every branch of a UNION, for QLever does not push bindings into one, and
  predicates of items are constants, for a popular item has thousands of triples. A statement has
  about ten: there one look-up by subject is cheapest.
- A query stays below 200 kB in its encoded form, where the Jetty of a stock Blazegraph refuses it.
"""

from builders.wikidata.parts import KINDS
from builders.wikidata.sparql_pages import Shape

ENTITY = "http://www.wikidata.org/entity/"
STATEMENT = "http://www.wikidata.org/entity/statement/"
PROPERTY = "http://www.wikidata.org/prop/"
ONTOLOGY = "http://wikiba.se/ontology#"
TIMES = ("P580", "P582", "P585")

_PREFIXES = """PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wds: <http://www.wikidata.org/entity/statement/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX pqv: <http://www.wikidata.org/prop/qualifier/value/>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX schema: <http://schema.org/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
"""


def day() -> Shape:
    """`?value`: when the endpoint's data was last changed."""
    where = "<http://www.wikidata.org> schema:dateModified ?value"
    return Shape("day", f"{_PREFIXES}SELECT ?value WHERE {{ {where} }}")


def count(relation: str) -> Shape:
    """`?value`: the number of statements of a relation."""
    where = f"?subject p:{relation} ?statement"
    return Shape(f"count-{relation}", f"{_PREFIXES}SELECT (COUNT(*) AS ?value) WHERE {{ {where} }}")


def ids(relation: str) -> Shape:
    """`?statement ?subject`: the statements of a relation after a given one."""
    return Shape(
        f"ids-{relation}",
        f"""{_PREFIXES}SELECT ?statement ?subject WHERE {{
  ?subject p:{relation} ?statement .
  FILTER(STR(?statement) > "{{after}}")
}} ORDER BY STR(?statement) LIMIT {{limit}}""",
    )


def statements(relation: str) -> Shape:
    """`?statement ?predicate ?value ?precision ?calendar`: what these statements say."""
    simple = ", ".join(f"pq:{time}" for time in TIMES)
    full = " ".join(f"pqv:{time}" for time in TIMES)
    return Shape(
        f"statements-{relation}",
        f"""{_PREFIXES}SELECT ?statement ?predicate ?value ?precision ?calendar WHERE {{
  {{ VALUES ?statement {{ {{values}} }}
    ?statement ?predicate ?value .
    FILTER(?predicate IN (rdf:type, wikibase:rank, ps:{relation}, {simple})) }}
  UNION
  {{ VALUES ?statement {{ {{values}} }}
    VALUES ?predicate {{ {full} }}
    ?statement ?predicate ?node .
    ?node wikibase:timeValue ?value ;
      wikibase:timePrecision ?precision ;
      wikibase:timeCalendarModel ?calendar . }}
}}""",
    )


def entities() -> Shape:
    """`?item ?part ?value`: names, page, counts, kinds and redirects of these entities.

    Counts stand on the item (query service) or on its document (as Wikibase writes them).
    """
    kinds = " ".join(f"wd:{kind}" for kind in KINDS)
    parts = {
        "label": '?item rdfs:label ?value . FILTER(LANG(?value) IN ("en", "mul"))',
        "alias": '?item skos:altLabel ?value . FILTER(LANG(?value) IN ("en", "mul"))',
        "enwiki": "?page schema:about ?item ; "
        "schema:isPartOf <https://en.wikipedia.org/> ; schema:name ?value .",
        "kind": f"VALUES ?value {{ {kinds} }} ?item p:P31 ?claim . "
        "?claim ps:P31 ?value ; wikibase:rank ?rank . FILTER(?rank != wikibase:DeprecatedRank)",
        "redirect": "?item owl:sameAs ?value .",
    }
    for counted in ("sitelinks", "statements"):
        parts[counted] = f"?item wikibase:{counted} ?value ."
        parts[f"document {counted}"] = f"?page schema:about ?item ; wikibase:{counted} ?value ."
    branches = "\n  UNION\n".join(
        f'  {{ VALUES ?item {{ {{values}} }} {where} BIND("{part.split()[-1]}" AS ?part) }}'
        for part, where in parts.items()
    )
    return Shape("entities", f"{_PREFIXES}SELECT ?item ?part ?value WHERE {{\n{branches}\n}}")
