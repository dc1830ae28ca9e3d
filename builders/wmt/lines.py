"""One line of an archive: its day, its id, its sentences, or why it is no article."""

import re
from binascii import Error as Base64Error
from contextlib import suppress
from datetime import date
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from pybase64 import b64decode

from builders.rows import Article
from builders.wmt.archive import Form
from builders.wmt.near import signature
from builders.wmt.records import UnreadableError, record
from builders.wmt.sentences import count_sentences, joined, not_utf8, sentences_of

_EPOCH = date(1970, 1, 1).toordinal()
DIGITS_OF_DAY = 8
_DIGITS = re.compile(rb"[0-9]{8}")
KEY = re.compile("([0-9]{4})([0-9]{2})([0-9]{2})0{12}\x00\x01([0-9a-f]{64})\x00\x01")
"""An article's id: year, month, day, sha256."""
Lines = list[tuple[int, bytes]]
"""Wanted lines of a block, from 0, and the sha256 that each must have."""
_LAST = date.max.toordinal()


class Parsed(NamedTuple):
    """The articles of one block, in columns, and its other lines.

    `line` counts from 1 within the block, `day` from 1970-01-01; `digests` are 32 bytes an
    article, `signatures` 256 bytes (see `builders.wmt.near`) or none. `bad`: line, reason, detail.
    """

    lines: int
    line: "np.ndarray[tuple[int], np.dtype[np.int32]]"
    day: "np.ndarray[tuple[int], np.dtype[np.int32]]"
    sentences: "np.ndarray[tuple[int], np.dtype[np.int32]]"
    digests: bytes
    signatures: bytes
    bad: list[tuple[int, str, str | None]]


Fields = tuple[int, bytes, bytes]
"""What one line holds: days since 1970, sha256 of the base64 text, the split text in UTF-8."""


def sorting_key(day: date, digest: bytes) -> str:
    """The id of an article, as the released questions name it (`extraction.py` of StreamingQA)."""
    return f"{day.year:04}{day.month:02}{day.day:02}000000000000\x00\x01{digest.hex()}\x00\x01"


def article_of(day: int, digest: bytes, text: bytes) -> Article:
    """An article from what `fields_of` found; `day` counts from 1970-01-01."""
    when = date.fromordinal(day + _EPOCH)
    sentences = sentences_of(text.decode())
    return Article(sorting_key(when, digest), when, sentences, "\n".join(sentences))


@lru_cache(65536)
def days_of(digits: bytes) -> int | None:
    """Days since 1970 of `YYYYMMDD`; None where that is no day of the calendar."""
    if not _DIGITS.fullmatch(digits):
        return None
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:])).toordinal() - _EPOCH
    except ValueError:
        return None


def fields_of(data: bytes, start: int, end: int, form: Form, last: int) -> Fields:
    """The fields of the line `data[start:end]`; `last` is the last possible day since 1970.

    `UnreadableError` says why it is no article.
    """
    found = _fields_of(data, start, end, form, last)
    for _, why in not_utf8([found[2]], found[2]):
        raise UnreadableError("bad_utf8", why)
    return found


def _fields_of(data: bytes, start: int, end: int, form: Form, last: int) -> Fields:
    """The fields of a line whose text may be no UTF-8, which is told faster of many at once."""
    if end > start and data[end - 1] == 13:
        end -= 1
    if form == "jsonl":
        when, split, encoded = record(data[start:end])
        day, digest = when.toordinal() - _EPOCH, sha256(encoded).digest()
        if day > last:
            raise UnreadableError("future_date", when.isoformat())
        return day, digest, split.encode()
    first = data.find(b"\t", start, end)
    second = data.find(b"\t", first + 1, end) if first >= 0 else -1
    if second < 0:
        n = 1 + (first >= 0) if end > start else 0
        raise UnreadableError("too_few_fields", f"{n} of 3")
    if data.find(b"\t", second + 1, end) >= 0:
        n = data.count(b"\t", start, end) + 1
        raise UnreadableError("malformed_line", f"{n} fields instead of 3")
    known = days_of(data[start:first]) if first - start == DIGITS_OF_DAY else None
    if known is None:
        seen = data[start : min(first, start + 16)]
        raise UnreadableError("bad_date", seen.decode("utf-8", "replace"))
    if known > last:
        raise UnreadableError("future_date", date.fromordinal(known + _EPOCH).isoformat())
    if second + 1 == end:
        raise UnreadableError("empty_text", "the third field, which the id is made of, is empty")
    try:
        text = b64decode(data[first + 1 : second], None, True)
    except Base64Error as error:
        raise UnreadableError("bad_base64", str(error)) from None
    return known, sha256(data[second + 1 : end]).digest(), text


def parse(data: bytes, form: Form, last: date, near: bool) -> Parsed:
    """Every line of a block; `near` asks for signatures."""
    limit = last.toordinal() - _EPOCH
    places: list[int] = []
    found: list[Fields] = []
    bad: list[tuple[int, str, str | None]] = []
    start = line = 0
    size = len(data)
    while start < size:
        end = data.find(b"\n", start)
        end = size if end < 0 else end
        line += 1
        try:
            found.append(_fields_of(data, start, end, form, limit))
            places.append(line)
        except UnreadableError as error:
            bad.append((line, error.reason, error.detail))
        start = end + 1
    texts = [text for _, _, text in found]
    whole = joined(texts)
    if wrong := not_utf8(texts, whole):
        for n, why in wrong:
            bad.append((places.pop(n), "bad_utf8", why))
            del found[n], texts[n]
        whole = joined(texts)
    counts = count_sentences(texts, whole)
    for n in np.flatnonzero(counts == 0)[::-1].tolist():
        bad.append((places.pop(n), "no_sentences", None))
        del found[n]
    return Parsed(
        line,
        np.array(places, np.int32),
        np.array([day for day, _, _ in found], np.int32),
        counts[counts > 0],
        b"".join([digest for _, digest, _ in found]),
        b"".join([signature(text.decode()) for _, _, text in found]) if near else b"",
        sorted(bad),
    )


def parse_given(data: bytes, form: Form, given: tuple[date, bool]) -> Parsed:
    """`parse` as work for `over_blocks`: this module is light to import in a new process."""
    return parse(data, form, *given)


def decode(data: bytes, form: Form, wanted: Lines) -> tuple[list[Article], int | None]:
    """The articles on some lines of a block, and the first line that is another one."""
    found: list[Article] = []
    start = at = 0
    for line, digest in wanted:
        for _ in range(line - at):
            start = data.find(b"\n", start) + 1
        at = line
        end = data.find(b"\n", start)
        try:
            fields = fields_of(data, start, len(data) if end < 0 else end, form, _LAST)
        except UnreadableError:
            return found, line
        if fields[1] != digest:
            return found, line
        found.append(article_of(*fields))
    return found, None


def search(data: bytes, form: Form, wanted: dict[int, set[bytes]]) -> list[Article]:
    """The articles of a block that are among days and sha256; lines of other days stay unread."""
    found = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if form != "wmt" or days_of(bytes(data[start : start + DIGITS_OF_DAY])) in wanted:
            with suppress(UnreadableError):
                day, digest, text = fields_of(data, start, end, form, _LAST)
                if digest in wanted.get(day, ()):
                    article = article_of(day, digest, text)
                    found += [article] if article.sentences else []
        start = end + 1
    return found
