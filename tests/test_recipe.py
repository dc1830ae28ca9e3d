"""The inputs of a run: which files each kind names, of what day, and what is refused."""

import hashlib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from builders.errors import UserError
from builders.recipe import Recipe, find_inputs
from builders.release.release import Options, rebuild
from builders.run import Run
from builders.store import Store
from builders.wmt.corpus import articles

DUMP = "enwiki-20260201-pages-articles-multistream"
NAMES = (
    "news/news-docs.2019.en.filtered.gz",
    "news/news-docs.2020.en.filtered.gz",
    "more/news-docs.2021.en.filtered.gz",
    "undated.jsonl",
    "news-20201939.jsonl",
    "ids.txt.gz",
    "ids-2031.txt.gz",
    f"wiki/{DUMP}.xml.bz2",
    f"wiki/{DUMP}-index.txt.bz2",
    "wikidata-20260202-all.json.gz",
    "trex/P19.jsonl",
    "trex/P36.jsonl",
    "P6.jsonl",
)
NEWS = [f"news/news-docs.{year}.en.filtered.gz" for year in (2019, 2020)]
PAGES = [f"wiki/{DUMP}.xml.bz2"]
WIKIDATA = "wikidata-20260202-all.json.gz"
TREX = ["P6.jsonl", "trex/P19.jsonl", "trex/P36.jsonl"]
PAPER: dict[str, dict[str, Any]] = {
    "news": {"kind": "news"},
    "keep": {"kind": "file", "optional": True},
    "dump": {"optional": True},
}
KEEP_FIRST: dict[str, dict[str, Any]] = {"keep": {"kind": "file"}, "news": {"kind": "news"}}
WIKI = {"dump": {}, "pages": {"kind": "pages"}}
ONLY_PAGES = {"pages": {"kind": "pages"}}
ONLY_TREX = {"trex": {"kind": "file"}}
SHA = hashlib.sha256(b"").hexdigest()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with empty files of every kind, the current one."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recipe(inputs: dict[str, dict[str, Any]]) -> Recipe:
    about = {"title": "t", "summary": "s", "licence": "CC0-1.0", "version": "auto"}
    named = {name: {"licence": "CC0-1.0", **one} for name, one in inputs.items()}
    build = {"builder": "wmt-question-dates"}
    return Recipe.model_validate({"dataset": "x", **about, "inputs": named, "build": build})


Found = dict[str, tuple[list[str], str]]
FOUND: dict[str, tuple[dict[str, Any], dict[str, list[str]], str | None, Found]] = {
    "a list to keep has the day of the news": (
        PAPER,
        {"news": ["news"], "keep": ["ids.txt.gz"]},
        None,
        {"news": (NEWS, "2020-12-31"), "keep": (["ids.txt.gz"], "2020-12-31")},
    ),
    "a year in its name is not its day": (
        PAPER,
        {"news": NEWS, "keep": ["ids-2031.txt.gz"]},
        None,
        {"news": (NEWS, "2020-12-31"), "keep": (["ids-2031.txt.gz"], "2020-12-31")},
    ),
    "a day that is given is of the news, where there is no dump": (
        PAPER,
        {"news": ["undated.jsonl"], "keep": ["ids.txt.gz"]},
        "2020-06-30",
        {"news": (["undated.jsonl"], "2020-06-30"), "keep": (["ids.txt.gz"], "2020-06-30")},
    ),
    "whichever the recipe names first": (
        KEEP_FIRST,
        {"news": ["undated.jsonl"], "keep": ["ids.txt.gz"]},
        "2020-06-30",
        {"news": (["undated.jsonl"], "2020-06-30"), "keep": (["ids.txt.gz"], "2020-06-30")},
    ),
    "a day that the recipe says of the list": (
        {
            "news": {"kind": "news", "path": "news"},
            "keep": {"kind": "file", "path": "ids.txt.gz", "snapshot": "2012-01-01"},
        },
        {},
        None,
        {"news": (NEWS, "2020-12-31"), "keep": (["ids.txt.gz"], "2012-01-01")},
    ),
    "news in a folder and beside it": (
        {"news": {"kind": "news"}},
        {"news": ["news", "more/*.gz"]},
        None,
        {"news": ([*NEWS, "more/news-docs.2021.en.filtered.gz"], "2021-12-31")},
    ),
    "a folder of pages, without the index": (
        WIKI,
        {"dump": [WIKIDATA], "pages": ["wiki"]},
        None,
        {"dump": ([WIKIDATA], "2026-02-02"), "pages": (PAGES, "2026-02-01")},
    ),
    "a glob of pages": (
        ONLY_PAGES,
        {"pages": ["wiki/*.bz2"]},
        None,
        {"pages": (PAGES, "2026-02-01")},
    ),
    "pages with their index": (
        ONLY_PAGES,
        {"pages": [f"wiki/{DUMP}.xml.bz2", f"wiki/{DUMP}-index.txt.bz2"]},
        None,
        {"pages": (PAGES, "2026-02-01")},
    ),
    "pages given twice": (ONLY_PAGES, {"pages": PAGES * 2}, None, {"pages": (PAGES, "2026-02-01")}),
    "a file and a folder": (
        ONLY_TREX,
        {"trex": ["P6.jsonl", "trex"]},
        "2019-01-01",
        {"trex": (TREX, "2019-01-01")},
    ),
    "a checksum that is right, of each kind": (
        {
            "news": {"kind": "news", "path": "more", "sha256": SHA},
            "pages": {"kind": "pages", "path": "wiki", "sha256": SHA},
            "keep": {"kind": "file", "path": "ids.txt.gz", "sha256": SHA},
        },
        {},
        None,
        {
            "news": (["more/news-docs.2021.en.filtered.gz"], "2021-12-31"),
            "pages": (PAGES, "2026-02-01"),
            "keep": (["ids.txt.gz"], "2026-02-01"),
        },
    ),
    "a checksum is of the file that the recipe names": (
        {"news": {"kind": "news", "path": "news", "sha256": "0" * 64}},
        {"news": ["more"]},
        None,
        {"news": (["more/news-docs.2021.en.filtered.gz"], "2021-12-31")},
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_files_and_days(name: str, folder: Path) -> None:
    inputs, given, snapshot, expected = FOUND[name]
    store = Store(folder / "build", lambda _: None)
    found = find_inputs(recipe(inputs), Path("x.yaml"), given, snapshot, store)
    assert {
        n: ([f.as_posix() for f in s.files], s.snapshot.isoformat()) for n, s in found.items()
    } == expected
    assert all(source.sha256 == (SHA,) * len(source.files) for source in found.values())


REFUSED: dict[str, tuple[dict[str, Any], dict[str, list[str]], str]] = {
    "T-REx alone, without a day": (ONLY_TREX, {"trex": ["trex"]}, "--snapshot-date"),
    "no day of the calendar": (
        {"news": {"kind": "news"}},
        {"news": ["news-20201939.jsonl"]},
        "news-20201939.jsonl: 20201939 in its name is not a day",
    ),
    "an index alone": (
        ONLY_PAGES,
        {"pages": [f"wiki/{DUMP}-index.txt.bz2"]},
        "the index of a dump",
    ),
    "a glob of nothing": (ONLY_PAGES, {"pages": ["wiki/*.7z"]}, "no such file"),
    "a folder without pages": (ONLY_PAGES, {"pages": ["news"]}, "no file of pages"),
    **{
        f"another checksum of {kind}": (
            {"one": {"kind": kind, "path": path, "sha256": "0" * 64}},
            {},
            f"input 'one': sha256 is {SHA}, the recipe says 000",
        )
        for kind, path in (
            ("wikidata", WIKIDATA),
            ("news", "more"),
            ("pages", "wiki"),
            ("file", "P6.jsonl"),
            ("gold", "P6.jsonl"),
        )
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, folder: Path) -> None:
    inputs, given, said = REFUSED[name]
    store = Store(folder / "build", lambda _: None)
    with pytest.raises(UserError) as error:
        find_inputs(recipe(inputs), Path("x.yaml"), given, None, store)
    assert said in str(error.value)


def test_several_lists_to_keep_are_refused(folder: Path) -> None:
    store = Store(folder / "build", lambda _: None)
    given = {"news": ["news"], "keep": ["ids*.txt.gz"]}
    found = find_inputs(recipe(PAPER), Path("x.yaml"), given, None, store)
    run = Run(folder, found, folder, store, "duckdb", 1, "1GB", 0)
    with pytest.raises(UserError, match="one list of articles to keep"):
        articles(run, None)


REBUILT: dict[str, tuple[dict[str, Any], dict[str, list[str]], str | None, str]] = {
    "nothing given": ({"news": {"kind": "news", "path": "news"}}, {}, None, ""),
    "several files": (
        {"news": {"kind": "news"}},
        {"news": NEWS},
        None,
        " NEWS='news-docs.2019.en.filtered.gz news-docs.2020.en.filtered.gz'",
    ),
    "a day that no name says": (
        ONLY_TREX,
        {"trex": ["P6.jsonl", "trex/"]},
        "2019-01-01",
        " TREX='P6.jsonl trex' SNAPSHOT=2019-01-01",
    ),
    "a day that its name says": (
        {"dump": {}},
        {"dump": [WIKIDATA]},
        "2026-02-02",
        f" DUMP={WIKIDATA}",
    ),
    "another day than its name says": (
        {"dump": {}},
        {"dump": [WIKIDATA]},
        "2026-02-03",
        f" DUMP={WIKIDATA} SNAPSHOT=2026-02-03",
    ),
}


@pytest.mark.parametrize("name", REBUILT)
def test_the_command_that_makes_it_again(name: str, folder: Path) -> None:
    inputs, relative, snapshot, expected = REBUILT[name]
    given = {i: [str(folder / path) for path in paths] for i, paths in relative.items()}
    made, path = recipe(inputs), folder / "x.yaml"
    store = Store(folder / "build", lambda _: None)
    options = Options(
        given=given,
        snapshot=snapshot,
        version=None,
        out=folder,
        build=store.root,
        templates=folder,
        engine="duckdb",
        jobs=1,
        memory="1GB",
        say=store.say,
    )
    found = find_inputs(made, path, given, snapshot, store)
    run = Run(path, found, folder, store, "duckdb", 1, "1GB", 0)
    assert rebuild(path, made, options, run) == f"make release RECIPE=x.yaml{expected}"
    assert date.fromisoformat(snapshot or "2020-12-31") == max(s.snapshot for s in found.values())
