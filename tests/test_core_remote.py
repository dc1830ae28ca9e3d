"""Inputs that lie elsewhere, fetched from a local server."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.http import RetryError, RetryPolicy
from factdrift.builders.core.inputs import gather, is_remote, plain, without_day, words
from factdrift.builders.core.remote import _errors, local
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import find_inputs, find_recipe, read_recipe
from factdrift.builders.release.release import ReleaseOptions, rebuild
from tests.file_server import Files, serving

QUICK = RetryPolicy(timeout=5.0, attempts=3, first_wait=0.01, longest_wait=0.05)
DATA = bytes(range(256)) * 20_000
SECRET = "s3cr3t"  # noqa: S105 - nobody's


@pytest.fixture
def served() -> Iterator[Files]:
    with serving() as files:
        files.files = {
            "/bucket/dump/a 1.json.gz": DATA,
            "/bucket/dump/b.json.gz": b"b" * 1000,
            "/bucket/dump/notes.md": b"no shard",
            "/bucket/gold/streamingqa/gold.parquet": b"gold",
        }
        yield files


def fetch(given: list[str], folder: Path, **more: Any) -> list[bytes]:
    taken = more.pop("taken", lambda name: name.endswith(".gz"))
    paths = local(given, folder, taken, say=lambda _: None, policy=QUICK, **more)
    return [Path(path).read_bytes() for path in paths]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:pw@host:8/a/b.gz?sig=1#x", "https://host:8/a/b.gz"),
        ("https://host/a/b.gz", "https://host/a/b.gz"),
        ("https://me@host", "https://host"),
        ("https://host/a@2020/b.gz?Expires=1&Signature=a/b@c", "https://host/a@2020/b.gz"),
        ("https://host?key=1", "https://host"),
        ("s3://key:secret@bucket/a.gz", "s3://bucket/a.gz"),
        ("a/path?with=marks#.gz", "a/path?with=marks#.gz"),
    ],
)
def test_what_may_be_a_key_is_not_shown(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert is_remote(text) is ("://" in text)


def test_addresses_among_paths() -> None:
    url = "https://me:pw@host/a.json@2020-12-31"
    assert without_day([url]) == ([url.removesuffix("@2020-12-31")], "2020-12-31")
    assert words("https://host/a.gz?x='1'&y=2") == ["https://host/a.gz?x='1'&y=2"]
    assert words("s3://b/a.gz s3://b/c.gz") == ["s3://b/a.gz", "s3://b/c.gz"]
    with pytest.raises(UserError) as told:
        gather({}, [f"https://me:{SECRET}@host/a.gz?sig={SECRET}"], strict=False)
    assert SECRET not in str(told.value)


WELL: dict[str, tuple[list[int | str], list[str]]] = {
    "at once": ([], ["GET", "GET"]),
    "busy, then well": ([503, 503], ["GET"] * 4),
    "cut short, then the rest": (["ok", "cut"], ["GET", "GET", "GET bytes="]),
    "cut short twice": (["ok", "cut", "cut"], ["GET", "GET", "GET bytes=", "GET bytes="]),
    "cut short, then busy": (["ok", "cut", 503, 503], ["GET", "GET", *["GET bytes="] * 3]),
    "cut short, ranges not known": (["ok", "cut", "whole"], ["GET", "GET", "GET bytes="]),
    "cut short, and nothing told of it": (["bare", "bare", "bare"], ["GET"] * 2),
}


@pytest.mark.parametrize("name", WELL)
def test_a_file_of_a_web_server(name: str, served: Files, tmp_path: Path) -> None:
    faults, asked = WELL[name]
    served.faults["/bucket/dump/a 1.json.gz"] = list(faults)
    url = f"{served.url}/bucket/dump/a%201.json.gz"
    assert fetch([url], tmp_path) == [DATA]
    assert [path.name for path in tmp_path.rglob("*.gz")] == ["a 1.json.gz"]
    assert not list(tmp_path.rglob(".*.part"))
    made = [line.replace(" /bucket/dump/a 1.json.gz", "") for line in served.asked]
    assert [line[: len(start)] for line, start in zip(made, asked, strict=True)] == asked


@pytest.mark.parametrize(
    ("path", "drips", "tries", "done"),
    [("a 1.json.gz", 2, 7, True), ("a 1.json.gz", 9, 3, False), ("", 9, 3, False)],
)
def test_what_drips_is_asked_for_again(
    path: str, drips: int, tries: int, done: bool, served: Files, tmp_path: Path
) -> None:
    """A byte now and then does not reset the policy, in a file or in a folder's page."""
    served.faults[f"/bucket/dump/{path}"] = [*["ok"] * bool(path), *["drip"] * drips]
    policy = replace(QUICK, timeout=1.0, attempts=tries, least_bytes=1000)
    given = [f"{served.url}/bucket/dump/{quote(path)}"]
    if done:
        (found,) = local(given, tmp_path, bool, say=lambda _: None, policy=policy)
        assert Path(found).read_bytes() == DATA
        return
    slow = f"still (too slow: |.*[tT]ime)(.|\\s)* after {tries} attempts"
    with pytest.raises(UserError, match=slow):
        local(given, tmp_path, bool, say=lambda _: None, policy=policy)


def test_what_is_there_is_taken_up_while_it_is_the_same(served: Files, tmp_path: Path) -> None:
    url = f"{served.url}/bucket/dump/b.json.gz"
    path = "/bucket/dump/b.json.gz"
    assert fetch([url], tmp_path) == [b"b" * 1000]
    before = served.sent
    assert fetch([f"{url}?sig={SECRET}"], tmp_path) == [b"b" * 1000]
    assert served.sent <= before + 1000  # one look, whose bytes nobody reads
    assert len(served.asked) == 3
    served.files[path] = b"c" * 1000
    assert fetch([url], tmp_path) == [b"c" * 1000]
    kept = "".join(str(p) + p.read_text("latin-1") for p in tmp_path.rglob("*") if p.is_file())
    assert SECRET not in kept


def test_a_stopped_fetch_goes_on(served: Files, tmp_path: Path) -> None:
    url, path = f"{served.url}/bucket/dump/a%201.json.gz", "/bucket/dump/a 1.json.gz"
    served.faults[path] = ["ok", "cut", 404]
    with pytest.raises(UserError, match="no such file"):
        fetch([url], tmp_path)
    (part,) = tmp_path.rglob(".*.part")
    half = part.stat().st_size
    assert DATA.startswith(part.read_bytes()) and half
    assert fetch([url], tmp_path) == [DATA]
    assert served.asked[-1] == f"GET {path} bytes={half}-"
    served.faults[path] = []
    part.with_name("a 1.json.gz").rename(part)  # killed before its last step
    assert fetch([url], tmp_path) == [DATA]


def test_another_file_takes_the_place_of_half_of_one(served: Files, tmp_path: Path) -> None:
    url, path = f"{served.url}/bucket/dump/a%201.json.gz", "/bucket/dump/a 1.json.gz"
    served.faults[path] = ["ok", "cut", 404]
    with pytest.raises(UserError):
        fetch([url], tmp_path)
    served.files[path] = DATA[::-1]
    assert fetch([url], tmp_path) == [DATA[::-1]]


REFUSED: dict[str, tuple[str, list[int | str], str]] = {
    "no such file": ("/bucket/none.gz", [], "no such file (HTTP 404)"),
    "not for you": ("/bucket/dump/b.json.gz", [403], "refuses it (HTTP 403)"),
    "busy for good": ("/bucket/dump/b.json.gz", [503] * 9, "still HTTP 503 after 3 attempts"),
    "cut for good": ("/bucket/dump/b.json.gz", ["ok", *["cut"] * 40], "breaks off"),
    "a teapot": ("/bucket/dump/b.json.gz", [418], "HTTP 418"),
    "no folder": ("/bucket/empty/", [], "no file of this kind in this folder"),
    "no match": ("/bucket/dump/*.zst", [], "no file of this pattern"),
    "no path": ("", [], "no file is named"),
    "no host": ("http://:1/x.gz", [], "not an address"),
    "nobody there": ("http://127.0.0.1:9/x.gz", [], "out of reach"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_fetched_is_told_without_keys(
    name: str, served: Files, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, faults, expected = REFUSED[name]
    served.faults[path] = list(faults)
    host, rest = path.removeprefix("http://").partition("/")[::2]
    url = f"{served.host}{path}" if not path.startswith("http") else f"{host}/{rest}"
    with pytest.raises(UserError) as told:
        fetch([f"http://me:{SECRET}@{url}?sig={SECRET}"], tmp_path)
    assert expected in str(told.value)
    assert SECRET not in str(told.value) + "".join(capfd.readouterr())
    assert not list(tmp_path.rglob("*.gz"))


def test_folders_and_patterns_of_a_web_server(served: Files, tmp_path: Path) -> None:
    folder = f"{served.url}/bucket/dump/"
    assert fetch([folder], tmp_path) == [DATA, b"b" * 1000]
    assert fetch([folder + "*.md"], tmp_path) == [b"no shard"]
    assert fetch([folder + "[ab]*.gz"], tmp_path) == [DATA, b"b" * 1000]
    with pytest.raises(UserError, match="differ only"):
        fetch([f"{folder}b.json.gz?v=1", f"{folder}b.json.gz?v=2"], tmp_path)


def test_a_release_of_inputs_elsewhere_is_that_of_the_files(served: Files, tmp_path: Path) -> None:
    folder = resource("samples/wikidata")
    dump = next(path for path in sorted(folder.iterdir()) if path.name.endswith(".json.gz"))
    served.files[f"/w/{dump.name}"] = dump.read_bytes()
    path = find_recipe("temporal-facts")
    recipe = read_recipe(path)
    store = Workspace(tmp_path / "build", lambda _: None)
    url = f"http://me:{SECRET}@{served.host}/w/{dump.name}?sig={SECRET}"
    here = find_inputs(recipe, path, {"dump": [str(dump)]}, None, store)
    there = find_inputs(recipe, path, {"dump": [url]}, None, store)
    assert here["dump"].key_data() == there["dump"].key_data()
    options = ReleaseOptions(
        given={"dump": [url]}, snapshot=None, templates=tmp_path, build=store.root, say=store.say
    )
    command = rebuild(path, recipe, options, Run(path, there, tmp_path, store, 0))
    assert command == f"factdrift release temporal-facts --dump {dump.name}"
    kept = "".join(p.read_text("latin-1") for p in store.root.rglob("*.json"))
    assert SECRET not in kept + json.dumps([str(f) for f in there["dump"].files])


def test_a_recipe_names_no_keys(tmp_path: Path) -> None:
    text = find_recipe("temporal-facts").read_text("utf-8")
    made = tmp_path / "x.yaml"
    made.write_text(text, "utf-8")
    recipe = read_recipe(made)
    inputs = {"dump": recipe.inputs["dump"].model_copy(update={"path": f"https://h/a?k={SECRET}"})}
    recipe = recipe.model_copy(update={"inputs": inputs})
    with pytest.raises(UserError, match="recipes are published") as told:
        find_inputs(recipe, made, {}, None, Workspace(tmp_path / "build", lambda _: None))
    assert SECRET not in str(told.value)


def test_protocols_of_fsspec(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe({"/here/a.gz": DATA, "/here/b.gz": b"b", "/here/deep/gold.gz": b"g"})
    try:
        assert fetch(["memory://here/a.gz"], tmp_path) == [DATA]
        assert fetch(["memory://here/"], tmp_path) == [DATA, b"b"]
        assert fetch(["memory://here/"], tmp_path, deep=True) == [DATA, b"b", b"g"]
        assert fetch(["memory://here/b*"], tmp_path) == [b"b"]
        with pytest.raises(UserError, match="no such file"):
            fetch(["memory://here/none.gz"], tmp_path)
    finally:
        memory.rm("/here", recursive=True)
    (tmp_path / "own.gz").write_bytes(b"own")
    assert fetch([f"file://{tmp_path}/own.gz"], tmp_path) == [b"own"]


def test_a_protocol_whose_package_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(
        UserError, match=r"gs://bucket/a.gz: a package is needed(.|\s)*install gcsfs"
    ):
        fetch([f"gs://me:{SECRET}@bucket/a.gz"], tmp_path)
    with pytest.raises(UserError, match="nosuch:// is not known"):
        fetch(["nosuch://bucket/a.gz"], tmp_path)


def test_s3(served: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs", reason="pip install 'factdrift[remote]'")
    for name, text in (
        ("AWS_ENDPOINT_URL", served.url),
        ("AWS_ACCESS_KEY_ID", "me"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, text)
    assert fetch(["s3://bucket/dump/b.json.gz"], tmp_path) == [b"b" * 1000]
    assert fetch(["s3://bucket/dump/"], tmp_path) == [DATA, b"b" * 1000]
    assert fetch(["s3://bucket/dump/a*"], tmp_path) == [DATA]
    wanted = {"taken": lambda name: name == "gold.parquet", "deep": True}
    assert fetch(["s3://bucket/gold/"], tmp_path, **wanted) == [b"gold"]
    sent = served.sent
    assert fetch(["s3://bucket/dump/a 1.json.gz"], tmp_path) == [DATA]
    assert served.sent == sent
    served.files["/bucket/dump/a 1.json.gz"] = DATA[::-1]
    served.faults["/bucket/dump/a 1.json.gz"] = [503, "cut"]
    assert fetch(["s3://bucket/dump/a 1.json.gz"], tmp_path) == [DATA[::-1]]
    for path, expected in (("dump/none.gz", "no such file"), ("dump/b.json.gz", "refuses it")):
        served.faults["/bucket/dump/b.json.gz"] = [403] * 3
        with pytest.raises(UserError, match=expected) as told:
            fetch([f"s3://bucket/{path}"], tmp_path)
        assert SECRET not in str(told.value)


class _TokenError(Exception):
    """As the packages of fsspec have errors of their own."""


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (ConnectionResetError(), RetryError),
        (EOFError(), RetryError),
        (_TokenError(SECRET), RetryError),
        (KeyError("a bug"), KeyError),
    ],
)
def test_what_packages_raise_is_tried_again_and_a_bug_is_not(
    raised: Exception, becomes: type[Exception]
) -> None:
    with pytest.raises(becomes) as found, _errors("s3://bucket/a"):
        raise raised
    assert SECRET not in str(found.value)
