"""Releases on the Hub: a server here speaks its protocol, the client is the real one."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from factdrift.builders.release import manifest
from tests.conftest import Done, run
from tests.hub_server import TOKEN, Hub, Repo, serve
from tests.release_sample import BASE, Sample, cloze, edited, publish

REPO = "me/mine"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import constants

    with serve() as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield found


def push(folder: Path, *words: object, ok: bool = True) -> Done:
    return run("push", folder, "--repo", REPO, *words, ok=ok)


def test_a_release_and_the_next(hub: Hub, tmp_path: Path) -> None:
    first = publish(tmp_path, Sample({**BASE, "gone": {"2021Q3": [cloze(8)]}})).folder
    done = push(first)
    assert f"in {REPO}, tagged 1.0.0" in done.stdout + done.stderr
    there = hub.repos[REPO].at("1.0.0")
    listed = {entry.path for entry in manifest.load(first).files} | {manifest.FILE}
    assert there.keys() - {".gitattributes"} == listed
    assert all((first / path).read_bytes() == there[path] for path in listed)

    again = push(first)
    assert "has 1.0.0 already: nothing pushed" in again.stdout + again.stderr
    second = publish(tmp_path, Sample(BASE)).folder
    assert second.name == "2.0.0"
    push(second)
    repo = hub.repos[REPO]
    assert repo.tags.keys() == {"1.0.0", "2.0.0"}
    assert "data/gone/2021Q3.parquet" in repo.at("1.0.0")
    assert "data/gone/2021Q3.parquet" not in repo.at("2.0.0")


def test_a_dry_run_asks_nobody(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    folder = publish(tmp_path).folder
    done = push(folder, "--dry-run", "--croissant", tmp_path / "croissant.json")
    said = done.stdout + done.stderr
    size = (folder / "manifest.json").stat().st_size
    assert f"manifest.json: {size:,} bytes" in said
    assert f"to {REPO} as 1.0.0" in said
    assert hub.asked == []
    document = json.loads((tmp_path / "croissant.json").read_text("utf-8"))
    assert document["url"] == f"{hub.url}/datasets/{REPO}"
    urls = [one.get("contentUrl", "") for one in document["distribution"]]
    assert f"{hub.url}/datasets/{REPO}/resolve/1.0.0/data/unchanged/2021Q3.parquet" in urls


def test_what_is_refused(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = publish(tmp_path / "one").folder
    hub.repos[REPO] = Repo([{"model.safetensors": b""}])
    assert "holds something else" in push(folder, ok=False).stderr
    hub.repos[REPO] = Repo([{"manifest.json": b'{"dataset": "theirs"}'}])
    assert "holds another dataset: theirs" in push(folder, ok=False).stderr
    del hub.repos[REPO]
    push(folder)
    other = publish(tmp_path / "two", edited("updated", "2021Q3", [cloze(9, "updated")])).folder
    assert "has other content under 1.0.0" in push(other, ok=False).stderr
    (other / "README.md").write_text("x")
    assert "not whole: README.md" in push(other, ok=False).stderr
    monkeypatch.setenv("HF_TOKEN", "hf_wrong_secret")
    said = push(folder, ok=False).stderr
    assert "the Hub refuses" in said
    assert "hf_wrong_secret" not in said
    monkeypatch.delenv("HF_TOKEN")
    assert "the environment has no HF_TOKEN" in push(folder, ok=False).stderr
