"""The bundled news sample: committed archives, their text, and what a release needs of them."""

import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from samples.news import make
from samples.newswire import make as newswire

NEWS = Path(make.__file__).parent
YEARS = range(2007, 2021)


def archive(year: int) -> Path:
    return NEWS / f"news-docs.{year}.en.filtered.gz"


def rows(year: int) -> Iterator[tuple[date, str]]:
    """Day, and sha256 of the third field, as the archive holds them."""
    for line in gzip.decompress(archive(year).read_bytes()).decode("ascii").splitlines():
        day, _, unsplit = line.split("\t")
        yield date.fromisoformat(day), hashlib.sha256(unsplit.encode()).hexdigest()


def articles() -> list[make.SampleArticle]:
    return [article for year in YEARS for article in make.read(NEWS / f"text/{year}.txt")]


def test_archives_are_what_the_text_gives() -> None:
    archives = make.archives()
    assert sorted(archives) == [archive(year).name for year in YEARS]
    for name, packed in archives.items():
        committed = (NEWS / name).read_bytes()
        assert gzip.decompress(packed) == gzip.decompress(committed), name
        if "zlib-ng" not in zlib.ZLIB_RUNTIME_VERSION:  # packs the same lines in other bytes
            assert packed == committed, name


def test_enough_articles_in_every_year() -> None:
    days = [day for year in YEARS for day, _ in rows(year)]
    assert len(days) >= 300
    assert sum(date(2019, 12, 1) <= day <= date(2020, 12, 31) for day in days) >= 120
    assert min(Counter(day.year for day in days).values()) >= 14
    assert len({(day.year, day.month) for day in days}) == 12 * len(YEARS)


@pytest.mark.parametrize("year", YEARS)
def test_lines_are_sorted_and_different(year: int) -> None:
    keys = [*rows(year)]
    assert keys == sorted(set(keys))
    assert {day.year for day, _ in keys} == {year}


def test_articles_read_like_news() -> None:
    """Long enough, with what people say, numbers and lines that are no sentences."""
    texts = [article.split for article in articles()]
    words = sorted(len(text.split()) for text in texts)
    assert words[0] >= 120 and words[len(words) // 2] >= 250 and words[-1] <= 700
    assert sum('"' in text for text in texts) > len(texts) / 2
    lines = [line for text in texts for line in text.split("\n")[1:]]
    assert 20 < sum(not make.ends_sentence(line) for line in lines) < len(lines) / 20
    assert len({article.headline for article in articles()}) == len(texts)


@pytest.mark.parametrize(
    "line",
    ['"Who knows?"', "By our staff", "PARIS —", "Gov. Bill Lee left.", '"Bond. James Bond."'],
)
def test_lines_of_news(line: str) -> None:
    assert make.line_mistake(line) is None


FIVE = "\n".join(f"Sentence {n} stands here." for n in range(5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("== 2018-12-01 Headline\n" + FIVE, "2019.txt:1: days of 2019"),
        ("Text\n== 2019-12-01 Headline\n" + FIVE, "2019.txt:2: days of 2019"),
        ("== 2019-12-01 Headline\nOne sentence.", "2019.txt:1: an article has at least 5"),
        (f"== 2019-12-01 Headline\n{FIVE}\n\nTwo are here. And so", "one sentence a line: Two are"),
        (f"== 2019-12-01 Headline\n{FIVE}\n\n{'no end ' * 11}here", "has its end mark: no end"),
        (f"== 2019-12-01 Headline\n{FIVE}\n\n Spaces.", "2019.txt:1: spaces around a line"),
        (f"== 2019-12-02 One\n{FIVE}\n\n== 2019-12-01 Two\n{FIVE}", "2019.txt:8: days of"),
    ],
)
def test_mistakes_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "2019.txt").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(make.TextError) as caught:
        make.archives(tmp_path)
    assert message in str(caught.value)


WIRE = Path(newswire.__file__).parent


def test_the_newswire_is_what_its_text_gives() -> None:
    for name, packed in newswire.archives().items():
        assert gzip.decompress(packed) == gzip.decompress((WIRE / name).read_bytes()), name


def test_the_newswire_has_short_items_of_every_kind() -> None:
    items = [
        item
        for path in sorted((WIRE / "text").glob("*.txt"))
        for item in make.read(path, newswire.FEWEST_SENTENCES)
    ]
    assert len(items) >= 600
    assert len({(item.day, item.headline) for item in items}) == len(items)
    sentences = [len(item.split.split("\n")) - 1 for item in items]
    assert min(sentences) == 2 and 4 < sum(sentences) / len(items) < 7
    years = {item.day.year for item in items}
    assert years == set(range(2010, 2027))


def test_no_archive_of_the_newswire_is_named_as_one_of_the_news() -> None:
    """Articles are known by the name of their file, and `as-of` reads both folders."""
    assert not {path.name for path in NEWS.glob("*.gz")} & {path.name for path in WIRE.glob("*.gz")}
