"""Succession boxes: who held an office before and after, and when, a row for each title.

Each template of a box leaves an event in the text (`event`); when all templates are read, the
events that follow on one another become the rows of one table (`with_rows`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from factdrift.builders.core.files import read_texts, resource

Arguments = Mapping[str, str]
_MARK, _END = "\x05", "\x06"
"""Stand around an event: its kind, the number of rows, its text."""
_EVENT = re.compile(f"{_MARK}([btaxh])([0-9]{{0,2}})\\|([^{_MARK}{_END}]*){_END}")
_RUN = re.compile(f"(?:{_EVENT.pattern}\\s*)+".replace("(", "(?:").replace("(?:?:", "(?:"))
_NEWLINE = re.compile(r"\s*(?:<br\b[^<>]*>|\n)[\s*]*", re.I)
_LISTED = read_texts(resource("builders/wikipedia/successions.yaml"))


def _texts(key: str) -> dict[str, str]:
    return {code.strip(): text for codes, text in _LISTED[key].items() for code in codes.split("|")}


_HEADINGS, _PARLIAMENTS, _REGISTERS = map(_texts, ("headings", "of_parliaments", "of_registers"))


_SENATOR = ("u.s. senator box", "us senator box")
_HOUSE = ("us house succession box", "usrepsuccessionbox", "u.s. house succession box")
_BOXES = ("succession box", "incumbent succession box", "succession box one to one")
_EMPTY = ("s-new", "s-vac", "s-non", "s-inc", "s-ecs")
NAMES = frozenset(
    {"s-bef", "s-ttl", "s-aft", "s-par", "s-reg", *_SENATOR, *_HOUSE, *_BOXES, *_EMPTY, *_HEADINGS}
)
"""The templates of succession boxes, in small letters."""


class _Row(NamedTuple):
    before: str
    title: str
    after: str = ""


def event(name: str, given: Arguments) -> str:
    """What a template of a succession box (one of `NAMES`) leaves in the text."""
    if name == "s-bef":
        return _before(given)
    if name == "s-ttl":
        return _mark("t", _title(given), given.get("rows", ""))
    if name == "s-aft":
        return _after(given)
    if name in _EMPTY:
        return _mark("x", _empty(name, given), given.get("rows", ""))
    if name in _BOXES:
        return "".join(_box(given))
    if name in ("s-par", "s-reg"):
        code = given.get("1", "").lower()
        known = (_PARLIAMENTS if name == "s-par" else _REGISTERS).get(code)
        return _mark("h", known or ("Parliament" if name == "s-par" else "Regnal titles"))
    if name in _SENATOR:
        seat = f"U.S. senator (Class {given.get('class', '')}) from {given.get('state', '')}"
        return "".join(_box({**given, "title": seat}))
    if name in _HOUSE:
        seat = f"U.S. representative from {given.get('state', '')}"
        if given.get("district"):
            seat += f", district {given['district']}"
        return "".join(_box({**given, "title": seat}))
    return _mark("h", _HEADINGS[name])


def _mark(kind: str, text: str, rows: str = "") -> str:
    number = rows if rows.isdecimal() and len(rows) < 3 else ""
    return f"\n{_MARK}{kind}{number}|{_NEWLINE.sub(', ', text.strip())}{_END}\n"


def _holder(given: Arguments, key: str) -> str:
    name = given.get(key) or given.get("1", "")
    role = given.get("as", "")
    return f"{name} as {role}" if role and name else name


def _before(given: Arguments) -> str:
    name = _holder(given, "before")
    return _mark("b", f"Preceded by {name}" if name else "", given.get("rows", ""))


def _after(given: Arguments) -> str:
    name = _holder(given, "after")
    return _mark("a", f"Succeeded by {name}" if name else "", given.get("rows", ""))


def _title(given: Arguments) -> str:
    parts = [given.get("title") or given.get("1", ""), given.get("years") or given.get("2", "")]
    for role in ("regent", "alongside", "with"):
        if given.get(role):
            parts.append(f"{'alongside' if role == 'with' else role} {given[role]}")
    return ", ".join(p for p in parts if p)


def _empty(name: str, given: Arguments) -> str:
    reason = given.get("reason") or given.get("1", "")
    if name == "s-new":
        first = given.get("first")
        return reason or ("First" if first else "New title")
    if name == "s-inc":
        return "Incumbent"
    if name == "s-non":
        return reason or "Title abolished"
    near = given.get("last") or given.get("next")
    side = "last held by" if given.get("last") else "next held by"
    return (f"Vacant ({side} {near})" if near else "Vacant") + (f" ({reason})" if reason else "")


def _box(given: Arguments) -> Iterator[str]:
    yield _before({"before": given.get("before", "")})
    for n in ("", "1", "2", "3", "4"):
        own = {k: given.get(k + n, "") for k in ("title", "years")}
        if own["title"] or own["years"]:
            own["alongside"] = given.get("alongside", "")
            yield _mark("t", _title(own))
    yield _after({"after": given.get("after", "") or given.get("successor", "")})


def with_rows(text: str) -> str:
    """Text with the events that follow on one another as a table."""
    if _MARK not in text:
        return text
    text = _RUN.sub(lambda run: _table(run[0]), text)
    return text.replace(_MARK, "").replace(_END, "")


def _table(run: str) -> str:
    lines = ["{|"]
    for row in _rows(run):
        cells = [row] if isinstance(row, str) else [c for c in row if c]
        # a cell apart from another by a line, after attributes that are empty
        lines += ["|-", *(f"|\n{cell}" for cell in cells)]
    return "\n" + "\n".join([*lines, "|}"]) + "\n"


def _rows(run: str) -> list[_Row | str]:
    """The rows of a run of events; what spans rows stands in each of them."""
    rows: list[_Row | str] = []
    before, before_left, after, after_left, fresh = "", 0, "", 0, False
    for kind, number, text in _EVENT.findall(run):
        span = int(number or 1)
        last = rows[-1] if rows else ""
        if kind == "h":
            rows.append(text)
            before_left = after_left = 0
        elif kind == "b" or (kind == "x" and (isinstance(last, str) or last.after or fresh)):
            before, before_left, fresh = text, span, True
        elif kind == "t":
            rows.append(_Row(before * (before_left > 0), text, after * (after_left > 0)))
            before_left, after_left, fresh = before_left - 1, after_left - 1, False
        elif not isinstance(last, str):
            rows[-1] = last._replace(after=text)
            after, after_left = text, span - 1
    return rows
