"""Lines of the entity JSON as typed rows: what a dump says, with nothing inferred.

Only what is needed is decoded: labels in two languages, and the statements of the configured
relations. The forms of older dumps are read too: `numeric-id` alone, empty maps as `[]`, missing
keys, statements without an id, snaks without a datatype.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

import msgspec
from msgspec import Raw, Struct

from builders.rows import Dropped, Rank
from builders.wikidata.parts import KINDS, Kind, RawEntity, RawFact
from builders.wikidata.statements import UNDATED, Interval, Reason, Snak, coarse, intervals, shown
from builders.wikidata.times import point

_ITEM, _TIME = "wikibase-entityid", "time"
_NO_RAW = Raw(b"")


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
    source: str = msgspec.field(default="", name="from")
    to: str = ""


class _Document(Struct, gc=False):
    id: str = ""
    type: str = ""
    labels: _Labels | list[Raw] | None = None
    aliases: _Aliases | list[Raw] | None = None
    claims: dict[str, list[Raw]] | list[Raw] | None = None
    sitelinks: Raw = _NO_RAW
    entity: str | None = None
    redirect: str | None = None
    redirects: _Redirects | list[Raw] | None = None


class _Sitelink(Struct, gc=False):
    title: str | None = None


class _Sitelinks(Struct, gc=False):
    enwiki: _Sitelink | None = None


class _DataValue(Struct, gc=False):
    value: Raw
    type: str = ""


class _Snak(Struct, gc=False):
    snaktype: str
    datavalue: _DataValue | None = None
    datatype: str | None = None


class _Qualifiers(Struct, gc=False):
    P580: list[_Snak] = []
    P582: list[_Snak] = []
    P585: list[_Snak] = []


class _Statement(Struct, gc=False):
    mainsnak: _Snak
    id: str | None = None
    rank: str | None = None
    qualifiers: _Qualifiers | list[Raw] | None = None


class _Item(Struct, gc=False):
    id: str | None = None
    number: int | None = msgspec.field(default=None, name="numeric-id")
    kind: str = msgspec.field(default="item", name="entity-type")


class _Time(Struct, gc=False):
    time: str
    precision: int
    calendar: str = msgspec.field(default="", name="calendarmodel")


_document = msgspec.json.Decoder(_Document).decode
_sitelinks = msgspec.json.Decoder(_Sitelinks).decode
_sitelink = msgspec.json.Decoder(_Sitelink).decode
_sitelink_map = msgspec.json.Decoder(dict[str, Raw] | list[Raw]).decode
_statement = msgspec.json.Decoder(_Statement).decode
_item = msgspec.json.Decoder(_Item).decode
_time = msgspec.json.Decoder(_Time).decode
_NO_QUALIFIERS = _Qualifiers()


class Rows:
    """Rows and counts of the entities that were read; `read` adds one line."""

    def __init__(self, relations: Mapping[str, bool]) -> None:
        self._relations = dict(relations)
        self._wanted = frozenset(relations)
        self.facts: list[RawFact] = []
        self.entities: list[RawEntity] = []
        self.dropped: list[Dropped] = []
        self.counts: Counter[str] = Counter()

    def read(self, line: memoryview | bytes) -> None:
        """Add one entity or redirect; `ValueError` where the line is neither."""
        document = _document(line)
        name = document.id
        if not name:
            if not document.entity or not document.redirect:
                raise ValueError("no entity id")
            self._redirect(document.entity, document.redirect)
            return
        kind = document.type or {"Q": "item", "P": "property", "L": "lexeme"}.get(name[0], "")
        if kind not in ("item", "property"):
            self.counts["lexemes" if kind == "lexeme" else "other_entities"] += 1
            return
        self.counts["items" if kind == "item" else "properties"] += 1
        if isinstance(document.redirects, _Redirects) and document.redirects.source:
            self._redirect(document.redirects.source, document.redirects.to or name)
        claims = document.claims if isinstance(document.claims, dict) else {}
        if kind == "item":
            for relation in self._wanted.intersection(claims):
                self.counts[f"{relation}/statements"] += len(claims[relation])
                for raw in claims[relation]:
                    self._claim(name, relation, raw)
        links, title = _links(document.sitelinks)
        label, aliases = _names(document)
        count = sum(map(len, claims.values()))
        page = _kind(claims.get("P31", ()))
        self.entities.append(RawEntity(name, label, aliases, title, links, count, page, None))

    def _redirect(self, source: str, target: str) -> None:
        self.counts["redirects"] += 1
        self.entities.append(RawEntity(source, None, (), None, 0, 0, None, target))

    def _claim(self, subject: str, relation: str, raw: Raw) -> None:
        counts = self.counts
        try:
            statement = _statement(raw)
            reason, target = _value(statement.mainsnak)
        except msgspec.DecodeError as error:
            self._drop(
                "malformed_statement", f"{subject}/{relation}", subject, relation, str(error)
            )
            return
        if statement.rank == "deprecated":
            reason = "deprecated"
        if reason:
            counts[f"{relation}/{reason}"] += 1
            return
        given = statement.qualifiers
        times = given if isinstance(given, _Qualifiers) else _NO_QUALIFIERS
        found: list[Interval] | Reason = "undated"
        if times.P580 or times.P582 or times.P585:
            starts, ends, points = _snaks(times.P580), _snaks(times.P582), _snaks(times.P585)
            found = intervals(starts, ends, points)
            if coarse(starts, ends, points):
                counts[f"{relation}/coarse_time"] += 1
        if found == "undated":
            if not self._relations[relation]:
                counts[f"{relation}/undated"] += 1
                return
            found = [UNDATED]
        rank: Rank = "preferred" if statement.rank == "preferred" else "normal"
        name = statement.id or _made_id(subject, relation, target, rank, times)
        if isinstance(found, str):
            seen = f"start {shown(starts)}, end {shown(ends)}"
            self._drop(found, name, subject, relation, seen)
            return
        problem = None if target else "unknown_value"
        for interval in found:
            self.facts.append(
                RawFact(name, subject, relation, target, *_days(interval), rank, problem)
            )

    def _drop(self, reason: str, item: str, subject: str, relation: str, detail: str) -> None:
        self.dropped.append(
            Dropped("mine", reason, item, subject, relation, None, None, detail[:200])
        )


def _value(snak: _Snak) -> tuple[str | None, str | None]:
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


def _snaks(given: Sequence[_Snak]) -> list[Snak]:
    return [_snak(s) for s in given]


def _snak(snak: _Snak) -> Snak:
    if snak.snaktype == "somevalue":
        return Snak("somevalue", None)
    if snak.snaktype == "novalue":
        return Snak("novalue", None)
    if snak.datavalue is None or snak.datavalue.type != _TIME:
        return Snak("value", None)
    try:
        value = _time(snak.datavalue.value)
    except msgspec.DecodeError:
        return Snak("value", None)
    return Snak("value", point(value.time, value.precision, value.calendar))


def _days(
    interval: Interval,
) -> tuple[date | None, date | None, date | None, date | None, bool, bool]:
    start, end = interval.start or (None, None), interval.end or (None, None)
    return (*start, *end, interval.end_open, interval.point)


def _made_id(subject: str, relation: str, target: str | None, rank: str, times: _Qualifiers) -> str:
    """An id for a statement that has none: a hash of what it says."""
    said = [
        [(s.snaktype, bytes(s.datavalue.value).decode() if s.datavalue else "") for s in side]
        for side in (times.P580, times.P582, times.P585)
    ]
    text = repr((subject, relation, target, rank, said))
    return f"{subject}${hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _names(document: _Document) -> tuple[str | None, tuple[str, ...]]:
    """The label, English or `mul`, and every other name, sorted."""
    labels, aliases = document.labels, document.aliases
    found = (labels.en or labels.mul) if isinstance(labels, _Labels) else None
    label = found.value or None if found else None
    if not isinstance(aliases, _Aliases):
        return label, ()
    names = {
        term.value
        for given in (aliases.en, aliases.mul)
        for term in (given.values() if isinstance(given, dict) else given or ())
    }
    names -= {label, ""}
    return label, tuple(sorted(names))


def _links(raw: Raw) -> tuple[int, str | None]:
    """The number of sitelinks, and the title of the English Wikipedia page."""
    text = bytes(raw)
    if len(text) <= 4:
        return 0, None
    count = text.count(b'"site":') or len(_sitelink_map(text))
    start = text.find(b'"enwiki":{') + 9  # titles hold no braces
    if start >= 9:
        return count, _sitelink(text[start : text.find(b"}", start) + 1]).title
    if b'"enwiki"' not in text or text[:1] != b"{":
        return count, None
    page = _sitelinks(text).enwiki
    return count, page.title if page else None


def _kind(claims: Sequence[Raw]) -> Kind | None:
    """What kind of wiki page an item is by its P31, if any."""
    for raw in claims:
        try:
            statement = _statement(raw)
            _, target = _value(statement.mainsnak)
        except msgspec.DecodeError:
            continue
        if target in KINDS and statement.rank != "deprecated":
            return KINDS[target]
    return None
