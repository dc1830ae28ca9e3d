"""The one table of how values of records are read, whichever reader they come through."""

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.records import (
    BadValueError,
    day_value,
    decode_record,
    integer_value,
    json_line,
    numbered_lines,
    plain_rows,
    text_value,
)

NAN = float("nan")
DAY = dt.date(2020, 1, 5)
MOMENT = dt.datetime(2020, 1, 5, 23, 30, tzinfo=dt.UTC)
SECONDS = int(MOMENT.timestamp())


@pytest.mark.parametrize(
    ("value", "text"),
    [("Ada", "Ada"), ("", ""), ("naïve", "naïve"), (b"na\xc3\xafve", "naïve"), (12, "12"),
     (12.0, "12"), (-3.0, "-3"), (2.5, "2.5"), (1e-7, "0.0000001"), (1e16, "10000000000000000"),
     (Decimal("12.50"), "12.50"), (None, None), (NAN, None), (Decimal("NaN"), None),
     (bytearray(b"x"), "x")],
)  # fmt: skip
def test_texts(value: object, text: str | None) -> None:
    assert text_value(value) == text


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "a truth value"), (["a"], "a list"), ({"a": 1}, "an object"), (float("inf"), "inf"),
     (10**400, "too many digits"), ("a\ud800", "not UTF-8"),
     (b"caf\xe9 noir", "perhaps Windows-1252 ('café noir')"), (b"\xc3\xa9 \xe9", "at byte 4"),
     ("x".encode("utf-16"), "UTF-16"), ("text".encode("utf-16-le"), "UTF-16LE"),
     ("text".encode("utf-32-be"), "UTF-32BE")],
)  # fmt: skip
def test_no_texts(value: object, words: str) -> None:
    with pytest.raises(BadValueError, match=re.escape(words)):
        text_value(value)


@pytest.mark.parametrize(
    "value",
    [DAY, MOMENT, MOMENT.replace(tzinfo=None), "2020-01-05", " 2020-01-05 ", "20200105",
     "2020/01/05", "2020.01.05", "2020-01-05T23:30:00Z", "2020-01-05 23:30:00.123456789",
     "2020-01-06T00:30:00+01:00", b"2020-01-05", 20200105, 20200105.0, SECONDS, SECONDS * 1000,
     float(SECONDS * 1000), SECONDS * 10**6, SECONDS * 10**9, str(SECONDS), f"{SECONDS}.0",
     Decimal(20200105)],
)  # fmt: skip
def test_days(value: object) -> None:
    assert day_value(value) == DAY


@pytest.mark.parametrize(
    "value",
    ["", None, NAN, "2020-02-30", 20200230, "2020-1-5", "5 January 2020", "01/05/2020", 2020, 7.5,
     -SECONDS, 10**30, float("inf"), True, ["2020-01-05"], "2020-01/05", "٢٠٢٠-٠١-٠٥", "x" * 99],
)  # fmt: skip
def test_no_days(value: object) -> None:
    with pytest.raises(BadValueError):
        day_value(value)


@pytest.mark.parametrize(
    ("value", "integer"),
    [(12, 12), (12.0, 12), ("12", 12), (" 12 ", 12), ("12.0", 12), ("+12", 12), (b"12", 12),
     (Decimal(12), 12), ("-3", -3), (None, None), (NAN, None), (2**62, 2**62), ("007", 7)],
)  # fmt: skip
def test_integers(value: object, integer: int | None) -> None:
    assert integer_value(value) == integer


@pytest.mark.parametrize(
    "value", [1.5, "1.5", "1e3", "", "x", True, [1], {}, float("inf"), 1e17, "1" * 99, b"\xff"]
)
def test_no_integers(value: object) -> None:
    with pytest.raises(BadValueError):
        integer_value(value)


@pytest.mark.parametrize(
    ("line", "fault"),
    [(b"[1]", "no_record"), (b"7", "no_record"), (b"null", "no_record"), (b"{", "bad_json"),
     (b"NaN{", "bad_json"), (b'{"a": "\xe9"}', "bad_utf8"), (b"[" * 100_000, "bad_json"),
     (b'{"a": "\\ud800"}', "bad_json"), ('{"a": 1}'.encode("utf-16"), "bad_utf8")],
)  # fmt: skip
def test_no_records(line: bytes, fault: str) -> None:
    with pytest.raises(BadValueError) as error:
        decode_record(line)
    assert error.value.fault == fault


def test_nan_of_python_is_taken() -> None:
    record = decode_record(b'{"a": NaN, "b": [Infinity, 1]}')
    assert (text_value(record["a"]), record["b"]) == (None, [float("inf"), 1])


@pytest.mark.parametrize(
    ("values", "kind", "plain"),
    [([MOMENT.replace(tzinfo=None)], pa.timestamp("ns"), "2020-01-05 23:30:00.000000000"),
     ([MOMENT], pa.timestamp("us", "America/New_York"), "2020-01-05 23:30:00.000000Z"),
     ([DAY], pa.date32(), "2020-01-05"),
     ([b"na\xc3\xafve"], pa.binary(), "naïve"), ([b"\xe9"], pa.large_binary(), "\udce9"),
     ([b"abc"], pa.binary(3), "abc"), ([None], pa.float64(), None), ([2.0], pa.float32(), 2.0),
     (["x"], pa.dictionary(pa.int8(), pa.string()), "x"), (["x"], pa.large_string(), "x"),
     ([[b"x", None]], pa.list_(pa.binary()), ["x", None]), ([None], pa.null(), None),
     ([{"a": b"x"}], pa.struct({"a": pa.binary()}), {"a": "x"}),
     ([[(b"a", 2.5)]], pa.map_(pa.binary(), pa.float64()), [("a", 2.5)])],
)  # fmt: skip
def test_rows_of_parquet(values: list[Any], kind: pa.DataType, plain: object) -> None:
    (row,) = plain_rows(pa.record_batch({"x": pa.array(values, kind)}))
    assert row == {"x": plain}
    assert json_line(row) == (b'{"x": "\xe9"}' if plain == "\udce9" else msgspec.json.encode(row))


def test_a_moment_beyond_the_calendar_of_python() -> None:
    column = pa.array([10**12], pa.int64()).cast(pa.timestamp("s"))
    (row,) = plain_rows(pa.record_batch({"x": column}))
    with pytest.raises(BadValueError):
        day_value(row["x"])


def test_bytes_that_are_no_utf8_in_a_column_of_text() -> None:
    offsets = pa.array([0, 1, 4], pa.int32()).buffers()[1]
    column = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"acaf\xe9"[:3] + b"\xe9"))
    read_rows = plain_rows(pa.record_batch({"text": column}))
    assert read_rows[0] == {"text": "a"}
    with pytest.raises(BadValueError, match="Windows-1252"):
        decode_record(json_line(read_rows[1]))


def test_lines_have_numbers_and_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"\xef\xbb\xbfone\n\n  \r\nfour\nfive")
    assert list(numbered_lines(path, 9, "")) == [(1, b"one"), (4, b"four"), (5, b"five")]
    path.write_bytes(b"one\n\xef\xbb\xbf\xef\xbb\xbftwo\n\x1a\0\n\xef\xbb\xbf\nfive\x1a")
    assert list(numbered_lines(path, 9, "")) == [(1, b"one"), (2, b"two"), (5, b"five")]
    for text, error_words in [
        ("one\n" * 3 + "x" * 10, ":4: a line of more than 9"),
        ("x" * 10, ":1:"),
    ]:
        path.write_text(text)
        with pytest.raises(UserError, match=error_words):
            list(numbered_lines(path, 9, ""))
    path.write_bytes("one\n".encode("utf-16"))
    with pytest.raises(UserError, match=r"this is UTF-16, not UTF-8(.|\n)*iconv -f UTF-16"):
        list(numbered_lines(path, 9, ""))
