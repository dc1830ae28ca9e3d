"""Items for every layout, made by hand, as a batch would hold them."""

from collections.abc import Mapping
from typing import Any

from factdrift.annotation.batch import Hit, Item
from factdrift.annotation.layout import Layout
from factdrift.annotation.submission import Json
from tests.tables import read_table

FIELDS: dict[str, dict[str, Any]] = read_table("annotation_items")
ARTICLE: str = FIELDS["write_questions"]["article"]
FIELDS["easy_select"]["sentences"] = ARTICLE.split("\n")


def hit(layout: str, items: int = 1, **changes: Json) -> Hit:
    """A HIT of some items of a layout, alike but for their ids."""
    item_fields = FIELDS[layout] | changes
    return Hit(
        "hit-1",
        tuple(
            Item(f"item-{item_number}", f"row-{item_number}", item_fields)
            for item_number in range(items)
        ),
    )


def own_layout(
    item_fields: Mapping[str, Any],
    item_answers: Mapping[str, Any] | None = None,
    **more_values: Any,
) -> Layout:
    """A layout of these fields and answers, by default an optional note."""
    note = {"note": {"kind": "text", "label": "N", "required": False}}
    layout_settings = {"title": "T", "summary": "S", "instructions": ["I"], "fields": item_fields}
    pay = {"per_hit": "1", "minutes_per_hit": "4"}
    return Layout.model_validate(
        layout_settings | {"answers": item_answers or note, "pay": pay} | more_values
    )
