"""Lines of the entity JSON as raw rows: what a dump says, with nothing inferred.

A line is decoded at one go into what is asked for; the rest is passed over. Where something in it
is malformed, its statements are decoded one by one, so that only the malformed ones are lost. The
forms of older dumps are read too: `numeric-id` alone, empty maps as `[]`, missing keys, statements
without an id, snaks without a datatype.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import astuple

from factdrift.builders.core.dates import PartialDate
from factdrift.builders.core.hashing import text_sha256
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
EDITED_PREFIX = "edited/"
"""Before the day on which entities were last edited: how many were is counted so."""
_DAY = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T")
_COUNTED = {"Q": "items", "P": "properties", "L": "lexemes"}
"""What entities are counted as, by the first letter of their ids."""


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


class NamedEntity(Struct, gc=False):
    """What of a line says how its entity is called."""

    labels: _Labels | list[Raw] | None = None
    aliases: _Aliases | list[Raw] | None = None


class _Document(NamedEntity, Generic[C], gc=False):
    """One line of a dump: an entity, or, with `entity` and `redirect`, a redirect."""

    id: str = ""
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


class _Claim(Struct, gc=False):
    """A statement; its main value is decoded where it is asked for."""

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
_whole = msgspec.json.Decoder(_Document[_Claim]).decode
_in_pieces = msgspec.json.Decoder(_Document[Raw]).decode
_claim = msgspec.json.Decoder(_Claim).decode
_sitelink = msgspec.json.Decoder(_Sitelink | None).decode
_snak = msgspec.json.Decoder(_Snak).decode
_item = msgspec.json.Decoder(_Item).decode
_time = msgspec.json.Decoder(_Time).decode
_Group = Sequence[_Claim | str]
"""The statements of a relation; in place of a malformed one stands what is wrong with it."""


class DumpRows(StatementRows):
    """Rows and counts of the entities that were read; `read` adds one line.

    `undated`: the relations whose undated statements are kept even where no dated one of the same
    subject stands beside them.
    """

    def __init__(self, undated: Iterable[str]) -> None:
        super().__init__()
        self._undated = frozenset(undated)
        self._about_items: dict[str, bool] = {}
        self.entities: list[RawEntity] = []

    def read(self, line: memoryview | bytes, number: int = 0) -> None:
        """Add one entity or redirect; `ValueError` where the line is neither.

        `number`: the place of the line in the dump; the later of two is the greater.
        """
        self.line = number
        document: _Document[_Claim] | _Document[Raw]
        claims: Mapping[str, _Group] = {}
        try:
            document = _whole(line)
            if isinstance(document.claims, dict):
                claims = document.claims
        except (ValueError, RecursionError):
            document = _in_pieces(line)
            if isinstance(document.claims, dict):
                claims = {name: list(map(_one, raws)) for name, raws in document.claims.items()}
        if not document.id:
            if not document.entity or not document.redirect:
                raise ValueError("no entity id")
            self._redirect(document.entity, document.redirect)
            return
        entity = _entity(document, claims, number)
        counted = _COUNTED.get(document.id[0], "other_entities")
        self.counts[counted] += 1
        if counted not in ("items", "properties"):
            return
        self.entities.append(entity)
        if _DAY.match(document.modified):
            self.counts[EDITED_PREFIX + document.modified[:10]] += 1
        if isinstance(document.redirects, _Redirects) and document.redirects.source:
            self._redirect(document.redirects.source, document.redirects.to or document.id)
        if counted == "items":
            for relation, group in claims.items():
                if group and self._is_about_items(relation, group[0]):
                    self._group(document.id, relation, group)

    def _redirect(self, source: str, target: str) -> None:
        self.counts["redirects"] += 1
        self.entities.append(RawEntity(source, None, (), None, 0, 0, None, target))

    def _is_about_items(self, relation: str, first: _Claim | str) -> bool:
        """Whether the values of a relation are items: by its datatype, the same everywhere."""
        known = self._about_items.get(relation)
        if known is not None or isinstance(first, str):
            return known is not False
        try:
            snak = _snak(first.mainsnak)
            if snak.datatype is None:
                return _main_item(first.mainsnak)[0] != "not_an_item"
        except ValueError:
            return True
        return self._about_items.setdefault(relation, snak.datatype == "wikibase-item")

    def _group(self, subject: str, relation: str, group: _Group) -> None:
        """Add the statements of a relation, if one has a time or they are kept without."""
        if relation not in self._undated and not [
            one for one in group if isinstance(one, str) or one.qualifiers not in _UNTIMED
        ]:
            self.counts[f"{relation}/undated"] += len(group)
            return
        for claim in group:
            try:
                if isinstance(claim, str):
                    raise ValueError(claim)
                self._statement(subject, relation, claim)
            except ValueError as error:
                item = f"{subject}/{relation}"
                self.drop("malformed_statement", item, subject, relation, str(error))

    def _statement(self, subject: str, relation: str, claim: _Claim) -> None:
        passed_over, target = _main_item(claim.mainsnak)
        if claim.rank == "deprecated":
            passed_over = claim.rank
        if passed_over:
            self.counts[f"{relation}/{passed_over}"] += 1
            return
        given = claim.qualifiers
        times: dict[str, list[Snak]] = {}
        if isinstance(given, _Qualifiers):
            stated = zip(TIMES, astuple(given), strict=True)
            times = {p: list(map(_stated, snaks)) for p, snaks in stated if snaks}
        name = claim.id
        if not name:  # an id of what it says
            rank = "preferred" if claim.rank == "preferred" else "normal"
            text = repr((subject, relation, target, rank, describe_times(times)))
            name = f"{subject}${text_sha256(text)[:32]}"
        self.add(name, subject, relation, target, claim.rank, times)


def _one(raw: Raw) -> _Claim | str:
    """A statement, or what is wrong with it."""
    try:
        return _claim(raw)
    except ValueError as error:
        return str(error)


def _entity(
    document: "_Document[_Claim] | _Document[Raw]", claims: Mapping[str, _Group], line: int
) -> RawEntity:
    links = document.sitelinks or {}
    page = _sitelink(links["enwiki"]) if isinstance(links, dict) and "enwiki" in links else None
    classes = []
    for claim in claims.get("P31", ()):
        if not isinstance(claim, str) and claim.rank != "deprecated":
            with suppress(ValueError):
                classes += [item for item in _main_item(claim.mainsnak)[1:] if item]
    dates = {p: _dates(claims[p]) for p in (*BIRTHS, *DEATHS) if p in claims}
    return RawEntity(
        document.id,
        *entity_names(document),
        page.title if page else None,
        len(links),
        sum(map(len, claims.values())),
        page_kind(classes),
        None,
        *(life_dates(dates) if dates else (None, None)),
        document.lastrevid,
        line,
        tuple(classes),
    )


def entity_names(document: NamedEntity) -> tuple[str | None, tuple[str, ...]]:
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


def life_dates(
    dates: Mapping[str, Sequence[LifeDate]],
) -> tuple[PartialDate | None, PartialDate | None]:
    """When an entity began and when it ended, by its dates; see `statements.life`."""
    began = life_boundary([dates[p] for p in BIRTHS if p in dates], latest=True)
    return began, life_boundary([dates[p] for p in DEATHS if p in dates], latest=False)


def _dates(group: _Group) -> list[LifeDate]:
    found = []
    for claim in group:
        if not isinstance(claim, str):
            with suppress(ValueError):
                found.append(LifeDate(claim.rank, _stated(_snak(claim.mainsnak))))
    return found


def _main_item(raw: Raw) -> tuple[str | None, str | None]:
    """Why a main value is passed over, or None and the item it names (None: unknown).

    `ValueError` where it is malformed.
    """
    snak = _snak(raw)
    if snak.datatype not in (None, "wikibase-item"):
        return "not_an_item", None
    if snak.snaktype == "somevalue":
        return None, None
    if snak.snaktype == "novalue":
        return "novalue", None
    if snak.datavalue is None or snak.datavalue.type != "wikibase-entityid":
        return "not_an_item", None
    item = _item(snak.datavalue.value)
    if item.kind != "item" or not (item.id or item.number):
        return "not_an_item", None
    return None, item.id or f"Q{item.number}"


def _stated(snak: _Snak) -> Snak:
    """A time; one that is malformed has no date."""
    if snak.snaktype == "somevalue":
        return Snak("somevalue", None)
    if snak.snaktype == "novalue":
        return Snak("novalue", None)
    if snak.datavalue is None or snak.datavalue.type != "time":
        return Snak("value", None)
    try:
        value = _time(snak.datavalue.value)
    except ValueError:
        return Snak("value", None)
    return Snak("value", possible_days(value.time, value.precision, value.calendar))
