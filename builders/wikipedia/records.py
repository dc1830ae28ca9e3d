"""Pages that are rows of JSON lines or Parquet: plain text or paragraphs, with links."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.limits import check_page_text
from factdrift.builders.core.outside_tables import bounded_batches
from factdrift.builders.core.records import (
    BadValueError,
    decode_record,
    integer_value,
    plain_rows,
    text_value,
    unmarked_line,
)
from factdrift.builders.core.schema import reading
from factdrift.builders.rows import Link, Page, Paragraph, ParagraphKind
from factdrift.builders.wikipedia.dump import BadPageError
from factdrift.builders.wikipedia.html import html_to_text, is_html
from factdrift.builders.wikipedia.templates import UnlistedTemplates
from factdrift.builders.wikipedia.titles import normalise_title
from factdrift.builders.wikipedia.wikitext import paragraphs

_BATCH = 64
"""Rows of Parquet that are turned into records at a time."""

_DROP_REASONS = ("bad_utf8", "bad_json", "no_record")
"""What `decode_record` may find wrong with a line; the page in it is dropped."""


class _GivenParagraph(msgspec.Struct):
    text: str
    kind: ParagraphKind | None = None
    section: str | None = None
    links: list[Link] | None = None


class PageRecord(msgspec.Struct):
    """A page as a row of JSON lines or Parquet.

    A row has a `title` and one of `paragraphs`, `text`, `wikitext` and `redirect`:

    - `paragraphs` are texts, or records with `text` and optionally `kind`, `section` and `links`.
    - `text` is plain text with one paragraph a line; the places in `links` count its characters.
      HTML is accepted if there are no `links`, and is read as a browser shows it.
    - `wikitext` is the source of the page.
    - `redirect` is the title to which the page redirects.

    `page` and `revision` are the ids of the page and of its revision. `id` is also the page's id,
    under the name that it has in the Hub's data set of Wikipedia.
    """

    title: str
    text: str | None = None
    wikitext: str | None = None
    paragraphs: list[str | _GivenParagraph] | None = None
    item: str | None = None
    page: int | None = None
    id: Any = None
    revision: int | None = None
    links: list[Link] | None = None
    redirect: str | None = None


def json_rows(json_lines: bytes, lines_before: int) -> Iterator[tuple[int, Any]]:
    """Yield each JSON line as its number in the file, from 1, and its record or its error.

    `lines_before` is the number of lines of the file before these. Empty lines are left out.
    """
    for line_number, line in enumerate(json_lines.split(b"\n"), lines_before + 1):
        text = unmarked_line(line)
        if not text.strip():
            continue
        try:
            row: Any = decode_record(text)
        except BadValueError as error:
            row = BadPageError(error.fault, str(error))
        yield line_number, row


def parquet_rows(path: Path, row_groups: list[int], rows_before: int) -> Iterator[tuple[int, Any]]:
    """Yield each row of some row groups of a Parquet file as its number, from 1, and its record.

    Raises `UserError` if the file is damaged.
    """
    row_number = rows_before
    try:
        with reading(path) as table:
            column_names = [
                column
                for column in table.schema_arrow.names
                if column in PageRecord.__struct_fields__
            ]
            for batch in bounded_batches(table, path, _BATCH, column_names, row_groups):
                for row in plain_rows(batch):
                    row_number += 1
                    yield row_number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error


_LARGEST = 2**63 - 1
"""The largest id of a page or a revision: columns of ids have 64 bits."""


def read_record(row: Any) -> PageRecord:
    """A row as a record, with its title normalised; values as `builders.core.records` reads them.

    `BadPageError`: no record, no title, or a field of another type.
    """
    if not isinstance(row, dict):
        raise BadPageError("no_record", f"a {type(row).__name__}, not an object")
    title = normalise_title(_field("title", row, text_value, "no_title") or "")
    if not title:
        given_title = row.get("title")
        raise BadPageError("no_title", None if given_title is None else repr(given_title)[:200])
    fields = {**row, "title": title}
    for name in ("text", "wikitext", "item", "redirect"):
        fields[name] = _field(name, row, text_value)
    for name in ("page", "revision"):
        fields[name] = _field(name, row, _page_number)
    try:
        return msgspec.convert(fields, PageRecord)
    except msgspec.ValidationError as error:
        reason = "bad_link" if "`$.links" in str(error) else "bad_field"
        raise BadPageError(reason, str(error)) from None


def _field(
    name: str,
    row: Mapping[str, Any],
    read_value: Callable[[object], Any],
    reason: str = "bad_field",
) -> Any:
    """The value of a field; `BadPageError` with this reason where it cannot be read."""
    try:
        return read_value(row.get(name))
    except BadValueError as error:
        reason = "bad_utf8" if error.fault == "bad_utf8" else reason
        raise BadPageError(reason, f"{name}: {error}") from None


def _page_number(value: object) -> int | None:
    number = integer_value(value)
    if number is not None and not 0 <= number <= _LARGEST:
        raise BadValueError("bad_value", f"{number}, not an id")
    return number


def page_from_record(record: PageRecord, unlisted: UnlistedTemplates | None = None) -> Page:
    """Return the page of a record, without its item; count templates as `paragraphs` does.

    Raises `BadPageError` if there is no text, or a bad link.
    """
    page_id = record.page or 0
    if not page_id:
        with suppress(BadValueError):  # an `id` may be anything
            page_id = _page_number(record.id) or 0
    check_page_text(record.text or "")
    page_paragraphs = tuple(_paragraphs(record, unlisted))
    return Page("", record.title, page_id, record.revision or 0, page_paragraphs)


def _paragraphs(record: PageRecord, unlisted: UnlistedTemplates | None) -> Iterable[Paragraph]:
    if record.paragraphs is not None:
        for raw_paragraph in record.paragraphs:
            paragraph = (
                _GivenParagraph(raw_paragraph) if isinstance(raw_paragraph, str) else raw_paragraph
            )
            if is_html(paragraph.text):
                raise BadPageError("html_text", paragraph.text[:100])
            section = " ".join((paragraph.section or "").split())
            links = _links(paragraph.links or (), paragraph.text)
            plain_text, plain_links = _one_line(paragraph.text, links, 0, len(paragraph.text))
            if plain_text:
                yield Paragraph(paragraph.kind or "text", section, plain_text, plain_links)
    elif record.text is not None and is_html(record.text):
        if record.links:
            raise BadPageError("html_text", "its links count the characters of the HTML")
        yield from _split(*html_to_text(record.text))
    elif record.text is not None:
        yield from _split(record.text, _links(record.links or (), record.text))
    elif record.wikitext is not None:
        yield from paragraphs(record.wikitext, record.title, unlisted)
    else:
        raise BadPageError("no_text", "no field `paragraphs`, `text` or `wikitext`")


def _split(text: str, links: Sequence[Link]) -> Iterable[Paragraph]:
    """The lines of a text; a link over a line's end is left out."""
    line_start = next_link = 0
    for line in text.splitlines(keepends=True):
        line_end = line_start + len(line)
        line_links = []
        while next_link < len(links) and links[next_link].start < line_end:
            line_links += [links[next_link]] * (links[next_link].end <= line_end)
            next_link += 1
        plain_text, plain_links = _one_line(text, line_links, line_start, line_end)
        if plain_text:
            yield Paragraph("text", "", plain_text, plain_links)
        line_start = line_end


def _links(raw_links: Sequence[Link], text: str) -> list[Link]:
    """Return links in order; raise `BadPageError` if they overlap or leave the text."""
    valid_links = []
    for link in raw_links:
        if not 0 <= link.start < link.end <= len(text):
            raise BadPageError("bad_link", f"start {link.start}, end {link.end}")
        if name := normalise_title(link.target):
            valid_links.append(Link(link.start, link.end, name))
    valid_links.sort(key=lambda link: link.start)
    for before, after in pairwise(valid_links):
        if after.start < before.end:
            raise BadPageError("bad_link", f"two links overlap at {after.start}")
    return valid_links


def _one_line(
    text: str, links: Sequence[Link], start: int, end: int
) -> tuple[str, tuple[Link, ...]]:
    """Part of a text with single spaces, and its links at their new places."""
    part = text[start:end]
    words = part.split()
    plain_text = " ".join(words)
    if plain_text == part and start == 0:
        return plain_text, tuple(links)
    plain_links = []
    length, read_to = 0, start
    for link in links:
        # only the text since the last link is read, not all of the line for each of its links
        length = _joined_length(text, start, read_to, link.start, length)
        inner = text[link.start : link.end].split()
        read_to = link.start
        if inner:
            is_apart = length and (text[link.start - 1].isspace() or text[link.start].isspace())
            link_start = length + bool(is_apart)
            plain_links.append(Link(link_start, link_start + len(" ".join(inner)), link.target))
    return plain_text, tuple(plain_links)


def _joined_length(text: str, start: int, read_to: int, end: int, length: int) -> int:
    """The length of the words of `text[start:end]`, joined by single spaces.

    `length` is that of `text[start:read_to]`.
    """
    words = text[read_to:end].split()
    if not words:
        return length
    is_apart = length and (text[read_to - 1].isspace() or text[read_to].isspace())
    return length + bool(is_apart) + len(" ".join(words))
