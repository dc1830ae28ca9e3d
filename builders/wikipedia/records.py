"""Pages that are rows of JSON lines or Parquet: plain text or paragraphs, with links."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.rows import Link, Page, Paragraph, ParagraphKind
from factdrift.builders.wikipedia.dump import BadPageError
from factdrift.builders.wikipedia.html import is_html, text_of_html
from factdrift.builders.wikipedia.titles import normalise
from factdrift.builders.wikipedia.wikitext import paragraphs

_BATCH = 64
"""Rows of Parquet that are turned into records at a time."""
_Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_DIGITS = re.compile("[0-9]{1,18}")
_Digits = Annotated[str, msgspec.Meta(pattern=f"^{_DIGITS.pattern}$")]


class _GivenParagraph(msgspec.Struct):
    text: str
    kind: ParagraphKind | None = None
    section: str | None = None
    links: list[Link] | None = None


class PageRecord(msgspec.Struct):
    """A row: `title` and one of `paragraphs`, `text`, `wikitext` and `redirect`.

    `paragraphs` are texts, or records with `text` and maybe `kind`, `section` and `links`;
    `text` is plain, a paragraph a line, and its `links` count its characters; HTML without `links`
    is read as a browser shows it. `page` and `revision` are numbers; `id` is the page's as the
    Hub's data set of Wikipedia has it.
    """

    title: str
    text: str | None = None
    wikitext: str | None = None
    paragraphs: list[str | _GivenParagraph] | None = None
    item: str | None = None
    page: _Number | _Digits | None = None
    id: Any = None
    revision: _Number | _Digits | None = None
    links: list[Link] | None = None
    redirect: str | None = None


def json_rows(data: bytes, first: int) -> Iterator[tuple[int, Any]]:
    """JSON lines as (line from 1, record or what is wrong); `first`: lines before them."""
    decode = msgspec.json.Decoder().decode
    for n, line in enumerate(data.split(b"\n"), first + 1):
        text = line.removeprefix(b"\xef\xbb\xbf") if n == 1 else line
        if not text.strip():
            continue
        try:
            row = decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            row = BadPageError("bad_json", str(error))
        yield n, row


def parquet_rows(path: Path, groups: list[int], first: int) -> Iterator[tuple[int, Any]]:
    """Rows of Parquet as (row from 1, record). `UserError`: a damaged file."""
    n = first
    try:
        with reading(path) as table:
            names = [c for c in table.schema_arrow.names if c in PageRecord.__struct_fields__]
            for batch in table.iter_batches(_BATCH, row_groups=groups, columns=names):
                for row in batch.to_pylist():
                    n += 1
                    yield n, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error


def record_of(row: Any) -> PageRecord:
    """A row as a record, with its title normalised.

    `BadPageError`: no record, no title, or a field of another type.
    """
    if not isinstance(row, dict):
        raise BadPageError("no_record", f"a {type(row).__name__}, not an object")
    given = row.get("title")
    title = normalise(given) if isinstance(given, str) else ""
    if not title:
        raise BadPageError("no_title", None if given is None else repr(given)[:200])
    try:
        return msgspec.convert({**row, "title": title}, PageRecord)
    except msgspec.ValidationError as error:
        reason = "bad_link" if "`$.links" in str(error) else "bad_field"
        raise BadPageError(reason, str(error)) from None


def page_of(record: PageRecord) -> Page:
    """The page, without its item, of a record. `BadPageError`: there is no text, or a bad link."""
    number = int(record.page or 0)
    if not number and isinstance(record.id, str) and _DIGITS.fullmatch(record.id):
        number = int(record.id)
    shown = tuple(_paragraphs(record))
    return Page("", record.title, number, int(record.revision or 0), shown)


def _paragraphs(record: PageRecord) -> Iterable[Paragraph]:
    if record.paragraphs is not None:
        for one in record.paragraphs:
            given = _GivenParagraph(one) if isinstance(one, str) else one
            if is_html(given.text):
                raise BadPageError("html_text", given.text[:100])
            section = " ".join((given.section or "").split())
            links = _links(given.links or (), given.text)
            shown, kept = _one_line(given.text, links, 0, len(given.text))
            if shown:
                yield Paragraph(given.kind or "text", section, shown, kept)
    elif record.text is not None and is_html(record.text):
        if record.links:
            raise BadPageError("html_text", "its links count the characters of the HTML")
        yield from _split(*text_of_html(record.text))
    elif record.text is not None:
        yield from _split(record.text, _links(record.links or (), record.text))
    elif record.wikitext is not None:
        yield from paragraphs(record.wikitext, record.title)
    else:
        raise BadPageError("no_text", "no field `paragraphs`, `text` or `wikitext`")


def _split(text: str, links: Sequence[Link]) -> Iterable[Paragraph]:
    """The lines of a text; a link over a line's end is left out."""
    start = at = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        own = []
        while at < len(links) and links[at].start < end:
            own += [links[at]] * (links[at].end <= end)
            at += 1
        shown, kept = _one_line(text, own, start, end)
        if shown:
            yield Paragraph("text", "", shown, kept)
        start = end


def _links(given: Sequence[Link], text: str) -> list[Link]:
    """Links in order. `BadPageError`: outside the text, or they overlap."""
    found = []
    for link in given:
        if not 0 <= link.start < link.end <= len(text):
            raise BadPageError("bad_link", f"start {link.start}, end {link.end}")
        if name := normalise(link.target):
            found.append(Link(link.start, link.end, name))
    found.sort(key=lambda x: x.start)
    for before, after in pairwise(found):
        if after.start < before.end:
            raise BadPageError("bad_link", f"two links overlap at {after.start}")
    return found


def _one_line(
    text: str, links: Sequence[Link], start: int, end: int
) -> tuple[str, tuple[Link, ...]]:
    """Part of a text with single spaces, and its links at their new places."""
    part = text[start:end]
    words = part.split()
    plain = " ".join(words)
    if plain == part and start == 0:
        return plain, tuple(links)
    kept = []
    for link in links:
        before, inner = text[start : link.start].split(), text[link.start : link.end].split()
        if inner:
            first = len(" ".join(before))
            is_apart = before and (text[link.start - 1].isspace() or text[link.start].isspace())
            first += bool(is_apart)
            kept.append(Link(first, first + len(" ".join(inner)), link.target))
    return plain, tuple(kept)
