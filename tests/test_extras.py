"""Extras: what each brings, and what is said without it; and what the metadata says."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.hints import EXTRA_MODULES, install_extra, require_extra
from factdrift.builders.text.tokens import check_tokenizer
from factdrift.builders.text.views import ViewSettings
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
WANTED = "spacy requests SPARQLWrapper tqdm pyarrow jsonlines transformers".split()
"""Packages that the project was asked to stand on."""
MEMORIES = {"llama-index", "mem0ai", "graphiti-core"}
"""Other people's packages that docs/memories.md shows how to plug in."""


def texts() -> Iterator[tuple[Path, str]]:
    """Every document and module that a user may read a hint in."""
    folders = "annotation builders filters reasoning scoring factdrift/kit docs data_cards samples"
    for folder in (*folders.split(), "."):
        depth = "*" if folder == "." else "**/*"
        for path in sorted((ROOT / folder).glob(depth)):
            if path.suffix in (".py", ".md", ".yaml", ".html", ".toml") and path.is_file():
                yield path, path.read_text("utf-8")


def distribution(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)


def test_hints_name_only_what_can_be_installed() -> None:
    """Extras that there are, and distributions that the project itself asks for."""
    requirements = [*PROJECT["dependencies"]]
    for extra_lines in EXTRAS.values():
        requirements += extra_lines
    distributions = {distribution(line) for line in requirements} | MEMORIES
    seen_extras: set[str] = set()
    for path, text in texts():
        # `factdrift[score,news]`, `install_extra("lm")`, `require_extra("lm", …)`
        named = re.findall(r"factdrift\[([a-z,]+)\]", text)
        named += re.findall(r"(?:install|require)_extra\(\s*\"(\w+)\"", text)
        seen_extras |= {extra for group in named for extra in group.split(",")}
        # `pip install mem0ai`, `pip install --no-deps x=={VERSION}`; not `pip install -e FOLDER`
        for words in re.findall(r"pip install ((?:-[-\w]+ )*[\w.-]+)", text):
            *options, package = words.split()
            is_file = {"-r", "-e"} & set(options) or package.startswith((".", "-", "dist"))
            if not is_file and package not in ("factdrift", "the"):
                assert canonicalize_name(package) in distributions, f"{path}: {words}"
    assert seen_extras and seen_extras <= EXTRAS.keys()


def test_every_extra_has_modules_that_tell_whether_it_is_there() -> None:
    assert EXTRA_MODULES.keys() == EXTRAS.keys() - {"dev"}
    for extra in EXTRA_MODULES:
        assert f"| `{extra}` |" in (ROOT / "docs/build.md").read_text("utf-8")


def test_packages_that_were_asked_for_are_named() -> None:
    plain = {distribution(line) for line in PROJECT["dependencies"]}
    extra = {distribution(line) for lines in EXTRAS.values() for line in lines}
    assert {name.lower() for name in WANTED} <= plain | extra
    assert {name.lower() for name in WANTED} - plain == {"spacy", "transformers"}
    heavy = {"pandas", "scikit-learn", "scipy", "torch", "pyspark", "alt-profanity-check"}
    assert not heavy & plain


def test_metadata_says_who_and_where() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert PROJECT["authors"] == [{"name": author["name"]} for author in citation["authors"]]
    assert PROJECT["license"] == citation["license"]
    assert {"Homepage", "Documentation", "Source", "Changelog"} <= PROJECT["urls"].keys()
    assert len(PROJECT["keywords"]) > 3
    # one placeholder in one place, until somebody publishes the project
    (host,) = {address.split("/")[2] for address in PROJECT["urls"].values()}
    for path, text in texts():
        assert path.name == "pyproject.toml" or host not in text, path


@pytest.mark.parametrize("extra", EXTRA_MODULES)
def test_what_is_said_without_an_extra(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in EXTRA_MODULES[extra]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError) as raised_error:
        require_extra(extra, "something needs it")
    assert str(raised_error.value) == f"something needs it\n  {install_extra(extra)}"


def test_a_small_tokenizer_needs_no_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another is refused before anything is read, and is part of what a step depends on."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    sample = ROOT / "samples/tokenizer"
    check_tokenizer(str(sample))
    check_tokenizer("./no/such/folder")  # which has an error of its own
    with pytest.raises(UserError, match="needs transformers"):
        check_tokenizer("google-bert/bert-base-cased")
    named = ViewSettings(tokenizer="google-bert/bert-base-cased", revision=None, max_tokens=5)
    assert named.libraries == ("transformers",)
    assert ViewSettings(tokenizer=sample, revision=None, max_tokens=5).libraries == ()
    assert ViewSettings(tokenizer=None, revision=None, max_tokens=5).libraries == ()
