"""Files of pages that are damaged, hostile or something else: counted, or a clear error."""

import bz2
import gzip
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.wikipedia import dump, files
from factdrift.builders.wikipedia.read import read_pages
from tests import exports
from tests.exports import HEAD, TAIL, export, lines, multistream, page
from tests.tables import columns_of, read_table

GOOD = page("Good", "good text", number=7)
WANTED = {"Good": "Q1", "Bad": "Q2"}


def read(data: bytes, tmp_path: Path, name: str = "x.xml", **more: Any) -> int:
    path = tmp_path / name
    path.write_bytes(data)
    return read_pages(path, more.pop("wanted", WANTED), tmp_path / "out", **more)


def dropped(tmp_path: Path) -> list[tuple[str, str, str | None]]:
    page_rows = pq.read_table(tmp_path / "out/dropped.parquet").to_pylist()
    return columns_of(page_rows, "reason", "item", "detail")


def titles(tmp_path: Path) -> list[str]:
    page_rows: list[str] = pq.read_table(tmp_path / "out/pages.parquet")["title"].to_pylist()
    return page_rows


BAD = page("Bad", "TEXT", number=3)


@pytest.mark.parametrize(("old", "new", "reason"), read_table("bad_pages"))
def test_bad_page(old: str, new: str, reason: str, tmp_path: Path) -> None:
    read(export([BAD.replace(old, new), GOOD]), tmp_path)
    assert titles(tmp_path) == ["Good"]
    first_drop, second_drop = dropped(tmp_path)
    assert first_drop[:2] == (reason, "x.xml:0" if reason == "no_title" else "x.xml:3")
    assert second_drop[1] == "Q2"


@pytest.mark.parametrize(("old", "place"), [(b"TEXT", "page"), (b"Bad", "title")])
def test_not_utf8(old: bytes, place: str, tmp_path: Path) -> None:
    read(export([BAD, GOOD]).replace(old, b"caf\xe9"), tmp_path)
    reason, _, detail = dropped(tmp_path)[0]
    assert reason == "bad_utf8" and detail and place in detail
    assert titles(tmp_path) == ["Good"]


def test_entities_are_never_defined(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>\n'
    read(bomb.encode() + export([BAD.replace("TEXT", "&b;"), GOOD]), tmp_path)
    assert dropped(tmp_path)[0][0] == "bad_xml"
    assert titles(tmp_path) == ["Good"]


def revision(number: int, time: str = "", text: str = "", model: str = "wikitext") -> str:
    return (
        f"<revision><id>{number}</id>{f'<timestamp>{time}</timestamp>' if time else ''}"
        f"<model>{model}</model><text>{text or f'text {number}'}</text></revision>"
    )


HISTORIES: dict[str, tuple[list[str], int]] = {
    "oldest first": ([revision(5, "2020-01-01T00:00:00Z"), revision(6, "2024-01-01T00:00:00Z")], 6),
    "newest first": ([revision(6, "2024-01-01T00:00:00Z"), revision(5, "2020-01-01T00:00:00Z")], 6),
    "newest between": ([revision(n, f"20{n}-01-01T00:00:00Z") for n in (20, 24, 22)], 24),
    "by time, not by id": (
        [revision(9, "2020-01-01T00:00:00Z"), revision(5, "2024-01-01T00:00:00Z")],
        5,
    ),
    "one time, two ids": (
        [revision(6, "2024-01-01T00:00:00Z")] * 2 + [revision(7, "2024-01-01")],
        7,
    ),
    "in two zones": (
        [revision(6, "2024-01-01T01:00:00+02:00"), revision(5, "2023-12-31T23:30:00Z")],
        5,
    ),
    "without times by id": ([revision(9), revision(5)], 9),
    "one time is none": ([revision(9, "yesterday"), revision(5, "2024-01-01T00:00:00Z")], 9),
    "an old redirect": (
        [
            revision(5, "2020-01-01T00:00:00Z", "#REDIRECT [[B]]"),
            revision(6, "2024-01-01T00:00:00Z"),
        ],
        6,
    ),
    "another model once": (
        [revision(5, "2020-01-01T00:00:00Z", model="css"), revision(6, "2024-01-01T00:00:00Z")],
        6,
    ),
}


@pytest.mark.parametrize(("revisions", "newest"), HISTORIES.values(), ids=HISTORIES)
def test_the_newest_revision_is_read(revisions: list[str], newest: int, tmp_path: Path) -> None:
    page_text = f"<page><title>Bad</title><ns>0</ns><id>3</id>{''.join(revisions)}</page>"
    read(export([page_text, GOOD]), tmp_path)
    [_, history] = pq.read_table(tmp_path / "out/pages.parquet").to_pylist()
    assert history["revision"] == newest
    assert history["paragraphs"][0]["text"] == f"text {newest}"


@pytest.mark.parametrize("pack", ["plain", "streams", "chopped"])
def test_pages_too_long(pack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (files, dump):
        monkeypatch.setattr(module, "LONGEST_PAGE", 100_000)
    monkeypatch.setattr(files, "BLOCK", 30_000)
    monkeypatch.setattr(files, "PACKED", 1)
    monkeypatch.setattr("factdrift.builders.core.compressed.PIECE", 1 << 14)
    pages = [page("Bad", "x y " * 60_000, number=3), GOOD]
    pages_bytes = {
        "plain": export(pages),
        "streams": multistream(pages, 1),
        "chopped": exports.chopped(export(pages), 70_000),
    }[pack]
    read(pages_bytes, tmp_path)
    assert titles(tmp_path) == ["Good"]
    assert [dropped_row[:2] for dropped_row in dropped(tmp_path)] == [
        ("too_long", "x.xml:3"),
        ("no_page", "Q2"),
    ]


def test_many_broken_lines_are_read_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit of few lines gives the same drops and pages, whose line numbers go on."""
    good_line = b'{"title": "Good", "text": "Good text."}'
    broken_lines = b"\n".join([b"{"] * 7 + [good_line] + [b'{"title": 7'] * 9)
    tables = []
    for folder, most_lines in ((tmp_path / "few", 3), (tmp_path / "all", 1000)):
        monkeypatch.setattr(files, "_MOST_LINES", most_lines)
        folder.mkdir()
        assert read(broken_lines, folder, "x.jsonl") == 1
        tables.append((titles(folder), dropped(folder)))
    assert tables[0] == tables[1]
    assert [item for _, item, _ in tables[0][1] if ":" in item][-1] == "x.jsonl:17"
    monkeypatch.setattr(files, "_MOST_LINES", 3)
    assert [*files._with_few_lines(b"a\n" * 7 + b"b", "jsonl")] == [b"a\n" * 3] * 2 + [b"a\nb"]


def test_a_line_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_PAGE", 100_000)
    monkeypatch.setattr(files, "BLOCK", 30_000)
    monkeypatch.setattr("factdrift.builders.core.compressed.PIECE", 1 << 14)
    page_rows = [{"title": "Good", "text": "a"}, {"title": "Bad", "text": "x y " * 60_000}]
    read(lines(page_rows), tmp_path, "x.jsonl")
    assert titles(tmp_path) == ["Good"]
    assert ("too_long", "x.jsonl:2", None) in dropped(tmp_path)


@pytest.mark.slow
def test_two_megabytes_in_one_page(tmp_path: Path) -> None:
    """Wikipedia's own limit of a page."""
    text = "a [[B]] {{nowrap|c}} ''d''\n\n" * 72_000
    read(export([page("Good", text)]), tmp_path)
    page_rows = pq.read_table(tmp_path / "out/pages.parquet")["paragraphs"].combine_chunks()
    assert len(page_rows.flatten()) == 72_000


def test_a_second_page_of_an_item(tmp_path: Path) -> None:
    page_rows = [
        {"title": "Good", "text": "a", "page": 5},
        {"title": "X", "text": "b", "item": "Q1"},
    ]
    read(lines(page_rows), tmp_path, "x.jsonl")
    assert titles(tmp_path) == ["Good"]
    assert ("second_page", "x.jsonl:0", None) in dropped(tmp_path)
    second_export = export([GOOD, GOOD.replace("<id>7<", "<id>8<")])
    read(second_export, tmp_path)
    assert ("second_page", "x.xml:8", None) in dropped(tmp_path)


def test_titles_of_two_items_and_of_none(tmp_path: Path) -> None:
    titles_and_items = [("Good", "Q3"), ("good", "Q1"), ("a|b", "Q4")]
    read(export([GOOD]), tmp_path, wanted=titles_and_items)
    assert pq.read_table(tmp_path / "out/pages.parquet")["item"].to_pylist() == ["Q1"]
    assert dropped(tmp_path) == [("same_title", "Q3", None), ("bad_title", "Q4", None)]


GERMAN = "Die Stadt liegt im Süden und hat ein Museum, das viele Besucher anzieht. "
ENGLISH = "The town is one of the oldest in the county, and it has a museum. "


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        (GERMAN * 9, False),
        (GERMAN * 2, True),
        (ENGLISH * 9, True),
        (ENGLISH + GERMAN * 9, True),
        ("* Stadt am Rhein, Museum, Dom, Altes Rathaus\n" * 30 + ENGLISH, True),
    ],
    ids=["German", "too short to tell", "English", "English with a long quotation", "a list"],
)
def test_a_page_in_another_language_is_dropped_and_counted(
    text: str, is_kept: bool, tmp_path: Path
) -> None:
    read(export([page("Bad", text, number=3), GOOD]), tmp_path)
    assert titles(tmp_path) == (["Good", "Bad"] if is_kept else ["Good"])
    assert (("not_english", "x.xml:3", "Bad") in dropped(tmp_path)) == (not is_kept)


@pytest.mark.parametrize(
    ("line", "reason"), [*read_table("bad_page_lines"), ("[" * 100_000, "bad_json")]
)
def test_bad_line(line: str, reason: str, tmp_path: Path) -> None:
    good = b'{"title": "Good", "text": "g"}\n'
    read(b"\n".join((good, line.encode("latin-1"), good)), tmp_path, "x.jsonl")
    assert titles(tmp_path) == ["Good"]
    assert (reason, "x.jsonl:3") in [dropped_row[:2] for dropped_row in dropped(tmp_path)]


# Exports that end between two pages: each is whole for whoever packed it.
CUT = export([GOOD] * 9).removesuffix(TAIL.encode())
NO_END = [
    ("x.xml", CUT),
    ("x.xml", CUT[:-60]),
    ("x.xml", CUT + b"</mediawik"),
    ("x.xml.gz", gzip.compress(CUT)),
    ("x.xml.bz2", bz2.compress(CUT)),
    ("x.xml.bz2", multistream([GOOD] * 9, 2).removesuffix(bz2.compress(TAIL.encode()))),
    ("x.xml.bz2", exports.chopped(CUT, 1000)),
]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("x.xml", b"", "empty"),
        ("x.xml", b"<html><body>404</body></html>", "this is a web page, not a file of pages"),
        ("x.xml", b"hello", "no pages in this file"),
        *((name, data, "cut short: its end is missing") for name, data in NO_END),
        ("x.xml", (HEAD + TAIL).encode(), "no page in it"),
        ("x.xml.bz2", bz2.compress(b"613:1:Jane\n"), "index of a dump"),
        ("x.7z", b"7z\xbc\xaf\x27\x1c0000", "7z"),
        ("x.xml.bz2", b"BZh91AY&SY" + b"x" * 100, "cut short or damaged"),
        ("x.xml.gz", gzip.compress(export([GOOD] * 9))[:-60], "cut short or damaged"),
        ("x.xml.bz2", bz2.compress(export([GOOD] * 9))[:-60], "cut short or damaged"),
        ("x.xml.bz2", multistream([GOOD] * 9, 2)[:-100], "cut short or damaged"),
        ("x.parquet", b"PAR1xxxxPAR1", "damaged"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_not_a_file_of_pages(name: str, data: bytes, says: str, jobs: int, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=says) as error:
        read(data, tmp_path, name, jobs=jobs)
    assert name in str(error.value)


def test_parquet_of_something_else(tmp_path: Path) -> None:
    path = exports.parquet(tmp_path / "x.parquet", [{"id": 1, "body": "x"}])
    with pytest.raises(UserError, match="no columns `title`"):
        read_pages(path, WANTED, tmp_path / "out")


@pytest.mark.parametrize("item", ["P1", "Q1\n"])
def test_what_is_wanted_is_wrong(item: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the id"):
        read(export([GOOD]), tmp_path, wanted={"Good": item})


def test_two_files_of_one_name(tmp_path: Path) -> None:
    page_files = [
        exports.write(tmp_path / folder_name / "x.xml", export([GOOD])) for folder_name in "ab"
    ]
    with pytest.raises(UserError, match="two files have the name"):
        read_pages(page_files, WANTED, tmp_path / "out")
