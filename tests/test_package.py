"""The wheel: what is in it, and that it works in an empty folder far from any checkout."""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, run
from tests.test_run import checksums

QUICK = ("dynamic-templama", "wmt-question-dates")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    out = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(out)]
    if importlib.util.find_spec("hatchling"):
        words.append("--no-build-isolation")
    subprocess.run(words, check=True, capture_output=True)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`factdrift` of an environment with the wheel and, beside it, what it stands on.

    The libraries are those of the environment of the tests, without its own editable factdrift.
    """
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, symlinks=True)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (place / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "bin" / "factdrift"


def factdrift(program: Path, folder: Path, *words: object, status: int = 0) -> str:
    """What `factdrift WORDS` says in a folder."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [str(program), *map(str, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


HEAVY = tuple(
    "duckdb ibis matplotlib numpy pandas pyarrow pyspark requests spacy torch transformers".split()
)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("factdrift.builders.cli", HEAVY),
        # Arrow and NumPy start threads; beside them, reading processes could not be forked
        (
            "factdrift.builders.facts.relations, factdrift.builders.wikidata.mine",
            ("ibis", "numpy", "pyarrow"),
        ),
    ],
)
def test_a_start_imports_no_more_than_it_needs(module: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & set(heavy) == set()


def test_what_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"annotation", "builders", "filters", "scoring", "factdrift_data"}
    assert not [name for name in names if name.startswith("factdrift_data") and name[-3:] == ".py"]
    tracked = ["git", "ls-files", "annotation", "builders", "filters", "scoring"]
    tracked += ["templates", "data_cards"]
    listed = subprocess.run(tracked, cwd=ROOT, capture_output=True, text=True)
    for name in listed.stdout.split():
        data = name.startswith(("templates", "data_cards"))
        assert (f"factdrift_data/{name}" if data else name) in names
    assert wheel.stat().st_size < 6 << 20


@pytest.mark.slow
def test_releases_in_an_empty_folder(program: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    factdrift(program, here, "release", *QUICK)
    assert {path.name for path in here.iterdir()} == {"releases", "build"}
    machine = [str(path).encode() for path in (tmp_path, ROOT, program.parents[1])]
    for path in (here / "releases").rglob("*.*"):
        if path.is_file():
            assert not [text for text in machine if text in path.read_bytes()], path
    card = (here / "releases/dynamic-templama/1.0.0/README.md").read_text("utf-8")
    assert "factdrift release dynamic-templama\n" in card

    run("release", QUICK[0], "--out", there / "releases", "--build", there / "build")
    same = checksums(there / "releases" / QUICK[0])
    assert checksums(here / "releases" / QUICK[0]) == same

    said = factdrift(program, here, "verify", "releases/dynamic-templama/1.0.0")
    assert "whole and unchanged" in said
    factdrift(program, here, "hits", "write_questions", "--n", 3)
    assert list((here / "hits").rglob("preview.html"))
    assert "P54" in factdrift(program, here, "templates")
    assert "verify_facts: " in factdrift(program, here, "layouts")


@pytest.mark.slow
def test_a_name_of_no_recipe_lists_the_bundled_ones(program: Path, tmp_path: Path) -> None:
    said = factdrift(program, tmp_path, "release", "dynamic-templma", status=1)
    assert "did you mean dynamic-templama?" in said
    assert "wmt-question-dates-paper" in said
    said = factdrift(program, tmp_path, "release", "dynamic-templama-latest", status=1)
    assert "--dump path/to/the/file" in said
