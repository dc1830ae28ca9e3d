"""Checks of files of pages before a run: their language, their origin, and that they are whole."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Paragraph
from factdrift.builders.wikipedia.files import (
    XML_END,
    PageFile,
    check_columns,
    cut_short,
    last_streams_end,
    page_file,
)
from factdrift.builders.wikipedia.records import json_rows, parquet_rows

LANGUAGE = "en"
_WIKI = f"{LANGUAGE}wiki"
_DATABASE = re.compile(rb"<dbname>\s*([\w-]+)\s*</dbname>")
_XML_LANGUAGE = re.compile(rb"<mediawiki\b[^>]*\bxml:lang=[\"']([\w-]+)[\"']")
# The Hub's data set of Wikipedia has a folder a language: `20231101.en`.
_HUB_FOLDER = re.compile(r"\d{8}\.([a-z][a-z-]*)")
# `enwiki-20260201-pages-articles.xml.bz2`.
_DUMP_NAME = re.compile(r"([a-z_]{2,20}wiki)-\d{8}-")
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(["the", "of", "and", "to", "with", "for", "from", "by"])
_LEAST_SHARE = 0.02
"""A text with a smaller share of those words is not English: English has 10 to 20 in 100."""
# Fewer words tell no language: a file may begin with a few short pages.
_LEAST_WORDS = 300
_LEAST_OF_PAGE = 100
"""The same of one page."""
_SAMPLE = 1 << 10
"""Characters of a paragraph that are looked at."""
_ROWS = 20
"""Rows, or paragraphs of a page, whose text is looked at."""
_FAR = 60
"""Days between the pages and the facts from which it is said."""
_BZ2_END = 0x177245385090
"""Stands at the end of a bz2 stream, before 32 bits of checksum and at most 7 bits."""
_TAIL = 1 << 12


def check_pages(
    files: Sequence[Path], day: date, facts: date | None, say: Callable[[str], None]
) -> None:
    """Look at files of pages before a run: their kind, end, language and day.

    `day`: of the pages; `facts`: of the dump whose facts they should tell. Says where the days are
    far apart. `UserError`: empty, a web page, no pages, cut short, of another wiki or language.
    """
    for path in files:
        _check_end(path)
        source = page_file(path)
        if source.packing == "streams" and not last_streams_end(path):
            raise cut_short(path)
        if (wiki := _declared(source)) is not None:
            error_text = f"these are pages of {wiki}, not of the English Wikipedia ({_WIKI})"
            raise UserError(
                error_text, where=path, hint="questions are asked in English, over its pages"
            )
        _check_words(source)
    if facts is not None and abs((day - facts).days) > _FAR:
        apart = abs((day - facts).days)
        say(
            f"warning: the pages are of {day} and the facts of {facts}, {apart:,} days apart: "
            "what changed between them is in one of the two alone"
        )


def _check_end(path: Path) -> None:
    """`UserError` where the file's last bytes say that it was cut short."""
    with path.open("rb") as file:
        head = file.read(_TAIL)
        file.seek(max(path.stat().st_size - _TAIL, 0))
        tail = file.read()
    is_whole = True
    if head.startswith(b"PAR1"):
        is_whole = tail.endswith(b"PAR1")
    elif head.startswith(b"BZh"):
        last_bytes = int.from_bytes(tail[-11:])
        is_whole = any((last_bytes >> (32 + shift)) & (2**48 - 1) == _BZ2_END for shift in range(8))
    elif b"<mediawiki" in head:
        is_whole = XML_END in tail
    elif head.lstrip(b"\xef\xbb\xbf \n\r\t").startswith(b"{"):
        is_whole = tail.rstrip().endswith(b"}")
    if not is_whole:
        raise cut_short(path)


def _declared(source: PageFile) -> str | None:
    """The wiki, or its language, that a file names where it is another one than is asked for."""
    for pattern, own_name in ((_DATABASE, _WIKI), (_XML_LANGUAGE, LANGUAGE)):
        declaration = pattern.search(source.head) if source.form == "xml" else None
        if declaration:
            declared_name = declaration[1].decode()
            return None if declared_name == own_name else declared_name
    hub_folder = _HUB_FOLDER.fullmatch(source.path.resolve().parent.name)
    if hub_folder:
        return None if hub_folder[1] == LANGUAGE else hub_folder[1]
    dump_name = _DUMP_NAME.match(source.path.name)
    return dump_name[1] if dump_name and dump_name[1] != _WIKI else None


def english_share(texts: Iterable[str]) -> tuple[int, float]:
    """The number of words of some texts, and the share of the commonest English ones in them."""
    words = [word for text in texts for word in _WORD.findall(text.lower())]
    return len(words), sum(word in _ENGLISH for word in words) / max(len(words), 1)


def is_foreign(page: Sequence[Paragraph]) -> bool:
    """Whether the running text of a page is in another language, by its first words.

    Lists and tables do not count: they are full of names. A short text says nothing.
    """
    first_texts = (
        paragraph.text[:_SAMPLE]
        for paragraph in islice((p for p in page if p.kind == "text"), _ROWS)
    )
    word_count, known_share = english_share(first_texts)
    return word_count >= _LEAST_OF_PAGE and known_share < _LEAST_SHARE


def _check_words(source: PageFile) -> None:
    """`UserError` where the first texts have next to none of the commonest English words."""
    word_count, known_share = english_share(_texts(source))
    if word_count >= _LEAST_WORDS and known_share < _LEAST_SHARE:
        text = f"its pages do not seem to be English: of their first {word_count:,} words "
        text += f"{known_share:.1%} are `the`, `of`, `and` and the like"
        raise UserError(text, where=source.path, hint="give pages of the English Wikipedia")


def _texts(source: PageFile) -> Iterator[str]:
    """The first texts of a file."""
    if source.form == "xml":
        yield source.head.partition(b"<page>")[2].decode("utf-8", "replace")
        return
    if source.form == "jsonl":
        rows = json_rows(source.head.rpartition(b"\n")[0] or source.head, 0)
    else:
        row_groups = range(len(check_columns(source.path)))
        rows = parquet_rows(source.path, list(row_groups[:1]), 0)
    for _, row in islice(rows, _ROWS):
        if isinstance(row, dict) and "title" not in row:
            error_text = f"no field `title` in a line, but {', '.join(sorted(map(str, row)))[:200]}"
            hint_text = "a page has title, and text, paragraphs or wikitext"
            raise UserError(error_text, where=source.path, hint=hint_text)
        if isinstance(row, dict):
            yield from (
                field_text
                for field in ("text", "wikitext")
                if isinstance(field_text := row.get(field), str)
            )
