"""Releases made again from their manifests."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_cli
from tests.release_sample import edit
from tests.test_tidy import RECIPE, release

NEWS = ROOT / "samples/news"


def rebuild(folder: Path, made: Path, *more: object, ok: bool = True) -> str:
    shutil.rmtree(folder / "again", ignore_errors=True)
    words = ("--out", folder / "again", "--build", folder / "b2", *more)
    done = run_cli("rebuild", made, *words, ok=ok)
    assert "Traceback" not in done.stderr
    return done.stdout if ok else done.stderr


@pytest.mark.parametrize("given", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_same_to_the_byte(tmp_path: Path, given: bool) -> None:
    """Of the inputs that a recipe names, and of other ones with a recipe of its own."""
    made = tmp_path / "r/wmt-question-dates/1.0.0"
    if not given:
        release(tmp_path)
    else:
        shutil.copytree(NEWS, tmp_path / "news")
        mine = tmp_path / "mine.yaml"
        mine.write_text("seed: 7\n" + (ROOT / RECIPE).read_text("utf-8"))
        release(tmp_path, mine, "--news", tmp_path / "news", "--version", "2.0.0")
        made = made.with_name("2.0.0")
        said = rebuild(tmp_path, made, ok=False)
        assert "inputs that are not here:\n  news: news-docs." in said
    more = ("--news", tmp_path / "news") if given else ()
    assert "the same to the byte" in rebuild(tmp_path, made, *more)
    assert (tmp_path / "again/wmt-question-dates" / made.name / "README.md").is_file()


@pytest.mark.slow
def test_other_inputs_and_changed_releases_are_told(tmp_path: Path) -> None:
    release(tmp_path)
    made = tmp_path / "r/wmt-question-dates/1.0.0"
    shutil.copytree(NEWS, tmp_path / "news")
    next((tmp_path / "news").glob("*.gz")).unlink()
    said = rebuild(tmp_path, made, "--news", tmp_path / "news", ok=False)
    assert "these inputs are not those of the release:\n  news: " in said and "is missing" in said
    card = made / "README.md"
    card.write_text(card.read_text("utf-8") + "mine", "utf-8")
    edit(made, "files.0.sha256", "0" * 64)
    said = rebuild(tmp_path, made, ok=False)
    assert "file(s) differ" in said
    (made / "recipe.yaml").write_text("seed: 1", "utf-8")
    assert "is not the recipe of its manifest" in rebuild(tmp_path, made, ok=False)
