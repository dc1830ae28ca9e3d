"""Releases and recipes of strangers: what each attack tries, and that it is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.release.manifest import load
from tests.conftest import run
from tests.release_sample import publish

SPLIT = "data/unchanged/2021Q3.parquet"
UP = "../../../escaped"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("made")).folder


@pytest.fixture
def release(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "release"))


def edit(release: Path, place: str, value: object) -> None:
    """Set one value of a manifest; `configs.0.name` is its place."""
    path = release / "manifest.json"
    whole = json.loads(path.read_text())
    part: Any = whole
    *inside, last = place.split(".")
    for step in inside:
        part = part[int(step)] if isinstance(part, list) else part[step]
    part[last] = value
    path.write_text(json.dumps(whole))


NAMES = (UP, "..", ".", "", "/tmp/escaped", "a/b", "a\\b", ".hidden", "-o", "a\n", "ä", "x" * 200)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "place", ["dataset", "version", "configs.0.name", "configs.0.splits.0.name"]
)
def test_a_name_that_is_no_name(release: Path, place: str, name: str) -> None:
    edit(release, place, name)
    with pytest.raises(UserError, match=f"broken manifest: {place}: "):
        load(release)


@pytest.mark.parametrize(
    ("place", "value", "refusal"),
    [
        ("configs.0.splits.0.file", UP, "configs.0.splits.0.file: .* not a plain path"),
        ("files.0.path", "/etc/passwd", "files.0.path: .* not a plain path"),
        ("files.0.path", "C:\\x", "files.0.path: .* not a plain path"),
        ("inputs.0.file", UP, "inputs.0.file: .* not a plain path"),
        ("configs.0.roles.prompt", "{{ 7*7 }}", "configs.0.roles.prompt: String should match"),
        ("configs.0.roles.time", ["a) --"], "configs.0.roles.time.0: String should match"),
        ("configs.0.roles.subject", "nobody", "configs.0: roles: there is no column nobody"),
        ("configs.0.roles.shell", "id", "configs.0.roles.shell: Unexpected keyword"),
    ],
)
def test_a_manifest_that_leads_elsewhere(
    release: Path, place: str, value: object, refusal: str
) -> None:
    edit(release, place, value)
    with pytest.raises(UserError, match=f"broken manifest: {refusal}"):
        load(release)


COMMANDS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "verify": lambda r: ("verify", r),
    "export": lambda r: ("export", r, "--format", "templama"),
    "score": lambda r: ("score", r, "--predictions", r / "recipe.yaml"),
    "rebuild": lambda r: ("rebuild", r),
    "diff": lambda r: ("diff", r, r),
    "tasks": lambda r: ("tasks", r, "--for", "lm-eval"),
    "push": lambda r: ("push", r, "--repo", "me/mine", "--dry-run"),
    "corpus": lambda r: ("corpus", "pages.jsonl", "--release", r, "--out", "corpus"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["dataset", "configs.0.name"])
def test_no_command_writes_outside_of_its_folder(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, command: str
) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b/c")
    edit(release, place, UP)
    before = set(tmp_path.rglob("*"))
    said = run(*COMMANDS[command](release), ok=False)
    assert "is not a name" in said.stdout + said.stderr
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["manifest.json", SPLIT, "data/unchanged"])
def test_a_link_is_not_followed(release: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "elsewhere"
    (release / name).rename(target)
    (release / name).symlink_to(target)
    said = run("score", release, "--predictions", release / "recipe.yaml", ok=False)
    assert "is a link, and links are not followed" in said.stderr


@pytest.mark.parametrize(
    "repo", ["mine", "../mine", "me/../mine", "me/mine/x", "me/--x", "a b/c", ""]
)
def test_a_bad_name_of_the_hub_is_refused_before_anything_is_asked(
    release: Path, repo: str
) -> None:
    said = run("push", release, "--repo", repo, "--dry-run", ok=False)
    assert "not a name of the Hub" in said.stderr
