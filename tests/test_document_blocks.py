"""Blocks of README, TOUR and the pages run from the wheel alone, in an empty folder.

`make` is for a checkout, and other tests have its targets. Where a page names a real dump, a file
of the sample lies under that name. What needs a network, a model or somebody's work is not run:
`ELSEWHERE` says why, and `tests/test_docs.py` parses these commands, too.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from doctest import DocTestParser
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_process, run_python_of
from tests.test_docs import shell_commands

ELSEWHERE = {
    r"make |for |done$|.*(python -m |\s)samples[/.]": "a checkout",
    r"pip install (?!-e)": "packages are installed before the tests",
    r"factdrift (dumps|quick (?!--s))|.*(https?://|--dump (latest|\d)|--user-agent)": "the network",
    r".*(release [^/]*--model |run-model|gpt2|all_minilm|OPENAI|streamingqa-paper)": "a model",
    r"echo |lm_eval |inspect |cd |--tasks": "another program",
    r".*(DATE|my-recipe|/1\.1\.0|-quarters/|releases/timeqa/)": "a release or recipe of yours",
    r"factdrift (hits|receive|judgments|corpus|report scores/dyn)|.*--gold": "people, or scores",
    r"factdrift (publish|push) (?!.*--dry-run)": "an account",
    r"factdrift memory prose|factdrift release (--d|.*(timeqa-la|-paper|--older))": "minutes",
}
"""What is not run here, as patterns of commands' beginnings, and what it needs."""

PLAYED = {
    "wikidata-20261109-all.json.gz": "wikidata/wikidata-20260202-all.json.gz",
    "wikidata-20230102-all.json.gz": "wikidata/wikidata-20230102-all.json.gz",
    "enwiki-20261101-pages-articles-multistream.xml.bz2": (
        "wikipedia/enwiki-20260201-pages-articles-multistream.xml.bz2"
    ),
}
"""Files of real dumps that pages name, and the files of the sample that play them."""

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def needs(command: str) -> str | None:
    """What a command needs that is not here, or None where it runs."""
    return next((why for pattern, why in ELSEWHERE.items() if re.match(pattern, command)), None)


def commands_to_run(page: Path) -> Iterator[str]:
    """The commands of a page's blocks that run in an empty folder."""
    for command in shell_commands(page.read_text("utf-8")):
        if needs(command) is None:
            yield command


def test_a_third_of_all_commands_and_those_of_readme_are_run() -> None:
    readme = [*commands_to_run(PAGES[0])]
    assert len(readme) >= 10 and "factdrift score beir --run mine.trec" in readme
    assert "factdrift quick --sample" in readme  # the folder that the lines after it name
    written = [command for page in PAGES for command in shell_commands(page.read_text("utf-8"))]
    assert 3 * sum(needs(command) is None for command in written) > len(written)
    parse = DocTestParser().get_examples
    assert len(parse((ROOT / "README.md").read_text("utf-8"))) > 6
    assert len(parse((ROOT / "TOUR.md").read_text("utf-8"))) > 30
    for pattern in ELSEWHERE:  # none is there for nothing
        assert any(re.match(pattern, command) for command in written), pattern


@pytest.fixture(scope="module")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder, beside it the files that play real dumps."""
    folder = tmp_path_factory.mktemp("empty")
    for name, sample in PLAYED.items():
        shutil.copyfile(ROOT / "samples" / sample, folder / name)
    return folder


@pytest.fixture(scope="module")
def earlier_commands() -> set[str]:
    """What pages before this one have run: the same command gives the same again."""
    return set()


def run_block(program: Path, folder: Path, command: str) -> None:
    """Run a command of a page with the program and pip of an environment.

    An editable installation (`-e`) needs a package that a test environment may lack.
    """
    pip = f'"{sys.executable}" -m pip --python "{program.with_name("python")}" install'
    install = f"{pip} --no-deps --no-build-isolation ./"
    command = re.sub(r"^pip install -e ", install, command)
    search_path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": search_path, "PYTHONPATH": ""}
    run_process("sh", "-ec", command, cwd=folder, env=environment)


def run_examples(program: Path, folder: Path, page: Path) -> None:
    """Run the examples of Python in a copy of a page, so that no checkout is near."""
    shutil.copyfile(page, folder / page.name)
    doctest = ("-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE", page.name)
    run_process(program.with_name("python"), *doctest, cwd=folder, env={"PYTHONPATH": ""})


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_a_page_run_from_the_wheel(
    page: Path, program: Path, empty_folder: Path, earlier_commands: set[str]
) -> None:
    """In one folder for all pages, README first: the releases that it makes are those of others."""
    run_examples(program, empty_folder, page)
    corrections_file = empty_folder / "corrections.yaml"
    for command in commands_to_run(page):
        # what was built before is built otherwise once there are corrections
        if command not in earlier_commands or corrections_file.exists():
            run_block(program, empty_folder, command)
            earlier_commands.add(command)
    corrections_file.unlink(missing_ok=True)


@pytest.mark.slow
def test_the_tour_runs_from_the_wheel(program: Path, tmp_path: Path) -> None:
    run_examples(program, tmp_path, ROOT / "TOUR.md")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_installs_on_each_python(version: str, wheel: Path, tmp_path: Path) -> None:
    """With pip and all that it brings, which takes minutes: where `PYTHONS=all` says so."""
    if os.environ.get("PYTHONS") != "all":
        pytest.skip("PYTHONS=all installs the wheel on each Python, from the index")
    python = run_python_of(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    binaries = tmp_path / "env/bin"
    requirement = f"factdrift[score] @ {wheel.as_uri()}"
    installed = subprocess.run(
        [binaries / "pip", "install", "--quiet", requirement], capture_output=True, text=True
    )
    if installed.returncode and "Connection" in installed.stderr:
        pytest.skip("the package index is out of reach")
    assert installed.returncode == 0, installed.stderr
    (tmp_path / "work").mkdir()
    shutil.copyfile(ROOT / "README.md", tmp_path / "work/README.md")
    words = (binaries / "python", "-m", "doctest", "-o", "ELLIPSIS", "README.md")
    run_process(*words, cwd=tmp_path / "work", env={"PYTHONPATH": ""})
    release = "releases/dynamic-templama/1.0.0"
    run_process(binaries / "factdrift", "verify", release, cwd=tmp_path / "work")
