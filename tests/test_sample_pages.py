"""The bundled Wikipedia sample: committed dump, its text, and what a release needs of it."""

import bz2
import gzip
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from samples.wikipedia import make
from tests.tables import names_of

HERE = Path(make.__file__).parent
ITEMS = HERE.parent / "wikidata" / "wikidata-20260202-all.json.gz"
NO_ITEM = "Transfers & loans in football"
DISAMBIGUATION = "Milan (disambiguation)"
EMPTY = "Craig Ferguson"
PAGES = make.read_all(HERE / "text")
CONTENT = [
    page
    for page in PAGES
    if page.text and not (page.redirect or page.namespace)
    if page.title not in (NO_ITEM, DISAMBIGUATION)
]


def items() -> dict[str, Any]:
    """Claims by English sitelink, of every item of the sample that has one."""
    entities = {}
    with gzip.open(ITEMS, "rt", encoding="utf-8") as lines:
        for line in lines:
            entity = {} if line[0] in "[]" else json.loads(line.strip().rstrip(","))
            if title := (entity.get("sitelinks") or {}).get("enwiki", {}).get("title"):
                entities[title] = entity["claims"] or {}
    return entities


def test_dump_is_what_the_text_gives() -> None:
    dump_files = make.dump()
    assert sorted(dump_files) == sorted(names_of(HERE.glob("*.bz2")))
    for name, packed in dump_files.items():
        committed = (HERE / name).read_bytes()
        assert bz2.decompress(packed) == bz2.decompress(committed), name
        assert packed == committed, name


def test_index_leads_to_streams_of_at_most_twenty_pages() -> None:
    packed = (HERE / f"{make.NAME}.xml.bz2").read_bytes()
    index = bz2.decompress((HERE / f"{make.NAME}-index.txt.bz2").read_bytes()).decode()
    rows = [line.split(":", 2) for line in index.splitlines()]
    assert [int(page) for _, page, _ in rows] == [page.page for page in PAGES]
    for offset, group in itertools.groupby(rows, key=lambda row: int(row[0])):
        stream = bz2.BZ2Decompressor().decompress(packed[offset:]).decode()
        expected = [(title, page) for _, page, title in group]
        assert len(expected) <= make.PAGES_IN_A_STREAM
        assert re.findall(r"<title>(.*)</title>\s*<ns>\d+</ns>\s*<id>(\d+)", stream) == expected


def test_titles_are_sitelinks_of_the_sample() -> None:
    claims_by_title = items()
    assert len(CONTENT) >= 60
    assert [page.title for page in CONTENT if page.title not in claims_by_title] == []
    assert EMPTY in claims_by_title
    assert NO_ITEM not in claims_by_title


def test_the_odd_pages() -> None:
    by_title = {page.title: page for page in PAGES}
    assert by_title[EMPTY].text == ""
    assert by_title[NO_ITEM].text
    assert "{{disambiguation" in by_title[DISAMBIGUATION].text
    assert [page.title for page in PAGES if page.namespace] == ["Talk:Cristiano Ronaldo"]
    redirects = {page.title: page.redirect for page in PAGES if page.redirect}
    assert redirects == {
        "Inter Miami": "Inter Miami CF",
        "Inter Miami C.F.": "Inter Miami",
        "MLS All-Decade Team": "List of Major League Soccer all-decade teams",
    }
    assert "Inter Miami CF" in by_title
    assert redirects["MLS All-Decade Team"] not in by_title


def test_every_relation_and_the_years_of_its_segments() -> None:
    """Of the years in which a segment begins or ends 95 % stand on the subject's page."""
    claims_by_title, relations, years = items(), set(), []
    for page in CONTENT:
        histories = 0
        for relation, statements in claims_by_title[page.title].items():
            dated = [
                re.match(r"\+(\d{4})", point["datavalue"]["value"]["time"])
                for statement in statements
                for name in ("P580", "P582")
                for point in statement.get("qualifiers", {}).get(name, [])
                if point["snaktype"] == "value"
            ]
            if relation == "P31" or len(statements) < 2 or not dated:
                continue
            histories += 1
            relations.add(relation)
            years += [match[1] in page.text for match in dated if match]
        assert histories, page.title
    assert len(relations) == 16
    assert sum(years) >= 0.95 * len(years)


HEAD = "---\ntitle: A\npage: 1\nrevision: 2\ntimestamp: 2026-01-01T00:00:00Z\n---\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": "Text"}, "a.wiki: expected"),
        ({"a": HEAD.replace(": A", ": [A]")}, "a.wiki: expected"),
        ({"a": HEAD, "b": HEAD.replace("page: 1", "page: 2")}, "the same title"),
        ({"a": HEAD, "b": HEAD.replace(": A", ": B")}, "the same page"),
    ],
)
def test_mistakes_name_the_file(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (tmp_path / f"{name}.wiki").write_text(text, encoding="utf-8")
    with pytest.raises(make.PageError, match=message):
        make.dump(tmp_path)
