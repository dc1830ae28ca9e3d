"""From rows of answers to statements and entities in the words of the JSON data model.

What RDF has differently: a statement id has a `-` where JSON has `$`; an unknown value is a blank
node, or the IRI that a store made of one; no value is a class; times are read by `written_point`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from builders.dates import PartialDate
from builders.wikidata.parts import KINDS, RawEntity
from builders.wikidata.sparql_client import Row, Term
from builders.wikidata.sparql_queries import ENTITY, ONTOLOGY, PROPERTY, STATEMENT, TIMES
from builders.wikidata.statements import Kind, Snak
from builders.wikidata.times import point, rdf_point

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_YEAR = 9
_ITEM = re.compile(r"Q[1-9][0-9]*")
_LOCAL = re.compile(r"[A-Za-z][\w-]*")
_RANKS = {"NormalRank": "normal", "PreferredRank": "preferred", "DeprecatedRank": "deprecated"}


@dataclass(slots=True)
class Statement:
    """One statement: `object` is an item id, None where the value is none or is no item."""

    id: str
    subject: str
    rank: str = ""
    kind: Kind | None = None
    object: str | None = None
    times: dict[str, list[Snak]] = field(default_factory=lambda: {time: [] for time in TIMES})


def statement_name(iri: str) -> str:
    """The IRI of a statement as a query writes it: `wds:Q42-…`."""
    local = iri.removeprefix(STATEMENT)
    return f"wds:{local}" if local != iri and _LOCAL.fullmatch(local) else f"<{iri}>"


def statement_id(iri: str) -> str:
    """The id that JSON gives a statement: `Q42$…` for `…/Q42-…`, letters as they are."""
    return iri.removeprefix(STATEMENT).replace("-", "$", 1)


def item_id(iri: str) -> str | None:
    """The id of an item; None for properties, lexemes and everything else."""
    local = iri.removeprefix(ENTITY)
    return local if local != iri and _ITEM.fullmatch(local) else None


def read_statements(
    relation: str, subjects: Mapping[str, str], rows: Iterable[Row]
) -> list[Statement]:
    """The statements that rows are about, sorted by id; `subjects` has the item of each IRI.

    A statement without a rank was removed since its id was asked for: it is left out.
    """
    found: dict[str, Statement] = {}
    literals: dict[tuple[str, str], int] = {}
    for row in rows:
        iri, value = row["statement"].value, row["value"]
        if iri not in found:
            found[iri] = Statement(statement_id(iri), subjects[iri])
        statement = found[iri]
        predicate = row["predicate"].value
        kind, _, time = predicate.removeprefix(PROPERTY).rpartition("/")
        if predicate == f"{ONTOLOGY}rank":
            statement.rank = _RANKS[value.value.removeprefix(ONTOLOGY)]
        elif predicate == _TYPE:
            _no_value(statement, relation, value)
        elif kind == "statement":
            statement.kind = "somevalue" if _unknown(value) else "value"
            statement.object = item_id(value.value) if value.type == "uri" else None
        elif kind == "qualifier/value":
            precision, calendar = int(row["precision"].value), row["calendar"].value
            date = written_point(value.value, precision, calendar)
            statement.times[time].append(Snak("value", date))
        elif _unknown(value):
            statement.times[time].append(Snak("somevalue", None))
        else:
            literals[iri, time] = literals.get((iri, time), 0) + 1
    for (iri, time), number in literals.items():
        snaks = found[iri].times[time]
        missing = number - sum(snak.kind == "value" for snak in snaks)
        snaks += [Snak("value", None)] * missing
    return sorted((s for s in found.values() if s.rank), key=lambda s: s.id)


def written_point(time: str, precision: int, calendar: str) -> PartialDate | None:
    """The days that a full time value means; decades BCE alone are not counted from a year 0."""
    read = rdf_point if precision >= _YEAR else point
    return read(time, precision, calendar)


def _no_value(statement: Statement, relation: str, value: Term) -> None:
    """Classes of a statement: `wdno:P582` says that P582 has no value."""
    name = value.value.removeprefix(f"{PROPERTY}novalue/")
    if name == relation:
        statement.kind = "novalue"
    elif name in statement.times:
        statement.times[name].append(Snak("novalue", None))


def _unknown(value: Term) -> bool:
    return value.type == "bnode" or (value.type == "uri" and "/.well-known/genid/" in value.value)


def read_entities(rows: Iterable[Row]) -> Iterator[RawEntity]:
    """The entities that rows are about, in no order."""
    found: dict[str, dict[str, set[Term]]] = {}
    for row in rows:
        parts = found.setdefault(row["item"].value.removeprefix(ENTITY), {})
        parts.setdefault(row["part"].value, set()).add(row["value"])
    for name, parts in found.items():
        labels = {term.lang.lower(): term.value for term in parts.get("label", ())}
        label = labels.get("en", labels.get("mul"))
        aliases = {term.value for term in parts.get("alias", ())} - {label}
        pages = sorted(term.value for term in parts.get("enwiki", ()))
        kinds = [KINDS[k] for k in KINDS if k in _locals(parts, "kind")]
        targets = sorted(_locals(parts, "redirect"))
        yield RawEntity(
            id=name,
            label=label,
            aliases=tuple(sorted(aliases)),
            enwiki=pages[0] if pages else None,
            sitelinks=_number(parts, "sitelinks"),
            statements=_number(parts, "statements"),
            kind=kinds[0] if kinds else None,
            redirect=targets[0] if targets else None,
        )


def _locals(parts: Mapping[str, set[Term]], part: str) -> set[str]:
    return {term.value.removeprefix(ENTITY) for term in parts.get(part, ())}


def _number(parts: Mapping[str, set[Term]], part: str) -> int:
    return max((int(term.value) for term in parts.get(part, ())), default=0)
