"""Releases on the Hub, of which a class here has as much as a push asks of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

from factdrift.builders.release import manifest
from factdrift.builders.release import push as pushing
from tests.conftest import Completed, run_cli
from tests.release_sample import changed, publish

REPO = "me/mine"
TOKEN = "hf_test"  # noqa: S105 - of this class alone


@dataclass
class Hub:
    """The commits of one repository, each all its files, and the number of each tag."""

    commits: list[dict[str, bytes]] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    private: bool | None = None

    def api(self, endpoint: str, token: str) -> "Hub":
        """What a client is made by."""
        assert endpoint == "https://hub.example"
        if token != TOKEN:
            raise HTTPError("Invalid password")
        return self

    def create_repo(self, repo: str, *, repo_type: str, private: bool, exist_ok: bool) -> None:
        assert (repo, repo_type, exist_ok) == (REPO, "dataset", True)
        if not self.commits:
            self.commits, self.private = [{".gitattributes": b""}], private

    def list_repo_files(self, repo: str, *, repo_type: str) -> list[str]:
        return [*self.commits[-1]]

    def list_repo_refs(self, repo: str, *, repo_type: str) -> Any:
        return SimpleNamespace(tags=[SimpleNamespace(name=tag) for tag in self.tags])

    def hf_hub_download(
        self, repo: str, file: str, *, repo_type: str, revision: str, local_dir: str
    ) -> str:
        path = Path(local_dir, file)
        path.write_bytes(self.commits[self.tags.get(revision, -1)][file])
        return str(path)

    def create_commit(
        self, repo: str, parts: Sequence[Any], *, commit_message: str, repo_type: str
    ) -> None:
        now = dict(self.commits[-1])
        for part in parts:
            if isinstance(part, CommitOperationAdd):
                now[part.path_in_repo] = Path(str(part.path_or_fileobj)).read_bytes()
            elif isinstance(part, CommitOperationDelete):
                del now[part.path_in_repo]
        self.commits.append(now)

    def create_tag(self, repo: str, *, tag: str, repo_type: str) -> None:
        self.tags[tag] = len(self.commits) - 1


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    found = Hub()
    monkeypatch.setattr(pushing, "HfApi", found.api)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example/")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    return found


def push(folder: Path, *words: object, ok: bool = True) -> Completed:
    return run_cli("push", folder, "--repo", REPO, *words, ok=ok)


def test_a_release_and_the_next(hub: Hub, tmp_path: Path) -> None:
    first = publish(tmp_path, changed({"gone/2021Q3": [8]})).folder
    listed = {entry.path for entry in manifest.load_manifest(first).files} | {manifest.FILE}
    assert f"{len(listed)} files in {REPO}, tagged 1.0.0" in push(first, "--private").stderr
    assert hub.private is True
    there = hub.commits[hub.tags["1.0.0"]]
    assert there == {".gitattributes": b"", **{p: (first / p).read_bytes() for p in listed}}

    assert "has 1.0.0 already: nothing pushed" in push(first).stderr
    second = publish(tmp_path).folder
    assert second.name == "2.0.0"
    push(second)
    assert hub.tags == {"1.0.0": 1, "2.0.0": 2}
    assert "data/gone/2021Q3.parquet" in there.keys() - hub.commits[2].keys()
    assert ".gitattributes" in hub.commits[2]


def test_a_dry_run_asks_nobody(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    folder = publish(tmp_path).folder
    said = push(folder, "--dry-run", "--croissant", tmp_path / "croissant.json").stderr
    size = (folder / "manifest.json").stat().st_size
    assert f"manifest.json: {size:,} bytes" in said
    assert f"to {REPO} as 1.0.0" in said
    assert hub.commits == []
    document = json.loads((tmp_path / "croissant.json").read_text("utf-8"))
    assert document["url"] == f"https://hub.example/datasets/{REPO}"
    urls = [one.get("contentUrl", "") for one in document["distribution"]]
    assert f"{document['url']}/resolve/1.0.0/data/unchanged/2021Q3.parquet" in urls


def test_what_is_refused(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = publish(tmp_path / "one").folder
    for theirs, said in (
        ({"model.safetensors": b""}, "holds something else"),
        ({"manifest.json": b'{"dataset": "theirs"}'}, "holds another dataset: theirs"),
        ({"manifest.json": b"[]"}, "holds another dataset: None"),
        ({"manifest.json": b"{"}, "holds another dataset: None"),
    ):
        hub.commits = [theirs]
        assert said in push(folder, ok=False).stderr
    hub.commits = [{"README.md": b"", ".gitattributes": b""}]
    push(folder)
    other = publish(tmp_path / "two", changed({"updated/2021Q3": [9]})).folder
    assert "has other content under 1.0.0" in push(other, ok=False).stderr
    (other / "README.md").write_text("x")
    assert "not whole: README.md" in push(other, ok=False).stderr
    monkeypatch.setenv("HF_TOKEN", "hf_wrong_secret")
    said = push(folder, ok=False).stderr
    assert "the Hub refuses: " in said and "Invalid password" in said
    assert "hf_wrong_secret" not in said
    monkeypatch.delenv("HF_TOKEN")
    assert "the environment has no HF_TOKEN" in push(folder, ok=False).stderr
