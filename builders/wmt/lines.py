"""The lines of an archive: the day, id and sentences of an article, or why there is none.

A line of the WMT archives holds a day, the base64 of the split text (a sentence a line) and the
base64 of the unsplit text; a JSON line holds `date`, `text`, and maybe `title`.
"""

import re
from binascii import Error as Base64Error
from binascii import b2a_base64
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import msgspec
from pybase64 import b64decode

from factdrift.builders.core.limits import LONGEST_ARTICLE
from factdrift.builders.core.records import (
    BadValueError,
    day_value,
    decode_record,
    text_value,
    unmarked_line,
)
from factdrift.builders.rows import Article
from factdrift.builders.text.sentences import split_sentences
from factdrift.builders.wmt.archive import LineFormat
from factdrift.builders.wmt.minhash import signature

T = TypeVar("T")
_EPOCH = date(1970, 1, 1).toordinal()
_DIGITS_OF_DAY = 8
_DIGITS = re.compile(rb"[0-9]{8}")
ARTICLE_ID = re.compile("([0-9]{4})([0-9]{2})([0-9]{2})0{12}\x00\x01([0-9a-f]{64})\x00\x01")
"""The pattern of an article's id, with groups for year, month, day and sha256."""
WantedLines = list[tuple[int, bytes]]
"""The numbers of wanted lines in a block, from 0, and the sha256 that each line must have."""
_NO_LIMIT = date.max.toordinal()
_TOO_SHORT = 12
"""Bytes that no article is written in: a day alone has 8. A megabyte can hold a million such lines,
so that they are told without reading them as JSON, which takes ten times as long."""
_TOO_FEW = tuple(("too_few_fields", f"{count} of 3") for count in range(3))


class UnreadableError(Exception):
    """A line that is not an article: the drop reason, and the text that was seen."""

    def __init__(self, reason: str, detail: str | None) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class ParsedLines(NamedTuple):
    """The articles of one block, and the lines that are not articles.

    An article is its line (counted from 1 within the block), day (since 1970-01-01), number of
    sentences, sha256 and signature (see `builders.wmt.minhash`; empty where none is wanted). `bad`:
    line, reason and detail of each line that is no article.
    """

    lines: int
    articles: list[tuple[int, int, int, bytes, bytes]]
    bad: list[tuple[int, str, str | None]]


Fields = tuple[int, bytes, str]
"""The content of one line: days since 1970, sha256 of the base64 text, and the split text."""


def sorting_key(day: date, digest: bytes) -> str:
    """The id of an article as in the released questions (`extraction.py` of StreamingQA)."""
    return f"{day.year:04}{day.month:02}{day.day:02}000000000000\x00\x01{digest.hex()}\x00\x01"


def make_article(day: int, digest: bytes, text: str) -> Article:
    """The article with these fields (see `read_fields`); `day` counts from 1970-01-01."""
    article_day = date.fromordinal(day + _EPOCH)
    sentences = sentences_of(text)
    return Article(sorting_key(article_day, digest), article_day, sentences, "\n".join(sentences))


@lru_cache(65536)
def parse_day(digits: bytes) -> int | None:
    """The days since 1970 of `YYYYMMDD`; None where the calendar has no such day."""
    if not _DIGITS.fullmatch(digits):
        return None
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:])).toordinal() - _EPOCH
    except ValueError:
        return None


def read_fields(line: bytes, line_format: LineFormat, last_day: int) -> Fields:
    """The fields of a line; `last_day` is the last possible day since 1970.

    `UnreadableError` says why it is no article.
    """
    if line_format == "jsonl":
        article_day, split_text, encoded = _json_record(line)
        day, digest = article_day.toordinal() - _EPOCH, sha256(encoded).digest()
        if day > last_day:
            raise UnreadableError("future_date", article_day.isoformat())
        return day, digest, split_text
    line_fields = line.split(b"\t", 3)
    if len(line_fields) < 3:
        raise UnreadableError("too_few_fields", _TOO_FEW[len(line_fields) if line else 0][1])
    if len(line_fields) > 3:
        field_count = line.count(b"\t") + 1
        raise UnreadableError("malformed_line", f"{field_count} fields instead of 3")
    digits, split_field, unsplit_field = line_fields
    day_number = parse_day(digits) if len(digits) == _DIGITS_OF_DAY else None
    if day_number is None:
        raise UnreadableError("bad_date", digits[:16].decode("utf-8", "replace"))
    if day_number > last_day:
        raise UnreadableError("future_date", date.fromordinal(day_number + _EPOCH).isoformat())
    if not unsplit_field:
        raise UnreadableError("empty_text", "the third field, which the id is made of, is empty")
    try:
        text = b64decode(split_field, None, True).decode()
    except Base64Error as error:
        raise UnreadableError("bad_base64", str(error)) from None
    except UnicodeDecodeError as error:
        why = f"byte {error.start} of the split text"
        raise UnreadableError("bad_utf8", why) from None
    _check_length(text)
    return day_number, sha256(unsplit_field).digest(), text


def _bare_line(line: bytes) -> bytes:
    """A line without a carriage return, and without what `unmarked_line` takes away."""
    return unmarked_line(line.removesuffix(b"\r"))


def _check_length(text: str) -> None:
    if len(text) > LONGEST_ARTICLE:
        raise UnreadableError("too_long", f"{len(text):,} characters of text")


class _Record(msgspec.Struct):
    date: Any
    text: str
    title: str | None = None


_decode_record = msgspec.json.Decoder(_Record).decode


def _json_record(line: bytes) -> tuple[date, str, bytes]:
    """Day, split text and base64 of the text of one JSON line.

    The title, where there is one, is the first line of the split text; the id is made of the text
    alone. Days are read as `builders.core.records` says.
    """
    try:
        record = _decode_record(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        record = _record_of_other_types(line)
    try:
        article_day = day_value(record.date)
    except BadValueError as error:
        raise UnreadableError("bad_date", str(error)) from None
    if not record.text.strip():
        raise UnreadableError("empty_text", "the text, which the id is made of, is empty")
    _check_length(record.text)
    title = " ".join((record.title or "").split())
    title_lines = [title] if title else []
    return (
        article_day,
        "\n".join(title_lines + split_sentences(record.text)),
        b2a_base64(record.text.encode(), newline=False),
    )


def _record_of_other_types(line: bytes) -> _Record:
    """A record whose fields are not all texts; `UnreadableError` for what is none."""
    try:
        fields = decode_record(line)
        for name in ("date", "text"):
            if name not in fields:
                raise BadValueError("no_record", f"no field {name}")
        text, title = text_value(fields["text"]), text_value(fields.get("title"))
    except BadValueError as error:
        reason = "bad_utf8" if error.fault == "bad_utf8" else "malformed_line"
        raise UnreadableError(reason, str(error)) from None
    return _Record(fields["date"], text or "", title)


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a split text: its lines, without blank ones."""
    return tuple([sentence for sentence in map(str.strip, text.split("\n")) if sentence])


def parse_block(
    block_bytes: bytes, line_format: LineFormat, last: date, signatures: bool
) -> ParsedLines:
    """Read every line of a block.

    `last` is the last possible day of an article. With `signatures`, near-duplicate signatures are
    made too.
    """
    last_day = last.toordinal() - _EPOCH
    articles: list[tuple[int, int, int, bytes, bytes]] = []
    bad_lines: list[tuple[int, str, str | None]] = []
    line = 0
    for line, line_bytes in enumerate(_bare_lines(block_bytes), 1):
        if len(line_bytes) < _TOO_SHORT:
            reason_of_short = _why_short(line_bytes, line_format)
            if reason_of_short:
                bad_lines.append((line, *reason_of_short))
                continue
        try:
            day, digest, text = read_fields(line_bytes, line_format, last_day)
            sentence_count = len(sentences_of(text))
            if not sentence_count:
                raise UnreadableError("no_sentences", None)
            articles.append(
                (line, day, sentence_count, digest, signature(text) if signatures else b"")
            )
        except UnreadableError as error:
            bad_lines.append((line, error.reason, error.detail))
    return ParsedLines(line, articles, bad_lines)


def _why_short(line: bytes, line_format: LineFormat) -> tuple[str, str] | None:
    """The drop reason and detail of a line too short for an article; None where it is read."""
    if line_format == "wmt":
        tab_count = line.count(b"\t")
        return None if tab_count > 1 else _TOO_FEW[tab_count + bool(line)]
    if not line.isascii():
        try:
            line.decode()
        except UnicodeDecodeError:
            return "bad_utf8", "not UTF-8"
    return "malformed_line", "too short for a date and a text"


def _bare_lines(block_bytes: bytes) -> Iterator[bytes]:
    """Each line of a block, bare."""
    start = 0
    while start < len(block_bytes):
        end = block_bytes.find(b"\n", start)
        end = len(block_bytes) if end < 0 else end
        yield _bare_line(block_bytes[start:end])
        start = end + 1


def decode_wanted(
    make_item: Callable[[int, bytes, str], T],
    block_bytes: bytes,
    line_format: LineFormat,
    wanted_lines: WantedLines,
) -> tuple[list[T], int | None]:
    """The items that `make_item` makes of the wanted lines of a block, and the first wrong line.

    `make_item` takes the fields of a line, as `make_article` does. A line is wrong where it holds
    another article than the wanted one; the number is None where none is.
    """
    items: list[T] = []
    line_start = line_reached = 0
    for line, digest in wanted_lines:
        for _ in range(line - line_reached):
            line_start = block_bytes.find(b"\n", line_start) + 1
        line_reached = line
        line_end = block_bytes.find(b"\n", line_start)
        line_bytes = block_bytes[line_start : len(block_bytes) if line_end < 0 else line_end]
        try:
            fields = read_fields(_bare_line(line_bytes), line_format, _NO_LIMIT)
        except UnreadableError:
            return items, line
        if fields[1] != digest:
            return items, line
        items.append(make_item(*fields))
    return items, None


def search_block(
    block_bytes: bytes, line_format: LineFormat, wanted_digests: dict[int, set[bytes]]
) -> list[Article]:
    """The wanted articles of a block, given as sha256 by day; lines of other days are not read."""
    articles = []
    for line_bytes in _bare_lines(block_bytes):
        if line_format != "wmt" or parse_day(line_bytes[:_DIGITS_OF_DAY]) in wanted_digests:
            with suppress(UnreadableError):
                day, digest, text = read_fields(line_bytes, line_format, _NO_LIMIT)
                if digest in wanted_digests.get(day, ()):
                    article = make_article(day, digest, text)
                    articles += [article] if article.sentences else []
    return articles
