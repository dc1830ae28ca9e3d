"""The documents tell the truth: the tour runs, and what the README names is there."""

import doctest
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize(("document", "least"), [("TOUR.md", 30), ("PEOPLE.md", 20)])
def test_a_walk_runs_as_it_is_written(
    document: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(ROOT / document), module_relative=False, optionflags=options)
    assert result.attempted > least
    assert result.failed == 0


@pytest.mark.parametrize(
    "document", ["README.md", "TOUR.md", "PEOPLE.md", "samples/wikidata/README.md"]
)
def test_paths_that_a_document_names_are_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    folders = "annotation|builders|templates|samples|data_cards|tests"
    named = re.findall(rf"(?<![\w/<])((?:{folders})/[\w./-]+)(?![\w<])", text)
    assert [p for p in named if not (ROOT / p.rstrip("./")).exists()] == []


def test_make_targets_that_the_readme_names_are_there() -> None:
    targets = set(re.findall(r"make ([a-z]+)", (ROOT / "README.md").read_text("utf-8")))
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    for target in targets:
        words = ["make", "--dry-run", target]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr


def test_help_lists_every_target() -> None:
    text = Path(ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)
    assert phony
    described = set(re.findall(r"^([a-z]+):.*## ", text, re.M))
    assert set(phony[1].split()) == described


def test_the_makefile_sets_every_variable_once() -> None:
    text = Path(ROOT / "Makefile").read_text("utf-8")
    named = re.findall(r"^([A-Za-z_]+) *[?:]?= *", text, re.M)
    assert "PAGES" in named
    assert [name for name in set(named) if named.count(name) > 1] == []
