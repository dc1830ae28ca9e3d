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

from factdrift.annotation.submission import Refused, decode_json
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LONGEST_ROW

_JSON_LINES = (".jsonl", ".ndjson")
_CHUNK = 1 << 18
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class Entry(NamedTuple):
    """One JSON value of a file, decoded, or the cells of one row by column; and its first line."""

    line: int
    value: Any


Entries = Iterator[Entry | Refused]


def is_table(file_path: Path) -> bool:
    return file_path.suffix.lower() in (".csv", ".tsv")


def read_head(file_path: Path) -> str:
    """The first characters of a file, to tell what it is; broken ones are replaced."""
    with _open_text(file_path, "replace") as file:
        return file.read(_CHUNK)


def json_documents(file_path: Path) -> Entries:
    """The objects of a JSON array, of JSON lines, or the one object of a file.

    JSON lines are read one by one, so that a broken one costs no other; of an array, or an object
    over many lines, nothing is read after what is broken.
    """
    has_lines = file_path.suffix.lower() in _JSON_LINES or _is_json_lines(file_path)
    return _entries(file_path, _json_lines if has_lines else _json_values, "\n")


def require_entries(entries: Entries) -> Iterator[Entry]:
    """Yield the entries of a file that is no platform's; `UserError` for one that is broken."""
    for entry in entries:
        if isinstance(entry, Refused):
            text = f"{entry.reason}: {entry.detail}".rstrip(": ")
            raise UserError(text, where=entry.where, line=entry.line)
        yield entry


def csv_rows(file_path: Path) -> Entries:
    """The rows of a CSV file with a header; commas, semicolons or tabs, as the header has them.

    Blank rows are passed over, and so are empty cells after the last named column. After a broken
    row, reading goes on at the line after the one on which it breaks.
    """
    return _entries(file_path, _table_rows, "")


def _entries(
    file_path: Path, parse_file: Callable[[io.TextIOWrapper, str], Entries], newline: str
) -> Entries:
    with _open_text(file_path, "surrogateescape", newline) as file:
        yield from parse_file(file, display_path(file_path))


def _table_rows(file: io.TextIOWrapper, where: str) -> Entries:
    csv.field_size_limit(LONGEST_ROW)
    first_line = file.readline(LONGEST_ROW)
    file.seek(0)
    file_lines = iter(lambda: file.readline(LONGEST_ROW), "")
    delimiter = max(",;\t", key=first_line.count)
    csv_reader = csv.reader(file_lines, delimiter=delimiter, strict=True)
    column_names: list[str] = []
    while True:
        line_number = csv_reader.line_num + 1
        try:
            cells = next(csv_reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Refused(
                where,
                line_number,
                "not a CSV row" if column_names else "no CSV header",
                str(error),
            )
            if not column_names:
                return
            continue
        if column_names:
            if row_entry := _table_row(column_names, cells, where, line_number):
                yield row_entry
            continue
        column_names = _column_names(cells)
        if not column_names:
            yield Refused(
                where, line_number, "no CSV header", "columns without a name of their own"
            )
            return


def _column_names(header_cells: list[str]) -> list[str]:
    """The columns that a header names, without empty ones at its end; empty where it is none."""
    column_names = [column_name.strip() for column_name in header_cells]
    while column_names and not column_names[-1]:
        column_names.pop()
    return column_names if all(column_names) and len(set(column_names)) == len(column_names) else []


def _table_row(
    column_names: list[str], cells: list[str], where: str, line_number: int
) -> Entry | Refused | None:
    """Return the entry of one row, or None for a blank row."""
    if _has_broken_bytes("".join(cells)):
        return Refused(where, line_number, "not UTF-8")
    if not any(map(str.strip, cells)):
        return None
    if len(cells) < len(column_names) or any(map(str.strip, cells[len(column_names) :])):
        row_detail = f"{len(cells)} cells in {len(column_names)} columns"
        return Refused(where, line_number, "not a CSV row", row_detail)
    return Entry(line_number, dict(zip(column_names, cells, strict=False)))


@contextmanager
def _open_text(
    file_path: Path, error_handling: str, newline: str = "\n"
) -> Iterator[io.TextIOWrapper]:
    try:
        with file_path.open(encoding="utf-8-sig", errors=error_handling, newline=newline) as file:
            yield file
    except OSError as error:
        raise UserError(
            f"cannot be read: {error.strerror}", where=display_path(file_path)
        ) from error


def _has_broken_bytes(line_text: str) -> bool:
    """Whether it has half characters, as which bytes that are not UTF-8 were kept."""
    return not line_text.isascii() and _HALF_CHARACTER.search(line_text) is not None


def _decode_entry(line_number: int, json_text: str, where: str) -> Entry | Refused:
    if _has_broken_bytes(json_text):
        return Refused(where, line_number, "not UTF-8")
    try:
        return Entry(line_number, decode_json(json_text))
    except ValueError as error:
        return Refused(where, line_number, "not valid JSON", str(error)[:120])


def _is_json_lines(file_path: Path) -> bool:
    """Whether the first line is an object, or a further object begins on the second.

    The second line of an object that runs over many lines is indented or starts with a name.
    """
    with _open_text(file_path, "replace") as file:
        first_line = _next_line(file)
        one_line = first_line.endswith("}") or _next_line(file).startswith("{")
        return first_line.startswith("{") and one_line


def _next_line(file: io.TextIOWrapper) -> str:
    while line_text := file.readline(LONGEST_ROW):
        if line_text.strip():
            return line_text.strip()
    return ""


def _json_lines(file: io.TextIOWrapper, where: str) -> Entries:
    line_number = 0
    while file_line := file.readline(LONGEST_ROW + 1):
        line_number += 1
        if len(file_line) > LONGEST_ROW and not file_line.endswith("\n"):
            while (line_rest := file.readline(_CHUNK)) and not line_rest.endswith("\n"):
                pass
            yield Refused(where, line_number, "too long", f"more than {LONGEST_ROW:,} characters")
        elif file_line.strip():
            yield _decode_entry(line_number, file_line.strip(), where)


def _json_values(file: io.TextIOWrapper, where: str) -> Entries:
    """The outermost values, in an array, side by side or alone."""
    end_of = json.JSONDecoder().raw_decode
    unread_text, line_number = "", 1
    while True:
        stripped_text = unread_text.lstrip(" \t\r\n,[]")
        line_number += unread_text.count("\n", 0, len(unread_text) - len(stripped_text))
        unread_text = stripped_text
        try:
            _, value_end = end_of(unread_text)
        except (ValueError, RecursionError):
            next_chunk = file.read(_CHUNK) if len(unread_text) <= LONGEST_ROW else ""
            unread_text += next_chunk
            if not next_chunk:
                break
        else:
            yield _decode_entry(line_number, unread_text[:value_end], where)
            line_number += unread_text.count("\n", 0, value_end)
            unread_text = unread_text[value_end:]
    if unread_text:
        refusal_reason = "too long" if len(unread_text) > LONGEST_ROW else "not valid JSON"
        yield Refused(
            where,
            line_number,
            refusal_reason,
            "an object without its end; nothing after it is read",
        )
