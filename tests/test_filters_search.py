"""The search index: ranks, days."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest

from factdrift.builders.rows import Article
from factdrift.filters.search_index import Index
from tests.tables import ids_of

FIRST = date(2019, 1, 1)


def article(article_number: int, text: str) -> Article:
    return Article(f"id{article_number:04}", FIRST + timedelta(article_number), (text,), text)


def test_ranking_ties_and_days(tmp_path: Path) -> None:
    article_texts = ["Croatia votes", "Croatia votes", "Serbia votes", "Croatia votes"]
    index = Index.build(
        (article(article_number, text) for article_number, text in enumerate(article_texts)),
        tmp_path / "index",
    )

    def ids(query: str, day: int, limit: int = 10) -> list[str]:
        return ids_of(index.search(query, FIRST + timedelta(day), limit))

    assert ids("croatia", 9) == ["id0003_0", "id0001_0", "id0000_0"]
    assert ids("croatia", 9, 1) == ["id0003_0"]
    assert ids("Croatia?", 1) == ["id0001_0", "id0000_0"]
    assert ids("voted in Serbia", 9, 1) == ["id0002_0"]
    for odd in ("", "?", 'the (of "', "nothing:known AND", "*", "zzz"):
        assert ids(odd, 9) == []
    assert ids("croatia", -1) == []
    hit = index.search("serbia", FIRST + timedelta(9), 1)[0]
    assert hit.text == "Thursday, January 3, 2019. Serbia votes" and hit.day == date(2019, 1, 3)


def test_many_equal_at_the_cut(tmp_path: Path) -> None:
    index = Index.build(
        (article(article_number, "all alike") for article_number in range(200)), tmp_path / "index"
    )
    hits = index.search("alike", date(2030, 1, 1), 5)
    assert ids_of(hits) == [f"id{article_number:04}_0" for article_number in range(199, 194, -1)]


@pytest.mark.parametrize("killed_after", [0, 5, 10, 25, 40])
def test_a_killed_build_goes_on(tmp_path: Path, killed_after: int) -> None:
    articles = [article(article_number, "all alike") for article_number in range(40)]

    def killed() -> Iterator[Article]:
        yield from articles[:killed_after]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Index.build(killed(), tmp_path / "index", commit_every=10)
    hits = Index.build(articles, tmp_path / "index", commit_every=10).search(
        "alike", date(2030, 1, 1), 99
    )
    assert ids_of(hits) == [f"id{article_number:04}_0" for article_number in range(39, -1, -1)]


def test_empty_corpus(tmp_path: Path) -> None:
    assert Index.build([], tmp_path / "index").search("word", FIRST, 3) == []


@pytest.mark.parametrize("seed", range(8))
def test_a_commit_that_was_changed_is_not_gone_on_with(tmp_path: Path, seed: int) -> None:
    articles = [
        article(article_number, f"words and number{article_number}") for article_number in range(30)
    ]

    def killed() -> Iterator[Article]:
        yield from articles[:25]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Index.build(killed(), tmp_path / "index", commit_every=10)
    random = Random(seed)
    index_files = [path for path in (tmp_path / "index").iterdir() if path.stat().st_size]
    damaged = random.choice(sorted(index_files))
    changed_bytes = bytearray(damaged.read_bytes())
    changed_bytes[random.randrange(len(changed_bytes))] ^= 1 << random.randrange(8)
    damaged.write_bytes(changed_bytes)
    index = Index.build(articles, tmp_path / "index", commit_every=10)
    assert len(index.search("words", date(2030, 1, 1), 40)) == 30
    assert [hit.text for hit in index.search("number17", date(2030, 1, 1), 3)] == [
        hit.text
        for hit in Index.build(articles, tmp_path / "whole").search("number17", date(2030, 1, 1), 3)
    ]
