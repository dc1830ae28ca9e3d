"""Results files as they come: JSON, JSON lines and CSV, streamed in bounded memory.

Text is UTF-8, with or without its mark, or UTF-16 with its mark. Nothing is guessed: a line in
another encoding is refused, as is a broken row, and the rows after it are read.
"""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from annotation.submission import LONGEST, Refused
from builders.config import shown
from builders.errors import UserError

_LINES = (".jsonl", ".ndjson")
_CHUNK = 1 << 16


class Document(NamedTuple):
    """The text of one JSON document of a file, and the line that it starts on."""

    line: int
    text: str


class Row(NamedTuple):
    """One row of a CSV file: its first line, and cells by the name of their column."""

    line: int
    cells: dict[str, str]


def head(path: Path, size: int = _CHUNK) -> str:
    """The first characters of a file, to see what it is; broken ones replaced."""
    with _opened(path, "replace") as file:
        return file.read(size)


def documents(path: Path) -> Iterator[Document | Refused]:
    """The objects of a JSON array, of JSON lines, or the one object of a file."""
    where = shown(path)
    with _opened(path, "surrogateescape") as file:
        first = next(filter(str.strip, head(path).splitlines()), "").strip()
        lines = path.suffix.lower() in _LINES or (first.startswith("{") and first.endswith("}"))
        try:
            for found in _lines(file, where) if lines else _objects(file, where):
                if isinstance(found, Document) and _broken(found.text):
                    yield Refused(where, found.line, "not UTF-8")
                else:
                    yield found
        except UnicodeError as error:
            yield Refused(where, 0, "broken encoding", str(error)[:120])


def table(path: Path) -> Iterator[Row | Refused]:
    """The rows of a CSV file with a header; commas, semicolons or tabs."""
    where = shown(path)
    csv.field_size_limit(LONGEST)
    with _opened(path, "surrogateescape", newline="") as file:
        first = file.readline(LONGEST)
        mark = max(",;\t", key=first.count)
        reader = csv.reader(chain([first], _whole(file)), delimiter=mark, strict=True)
        names: list[str] | None = None
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if names is None:
                    yield Refused(where, line, "no CSV header", str(error))
                    return
                yield Refused(where, line, "not a CSV row", str(error))
                continue
            except UnicodeError as error:
                yield Refused(where, line, "broken encoding", str(error)[:120])
                return
            if names is None:
                names = [name.strip() for name in cells]
                if len(set(names)) < len(names) or not all(names):
                    yield Refused(
                        where, line, "no CSV header", "columns without a name of their own"
                    )
                    return
            elif _broken("".join(cells)):
                yield Refused(where, line, "not UTF-8")
            elif len(cells) != len(names):
                if any(cells):
                    seen = f"{len(cells)} cells in {len(names)} columns"
                    yield Refused(where, line, "not a CSV row", seen)
            else:
                yield Row(line, dict(zip(names, cells, strict=True)))


@contextmanager
def _opened(path: Path, errors: str, newline: str = "\n") -> Iterator[io.TextIOWrapper]:
    try:
        with path.open("rb") as raw:
            mark = raw.read(2)
            raw.seek(0)
            wide = mark in (b"\xff\xfe", b"\xfe\xff")
            encoding, how = ("utf-16", "strict") if wide else ("utf-8-sig", errors)
            how = "replace" if errors == "replace" else how
            with io.TextIOWrapper(raw, encoding, how, newline) as file:
                yield file
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=shown(path)) from error


def _broken(text: str) -> bool:
    """Whether bytes that are not UTF-8 were kept as half characters."""
    return not text.isascii() and any("\udc80" <= c <= "\udcff" for c in text)


def _whole(file: io.TextIOWrapper) -> Iterator[str]:
    """Lines, long ones in pieces, which `csv` joins within quotes and no further."""
    while line := file.readline(LONGEST):
        yield line


def _lines(file: io.TextIOWrapper, where: str) -> Iterator[Document | Refused]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST and not line.endswith("\n"):
            while (rest := file.readline(_CHUNK)) and not rest.endswith("\n"):
                pass
            yield Refused(where, number, "too long", f"more than {LONGEST:,} characters")
        elif line.strip():
            yield Document(number, line.strip())


_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')


class _Scan:
    """Where a scan over JSON text stands: how deep, in a string or not, what it has collected."""

    def __init__(self) -> None:
        self.line = self.start = 1
        self.depth = 0
        self.quoted = self.escaped = False
        self.parts: list[str] = []
        self.size = 0
        self.stray = False

    def keep(self, text: str) -> None:
        self.line += text.count("\n")
        if self.depth:
            self.size += len(text)
            if self.size <= LONGEST:
                self.parts.append(text)
            else:
                self.parts = []
        elif text.strip(" \t\r\n,[]"):
            self.stray = True


def _objects(file: io.TextIOWrapper, where: str) -> Iterator[Document | Refused]:
    """Every outermost object, whether in an array, side by side or alone."""
    scan = _Scan()
    while chunk := file.read(_CHUNK):
        at = 0
        while at < len(chunk):
            if scan.escaped:
                scan.escaped = False
                scan.keep(chunk[at])
                at += 1
                continue
            found = (_INSIDE if scan.quoted else _OUTSIDE).search(chunk, at)
            end = found.end() if found else len(chunk)
            sign = found[0] if found else ""
            if sign == "{" and not scan.depth:
                scan.keep(chunk[at : end - 1])
                scan.start, scan.size, scan.parts, at = scan.line, 0, [], end - 1
            scan.depth += sign == "{" and not scan.quoted
            scan.keep(chunk[at:end])
            at = end
            if scan.quoted:
                scan.escaped = sign == "\\"
                scan.quoted = sign != '"'
            elif sign == '"':
                scan.quoted = True
            elif sign == "}" and scan.depth:
                scan.depth -= 1
                if not scan.depth:
                    yield _object(scan, where)
    if scan.depth:
        yield Refused(where, scan.start, "cut short", "an object without its end")
    elif scan.stray:
        yield Refused(where, 1, "not valid JSON", "text outside of any object")


def _object(scan: _Scan, where: str) -> Document | Refused:
    if scan.size > LONGEST:
        return Refused(where, scan.start, "too long", f"{scan.size:,} characters")
    return Document(scan.start, "".join(scan.parts))
