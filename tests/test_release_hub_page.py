"""Releases with their page, sent to a server that plays the Hub."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from huggingface_hub import constants

from factdrift.builders.core.errors import UserError
from factdrift.builders.release import hub_page
from factdrift.builders.release.changelog import changelog, save_changelog
from factdrift.builders.release.compare import compare
from factdrift.builders.release.manifest import load_manifest
from factdrift.builders.release.verify import not_covered, verify_release
from tests.conftest import run_cli
from tests.hub_server import TOKEN, HubRepository, serve_hub
from tests.release_sample import changed, publish

REPO = "me/mine"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubRepository]:
    with serve_hub() as repository:
        monkeypatch.setenv("HF_ENDPOINT", f"{repository.url}/")
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # the server is on this machine
        yield repository


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions of the sample: the first, with rows added, and with rows edited."""
    out = tmp_path_factory.mktemp("releases")
    publish(out)
    publish(out, changed({"new/2021Q3": [8]}))
    publish(out, changed({"new/2021Q3": [{"n": 8, "subject_label": "A|B"}]}, pictures=True))
    return out / "sample"


def page_of(release: Path, to: Path, *words: object) -> str:
    run_cli("publish", release, "--repo", REPO, "--to", to, "--dry-run", *words)
    return (to / "README.md").read_text("utf-8")


def test_a_dry_run_writes_the_page_and_asks_nobody(
    shelf: Path, hub: HubRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    to = tmp_path / "page"
    ended = run_cli("publish", shelf, "--repo", REPO, "--to", to, "--dry-run")  # the newest
    assert hub.asked == []
    assert ended.stdout == f"{to}\n"
    newest = load_manifest(to).version
    assert newest == "2.0.0"
    assert f"to {REPO} as 2.0.0" in ended.stderr and "tag them 2.0.0" in ended.stderr
    assert "CHANGELOG.md: " in ended.stderr

    page = (to / "README.md").read_text("utf-8")
    card_text = (shelf / "2.0.0/README.md").read_text("utf-8")
    front_matter = page.split("---\n")[1]
    assert front_matter == card_text.split("---\n")[1]  # the configs that the viewer shows
    for config in yaml.safe_load(front_matter)["configs"]:
        assert all((to / entry["path"]).is_file() for entry in config["data_files"])
    head = page[: page.index("## Motivation")]
    picture = re.search(r"!\[.+\]\((plots/.+\.png)\)", head)
    assert picture and (to / picture[1]).is_file()
    assert 'load_dataset("me/mine", "unchanged", split="2021Q4")' in head
    assert 'split="2021Q4", revision="2.0.0")' in head
    assert 'load_dataset("me/mine", "updated", split="2021Q3")' in head  # the last that has rows
    address = f"{hub.url}/datasets/{REPO}/tree"
    assert f"- [2.0.0](<{address}/2.0.0>): Sources up to 2026-02-02. 1 row edited." in head
    assert page.endswith(card_text[card_text.index("## Motivation") :])


def test_the_changes_are_those_of_all_versions(shelf: Path, tmp_path: Path) -> None:
    entries = changelog(shelf / "2.0.0")
    assert [entry.version for entry in entries] == ["2.0.0", "1.1.0", "1.0.0"]
    assert "### Corrected in `new`" in entries[0].text and "A&#124;B" in entries[0].text
    assert "1 row added" in entries[1].line and "a minor version" in entries[1].text
    assert entries[2].text == "Sources up to 2026-02-02. The first version."
    assert [entry.version for entry in changelog(shelf / "1.1.0")] == ["1.1.0", "1.0.0"]

    # beside it the last page alone, as a later machine has it
    fetched = tmp_path / "sample"
    fetched.mkdir()
    page_of(shelf / "1.1.0", fetched / "1.1.0")
    (shelf / "2.0.0").rename(fetched / "2.0.0")
    try:
        assert changelog(fetched / "2.0.0") == entries
        for version in ("1.1.0", "2.0.0"):
            (fetched / version / "CHANGELOG.md").unlink()
        assert [entry.version for entry in changelog(fetched / "2.0.0")] == ["2.0.0", "1.1.0"]
    finally:
        (fetched / "2.0.0").rename(shelf / "2.0.0")
        save_changelog(shelf / "2.0.0")


def test_a_page_is_the_same_release(shelf: Path, tmp_path: Path) -> None:
    to = tmp_path / "page"
    page_of(shelf / "1.1.0", to)
    assert verify_release(to) == []
    assert "not checked: README.md, CHANGELOG.md" in str(not_covered(to))
    assert compare(shelf / "1.1.0", to).level == "none"
    again = tmp_path / "again"
    assert page_of(to, again) == (to / "README.md").read_text("utf-8")  # of a page, too
    assert page_of(to, again) == (to / "README.md").read_text("utf-8")  # in the place of itself

    (to / "CARD.md").write_text("x")
    assert any(problem.startswith("CARD.md: ") for problem in verify_release(to))
    (to / "CARD.md").unlink()
    problems = verify_release(to)
    assert any(problem.startswith("README.md: ") for problem in problems)
    assert "page/picture.png: is not in the manifest" in problems
    push = run_cli("push", again, "--repo", REPO, "--dry-run", ok=False)
    assert "a page of the Hub" in push.stderr


@pytest.mark.slow
def test_versions_on_the_hub(shelf: Path, hub: HubRepository, tmp_path: Path) -> None:
    def upload(version: str, *words: object, ok: bool = True) -> str:
        to = tmp_path / version
        return run_cli("publish", shelf / version, "--repo", REPO, "--to", to, *words, ok=ok).stderr

    assert "tagged 1.0.0" in upload("1.0.0", "--private")
    assert hub.visibility == "private" and hub.tags == {"1.0.0": 1}
    assert "has 1.0.0 already: nothing pushed" in upload("1.0.0")
    assert "tagged 2.0.0" in upload("2.0.0")
    assert "has 2.0.0, which is later than 1.1.0" in upload("1.1.0", ok=False)
    assert hub.tags == {"1.0.0": 1, "2.0.0": 2}
    for version, number in hub.tags.items():
        copy = tmp_path / f"copy-{version}"
        for path, content in hub.commits[number].items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(content)
        assert verify_release(copy) == []
        assert (copy / "README.md").read_bytes() == (tmp_path / version / "README.md").read_bytes()
    assert "data/new/2021Q3.parquet" in hub.commits[2].keys() - hub.commits[1].keys()


def test_what_publish_refuses(
    shelf: Path, hub: HubRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*words: object, release: Path = shelf / "1.0.0") -> str:
        return run_cli("publish", release, "--repo", REPO, *words, ok=False).stderr

    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").touch()
    assert "no page of an earlier run" in refused("--to", mine, "--dry-run")
    for folder in (shelf / "1.0.0", shelf, shelf / "1.1.0"):  # nobody's release is removed
        assert "no page of an earlier run" in refused("--to", folder, "--dry-run")
    assert (mine / "thesis.tex").exists() and verify_release(shelf / "1.1.0") == []
    text = tmp_path / "picture.png"
    text.write_text("no picture")
    to = tmp_path / "to"
    assert "not a picture in PNG" in refused("--picture", text, "--to", to, "--dry-run")
    gone = tmp_path / "gone.png"
    assert "No such file" in refused("--picture", gone, "--to", to, "--dry-run")
    assert not to.exists()
    assert "not a name of the Hub" in run_cli("publish", shelf, "--repo", "x", ok=False).stderr
    monkeypatch.setattr(hub_page, "_LARGEST_GROUP", 10)
    assert (
        "too many for the viewer"
        in run_cli("publish", shelf, "--repo", REPO, "--to", to, "--dry-run").stderr
    )
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert "the Hub refuses" in refused("--to", to)
    monkeypatch.delenv("HF_TOKEN")
    assert "the environment has no HF_TOKEN" in refused("--to", to)
    assert hub.commits == []


def test_pictures(shelf: Path, tmp_path: Path) -> None:
    picture = shelf / "2.0.0/plots/splits.png"
    page = page_of(shelf / "1.0.0", tmp_path / "own", "--picture", picture)
    assert "![A sample](page/picture.png)" in page
    assert (tmp_path / "own/page/picture.png").read_bytes() == picture.read_bytes()
    page = page_of(shelf / "1.0.0", tmp_path / "drawn")  # whose card has no plot
    assert "](page/picture.png)" in page and verify_release(tmp_path / "drawn") == []
    with pytest.raises(UserError, match="cannot be read"):
        changelog(tmp_path)
