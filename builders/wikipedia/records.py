"""Pages that are rows of JSON lines or Parquet: plain text or paragraphs, with links."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import msgspec
import pyarrow as pa

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import reading
from factdrift.builders.rows import Link, Paragraph, ParagraphKind
from factdrift.builders.wikipedia.dump import BadPageError
from factdrift.builders.wikipedia.html import is_html, text_of_html
from factdrift.builders.wikipedia.titles import normalise
from factdrift.builders.wikipedia.wikitext import paragraphs

_COLUMNS = frozenset("title text wikitext paragraphs item page id revision links redirect".split())
_BATCH = 64
"""Rows of Parquet that are turned into records at a time."""
_KINDS = frozenset(get_args(ParagraphKind))
_LARGEST = 2**63


class ParsedPage(NamedTuple):
    """A page before its item is known."""

    title: str
    page: int
    revision: int
    paragraphs: tuple[Paragraph, ...]


def json_rows(data: bytes, first: int) -> Iterator[tuple[int, Any, int]]:
    """JSON lines as (line from 1, record or what is wrong, bytes); `first`: lines before them."""
    decode = msgspec.json.Decoder().decode
    for n, line in enumerate(data.split(b"\n"), first + 1):
        text = line.removeprefix(b"\xef\xbb\xbf") if n == 1 else line
        if not text.strip():
            continue
        try:
            row = decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            row = BadPageError("bad_json", str(error))
        yield n, row, len(line)


def parquet_rows(path: Path, groups: list[int], first: int) -> Iterator[tuple[int, Any, int]]:
    """Rows of Parquet as (row from 1, record, bytes). `UserError`: a damaged file."""
    n = first
    try:
        with reading(path) as table:
            names = [c for c in table.schema_arrow.names if c in _COLUMNS]
            for batch in table.iter_batches(_BATCH, row_groups=groups, columns=names):
                size = batch.nbytes // max(batch.num_rows, 1)
                for row in batch.to_pylist():
                    n += 1
                    yield n, row, size
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"the Parquet file is damaged ({error})", where=path) from error


def page_of(row: Any) -> ParsedPage:
    """The page of a record with `title` and one of `paragraphs`, `text` and `wikitext`.

    `paragraphs` are texts, or records with `text` and maybe `kind`, `section` and `links`;
    `text` is plain, a paragraph a line, and its `links` count its characters; HTML without `links`
    is read as a browser shows it. `page` (or `id`) and `revision` are numbers.
    `BadPageError`: a field is missing or of another type.
    """
    title = title_of(row)
    number = _number(row, "page") or _hub_id(row)
    return ParsedPage(title, number, _number(row, "revision"), _paragraphs(row, title))


def title_of(row: Any) -> str:
    """The normalised title of a record. `BadPageError`: no record, or no title in it."""
    if not isinstance(row, dict):
        raise BadPageError("no_record", f"a {type(row).__name__}, not an object")
    given = row.get("title")
    title = normalise(given) if isinstance(given, str) else ""
    if not title:
        raise BadPageError("no_title", None if given is None else repr(given)[:200])
    return title


def text_of(row: Any, key: str) -> str | None:
    """A field that is a text or is not there. `BadPageError`: of another type."""
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadPageError("bad_field", f"{key}: a {type(value).__name__}, not a text")


def _hub_id(row: Any) -> int:
    """The page id as the Hub's data set of Wikipedia has it: `id`, a text; 0: none."""
    value = row.get("id")
    good = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19
    return int(value) if good else 0


def _number(row: Any, key: str) -> int:
    value = row.get(key)
    if value is None:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST:
        raise BadPageError("bad_field", f"{key}: {value!r:.100}, not a number of a page")
    return value


def _paragraphs(row: Any, title: str) -> tuple[Paragraph, ...]:
    given = row.get("paragraphs")
    if given is not None:
        if not isinstance(given, list):
            raise BadPageError("bad_field", "paragraphs: not a list")
        return tuple(p for record in given for p in _of_paragraph(record))
    text, wikitext = text_of(row, "text"), text_of(row, "wikitext")
    if text is not None:
        if is_html(text):
            if row.get("links"):
                raise BadPageError("html_text", "its links count the characters of the HTML")
            return tuple(_split(*text_of_html(text)))
        return tuple(_split(text, _links(row.get("links"), text)))
    if wikitext is None:
        raise BadPageError("no_text", "no field `paragraphs`, `text` or `wikitext`")
    return paragraphs(wikitext, title)


def _of_paragraph(given: Any) -> Iterable[Paragraph]:
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        raise BadPageError("bad_field", "paragraphs: one without a text")
    kind = given.get("kind") or "text"
    if not isinstance(kind, str) or kind not in _KINDS:
        raise BadPageError("bad_field", f"kind: {kind!r:.100}, not {', '.join(sorted(_KINDS))}")
    section = " ".join((text_of(given, "section") or "").split())
    text = given["text"]
    if is_html(text):
        raise BadPageError("html_text", text[:100])
    shown, links = _one_line(text, _links(given.get("links"), text), 0, len(text))
    if shown:
        yield Paragraph(cast(ParagraphKind, kind), section, shown, links)


def _split(text: str, links: list[Link]) -> Iterable[Paragraph]:
    """The lines of a text; a link over a line's end is left out."""
    start = 0
    at = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        own = []
        while at < len(links) and links[at].start < end:
            if links[at].end <= end:
                own.append(links[at])
            at += 1
        shown, kept = _one_line(text, own, start, end)
        if shown:
            yield Paragraph("text", "", shown, kept)
        start = end


def _links(given: Any, text: str) -> list[Link]:
    """Links in order. `BadPageError`: outside the text, or they overlap."""
    if given is None:
        return []
    if not isinstance(given, list):
        raise BadPageError("bad_link", "links: not a list")
    found = []
    for link in given:
        if not isinstance(link, dict):
            raise BadPageError("bad_link", "not a record of start, end and target")
        start, end, target = _place(link, "start"), _place(link, "end"), link.get("target")
        if not isinstance(target, str) or not 0 <= start < end <= len(text):
            seen = f"start {start}, end {end}, target {target!r:.100}"
            raise BadPageError("bad_link", seen)
        if name := normalise(target):
            found.append(Link(start, end, name))
    found.sort(key=lambda x: x.start)
    for before, after in pairwise(found):
        if after.start < before.end:
            raise BadPageError("bad_link", f"two links overlap at {after.start}")
    return found


def _place(link: Any, key: str) -> int:
    """A number of a link; -1 where it is none."""
    value = link.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _one_line(text: str, links: list[Link], start: int, end: int) -> tuple[str, tuple[Link, ...]]:
    """Part of a text with single spaces, and its links at their new places."""
    part = text[start:end]
    plain = " ".join(part.split())
    if plain == part and start == 0:
        return plain, tuple(links)
    places = [0] * (len(part) + 1)
    n = 0
    space = False
    for i, character in enumerate(part):
        if character.isspace():
            space = n > 0
            places[i] = n
            continue
        n += space
        space = False
        places[i] = n
        n += 1
    places[-1] = n
    kept = []
    for link in links:
        shown = text[link.start : link.end]
        inner = shown.strip()
        if inner:
            first = link.start + len(shown) - len(shown.lstrip())
            last = link.start + len(shown.rstrip()) - 1
            kept.append(Link(places[first - start], places[last - start] + 1, link.target))
    return plain, tuple(kept)
