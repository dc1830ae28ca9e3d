"""Usual lines of the entity JSON, each decoded at one go into what is asked for.

A line with a part of any other form than the dumps have had for years is left to
`documents.read_document`, which gives the same rows.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType, json

from factdrift.builders.wikidata.documents import (
    BIRTHS,
    DEATHS,
    Document,
    JudgedClaim,
    Named,
    Qualifiers,
    lives,
    main_item,
    names,
    read_datatype,
    read_snak,
    read_title,
)
from factdrift.builders.wikidata.parts import RawEntity, Revision, kind_of
from factdrift.builders.wikidata.statements import LifeDate

_LIFE = (*BIRTHS, *DEATHS)
_UNTIMED = (None, Qualifiers())


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
    lastrevid: Revision = 0
    modified: str = ""


_decode = json.Decoder(_Entity).decode


class QuickReader:
    """Reads lines; `undated`: the relations that are kept without a time."""

    def __init__(self, undated: Collection[str]) -> None:
        self._undated = frozenset(undated)
        self._about_items: dict[str, bool] = {}

    def read(self, line: memoryview | bytes) -> Document | None:
        """What a line says; None where it has to be read otherwise."""
        try:
            return self._document(_decode(line))
        except (ValueError, RecursionError):
            return None

    def _document(self, entity: _Entity) -> Document:
        links = entity.sitelinks or {}
        if not entity.id or isinstance(links, list):
            raise ValueError("unusual")
        claims = entity.claims if isinstance(entity.claims, dict) else {}
        groups: dict[str, list[JudgedClaim]] = {}
        passed = {}
        for relation, group in claims.items():
            about_items = self._about_items.get(relation)
            if about_items is None and group:
                about_items = self._learn(relation, group[0])
            if not about_items or not group:
                continue
            if relation in self._undated or _timed(group):
                groups[relation] = list(map(_judged, group))
            else:
                passed[relation] = len(group)
        dates = {p: list(map(_dated, claims[p])) for p in _LIFE if p in claims}
        classes = _classes(claims["P31"]) if "P31" in claims else ()
        made = RawEntity(
            entity.id,
            *names(entity),
            read_title(links["enwiki"]) if "enwiki" in links else None,
            len(links),
            sum(map(len, claims.values())),
            kind_of(classes),
            None,
            *(lives(dates) if dates else (None, None)),
            entity.lastrevid,
            0,
            classes,
        )
        return Document(entity.type, made, groups, passed, (), entity.modified)

    def _learn(self, relation: str, claim: _Claim) -> bool:
        """Whether the values of a relation are items: by its datatype, the same everywhere."""
        datatype = read_datatype(claim.mainsnak)
        if datatype is None:
            raise ValueError("unusual")
        return self._about_items.setdefault(relation, datatype == "wikibase-item")


def _timed(group: Sequence[_Claim]) -> list[_Claim]:
    return [claim for claim in group if claim.qualifiers not in _UNTIMED]


def _judged(claim: _Claim) -> JudgedClaim:
    return JudgedClaim(claim.id, *main_item(claim.mainsnak), claim.rank, claim.qualifiers)


def _classes(group: Sequence[_Claim]) -> tuple[str, ...]:
    """The items that an item with these P31 is an instance of."""
    return tuple([i for c in group if c.rank != "deprecated" and (i := main_item(c.mainsnak)[1])])


def _dated(claim: _Claim) -> LifeDate:
    """A date of birth, inception, death or dissolution; `ValueError` where it is malformed."""
    return LifeDate(claim.rank, read_snak(claim.mainsnak))
