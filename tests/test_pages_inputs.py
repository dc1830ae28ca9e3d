"""Files of pages as users give them: what is refused before a dump is mined, and what works."""

import bz2
import json
import shutil
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import find_inputs, find_recipe, read_recipe
from factdrift.builders.release.contexts import restore_contexts
from factdrift.builders.wikipedia.html import html_to_text, is_html
from factdrift.builders.wikipedia.inputs import check_pages
from factdrift.builders.wikipedia.read import read_pages
from tests.conftest import ROOT, run_cli
from tests.exports import export, multistream, page, write
from tests.tables import column_of

DUMP = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"
PAGES = ROOT / "samples/wikipedia/enwiki-20260201-pages-articles-multistream.xml.bz2"
GOOD = [page(f"A {number}", "The town is in the south of the county.") for number in range(400)]
# enough words to tell the language by
GERMAN = "Die Stadt liegt im Süden und hat ein Museum, das viele Besucher anzieht. " * 40
ENGLISH = "The town is one of the oldest in the county, and it has a museum. " * 40


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def parquet(rows: list[dict[str, object]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    parquet_bytes: bytes = sink.getvalue().to_pybytes()
    return parquet_bytes


WEB_PAGE = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>no</body>"
REFUSED = {
    "a 404 page": ("x.xml.bz2", WEB_PAGE, "this is a web page (404 Not Found), not a file of"),
    "a directory listing": ("x.xml", b"<html><body>Index of /</body></html>", "a web page, not"),
    "other XML": ("x.xml", b"<?xml version='1.0'?><feed/>", "this is XML, but no MediaWiki export"),
    "empty": ("x.jsonl", b"", "the file is empty"),
    "cut bz2": ("x.xml.bz2", bz2.compress(export(GOOD))[:-40], "cut short: its end is missing"),
    "cut multistream": ("x.xml.bz2", multistream(GOOD, 5)[:-25], "cut short: its end is missing"),
    "cut XML": ("x.xml", export(GOOD)[:-30], "the file is cut short: its end is missing"),
    "cut JSON": ("x.jsonl", line(title="A", text="b") + b'{"title": "B', "the file is cut short"),
    "cut Parquet": ("x.parquet", parquet([{"title": "A", "text": "b"}])[:-9], "is cut short"),
    "another wiki": (
        "x.xml", export(GOOD).replace(b">enwiki<", b">frwiki<"), "these are pages of frwiki, not"),
    "another language": (
        "x.xml", export(GOOD).replace(b"<dbname>enwiki</dbname>", b"").replace(b'"en"', b'"nl"'),
        "these are pages of nl, not of the English Wikipedia (enwiki)"),
    "another wiki by name": (
        "dewiki-20260201-x.jsonl", line(title="A", text="b"), "these are pages of dewiki"),
    "another folder of the Hub": (
        "20260201.de/train-00000-of-00001.parquet", parquet([{"title": "A", "text": "b"}]),
        "these are pages of de, not"),
    "German lines": ("x.jsonl", line(title="A", text=GERMAN), "do not seem to be English: of"),
    "German Parquet": (
        "x.parquet", parquet([{"title": "A", "text": GERMAN}]), "do not seem to be English"),
    "lines without a title": (
        "x.jsonl", line(titel="A", text="b"), "no field `title` in a line, but text, titel"),
    "Parquet without a title": (
        "x.parquet", parquet([{"name": "A", "text": "b"}]), "no columns `title` and"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_the_run(name: str, tmp_path: Path) -> None:
    file, file_bytes, error_text = REFUSED[name]
    path = write(tmp_path / file, file_bytes)
    with pytest.raises(UserError) as error:
        check_pages([path], date(2026, 2, 1), date(2026, 2, 2), print)
    first_line = str(error.value).split("\n")[0]
    assert error_text in first_line and first_line.startswith(str(path))
    assert "\n  " in str(error.value) or name in ("other XML", "empty", "Parquet without a title")


TAKEN = {
    "XML": ("x.xml", export(GOOD)),
    "bz2": ("x.xml.bz2", bz2.compress(export(GOOD))),
    "multistream": ("x.xml.bz2", multistream(GOOD, 5)),
    "lines": ("x.jsonl", line(title="A", text=ENGLISH)),
    "lines without a last line end": ("x.jsonl", line(title="A", text=ENGLISH)[:-1]),
    "a short text in any language": ("x.jsonl", line(title="A", text="Süden und Norden")),
    "Parquet": ("20260201.en/train-00000-of-00041.parquet", parquet([{"title": "A", "text": "b"}])),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str, tmp_path: Path) -> None:
    file, file_bytes = TAKEN[name]
    path = write(tmp_path / file, file_bytes)
    printed_text: list[str] = []
    check_pages([path], date(2026, 2, 1), date(2026, 2, 2), printed_text.append)
    assert printed_text == []
    check_pages([path], date(2020, 12, 31), date(2026, 2, 2), printed_text.append)
    assert (
        "the pages are of 2020-12-31 and the facts of 2026-02-02, 1,859 days apart"
        in printed_text[0]
    )


def test_the_command_refuses_before_it_mines(tmp_path: Path) -> None:
    path = tmp_path / "enwiki-20260201-pages-articles.xml.bz2"
    path.write_bytes(WEB_PAGE)
    command_words = [
        "--dump",
        DUMP,
        "--pages",
        path,
        "--build",
        tmp_path / "b",
        "--out",
        tmp_path / "r",
    ]
    refused_run = run_cli("release", "timeqa", *command_words, ok=False)
    assert refused_run.returncode == 1
    assert f"error: {path}: this is a web page (404 Not Found)" in refused_run.stderr
    assert "making" not in refused_run.stdout + refused_run.stderr


def test_a_release_that_asks_nothing_says_why(sample: Path, tmp_path: Path) -> None:
    shutil.copytree(sample / "build", tmp_path / "b")
    path = tmp_path / "few-20200101.jsonl"
    path.write_bytes(line(title="No such page", text=ENGLISH))
    command_words = [
        "--dump",
        DUMP,
        "--pages",
        path,
        "--build",
        tmp_path / "b",
        "--out",
        tmp_path / "r",
    ]
    refused_run = run_cli("release", "timeqa", *command_words, ok=False)
    assert refused_run.returncode == 1
    printed_text = refused_run.stderr.split("error: ")[1].split("\n")
    assert (
        printed_text[0].startswith("nothing is left for timeqa: ") and "no_page" in printed_text[0]
    )
    assert printed_text[0].count("no_page") == 1
    assert printed_text[1] == "  no_page: There is no Wikipedia page of this title."
    assert "warning: the pages are of 2020-01-01 and the facts of 2026-02-02" in refused_run.stderr


@pytest.mark.parametrize("layout", ["20260201.en", "20260201.en/train-00000-of-00041.parquet"])
def test_the_layout_of_the_hub(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page_address = "https://en.wikipedia.org/wiki/A"
    row: dict[str, object] = {"id": "12", "url": page_address, "title": "A", "text": "b c\n\nd"}
    write(tmp_path / "20260201.en/train-00000-of-00041.parquet", parquet([row]))
    path = find_recipe("timeqa")
    store = Workspace(tmp_path / "build", lambda _: None)
    inputs = {"dump": [str(DUMP)], "pages": [layout]}
    inputs_found = find_inputs(read_recipe(path), path, inputs, None, store)
    assert inputs_found["pages"].snapshot == date(2026, 2, 1)
    read_pages(layout, {"A": "Q1"}, tmp_path / "out")
    [page_row] = pq.read_table(tmp_path / "out/pages.parquet").to_pylist()
    assert (page_row["page"], column_of(page_row["paragraphs"], "text")) == (
        12,
        ["b c", "d"],
    )


@pytest.mark.parametrize(
    ("text", "lines", "links"),
    [
        ("<p>A &amp; b</p><p>c<br>d</p>", ["A & b", "c", "d"], []),
        ('<p>see <a href="/wiki/Foo_bar#x">it</a></p>', ["see it"], [("it", "Foo bar")]),
        ('<p><a href="https://en.wikipedia.org/wiki/A%26B">x</a></p>', ["x"], [("x", "A&B")]),
        ('<a href="./C">c</a>, <a href="http://x.org">d</a>', ["c, d"], [("c", "C")]),
        ("<head><title>T</title></head><p>a</p><script>x</script>", ["a"], []),
        ("<ul><li>a<li>b</ul>", ["a", "b"], []),
    ],
)
def test_html_is_read_as_text(text: str, lines: list[str], links: list[tuple[str, str]]) -> None:
    assert is_html(text)
    shown_text, inputs_found = html_to_text(text)
    assert [
        line for line in (" ".join(line.split()) for line in shown_text.split("\n")) if line
    ] == lines
    assert [(shown_text[link.start : link.end], link.target) for link in inputs_found] == links


def test_html_in_rows(tmp_path: Path) -> None:
    page_rows = [
        line(title="A", text="<p>one <a href='/wiki/B'>two</a></p>"),
        line(title="B", text="<p>x</p>", links=[{"start": 3, "end": 4, "target": "A"}]),
        line(title="C", paragraphs=["<b>x</b>"]),
        line(title="D", text="a < b and c > d"),
    ]
    (tmp_path / "x.jsonl").write_bytes(b"".join(page_rows))
    items_by_title = {"A": "Q1", "B": "Q2", "C": "Q3", "D": "Q4"}
    read_pages(tmp_path / "x.jsonl", items_by_title, tmp_path / "out")
    page_row = pq.read_table(tmp_path / "out/pages.parquet").to_pylist()
    assert [(paragraph["title"], paragraph["paragraphs"][0]["text"]) for paragraph in page_row] == [
        ("A", "one two"),
        ("D", "a < b and c > d"),
    ]
    assert page_row[0]["paragraphs"][0]["links"] == [{"start": 4, "end": 7, "target": "B"}]
    dropped_rows = pq.read_table(tmp_path / "out/dropped.parquet").to_pylist()
    assert [
        dropped_row["item"] for dropped_row in dropped_rows if dropped_row["reason"] == "html_text"
    ] == [
        "x.jsonl:2",
        "x.jsonl:3",
    ]


def test_the_text_is_put_back(sample: Path, tmp_path: Path) -> None:
    page_row = sample / "releases/timeqa/1.0.0"
    bare = tmp_path / "bare"
    shutil.copytree(page_row, bare)
    split_files = []
    for config_name in ("easy", "hard", "consistency"):
        for split_name in ("train", "test"):
            split_files.append(f"{config_name}/{split_name}.parquet")
    for file in split_files:
        bare_table = pq.read_table(bare / "data" / file)
        place = bare_table.schema.get_field_index("context")
        empty = pa.array([""] * len(bare_table), bare_table.schema.field(place).type)
        bare_table = bare_table.set_column(place, bare_table.schema.field(place), empty)
        pq.write_table(bare_table, bare / "data" / file)
    corpus_folder = tmp_path / "whole"
    corpus_run = run_cli("corpus", PAGES, "--release", bare, "--out", corpus_folder)
    assert corpus_run.stdout == f"{corpus_folder}\n"
    assert "rows with their text" in corpus_run.stderr
    for file in split_files:
        assert pq.read_table(corpus_folder / file).equals(pq.read_table(page_row / "data" / file))
    refused_run = run_cli("corpus", PAGES, "--release", bare, "--out", corpus_folder, ok=False)
    assert "there is something already" in refused_run.stderr
    other_file = tmp_path / "x.jsonl"
    other_file.write_bytes(line(title="No such page", text="x"))
    with pytest.raises(UserError, match="no page is as the release has it") as error:
        restore_contexts(bare, [str(other_file)], tmp_path / "none", jobs=1)
    assert PAGES.name in str(error.value)
    assert not (tmp_path / "none").exists()
