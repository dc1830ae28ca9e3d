"""Weights that are pickled or repackaged are loaded only if they are the known bytes."""

import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError
from factdrift.builders.text import pipeline
from factdrift.filters.toxicity.weights import VERSION, WEIGHTS, check_weights
from tests.conftest import ROOT, run_process


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package in front of the installed one; its folder `data`."""
    import profanity_check

    shutil.copytree(Path(profanity_check.__file__).parent, tmp_path / "profanity_check")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    return tmp_path / "profanity_check" / "data"


SCORE = """
from factdrift.builders.core.errors import UserError
from factdrift.filters.toxicity.local import Local
try:
    print(Local().start(None, print)(["you idiot"]))
except UserError as error:
    print("refused:", error)
"""
PICKLE = b"cos\nsystem\n(S'touch loaded'\ntR."


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_planted_pickle_is_not_loaded(other_package: Path, name: str, tmp_path: Path) -> None:
    (other_package / name).write_bytes(PICKLE)
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    printed_text = run_process(sys.executable, "-c", SCORE, cwd=tmp_path, env=path).stdout
    assert f"{name}: these are not the weights of alt-profanity-check" in printed_text
    assert f"alt-profanity-check=={VERSION}" in printed_text
    assert not (tmp_path / "loaded").exists()


def test_the_known_weights_are_loaded(other_package: Path, tmp_path: Path) -> None:
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    printed_text = run_process(sys.executable, "-c", SCORE, cwd=tmp_path, env=path).stdout
    assert "profanity=1.0" in printed_text


def test_the_version_with_these_weights_is_asked_for() -> None:
    check_weights()
    assert metadata.version("alt-profanity-check") == VERSION
    assert f'"alt-profanity-check=={VERSION}"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_security_names_all_weights() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for checksum in (*WEIGHTS.values(), pipeline._CHECKSUM):
        assert checksum in text, "SECURITY.md does not name it"


@pytest.mark.parametrize("name", pipeline.FILES)
def test_a_changed_file_of_the_pipeline_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "pipeline"
    shutil.copytree(pipeline.pipeline_folder(), folder)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match="these are not the files"):
        pipeline._verified(folder)
