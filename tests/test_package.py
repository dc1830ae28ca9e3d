"""The wheel: what is in it, and that it works in an empty folder far from any checkout."""

import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from factdrift import __version__
from tests.conftest import ROOT, checksums, run_cli, run_process
from tests.tables import names_of

QUICK = ("dynamic-templama", "wmt-question-dates")


def factdrift(program: Path, folder: Path, *words: object) -> str:
    """What `factdrift WORDS` says in a folder."""
    ended_process = run_process(program, *words, cwd=folder, env={"PYTHONPATH": ""})
    return ended_process.stdout + ended_process.stderr


HEAVY = tuple(
    "duckdb ibis matplotlib numpy pandas pyarrow pyspark requests spacy torch transformers".split()
)

RARE = tuple("matplotlib pandas pyspark scipy sklearn spacy torch transformers".split())


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("factdrift", (*HEAVY, "pydantic", "typer", "yaml")),
        ("factdrift.builders.cli", HEAVY),
        # a recipe imports its own builder alone, and what is drawn or parsed comes when it is
        ("factdrift.builders.release.release", (*RARE, "factdrift.builders.streamingqa.dataset")),
        (
            "factdrift.builders.templama.dataset, factdrift.scoring.score",
            (*RARE, "factdrift.builders.generate.backends"),
        ),
        # Arrow and NumPy start threads; beside them, reading processes could not be forked
        (
            "factdrift.builders.facts.relations, factdrift.builders.wikidata.mine",
            ("ibis", "numpy", "pyarrow"),
        ),
    ],
)
def test_a_start_imports_no_more_than_it_needs(module: str, heavy: tuple[str, ...]) -> None:
    ended_process = run_process(sys.executable, "-c", f"import sys, {module}; print(*sys.modules)")
    assert set(ended_process.stdout.split()) & set(heavy) == set()


def test_what_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        about = next(name for name in names if name.endswith("METADATA"))
        metadata = file.read(about).decode()
    assert {name.partition("/")[0] for name in names} == {"factdrift", about.partition("/")[0]}
    folders = ["annotation", "builders", "filters", "scoring", "templates", "data_cards"]
    tracked = ["git", "ls-files", *folders]
    listed_files = subprocess.run(tracked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {f"factdrift/{name}" for name in listed_files.stdout.split()} <= names
    assert {f"factdrift/{name}.py" for name in ("__init__", "__main__", "api", "testing")} <= names
    assert not [name for name in names if re.match("factdrift/samples/.*[.]py", name)]
    assert (ROOT / "factdrift/README.md").read_text("utf-8") in metadata
    assert wheel.stat().st_size < 6 << 20


@pytest.mark.slow
def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """It has no links: what one leads to would be there twice, or in half."""
    pytest.importorskip("hatchling")
    python = [sys.executable, "-m"]
    build = [*python, "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as file:
        assert not [archive_member.name for archive_member in file if not archive_member.isfile()]
        file.extractall(tmp_path, filter="data")
    command_words = [*python, "pip", "wheel", str(tmp_path / path.name.removesuffix(".tar.gz"))]
    command_words += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    subprocess.run(command_words, check=True, capture_output=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("links", ["left out", "as files"])
def test_a_source_tree_without_links_works(links: str, tmp_path: Path) -> None:
    """As an archive has it that was made or unpacked by a program that knows no links."""
    tree = tmp_path / "factdrift-source"
    listed_files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed_files.returncode:
        pytest.skip("no git checkout")
    for name in listed_files.stdout.splitlines():
        source_path, copy = ROOT / name, tree / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not source_path.is_symlink():
            copy.symlink_to(source_path)
        elif links == "as files":
            copy.write_text(str(source_path.readlink()), "utf-8")
    for path in tree.rglob("*.py"):  # code has to be found by where it lies
        path.unlink()
        shutil.copyfile(ROOT / path.relative_to(tree), path)
    program_text = (
        "import factdrift.builders, factdrift.reasoning.dataset\n"
        "from factdrift.builders.core.reach import reach\n"
        "modules = reach('factdrift.builders.streamingqa.questions').modules\n"
        "assert 'factdrift.filters.base' in modules\n"
        "from factdrift.builders.recipes.recipe import recipes\n"
        "print(factdrift.builders.__file__, len(recipes()) > 5)"
    )
    ended_process = run_process(
        sys.executable, "-c", program_text, cwd=tmp_path, env={"PYTHONPATH": str(tree)}
    )
    assert ended_process.stdout == f"{tree / 'builders/__init__.py'} True\n"


@pytest.mark.parametrize("name", ["annotation", "builders", "filters", "reasoning", "scoring"])
def test_packages_are_imported_by_one_name_alone(name: str) -> None:
    """Under two names there would be two `UserError`s, and one would pass as a bug."""
    program_text = f"import {name}"
    ended_process = run_process(sys.executable, "-c", program_text, cwd=ROOT, ok=False)
    assert (
        f"ImportError: {name} is a part of factdrift: import factdrift.{name}\n"
        in ended_process.stderr
    )
    inner = next(path for path in sorted((ROOT / name).glob("*.py")) if path.stem != "__init__")
    ended_process = run_process(
        sys.executable, "-c", f"import {name}.{inner.stem}", cwd=ROOT, ok=False
    )
    assert "is a part of factdrift" in ended_process.stderr


@pytest.mark.slow
def test_the_example_of_the_package_runs(program: Path, tmp_path: Path) -> None:
    """In an empty folder, beside a package that has the name of one of our folders."""
    site = Path(sysconfig.get_path("purelib", vars={"base": str(program.parents[1])}))
    (site / "filters").mkdir()
    (site / "filters/__init__.py").write_text("raise ImportError('somebody else is meant')")
    page = site / "factdrift/README.md"
    assert factdrift(program.with_name("python"), tmp_path, "-m", "doctest", page) == ""
    assert set(names_of(tmp_path.iterdir())) == {"releases", "build", "scores"}
    release = "releases/dynamic-templama/1.0.0"
    assert "whole and unchanged" in factdrift(program, tmp_path, "verify", release)
    assert factdrift(program, tmp_path, "--version") == f"factdrift {__version__}\n"


@pytest.mark.slow
def test_releases_in_an_empty_folder(program: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    factdrift(program, here, "release", *QUICK)
    assert set(names_of(here.iterdir())) == {"releases", "build"}
    machine = [str(path).encode() for path in (tmp_path, ROOT, program.parents[1])]
    for path in (here / "releases").rglob("*.*"):
        if path.is_file():
            assert not [text for text in machine if text in path.read_bytes()], path
    card = (here / "releases/dynamic-templama/1.0.0/README.md").read_text("utf-8")
    assert "factdrift release dynamic-templama\n" in card

    run_cli("release", QUICK[0], "--out", there / "releases", "--build", there / "build")
    same = checksums(there / "releases" / QUICK[0])
    assert checksums(here / "releases" / QUICK[0]) == same

    factdrift(program, here, "hits", "write_questions", "--n", 3)
    assert list((here / "hits").rglob("preview.html"))


def test_no_modules_import_each_other() -> None:
    pytest.importorskip("grimp")
    from tests.house import import_circles

    # this one is being taken apart: the exception goes with it
    known_circle = {"factdrift.scoring.commands", "factdrift.scoring.search_baselines"}
    assert [
        circle for circle in import_circles() if set(circle.split(" <- ")) != known_circle
    ] == []
