"""The JSON of an entity, typed: only what is asked for is decoded, the rest is passed over.

The forms of older dumps are read too: `numeric-id` alone, empty maps as `[]`, missing keys,
statements without an id, snaks without a datatype.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import astuple

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.text.references import label as cleaned
from factdrift.builders.wikidata.parts import RawEntity, Revision, kind_of
from factdrift.builders.wikidata.statements import TIMES, LifeDate, Snak, life
from factdrift.builders.wikidata.times import point

_ITEM, _TIME = "wikibase-entityid", "time"
_NO_RAW = Raw(b"")
_TIMES = frozenset(TIMES)
BIRTHS, DEATHS = ("P569", "P571"), ("P570", "P576")
"""Properties of the day on which an entity began, and of the one on which it ended."""


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
    """Where an entity was asked for by an id that redirects to it, as the API says it."""

    source: str = msgspec.field(default="", name="from")
    to: str = ""


class Named(Struct, gc=False):
    """What of a line says how its entity is called."""

    labels: _Labels | list[Raw] | None = None
    aliases: _Aliases | list[Raw] | None = None


class _Document(Named, gc=False):
    """One line of a dump: an entity, or, with `entity` and `redirect`, a redirect."""

    id: str = ""
    type: str = ""
    claims: dict[str, list[Raw]] | list[Raw] | None = None
    sitelinks: Raw = _NO_RAW
    entity: str | None = None
    redirect: str | None = None
    redirects: _Redirects | list[Raw] | None = None
    lastrevid: Revision = 0
    modified: str = ""


class Document(Struct, gc=False):
    """What is read of one line: an entity, or, where `entity` is None, nothing but redirects.

    `type`: `item`, `property`, or what else it says. `groups`: the statements of each relation
    about items that has a time or is kept without; `passed`: how many statements the other
    relations about items have; `edited`: when it was last edited, as it is written.
    """

    type: str
    entity: RawEntity | None
    groups: Mapping[str, Sequence["Raw | JudgedClaim"]] = {}
    passed: Mapping[str, int] = {}
    redirects: Sequence[tuple[str, str]] = ()
    edited: str = ""


class _Sitelink(Struct, gc=False):
    title: str | None = None


class _Sitelinks(Struct, gc=False):
    enwiki: Raw = Raw(b"null")


class _Timed(Struct, gc=False):
    qualifiers: dict[str, Raw] | list[Raw] | None = None


class _Datatype(Struct, gc=False):
    datatype: str | None = None


class _Kind(Struct, gc=False):
    mainsnak: _Datatype


class _DataValue(Struct, gc=False):
    value: Raw
    type: str = ""


class _Snak(Struct, gc=False):
    snaktype: str
    datavalue: _DataValue | None = None
    datatype: str | None = None


class Qualifiers(Struct, gc=False):
    """The time qualifiers of a statement (`statements.TIMES`)."""

    P580: list[_Snak] | UnsetType = UNSET
    P582: list[_Snak] | UnsetType = UNSET
    P585: list[_Snak] | UnsetType = UNSET
    P1319: list[_Snak] | UnsetType = UNSET
    P1326: list[_Snak] | UnsetType = UNSET
    P8555: list[_Snak] | UnsetType = UNSET
    P8554: list[_Snak] | UnsetType = UNSET
    P12506: list[_Snak] | UnsetType = UNSET


class ClaimJson(Struct, gc=False):
    mainsnak: _Snak
    id: str | None = None
    rank: str | None = None
    qualifiers: Qualifiers | list[Raw] | None = None


class JudgedClaim(Struct, gc=False):
    """A statement that was judged: its id, why it is passed over, the item it names, its times."""

    id: str
    reason: str | None
    target: str | None
    rank: str | None
    qualifiers: Qualifiers | None


class _Date(Struct, gc=False):
    """What of a statement says when an entity began or ended."""

    mainsnak: _Snak
    rank: str | None = None


class _Item(Struct, gc=False):
    id: str | None = None
    number: int | None = msgspec.field(default=None, name="numeric-id")
    kind: str = msgspec.field(default="item", name="entity-type")


class _UsualItem(Struct, gc=False):
    id: str
    kind: Literal["item"] = msgspec.field(default="item", name="entity-type")


class _ItemValue(Struct, gc=False):
    value: _UsualItem
    type: Literal["wikibase-entityid"]


class _ItemSnak(Struct, gc=False):
    """A main value as nearly all are: the rest is left to `main_value`."""

    snaktype: Literal["value"]
    datavalue: _ItemValue
    datatype: Literal["wikibase-item"]


class _Time(Struct, gc=False):
    time: str
    precision: int
    calendar: str = msgspec.field(default="", name="calendarmodel")


class _TimeValue(Struct, gc=False):
    value: _Time
    type: str


class _TimeSnak(Struct, gc=False):
    """A date as nearly all are: the rest is left to `_snak`."""

    snaktype: str
    datavalue: _TimeValue


_document = msgspec.json.Decoder(_Document).decode
_kind = msgspec.json.Decoder(_Kind).decode
_datatype = msgspec.json.Decoder(_Datatype).decode
_timed = msgspec.json.Decoder(_Timed).decode
_sitelinks = msgspec.json.Decoder(_Sitelinks).decode
_sitelink = msgspec.json.Decoder(_Sitelink | None).decode
_sitelink_map = msgspec.json.Decoder(dict[str, Raw] | list[Raw]).decode
read_statement = msgspec.json.Decoder(ClaimJson).decode
_date = msgspec.json.Decoder(_Date).decode
_one_snak = msgspec.json.Decoder(_Snak).decode
_time_snak = msgspec.json.Decoder(_TimeSnak).decode
_item_snak = msgspec.json.Decoder(_ItemSnak).decode
_item = msgspec.json.Decoder(_Item).decode
_time = msgspec.json.Decoder(_Time).decode


def read_document(line: memoryview | bytes, undated: Collection[str]) -> Document:
    """What a line says; `undated`: the relations that are kept without a time.

    `ValueError` where it is neither an entity nor a redirect.
    """
    document = _document(line)
    if not document.id:
        if not document.entity or not document.redirect:
            raise ValueError("no entity id")
        return Document("", None, redirects=[(document.entity, document.redirect)])
    claims = document.claims if isinstance(document.claims, dict) else {}
    groups: dict[str, Sequence[Raw | JudgedClaim]] = {}
    passed = {}
    for relation, group in claims.items():
        if not group or no_item(group[0]):
            continue
        if relation in undated or any(map(_has_time, group)):
            groups[relation] = group
        else:
            passed[relation] = len(group)
    links, title = _links(document.sitelinks)
    redirect = document.redirects
    classes = tuple(_classes(claims.get("P31", ())))
    entity = RawEntity(
        document.id,
        *names(document),
        title,
        links,
        sum(map(len, claims.values())),
        kind_of(classes),
        None,
        *lives({p: _dated(claims[p]) for p in (*BIRTHS, *DEATHS) if p in claims}),
        revision=document.lastrevid,
        classes=classes,
    )
    return Document(
        document.type or {"Q": "item", "P": "property", "L": "lexeme"}.get(document.id[0], ""),
        entity,
        groups,
        passed,
        [(redirect.source, redirect.to or document.id)]
        if isinstance(redirect, _Redirects) and redirect.source
        else (),
        document.modified,
    )


def no_item(first: Raw | bytes) -> bool:
    """Whether the first statement of a relation shows that its values are no items."""
    try:
        datatype = _kind(first).mainsnak.datatype
        if datatype is not None:
            return datatype != "wikibase-item"
        return main_value(read_statement(first).mainsnak)[0] == "not_an_item"
    except ValueError:
        return False


def _has_time(raw: Raw) -> bool:
    try:
        qualifiers = _timed(raw).qualifiers
    except ValueError:
        return False
    return isinstance(qualifiers, dict) and not _TIMES.isdisjoint(qualifiers)


def main_value(snak: _Snak) -> tuple[str | None, str | None]:
    """Why a main value is passed over, or None and the item it names (None: unknown)."""
    if snak.datatype not in (None, "wikibase-item"):
        return "not_an_item", None
    if snak.snaktype == "somevalue":
        return None, None
    if snak.snaktype == "novalue":
        return "novalue", None
    if snak.datavalue is None or snak.datavalue.type != _ITEM:
        return "not_an_item", None
    item = _item(snak.datavalue.value)
    if item.kind != "item":
        return "not_an_item", None
    if item.id:
        return None, item.id
    return (None, f"Q{item.number}") if item.number else ("not_an_item", None)


def times(given: Qualifiers) -> dict[str, list[Snak]]:
    """The time qualifiers of a statement that are there, with the days that they may mean."""
    stated = zip(TIMES, astuple(given), strict=True)
    return {p: [_snak(s) for s in snaks] for p, snaks in stated if snaks}


def _snak(snak: _Snak) -> Snak:
    if snak.snaktype == "somevalue":
        return Snak("somevalue", None)
    if snak.snaktype == "novalue":
        return Snak("novalue", None)
    if snak.datavalue is None or snak.datavalue.type != _TIME:
        return Snak("value", None)
    try:
        value = _time(snak.datavalue.value)
    except ValueError:
        return Snak("value", None)
    return Snak("value", point(value.time, value.precision, value.calendar))


def names(document: Named) -> tuple[str | None, tuple[str, ...]]:
    """The label, English or `mul`, and every other name, sorted."""
    labels, aliases = document.labels, document.aliases
    found = (labels.en or labels.mul) if isinstance(labels, _Labels) else None
    label = cleaned(found.value) or None if found else None
    if not isinstance(aliases, _Aliases) or not (aliases.en or aliases.mul):
        return label, ()
    others = {
        cleaned(term.value)
        for given in (aliases.en, aliases.mul)
        for term in (given.values() if isinstance(given, dict) else given or ())
    }
    others -= {label, ""}
    return label, tuple(sorted(others))


def _links(raw: Raw) -> tuple[int, str | None]:
    """The number of sitelinks, and the title of the English Wikipedia page."""
    text = bytes(raw)
    if len(text) <= 4:
        return 0, None
    count = len(_sitelink_map(text))
    if b'"enwiki"' not in text or text[:1] != b"{":
        return count, None
    return count, read_title(_sitelinks(text).enwiki)


def lives(dates: Mapping[str, Sequence[LifeDate]]) -> tuple[PartialDate | None, PartialDate | None]:
    """When an entity began and when it ended, by its dates; see `statements.life`."""
    began = life([dates[p] for p in BIRTHS if p in dates], latest=True)
    return began, life([dates[p] for p in DEATHS if p in dates], latest=False)


def _dated(claims: Sequence[Raw]) -> list[LifeDate]:
    found = []
    for raw in claims:
        with suppress(ValueError):
            date = _date(raw)
            found.append(LifeDate(date.rank, _snak(date.mainsnak)))
    return found


def main_item(raw: Raw) -> tuple[str | None, str | None]:
    """`main_value` of a snak; `ValueError` where it is malformed."""
    try:
        item = _item_snak(raw).datavalue.value.id
    except msgspec.ValidationError:
        item = ""
    return (None, item) if item else main_value(_one_snak(raw))


def read_datatype(raw: Raw) -> str | None:
    """The type of all values of a property, by one of its snaks; None: not said."""
    return _datatype(raw).datatype


def read_title(raw: Raw) -> str | None:
    """The title of the page that a sitelink names."""
    page = _sitelink(raw)
    return page.title if page else None


def read_snak(raw: bytes) -> Snak:
    """One time of a statement; `ValueError` where it is malformed."""
    try:
        given = _time_snak(raw)
    except msgspec.ValidationError:
        return _snak(_one_snak(raw))
    value = given.datavalue.value
    if given.snaktype != "value" or given.datavalue.type != _TIME:
        return _snak(_one_snak(raw))
    return Snak("value", point(value.time, value.precision, value.calendar))


def _classes(claims: Iterable[Raw]) -> Iterator[str]:
    """The items that an item with these P31 is an instance of."""
    for raw in claims:
        with suppress(ValueError):
            judged = read_judged(raw)
            if judged.target and judged.rank != "deprecated":
                yield judged.target


def read_judged(raw: Raw) -> JudgedClaim:
    """A statement, judged; `ValueError` where it is malformed."""
    statement = read_statement(raw)
    given = statement.qualifiers
    times = None if isinstance(given, list) else given
    return JudgedClaim(statement.id or "", *main_value(statement.mainsnak), statement.rank, times)
