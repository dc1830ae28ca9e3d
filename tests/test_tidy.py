"""`clean`: build folders keep what releases need."""

import shutil
from pathlib import Path

import pytest

from factdrift.builders.core.tidy import clean, look, note_use
from tests.conftest import ROOT, run_cli
from tests.tables import read_table

RECIPE = "builders/recipes/wmt-question-dates.yaml"


def release(folder: Path, recipe: Path | str = RECIPE, *more: object) -> None:
    run_cli("release", recipe, "--out", folder / "r", "--build", folder / "b", *more)


@pytest.mark.slow
def test_what_the_newest_release_needs_stays(tmp_path: Path) -> None:
    """Three edits of a recipe leave three steps; one of each name is needed."""
    edited, build = tmp_path / "mine.yaml", tmp_path / "b"
    text = (ROOT / RECIPE).read_text("utf-8").replace("../../samples", str(ROOT / "samples"))
    for seed in range(1, 4):
        edited.write_text(f"seed: {seed}\n{text}", "utf-8")
        release(tmp_path, edited)
    (build / f".cloze-{'0' * 16}.tmp").mkdir()
    printed_text = run_cli("clean", "--build", build, "--dry-run").stdout
    assert "would be removed" in printed_text and len(list(build.glob("draws-*"))) == 3
    assert (
        run_cli("clean", "--build", build).stdout.replace("removed,", "would be removed,")
        == printed_text
    )
    steps_left = sorted(path.name.partition("-")[0] for path in build.iterdir())
    assert steps_left == ["articles", "checksums.json", "draws", "used"]
    second_run = run_cli("release", edited, "--out", tmp_path / "r", "--build", build).stderr
    assert "making" not in second_run and "nothing written" in second_run
    shutil.rmtree(tmp_path / "r")
    assert {build_entry.why for build_entry in look(build)} == {"no release", "scratch"}


@pytest.mark.parametrize(("name", "why"), read_table("build_entries"))
def test_what_each_entry_is(tmp_path: Path, name: str, why: str) -> None:
    note_use(tmp_path, "mine", tmp_path, ["0123456789abcdef"])
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / name / "file").write_bytes(b"12345")
    found_entries = look(tmp_path)
    assert [build_entry.why for build_entry in found_entries] == [why] * bool(why)
    is_kept = why in ("", "a release", "answers", "fetched inputs", "unknown")
    for build_entry in found_entries:
        assert build_entry.size == 5 and build_entry.datasets == ("mine",) * (why == "a release")
    assert clean(found_entries) == (0 if is_kept else 5)
    assert (tmp_path / name).exists() is is_kept
    clean(look(tmp_path), everything=True)
    assert (tmp_path / name).exists() is (why in ("", "unknown"))


def test_mistakes(tmp_path: Path) -> None:
    assert "no such folder" in run_cli("clean", "--build", tmp_path / "no", ok=False).stderr
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "x.json").write_text("{")
    printed_text = run_cli("clean", "--build", tmp_path, ok=False).stderr
    assert "x.json: broken note" in printed_text and "Traceback" not in printed_text
