"""The search index: ranks, days, kills."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.rows import Article
from factdrift.filters.search_index import Index

FIRST = date(2019, 1, 1)
WORDS = [f"word{n}" for n in range(300)]


def article(n: int, text: str | None = None) -> Article:
    draw = random.Random(n)
    day = FIRST + timedelta(n)
    lines = [text] if text else [" ".join(draw.choices(WORDS, k=12)) for _ in range(14)]
    return Article(f"id{n:04}", day, tuple(lines), "\n".join(lines))


def dump(index: Index) -> list[list[tuple[str, float]]]:
    asked = [" ".join(WORDS[n : n + 4]) for n in range(0, 300, 30)]
    last = FIRST + timedelta(50)
    return [[(h.id, h.score) for h in index.search(q, last, 10)] for q in asked]


def test_ranking_ties_and_days(tmp_path: Path) -> None:
    texts = ["Croatia votes", "Croatia votes", "Serbia votes", "Croatia votes"]
    index = Index.build((article(n, t) for n, t in enumerate(texts)), tmp_path / "index")
    assert (index.articles, index.passages) == (4, 4)

    def ids(query: str, day: int, k: int = 10) -> list[str]:
        return [h.id for h in index.search(query, FIRST + timedelta(day), k)]

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
    index = Index.build((article(n, "all alike") for n in range(200)), tmp_path / "index")
    hits = index.search("alike", date(2030, 1, 1), 5)
    assert [h.id for h in hits] == [f"id{n:04}_0" for n in range(199, 194, -1)]


class KilledError(Exception):
    pass


def killed_after(n: int) -> Iterator[Article]:
    yield from map(article, range(n))
    raise KilledError


@pytest.mark.parametrize("at", [0, 5, 25, 60])
def test_goes_on_after_a_kill(tmp_path: Path, at: int) -> None:
    whole = Index.build(map(article, range(60)), tmp_path / "whole", every=25)
    with pytest.raises(KilledError):
        Index.build(killed_after(at), tmp_path / "index", every=10)
    assert not (tmp_path / "index").exists()
    index = Index.build(map(article, range(60)), tmp_path / "index", every=10)
    assert (index.articles, index.passages) == (60, 180)
    assert dump(index) == dump(whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index", "whole"]
    assert Index.build(iter([]), tmp_path / "index").articles == 60


def test_other_articles(tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        Index.build(killed_after(50), tmp_path / "index", every=10)
    with pytest.raises(UserError, match="half-built"):
        Index.build(map(article, range(1, 100)), tmp_path / "index", every=10)
    with pytest.raises(UserError, match="half-built"):
        Index.build(map(article, range(7)), tmp_path / "index", every=10)
    with pytest.raises(UserError, match="no finished"):
        Index(tmp_path / "index")


def test_empty_corpus(tmp_path: Path) -> None:
    assert Index.build([], tmp_path / "index").search("word", FIRST, 3) == []
