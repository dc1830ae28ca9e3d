"""Pages of a MediaWiki XML export, cut out by their tags; only wanted ones are parsed as XML."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from factdrift.builders.core.limits import LONGEST_PAGE
from factdrift.builders.text.references import without_references
from factdrift.builders.wikipedia.titles import redirect_target

OPEN, CLOSE = b"<page>", b"</page>"
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NAMESPACE = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_ID = re.compile(rb"<id>\s*(\d{1,18})\s*</id>")
# `<redirect title="Leeds" />`; a redirect without a title counts too, `<redirected />` does not.
_REDIRECT = re.compile(rb"<redirect(?:\s+title=(?:\"([^\"]*)\"|'([^']*)'))?\s*/>")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
# Old exports have no element: `<text>#REDIRECT [[Leeds`, but not `<text>See [[Leeds`.
_TEXT_REDIRECT = re.compile(rb"<text[^<>]*>\s*#redirect[^\[<]{0,20}\[\[([^\[\]|<]*)", re.I)
_REVISION = b"<revision>"
# Title, ids and model of a page lie in its first bytes; a title has at most 255.
_HEAD = 4096


class PageHead(NamedTuple):
    """The head of a page.

    `redirect` is the target of a redirect, or empty if the redirect names none; for other pages it
    is None.
    """

    title: str
    namespace: int
    page: int
    model: str
    redirect: str | None


class PageRevision(NamedTuple):
    """The newest revision of a page; `model` says what its text is: `wikitext`, `css`."""

    id: int
    text: str
    model: str = "wikitext"


class BadPageError(Exception):
    """A page that is left out: the drop reason, and what was seen."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class PageBytes(NamedTuple):
    """A page's bytes; of one without an end, or longer than `LONGEST_PAGE`, its first ones."""

    data: bytes
    fault: Literal["cut_page", "too_long"] | None = None


def cut_pages(
    pieces: Iterable[bytes], following: Iterable[bytes] = (), *, begins_inside: bool = False
) -> Iterator[PageBytes]:
    """Yield the pages that begin in some pieces of an export.

    `following` is the text behind the pieces; it is read up to the end of the last page only. With
    `begins_inside`, the pieces may begin inside a page, which is passed over.
    """
    unread = b""
    skips_page = False
    for piece in pieces:
        unread += piece
        if begins_inside:
            tag_start = unread.find(OPEN)
            unread = unread[tag_start if tag_start >= 0 else 1 - len(OPEN) :]
            if tag_start < 0:
                continue
            begins_inside = False
        if skips_page:
            page_end = unread.find(CLOSE)
            if page_end < 0:
                unread = unread[-len(CLOSE) :]
                continue
            unread = unread[page_end + len(CLOSE) :]
            skips_page = False
        page_start = 0
        while (page_end := unread.find(CLOSE, page_start)) >= 0:
            tag_start = unread.rfind(OPEN, page_start, page_end)
            first_tag = unread.find(OPEN, page_start, page_end)
            if first_tag != tag_start and first_tag >= 0:
                yield PageBytes(unread[first_tag:tag_start][:_HEAD], "cut_page")
            page_end += len(CLOSE)
            if tag_start >= 0:
                yield _page_bytes(unread[tag_start:page_end])
            page_start = page_end
        unread = unread[page_start:]
        if len(unread) > LONGEST_PAGE:
            if (tag_start := unread.find(OPEN)) >= 0:
                yield PageBytes(unread[tag_start:][:_HEAD], "too_long")
            unread = unread[-len(CLOSE) :]
            skips_page = True
    if not skips_page:
        yield from _last_page(unread, following)


def _page_bytes(data: bytes) -> PageBytes:
    return PageBytes(data[:_HEAD], "too_long") if len(data) > LONGEST_PAGE else PageBytes(data)


def _last_page(page_bytes: bytes, following: Iterable[bytes]) -> Iterator[PageBytes]:
    """Yield the page, if any, that begins in `page_bytes` and ends in the text that follows.

    `page_bytes` is the rest of the pieces, behind the last page that ended in them. Its last bytes
    may be the first part of an opening tag.
    """
    # The first tag, and not the last one: if there is a second one, the first page has lost its
    # end, and that has to be reported.
    page_start = page_bytes.find(OPEN)
    if page_start < 0:
        # No whole tag: look for a part of one at the very end.
        search_start = max(len(page_bytes) - len(OPEN) + 1, 0)
        page_start = next(
            (
                offset
                for offset in range(search_start, len(page_bytes))
                if OPEN.startswith(page_bytes[offset:])
            ),
            len(page_bytes),
        )
    page_bytes = page_bytes[page_start:]
    if not page_bytes:
        return
    # The empty piece lets the tests run once even if nothing follows.
    for piece in chain(following, [b""]):
        page_bytes += piece
        # What looked like a part of a tag is none: no page begins here.
        if not OPEN.startswith(page_bytes[: len(OPEN)]):
            return
        page_end, next_start = page_bytes.find(CLOSE), page_bytes.find(OPEN, len(OPEN))
        # The page ends, and no other page begins before that: it is whole.
        if page_end >= 0 and not 0 <= next_start < page_end:
            yield _page_bytes(page_bytes[: page_end + len(CLOSE)])
            return
        # Another page begins first: this one has lost its end.
        if next_start >= 0:
            yield PageBytes(page_bytes[:next_start][:_HEAD], "cut_page")
            return
        # No end within the longest page: stop here, so that memory does not fill.
        if len(page_bytes) > LONGEST_PAGE:
            yield PageBytes(page_bytes[:_HEAD], "too_long")
            return
    # The text is at its end, and the page is not.
    if page_bytes.startswith(OPEN):
        yield PageBytes(page_bytes[:_HEAD], "cut_page")


def page_head(page_bytes: bytes) -> PageHead:
    """Read the head of a page without an XML parser.

    Raises `BadPageError` if the page has no title or is not UTF-8.
    """
    head_bytes = page_bytes[:_HEAD]
    title_match = _TITLE.search(head_bytes)
    if not title_match or not title_match[1].strip():
        raise BadPageError("no_title")
    namespace_match, id_match, model_match = (
        _NAMESPACE.search(head_bytes),
        _ID.search(head_bytes),
        _MODEL.search(head_bytes),
    )
    redirect_element = _REDIRECT.search(head_bytes)
    text_redirect = _TEXT_REDIRECT.search(head_bytes)
    redirect: str | None = None
    try:
        page_title = without_references(title_match[1].decode())
        if redirect_element or text_redirect:
            target = (
                (redirect_element and (redirect_element[1] or redirect_element[2]))
                or (text_redirect and text_redirect[1])
                or b""
            )
            redirect = without_references(target.decode())
    except UnicodeDecodeError as error:
        raise BadPageError("bad_utf8", f"byte {error.start} of the title") from None
    return PageHead(
        page_title,
        int(namespace_match[1]) if namespace_match else 0,
        int(id_match[1]) if id_match else 0,
        model_match[1].decode("utf-8", "replace") if model_match else "wikitext",
        redirect,
    )


def newest_head(head: PageHead, page_bytes: bytes) -> PageHead:
    """The head of a page with several revisions as its newest one has it.

    What stands first in the page may be the oldest revision, with another model or a redirect.
    """
    if head.namespace or page_bytes.count(_REVISION) < 2:
        return head
    revision = newest_revision(page_bytes)
    if _REDIRECT.search(page_bytes[:_HEAD]):
        return head._replace(model=revision.model)
    return head._replace(model=revision.model, redirect=redirect_target(revision.text))


def newest_revision(page_bytes: bytes) -> PageRevision:
    """Return the newest revision of a page by its time, wherever it stands in the page.

    Raises `BadPageError` if the page is not XML or UTF-8, or has no revision or no text, or has
    markup of XML in its text, which therefore was not escaped.

    A page has no document type, so that no entity is ever defined or expanded.
    """
    try:
        page_bytes.decode()
        revisions = ElementTree.fromstring(page_bytes).findall("revision")  # noqa: S314
    except UnicodeDecodeError as error:
        raise BadPageError("bad_utf8", f"byte {error.start} of the page") from None
    except ElementTree.ParseError as error:
        raise BadPageError("bad_xml", str(error)) from None
    if not revisions:
        raise BadPageError("no_revision")
    newest = revisions[_newest(revisions)]
    text_element = newest.find("text")
    if text_element is None:
        raise BadPageError("no_text")
    if "deleted" in text_element.attrib:
        raise BadPageError("deleted_text")
    if len(text_element):
        # All behind the first tag would be lost.
        raise BadPageError("bad_xml", f"<{text_element[0].tag}> in the text is not escaped")
    model = (newest.findtext("model") or "wikitext").strip()
    return PageRevision(_revision_id(newest), text_element.text or "", model)


def _newest(revisions: Sequence[ElementTree.Element]) -> int:
    """The place of the newest revision: by time; where one has none by id; else the last."""
    times = [_revision_time(revision) for revision in revisions]
    ids = [_revision_id(revision) for revision in revisions]
    places = range(len(revisions))
    if None not in times:
        return max(places, key=lambda place: (times[place], ids[place], place))
    return max(places, key=lambda place: (ids[place] if all(ids) else 0, place))


def _revision_time(revision: ElementTree.Element) -> datetime | None:
    """The time of `<timestamp>2024-01-01T00:00:00Z</timestamp>`; None where it is none."""
    try:
        time = datetime.fromisoformat((revision.findtext("timestamp") or "").strip())
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _revision_id(revision: ElementTree.Element) -> int:
    text = (revision.findtext("id") or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
