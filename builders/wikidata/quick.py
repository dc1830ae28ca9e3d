"""Usual lines of the entity JSON, decoded at one go: a third of the time of the tolerant reader.

A line with a part of any other form than the dumps have had for years is left to
`documents.read_document`, which gives the same rows.
"""

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType, json

from builders.wikidata.documents import (
    BIRTHS,
    DEATHS,
    Document,
    Named,
    Qualifiers,
    Told,
    lives,
    main_item,
    names,
    page_of,
    read_datatype,
    read_snak,
    read_title,
)
from builders.wikidata.parts import RawEntity
from builders.wikidata.statements import Dated

_LIFE = (*BIRTHS, *DEATHS)
_NO_TIMES = Qualifiers()
_qualifiers = attrgetter("qualifiers")


class _Claim(Struct, gc=False):
    """A statement; its main value is decoded where it is asked for."""

    mainsnak: Raw
    id: str
    rank: Literal["normal", "preferred", "deprecated"]
    qualifiers: Qualifiers | None = None


class _Entity(Named, kw_only=True, gc=False):
    id: str
    type: Literal["item", "property"]
    claims: dict[str, list[_Claim]] | list[Raw] | None = None
    sitelinks: dict[str, Raw] | list[None] | None = None
    redirects: UnsetType = UNSET


_Claims = Mapping[str, Sequence[_Claim]]
_decode = json.Decoder(_Entity).decode


class QuickReader:
    """Reads lines; `undated`: the relations that are kept without a time."""

    def __init__(self, undated: Collection[str]) -> None:
        self._undated = frozenset(undated)
        self._about_items: set[str] = set()
        self._known: set[str] = set()

    def read(self, line: memoryview | bytes) -> Document | None:
        """What a line says; None where it has to be read otherwise."""
        try:
            return self._document(_decode(line))
        except (ValueError, RecursionError):
            return None

    def _document(self, entity: _Entity) -> Document:
        if not entity.id or (isinstance(entity.sitelinks, list) and entity.sitelinks):
            raise ValueError("unusual")
        claims = entity.claims if isinstance(entity.claims, dict) else {}
        groups: dict[str, list[Told]] = {}
        passed = {}
        for relation in self._items(claims):
            group = claims[relation]
            if relation in self._undated or _has_time(group):
                groups[relation] = list(map(_told, group))
            else:
                passed[relation] = len(group)
        links = entity.sitelinks or {}
        dates = {p: list(map(_dated, claims[p])) for p in _LIFE if p in claims}
        made = RawEntity(
            entity.id,
            *names(entity),
            read_title(links["enwiki"]) if "enwiki" in links else None,
            len(links),
            sum(map(len, claims.values())),
            page_of(groups["P31"] if "P31" in groups else map(_told, claims.get("P31", ()))),
            None,
            *(lives(dates) if dates else (None, None)),
        )
        return Document(entity.type, made, groups, passed)

    def _items(self, claims: _Claims) -> list[str]:
        """The relations whose values are items: by its datatype, the same everywhere."""
        if self._known.issuperset(claims) and all(claims.values()):
            return [relation for relation in claims if relation in self._about_items]
        return [p for p, group in claims.items() if group and self._is_about_items(p, group)]

    def _is_about_items(self, relation: str, group: Sequence[_Claim]) -> bool:
        if relation not in self._known:
            datatype = read_datatype(group[0].mainsnak)
            if datatype is None:
                raise ValueError("unusual")
            if datatype == "wikibase-item":
                self._about_items.add(relation)
            self._known.add(relation)
        return relation in self._about_items


def _has_time(group: Sequence[_Claim]) -> bool:
    qualified = filter(None, map(_qualifiers, group))
    return any(map(_NO_TIMES.__ne__, qualified))


def _told(claim: _Claim) -> Told:
    return Told(claim.id, *main_item(claim.mainsnak), claim.rank, claim.qualifiers)


def _dated(claim: _Claim) -> Dated:
    """A date of birth, inception, death or dissolution; `ValueError` where it is malformed."""
    return Dated(claim.rank, read_snak(claim.mainsnak))
