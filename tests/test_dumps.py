"""Which days publishers have dumps of, and inputs named by days, from a server like theirs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from factdrift.builders.core import listings, remote
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.http import RetryPolicy
from factdrift.builders.core.inputs import Kind
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes import dumps
from factdrift.builders.recipes.dumps import (
    PUBLISHERS,
    find_addresses,
    published_checksum,
    resolve_inputs,
)
from factdrift.builders.recipes.recipe import fetched, find_inputs, find_recipe, read_recipe
from factdrift.builders.release.release import (
    ReleaseOptions,
    rebuild_command,
    with_days_found,
)
from tests.conftest import run_cli
from tests.dump_server import NEWS, WIKIDATA, DumpServer, serve_dumps

QUICK = RetryPolicy(timeout=5.0, attempts=2, first_wait=0.01, longest_wait=0.05)
STREAM = "pages-articles-multistream.xml.bz2"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DumpServer]:
    """Two weeks of Wikidata, of which the last is not finished, two Wikipedias, and news."""
    monkeypatch.setattr(remote.read_whole, "__defaults__", (QUICK,))
    with serve_dumps(monkeypatch) as dump_server:
        dump_server.wikidata("20261102", b"older")
        dump_server.wikidata("20261104", b"words", end="lexemes.json.gz")
        dump_server.wikidata("20261109", b"newer")
        dump_server.wikidata("20261116", b"half", sums=False)
        dump_server.list_name(WIKIDATA, "latest-all.json.gz", 5)
        dump_server.wikipedia("enwiki", "20261101", {STREAM: b"pages"})
        dump_server.wikipedia("enwiki", "20261120", {STREAM: b""}, status="in-progress")
        dump_server.wikipedia("zh_yuewiki", "20261101", {STREAM: b"yue"})
        dump_server.news(
            {"news-docs.2019.en.filtered.gz": "1.6G", "news-docs.2020.en.filtered.gz": "311M"}
        )
        yield dump_server


def found(kind: str, word: str, spoken: list[str] | None = None) -> list[str]:
    say = spoken.append if spoken is not None else lambda _: None
    return [Path(address).name for address in find_addresses(kind, [word], say)]  # type: ignore[arg-type]


@pytest.mark.usefixtures("server")
def test_the_command_lists_days_sizes_and_checksums(server: DumpServer) -> None:
    lines = run_cli("dumps").stdout.splitlines()
    assert lines[0].startswith("Wikidata, all entities as JSON, as --dump 2026-11-09: http://")
    assert lines[1:4] == [
        "  2026-11-16  0.0 MB  no checksum  wikidata-20261116-all.json.gz  "
        "not finished: no checksum is published yet",
        "  2026-11-09  0.0 MB  sha1+md5  wikidata-20261109-all.json.gz",
        "  2026-11-02  0.0 MB  sha1+md5  wikidata-20261102-all.json.gz",
    ]
    assert lines[5].startswith("Wikipedia, articles, as --pages 2026-11-01: ")
    assert lines[6:8] == [
        "  2026-11-20  not finished: its articles are in-progress",
        f"  2026-11-01  0.0 MB  sha1  enwiki-20261101-{STREAM}",
    ]
    assert "  2020  about 326.1 MB  no checksum  news-docs.2020.en.filtered.gz" in lines

    values = json.loads(run_cli("dumps", "wikipedia", "--wiki", "zh-yue", "--json").stdout)
    assert values["wikipedia"]["option"] is None  # no recipe reads this language
    (dump,) = values["wikipedia"]["dumps"]
    assert dump["day"] == "2026-11-01" and dump["finished"] is True
    folder = f"{server.served.url}/zh_yuewiki/20261101/"
    assert dump["files"][0]["address"] == f"{folder}zh_yuewiki-20261101-{STREAM}"
    assert dump["files"][0]["bytes"] == 3 and len(dump["files"][0]["checksums"]["sha1"]) == 40


def test_days_become_addresses(server: DumpServer) -> None:
    spoken: list[str] = []
    assert found("wikidata", "latest", spoken) == ["wikidata-20261109-all.json.gz"]
    assert spoken[0] == "  2026-11-16 is passed over: no checksum is published yet"
    assert spoken[1].startswith("  latest: Wikidata, all entities as JSON, 2026-11-09: http://")
    assert found("wikidata", "2026-11-02") == ["wikidata-20261102-all.json.gz"]
    assert found("wikidata", "2026-11-16", spoken) == ["wikidata-20261116-all.json.gz"]
    assert "cannot be compared" in spoken[-2]
    assert found("pages", "latest") == [f"enwiki-20261101-{STREAM}"]
    assert found("news", "latest") == ["news-docs.2020.en.filtered.gz"]
    assert found("news", "2019") == ["news-docs.2019.en.filtered.gz"]
    assert found("file", "latest") == ["latest"]  # learned times have no publisher
    assert found("wikidata", "2019") == ["2019"]  # a path, for dumps are of days

    server.wikidata("20261126", b"slow", folder="20261123")  # named later than its folder
    assert found("wikidata", "2026-11-26") == ["wikidata-20261126-all.json.gz"]
    assert found("wikidata", "latest") == ["wikidata-20261126-all.json.gz"]
    server.wikidata("20261130", b"small", end="all.json.bz2")
    assert found("wikidata", "latest") == ["wikidata-20261130-all.json.bz2"]
    server.wikidata("20261130", b"large")
    assert found("wikidata", "latest") == ["wikidata-20261130-all.json.gz"]


def test_articles_in_parts(server: DumpServer) -> None:
    """The whole file is taken where it is there, else its parts, and no index of them."""
    parts = {
        "pages-articles-multistream1.xml-p1p41.bz2": b"1",
        "pages-articles-multistream2.xml-p42p99.bz2": b"2",
        "pages-articles-multistream-index1.txt-p1p41.bz2": b"i",
    }
    server.wikipedia("enwiki", "20261125", parts)
    assert found("pages", "latest") == [f"enwiki-20261125-{name}" for name in list(parts)[:2]]
    line = run_cli("dumps", "wikipedia").stdout.splitlines()[1]
    assert line.endswith("enwiki-20261125-pages-articles-multistream1.xml-p1p41.bz2 and 1 more")
    server.wikipedia("enwiki", "20261125", {STREAM: b"12"}, job="articlesmultistreamdumprecombine")
    assert found("pages", "latest") == [f"enwiki-20261125-{STREAM}"]


def test_a_path_of_that_name_is_meant_itself(
    server: DumpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latest").mkdir()
    assert found("wikidata", "latest") == ["latest"]
    assert server.served.asked == []


REFUSED = [
    # kind, word, message
    ("wikidata", "2026-11-08", "no dump of 2026-11-08\n.*2026-11-09, 2026-11-02; `factdrift dumps"),
    ("wikidata", "2026-11-04", "no dump of 2026-11-04\n"),
    ("wikidata", "2030-01-01", "no dump of 2030-01-01\n"),
    ("wikidata", "2026-13-45", "not a day: 2026-13-45\n"),
    (
        "pages",
        "2026-11-20",
        "2026-11-20 is not finished: its articles are in-progress\n.*2026-11-01",
    ),
    ("news", "2021", "no dump of 2021\n.*2020, 2019"),
]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(("kind", "word", "message"), REFUSED)
def test_days_without_a_dump(kind: str, word: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        found(kind, word)


DAMAGED = [
    # path of a listing, what it is (None: not there), kind, message
    (
        WIKIDATA,
        None,
        "wikidata",
        "no dump of Wikidata.* is listed here\n.*FACTDRIFT_DUMPS_WIKIDATA",
    ),
    (WIKIDATA, b"<html><body>moved</body></html>", "wikidata", "no dump of Wikidata"),
    (WIKIDATA, b'<html><pre><a href="20261102/">', "wikidata", "a listing without an end"),
    (WIKIDATA, b"", "wikidata", "a listing without an end"),
    (WIKIDATA, b"\xff\x00" * 9, "wikidata", "a listing without an end"),
    ("/enwiki/20261101/dumpstatus.json", b'{"jobs": {"articlesdump"', "pages", "not the state"),
    ("/enwiki/20261101/dumpstatus.json", b'{"jobs": [1]}', "pages", "not the state of a dump"),
    ("/enwiki/20261101/dumpstatus.json", b"[" * 200_000, "pages", "not the state of a dump"),
    ("/enwiki/20261101/dumpstatus.json", None, "pages", "no dump that is listed is finished"),
    (NEWS, b"<html></html>", "news", "no dump of WMT News Crawl"),
]


@pytest.mark.parametrize(("path", "content", "kind", "message"), DAMAGED)
def test_damaged_listings_are_told(
    server: DumpServer, path: str, content: bytes | None, kind: str, message: str
) -> None:
    del server.served.files[path]
    if content is not None:
        server.served.files[path] = content
    with pytest.raises(UserError, match=message):
        found(kind, "latest")


def test_servers_that_fail(server: DumpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.served.faults[WIKIDATA] = ["cut", "ok"]
    assert found("wikidata", "latest") == ["wikidata-20261109-all.json.gz"]
    server.served.faults[WIKIDATA] = [503, 503]
    with pytest.raises(UserError, match="still HTTP 503 after 2 attempts"):
        found("wikidata", "latest")
    server.served.faults[NEWS] = [401, 401]
    with pytest.raises(UserError, match=r"wants a password\n.*FACTDRIFT_DUMPS_NEWS"):
        found("news", "latest")
    ended = run_cli("dumps")  # the others are listed all the same
    assert "WMT News Crawl, English documents: cannot be listed" in ended.stdout
    assert "2026-11-09" in ended.stdout
    server.served.faults[NEWS] = [401]
    assert "wants a password" in run_cli("dumps", "news", ok=False).stderr
    monkeypatch.setattr(listings, "LARGEST_LISTING", 100)
    with pytest.raises(UserError, match="more than 100 bytes"):
        found("wikidata", "latest")
    monkeypatch.setenv("FACTDRIFT_DUMPS_WIKIDATA", "no address")
    assert "not an address" in run_cli("dumps", "wikidata", ok=False).stderr
    assert "did you mean wikidata?" in run_cli("dumps", "wikidat", ok=False).stderr
    assert "not a language" in run_cli("dumps", "wikipedia", "--wiki", "../x", ok=False).stderr


def test_what_comes_is_compared_with_what_is_published(server: DumpServer, tmp_path: Path) -> None:
    path = server.wikidata("20261109", b"n" * 5000)
    address = server.served.url + path
    stated = published_checksum(address, lambda _: None)
    assert stated and stated.algorithm == "sha1"
    fetched("wikidata", [address], tmp_path, lambda _: None)
    server.served.files[path] = b"m" * 5000  # and what is stated stays
    with pytest.raises(UserError, match=r"has the sha1 .* says [0-9a-f]{40}: .*\n.*anew"):
        fetched("wikidata", [address], tmp_path, lambda _: None)
    assert not list(tmp_path.rglob("*.gz")) and not list(tmp_path.rglob(".*.part"))
    server.served.files[path] = b"n" * 5000
    server.served.faults[path] = ["ok", "cut"]  # the checksum goes on where the file does
    (copy,) = fetched("wikidata", [address], tmp_path, lambda _: None)
    assert Path(copy).read_bytes() == b"n" * 5000
    pages = find_addresses("pages", ["latest"], lambda _: None)
    assert published_checksum(pages[0], lambda _: None) is not None
    assert published_checksum(f"{server.served.url}/else.gz", lambda _: None) is None


def test_latest_never_reaches_a_release(server: DumpServer, tmp_path: Path) -> None:
    sample = find_recipe("temporal-facts")
    recipe = read_recipe(sample)
    spoken: list[str] = []
    options = ReleaseOptions(
        given={"dump": ["latest"], "older": ["2026-11-02"]}, build=tmp_path, say=spoken.append
    )
    options = with_days_found(options, {sample: recipe})
    newer, older = (f"wikidata-{day}-all.json.gz" for day in ("20261109", "20261102"))
    command = f"factdrift release temporal-facts --dump {newer} --older {older}"
    assert rebuild_command(sample, recipe, options) == command
    workspace = Workspace(tmp_path, lambda _: None)
    sources = find_inputs(recipe, sample, options.given, None, workspace)
    assert {name: str(source.snapshot) for name, source in sources.items()} == {
        "dump": "2026-11-09",
        "older": "2026-11-02",
    }
    assert sources["dump"].files[0].read_bytes() == b"newer"

    dated = recipe.inputs["dump"].model_copy(update={"path": "2026-11-09", "sha256": None})
    own = recipe.model_copy(update={"inputs": {"dump": dated}})
    own_sources = find_inputs(own, tmp_path / "mine.yaml", {}, None, workspace)
    assert own_sources["dump"].key_data() == sources["dump"].key_data()
    never = own.model_copy(update={"inputs": {"dump": dated.model_copy(update={"path": "latest"})}})
    with pytest.raises(UserError, match=r"mine.yaml: .*other rows tomorrow\n.*write the day"):
        find_inputs(never, tmp_path / "mine.yaml", {}, None, workspace)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("wikidata", "dump", "samples/wikidata/wikidata-20260202-all.json.gz"),
        ("wikidata", "older", "samples/wikidata/wikidata-20230102-all.json.gz"),
        ("wikidata", "mine", "samples/wikidata/wikidata-20260202-all.json.gz"),
        ("pages", "pages", "samples/wikipedia/enwiki-20260201-pages-articles-multistream.xml.bz2"),
        ("news", "news", "samples/news"),
        ("file", "keep", None),
        ("gold", "gold", None),
    ],
)
def test_sample_names_our_own_files(
    kind: Kind, name: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a network, in any folder; a path of that name is meant itself."""
    monkeypatch.chdir(tmp_path)
    path = "sample" if expected is None else str(resource(expected))
    assert resolve_inputs({name: ["sample"]}, {name: kind}, pytest.fail) == {name: [path]}
    assert expected is None or Path(path).exists()
    (tmp_path / "sample").touch()
    assert resolve_inputs({name: ["sample"]}, {name: kind}, pytest.fail) == {name: ["sample"]}


def test_a_recipe_and_mine_read_the_sample(tmp_path: Path) -> None:
    sample = find_recipe("temporal-facts")
    recipe = read_recipe(sample)
    inputs = {
        name: recipe_input.model_copy(update={"path": "sample", "sha256": None})
        for name, recipe_input in recipe.inputs.items()
        if recipe_input.path
    }
    workspace = Workspace(tmp_path, lambda _: None)
    own = recipe.model_copy(update={"inputs": inputs})
    sources = find_inputs(own, tmp_path / "mine.yaml", {}, None, workspace)
    bundled = find_inputs(recipe, sample, {}, None, workspace)
    assert {name: source.sha256 for name, source in sources.items()} == {
        name: source.sha256 for name, source in bundled.items()
    }
    out = tmp_path / "mined"
    mined = run_cli("mine", "sample", "--out", out, cwd=tmp_path)
    assert "statements of 2026-02-02" in mined.stderr and (out / "statements.parquet").is_file()


FORMS = [
    # a line of a listing as another server writes it, and the size that is read
    ('<img src="/f.gif"> <a href="A.gz">A.gz</a>   2026-11-12 04:31   12K', 12288),
    ('<td><a href="./A.gz">A.gz</a></td><td>12-Nov-2026 04:31:09</td><td>812</td>', 812),
    ('<li><a href="A.gz">A.gz</a></li>', None),
    ('<a href="/mirror/dumps/A.gz">A.gz</a> 12-Nov-2026 04:31 -', None),
    ('<a href="https://cdn.example/x/A.gz?sig=1">A.gz</a>', None),
    ('<a href="?C=M;O=A">Last modified</a><a href="../">up</a><a href="A.gz">a</a>', None),
]


@pytest.mark.parametrize(("line", "size"), FORMS)
def test_listings_of_mirrors(server: DumpServer, line: str, size: int | None) -> None:
    server.served.files["/m/"] = f"<html><body>{line}</body></html>".encode()
    listed = listings.read_listing(f"{server.served.url}/m/", lambda _: None)
    assert [(entry.name, entry.size) for entry in listed if entry.name == "A.gz"] == [
        ("A.gz", size)
    ]
    assert not {entry.name for entry in listed} & {"../", "?C=M;O=A", ""}


def test_addresses_of_the_publishers_are_those_that_they_document() -> None:
    listings_by_name = {name: publisher.listing() for name, publisher in PUBLISHERS.items()}
    assert listings_by_name == {
        "wikidata": "https://dumps.wikimedia.org/wikidatawiki/entities/",
        "wikipedia": "https://dumps.wikimedia.org/enwiki/",
        "news": "https://data.statmt.org/news-crawl/doc/en/",
    }
    variables = [publisher.variable for publisher in PUBLISHERS.values()]
    assert all(name.startswith("FACTDRIFT_DUMPS_") for name in variables)
    assert dumps.LATEST == "latest"
