"""JSON and CSV files as a stream of entries, in bounded memory, one broken entry at a time.

Text is UTF-8, with or without a byte order mark. Nothing is guessed: a line in another encoding is
broken, as is a row with too few cells, and the entries after it are read. A workbook of Excel and a
file of UTF-16 are refused with what to do instead.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import LONGEST_ROW
from factdrift.builders.core.records import (
    HALF_CHARACTERS,
    BadValueError,
    conversion,
    text_value,
    wide_encoding,
)

_JSON_LINES = (".jsonl", ".ndjson")
_CHUNK = 1 << 18
"""Characters that are read at a time."""
_HEAD = 2048
"""Bytes by which a workbook and UTF-16 are told; a zip archive names its first file there."""
# the first line of a CSV file that Excel wrote or is to open: `sep=,` and `sep=;`
_SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=(.)\"?\r?\n?", re.I)
# `, ` and `]`, which stand between the values of an array
_BETWEEN_VALUES = re.compile(r"[ \t\r\n,\[\]]*")
_DELIMITERS = ",;\t"
_AROUND_LINES = " \t\r\n\v\f\x1c\x1d\x1e\x1f\ufeff"
"""What may stand around a line of JSON: white space, the signs between records of other programs,
and the byte order marks of files that were joined."""


class Entry(NamedTuple):
    """One JSON value of a file, decoded, or the cells of one row by column; and its first line."""

    line: int
    value: Any


class BrokenEntry(NamedTuple):
    """An entry that cannot be read: its line, a short reason, and what was seen."""

    line: int
    reason: str
    detail: str = ""


Entries = Iterator[Entry | BrokenEntry]
Decode = Callable[[str], Any]
"""Reads the text of one JSON value; `ValueError` says what is wrong with it."""


def is_table(path: Path) -> bool:
    """Whether a file is CSV, by its name."""
    return path.suffix.lower() in (".csv", ".tsv")


def read_head(path: Path) -> str:
    """The first characters of a file, to tell what it is; broken ones are replaced."""
    with _open_text(path, "replace") as file:
        return file.read(_CHUNK)


def json_entries(path: Path, decode: Decode) -> Entries:
    """The objects of a JSON array, of JSON lines, or the one object of a file.

    JSON lines are read one by one, so that a broken one costs no other; of an array, or an object
    over many lines, nothing is read after what is broken.
    """
    if wide_text := _wide_text(path):
        yield wide_text
        return
    has_lines = path.suffix.lower() in _JSON_LINES or _is_json_lines(path)
    with _open_text(path, "surrogateescape") as file:
        yield from (_json_lines if has_lines else _json_values)(file, decode)


def table_rows(path: Path) -> Entries:
    """The rows of a CSV file with a header: text by column.

    Cells end at commas, semicolons or tabs, as the header has them or a line `sep=` above it says.
    Blank rows are passed over, and so are empty cells after the last named column. After a broken
    row, reading goes on at the line after the one on which it breaks.
    """
    if wide_text := _wide_text(path):
        yield wide_text
        return
    with _open_text(path, "surrogateescape", "") as file:
        yield from _table_rows(file)


@contextmanager
def _open_text(path: Path, error_handling: str, newline: str = "\n") -> Iterator[io.TextIOWrapper]:
    try:
        _refuse_workbook(_first_bytes(path), path)
        with path.open(encoding="utf-8-sig", errors=error_handling, newline=newline) as text_file:
            yield text_file
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=display_path(path)) from error


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _wide_text(path: Path) -> BrokenEntry | None:
    """What is wrong with a file of UTF-16 or UTF-32; None for every other file."""
    try:
        head = _first_bytes(path)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=display_path(path)) from error
    _refuse_workbook(head, path)  # whose zeros would be taken for UTF-16
    wide_name = wide_encoding(head)
    detail = f"this is {wide_name}: {conversion(wide_name or '')}"
    return BrokenEntry(1, "not UTF-8", detail) if wide_name else None


def _refuse_workbook(head: bytes, path: Path) -> None:
    """`UserError` for a workbook, of Excel since 2007 or before or of LibreOffice, and for gzip."""
    if head.startswith(b"\x1f\x8b"):
        raise UserError(
            "this is packed with gzip", where=display_path(path), hint="unpack it: gunzip FILE"
        )
    is_zip = head.startswith(b"PK\x03\x04")
    if head.startswith(b"\xd0\xcf\x11\xe0") or (
        is_zip and any(name in head for name in (b"[Content_Types].xml", b"opendocument", b"xl/"))
    ):
        hint_text = "in the program that wrote it, save the sheet as “CSV UTF-8”"
        raise UserError(
            "this is a workbook of a spreadsheet", where=display_path(path), hint=hint_text
        )


# --- CSV ------------------------------------------------------------------------------------------


def table_columns(path: Path) -> list[str]:
    """The names of the columns of a CSV file; empty where its head names none.

    `UserError`: the file is UTF-16 or UTF-32.
    """
    if wide_text := _wide_text(path):
        raise UserError(f"{wide_text.reason}: {wide_text.detail}", where=display_path(path), line=1)
    with _open_text(path, "replace", "") as file:
        csv_reader, _ = _csv_reader(file)
        try:
            return _column_names(next(csv_reader, []))
        except csv.Error:
            return []


class _RowLines:
    """The lines of a CSV file; `csv.Error` where a row goes on for more than `LONGEST_ROW`."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file, self._characters = file, 0
        self.lines_read = 0

    def begin_row(self) -> None:
        """Count anew."""
        self._characters = 0

    def __iter__(self) -> "_RowLines":
        return self

    def __next__(self) -> str:
        line_text = self._file.readline(LONGEST_ROW)
        if not line_text:
            raise StopIteration
        self.lines_read += 1
        self._characters += len(line_text)
        is_cut = len(line_text) == LONGEST_ROW and not line_text.endswith("\n")
        while is_cut and (line_rest := self._file.readline(_CHUNK)):
            is_cut = not line_rest.endswith("\n")
            self._characters += len(line_rest)
        if self._characters > LONGEST_ROW:
            raise csv.Error(f"a row of more than {LONGEST_ROW:,} characters")
        return line_text


def _csv_reader(file: io.TextIOWrapper) -> tuple[Any, _RowLines]:
    """A reader of the rows, and the lines that it reads."""
    csv.field_size_limit(LONGEST_ROW)
    row_lines = _RowLines(file)
    first_line = file.readline(LONGEST_ROW)
    if separator := _SEPARATOR_LINE.fullmatch(first_line):
        row_lines.lines_read, delimiter = 1, separator[1]
    else:
        file.seek(0)
        delimiter = max(_DELIMITERS, key=first_line.count)
    return csv.reader(row_lines, delimiter=delimiter, strict=True), row_lines


def _table_rows(file: io.TextIOWrapper) -> Entries:
    csv_reader, row_lines = _csv_reader(file)
    column_names: list[str] = []
    while True:
        line_number = row_lines.lines_read + 1
        row_lines.begin_row()
        try:
            cells = next(csv_reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = "not a CSV row" if column_names else "no CSV header"
            yield BrokenEntry(line_number, reason, str(error))
            if not column_names:
                return
            continue
        if column_names:
            if row_entry := _table_row(column_names, cells, line_number):
                yield row_entry
            continue
        column_names = _column_names(cells)
        if not column_names:
            detail = "columns without a name of their own"
            yield BrokenEntry(line_number, "no CSV header", detail)
            return


def _column_names(header_cells: list[str]) -> list[str]:
    """The columns that a header names, without empty ones at its end; empty where it is none."""
    column_names = [column_name.strip() for column_name in header_cells]
    while column_names and not column_names[-1]:
        column_names.pop()
    return column_names if all(column_names) and len(set(column_names)) == len(column_names) else []


def _table_row(
    column_names: list[str], cells: list[str], line_number: int
) -> Entry | BrokenEntry | None:
    """Return the entry of one row, or None for a blank row."""
    if broken_text := _not_utf8("".join(cells)):
        return BrokenEntry(line_number, "not UTF-8", broken_text)
    if not any(map(str.strip, cells)):
        return None
    if len(cells) < len(column_names) or any(map(str.strip, cells[len(column_names) :])):
        row_detail = f"{len(cells)} cells in {len(column_names)} columns"
        return BrokenEntry(line_number, "not a CSV row", row_detail)
    return Entry(line_number, dict(zip(column_names, cells, strict=False)))


def _not_utf8(text: str) -> str:
    """What a text is that was read as UTF-8 and is not; empty where it is UTF-8."""
    if text.isascii() or not HALF_CHARACTERS.search(text):
        return ""
    try:
        text_value(text.encode("utf-8", "surrogateescape"))
    except (BadValueError, UnicodeEncodeError) as error:
        return str(error).removeprefix("not UTF-8, but ")
    return ""


# --- JSON -----------------------------------------------------------------------------------------


def _decode_entry(line_number: int, json_text: str, decode: Decode) -> Entry | BrokenEntry:
    if broken_text := _not_utf8(json_text):
        return BrokenEntry(line_number, "not UTF-8", broken_text)
    try:
        return Entry(line_number, decode(json_text))
    except (ValueError, RecursionError) as error:
        detail = str(error)[:120] if isinstance(error, ValueError) else "nested too deeply"
        return BrokenEntry(line_number, "not valid JSON", detail)


def _is_json_lines(path: Path) -> bool:
    """Whether the first line is an object, or a further object begins on the second.

    The second line of an object that runs over many lines is indented or starts with a name.
    """
    with _open_text(path, "replace") as file:
        first_line = _next_line(file)
        one_line = first_line.endswith("}") or _next_line(file).startswith("{")
        return first_line.startswith("{") and one_line


def _next_line(file: io.TextIOWrapper) -> str:
    while line_text := file.readline(LONGEST_ROW):
        if line_text.strip():
            return line_text.strip()
    return ""


def _json_lines(file: io.TextIOWrapper, decode: Decode) -> Entries:
    line_number = 0
    while file_line := file.readline(LONGEST_ROW + 1):
        line_number += 1
        if len(file_line) > LONGEST_ROW and not file_line.endswith("\n"):
            while (line_rest := file.readline(_CHUNK)) and not line_rest.endswith("\n"):
                pass
            yield BrokenEntry(line_number, "too long", f"more than {LONGEST_ROW:,} characters")
        elif entry_text := file_line.strip(_AROUND_LINES):
            yield _decode_entry(line_number, entry_text, decode)


def _json_values(file: io.TextIOWrapper, decode: Decode) -> Entries:
    """The outermost values, in an array, side by side or alone."""
    end_of = json.JSONDecoder().raw_decode
    unread_text, value_start, line_number = "", 0, 1
    while True:
        separator_end = _BETWEEN_VALUES.match(unread_text, value_start).end()  # type: ignore[union-attr]
        line_number += unread_text.count("\n", value_start, separator_end)
        value_start = separator_end
        try:
            _, value_end = end_of(unread_text, value_start)
        except (ValueError, RecursionError):
            unread_text, value_start = unread_text[value_start:], 0
            next_chunk = file.read(_CHUNK) if len(unread_text) <= LONGEST_ROW else ""
            unread_text += next_chunk
            if not next_chunk:
                break
        else:
            yield _decode_entry(line_number, unread_text[value_start:value_end], decode)
            line_number += unread_text.count("\n", value_start, value_end)
            value_start = value_end
    if unread_text:
        refusal_reason = "too long" if len(unread_text) > LONGEST_ROW else "not valid JSON"
        detail = "an object without its end; nothing after it is read"
        yield BrokenEntry(line_number, refusal_reason, detail)
