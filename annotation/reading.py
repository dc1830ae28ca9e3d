"""Reads results files (JSON, JSON lines, CSV) as a stream, in bounded memory.

Text is UTF-8, with or without a byte order mark. Nothing is guessed: a line in another encoding is
refused, as is a broken row, and the rows after it are read.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.annotation.submission import LONGEST, Refused, decode_json
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError

_JSON_LINES = (".jsonl", ".ndjson")
_CHUNK = 1 << 18
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class Entry(NamedTuple):
    """One JSON value of a file, decoded, or the cells of one row by column; and its first line."""

    line: int
    value: Any


Entries = Iterator[Entry | Refused]


def is_table(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv")


def read_head(path: Path) -> str:
    """The first characters of a file, to tell what it is; broken ones are replaced."""
    with _open_text(path, "replace") as file:
        return file.read(_CHUNK)


def json_documents(path: Path) -> Entries:
    """The objects of a JSON array, of JSON lines, or the one object of a file.

    JSON lines are read one by one, so that a broken one costs no other; of an array, or an object
    over many lines, nothing is read after what is broken.
    """
    lines = path.suffix.lower() in _JSON_LINES or _is_json_lines(path)
    return _entries(path, _json_lines if lines else _json_values, "\n")


def require_entries(entries: Entries) -> Iterator[Entry]:
    """Yield the entries of a file that is no platform's; `UserError` for one that is broken."""
    for entry in entries:
        if isinstance(entry, Refused):
            text = f"{entry.reason}: {entry.detail}".rstrip(": ")
            raise UserError(text, where=entry.where, line=entry.line)
        yield entry


def csv_rows(path: Path) -> Entries:
    """The rows of a CSV file with a header; commas, semicolons or tabs, as the header has them.

    Blank rows are passed over, and so are empty cells after the last named column. After a broken
    row, reading goes on at the line after the one on which it breaks.
    """
    return _entries(path, _table_rows, "")


def _entries(
    path: Path, parse: Callable[[io.TextIOWrapper, str], Entries], newline: str
) -> Entries:
    with _open_text(path, "surrogateescape", newline) as file:
        yield from parse(file, display_path(path))


def _table_rows(file: io.TextIOWrapper, where: str) -> Entries:
    csv.field_size_limit(LONGEST)
    first_line = file.readline(LONGEST)
    file.seek(0)
    lines = iter(lambda: file.readline(LONGEST), "")
    delimiter = max(",;\t", key=first_line.count)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    names: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Refused(where, line, "not a CSV row" if names else "no CSV header", str(error))
            if not names:
                return
            continue
        if names:
            if entry := _table_row(names, cells, where, line):
                yield entry
            continue
        names = _column_names(cells)
        if not names:
            yield Refused(where, line, "no CSV header", "columns without a name of their own")
            return


def _column_names(cells: list[str]) -> list[str]:
    """The columns that a header names, without empty ones at its end; empty where it is none."""
    names = [name.strip() for name in cells]
    while names and not names[-1]:
        names.pop()
    return names if all(names) and len(set(names)) == len(names) else []


def _table_row(names: list[str], cells: list[str], where: str, line: int) -> Entry | Refused | None:
    """The entry of one row; None for a blank row."""
    if _has_broken_bytes("".join(cells)):
        return Refused(where, line, "not UTF-8")
    if not any(map(str.strip, cells)):
        return None
    if len(cells) < len(names) or any(map(str.strip, cells[len(names) :])):
        detail = f"{len(cells)} cells in {len(names)} columns"
        return Refused(where, line, "not a CSV row", detail)
    return Entry(line, dict(zip(names, cells, strict=False)))


@contextmanager
def _open_text(path: Path, errors: str, newline: str = "\n") -> Iterator[io.TextIOWrapper]:
    try:
        with path.open(encoding="utf-8-sig", errors=errors, newline=newline) as file:
            yield file
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=display_path(path)) from error


def _has_broken_bytes(text: str) -> bool:
    """Whether it has half characters, as which bytes that are not UTF-8 were kept."""
    return not text.isascii() and _HALF_CHARACTER.search(text) is not None


def _decode_entry(line: int, text: str, where: str) -> Entry | Refused:
    if _has_broken_bytes(text):
        return Refused(where, line, "not UTF-8")
    try:
        return Entry(line, decode_json(text))
    except ValueError as error:
        return Refused(where, line, "not valid JSON", str(error)[:120])


def _is_json_lines(path: Path) -> bool:
    """Whether the first line is an object, or a further object begins on the second.

    The second line of an object that runs over many lines is indented or starts with a name.
    """
    with _open_text(path, "replace") as file:
        first = _next_line(file)
        one_line = first.endswith("}") or _next_line(file).startswith("{")
        return first.startswith("{") and one_line


def _next_line(file: io.TextIOWrapper) -> str:
    while text := file.readline(LONGEST):
        if text.strip():
            return text.strip()
    return ""


def _json_lines(file: io.TextIOWrapper, where: str) -> Entries:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST and not line.endswith("\n"):
            while (rest := file.readline(_CHUNK)) and not rest.endswith("\n"):
                pass
            yield Refused(where, number, "too long", f"more than {LONGEST:,} characters")
        elif line.strip():
            yield _decode_entry(number, line.strip(), where)


def _json_values(file: io.TextIOWrapper, where: str) -> Entries:
    """The outermost values, in an array, side by side or alone."""
    end_of = json.JSONDecoder().raw_decode
    text, line = "", 1
    while True:
        rest = text.lstrip(" \t\r\n,[]")
        line += text.count("\n", 0, len(text) - len(rest))
        text = rest
        try:
            _, end = end_of(text)
        except (ValueError, RecursionError):
            more = file.read(_CHUNK) if len(text) <= LONGEST else ""
            text += more
            if not more:
                break
        else:
            yield _decode_entry(line, text[:end], where)
            line += text.count("\n", 0, end)
            text = text[end:]
    if text:
        what = "too long" if len(text) > LONGEST else "not valid JSON"
        yield Refused(where, line, what, "an object without its end; nothing after it is read")
