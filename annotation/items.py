"""Rows of a dataset become items: what is shown of each, joined with the text it leads to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from annotation.batch import Item, Json
from annotation.dataset import Dataset, Row, as_json, row_name
from annotation.draw import at, draw, fetch, require
from annotation.joins import KEYS, Found, Sources
from annotation.layout import Layout, Shown
from builders.errors import UserError
from builders.store import digest

_OWN_SPAN = ("paragraph", "start", "end")


@dataclass
class Ledger:
    """What earlier batches of a layout sent: ids of rows and of items."""

    rows: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)


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

    `counts`: `rows` seen, `sent_before`, `missing <field>`, `same_item`. Where two rows show the
    same, the first stays. `UserError` where none is left, or a column is missing.
    """
    _columns_are_there(layout, dataset)
    drawn = draw(dataset, layout, seed, ledger.rows)
    made = Made([], [], dict(drawn.counts))
    seen = set(ledger.items)
    at_place = 0
    while len(made.items) < number and at_place < len(drawn.places):
        size = max(number - len(made.items), 50)
        rows = fetch(dataset, drawn.places[at_place : at_place + size].tolist())
        at_place += size
        joined = _joined(layout, rows, sources)
        for row in rows:
            if len(made.items) < number:
                _add(made, layout, name, row, joined, seen)
    if not made.items:
        why = ", ".join(f"{reason}: {n}" for reason, n in made.counts.items() if n)
        hint = "--again sends rows once more" if made.counts["sent_before"] else None
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
    made: Made, layout: Layout, name: str, row: Row, joined: Mapping[str, Found], seen: set[str]
) -> None:
    fields: dict[str, Json] = {}
    for field_name, shown in layout.fields.items():
        value = _field(field_name, shown, row, joined)
        if value in (None, "", []) and not (shown.kind == "spans" and value == []):
            if not shown.optional:
                reason = f"missing {field_name}"
                made.counts[reason] = made.counts.get(reason, 0) + 1
                return
            continue
        fields[field_name] = value
    item = Item(item_id(name, fields), row_name(row), fields)
    if item.id in seen:
        made.counts["same_item"] = made.counts.get("same_item", 0) + 1
        return
    seen.add(item.id)
    made.items.append(item)
    made.groups.append(digest([as_json(at(row, one)) for one in layout.together]))


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
            return value if isinstance(value, int | float) else None
        case "date":
            return _day(value)
        case "list":
            return [_text(one) for one in _many(value)]
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
    """A day as `2019-04-05`, from that or from UTC seconds."""
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC).date().isoformat()
        except (ValueError, OverflowError, OSError):
            return None
    return value[:10] if isinstance(value, str) else None


def _spans(value: Any, row: Row | None) -> Json:
    """Spans as a list of objects: from such a list, from parallel lists, or the row's own."""
    if row is not None:
        own = {key: row[key] for key in _OWN_SPAN if row.get(key) is not None}
        return [own] if {"start", "end"} <= own.keys() else []
    if isinstance(value, Mapping) and "answer_start" in value:
        pairs = zip(value["text"], value["answer_start"], strict=False)
        return [{"start": start, "end": start + len(text)} for text, start in pairs]
    return [one for one in _many(value) if isinstance(one, Mapping) and {"start", "end"} <= {*one}]
