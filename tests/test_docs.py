"""The documents tell the truth: the tour runs, and what the README names is there."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Done
from tests.house import imports, ranks, repeated_classes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "least"), [("README.md", 6), ("TOUR.md", 30), ("PEOPLE.md", 20)]
)
def test_a_walk_runs_as_it_is_written(
    document: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path if document == "README.md" else ROOT)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(ROOT / document), module_relative=False, optionflags=options)
    assert result.attempted > least
    assert result.failed == 0


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "CONTRIBUTING.md", "GLOSSARY.md", "TOUR.md", "PEOPLE.md", "SCALE.md"),
        *("docs/asof.md", "docs/build.md", "docs/score.md", "samples/wikidata/README.md"),
    ],
)
def test_paths_that_a_document_names_are_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    folders = "annotation|builders|templates|samples|data_cards|tests"
    named = re.findall(rf"(?<![\w/<])((?:{folders})/[\w./-]+)(?![\w<])", text)
    assert [p for p in named if not (ROOT / p.rstrip("./")).exists()] == []


def test_the_house_is_as_it_is_described() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    described = set(re.findall(r"^  ((?:[a-z]+/ +)+)", text, re.M))
    named = {name for line in described for name in line.replace("/", "").split()}
    folders = {path.parent.name for path in (ROOT / "builders").glob("*/__init__.py")}
    assert named == folders


def test_no_class_name_stands_twice_and_no_imports_run_in_a_circle() -> None:
    assert repeated_classes() == {}
    assert max(ranks(imports()).values()) > 10


def make(*words: object) -> Done:
    """What `make WORDS` does, also where make itself runs the tests."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    command = ["make", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)


def test_make_targets_that_documents_name_are_there() -> None:
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
    spelled = r"^(?:make|.*`make) ([a-z]+)"
    targets = {t for p in paths for t in re.findall(spelled, p.read_text("utf-8"), re.M)}
    targets |= set(re.findall(r"make ([a-z]+)", (ROOT / ".github/workflows/ci.yml").read_text()))
    for target in targets:
        done = make("--dry-run", target)
        assert done.returncode == 0, done.stderr


def test_the_readme_is_short() -> None:
    assert 600 <= len((ROOT / "README.md").read_text("utf-8").split()) <= 800


def test_the_makefile_and_its_help_on_one_screen() -> None:
    """Help lists every target, and every variable is set once."""
    text = (ROOT / "Makefile").read_text("utf-8")
    named = re.findall(r"^([A-Za-z_]+) *[?:]?= *", text, re.M)
    assert "JOBS" in named and len(named) == len(set(named))
    phony = re.findall(r"^\.PHONY: (.*)$", text, re.M)
    assert set(phony[0].split()) == set(re.findall(r"^([a-z]+):.*## ", text, re.M))
    lines = make("--no-print-directory", "help").stdout.splitlines()
    assert 1 < len(lines) <= 24 and max(map(len, lines)) <= 80


def test_what_make_is_given_reaches_the_program(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / ".run").touch()
    (tmp_path / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "bin" / "python").chmod(0o755)
    news = tmp_path / "my news.jsonl"
    news.write_text("")
    words = [f"VENV={tmp_path}", f"NEWS={news}", f"OUT={tmp_path}/r", f"BUILD={tmp_path}/b"]
    done = make("release", "RECIPE=wmt-question-dates-paper", *words)
    assert done.returncode != 0
    assert "my news.jsonl@2020-12-31" in done.stderr
