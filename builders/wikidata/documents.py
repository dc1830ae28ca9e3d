"""Lines of the entity JSON as raw rows: what a dump says, with nothing inferred.

Decoding a line gives only the fields that mining needs. Where something in a line is malformed,
its statements are decoded one by one, so that only the malformed ones are lost. The forms of older
dumps are read too: `numeric-id` alone, empty maps as `[]`, missing keys, statements without an id,
snaks without a datatype.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import astuple

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.core.hashing import text_sha256
from factdrift.builders.rows import Rank
from factdrift.builders.text.references import clean_label as cleaned
from factdrift.builders.wikidata.parts import RawEntity, Revision, page_kind
from factdrift.builders.wikidata.statements import (
    TIMES,
    LifeDate,
    Snak,
    StatementRows,
    describe_times,
    life_boundary,
)
from factdrift.builders.wikidata.times import possible_days

C = TypeVar("C")
BIRTHS, DEATHS = ("P569", "P571"), ("P570", "P576")
"""Properties of the day on which an entity began, and of the one on which it ended."""
COUNTRIES = ("P1001", "P17")
"""Properties of the country that an item belongs to. The jurisdiction comes first: it tells the
minister of a province from that of the country."""
DEPRECATED = "deprecated"
"""The reason of a deprecated statement that is told (`DumpRows`); the detail is its object."""
SUBCLASS = "P279"
"""The property by which a class is a subclass of another."""
EDITED_PREFIX = "edited/"
"""The beginning of the keys that count entities by the day of their last edit."""
_DAY = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T")
_COUNTED = {"Q": "items", "P": "properties", "L": "lexemes"}
"""The names of the counts of entities, by the first letter of their ids."""


class _Term(Struct, gc=False):
    value: str = ""


class _Labels(Struct, gc=False):
    en: _Term | None = None
    mul: _Term | None = None


_Terms = list[_Term] | dict[str, _Term] | None


class _Aliases(Struct, gc=False):
    en: _Terms = None
    mul: _Terms = None


class _Redirects(Struct, gc=False):
    """The redirect over which the API found an entity that was requested by another id."""

    source: str = msgspec.field(default="", name="from")
    to: str = ""


class NamedEntity(Struct, gc=False):
    """The part of a line that names its entity."""

    labels: _Labels | list[Raw] | None = None
    aliases: _Aliases | list[Raw] | None = None


class _Document(NamedEntity, Generic[C], gc=False):
    """One line of a dump: an entity, or a redirect, which has `entity` and `redirect`."""

    id: str = ""
    descriptions: _Labels | list[Raw] | None = None
    claims: dict[str, list[C]] | list[Raw] | None = None
    sitelinks: dict[str, Raw] | list[Raw] | None = None
    entity: str | None = None
    redirect: str | None = None
    redirects: _Redirects | list[Raw] | None = None
    lastrevid: Revision = 0
    modified: str = ""


class _Sitelink(Struct, gc=False):
    title: str | None = None


class _DataValue(Struct, gc=False):
    value: Raw
    type: str = ""


class _Snak(Struct, gc=False):
    snaktype: str
    datavalue: _DataValue | None = None
    datatype: str | None = None


class _Qualifiers(Struct, gc=False):
    """The time qualifiers of a statement (`statements.TIMES`)."""

    P580: list[_Snak] | UnsetType = UNSET
    P582: list[_Snak] | UnsetType = UNSET
    P585: list[_Snak] | UnsetType = UNSET
    P1319: list[_Snak] | UnsetType = UNSET
    P1326: list[_Snak] | UnsetType = UNSET
    P8555: list[_Snak] | UnsetType = UNSET
    P8554: list[_Snak] | UnsetType = UNSET
    P12506: list[_Snak] | UnsetType = UNSET


class _Statement(Struct, gc=False):
    """A statement; its main value stays encoded until it is needed."""

    mainsnak: Raw
    id: str | None = None
    rank: Literal["normal", "preferred", "deprecated"] | None = None
    qualifiers: _Qualifiers | list[Raw] | None = None


class _Item(Struct, gc=False):
    id: str | None = None
    number: int | None = msgspec.field(default=None, name="numeric-id")
    kind: str = msgspec.field(default="item", name="entity-type")


class _Time(Struct, gc=False):
    time: str
    precision: int
    calendar: str = msgspec.field(default="", name="calendarmodel")


_UNTIMED: tuple[object, ...] = (None, _Qualifiers(), [])
_decode_document = msgspec.json.Decoder(_Document[_Statement]).decode
_decode_document_in_pieces = msgspec.json.Decoder(_Document[Raw]).decode
_decode_statement = msgspec.json.Decoder(_Statement).decode
_decode_sitelink = msgspec.json.Decoder(_Sitelink | None).decode
_decode_snak = msgspec.json.Decoder(_Snak).decode
_decode_item = msgspec.json.Decoder(_Item).decode
_decode_time = msgspec.json.Decoder(_Time).decode
_Group = Sequence[_Statement | str]
"""The statements of a relation; a malformed one is replaced by its error message."""


class DumpRows(StatementRows):
    """Rows and counts of the entities of a dump; `add_line` adds one line of it.

    `undated` names the relations whose undated statements are kept in any case. Those of other
    relations are kept only beside a dated statement of the same subject. `tells_deprecated`: the
    deprecated statements of the relations `undated` are dropped one by one, with their object.
    """

    def __init__(self, undated: Iterable[str], tells_deprecated: bool = False) -> None:
        super().__init__()
        self._undated = frozenset(undated)
        self._tells_deprecated = tells_deprecated
        self._about_items: dict[str, bool] = {}
        self.entities: list[RawEntity] = []

    def add_line(self, line: memoryview | bytes, number: int = 0) -> None:
        """Add one entity or redirect; `ValueError` where the line is neither.

        `number` is the place of the line in the dump; a later line has a greater number.
        """
        self.line = number
        document, claims = _read_document(line)
        if not document.id:
            if not document.entity or not document.redirect:
                raise ValueError("no entity id")
            self._redirect(document.entity, document.redirect)
            return
        entity = _entity(document, claims, number)
        entity_type = _COUNTED.get(document.id[0], "other_entities")
        self.counts[entity_type] += 1
        if entity_type not in ("items", "properties"):
            return
        self.entities.append(entity)
        if _DAY.match(document.modified):
            self.counts[EDITED_PREFIX + document.modified[:10]] += 1
        if isinstance(document.redirects, _Redirects) and document.redirects.source:
            self._redirect(document.redirects.source, document.redirects.to or document.id)
        if entity_type == "items":
            for relation, group in claims.items():
                if group and self._is_about_items(relation, group[0]):
                    self._group(document.id, relation, group)

    def _redirect(self, source: str, target: str) -> None:
        self.counts["redirects"] += 1
        self.entities.append(RawEntity(source, None, (), None, 0, 0, None, target))

    def _is_about_items(self, relation: str, first_statement: _Statement | str) -> bool:
        """Whether the values of a relation are items: by its datatype, the same everywhere."""
        known_answer = self._about_items.get(relation)
        if known_answer is not None or isinstance(first_statement, str):
            return known_answer is not False
        try:
            snak = _decode_snak(first_statement.mainsnak)
            if snak.datatype is None:
                return _main_item(first_statement.mainsnak)[0] != "not_an_item"
        except ValueError:
            return True
        return self._about_items.setdefault(relation, snak.datatype == "wikibase-item")

    def _group(self, subject: str, relation: str, group: _Group) -> None:
        """Add the statements of a relation, if one has a time or they are kept without."""
        if relation not in self._undated and not [
            statement
            for statement in group
            if isinstance(statement, str) or statement.qualifiers not in _UNTIMED
        ]:
            self.counts[f"{relation}/undated"] += len(group)
            return
        for statement in group:
            try:
                if isinstance(statement, str):
                    raise ValueError(statement)
                self._statement(subject, relation, statement)
            except ValueError as error:
                item = f"{subject}/{relation}"
                self.drop("malformed_statement", item, subject, relation, str(error))

    def _statement(self, subject: str, relation: str, statement: _Statement) -> None:
        skip_reason, object_id = _main_item(statement.mainsnak)
        if statement.rank == "deprecated":
            skip_reason = statement.rank
        if skip_reason:
            self.counts[f"{relation}/{skip_reason}"] += 1
            is_told = self._tells_deprecated and relation in self._undated
            if is_told and statement.rank == "deprecated" and object_id:
                self.drop(DEPRECATED, statement.id or subject, subject, relation, object_id)
            return
        qualifiers = statement.qualifiers
        times: dict[str, list[Snak]] = {}
        if isinstance(qualifiers, _Qualifiers):
            property_snaks = zip(TIMES, astuple(qualifiers), strict=True)
            times = {
                property_id: list(map(_time_snak, snaks))
                for property_id, snaks in property_snaks
                if snaks
            }
        statement_id = statement.id
        if not statement_id:  # an id of what it says
            rank = "preferred" if statement.rank == "preferred" else "normal"
            statement_text = repr((subject, relation, object_id, rank, describe_times(times)))
            statement_id = f"{subject}${text_sha256(statement_text)[:32]}"
        self.add(statement_id, subject, relation, object_id, statement.rank, times)


def _read_document(
    line: memoryview | bytes,
) -> tuple["_Document[_Statement] | _Document[Raw]", Mapping[str, _Group]]:
    """An entity and its statements by relation; where some are malformed, each is read alone."""
    try:
        document = _decode_document(line)
        return document, document.claims if isinstance(document.claims, dict) else {}
    except (ValueError, RecursionError):
        pass
    in_pieces = _decode_document_in_pieces(line)
    claims: dict[str, _Group] = {}
    if isinstance(in_pieces.claims, dict):
        for relation, raw_statements in in_pieces.claims.items():
            claims[relation] = [_statement_or_error(raw) for raw in raw_statements]
    return in_pieces, claims


def _statement_or_error(raw: Raw) -> _Statement | str:
    """A statement, or the error message where it is malformed."""
    try:
        return _decode_statement(raw)
    except ValueError as error:
        return str(error)


def _entity(
    document: "_Document[_Statement] | _Document[Raw]", claims: Mapping[str, _Group], line: int
) -> RawEntity:
    links = document.sitelinks or {}
    wiki_page = (
        _decode_sitelink(links["enwiki"]) if isinstance(links, dict) and "enwiki" in links else None
    )
    classes = [item for items in _items_by_rank(claims.get("P31", ())).values() for item in items]
    dates = {
        property_id: _dates(claims[property_id])
        for property_id in (*BIRTHS, *DEATHS)
        if property_id in claims
    }
    return RawEntity(
        document.id,
        *entity_names(document),
        wiki_page.title if wiki_page else None,
        len(links),
        sum(map(len, claims.values())),
        page_kind(classes),
        None,
        *(life_dates(dates) if dates else (None, None)),
        document.lastrevid,
        line,
        tuple(classes),
        _english_text(document.descriptions),
        only_country(_items_by_rank(claims.get(property_id, ())) for property_id in COUNTRIES),
    )


def entity_names(document: NamedEntity) -> tuple[str | None, tuple[str, ...]]:
    """The label (English, else `mul`), and the sorted aliases in both without the label."""
    label, aliases = _english_text(document.labels), document.aliases
    if not isinstance(aliases, _Aliases) or not (aliases.en or aliases.mul):
        return label, ()
    other_names = {
        cleaned(term.value)
        for terms in (aliases.en, aliases.mul)
        for term in (terms.values() if isinstance(terms, dict) else terms or ())
    }
    other_names -= {label, ""}
    return label, tuple(sorted(other_names))


def _english_text(terms: _Labels | list[Raw] | None) -> str | None:
    """The English text, else the `mul` one; None where neither has a word."""
    if not isinstance(terms, _Labels):
        return None
    english_text = cleaned(terms.en.value) if terms.en else ""
    return english_text or (cleaned(terms.mul.value) if terms.mul else "") or None


def _items_by_rank(statements: "_Group") -> dict[Rank, list[str]]:
    """The items that statements of one property name, by rank; deprecated ones are left out."""
    items: dict[Rank, list[str]] = {}
    for statement in statements:
        if isinstance(statement, str) or statement.rank == "deprecated":
            continue
        with suppress(ValueError):
            _, item = _main_item(statement.mainsnak)
            if item:
                items.setdefault(statement.rank or "normal", []).append(item)
    return items


def only_country(properties: Iterable[Mapping[Rank, Collection[str]]]) -> tuple[str, ...]:
    """The items of the first property that names one alone; empty where none does.

    Each property has its items by rank, of which preferred ones count before others. An office of
    several jurisdictions, as of two states, is named with its country.
    """
    for items_by_rank in properties:
        items = set(items_by_rank.get("preferred") or items_by_rank.get("normal") or ())
        if len(items) == 1:
            return tuple(items)
    return ()


def life_dates(
    dates: Mapping[str, Sequence[LifeDate]],
) -> tuple[PartialDate | None, PartialDate | None]:
    """When an entity began and when it ended, from its dates; see `life_boundary`."""
    began = life_boundary(
        [dates[property_id] for property_id in BIRTHS if property_id in dates], latest=True
    )
    return began, life_boundary(
        [dates[property_id] for property_id in DEATHS if property_id in dates], latest=False
    )


def _dates(statements: _Group) -> list[LifeDate]:
    dates = []
    for statement in statements:
        if not isinstance(statement, str):
            with suppress(ValueError):
                dates.append(LifeDate(statement.rank, _time_snak(_decode_snak(statement.mainsnak))))
    return dates


def _main_item(raw: Raw) -> tuple[str | None, str | None]:
    """The reason why a main value is passed over, and the item that it names.

    The reason is None where the value is an item, and the item is None where it is unknown.
    `ValueError` where the value is malformed.
    """
    snak = _decode_snak(raw)
    if snak.datatype not in (None, "wikibase-item"):
        return "not_an_item", None
    if snak.snaktype == "somevalue":
        return None, None
    if snak.snaktype == "novalue":
        return "novalue", None
    if snak.datavalue is None or snak.datavalue.type != "wikibase-entityid":
        return "not_an_item", None
    item = _decode_item(snak.datavalue.value)
    if item.kind != "item" or not (item.id or item.number):
        return "not_an_item", None
    return None, item.id or f"Q{item.number}"


def _time_snak(snak: _Snak) -> Snak:
    """The time of a snak; a malformed one is a value without a date."""
    if snak.snaktype == "somevalue":
        return Snak("somevalue", None)
    if snak.snaktype == "novalue":
        return Snak("novalue", None)
    if snak.datavalue is None or snak.datavalue.type != "time":
        return Snak("value", None)
    try:
        value = _decode_time(snak.datavalue.value)
    except ValueError:
        return Snak("value", None)
    return Snak("value", possible_days(value.time, value.precision, value.calendar))
