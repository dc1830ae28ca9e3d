"""How records are read: one set of rules for news, pages, T-REx, predictions and results.

Owners write the same value in many ways: a day as a date, a moment of pandas or milliseconds since
1970, an id as `12`, `"12"` or `12.0`, a text as bytes, a missing value as null or NaN. The
functions here turn such values into a text, a day or an integer, or say why they cannot
(`BadValueError`). Names for people are cleaned by `builders.text.references.clean_label`.

Text is UTF-8, with or without a byte order mark. Another encoding is never guessed: it is named,
with the command that converts it.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from factdrift.builders.core.compressed import Compressed
from factdrift.builders.core.config import display_path
from factdrift.builders.core.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some editors write before UTF-8; it is no part of the text."""
# one mark or several, where files were joined twice
_MARKS = re.compile(rb"(?:\xef\xbb\xbf)++")
_PIECE = 1 << 20
"""Bytes that are read at a time: large enough that calls cost nothing, small in memory."""
_HEAD = 256
"""Bytes of a file by which UTF-16 is told: half of those of Western text are 0."""
# `2020-01-05`, `20200105`, `2020/01/05` and `2020.01.05`, but not `2020-1-5`
_DAY = re.compile(r"([0-9]{4})([-/.]?)([0-9]{2})\2([0-9]{2})")
# `12` and `12.0`, as which tables of pandas write an integer, but not `1.5` or `1e3`
_INTEGER = re.compile(r"([+-]?[0-9]{1,18})(?:\.0{1,9})?")
# a whole float is exact up to here: 2^53
_EXACT = 1 << 53
# about 300 digits: no id or answer has as many, and long ones are slow to write
_MOST_BITS = 1000
# bytes of a line whose fault is remembered: a megabyte has a third of a million lines of two bytes,
# and there are 65,536 different ones
_SHORT = 2
# the magnitudes of a number that is a moment: seconds, milliseconds, micro- and nanoseconds since
# 1970, from 1973 on; a smaller number is no moment, because it could be anything
_MOMENT_UNITS: tuple[tuple[int, int], ...] = (
    *((10**8, 1), (10**11, 10**3)),
    *((10**14, 10**6), (10**17, 10**9)),
)
HALF_CHARACTERS = re.compile("[\ud800-\udfff]")
"""Bytes that are not UTF-8, where a text was read with `surrogateescape`."""
_KINDS = {bool: "a truth value", list: "a list", tuple: "a list", dict: "an object"}
Fault = Literal["bad_utf8", "bad_json", "no_record", "bad_value"]


class BadValueError(ValueError):
    """A line or a value is not what it should be; its text says what it is.

    `fault` is the kind: not UTF-8, not JSON, not an object, or a value that cannot be read.
    """

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


# --- Values ---------------------------------------------------------------------------------------


def text_value(value: object) -> str | None:
    """A value as text; None where it is missing (null, NaN).

    Numbers are written without an exponent and, where they are whole, without a point, because a
    table in which one row has no number holds `12` as 12.0. Bytes are read as UTF-8.
    """
    if isinstance(value, str):
        if not value.isascii() and HALF_CHARACTERS.search(value):
            raise BadValueError("bad_utf8", _told_encoding(value.encode("utf-8", "surrogatepass")))
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return _decoded(bytes(value))
    if is_missing(value):
        return None
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _number_text(value)
    raise BadValueError("bad_value", f"{kind_name(value)}, not a text")


def day_value(value: object) -> date:
    """A value as a day.

    Days are dates, `2020-01-05` or `20200105` (also as a number); moments are those of ISO 8601, or
    seconds, milliseconds, micro- or nanoseconds since 1970, told by their magnitude, from 1973 on.
    A moment with a time zone, and one since 1970, counts by its day in UTC.
    """
    if isinstance(value, datetime):
        return _utc_day(value)
    if isinstance(value, date):
        return value
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _day_of_number(value)
    text = (text_value(value) or "").strip()
    try:
        if day_match := _DAY.fullmatch(text):
            return date(int(day_match[1]), int(day_match[3]), int(day_match[4]))
        return _utc_day(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        if (number_match := _INTEGER.fullmatch(text)) is not None:
            return _day_of_number(int(number_match[1]))
        raise BadValueError("bad_value", text[:40]) from None


def integer_value(value: object) -> int | None:
    """A value as an integer: `12`, 12.0, `"12"` and `"12.0"` are 12; None where it is missing."""
    if isinstance(value, bool):
        raise BadValueError("bad_value", f"{kind_name(value)}, not an integer")
    if isinstance(value, int):
        return value
    if is_missing(value):
        return None
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        if isinstance(value, float) and abs(value) > _EXACT:
            raise BadValueError("bad_value", f"{value!r} has lost digits of an integer")
        return int(value)
    text = text_value(value) if isinstance(value, str | bytes) else None
    if text is not None and (number_match := _INTEGER.fullmatch(text.strip())):
        return int(number_match[1])
    shown_value = repr(value)[:40] if isinstance(value, str | float) else kind_name(value)
    raise BadValueError("bad_value", f"{shown_value}, not an integer")


def is_missing(value: object) -> bool:
    """Whether a value is missing: null, or the NaN by which tables of pandas say so."""
    if value is None:
        return True
    return isinstance(value, float | Decimal) and math.isnan(value)


def kind_name(value: object) -> str:
    """The kind of a value in words: `a list`, `an object`, `a number`."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return "a number"
    return _KINDS.get(type(value), "nothing" if value is None else f"a {type(value).__name__}")


def _number_text(value: float | Decimal) -> str:
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise BadValueError("bad_value", "a number of too many digits")
        return str(value)
    if not math.isfinite(value):
        raise BadValueError("bad_value", f"{value}, not a text")
    if value == int(value) and -_EXACT <= value <= _EXACT:
        return str(int(value))
    return format(Decimal(repr(value)) if isinstance(value, float) else value, "f")


def _utc_day(moment: datetime) -> date:
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date()


def _day_of_number(number: float | Decimal) -> date:
    """The day that a number stands for (see `day_value`)."""
    whole = int(number) if math.isfinite(number) else 0
    if whole == number and 10**7 <= whole < 10**8:
        day_match = _DAY.fullmatch(str(whole))
        assert day_match is not None
        try:
            return date(int(day_match[1]), int(day_match[3]), int(day_match[4]))
        except ValueError:
            raise BadValueError("bad_value", str(whole)) from None
    try:
        for least, per_second in reversed(_MOMENT_UNITS):
            if number >= least:
                return date(1970, 1, 1) + timedelta(days=int(number) // (86_400 * per_second))
    except (OverflowError, ValueError):
        pass
    hint_text = "a number is a day as 20200105, or a moment since 1970 from 1973 on"
    raise BadValueError("bad_value", f"{str(number)[:40]} ({hint_text})")


# --- Bytes ----------------------------------------------------------------------------------------


def decode_record(line: bytes) -> dict[str, Any]:
    """The object that a line of JSON holds, which may have NaN and infinite numbers.

    `BadValueError`: the line is not UTF-8 (the message names the encoding), not JSON, or no object.
    """
    if len(line) <= _SHORT and (fault := _fault_of_short(line)):
        raise BadValueError(*fault)
    return _record_of(line)


@lru_cache(1 << 16)
def _fault_of_short(line: bytes) -> tuple[Fault, str] | None:
    try:
        _record_of(line)
    except BadValueError as error:
        return error.fault, str(error)
    return None


def _record_of(line: bytes) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _decoded(line)
        record = _python_json(line, str(error).replace("\n", " ") or "nested too deeply")
    if not isinstance(record, dict):
        raise BadValueError("no_record", f"{kind_name(record)}, not an object")
    return record


def _python_json(line: bytes, message: str) -> Any:
    """JSON with the NaN that Python's own writer puts into it, which no standard allows."""
    if b"NaN" not in line and b"Infinity" not in line:
        raise BadValueError("bad_json", message)
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise BadValueError("bad_json", message) from None


def _decoded(text_bytes: bytes) -> str:
    with suppress(UnicodeDecodeError):
        if b"\0" not in text_bytes or wide_encoding(text_bytes) is None:
            return text_bytes.decode()
    raise BadValueError("bad_utf8", _told_encoding(text_bytes))


def _told_encoding(text_bytes: bytes) -> str:
    """What bytes are that are not UTF-8, with the command that converts a file of them.

    Bytes are taken for Windows-1252, the encoding of most such files, where none of their
    characters is UTF-8 and each is one there; else UTF-8 was damaged.
    """
    if wide_name := wide_encoding(text_bytes):
        return f"{wide_name}, not UTF-8: {conversion(wide_name)}"
    broken_text = text_bytes.decode("utf-8", "surrogateescape")
    broken_characters = HALF_CHARACTERS.findall(broken_text)
    if len(broken_characters) == sum(character > "\x7f" for character in broken_text):
        try:
            read_text = text_bytes.decode("cp1252")
        except UnicodeDecodeError:
            pass
        else:
            place = next(place for place, read in enumerate(read_text) if read > "\x7f")
            sample_text = " ".join(read_text[max(0, place - 12) : place + 12].split())
            return (
                f"not UTF-8, but perhaps Windows-1252 ({sample_text!r}): "
                f"{conversion('WINDOWS-1252')}"
            )
    place = broken_text.index(broken_characters[0])
    return f"not UTF-8 at byte {len(broken_text[:place].encode()) + 1}"


def conversion(encoding_name: str) -> str:
    """The command that converts a file of an encoding to UTF-8."""
    return f"iconv -f {encoding_name} -t UTF-8 FILE > NEW"


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, by the mark of a text or because its start has many bytes of 0."""
    head = head[:_HEAD]
    if head[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "UTF-32"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "UTF-16"
    if len(head) < 4 or head.count(0) < 0.4 * len(head):
        return None
    if head.count(0) > 0.7 * len(head):
        return "UTF-32LE" if head[0] else "UTF-32BE"
    return "UTF-16LE" if head[0] else "UTF-16BE"


def without_mark(first_bytes: bytes, path: Path) -> bytes:
    """The first bytes of a text file without a byte order mark.

    `UserError`: the file is UTF-16 or UTF-32.
    """
    if wide_name := wide_encoding(first_bytes):
        hint_text = f"convert it: {conversion(wide_name)}"
        raise UserError(f"this is {wide_name}, not UTF-8", where=display_path(path), hint=hint_text)
    return first_bytes.removeprefix(BYTE_ORDER_MARK)


def unmarked_line(line: bytes) -> bytes:
    """A line without what editors and tools leave at the ends of a file.

    Files that were joined have byte order marks inside, and DOS ends a text with Ctrl-Z or zeros.
    """
    if marks := _MARKS.match(line):
        line = line[marks.end() :]
    return line.rstrip(b"\x1a\0") if line[-1:] in (b"\x1a", b"\0") else line


def numbered_lines(path: Path, longest: int, hint: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a text file that are not blank, with their numbers from 1.

    The file may be packed as gz, bz2 or zst. `UserError`: it is damaged, UTF-16, or has a line of
    more than `longest` bytes; `hint` says what to do about a damaged file.
    """
    for first_number, block in line_blocks(path, longest, hint):
        yield from lines_of_block(block, first_number, longest, path)


def line_blocks(path: Path, longest: int, hint: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a text file, many at a time, with the number of the first of them, from 1.

    Every block but the last ends with a line end. `UserError`: as of `numbered_lines`; the length
    of the lines of a block is checked by `lines_of_block`.
    """
    first_number, line_rest = 1, b""
    with Compressed(path, hint=hint) as file:
        while file_piece := file.read(_PIECE):
            if file.read_bytes == len(file_piece):
                file_piece = without_mark(file_piece, path)
            block_end = file_piece.rfind(b"\n") + 1
            if block_end:
                block = line_rest + file_piece[:block_end]
                yield first_number, block
                first_number += block.count(b"\n")
                line_rest = b""
            line_rest += file_piece[block_end:]
            # the rest has no line end yet: refuse it before the next piece makes it longer
            _check_length(line_rest, longest, path, first_number)
        if line_rest:
            yield first_number, line_rest


def lines_of_block(
    block: bytes, first_number: int, longest: int, path: Path
) -> Iterator[tuple[int, bytes]]:
    """The lines of a block that are not blank, with their numbers; `UserError`: one is too long."""
    for line_number, file_line in enumerate(block.split(b"\n"), first_number):
        _check_length(file_line, longest, path, line_number)
        if (bare_line := unmarked_line(file_line)).strip():
            yield line_number, bare_line


def _check_length(file_line: bytes, longest: int, path: Path, line_number: int) -> None:
    if len(file_line) > longest:
        error_text = f"a line of more than {longest:,} bytes"
        raise UserError(error_text, where=display_path(path), line=line_number)


# --- Rows of Parquet ------------------------------------------------------------------------------


def plain_rows(batch: "pa.RecordBatch") -> list[dict[str, Any]]:
    """The rows of a batch as a line of JSON would have them.

    Moments and days are text of ISO 8601, and bytes are text. What is not UTF-8 keeps its bytes as
    halves of characters (`surrogateescape`), which `text_value` refuses.
    """
    columns = [_plain_column(column) for column in batch.columns]
    names = batch.schema.names
    return [dict(zip(names, row_values, strict=True)) for row_values in zip(*columns, strict=True)]


def _plain_column(column: "pa.Array") -> list[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit, "UTC"))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        # pyarrow makes pandas' Timestamp of a nanosecond, and fails for years beyond 9999
        return list(column.cast(pa.string()).to_pylist())
    try:
        values = column.to_pylist()
    except UnicodeDecodeError:
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise
        values = column.cast(pa.large_binary()).to_pylist()
        return [_plain_value(value) for value in values]
    return values if _is_plain(kind) else [_plain_value(value) for value in values]


def _is_plain(kind: "pa.DataType") -> bool:
    """Whether the values of a type are as JSON has them: texts, integers, lists of these."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return all(_is_plain(kind.field(number).type) for number in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_plain(kind.value_type)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    )


def _plain_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list):
        return [_plain_value(inner) for inner in value]
    if isinstance(value, tuple):  # a pair of a map
        return tuple(_plain_value(inner) for inner in value)
    if isinstance(value, dict):
        return {key: _plain_value(inner) for key, inner in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    return value


def json_line(row: dict[str, Any]) -> bytes:
    """A row of `plain_rows` as a line of JSON; bytes that are not UTF-8 are in it as they were."""
    try:
        return msgspec.json.encode(row)
    except (UnicodeEncodeError, msgspec.ValidationError, TypeError):
        row_text = json.dumps(row, ensure_ascii=False, default=repr)
        return row_text.encode("utf-8", "surrogateescape")
