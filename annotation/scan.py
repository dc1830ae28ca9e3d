"""The objects of a JSON text of any size, found by their brackets, without reading it whole."""

import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from annotation.submission import LONGEST, Refused

_CHUNK = 1 << 16
_INSIDE = r'[^"\\]*+(?:\\.[^"\\]*+)*+("?)'
_TOKEN = re.compile(f'[{{}}]|"{_INSIDE}', re.DOTALL)
"""A bracket, or a string; one that goes on in the next piece has no quote at its end."""
_REST = re.compile(_INSIDE, re.DOTALL)


class Document(NamedTuple):
    """The text of one JSON document of a file, and the line that it starts on."""

    line: int
    text: str


class _Scan:
    """Where a scan stands: on which line, in which object, and what of it there is."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.line = self.start = 1
        self.depth = self.size = self.stray = 0
        self.quoted = False
        self.parts: list[str] = []

    def pieces(self, text: str) -> Iterator[Document | Refused]:
        """The objects that end in the next piece of text."""
        at = begun = 0
        if self.quoted and (rest := _REST.match(text)):
            self.quoted, at = not rest[1], rest.end()
        for token in _TOKEN.finditer(text, at):
            if token[0] == "{":
                if not self.depth:
                    self._outside(text[begun : token.start()])
                    begun = token.start()
                    self.start, self.size, self.parts = self.line, 0, []
                self.depth += 1
            elif token[0] == "}" and self.depth:
                self.depth -= 1
                if not self.depth:
                    self._inside(text[begun : token.end()])
                    begun = token.end()
                    yield self._object()
            elif token[1] == "":
                self.quoted = True
        if self.depth:
            self._inside(text[begun:])
        else:
            self._outside(text[begun:])

    def end(self) -> Iterator[Refused]:
        """What is wrong with the whole."""
        if self.depth:
            detail = "an object without its end, to the last line"
            yield Refused(self.where, self.start, "cut short", detail)
        if self.stray:
            detail = "text outside of any object"
            yield Refused(self.where, self.stray, "not valid JSON", detail)

    def _inside(self, text: str) -> None:
        self.size += len(text)
        self.line += text.count("\n")
        if self.size <= LONGEST:
            self.parts.append(text)
        else:
            self.parts = []

    def _outside(self, text: str) -> None:
        if not self.stray and (rest := text.lstrip(" \t\r\n,[]")):
            self.stray = self.line + text[: len(text) - len(rest)].count("\n")
        self.line += text.count("\n")

    def _object(self) -> Document | Refused:
        if self.size > LONGEST:
            return Refused(self.where, self.start, "too long", f"{self.size:,} characters")
        return Document(self.start, "".join(self.parts))


def objects(file: io.TextIOWrapper, where: str) -> Iterator[Document | Refused]:
    """Every outermost object, whether in an array, side by side or alone."""
    scan = _Scan(where)
    left = ""
    while chunk := file.read(_CHUNK):
        text = left + chunk
        left = "\\" if (len(text) - len(text.rstrip("\\"))) % 2 else ""  # and what it escapes
        yield from scan.pieces(text[: len(text) - len(left)])
    yield from scan.pieces(left)
    yield from scan.end()
