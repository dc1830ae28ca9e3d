"""The objects of a JSON text of any size, found by their brackets, without reading it whole."""

import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from annotation.submission import LONGEST, Refused

_CHUNK = 1 << 16
_OUTSIDE = re.compile(r'["{}]')
_INSIDE = re.compile(r'["\\]')


class Document(NamedTuple):
    """The text of one JSON document of a file, and the line that it starts on."""

    line: int
    text: str


class _Scan:
    """Where a scan over JSON text stands: how deep, in a string or not, what it has collected."""

    def __init__(self) -> None:
        self.line = self.start = 1
        self.depth = 0
        self.quoted = self.escaped = False
        self.parts: list[str] = []
        self.size = 0
        self.stray = 0

    def keep(self, text: str) -> None:
        if self.depth:
            self.size += len(text)
            if self.size <= LONGEST:
                self.parts.append(text)
            else:
                self.parts = []
        elif not self.stray and (rest := text.lstrip(" \t\r\n,[]")):
            self.stray = self.line + text[: len(text) - len(rest)].count("\n")
        self.line += text.count("\n")


def objects(file: io.TextIOWrapper, where: str) -> Iterator[Document | Refused]:
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
        yield Refused(where, scan.start, "cut short", "an object without its end, to the last line")
    if scan.stray:
        yield Refused(where, scan.stray, "not valid JSON", "text outside of any object")


def _object(scan: _Scan, where: str) -> Document | Refused:
    if scan.size > LONGEST:
        return Refused(where, scan.start, "too long", f"{scan.size:,} characters")
    return Document(scan.start, "".join(scan.parts))
