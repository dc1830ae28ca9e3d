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

    def create_repo(self, repo_name: str, *, repo_type: str, private: bool, exist_ok: bool) -> None:
        assert (repo_name, repo_type, exist_ok) == (REPO, "dataset", True)
        if not self.commits:
            self.commits, self.private = [{".gitattributes": b""}], private

    def list_repo_files(self, repo_name: str, *, repo_type: str) -> list[str]:
        return [*self.commits[-1]]

    def list_repo_refs(self, repo_name: str, *, repo_type: str) -> Any:
        return SimpleNamespace(tags=[SimpleNamespace(name=tag_name) for tag_name in self.tags])

    def hf_hub_download(
        self, repo_name: str, file: str, *, repo_type: str, revision: str, local_dir: str
    ) -> str:
        path = Path(local_dir, file)
        path.write_bytes(self.commits[self.tags.get(revision, -1)][file])
        return str(path)

    def create_commit(
        self, repo_name: str, parts: Sequence[Any], *, commit_message: str, repo_type: str
    ) -> None:
        commit_files = dict(self.commits[-1])
        for commit_part in parts:
            if isinstance(commit_part, CommitOperationAdd):
                commit_files[commit_part.path_in_repo] = Path(
                    str(commit_part.path_or_fileobj)
                ).read_bytes()
            elif isinstance(commit_part, CommitOperationDelete):
                del commit_files[commit_part.path_in_repo]
        self.commits.append(commit_files)

    def create_tag(self, repo_name: str, *, tag: str, repo_type: str) -> None:
        self.tags[tag] = len(self.commits) - 1


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    fake_hub = Hub()
    monkeypatch.setattr(pushing, "HfApi", fake_hub.api)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example/")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    return fake_hub


def push(release_folder: Path, *words: object, ok: bool = True) -> Completed:
    return run_cli("push", release_folder, "--repo", REPO, *words, ok=ok)


def test_a_release_and_the_next(hub: Hub, tmp_path: Path) -> None:
    first_release = publish(tmp_path, changed({"gone/2021Q3": [8]})).folder
    listed_paths = {entry.path for entry in manifest.load_manifest(first_release).files} | {
        manifest.FILE
    }
    assert (
        f"{len(listed_paths)} files in {REPO}, tagged 1.0.0"
        in push(first_release, "--private").stderr
    )
    assert hub.private is True
    hub_files = hub.commits[hub.tags["1.0.0"]]
    assert hub_files == {
        ".gitattributes": b"",
        **{file_path: (first_release / file_path).read_bytes() for file_path in listed_paths},
    }

    assert "has 1.0.0 already: nothing pushed" in push(first_release).stderr
    second_release = publish(tmp_path).folder
    assert second_release.name == "2.0.0"
    push(second_release)
    assert hub.tags == {"1.0.0": 1, "2.0.0": 2}
    assert "data/gone/2021Q3.parquet" in hub_files.keys() - hub.commits[2].keys()
    assert ".gitattributes" in hub.commits[2]


def test_a_dry_run_asks_nobody(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    release_folder = publish(tmp_path).folder
    error_text = push(
        release_folder, "--dry-run", "--croissant", tmp_path / "croissant.json"
    ).stderr
    manifest_size = (release_folder / "manifest.json").stat().st_size
    assert f"manifest.json: {manifest_size:,} bytes" in error_text
    assert f"to {REPO} as 1.0.0" in error_text
    assert hub.commits == []
    document = json.loads((tmp_path / "croissant.json").read_text("utf-8"))
    assert document["url"] == f"https://hub.example/datasets/{REPO}"
    urls = [
        distribution_part.get("contentUrl", "") for distribution_part in document["distribution"]
    ]
    assert f"{document['url']}/resolve/1.0.0/data/unchanged/2021Q3.parquet" in urls


def test_what_is_refused(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release_folder = publish(tmp_path / "one").folder
    for other_dataset, error_text in (
        ({"model.safetensors": b""}, "holds something else"),
        ({"manifest.json": b'{"dataset": "theirs"}'}, "holds another dataset: theirs"),
        ({"manifest.json": b"[]"}, "holds another dataset: None"),
        ({"manifest.json": b"{"}, "holds another dataset: None"),
    ):
        hub.commits = [other_dataset]
        assert error_text in push(release_folder, ok=False).stderr
    hub.commits = [{"README.md": b"", ".gitattributes": b""}]
    push(release_folder)
    other_release = publish(tmp_path / "two", changed({"updated/2021Q3": [9]})).folder
    assert "has other content under 1.0.0" in push(other_release, ok=False).stderr
    (other_release / "README.md").write_text("x")
    assert "not whole: README.md" in push(other_release, ok=False).stderr
    monkeypatch.setenv("HF_TOKEN", "hf_wrong_secret")
    error_text = push(release_folder, ok=False).stderr
    assert "the Hub refuses: " in error_text and "Invalid password" in error_text
    assert "hf_wrong_secret" not in error_text
    monkeypatch.delenv("HF_TOKEN")
    assert "the environment has no HF_TOKEN" in push(release_folder, ok=False).stderr
