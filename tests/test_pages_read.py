"""Files of pages to `pages.parquet`: every form, any number of processes, redirects."""

import bz2
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.schema import arrow_schema
from factdrift.builders.rows import Dropped, Page
from factdrift.builders.wikipedia import files
from factdrift.builders.wikipedia.parts import write_part
from factdrift.builders.wikipedia.read import read_pages
from factdrift.builders.wikipedia.titles import Titles
from tests import exports
from tests.dumps import rows
from tests.exports import export, lines, multistream, page
from tests.tables import column_of, columns_of

PAGES = [
    page("Jane Roe", "'''Jane''' of [[Old club]] and [[A&B]].\n* [[twice]]", number=1),
    page("Talk:Jane Roe", "[[x]]", number=2, space=1),
    page("Old club", "#REDIRECT [[Club]]", number=3, redirect="Club"),
    page("Unwanted", "long text " * 50, number=4),
    page("Club", "The '''Club''' & co. [[Jane Roe]]", number=5),
    page("Twice", "#REDIRECT [[Old club]]", number=6, redirect="Old club"),
    page("Short name", "#redirect [[Long_name#x]]", number=7),
    page("Long name", "A page of [[Unwanted]].", number=8),
    page("Module:X", "return 1", number=9, space=828, model="Scribunto"),
    page("Loop", "#REDIRECT [[Loop 2]]", number=10, redirect="Loop 2"),
    page("Loop 2", "#REDIRECT [[Loop]]", number=11, redirect="Loop"),
    page("Lost", "#REDIRECT [[Nowhere]]", number=12, redirect="Nowhere"),
    page("Chain", "#REDIRECT [[Twice]]", number=13, redirect="Twice"),
    page("Far", "#REDIRECT [[Chain]]", number=14, redirect="Chain"),
    page("A&B", "{{Infobox x|born={{birth date|1960|3|4}}}}", number=15),
]
WANTED = {
    "Jane_Roe": "Q10",
    "A&B": "Q9",
    "Short name": "Q2",
    "Twice": "Q3",
    "Loop": "Q4",
    "Lost": "Q5",
    "Far": "Q6",
    "Not there": "Q7",
}
TARGETS = ["Club"]


def texts(row: dict[str, Any]) -> list[str]:
    return column_of(row["paragraphs"], "text")


def digests(folder: Path) -> list[str]:
    names = ("pages.parquet", "dropped.parquet")
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]


MAKE: dict[str, Callable[[Path], Path]] = {
    "plain": lambda paragraph: exports.write(paragraph / "x.xml", export(PAGES)),
    "gz": lambda paragraph: exports.write(paragraph / "x.xml.gz", export(PAGES)),
    "zst": lambda paragraph: exports.write(paragraph / "x.xml.zst", export(PAGES)),
    "bz2": lambda paragraph: exports.write(paragraph / "x.xml.bz2", bz2.compress(export(PAGES))),
    "streams": lambda paragraph: exports.write(paragraph / "x.xml.bz2", multistream(PAGES, 2)),
    "streams of one page": lambda paragraph: exports.write(
        paragraph / "x.xml.bz2", multistream(PAGES, 1)
    ),
    "streams cut anywhere": lambda paragraph: exports.write(
        paragraph / "x.xml.bz2", exports.chopped(export(PAGES), 313)
    ),
    "streams shorter than tags": lambda paragraph: exports.write(
        paragraph / "x.xml.bz2", exports.chopped(export(PAGES), 9)
    ),
}


@pytest.fixture(autouse=True)
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are cut into several units, small as they are."""
    monkeypatch.setattr(files, "PACKED", 1)
    monkeypatch.setattr(files, "BLOCK", 1000)


@pytest.mark.slow
@pytest.mark.parametrize("form", MAKE)
def test_every_form_gives_the_same_pages(form: str, tmp_path: Path) -> None:
    seen_counts = read_pages(MAKE[form](tmp_path), WANTED, tmp_path / "out", targets=TARGETS)
    page_table = pq.read_table(tmp_path / "out/pages.parquet")
    assert page_table.schema.equals(arrow_schema(Page))
    page_rows = page_table.to_pylist()
    assert columns_of(page_rows, "item", "title", "page", "revision") == [
        ("Q2", "Long name", 8, 1008),
        ("Q3", "Club", 5, 1005),
        ("Q9", "A&B", 15, 1015),
        ("Q10", "Jane Roe", 1, 1001),
    ]
    assert texts(page_rows[3]) == ["Jane of Old club and A&B.", "twice"]
    links = [link for paragraph in page_rows[3]["paragraphs"] for link in paragraph["links"]]
    assert columns_of(links, "start", "end", "target") == [
        (8, 16, "Club"),
        (21, 24, "A&B"),
        (0, 5, "Club"),
    ]
    assert texts(page_rows[2]) == ["born: March 4, 1960"]
    dropped_table = pq.read_table(tmp_path / "out/dropped.parquet")
    assert dropped_table.schema.equals(arrow_schema(Dropped))
    assert columns_of(dropped_table.to_pylist(), "reason", "subject") == [
        ("redirect_loop", "Q4"),
        ("redirect_to_nothing", "Q5"),
        ("redirect_chain", "Q6"),
        ("no_page", "Q7"),
    ]
    assert seen_counts == len(PAGES)
    assert not (tmp_path / "out/build").exists()


SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [pytest.param("plain", marks=SLOW), pytest.param("bz2", marks=SLOW), "streams"]
)
def test_any_number_of_jobs_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    page_files = [MAKE[form](tmp_path), exports.write(tmp_path / "more.jsonl", lines(RECORDS))]
    for jobs in (1, 2):
        jobs_folder = tmp_path / str(jobs)
        read_pages(
            page_files, WANTED | {"A": "Q20", "B": "Q21"}, jobs_folder, jobs=jobs, targets=TARGETS
        )
    assert len(rows(tmp_path / "1/pages.parquet")) == 6
    assert digests(tmp_path / "1") == digests(tmp_path / "2")


RECORDS: list[dict[str, Any]] = [
    {"title": "a", "text": "one  two\n\n three", "links": [{"start": 3, "end": 8, "target": "b"}],
     "page": 4, "revision": "5"},
    {"title": "Other", "item": "Q21", "paragraphs": [
        "first", {"text": " x  y ", "kind": "list", "section": "S",
                  "links": [{"start": 1, "end": 6, "target": "the_y"}]}]},
    {"title": "C", "redirect": "A"},
    {"title": "D", "wikitext": "#REDIRECT [[A]]"},
    {"title": "E", "wikitext": "'''e''' [[F]]"},
    {"title": "Unwanted", "text": "u"},
]  # fmt: skip
EXPECTED = [
    ("Q20", "A", 4, 5, [("text", "", "one two", [(4, 7, "B")]), ("text", "", "three", [])]),
    ("Q21", "Other", 0, 0, [("text", "", "first", []), ("list", "S", "x y", [(0, 3, "The y")])]),
    ("Q22", "A", 4, 5, [("text", "", "one two", [(4, 7, "B")]), ("text", "", "three", [])]),
    ("Q24", "E", 0, 0, [("text", "", "e F", [(2, 3, "F")])]),
]


def as_tuples(path: Path) -> list[Any]:
    return [
        (
            row["item"], row["title"], row["page"], row["revision"],
            [
                (paragraph["kind"], paragraph["section"], paragraph["text"],
                 columns_of(paragraph["links"], "start", "end", "target"))
                for paragraph in row["paragraphs"]
            ],
        )
        for row in rows(path)
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.jsonl.bz2", "x.jsonl.zst", "odd"])
def test_json_lines(name: str, tmp_path: Path) -> None:
    marked_bytes = b"\xef\xbb\xbf" + lines(RECORDS)
    path = exports.write(
        tmp_path / name, bz2.compress(marked_bytes) if name.endswith("bz2") else marked_bytes
    )
    items_by_title = {"A": "Q20", "B": "Q21", "D": "Q22", "E": "Q24"}
    read_pages(path, items_by_title, tmp_path / "out")
    assert as_tuples(tmp_path / "out/pages.parquet") == EXPECTED


def test_parquet(tmp_path: Path) -> None:
    full = [dict.fromkeys(("text", "links", "page", "item", "redirect")) | row for row in (
        {"title": "A", "text": "one  two\n\n three", "links": RECORDS[0]["links"], "page": 4},
        {"title": "Z", "text": "z", "item": "Q21"},
        {"title": "C", "redirect": "A"},
    )]  # fmt: skip
    path = exports.parquet(tmp_path / "x.parquet", full)
    read_pages(path, {"A": "Q20", "B": "Q21", "C": "Q22"}, tmp_path / "out", jobs=2)
    page_rows = as_tuples(tmp_path / "out/pages.parquet")
    assert [page_row[:2] for page_row in page_rows] == [("Q20", "A"), ("Q21", "Z"), ("Q22", "A")]
    assert page_rows[0][4] == EXPECTED[0][4]
    second_folder = tmp_path / "again"
    read_pages(tmp_path / "out/pages.parquet", {"A": "Q20", "Z": "Q21"}, second_folder)
    assert as_tuples(second_folder / "pages.parquet") == page_rows[:2]


def test_a_folder_without_its_index(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    name = "enwiki-20260101-pages-articles-multistream"
    exports.write(folder / f"{name}.xml.bz2", multistream(PAGES, 3))
    index = bz2.compress(b"613:1:Jane Roe\n")
    exports.write(folder / f"{name}-index.txt.bz2", index)
    for page_files in (folder, str(folder / "*.bz2")):
        read_pages(page_files, {"Club": "Q1"}, tmp_path / "out")
        assert column_of(rows(tmp_path / "out/pages.parquet"), "title") == ["Club"]


def test_row_groups_are_small(tmp_path: Path) -> None:
    long_text = "\n\n".join(["x" * 900_000] * 4)
    pages = [page(f"P{name}", f"{long_text} {name}", number=name) for name in range(12)]
    path = exports.write(tmp_path / "x.xml", export(pages))
    read_pages(path, {f"P{name}": f"Q{name + 1}" for name in range(12)}, tmp_path / "out")
    file = pq.ParquetFile(tmp_path / "out/pages.parquet")
    sizes = [file.metadata.row_group(name).total_byte_size for name in range(file.num_row_groups)]
    assert file.metadata.num_rows == 12
    assert len(sizes) == 3 and max(sizes) < 64 << 20


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = MAKE["streams cut anywhere"](tmp_path)
    read_pages(path, WANTED, tmp_path / "whole", targets=TARGETS)
    read = 0

    def count(*page_files: Any) -> None:
        nonlocal read
        read += 1
        if read == 8:
            raise KeyboardInterrupt
        write_part(*page_files)

    monkeypatch.setattr("factdrift.builders.wikipedia.read.write_part", count)
    with pytest.raises(UserError, match="stopped"):
        read_pages(path, WANTED, tmp_path / "out", targets=TARGETS, work=tmp_path / "work")
    read = 100
    read_pages(path, WANTED, tmp_path / "out", targets=TARGETS, work=tmp_path / "work")
    read_again = read - 100
    read = 100
    read_pages(path, WANTED, tmp_path / "anew", targets=TARGETS)
    monkeypatch.undo()
    assert read_again < read - 100
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def test_titles_are_found_by_hash(tmp_path: Path) -> None:
    from factdrift.builders.wikipedia.titles import title_hash

    titles = Titles.of((f"title {name}", f"Q{name + 1}") for name in range(5000))
    titles.save(tmp_path / "t.npy")
    back = Titles.load(tmp_path / "t.npy")
    assert len(back.hashes) == 5000
    for name in range(5000):
        assert back.find(title_hash(f"Title {name}")) == name + 1
    assert back.find(title_hash("Title 5000")) == -1 and back.find(0) == -1
    assert back.find(2**64 - 1) == -1
    assert back.has_item(5000) and not back.has_item(5001)
    assert Titles.of({}).find(1) == -1


def test_a_real_dump_of_another_wiki(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "wikidata/samples/pages-articles-2020-minidump.xml.bz2"
    assert read_pages(path, {"Q74056970": "Q74056970"}, tmp_path) == 47
    assert rows(tmp_path / "pages.parquet") == []
