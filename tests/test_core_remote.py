"""Inputs that lie elsewhere, fetched from a local server or by fsspec."""

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from factdrift.builders.core import addresses, remote
from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.http import RetryError, RetryPolicy
from factdrift.builders.core.inputs import (
    gather,
    is_remote,
    without_day,
    words,
)
from factdrift.builders.core.remote import _errors, local
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import find_inputs, find_recipe, read_recipe
from factdrift.builders.release.release import ReleaseOptions, rebuild_command
from tests.file_server import ServedFiles, serve_files
from tests.tables import case_lists, names_of

QUICK = RetryPolicy(timeout=5.0, attempts=3, first_wait=0.01, longest_wait=0.05)
# 5 MB, many pieces of a fetch, in which a byte at a wrong place shows
DATA = bytes(range(256)) * 20_000
CASES = case_lists("remote_faults")
SECRET = "s3cr3t"  # noqa: S105 - nobody's
LARGE, SMALL = "/dump/a 1.json.gz", "/dump/b.json.gz"


@pytest.fixture
def served() -> Iterator[ServedFiles]:
    with serve_files() as file_server:
        file_server.files = {LARGE: DATA, SMALL: b"b" * 1000}
        yield file_server


def fetch(given: list[str], folder: Path, **more: Any) -> list[bytes]:
    fetch_options = {"say": lambda _: None, "policy": QUICK, **more}
    paths = local(given, folder, lambda name: name.endswith(".gz"), **fetch_options)
    return [Path(path).read_bytes() for path in paths]


@pytest.mark.parametrize(("text", "shown"), CASES["shown"])
def test_what_may_be_a_key_is_not_shown(text: str, shown: str) -> None:
    assert without_credentials(text) == shown
    assert is_remote(text) is ("://" in text)


def test_addresses_among_paths() -> None:
    dated_address = "https://me:pw@host/a.json@2020-12-31"
    assert without_day([dated_address]) == (
        [dated_address.removesuffix("@2020-12-31")],
        "2020-12-31",
    )
    assert words("https://host/a.gz?x='1'&y=2") == ["https://host/a.gz?x='1'&y=2"]
    assert words("s3://b/a.gz s3://b/c.gz") == ["s3://b/a.gz", "s3://b/c.gz"]
    with pytest.raises(UserError) as raised_error:
        gather({}, [f"https://me:{SECRET}@host/a.gz?sig={SECRET}"], strict=False)
    assert SECRET not in str(raised_error.value)


@pytest.mark.parametrize(("faults", "asked"), CASES["files"])
def test_a_file_of_a_web_server(
    faults: list[int | str], asked: list[str], served: ServedFiles, tmp_path: Path
) -> None:
    served.faults[LARGE] = faults
    assert fetch([f"{served.url}/dump/a%201.json.gz"], tmp_path) == [DATA]
    assert names_of(tmp_path.rglob("*.gz")) == ["a 1.json.gz"]
    assert not list(tmp_path.rglob(".*.part"))
    made_requests = [line.replace(f" {LARGE}", "") for line in served.asked]
    assert [line[: len(start)] for line, start in zip(made_requests, asked, strict=True)] == asked


@pytest.mark.parametrize(("drips", "tries"), [(2, 7), (9, 3)])
def test_what_drips_is_asked_for_again(
    drips: int, tries: int, served: ServedFiles, tmp_path: Path
) -> None:
    """A byte now and then does not begin the policy anew."""
    served.faults[LARGE] = ["ok", *["drip"] * drips]
    policy = replace(QUICK, timeout=0.5, attempts=tries, least_bytes=1000)
    given_addresses = [f"{served.url}/dump/a%201.json.gz"]
    too_slow = pytest.raises(UserError, match=f"still too slow: (.|\\s)* after {tries} attempts")
    with nullcontext() if drips < tries else too_slow:
        assert fetch(given_addresses, tmp_path, policy=policy) == [DATA]


@pytest.mark.parametrize(("least", "done"), [(500, True), (501, False)])
def test_so_many_bytes_begin_the_policy_anew(
    least: int, done: bool, served: ServedFiles, tmp_path: Path
) -> None:
    served.faults[SMALL] = ["ok", "cut"]  # half of 1,000 bytes, then the rest
    policy = replace(QUICK, attempts=1, least_bytes=least)
    with nullcontext() if done else pytest.raises(UserError, match="after 1 attempt"):
        assert fetch([served.url + SMALL], tmp_path, policy=policy)


def test_what_is_there_is_taken_up_while_it_is_the_same(
    served: ServedFiles, tmp_path: Path
) -> None:
    file_address = f"{served.url}{SMALL}"
    assert fetch([file_address], tmp_path) == [b"b" * 1000]
    assert fetch([f"{file_address}?sig={SECRET}"], tmp_path) == [b"b" * 1000]
    assert len(served.asked) == 3  # one look the second time
    served.files[SMALL] = b"c" * 1000
    assert fetch([file_address], tmp_path) == [b"c" * 1000]
    kept_text = "".join(
        str(kept_file) + kept_file.read_text("latin-1")
        for kept_file in tmp_path.rglob("*")
        if kept_file.is_file()
    )
    assert SECRET not in kept_text
    with pytest.raises(UserError, match="differ only"):
        fetch([f"{file_address}?v=1", f"{file_address}?v=2"], tmp_path)


def test_a_stopped_fetch_goes_on(served: ServedFiles, tmp_path: Path) -> None:
    file_address = f"{served.url}/dump/a%201.json.gz"
    served.faults[LARGE] = ["ok", "cut", 404]
    with pytest.raises(UserError, match="no such file"):
        fetch([file_address], tmp_path)
    (part,) = tmp_path.rglob(".*.part")
    half = part.stat().st_size
    assert DATA.startswith(part.read_bytes()) and half
    assert fetch([file_address], tmp_path) == [DATA]
    assert served.asked[-1] == f"GET {LARGE} bytes={half}-"
    part.with_name("a 1.json.gz").rename(part)  # killed before its last step
    assert fetch([file_address], tmp_path) == [DATA]
    served.faults[LARGE] = ["ok", "cut", 404]
    served.files[LARGE] = DATA[:-1]
    with pytest.raises(UserError):
        fetch([file_address], tmp_path)
    served.files[LARGE] = DATA[::-1]  # another file takes the place of half of one
    assert fetch([file_address], tmp_path) == [DATA[::-1]]


@pytest.mark.parametrize(("path", "faults", "expected"), CASES["refusals"])
def test_what_cannot_be_fetched_is_told_without_keys(
    path: str,
    faults: list[int | str],
    expected: str,
    served: ServedFiles,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    served.faults[path] = faults
    url = path if path.startswith("http") else served.url + path
    with pytest.raises(UserError) as raised_error:
        fetch([f"{url.replace('://', f'://me:{SECRET}@')}?sig={SECRET}"], tmp_path)
    assert expected in str(raised_error.value)
    assert SECRET not in str(raised_error.value) + "".join(capfd.readouterr())
    assert not list(tmp_path.rglob("*.gz"))


def test_a_release_of_inputs_elsewhere_is_that_of_the_files(
    served: ServedFiles, tmp_path: Path
) -> None:
    folder = resource("samples/wikidata")
    dump = next(path for path in sorted(folder.iterdir()) if path.name.endswith(".json.gz"))
    served.files[f"/w/{dump.name}"] = dump.read_bytes()
    path = find_recipe("temporal-facts")
    recipe = read_recipe(path)
    store = Workspace(tmp_path / "build", lambda _: None)
    url = f"{served.url.replace('://', f'://me:{SECRET}@')}/w/{dump.name}?sig={SECRET}"
    here = find_inputs(recipe, path, {"dump": [str(dump)]}, None, store)
    there = find_inputs(recipe, path, {"dump": [url]}, None, store)
    assert here["dump"].key_data() == there["dump"].key_data()
    release_options = ReleaseOptions(
        given={"dump": [url]}, snapshot=None, build=store.root, say=store.say
    )
    rebuilding_command = rebuild_command(path, recipe, release_options)
    assert rebuilding_command == f"factdrift release temporal-facts --dump {dump.name}"
    kept_text = "".join(kept_file.read_text("latin-1") for kept_file in store.root.rglob("*.json"))
    assert SECRET not in kept_text + json.dumps([str(f) for f in there["dump"].files])
    own = {"dump": recipe.inputs["dump"].model_copy(update={"path": url})}
    mine = recipe.model_copy(update={"inputs": own})
    with pytest.raises(UserError, match="recipes are published") as raised_error:
        find_inputs(mine, tmp_path / "x.yaml", {}, None, store)
    assert SECRET not in str(raised_error.value)


def test_protocols_of_fsspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "BUCKET_SCHEMES", ("memory",))  # a store without a server
    monkeypatch.setattr(remote, "INPUT_SCHEMES", ("memory", "gs"))
    memory = fsspec.filesystem("memory")
    memory.pipe({"/here/a.gz": DATA, "/here/b.gz": b"b", "/here/deep/gold.gz": b"g"})
    try:
        assert fetch(["memory://here/a.gz"], tmp_path) == [DATA]
        assert fetch(["memory://here/"], tmp_path) == [DATA, b"b"]
        assert fetch(["memory://here/"], tmp_path, deep=True) == [DATA, b"b", b"g"]
        assert fetch(["memory://here/b*"], tmp_path) == [b"b"]
        memory.pipe({"/here/a.gz": DATA[::-1]})
        assert fetch(["memory://here/[a]*"], tmp_path) == [DATA[::-1]]
        for name, expected_message in (
            ("none.gz", "no such file"),
            ("*.zst", "no file of this pattern"),
            ("deep", "this is a folder"),
            ("deep/no/", "no file of this kind"),
        ):
            with pytest.raises(UserError, match=expected_message):
                fetch([f"memory://here/{name}"], tmp_path)
    finally:
        memory.rm("/here", recursive=True)
    (tmp_path / "own.gz").write_bytes(b"own")
    assert fetch([f"file://{tmp_path}/own.gz"], tmp_path) == [b"own"]
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(UserError, match=r"gs://bucket/a.gz: a package is needed(.|\s)*gcsfs"):
        fetch([f"gs://me:{SECRET}@bucket/a.gz"], tmp_path)


@pytest.mark.parametrize("scheme", ["nosuch", "local", "dir", "reference", "simplecache", "ftp"])
def test_other_protocols_are_refused(tmp_path: Path, scheme: str) -> None:
    with pytest.raises(UserError, match=f"{scheme}:// is not read here"):
        fetch([f"{scheme}:///etc/hostname"], tmp_path)


class _TokenError(Exception):
    """As the packages of fsspec have errors of their own."""


class _NoCredentialsError(Exception):
    """As botocore has it."""


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (ConnectionResetError(), RetryError),
        (EOFError(), RetryError),
        (_TokenError(SECRET), RetryError),
        (_NoCredentialsError(SECRET), UserError),
        (PermissionError(SECRET), UserError),
        (FileNotFoundError(SECRET), UserError),
        (KeyError("a bug"), KeyError),
    ],
)
def test_what_packages_raise_is_tried_again_and_a_bug_is_not(
    raised: Exception, becomes: type[Exception]
) -> None:
    with pytest.raises(becomes) as raised_error, _errors("s3://bucket/a"):
        raise raised
    assert SECRET not in str(raised_error.value)
