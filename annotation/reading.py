"""Reads results files (JSON, JSON lines, CSV) as a stream, in bounded memory.

Text is UTF-8, with or without a byte order mark, or UTF-16 with one. Nothing is guessed: a line in
another encoding is refused, as is a broken row, and the rows after it are read.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from factdrift.annotation.submission import LONGEST, Refused, decode
from factdrift.builders.core.config import shown
from factdrift.builders.core.errors import UserError

_JSON_LINES = (".jsonl", ".ndjson")
_CHUNK = 1 << 16
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t])"?\s*', re.IGNORECASE)
"""The first line with which a CSV file tells a spreadsheet what stands between its cells."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_REST_OF_STRING = r'[^"\\]*+(?:\\.[^"\\]*+)*+("?)'
_TOKEN = re.compile(f'[{{}}]|"{_REST_OF_STRING}', re.DOTALL)
"""A bracket, or a string; a string that goes on in the next chunk has no quote at its end."""
_STRING_END = re.compile(_REST_OF_STRING, re.DOTALL)


class Entry(NamedTuple):
    """One JSON value of a file, decoded, or the cells of one row by column; and its first line."""

    line: int
    value: Any


def is_table(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv")


def head(path: Path) -> str:
    """The first characters of a file, to tell what it is; broken ones are replaced."""
    with _opened(path, "replace") as file:
        return file.read(_CHUNK)


def json_documents(path: Path) -> Iterator[Entry | Refused]:
    """The objects of a JSON array, of JSON lines, or the one object of a file.

    JSON lines are read one by one, so that a broken one costs no other; in an array, or an object
    over many lines, what follows a quote or bracket that is never closed cannot be told apart.
    """
    where = shown(path)
    with _opened(path, "surrogateescape") as file:
        try:
            lines = path.suffix.lower() in _JSON_LINES or _is_json_lines(path)
            for found in _json_lines(file, where) if lines else _json_objects(file, where):
                yield found if isinstance(found, Refused) else _decoded(*found, where)
        except UnicodeError as error:
            yield Refused(where, 0, "broken encoding", str(error)[:120])


def csv_rows(path: Path) -> Iterator[Entry | Refused]:
    """The rows of a CSV file with a header; commas, semicolons or tabs, as a line `sep=;` says.

    Blank rows are passed over, and so are empty cells after the last named column. After a broken
    row, reading goes on at the line after the one on which it began.
    """
    where = shown(path)
    csv.field_size_limit(LONGEST)
    with _opened(path, "surrogateescape", newline="") as file:
        names: list[str] | None = None
        source = _RereadableLines(file)
        reader: Iterator[list[str]] | None = None
        while True:
            line = source.begin_row()
            try:
                reader = reader or csv.reader(source, delimiter=source.delimiter(), strict=True)
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if names is None:
                    yield Refused(where, line, "no CSV header", str(error))
                    return
                yield Refused(where, line, "not a CSV row", str(error))
                source.reread()
                continue
            except UnicodeError as error:
                yield Refused(where, line, "broken encoding", str(error)[:120])
                return
            if names is None:
                names = [name.strip() for name in cells]
                while names and not names[-1]:
                    names.pop()
                if not names or len(set(names)) < len(names) or not all(names):
                    detail = "columns without a name of their own"
                    yield Refused(where, line, "no CSV header", detail)
                    return
            elif _is_broken("".join(cells)):
                yield Refused(where, line, "not UTF-8")
            elif not any(map(str.strip, cells)):
                continue
            elif len(cells) < len(names) or any(map(str.strip, cells[len(names) :])):
                detail = f"{len(cells)} cells in {len(names)} columns"
                yield Refused(where, line, "not a CSV row", detail)
            else:
                del cells[len(names) :]
                yield Entry(line, dict(zip(names, cells, strict=True)))


@contextmanager
def _opened(path: Path, errors: str, newline: str = "\n") -> Iterator[io.TextIOWrapper]:
    try:
        with path.open("rb") as raw:
            mark = raw.read(2)
            raw.seek(0)
            wide = mark in (b"\xff\xfe", b"\xfe\xff")
            encoding, how = ("utf-16", "surrogatepass") if wide else ("utf-8-sig", errors)
            how = "replace" if errors == "replace" else how
            with io.TextIOWrapper(raw, encoding, how, newline) as file:
                yield file
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=shown(path)) from error


def _is_broken(text: str) -> bool:
    """Whether it has half characters, as which bytes that are not UTF-8 were kept."""
    return not text.isascii() and _HALF_CHARACTER.search(text) is not None


def _decoded(line: int, text: str, where: str) -> Entry | Refused:
    if _is_broken(text):
        return Refused(where, line, "not UTF-8")
    try:
        return Entry(line, decode(text))
    except ValueError as error:
        return Refused(where, line, "not valid JSON", str(error)[:120])


class _RereadableLines:
    """Lines for `csv`, long ones in pieces; those of a broken row can be read again."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self.file = file
        self.line = 0
        self.taken: list[str] = []
        self.waiting: deque[str] = deque()

    def __iter__(self) -> "_RereadableLines":
        return self

    def __next__(self) -> str:
        text = self.waiting.popleft() if self.waiting else self.file.readline(LONGEST)
        if not text:
            raise StopIteration
        self.line += 1
        self.taken.append(text)
        return text

    def begin_row(self) -> int:
        self.taken = []
        return self.line + 1

    def reread(self) -> None:
        """Have all lines of the row but its first read again."""
        again = self.taken[1:]
        self.waiting.extendleft(reversed(again))
        self.line -= len(again)

    def delimiter(self) -> str:
        first = self.file.readline(LONGEST)
        if separator := _SEPARATOR_LINE.fullmatch(first):
            self.line += 1
            return separator[1]
        self.waiting.append(first)
        return max(",;\t", key=first.count)


def _is_json_lines(path: Path) -> bool:
    """Whether the first line is an object, or a further object begins on the second.

    The second line of an object that runs over many lines is indented or starts with a name.
    """
    with _opened(path, "replace") as file:
        first = _next_line(file)
        one_line = first.endswith("}") or _next_line(file).startswith("{")
        return first.startswith("{") and one_line


def _next_line(file: io.TextIOWrapper) -> str:
    while text := file.readline(LONGEST):
        if text.strip():
            return text.strip()
    return ""


def _json_lines(file: io.TextIOWrapper, where: str) -> Iterator[tuple[int, str] | Refused]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST and not line.endswith("\n"):
            while (rest := file.readline(_CHUNK)) and not rest.endswith("\n"):
                pass
            yield Refused(where, number, "too long", f"more than {LONGEST:,} characters")
        elif line.strip():
            yield number, line.strip()


def _json_objects(file: io.TextIOWrapper, where: str) -> Iterator[tuple[int, str] | Refused]:
    """The line and text of every outermost object, in an array, side by side or alone."""
    splitter = _ObjectSplitter(where)
    left = ""
    while chunk := file.read(_CHUNK):
        text = left + chunk
        left = "\\" if (len(text) - len(text.rstrip("\\"))) % 2 else ""  # and what it escapes
        yield from splitter.feed(text[: len(text) - len(left)])
    yield from splitter.feed(left)
    yield from splitter.end()


class _ObjectSplitter:
    """Finds the outermost objects of a JSON text by their brackets, chunk by chunk."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.line = self.start = 1
        self.depth = self.size = self.stray = 0
        self.in_string = False
        self.pieces: list[str] = []

    def feed(self, text: str) -> Iterator[tuple[int, str] | Refused]:
        at = begun = 0
        if self.in_string and (rest := _STRING_END.match(text)):
            self.in_string, at = not rest[1], rest.end()
        for token in _TOKEN.finditer(text, at):
            if token[0] == "{":
                if not self.depth:
                    self._outside(text[begun : token.start()])
                    begun = token.start()
                    self.start, self.size, self.pieces = self.line, 0, []
                self.depth += 1
            elif token[0] == "}" and self.depth:
                self.depth -= 1
                if not self.depth:
                    self._inside(text[begun : token.end()])
                    begun = token.end()
                    yield self._object()
            elif token[1] == "":
                self.in_string = True
        if self.depth:
            self._inside(text[begun:])
        else:
            self._outside(text[begun:])

    def end(self) -> Iterator[Refused]:
        if self.depth:
            detail = "an object without its end, to the last line"
            yield Refused(self.where, self.start, "cut short", detail)
        if self.stray:
            yield Refused(self.where, self.stray, "not valid JSON", "text outside of any object")

    def _inside(self, text: str) -> None:
        self.size += len(text)
        self.line += text.count("\n")
        self.pieces = [*self.pieces, text] if self.size <= LONGEST else []

    def _outside(self, text: str) -> None:
        if not self.stray and (rest := text.lstrip(" \t\r\n,[]")):
            self.stray = self.line + text[: len(text) - len(rest)].count("\n")
        self.line += text.count("\n")

    def _object(self) -> tuple[int, str] | Refused:
        if self.size > LONGEST:
            return Refused(self.where, self.start, "too long", f"{self.size:,} characters")
        return self.start, "".join(self.pieces)
