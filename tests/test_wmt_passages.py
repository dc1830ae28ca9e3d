"""Passages and the days in words before them."""

import locale
from datetime import date, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from factdrift.builders.wmt.lines import sorting_key
from factdrift.builders.wmt.passages import (
    article_passages,
    original_article_passages,
    passage_prefix,
    question_prefix,
    write_passages,
)
from tests.conftest import ROOT
from tests.tables import ids_of, read_table

CASES = read_table("question_cases")

SAMPLES = ROOT / "samples" / "news"


def test_every_month_and_weekday() -> None:
    assert locale.setlocale(locale.LC_TIME) in ("C", "C.UTF-8", "en_US.UTF-8", "POSIX")
    for number in range(800):
        day = date(2019, 1, 1) + timedelta(number)
        assert passage_prefix(day) == f"{day:%A, %B} {day.day}, {day.year}. "
    assert question_prefix(date(2016, 2, 29)) == "Today is Monday, February 29, 2016. "


@pytest.mark.parametrize(
    ("sentences", "sizes"), [(1, [1]), (6, [6]), (7, [6, 1]), (12, [6, 6]), (13, [6, 6, 1])]
)
def test_chunks_of_six(sentences: int, sizes: list[int]) -> None:
    day = date(2019, 2, 7)
    name = sorting_key(day, bytes(range(32)))
    words = [f"S{sentence_number}." for sentence_number in range(sentences)]
    passages = article_passages(17_934, bytes(range(32)), "\n".join(words))
    assert ids_of(passages) == [
        f"{name}_{sentence_number}" for sentence_number in range(len(sizes))
    ]
    assert [len(passage.text.split()) - 4 for passage in passages] == sizes
    assert passages[0].text.startswith("Thursday, February 7, 2019. S0.")
    assert {passage.sha256 for passage in passages} == {bytes(range(32)).hex()}
    printed_text = " ".join(passage.text.removeprefix(passage_prefix(day)) for passage in passages)
    assert printed_text == " ".join(words)


@pytest.mark.parametrize(
    ("jobs", "block"),
    [(1, 1 << 16), pytest.param(2, 4096, marks=pytest.mark.slow)],
    ids=["one process", "two"],
)
def test_a_corpus_until_a_day_is_the_same_for_any_number_of_processes(
    jobs: int, block: int, tmp_path: Path
) -> None:
    day = date(2020, 6, 30)
    write_passages(SAMPLES, tmp_path / "one", until=day)
    write_passages(SAMPLES, tmp_path / "two", until=day, jobs=jobs, block=block)
    for name in ("passages.parquet", "articles.parquet", "dropped.parquet"):
        first_bytes, second_bytes = (
            (tmp_path / side / name).read_bytes() for side in ("one", "two")
        )
        assert first_bytes == second_bytes, name
    passages = pq.read_table(tmp_path / "one/passages.parquet")
    assert max(passages["day"].to_pylist()) <= day
    articles = pq.read_table(tmp_path / "one/articles.parquet")
    assert set(passages["article"].to_pylist()) == set(articles["id"].to_pylist())


@pytest.mark.parametrize(("text", "expected"), CASES["passages"])
def test_passages_as_the_original_makes_them(text: str, expected: list[str]) -> None:
    passages = original_article_passages(17_934, b"\x01" * 32, text)
    assert [passage.text for passage in passages] == [
        f"Thursday, February 7, 2019. {sentence}" for sentence in expected
    ]
    assert [passage.id[-2:] for passage in passages] == [
        f"_{passage_number}" for passage_number in range(len(expected))
    ]
