"""Releases made again from their manifests."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_cli
from tests.release_sample import edit
from tests.test_tidy import RECIPE, release

NEWS = ROOT / "samples/news"


def rebuild(folder: Path, release_folder: Path, *further_words: object, ok: bool = True) -> str:
    shutil.rmtree(folder / "again", ignore_errors=True)
    command_words = ("--out", folder / "again", "--build", folder / "b2", *further_words)
    completed_run = run_cli("rebuild", release_folder, *command_words, ok=ok)
    assert "Traceback" not in completed_run.stderr
    return completed_run.stdout if ok else completed_run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("gives_inputs", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_same_to_the_byte(tmp_path: Path, gives_inputs: bool) -> None:
    """Of the inputs that a recipe names, and of other ones with a recipe of its own."""
    release_folder = tmp_path / "r/wmt-question-dates/1.0.0"
    if not gives_inputs:
        release(tmp_path)
    else:
        shutil.copytree(NEWS, tmp_path / "news")
        input_options = tmp_path / "mine.yaml"
        input_options.write_text("seed: 7\n" + (ROOT / RECIPE).read_text("utf-8"))
        release(tmp_path, input_options, "--news", tmp_path / "news", "--version", "2.0.0")
        release_folder = release_folder.with_name("2.0.0")
        output_text = rebuild(tmp_path, release_folder, ok=False)
        assert "inputs that are not here:\n  news: news-docs." in output_text
    further_words = ("--news", tmp_path / "news") if gives_inputs else ()
    assert "the same to the byte" in rebuild(tmp_path, release_folder, *further_words)
    assert (tmp_path / "again/wmt-question-dates" / release_folder.name / "README.md").is_file()


@pytest.mark.slow
def test_other_inputs_and_changed_releases_are_told(tmp_path: Path) -> None:
    release(tmp_path)
    release_folder = tmp_path / "r/wmt-question-dates/1.0.0"
    shutil.copytree(NEWS, tmp_path / "news")
    next((tmp_path / "news").glob("*.gz")).unlink()
    output_text = rebuild(tmp_path, release_folder, "--news", tmp_path / "news", ok=False)
    assert (
        "these inputs are not those of the release:\n  news: " in output_text
        and "is missing" in output_text
    )
    card_file = release_folder / "README.md"
    card_file.write_text(card_file.read_text("utf-8") + "mine", "utf-8")
    edit(release_folder, "files.0.sha256", "0" * 64)
    output_text = rebuild(tmp_path, release_folder, ok=False)
    assert "file(s) differ" in output_text
    (release_folder / "recipe.yaml").write_text("seed: 1", "utf-8")
    assert "is not the recipe of its manifest" in rebuild(tmp_path, release_folder, ok=False)


@pytest.mark.slow
def test_a_release_holds_the_users_own_templates_and_is_made_again_of_them(tmp_path: Path) -> None:
    """A stranger's release lacked them, and `rebuild` said only that files differ."""
    own_templates = tmp_path / "mine"
    own_templates.mkdir()
    sentence = "The seat of government of <subject> is <object>."
    text = f"relation: P36\nextends: P36\ncloze:\n  1: {sentence}\n"
    (own_templates / "P36.yaml").write_text(text, "utf-8")
    words = ["invariant-lama", "--templates", own_templates]
    run_cli("release", *words, "--out", tmp_path / "r", "--build", tmp_path / "b")
    release_folder = tmp_path / "r/invariant-lama/1.0.0"
    assert (release_folder / "templates/P36.yaml").read_text("utf-8") == text
    assert "invariant-lama --templates templates" in (release_folder / "README.md").read_text()
    shutil.rmtree(own_templates)
    assert "the same to the byte" in rebuild(tmp_path, release_folder)
    (release_folder / "templates/P36.yaml").write_text(text + "# mine\n", "utf-8")
    assert "templates/P36.yaml" in run_cli("verify", release_folder, ok=False).stdout
