"""`factdrift docs`: every page of the documentation comes with the program."""

import re
import zipfile
from pathlib import Path

import pytest

from docs.hooks import DOCUMENTS
from factdrift.builders.core.pages import documentation_pages
from tests.conftest import ROOT, run_cli


def test_the_list_has_every_page() -> None:
    listed_names = dict(line.split(maxsplit=1) for line in run_cli("docs").stdout.splitlines())
    document_paths = [
        Path(page if "/" in name else name).stem.lower() for name, page in DOCUMENTS.items()
    ]
    pages = [path.stem for path in (ROOT / "docs").glob("*.md") if path.stem != "rows"]
    assert sorted(listed_names) == sorted([*document_paths, *pages])
    assert listed_names["score"] == "Score a model" and listed_names["readme"] == "factdrift"
    assert "factdrift docs lists its pages" in " ".join(run_cli("--help").stdout.split())


@pytest.mark.parametrize("name", ["score", "score.md", "docs/score.md", "SCORE", "score.md#fuar"])
def test_a_page_is_named_as_links_name_it(name: str) -> None:
    printed_page = run_cli("docs", name).stdout
    assert (
        printed_page.startswith("# Score a model\n") and "factdrift fuar --example" in printed_page
    )
    assert "<!--" not in printed_page


@pytest.mark.parametrize(
    ("name", "hint"), [("scores", "did you mean score?"), ("x", "there are readme, tour, ")]
)
def test_an_unknown_page(name: str, hint: str) -> None:
    completed_run = run_cli("docs", name, ok=False)
    assert completed_run.returncode == 1 and f"no page '{name}'\n  {hint}" in completed_run.stderr


def test_hints_name_pages_that_are_there() -> None:
    source_files = [
        path for folder in ("builders", "scoring") for path in (ROOT / folder).rglob("*.py")
    ]
    page_texts = "".join(path.read_text("utf-8") for path in source_files)
    named = set(re.findall(r"\(factdrift docs (\w+)\)", page_texts))
    assert named and named <= documentation_pages().keys()


def test_the_wheel_has_the_pages_without_pictures(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = {name.removeprefix("factdrift/"): file.getinfo(name) for name in file.namelist()}
        readme = file.read("factdrift/docs/README.md").decode()
    link_places = {
        "docs/README.md" if path == ROOT / "README.md" else path.relative_to(ROOT).as_posix()
        for path in documentation_pages().values()
    }
    assert link_places <= names.keys()
    assert readme == (ROOT / "README.md").read_text("utf-8")
    in_docs = [name for name in names if name.startswith("docs/")]
    assert all(name.endswith(".md") for name in in_docs)
