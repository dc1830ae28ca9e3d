"""The lines of an infobox: parameters that belong together (`infoboxes.yaml`) share a line."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from factdrift.builders.core.files import read_texts, resource
from factdrift.builders.wikipedia.marks import PIPE, block_marks, without_blocks

_LISTED = read_texts(resource("builders/wikipedia/infoboxes.yaml"))


def _unit_places(units: Mapping[str, Sequence[str]]) -> dict[str, list[tuple[str, int]]]:
    """The units that each parameter may be part of, and its place in them."""
    places: dict[str, list[tuple[str, int]]] = {}
    for unit, parameters in units.items():
        for place, parameter in enumerate(parameters):
            places.setdefault(parameter, []).append((unit, place))
    return places


_UNIT_PLACES = _unit_places(_LISTED["units"])
_NOWHERE: list[tuple[str, int]] = []
_TOGETHER_ONLY = frozenset(_LISTED["together_only"])
_SPAN = {start: (name, end) for name, start, end in _LISTED["spans"]}
_UNSHOWN = re.compile("|".join(part.strip() for part in _LISTED["unshown"].split("|")))
# `clubs6` and `year6start` match; `1990 title` does not, for its number stands in front of a word.
_NUMBERED = re.compile(r"([A-Za-z()/ -]*?)[ ]?(\d{1,3})(start|end| up)?")


class _TemplatePart(NamedTuple):
    """A parameter of a unit: its place in the line, its name without number, its value."""

    place: int
    name: str
    value: str


@lru_cache(4096)
def is_shown(name: str) -> bool:
    """Whether a parameter has a name, and readers see its value."""
    return not name.isdigit() and not _UNSHOWN.fullmatch(name.lower())


def in_units(arguments: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """The parameters of an infobox as (name, value), with those of a unit in one value.

    `years6`, `clubs6` and `caps6` are `years` with the value `1990 | clubs: Leeds | caps: 5`,
    at the place of the first of them. Names have spaces for underscores; others are as given. The
    bars of such a value are `PIPE`, and the marks of boxes and tables in it stand at its end.
    """
    opened: set[tuple[str, str]] = set()
    for name in arguments:
        stem, number, _ = _stem(name)
        places = _UNIT_PLACES.get(stem, _NOWHERE)
        # A parameter that belongs to one unit alone says which unit is meant by this number.
        if len(places) == 1 and _may_open_unit(stem, number):
            opened.add((places[0][0], number))
    parts_by_unit: dict[tuple[str, str], list[_TemplatePart]] = {}
    for name, value in arguments.items():
        stem, number, label = _stem(name)
        unit_place = _unit_place(stem, number, opened)
        if unit_place is None:
            parts_by_unit["", name] = [_TemplatePart(0, name.replace("_", " "), value)]
        else:
            unit, place = unit_place
            parts_by_unit.setdefault((unit, number), []).append(_TemplatePart(place, label, value))
    for (unit, _), parts in parts_by_unit.items():
        filled_parts = [part for part in parts if part.value]
        if not unit:
            yield parts[0].name, parts[0].value
        elif filled_parts:
            yield _line(filled_parts)


def _may_open_unit(stem: str, number: str) -> bool:
    """Whether a parameter is of a unit even where no other parameter of the unit is given."""
    return bool(number) or stem not in _TOGETHER_ONLY


def _unit_place(
    stem: str, number: str, opened: Collection[tuple[str, str]]
) -> tuple[str, int] | None:
    """Return the unit that a parameter belongs to, and its place there; None if it stands alone."""
    places = _UNIT_PLACES.get(stem, _NOWHERE)
    for unit, place in places:
        if (unit, number) in opened:
            return unit, place
    return places[0] if places and _may_open_unit(stem, number) else None


@lru_cache(4096)
def _stem(name: str) -> tuple[str, str, str]:
    """A parameter without its number in small letters, the number, and how the parameter is shown.

    `year6start` is `yearstart` and `6`.
    """
    label = name.replace("_", " ")
    numbered = _NUMBERED.fullmatch(label)
    number = numbered[2] if numbered else ""
    label = numbered[1] + (numbered[3] or "") if numbered else label
    return label.lower(), number, label


def _line(parts: list[_TemplatePart]) -> tuple[str, str]:
    """Return a unit as one value. A list mark at the start of an inner line is left out."""
    blocks = "".join(block_marks(part.value) for part in parts)
    text_parts = [part._replace(value=without_blocks(part.value)) for part in parts]
    first, *rest = _spanned(sorted(part for part in text_parts if part.value)) or parts[:1]
    cells = [without_blocks(first.value)]
    for part in rest:
        cells.append(f"{part.name}: " + part.value.lstrip("*#:; \n"))
    return first.name, f" {PIPE} ".join(cells) + blocks


def _spanned(parts: list[_TemplatePart]) -> list[_TemplatePart]:
    """Start and end as one stretch of time; where one is missing the other as it is."""
    by_name = {part.name: part for part in parts}
    joined_ends = set()
    joined_parts = []
    for part in parts:
        span_name, end_name = _SPAN.get(part.name, ("", ""))
        if end_name in by_name:
            joined_ends.add(end_name)
            span_value = f"{part.value} – {by_name[end_name].value}"
            part = part._replace(name=span_name, value=span_value)
        joined_parts.append(part)
    return [part for part in joined_parts if part.name not in joined_ends]
