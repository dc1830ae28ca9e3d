"""Blocks hold every line once, whatever their size; lines that are too long are passed over."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factdrift.builders.wikidata.shards import BlockCutter, line_spans, open_shard


def cut(path: Path, size: int, longest: int) -> tuple[list[bytes | int], BlockCutter]:
    """The lines of all blocks, and for one that is too long its number of bytes."""
    shard = open_shard(path)
    cutter = BlockCutter(shard, size, longest)
    buffer = memoryview(bytearray(size + longest))
    spans: list[bytes | int] = []
    number = 0
    while block := cutter.fill(buffer):
        assert block.number == number
        number += 1
        text = buffer[: block.end]
        spans += [block.too_long] if block.too_long else []
        spans += [bytes(text[span_start:span_end]) for span_start, span_end in line_spans(text)]
    shard.close()
    assert cutter.number == number
    return spans, cutter


@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ")), min_size=1),
    st.integers(1, 100),
    st.booleans(),
)
def test_every_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, end: bool
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "dump"
    text = b"{" + b"\n".join(lines) + (b"\n" if end else b"")
    path.write_bytes(text)
    assert cut(path, size, 1000)[0] == text.removesuffix(b"\n").split(b"\n") or not end
    assert b"\n".join(line for line in cut(path, size, 1000)[0] if isinstance(line, bytes)) in (
        text,
        text.removesuffix(b"\n"),
    )


@pytest.mark.parametrize("long", [b"x" * 1000, b"{" * 401])
@pytest.mark.parametrize("size", [7, 64, 100])
@pytest.mark.parametrize(
    "text", [b"{a\n%s\n{b\n{c\n", b"{a\n{b\n%s\n", b"{%s\n{b\n", b"{a\n%s", b"{a\n%s\n%s\n{b\n"]
)
def test_a_line_that_is_too_long(long: bytes, size: int, text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    whole_text = text.replace(b"%s", long)
    path.write_bytes(whole_text)
    expected_lines = [
        len(line) if len(line) > 300 else line
        for line in whole_text.removesuffix(b"\n").split(b"\n")
    ]
    assert cut(path, size, 300)[0] == expected_lines


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(b"{a\n" + b"x" * 299 + b"\n{b\n")
    assert cut(path, 10, 300)[0] == [b"{a", b"x" * 299, b"{b"]


@pytest.mark.parametrize(
    ("text", "opened", "closed"),
    [
        (b"[\n{}\n]\n", True, True),
        (b"[\r\n{}\r\n]", True, True),
        (b"\xef\xbb\xbf [{}\n ] \n\n", True, True),
        (b"[\n{},\n", True, False),
        (b"{}\n{}\n", False, False),
    ],
)
def test_the_ends_of_the_array(text: bytes, opened: bool, closed: bool, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(text)
    for block_size in (4, 1000):
        cutter = cut(path, block_size, 2000)[1]
        assert (cutter.opened, cutter.closed) == (opened, closed)
