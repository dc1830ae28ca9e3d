"""`make layouts`: every layout is read, its page is made, and it is listed with what it costs."""

from pathlib import Path

from annotation.batch import Hit
from annotation.checks import problems
from annotation.items import attention
from annotation.layout import FOLDER, layouts, load_layout
from annotation.page import render
from builders.config import shown
from builders.errors import UserError


def check(folder: Path | None = None) -> list[str]:
    """A line for each layout; one `UserError` with all that is wrong, file:line.

    The page is made from the attention items, whose known answers have to pass the checks.
    """
    root = folder or FOLDER
    one = (root / "layout.yaml").is_file()
    found = [root] if one else [root / name for name in layouts(root)]
    if not found:
        raise UserError("no layouts", where=shown(root), hint="a layout is a folder: layout.yaml")
    lines, wrong = [], []
    for place in found:
        try:
            lines.append(_line(place.resolve()))
        except UserError as error:
            wrong.append(str(error))
    if wrong:
        raise UserError("\n".join(wrong))
    return lines


def _line(place: Path) -> str:
    layout = load_layout(str(place), place.parent)
    known = attention(layout, place.name)
    render(layout, place.name, place, [Hit("0", tuple(known))], batch="0", mode="preview")
    for number, item in enumerate(known, 1):
        given = item.answers or {}
        found = [p for p in problems(layout, item.fields, given) if not p.endswith(": missing")]
        if missing := [
            k for k, v in layout.fields.items() if not v.optional and k not in item.fields
        ]:
            found.insert(0, f"no field {missing[0]!r}")
        if found:
            text = f"attention item {number}: {found[0]}"
            raise UserError(text, where=shown(place / "layout.yaml"))
    pay = layout.pay
    return (
        f"{place.name}: {layout.title}; {layout.assignments} x {pay.per_hit} {pay.currency} for "
        f"{layout.items_per_hit} items in {pay.minutes_per_hit} minutes "
        f"({pay.hourly} {pay.currency} an hour), {len(known)} attention items"
    )
