"""News archives: every kind of line, every form of file, what is left out, and reading back."""

import base64
import bz2
import gzip
import hashlib
import json
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import ArticleRef, Dropped
from factdrift.builders.text.sentences import split_sentences
from factdrift.builders.wmt.archive import LineFormat, find_archives
from factdrift.builders.wmt.dropped import LINE_COLUMNS, dropped_rows
from factdrift.builders.wmt.index import TABLES, index_archive
from factdrift.builders.wmt.lines import parse_block, search_block, sentences_of
from factdrift.builders.wmt.raw import BAD_LINES
from factdrift.builders.wmt.read import read_articles
from tests.conftest import ROOT
from tests.dumps import rows
from tests.tables import column_of, columns_of, ids_of, names_of, read_table

CASES = read_table("question_cases")

SAMPLES = ROOT / "samples" / "news"
NAME = "news-docs.2019.en.filtered"


def b64(text: str | bytes) -> bytes:
    return base64.b64encode(text.encode() if isinstance(text, str) else text)


def line(day: str = "20190207", split: str | bytes = "A.\nB.", whole: str = "A. B.") -> bytes:
    return b"\t".join([day.encode(), b64(split), b64(whole)])


def key(day: str, whole: str) -> str:
    return f"{day}000000000000\x00\x01{hashlib.sha256(b64(whole)).hexdigest()}\x00\x01"


def archive(folder: Path, *lines: bytes, name: str = NAME + ".gz") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = b"".join(text + b"\n" for text in lines)
    path = folder / name
    pack: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}
    path.write_bytes(pack.get(path.suffix, bytes)(data))
    return path


def refs(out: Path) -> list[ArticleRef]:
    return [ArticleRef(**row) for row in rows(out / "articles.parquet")]


def indexed(paths: Any, out: Path, **options: Any) -> list[ArticleRef]:
    """The articles that `index` finds."""
    index_archive(paths, out, **options)
    return refs(out)


def dropped_in(out: Path) -> list[dict[str, Any]]:
    return rows(out / "dropped.parquet")


LINES: dict[str, tuple[bytes, str | None]] = {
    name: (given.encode() if isinstance(given, str) else line(**given), reason)
    for name, given, reason in CASES["archive_lines"]
}
LINES["a Windows line end"] = (line(whole="W.") + b"\r", None)
LINES["not UTF-8"] = (line(split=b"caf\xe9"), "bad_utf8")


def test_lines(tmp_path: Path) -> None:
    index_archive(archive(tmp_path, *(line for line, _ in LINES.values())), tmp_path / "out")
    reasons = {line_number: reason for line_number, (_, reason) in enumerate(LINES.values(), 1)}
    dropped_reasons = {
        int(drop["item"].removeprefix(f"{NAME}.gz:")): drop["reason"]
        for drop in dropped_in(tmp_path / "out")
        if drop["step"] == "read"
    }
    kept_lines = {reference.line: None for reference in refs(tmp_path / "out")}
    assert dropped_reasons | kept_lines == reasons
    assert len(kept_lines) == 4


def test_the_id_is_that_of_the_original(tmp_path: Path) -> None:
    path = archive(tmp_path, line("20190207", "Ö\nB", "Ö B"), line("20190101", "x\n\ny\nz", "é"))
    first, second = indexed(path, tmp_path / "out")
    assert first.id == key("20190101", "é")
    assert second.id == key("20190207", "Ö B")
    assert (first.day, first.ts, first.sentences) == (date(2019, 1, 1), 1546300800, 3)
    assert (second.file, second.line, second.ts) == (path.name, 1, 1549497600)
    assert second.sha256 in second.id


def same(first_folder: Path, second_folder: Path) -> bool:
    return all(
        (first_folder / name).read_bytes() == (second_folder / name).read_bytes() for name in TABLES
    )


@pytest.mark.parametrize("near", [pytest.param(0, marks=pytest.mark.slow), 0.8])
def test_bytes_do_not_depend_on_jobs_or_blocks(tmp_path: Path, near: float) -> None:
    broken = archive(tmp_path / "in", *(line for line, _ in LINES.values()))
    paths = [SAMPLES / "*2020*.gz", broken]
    kinds: dict[str, dict[str, Any]] = {
        "one": {},
        "two": {"jobs": 2, "block": 4096},
        "small": {"block": 300},
    }
    for name, options in kinds.items():
        index_archive(paths, tmp_path / name, near_duplicates=near, **options)
    assert same(tmp_path / "one", tmp_path / "two")
    assert same(tmp_path / "one", tmp_path / "small")
    assert set(names_of((tmp_path / "one").iterdir())) == set(TABLES)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst"])
def test_forms_of_files(tmp_path: Path, suffix: str) -> None:
    path = archive(tmp_path, line(), line(whole="other"), name=NAME + suffix)
    references = indexed(tmp_path, tmp_path / "out")
    assert {reference.line for reference in references} == {1, 2}
    assert [article.text for article in read_articles(path, references)] == ["A.\nB."] * 2


@pytest.mark.parametrize(
    ("form", "short_line", "why"),
    [
        ("jsonl", b"", ("malformed_line", "too short for a date and a text")),
        ("jsonl", b'{"date":1}', ("malformed_line", "too short for a date and a text")),
        ("jsonl", b"\xff", ("bad_utf8", "not UTF-8")),
        ("jsonl", "ö\r".encode(), ("malformed_line", "too short for a date and a text")),
        ("jsonl", b'{"text":"a"}', ("malformed_line", "no field date")),
        ("wmt", b"", ("too_few_fields", "0 of 3")),
        ("wmt", b"\r", ("too_few_fields", "0 of 3")),
        ("wmt", b"a\tb", ("too_few_fields", "2 of 3")),
        ("wmt", b"a\tb\tc", ("bad_date", "a")),
        ("wmt", b"a\t\t\tb", ("malformed_line", "4 fields instead of 3")),
    ],
)
def test_lines_too_short_for_an_article(
    form: LineFormat, short_line: bytes, why: tuple[str, str]
) -> None:
    parsed = parse_block(short_line + b"\n", form, date(2030, 1, 1), signatures=False)
    assert parsed == (1, [], [(1, *why)])


def test_records_in_both_forms_give_the_same_articles(tmp_path: Path) -> None:
    records = [
        {"date": "2019-02-07", "text": 'He won. "Yes!" she said. Mr. Ng left at 5 p.m. today.'},
        {"date": "20190208", "text": "Ö one.\nTwo", "title": "A title"},
        {"date": "2019-02-08T23:30:00-05:00", "text": "Moment."},
        {"date": "2019-02-30", "text": "x"},
        {"date": "2019-02-07", "text": " "},
    ]
    lines = [json.dumps(record).encode() for record in records]
    references = indexed(archive(tmp_path, *lines, b"{", name="n.jsonl"), tmp_path / "a")
    reasons = column_of(dropped_in(tmp_path / "a"), "reason")
    assert reasons == ["bad_date", "empty_text", "malformed_line"]
    articles_by_day = {
        article.day.isoformat(): article
        for article in read_articles(tmp_path / "n.jsonl", references)
    }
    assert articles_by_day["2019-02-07"].id == key("20190207", str(records[0]["text"]))
    assert articles_by_day["2019-02-07"].sentences == (
        "He won.",
        '"Yes!" she said.',
        "Mr. Ng left at 5 p.m. today.",
    )
    assert articles_by_day["2019-02-08"].text == "A title\nÖ one.\nTwo"
    assert articles_by_day["2019-02-09"].text == "Moment."
    (tmp_path / "p").mkdir()
    pq.write_table(pa.Table.from_pylist(records[:3]), tmp_path / "p" / "n.parquet")
    parquet_references = indexed(tmp_path / "p", tmp_path / "b")
    assert ids_of(parquet_references) == ids_of(references)
    assert ids_of(read_articles(tmp_path / "p", parquet_references)) == ids_of(
        articles_by_day.values()
    )


@pytest.mark.parametrize(
    ("name", "first"), [("n.jsonl.gz", b'{"date": "2019-02-07", "text": "A. B."}'), (NAME, line())]
)
@pytest.mark.parametrize("near", [0, 0.8])
def test_a_byte_order_mark_is_no_part_of_the_first_line(
    name: str, first: bytes, near: float, tmp_path: Path
) -> None:
    path = archive(tmp_path, b"\xef\xbb\xbf" + first, first.replace(b"07", b"08", 1), name=name)
    printed_text: list[str] = []
    index_archive(path, tmp_path / "out", near_duplicates=near, block=20, say=printed_text.append)
    assert printed_text[0].endswith(" articles of 2 lines")
    articles = indexed(path, tmp_path / "out")
    assert [record.line for record in articles] == [1, 2]
    assert ids_of(articles) == [key(day, "A. B.") for day in ("20190207", "20190208")]
    assert ids_of(read_articles(path, articles)) == ids_of(articles)
    assert ids_of(read_articles(path, ids_of(articles))) == ids_of(articles)
    path.write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(UserError, match="no line of it is an article"):
        index_archive(path, tmp_path / "out")


@pytest.mark.parametrize("end", [b"", b"\r", b"\x1a", b"\x1a\0\r"])
@pytest.mark.parametrize("mark_count", [0, 1, 2])
def test_what_joined_files_have_around_a_line_is_no_part_of_it(mark_count: int, end: bytes) -> None:
    block_bytes = b"\xef\xbb\xbf" * mark_count + line() + end + b"\n"
    until = date(2030, 1, 1)
    parsed = parse_block(block_bytes, "wmt", until, signatures=False)
    assert parsed == parse_block(line(), "wmt", until, signatures=False)
    ((_, day_number, _, digest, _),) = parsed.articles
    assert len(search_block(block_bytes, "wmt", {day_number: {digest}})) == 1


@pytest.mark.parametrize(("text", "count"), CASES["split_texts"])
def test_sentences_of_split_texts(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count


@pytest.mark.parametrize("sentences", CASES["sentences"])
def test_sentences_by_rule(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences


def test_the_first_of_equal_ids_stays(tmp_path: Path) -> None:
    path = archive(tmp_path, line(), line(split="Z."), line("20190208"))
    assert [reference.line for reference in indexed(path, tmp_path / "out")] == [1, 3]
    (dropped_row,) = dropped_in(tmp_path / "out")
    assert (dropped_row["reason"], dropped_row["detail"]) == ("duplicate", f"as {NAME}.gz:1")


WORDS = [f"word{line_number}" for line_number in range(300)]
NEAR: dict[str, tuple[str, bool]] = {
    "letter case, punctuation": (" ".join(WORDS).upper().replace(" ", ", "), True),
    "one word of 300": (" ".join([*WORDS[:150], "other", *WORDS[151:]]), True),
    "a fifth": (" ".join(WORDS[:240]), True),
    "two thirds": (
        " ".join(WORDS[:100] + [f"new{line_number}" for line_number in range(200)]),
        False,
    ),
    "other order": (" ".join(WORDS[::-1]), False),
}


@pytest.mark.parametrize(
    ("name", "first_day", "day"),
    [*((name, "20190101", "20190301") for name in NEAR), ("a fifth", "00010101", "19690301")],
)
def test_near_duplicates(name: str, first_day: str, day: str, tmp_path: Path) -> None:
    text, near = NEAR[name]
    first = line(first_day, " ".join(WORDS), "1")
    path = archive(tmp_path, line(day, text, "2"), first, line(split="x", whole="3"))
    index_archive(path, tmp_path / "out", near_duplicates=0.7)
    dropped_details = columns_of(dropped_in(tmp_path / "out"), "reason", "item", "detail")
    expected = [("near_duplicate", f"{NAME}.gz:1", f"as {NAME}.gz:2")]
    assert dropped_details == (expected if near else [])


@pytest.mark.parametrize("escape", [str, lambda k: json.dumps(k)[1:-1]])
def test_keep_list(tmp_path: Path, escape: Any) -> None:
    path = archive(tmp_path, line(whole="a"), line(whole="b"), line("20190208", whole="a"))
    kept_id = escape(key("20190207", "a")).encode()
    keys = archive(tmp_path / "k", kept_id, b"", name="keys.txt.gz")
    assert [article_ref.line for article_ref in indexed(path, tmp_path / "out", keep=keys)] == [1]
    assert column_of(dropped_in(tmp_path / "out"), "reason") == ["not_in_keep_list"] * 2
    keys = archive(tmp_path / "k", kept_id, b"hello", name="keys.txt.gz")
    with pytest.raises(UserError, match=r"keys.txt.gz:2: not an article's id"):
        index_archive(path, tmp_path / "out", keep=keys)


def test_until(tmp_path: Path) -> None:
    path = archive(tmp_path, line("20190331"), line("20190401"))
    index_archive(path, tmp_path / "out", until=date(2019, 3, 31))
    assert columns_of(dropped_in(tmp_path / "out"), "reason", "detail") == [
        ("future_date", "2019-04-01")
    ]


def test_a_file_cut_short_says_how_far(tmp_path: Path) -> None:
    whole_bytes = (SAMPLES / f"{NAME}.gz").read_bytes()
    path = tmp_path / f"{NAME}.gz"
    path.write_bytes(whole_bytes[: len(whole_bytes) // 2])
    with pytest.raises(UserError, match=rf"{NAME}.gz: the file is cut short or damaged after \d"):
        index_archive(path, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_files_that_are_no_archive(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "page.html").write_text("<html>\n")
    (tmp_path / "none").mkdir()
    (tmp_path / "own.jsonl").write_text('{"id": 7, "date": "2020-01-01", "text": "A."}\n')
    pq.write_table(pa.table({"date": ["x"], "text": ["y"], "id": [7]}), tmp_path / "own.parquet")
    wrong_files: dict[str, str] = {
        "own.jsonl": "own.jsonl:1: its records have `id`",
        "own.parquet": "its records have `id`",
        "absent.gz": "no such file",
        "empty": "the file is empty",
        "page.html": "no line of it is an article",
        "none": "no news archive in this folder",
    }
    for name, text in wrong_files.items():
        with pytest.raises(UserError, match=text):
            index_archive(tmp_path / name, tmp_path / "out")
    archive(tmp_path / "a", line())
    archive(tmp_path / "b", line())
    with pytest.raises(UserError, match="two archives have the name"):
        find_archives([tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_reading_by_place_by_table_and_by_id(tmp_path: Path, jobs: int) -> None:
    known_ids = indexed(SAMPLES, tmp_path / "out")
    some_refs = known_ids[::37]
    options = {"jobs": jobs, "block": 4096}
    by_place = list(read_articles(SAMPLES, reversed(some_refs), **options))  # type: ignore[arg-type]
    assert ids_of(by_place) == ids_of(some_refs)
    some_ids = ids_of(some_refs)
    assert by_place == list(read_articles(SAMPLES, some_ids, **options))  # type: ignore[arg-type]
    everything = list(read_articles(SAMPLES, tmp_path / "out/articles.parquet", **options))  # type: ignore[arg-type]
    assert ids_of(everything) == ids_of(known_ids)
    assert [len(article.sentences) for article in everything] == [
        article_ref.sentences for article_ref in known_ids
    ]


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    path = archive(tmp_path, line())
    (ref,) = indexed(path, tmp_path / "out")
    with pytest.raises(UserError, match="1 of 2 articles are not in the archive"):
        list(read_articles(path, [ref.id, key("20190207", "nothing")]))
    assert len(list(read_articles(path, [ref.id, key("20190207", "nothing")], strict=False))) == 1
    with pytest.raises(UserError, match="not an article's id"):
        list(read_articles(path, ["hello"]))
    archive(tmp_path, line(whole="changed"))
    with pytest.raises(UserError, match=r"gz:1: this line is not the article"):
        list(read_articles(path, [ref]))
    with pytest.raises(UserError, match="which is not given"):
        list(read_articles(SAMPLES / "*2020*", [ref]))


def test_real_news(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "news"
    if not folder.is_dir():
        pytest.skip(f"no news in {real_data}")
    index_archive(folder, tmp_path / "out", jobs=2)
    assert len(refs(tmp_path / "out")) == 6451 and not dropped_in(tmp_path / "out")
    with gzip.open(folder / "news-docs.index.tsv.gz", "rt", encoding="utf-8") as listed_lines:
        published = {row.split("\t")[3] for row in listed_lines}
    assert {reference.sha256 for reference in refs(tmp_path / "out")} <= published


@pytest.mark.parametrize("seed", range(12))
def test_dropped_lines_are_merged_in_the_order_of_the_archive(seed: int, tmp_path: Path) -> None:
    """Whatever the sizes of the pieces in which bad lines and left-out articles come."""
    random_source = Random(seed)
    places = [(file_number, line) for file_number in range(3) for line in range(1, 60)]
    bad_places = sorted(random_source.sample(places, random_source.choice((0, 9, 99))))
    other_places = [place for place in places if place not in bad_places]
    left_out_places = sorted(random_source.sample(other_places, random_source.choice((0, 7, 50))))
    for file_number in range(3):
        with pq.ParquetWriter(tmp_path / f"bad-{file_number}.parquet", BAD_LINES) as writer:
            lines = [(*place, "bad_date", "x") for place in bad_places if place[0] == file_number]
            while lines:
                size = random_source.randrange(1, 20)
                rows_of_piece = [
                    dict(zip(BAD_LINES.names, row, strict=True)) for row in lines[:size]
                ]
                writer.write_table(pa.Table.from_pylist(rows_of_piece, BAD_LINES))
                lines = lines[size:]
    left_out = pa.Table.from_pylist(
        [
            {
                "file": file_number,
                "line": line,
                "reason": "near_duplicate",
                "score": 0.9,
                "detail": "y",
            }
            for file_number, line in left_out_places
        ],
        LINE_COLUMNS,
    )
    pieces = left_out.to_batches(max_chunksize=random_source.randrange(1, 20))
    names = ["a.jsonl", "b.jsonl", "c.jsonl"]
    merged = pa.Table.from_batches(dropped_rows(tmp_path, names, pieces), arrow_schema(Dropped))
    assert merged["item"].to_pylist() == [
        f"{names[file_number]}:{line}" for file_number, line in sorted(bad_places + left_out_places)
    ]
    assert merged["reason"].to_pylist().count("bad_date") == len(bad_places)
    assert merged["score"].drop_null().to_pylist() == [0.9] * len(left_out_places)
