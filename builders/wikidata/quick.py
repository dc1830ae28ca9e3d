"""Lines of the entity JSON by simdjson: only what is asked for leaves the parsed line.

Whatever is unusual about a line, a key that stands twice, a number beyond 64 bits, half a surrogate
pair, deep nesting, a part of another form, is left to `documents.read_document`, which gives the
same rows. (Of a name that stands twice in one language this reader takes the first.)
"""

from collections.abc import Collection
from typing import Any

import simdjson
from msgspec import Raw, json

from builders.wikidata.documents import (
    BIRTHS,
    DEATHS,
    Document,
    lives,
    no_item,
    page_kind,
    read_group,
    read_snak,
)
from builders.wikidata.parts import KINDS, Kind
from builders.wikidata.statements import TIMES, Dated

_UNUSUAL = (ValueError, RuntimeError, LookupError, TypeError, AttributeError)
_LANGUAGES = ("en", "mul")
_TIMES = frozenset(TIMES)
_LIFE = (*BIRTHS, *DEATHS)
_REDIRECTS = frozenset(("entity", "redirect", "redirects"))
_ITEM = "wikibase-item"
_SNAK = b"mainsnak"
_FORMS = 1000
"""Sets of keys of a line that are remembered as usual."""
_MANY = 20
"""Keys of an object that cost as much to list as one that is not there costs to ask for."""
_OLD = 2
"""Members of an item as a value, in old dumps."""
_NUMBERS = frozenset(int(name[1:]) for name in KINDS)
_raws = json.Decoder(list[Raw]).decode
_length = simdjson.Array.__len__


class QuickReader:
    """Reads lines; `undated`: the relations that are kept without a time.

    What is asked of the parsed line is what costs: an object that leaves it, about 0.1
    microseconds; a list of keys, 0.06 a key; a key that is not there, 4, for the exception.
    """

    def __init__(self, undated: Collection[str]) -> None:
        self._undated = frozenset(undated)
        self._parser = simdjson.Parser()
        self._about_items: set[str] = set()
        self._known: set[str] = set()
        self._usual: set[tuple[str, ...]] = set()
        self._forms: dict[tuple[str, ...], bool] = {}

    def read(self, line: memoryview | bytes) -> Document | None:
        """What a line says; None where it has to be read otherwise."""
        try:
            return self._document(bytes(line))
        except _UNUSUAL:
            self._parser = simdjson.Parser()  # the old one is in use until the error is gone
            return None

    def _document(self, line: bytes) -> Document:
        document: Any = self._parser.parse(line)
        keys = tuple(document)
        if keys not in self._usual:
            if len(set(keys)) < len(keys) or not _REDIRECTS.isdisjoint(keys):
                raise ValueError("unusual")
            if len(self._usual) < _FORMS:
                self._usual.add(keys)
        name, kind = _text(document["id"]), document["type"]
        if kind not in ("item", "property") or not name:
            raise ValueError("unusual")
        label = _label(_members(document, "labels", keys))
        aliases = _aliases(_members(document, "aliases", keys), label)
        title, links = _links(_members(document, "sitelinks", keys))
        claims = self._claims(_members(document, "claims", keys))
        return Document(name, kind, label, aliases, title, links, *claims)

    def _claims(self, claims: Any) -> tuple[Any, ...]:
        """The fields of a `Document` from `statements` to `passed`."""
        relations = list(claims)
        found = list(map(claims.__getitem__, relations)) if relations else []
        parts = dict(zip(relations, found, strict=True))
        if len(parts) < len(relations):
            raise ValueError("unusual")
        lengths = list(map(_length, found))  # `TypeError` where one is no array
        if self._known.issuperset(relations) and 0 not in lengths:
            items = [p for p in relations if p in self._about_items]
        else:
            items = [p for p in relations if len(parts[p]) and self._is_about_items(p, parts[p])]
        groups = {}
        passed = {}
        for relation in items:
            group = parts[relation]
            if relation in self._undated or self._has_time(group):
                groups[relation] = read_group(group.mini)
            else:
                passed[relation] = _length(group)
        page = _page(parts["P31"]) if "P31" in parts else None
        dates = {p: list(map(_dated, parts[p])) for p in _LIFE if p in parts}
        days = lives(dates) if dates else (None, None)
        return (sum(lengths), page, *days, groups, passed)

    def _is_about_items(self, relation: str, group: Any) -> bool:
        """Whether the values of a property are items: by its datatype, the same everywhere."""
        if relation not in self._known:
            kind = group[0]["mainsnak"].get("datatype")
            if kind is None:
                return not no_item(group[0].mini)
            if _text(kind) == _ITEM:
                self._about_items.add(relation)
            self._known.add(relation)
        return relation in self._about_items

    def _has_time(self, group: Any) -> bool:
        """Whether a statement of a relation, all of usual forms, has a time."""
        forms = self._forms
        for statement in group:
            keys = tuple(statement)
            qualified = forms.get(keys)
            if qualified is None:
                qualified = self._is_qualified(keys)
            if qualified and not _TIMES.isdisjoint(statement[b"qualifiers"]):
                return True
        return False

    def _is_qualified(self, keys: tuple[str, ...]) -> bool:
        """Whether a statement with these members has qualifiers."""
        if len(set(keys)) < len(keys):
            raise ValueError("unusual")
        if len(self._forms) < _FORMS:
            self._forms[keys] = "qualifiers" in keys
        return "qualifiers" in keys


def _dated(statement: Any) -> Dated:
    """A date of birth, inception, death or dissolution; `ValueError` where it is malformed."""
    rank = statement[b"rank"]
    return Dated(None if rank is None else _text(rank), read_snak(statement[_SNAK].mini))


def _page(group: Any) -> Kind | None:
    """What kind of wiki page an item with these P31 is."""
    for statement in group:
        try:
            value = statement[_SNAK][b"datavalue"][b"value"]
            # Old dumps have the number alone.
            name = value[b"id"] if len(value) > _OLD else None
            if name not in KINDS if name else value[b"numeric-id"] not in _NUMBERS:
                continue
        except (LookupError, TypeError):  # an unknown value, or none
            pass
        return page_kind(_raws(group.mini))
    return None


def _members(document: Any, key: str, keys: Collection[str]) -> Any:
    """An object, or an empty one where there is none; old dumps have `[]` for it."""
    part = document[key] if key in keys else None
    if isinstance(part, simdjson.Object):
        return part
    if part is None or (isinstance(part, simdjson.Array) and not len(part)):
        return {}
    raise TypeError(part)


def _label(labels: Any) -> str | None:
    names = labels if len(labels) > _MANY else list(labels)
    for language in _LANGUAGES:
        if language in names and (term := labels[language]) is not None:
            return _text(_object(term).get("value", "")) or None
    return None


def _aliases(aliases: Any, label: str | None) -> tuple[str, ...]:
    if not len(aliases):
        return ()
    names = list(aliases)
    found: set[str] = set()
    for language in _LANGUAGES:
        if language not in names:
            continue
        terms = aliases[language]
        if isinstance(terms, simdjson.Object):
            terms = terms.values()
        elif not isinstance(terms, simdjson.Array | None):
            raise TypeError(terms)
        found.update(_text(term.get("value", "")) for term in terms or ())
    return tuple(sorted(found - {label, ""}))


def _links(links: Any) -> tuple[str | None, int]:
    count = len(links)
    if not count or "enwiki" not in (links if count > _MANY else list(links)):
        return None, count
    page = links["enwiki"]
    title = _object(page).get("title") if page is not None else None
    return (None if title is None else _text(title)), count


def _object(value: Any) -> Any:
    if not isinstance(value, simdjson.Object):
        raise TypeError(value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
