"""Wikitext without templates, line by line: paragraphs, list items, rows and infobox lines."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from builders.rows import ParagraphKind
from builders.wikipedia.inline import BREAK, unquoted
from builders.wikipedia.templates import INFOBOX

_HEADING = re.compile(r"(={1,6})(.+?)\1\s*")
_RULE = re.compile(r"-{4,}")
_ATTRIBUTES = re.compile(r"([^|\[\]]*)\|(?!\|)(.*)", re.S)
_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?\s*(\d{1,3})", re.I)
_ITEM = "*#:;"
_DEEPEST = 20
"""Tables in tables that are kept apart."""


class Line(NamedTuple):
    """A paragraph to be: its kind, the titles of its sections, its wikitext."""

    kind: ParagraphKind
    sections: tuple[str, ...]
    raw: str


class _Table:
    """The row of a table that is being read.

    A cell that spans rows stands in each of them, so that each row says all that it shows.
    """

    def __init__(self) -> None:
        self.cells: list[tuple[str, str]] = []
        self.spanning: dict[int, tuple[int, str]] = {}

    def add(self, line: str) -> None:
        """A line that begins with `|` or `!`: one cell or several."""
        body = line[1:]
        parts = body.replace("!!", "||").split("||") if line[0] == "!" else body.split("||")
        for part in parts:
            found = _ATTRIBUTES.match(part)
            self.cells.append((found[1], found[2]) if found else ("", part))

    def more(self, line: str) -> None:
        """A line that goes on with the last cell."""
        if self.cells and line.strip():
            about, text = self.cells[-1]
            gap = BREAK if line[0] in _ITEM else " "
            self.cells[-1] = about, text + gap + line.lstrip(_ITEM)

    def row(self) -> str:
        """The row so far, as one line; the next one begins."""
        cells, self.cells = self.cells, []
        if not cells:
            return ""
        shown: list[str] = []
        column = 0
        spanning = self.spanning
        later: dict[int, tuple[int, str]] = {}
        queue = iter(cells)
        cell = next(queue, None)
        while cell is not None or any(c >= column for c in spanning):
            if column in spanning:
                left, text = spanning[column]
                shown.append(text)
                if left > 1:
                    later[column] = left - 1, text
                column += 1
            elif cell is None:
                column = min(c for c in spanning if c >= column)
            else:
                about, text = cell
                text = text.strip().strip(BREAK)
                spans = {k.lower(): int(n) for k, n in _SPAN.findall(about)} if about else {}
                shown.append(text)
                if spans.get("row", 1) > 1:
                    later[column] = spans["row"] - 1, text
                column += max(spans.get("col", 1), 1)
                cell = next(queue, None)
        self.spanning = later
        return " | ".join(s for s in shown if s)


def lines(text: str) -> Iterator[Line]:
    """The lines that a page shows, each with the sections that hold it."""
    sections: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    waiting: list[str] = []
    tables: list[_Table] = []
    for source in text.split("\n"):
        line = source.strip()
        first = line[:1]
        if tables and first != INFOBOX and not (first == "=" and _HEADING.fullmatch(line)):
            yield from _in_table(unquoted(line), tables, path)
            continue
        opens = line.lstrip(":* ").startswith("{|")
        if line and first not in _ITEM and first not in "=-" + INFOBOX and not opens:
            waiting.append(unquoted(line))
            continue
        if waiting:
            yield Line("text", path, " ".join(waiting))
            waiting = []
        if opens:
            tables.append(_Table())
        elif first == INFOBOX:
            yield Line("infobox", path, unquoted(line[1:]))
        elif first == "=" and (heading := _HEADING.fullmatch(line)):
            for table in reversed(tables):
                yield Line("table", path, table.row())
            tables = []
            level = len(heading[1])
            sections = [s for s in sections if s[0] < level]
            sections.append((level, unquoted(heading[2].strip())))
            path = tuple(title for _, title in sections)
        elif first and first in _ITEM:
            yield Line("list", path, unquoted(line.lstrip(_ITEM + " ")))
        elif first and not _RULE.match(line):
            waiting.append(unquoted(line))
        elif first and (rest := line.lstrip("-")):
            waiting.append(unquoted(rest))
    if waiting:
        yield Line("text", path, " ".join(waiting))
    for table in reversed(tables):
        yield Line("table", path, table.row())


def _in_table(line: str, tables: list[_Table], path: tuple[str, ...]) -> Iterator[Line]:
    table = tables[-1]
    if line.startswith("{|"):
        if len(tables) < _DEEPEST:
            tables.append(_Table())
    elif line.startswith("|}"):
        yield Line("table", path, table.row())
        tables.pop()
        if tables and line[2:].strip():
            tables[-1].more(line[2:])
        elif line[2:].strip():
            yield Line("text", path, line[2:])
    elif line.startswith(("|-", "|+")):
        yield Line("table", path, table.row())
        if line[1] == "+":
            found = _ATTRIBUTES.match(line[2:])
            yield Line("table", path, found[2] if found else line[2:])
    elif line.startswith(("|", "!")):
        table.add(line)
    else:
        table.more(line)
