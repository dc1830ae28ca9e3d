"""Hashes and draws: releases depend on these very values."""

from collections import Counter
from pathlib import Path

import pytest

from factdrift.builders.core import hashing
from factdrift.builders.core.errors import UserError


def test_values_that_releases_depend_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hashing.file_sha256(tmp_path / "file") == hashing.text_sha256("abc") == sha
    assert hashing.row_id("abc") == sha[:16]
    assert hashing.bits("abc") == int(sha[:16], 16)
    assert hashing.share("abc") == int(sha[:13], 16) / 16**13
    assert hashing.first_byte("abc") == 0xBA
    assert hashing.one_of(10, "abc") == int(sha[:16], 16) % 10
    assert hashing.bits(1, "a", "b") == hashing.bits("1\ta\tb")
    assert hashing.digest({"b": 1, "a": ["é"]}) == hashing.text_sha256('{"a": ["é"], "b": 1}')[:16]
    assert hashing.fast_hash(b"abc").hex() == "d8bb14d833d59559"
    assert hashing.Draws(0).bits() == 0xE220A8397B1DCDAF  # the first of SplitMix64 from 0
    with pytest.raises(UserError, match="cannot be read"):
        hashing.file_sha256(tmp_path / "none")


def test_draws_are_even() -> None:
    shares = [hashing.share(7, "split", n) for n in range(4000)]
    assert all(0 <= s < 1 for s in shares)
    for of in (shares, [hashing.Draws(n).below(1 << 30) / (1 << 30) for n in range(4000)]):
        assert all(800 < n < 1200 for n in Counter(int(s * 4) for s in of).values())
