"""Pages of a MediaWiki XML export, cut out by their tags; only wanted ones are parsed as XML."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.parsers import expat

from builders.wikipedia.units import LONGEST

OPEN, CLOSE = b"<page>", b"</page>"
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_SPACE = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_ID = re.compile(rb"<id>\s*(\d{1,18})\s*</id>")
_REDIRECT = re.compile(rb"<redirect(?:\s+title=(?:\"([^\"]*)\"|'([^']*)'))?\s*/>")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_SENDS = re.compile(rb"<text[^<>]*>\s*#redirect[^\[<]{0,20}\[\[([^\[\]|<]*)", re.I)
_HEAD = 4096
_XML = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#039;": "'", "&amp;": "&"}
_REFERENCE = re.compile("|".join(_XML))


class PageHead(NamedTuple):
    """What the first lines of a page say; `redirect` is empty where its target is not said."""

    title: str
    namespace: int
    page: int
    model: str
    redirect: str | None


class Revision(NamedTuple):
    """The last revision of a page."""

    id: int
    text: str


class BadPageError(Exception):
    """Why a page is left out: a short reason and what was seen."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class Cut(NamedTuple):
    """A page's bytes; `whole`: it has an end and is no longer than is read."""

    data: bytes
    whole: bool
    too_long: bool = False


class Cutter:
    """Cuts pages out of pieces of an export.

    `head` is what stands before the first page where that is the end of a page begun
    elsewhere, `tail` the beginning of a page that ends elsewhere.
    """

    def __init__(self, pieces: Iterable[bytes], *, middle: bool) -> None:
        self._pieces, self._middle = pieces, middle
        self.head = self.tail = b""
        self.swallowed = False
        """Whether nothing but `head` was found."""

    def __iter__(self) -> Iterator[Cut]:
        held = b""
        begun = not self._middle
        skipping = False
        for piece in self._pieces:
            held += piece
            if skipping:
                end = held.find(CLOSE)
                if end < 0:
                    held = held[-len(CLOSE) :]
                    continue
                held = held[end + len(CLOSE) :]
                skipping = False
            at = 0
            if not begun:
                start = len(held) - len(held.lstrip())
                if held.startswith((OPEN, b"</mediawiki"), start):
                    begun = True
                elif (end := held.find(CLOSE)) >= 0:
                    at = end + len(CLOSE)
                    self.head = held[:at]
                    begun = True
                elif len(held) <= LONGEST:
                    continue
                else:
                    begun = True
            while (end := held.find(CLOSE, at)) >= 0:
                start = held.rfind(OPEN, at, end)
                first = held.find(OPEN, at, end)
                if first != start and first >= 0:
                    yield Cut(held[first:start][:_HEAD], False)
                end += len(CLOSE)
                if start >= 0:
                    long = end - start > LONGEST
                    yield Cut(held[start:end] if not long else held[start:][:_HEAD], not long, long)
                at = end
            held = held[at:]
            if len(held) > LONGEST:
                if (start := held.find(OPEN)) >= 0:
                    yield Cut(held[start:][:_HEAD], False, True)
                held = held[-len(CLOSE) :]
                skipping = True
        if not begun:
            self.head, self.swallowed = held, True
        elif not skipping:
            self.tail = b"" if held.lstrip()[:11] in (b"", b"</mediawiki") else held


def head_of(data: bytes) -> PageHead:
    """The head of a page, read without an XML parser. `BadPageError`: no title, not UTF-8."""
    start = data[:_HEAD]
    title = _TITLE.search(start)
    if not title or not title[1].strip():
        raise BadPageError("no_title")
    space, number, model = _SPACE.search(start), _ID.search(start), _MODEL.search(start)
    sends = _REDIRECT.search(start)
    said = _SENDS.search(start)
    to: str | None = None
    try:
        name = plain(title[1].decode())
        if sends or said:
            target = (sends and (sends[1] or sends[2])) or (said and said[1]) or b""
            to = plain(target.decode())
    except UnicodeDecodeError as error:
        raise BadPageError("bad_utf8", f"byte {error.start} of the title") from None
    return PageHead(
        name,
        int(space[1]) if space else 0,
        int(number[1]) if number else 0,
        model[1].decode("utf-8", "replace") if model else "wikitext",
        to,
    )


def plain(text: str) -> str:
    """XML's five named references as the characters they stand for."""
    return _REFERENCE.sub(lambda m: _XML[m[0]], text) if "&" in text else text


class _Reading:
    def __init__(self) -> None:
        self.path: list[str] = []
        self.revisions = 0
        self.texts = 0
        self.text: list[str] = []
        self.number: list[str] = []
        self.deleted = False

    def start(self, name: str, given: dict[str, str]) -> None:
        self.path.append(name)
        if self.path == ["page", "revision"]:
            self.revisions += 1
            self.texts, self.text, self.number, self.deleted = 0, [], [], False
        elif self.path == ["page", "revision", "text"]:
            self.texts += 1
            self.deleted = "deleted" in given

    def end(self, name: str) -> None:
        self.path.pop()

    def characters(self, data: str) -> None:
        if self.path == ["page", "revision", "text"]:
            self.text.append(data)
        elif self.path == ["page", "revision", "id"]:
            self.number.append(data)


def revision_of(data: bytes) -> Revision:
    """The last revision of a page. `BadPageError`: not XML, not UTF-8, no revision, no text.

    A page has no document type, so that no entity is ever defined or expanded.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise BadPageError("bad_utf8", f"byte {error.start} of the page") from None
    reading = _Reading()
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.characters
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadPageError("bad_xml", str(error)) from None
    if not reading.revisions:
        raise BadPageError("no_revision")
    number = "".join(reading.number).strip()
    if reading.deleted:
        raise BadPageError("deleted_text")
    if not reading.texts:
        raise BadPageError("no_text")
    known = int(number) if number.isascii() and number.isdigit() and len(number) < 19 else 0
    return Revision(known, "".join(reading.text))
