"""Rows of a dataset become items: what is shown of each, joined with the text it leads to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from annotation.batch import Item, Json
from annotation.dataset import Dataset, Row, as_json, row_name
from annotation.draw import at, draw, fetch, require
from annotation.joins import KEYS, Found, Sources
from annotation.layout import Layout, Shown
from annotation.texts import plain
from builders.errors import UserError
from builders.store import digest

_SPAN = ("paragraph", "start", "end", "kind")
_FETCHED = 1000
"""Rows, with the texts that they lead to, that are held at a time."""


@dataclass
class Ledger:
    """What earlier batches of a layout sent: ids of rows and of items.

    `open`: the only rows that are to be sent, where that is given.
    """

    rows: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    open: set[str] | None = None


@dataclass
class Made:
    """Items in the order in which they are packed, `groups` beside them, and what was left out."""

    items: list[Item]
    groups: list[str]
    counts: dict[str, int]


def make_items(
    layout: Layout,
    name: str,
    dataset: Dataset,
    sources: Sources,
    *,
    number: int,
    seed: int,
    ledger: Ledger,
) -> Made:
    """Up to `number` items of rows drawn from a dataset.

    `counts`: `rows` seen, `sent_before`, `not_open`, `missing <field>`, `same_item`, `same_id`.
    Where two rows show the same, or have one id, the first stays. With `together`, a group that
    does not fit is left for the next batch, unless it is the only one. `UserError` where none is
    left, or a column is missing.
    """
    _columns_are_there(layout, dataset)
    drawn = draw(dataset, layout, seed, ledger.rows, ledger.open)
    made = Made([], [], dict(drawn.counts))
    seen = Ledger(items=set(ledger.items))
    taken, size = 0, max(min(number, _FETCHED), 50)
    while len(made.items) < number and taken < len(drawn.places):
        rows = fetch(dataset, drawn.places[taken : taken + size].tolist())
        size = min(2 * size, _FETCHED)
        joined = _joined(layout, rows, sources)
        for row in rows:
            if len(made.items) == number:
                break
            taken += 1
            _add(made, layout, name, row, joined, seen)
    if layout.together and taken < len(drawn.places):
        _end_with_a_group(made, _group(layout, fetch(dataset, [int(drawn.places[taken])])[0]))
    if not made.items:
        why = ", ".join(f"{reason}: {n}" for reason, n in made.counts.items() if n)
        again = "--open sends once more what is not decided, --again everything"
        hint = again if made.counts["sent_before"] else None
        raise UserError(f"no row of {dataset.name} can be sent ({why})", hint=hint)
    return made


def item_id(layout: str, fields: Mapping[str, Json]) -> str:
    """The id of an item: a hash of its layout's name and of what is shown."""
    return digest([layout, fields])


def attention(layout: Layout, name: str) -> list[Item]:
    """The layout's items with known answers."""
    found = []
    for one in layout.attention:
        fields, answers = as_json(one.get("fields")), as_json(one.get("answers"))
        if not isinstance(fields, Mapping) or not isinstance(answers, Mapping):
            raise UserError(f"layout {name}: an attention item needs `fields` and `answers`")
        found.append(Item(item_id(name, fields), "", fields, answers))
    return found


def _add(
    made: Made, layout: Layout, name: str, row: Row, joined: Mapping[str, Found], seen: Ledger
) -> None:
    fields: dict[str, Json] = {}
    for field_name, shown in layout.fields.items():
        value = _field(field_name, shown, row, joined)
        if _empty(value) and shown.kind != "spans":
            if not shown.optional:
                _count(made, f"missing {field_name}")
                return
            continue
        fields[field_name] = value
    item = Item(item_id(name, fields), row_name(row), fields)
    if item.id in seen.items or item.row in seen.rows:
        _count(made, "same_item" if item.id in seen.items else "same_id")
        return
    seen.items.add(item.id)
    seen.rows.add(item.row)
    made.items.append(item)
    made.groups.append(_group(layout, row))


def _count(made: Made, reason: str) -> None:
    made.counts[reason] = made.counts.get(reason, 0) + 1


def _empty(value: Json) -> bool:
    """Nothing that one could read."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, Sequence):
        return not any(plain(one).strip() for one in value)
    return value is None


def _group(layout: Layout, row: Row) -> str:
    """What rows that stay together have in common; empty where the layout names nothing."""
    common = [as_json(at(row, one)) for one in layout.together]
    return digest(common) if common else ""


def _end_with_a_group(made: Made, following: str) -> None:
    """Leave out the items of the group that the row after the last one is of too."""
    start = made.groups.index(following) if following in made.groups else 0
    if start:
        del made.items[start:], made.groups[start:]


def _columns_are_there(layout: Layout, dataset: Dataset) -> None:
    for name, shown in layout.fields.items():
        if shown.optional or (shown.join and not shown.column):
            continue
        if shown.kind != "spans" or shown.column:
            require(dataset, [(shown.column or name).split(".")[0]])


def _key(shown: Shown, row: Row) -> str | None:
    places = (shown.column,) if shown.column else KEYS[shown.join or "article"]
    found = (at(row, place) for place in places)
    return next((one for one in found if isinstance(one, str) and one), None)


def _joined(layout: Layout, rows: Sequence[Row], sources: Sources) -> dict[str, Found]:
    """What the rows' keys lead to, by kind of join."""
    keys: dict[str, set[str]] = {}
    for shown in layout.fields.values():
        if shown.join:
            found = (_key(shown, row) for row in rows)
            keys.setdefault(shown.join, set()).update(key for key in found if key)
    return {join: sources.find(join, wanted) for join, wanted in keys.items()}


def _field(name: str, shown: Shown, row: Row, joined: Mapping[str, Found]) -> Json:
    """The value of one field in the form of its kind; None where the row has none."""
    if shown.join:
        value = joined[shown.join].get(_key(shown, row) or "")
        return "\n".join(_text(one) for one in _many(value)) if shown.kind == "text" else value
    value = as_json(at(row, shown.column or name))
    match shown.kind:
        case "spans":
            return _spans(value, row if not shown.column and name not in row else None)
        case "number":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return value if number else None
        case "date":
            return _day(value)
        case "list":
            return [text for text in map(_text, _many(value)) if text.strip()]
        case "paragraphs":
            return value.split("\n") if isinstance(value, str) else [*map(_paragraph, _many(value))]
    return "; ".join(_text(one) for one in _many(value))


def _many(value: Json) -> Sequence[Json]:
    if value is None:
        return []
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _text(value: Json) -> str:
    """One value as text; of an object its label, name or text."""
    if isinstance(value, Mapping):
        value = next((value[k] for k in ("label", "text", "name") if value.get(k)), None)
    return "" if value is None else str(value)


def _paragraph(value: Json) -> Json:
    if not isinstance(value, Mapping):
        return _text(value)
    heading = value.get("heading") or value.get("section") or ""
    return {"text": _text(value), "heading": heading, "kind": value.get("kind") or "text"}


def _day(value: Json) -> Json:
    """A day as `2019-04-05`, from that (a time may follow) or from UTC seconds."""
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).date().isoformat()
        return date.fromisoformat(value[:10]).isoformat() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _spans(value: Any, row: Row | None) -> Json:
    """Spans as a list of objects: from such a list, from parallel lists, or the row's own."""
    if row is not None:
        value = {key: row.get(key) for key in _SPAN[:3]}
    if isinstance(value, Mapping) and "answer_start" in value:
        texts, starts = _many(value.get("text")), _many(value["answer_start"])
        value = [
            {"start": start, "end": start + len(text)}
            for text, start in zip(texts, starts, strict=False)
            if isinstance(text, str) and isinstance(start, int)
        ]
    return [
        {key: one[key] for key in _SPAN if one.get(key) is not None}
        for one in _many(value)
        if isinstance(one, Mapping) and _is_span(one.get("start"), one.get("end"))
    ]


def _is_span(start: Any, end: Any) -> bool:
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end
