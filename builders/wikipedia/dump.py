"""Pages of a MediaWiki XML export, cut out by their tags; only wanted ones are parsed as XML."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from factdrift.builders.text.references import without_references
from factdrift.builders.wikipedia.files import LONGEST

OPEN, CLOSE = b"<page>", b"</page>"
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NAMESPACE = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_ID = re.compile(rb"<id>\s*(\d{1,18})\s*</id>")
_REDIRECT = re.compile(rb"<redirect(?:\s+title=(?:\"([^\"]*)\"|'([^']*)'))?\s*/>")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_TEXT_REDIRECT = re.compile(rb"<text[^<>]*>\s*#redirect[^\[<]{0,20}\[\[([^\[\]|<]*)", re.I)
_HEAD = 4096


class PageHead(NamedTuple):
    """The head of a page; `redirect`: its target, empty where none is given; None: no redirect."""

    title: str
    namespace: int
    page: int
    model: str
    redirect: str | None


class PageRevision(NamedTuple):
    """The last revision of a page."""

    id: int
    text: str


class BadPageError(Exception):
    """A page that is left out: the drop reason, and what was seen."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class PageBytes(NamedTuple):
    """A page's bytes; of one without an end, or longer than `LONGEST`, its first ones."""

    data: bytes
    fault: Literal["cut_page", "too_long"] | None = None


def cut_pages(
    pieces: Iterable[bytes], following: Iterable[bytes] = (), *, middle: bool = False
) -> Iterator[PageBytes]:
    """The pages that begin in pieces of an export.

    `following`: the text behind them, of which no more is taken than the end of the last page.
    `middle`: the pieces may begin inside a page, which is passed over.
    """
    held = b""
    skipping = False
    for piece in pieces:
        held += piece
        if middle:
            start = held.find(OPEN)
            held = held[start if start >= 0 else 1 - len(OPEN) :]
            if start < 0:
                continue
            middle = False
        if skipping:
            end = held.find(CLOSE)
            if end < 0:
                held = held[-len(CLOSE) :]
                continue
            held = held[end + len(CLOSE) :]
            skipping = False
        at = 0
        while (end := held.find(CLOSE, at)) >= 0:
            start = held.rfind(OPEN, at, end)
            first = held.find(OPEN, at, end)
            if first != start and first >= 0:
                yield PageBytes(held[first:start][:_HEAD], "cut_page")
            end += len(CLOSE)
            if start >= 0:
                yield _page_bytes(held[start:end])
            at = end
        held = held[at:]
        if len(held) > LONGEST:
            if (start := held.find(OPEN)) >= 0:
                yield PageBytes(held[start:][:_HEAD], "too_long")
            held = held[-len(CLOSE) :]
            skipping = True
    if not skipping:
        yield from _last_page(held, following)


def _page_bytes(data: bytes) -> PageBytes:
    return PageBytes(data[:_HEAD], "too_long") if len(data) > LONGEST else PageBytes(data)


def _last_page(held: bytes, following: Iterable[bytes]) -> Iterator[PageBytes]:
    """The page, if one is begun, that ends in the text that follows; its tag may be cut in two."""
    start = held.find(OPEN)
    if start < 0:
        near = max(len(held) - len(OPEN) + 1, 0)
        start = next((n for n in range(near, len(held)) if OPEN.startswith(held[n:])), len(held))
    held = held[start:]
    if not held:
        return
    for piece in chain(following, [b""]):
        held += piece
        if not OPEN.startswith(held[: len(OPEN)]):
            return
        end, other = held.find(CLOSE), held.find(OPEN, len(OPEN))
        if end >= 0 and not 0 <= other < end:
            yield _page_bytes(held[: end + len(CLOSE)])
            return
        if other >= 0:
            yield PageBytes(held[:other][:_HEAD], "cut_page")
            return
        if len(held) > LONGEST:
            yield PageBytes(held[:_HEAD], "too_long")
            return
    if held.startswith(OPEN):
        yield PageBytes(held[:_HEAD], "cut_page")


def head_of(data: bytes) -> PageHead:
    """The head of a page, read without an XML parser. `BadPageError`: no title, not UTF-8."""
    start = data[:_HEAD]
    title = _TITLE.search(start)
    if not title or not title[1].strip():
        raise BadPageError("no_title")
    namespace, number, model = _NAMESPACE.search(start), _ID.search(start), _MODEL.search(start)
    element = _REDIRECT.search(start)
    in_text = _TEXT_REDIRECT.search(start)
    redirect: str | None = None
    try:
        name = without_references(title[1].decode())
        if element or in_text:
            target = (element and (element[1] or element[2])) or (in_text and in_text[1]) or b""
            redirect = without_references(target.decode())
    except UnicodeDecodeError as error:
        raise BadPageError("bad_utf8", f"byte {error.start} of the title") from None
    return PageHead(
        name,
        int(namespace[1]) if namespace else 0,
        int(number[1]) if number else 0,
        model[1].decode("utf-8", "replace") if model else "wikitext",
        redirect,
    )


def revision_of(data: bytes) -> PageRevision:
    """The last revision of a page. `BadPageError`: not XML, not UTF-8, no revision, no text.

    A page has no document type, so that no entity is ever defined or expanded.
    """
    try:
        data.decode()
        revisions = ElementTree.fromstring(data).findall("revision")  # noqa: S314
    except UnicodeDecodeError as error:
        raise BadPageError("bad_utf8", f"byte {error.start} of the page") from None
    except ElementTree.ParseError as error:
        raise BadPageError("bad_xml", str(error)) from None
    if not revisions:
        raise BadPageError("no_revision")
    text, number = revisions[-1].find("text"), (revisions[-1].findtext("id") or "").strip()
    if text is None:
        raise BadPageError("no_text")
    if "deleted" in text.attrib:
        raise BadPageError("deleted_text")
    known = int(number) if number.isascii() and number.isdigit() and len(number) < 19 else 0
    return PageRevision(known, text.text or "")
