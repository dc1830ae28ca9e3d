"""Results files as they come: JSON, JSON lines and CSV, streamed in bounded memory.

Text is UTF-8, with or without its mark, or UTF-16 with its mark. Nothing is guessed: a line in
another encoding is refused, as is a broken row, and the rows after it are read.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from annotation.scan import Document, objects
from annotation.submission import LONGEST, Refused
from builders.config import shown
from builders.errors import UserError

_LINES = (".jsonl", ".ndjson")
_CHUNK = 1 << 16
_SEP = re.compile(r'"?sep=([,;\t])"?\s*', re.IGNORECASE)
"""The first line by which a spreadsheet is told what stands between cells."""
_HALF = re.compile("[\ud800-\udfff]")


class Row(NamedTuple):
    """One row of a CSV file: its first line, and cells by the name of their column."""

    line: int
    cells: dict[str, str]


def head(path: Path, size: int = _CHUNK) -> str:
    """The first characters of a file, to see what it is; broken ones replaced."""
    with _opened(path, "replace") as file:
        return file.read(size)


def documents(path: Path) -> Iterator[Document | Refused]:
    """The objects of a JSON array, of JSON lines, or the one object of a file.

    Lines are read one by one, so that a broken one costs no other; of an array or of an object
    over many lines, what follows a quote or bracket that is never closed cannot be told apart.
    """
    where = shown(path)
    with _opened(path, "surrogateescape") as file:
        try:
            lines = path.suffix.lower() in _LINES or _is_lines(path)
            for found in _lines(file, where) if lines else objects(file, where):
                if isinstance(found, Document) and _broken(found.text):
                    yield Refused(where, found.line, "not UTF-8")
                else:
                    yield found
        except UnicodeError as error:
            yield Refused(where, 0, "broken encoding", str(error)[:120])


def table(path: Path) -> Iterator[Row | Refused]:
    """The rows of a CSV file with a header; commas, semicolons or tabs, as a line `sep=;` says.

    Blank rows are passed over, as are cells without a text after the last column with a name.
    After a broken row, reading goes on at the line after the one on which it began.
    """
    where = shown(path)
    csv.field_size_limit(LONGEST)
    with _opened(path, "surrogateescape", newline="") as file:
        names: list[str] | None = None
        source = _Again(file)
        reader: Iterator[list[str]] | None = None
        while True:
            line = source.begin()
            try:
                reader = reader or csv.reader(source, delimiter=source.mark(), strict=True)
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if names is None:
                    yield Refused(where, line, "no CSV header", str(error))
                    return
                yield Refused(where, line, "not a CSV row", str(error))
                source.back()
                continue
            except UnicodeError as error:
                yield Refused(where, line, "broken encoding", str(error)[:120])
                return
            if names is None:
                names = [name.strip() for name in cells]
                while names and not names[-1]:
                    names.pop()
                if not names or len(set(names)) < len(names) or not all(names):
                    yield Refused(
                        where, line, "no CSV header", "columns without a name of their own"
                    )
                    return
            elif _broken("".join(cells)):
                yield Refused(where, line, "not UTF-8")
            elif not any(map(str.strip, cells)):
                continue
            elif len(cells) < len(names) or any(map(str.strip, cells[len(names) :])):
                seen = f"{len(cells)} cells in {len(names)} columns"
                yield Refused(where, line, "not a CSV row", seen)
            else:
                del cells[len(names) :]
                yield Row(line, dict(zip(names, cells, strict=True)))


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


def _broken(text: str) -> bool:
    """Whether it has half characters: bytes that are not UTF-8 were kept as these."""
    return not text.isascii() and _HALF.search(text) is not None


class _Again:
    """Lines for `csv`, long ones in pieces, of which those of a broken row can be read again."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self.file = file
        self.line = 0
        self.taken: list[str] = []
        self.waiting: deque[str] = deque()

    def __iter__(self) -> "_Again":
        return self

    def __next__(self) -> str:
        text = self.waiting.popleft() if self.waiting else self.file.readline(LONGEST)
        if not text:
            raise StopIteration
        self.line += 1
        self.taken.append(text)
        return text

    def begin(self) -> int:
        """A row begins: the number of its line."""
        self.taken = []
        return self.line + 1

    def back(self) -> None:
        """All lines of the row but its first are to be read again."""
        again = self.taken[1:]
        self.waiting.extendleft(reversed(again))
        self.line -= len(again)

    def mark(self) -> str:
        """What stands between cells, by the first line."""
        first = self.file.readline(LONGEST)
        if said := _SEP.fullmatch(first):
            self.line += 1
            return said[1]
        self.waiting.append(first)
        return max(",;\t", key=first.count)


def _is_lines(path: Path) -> bool:
    """Whether a file holds JSON lines: the first is an object, or a further one begins on the next.

    Of an object over many lines, the next is indented or starts with a name.
    """
    with _opened(path, "replace") as file:
        first = _next_line(file)
        whole = first.endswith("}") or _next_line(file).startswith("{")
        return first.startswith("{") and whole


def _next_line(file: io.TextIOWrapper) -> str:
    """The next line that is not empty, up to its `LONGEST` first characters."""
    while text := file.readline(LONGEST):
        if text.strip():
            return text.strip()
    return ""


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
