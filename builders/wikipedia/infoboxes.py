"""The lines of an infobox: parameters that belong together (`infoboxes.yaml`) share a line."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from factdrift.builders.core.files import read_texts, resource

_LISTED = read_texts(resource("builders/wikipedia/infoboxes.yaml"))
_PLACE = {
    stem: [
        (unit, place) for unit, of_unit in units.items() if (place := of_unit.get(stem, -1)) >= 0
    ]
    for units in [{u: {s: n for n, s in enumerate(names)} for u, names in _LISTED["units"].items()}]
    for stem in {s for names in units.values() for s in names}
}
"""Of each parameter the units that it may be part of, and its place in them."""
_NOWHERE: list[tuple[str, int]] = []
_TOGETHER_ONLY = frozenset(_LISTED["together_only"])
_SPAN = {start: (name, end) for name, start, end in _LISTED["spans"]}
_UNSHOWN = re.compile("|".join(part.strip() for part in _LISTED["unshown"].split("|")))
_NUMBERED = re.compile(r"([A-Za-z()/ -]*?)[ ]?(\d{1,3})(start|end)?")


class _TemplatePart(NamedTuple):
    """A parameter of a unit: its place in the line, its name without number, its value."""

    place: int
    name: str
    value: str


@lru_cache(4096)
def is_shown(name: str) -> bool:
    """Whether a parameter has a name, and readers see its value."""
    return not name.isdigit() and not _UNSHOWN.fullmatch(name.lower())


def in_units(given: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """The parameters of an infobox as (name, value), with those of a unit in one value.

    `years6`, `clubs6` and `caps6` are `years` with the value `1990 | clubs: Leeds | caps: 5`,
    at the place of the first of them. Names have spaces for underscores; others are as given.
    """
    stems = {name: _stem(name) for name in given}
    opened = {
        (places[0][0], number)
        for stem, number, _ in stems.values()
        if (number or stem not in _TOGETHER_ONLY) and len(places := _PLACE.get(stem, _NOWHERE)) == 1
    }
    found: dict[tuple[str, str], list[_TemplatePart]] = {}
    for name, value in given.items():
        stem, number, label = stems[name]
        places = _PLACE.get(stem, _NOWHERE)
        at = next((p for p in places if (p[0], number) in opened), None)
        if at is None and places and (number or stem not in _TOGETHER_ONLY):
            at = places[0]
        if at is None:
            found["", name] = [_TemplatePart(0, name.replace("_", " "), value)]
        else:
            found.setdefault((at[0], number), []).append(_TemplatePart(at[1], label, value))
    for (unit, _), parts in found.items():
        if not unit:
            yield parts[0].name, parts[0].value
        elif given_parts := [p for p in parts if p.value]:
            yield _line(given_parts)


@lru_cache(4096)
def _stem(name: str) -> tuple[str, str, str]:
    """A parameter without its number in small letters, the number, and how the parameter is shown.

    `year6start` is `yearstart` and `6`.
    """
    label = name.replace("_", " ")
    found = _NUMBERED.fullmatch(label)
    number = found[2] if found else ""
    label = found[1] + (found[3] or "") if found else label
    return label.lower(), number, label


def _line(parts: list[_TemplatePart]) -> tuple[str, str]:
    """A unit as one value; a list's first mark in the middle of it is no text."""
    first, *rest = _spanned(sorted(parts))
    cells = (": ".join((p.name, p.value.lstrip("*#:; \n"))) for p in rest)
    return first.name, " | ".join([first.value, *cells])


def _spanned(parts: list[_TemplatePart]) -> list[_TemplatePart]:
    """Start and end as one stretch of time; where one is missing the other as it is."""
    by_name = {p.name: p for p in parts}
    gone = set()
    out = []
    for part in parts:
        name, end = _SPAN.get(part.name, ("", ""))
        if end in by_name:
            gone.add(end)
            part = part._replace(name=name, value=f"{part.value} – {by_name[end].value}")
        out.append(part)
    return [p for p in out if p.name not in gone]
