"""Documents tell the truth: pages say what each key and command is, and walks run."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from docs import hooks, scale_picture
from docs.hooks import dataset, example, invocation, pages, relinked, section
from docs.keys import Key, keys, nested
from factdrift.builders.core.config import Strict
from factdrift.builders.facts.relations import Relation
from factdrift.builders.recipes.recipe import Recipe, recipes
from factdrift.builders.rows import ckl
from tests.browser import Browser, browser
from tests.conftest import ROOT, Completed
from tests.house import package_imports, repeated_classes, top_down
from tests.tables import names_of

__all__ = ["browser"]


@cache
def generated_pages() -> dict[str, str]:
    """The pages that are made from the code, by path; made once, as they take seconds."""
    return dict(pages())


MODELS = [Recipe, *nested(Recipe), Relation, *nested(Relation)]


class Inner(Strict):
    """What stands inside."""

    deep: bool = False
    """A text below."""


class Sample(Strict):
    """A sample.

    `first`, `second`: two of a kind; `third`: another.
    """

    first: str
    second: tuple[int, ...] = ()
    third: float | None = None
    fourth: int = Field(default=3, description="described")
    inner: Inner = Inner()
    silent: str = ""


def test_what_a_key_says() -> None:
    assert keys(Sample) == [
        Key("first", "text", "needed", "Two of a kind"),
        Key("second", "list of whole number", "`[]`", "Two of a kind"),
        Key("third", "number, or null", "null", "Another"),
        Key("fourth", "whole number", "`3`", "Described"),
        Key("inner", "[Inner](#inner)", "its own defaults", "What stands inside"),
        Key("silent", "text", "``", ""),
    ]
    assert keys(Inner)[0].says == "A text below"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_says_what_it_is(model: type[BaseModel]) -> None:
    assert [key.name for key in keys(model) if not key.says] == []
    assert names_of(keys(model)) == [
        field.alias or name for name, field in model.model_fields.items()
    ]


def test_every_model_and_key_is_on_a_page() -> None:
    made_pages = generated_pages()
    for page, first in (("recipes.md", Recipe), ("templates.md", Relation)):
        for model in (first, *nested(first)):
            part = section(made_pages[page], model.__name__)
            for key in keys(model):
                assert f"| `{key.name}` |" in part


def test_every_command_says_what_its_options_are() -> None:
    text = generated_pages()["commands.md"]
    assert {"release", "diff", "score", "run-model", "push"} <= set(
        re.findall(r"^## (\S+)", text, re.M)
    )
    silent = [line for line in text.splitlines() if line.startswith("| `") and "|  |" in line[:-4]]
    assert silent == []
    assert str(ROOT) not in text


def shell_commands(text: str) -> Iterator[str]:
    """Every command in the shell blocks of a page, whole and without its comment."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        open_lines = ""
        for line in block.replace("\\\n", " ").splitlines():
            open_lines += re.sub(r"(^|\s)#.*", "", line).rstrip()
            try:
                shlex.split(open_lines)
            except ValueError:  # a quotation goes on
                open_lines += "\n"
                continue
            if open_lines.strip():
                yield re.sub(r" +", " ", open_lines.strip())
            open_lines = ""


def _commands() -> list[str]:
    """Every command of the program in a block of any page, on one line."""
    document_texts = [
        *generated_pages().values(),
        *(document_path.read_text("utf-8") for document_path in ROOT.glob("docs/*.md")),
    ]
    blocks = []
    for text in document_texts:
        blocks.extend(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S))
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    programs = (".venv/bin/factdrift ", "factdrift ", "python -m factdrift ")
    commands = set()
    for command in lines:
        for document_path in programs:
            if command.startswith(document_path):
                commands.add(f"factdrift {command.removeprefix(document_path)}")
    return sorted(commands)


@pytest.mark.parametrize("command", _commands())
def test_a_command_of_a_page_has_these_options(command: str) -> None:
    """Parsed as the program parses it, and not run."""
    import typer

    from factdrift.builders.cli import app

    _, name, *arguments = shlex.split(command, comments=True)
    group: Any = typer.main.get_command(app)
    with suppress(typer.Exit):  # of options that print something and stop
        group.commands[name].make_context(name, arguments)


def test_parts_of_a_page() -> None:
    """A link to what is no page is a name, and a section ends where the next begins."""
    text = "[a](PEOPLE.md), [b](Makefile), [c](https://example.org), [d](#x), [e](TOUR.md#y)"
    plain = "[a](people.md), `b`, [c](https://example.org), [d](#x), [e](tour.md#y)"
    assert relinked(text) == plain
    assert section("# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n", "B") == "b"
    with pytest.raises(KeyError):
        section("# A\n", "B")


def test_recipes_that_a_page_of_a_dataset_names() -> None:
    from factdrift.builders.templama.dataset import DynamicTempLAMA

    text = dataset("dynamic-templama", DynamicTempLAMA)
    assert "factdrift release dynamic-templama-paper" in text
    assert "](../recipes.md#window)" in text


REHEARSED: dict[str, type] = {
    "ckl-clozes": ckl.NewsCloze,
    "new-lama": ckl.NewCloze,
    "new-lama-easy": ckl.NewEasyCloze,
    "new-lama-easy-clozes": ckl.EasyCloze,
    "updated-lama": ckl.UpdatedCloze,
}


def test_every_dataset_shows_a_row() -> None:
    """Rows of the samples' releases are a golden; the others have the columns of today."""
    for name in hooks._builders():
        block = re.search(r"```json\n(.*?)```", example(name), re.S)
        assert block, name
        columns = set(json.loads(block[1]))
        assert name not in REHEARSED or columns == set(names_of(fields(REHEARSED[name])))


def test_a_page_takes_rows_sections_and_pictures_from_elsewhere() -> None:
    first = hooks.gallery_row("as-of", 1)
    lines = hooks.with_taken("a\n\n<!-- row: as-of 1 -->\n\nb").splitlines()
    assert lines[2] == f"> {first.splitlines()[0]}" and lines[-1] == "b"
    assert "](gallery/as-of.md)" in lines[-3]
    edits = hooks.with_taken("<!-- section: README.md Edit a model -->")
    assert edits == relinked(section((ROOT / "README.md").read_text("utf-8"), "Edit a model"))
    assert hooks.with_taken("<!-- picture: a.png A b -->") == "![A b](a.png)"
    with pytest.raises(KeyError):
        hooks.gallery_row("as-of", 11)


TASKS = ("score.md", "asof.md", "edit.md", "build.md", "people.md", "contributing.md", "scale.md")


@pytest.mark.parametrize("page", TASKS)
def test_the_page_of_a_task_has_a_row_or_a_picture(page: str) -> None:
    text = generated_pages().get(page) or (ROOT / "docs" / page).read_text("utf-8")
    assert re.search(r"^<!-- (row|picture): ", text, re.M)
    assert page in generated_pages()["index.md"]


def test_every_dataset_has_ten_rows_or_says_that_people_make_it() -> None:
    made_pages, choice = generated_pages(), (ROOT / "docs/which.md").read_text("utf-8")
    for name in hooks._builders():
        assert f"[{name}](datasets/{name}.md)" in choice
        rows = re.findall(r"^\*\*\d+\.\*\* ", made_pages.get(f"gallery/{name}.md", ""), re.M)
        assert len(rows) == 10 or f"[{name}](../datasets/" in made_pages["gallery/index.md"]
        assert rows == [] or f"](../gallery/{name}.md)" in made_pages[f"datasets/{name}.md"]


def test_the_picture_of_the_whole_has_every_step_of_the_table() -> None:
    minutes = scale_picture.processor_minutes()
    text = section((ROOT / "SCALE.md").read_text("utf-8"), "Time, memory, disk")
    assert len(minutes) == text.count("**: ") >= 5
    assert scale_picture.draw().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", recipes(), ids=lambda path: path.stem)
def test_a_recipe_is_shown_with_the_inputs_it_waits_for(path: Path) -> None:
    recipe = recipes()[path]
    shown_command = invocation(path.stem, recipe)
    assert not recipe.waits_for(re.findall(r"--(\w+)", shown_command))


def test_the_card_of_the_newest_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from factdrift.builders.templama.dataset import DynamicTempLAMA

    monkeypatch.setattr(hooks, "RELEASES", tmp_path)
    assert hooks.NO_CARD in dataset("dynamic-templama", DynamicTempLAMA)
    for version in ("1.9.0", "1.10.0", "notes"):
        (tmp_path / "dynamic-templama" / version / "plots").mkdir(parents=True)
    newest = tmp_path / "dynamic-templama" / "1.10.0"
    text = "---\na: 1\n---\n# T\n\n![P](plots/p.png) [M](manifest.json) [s](#t) [w](https://w)\n"
    (newest / "README.md").write_text(text)
    (newest / "plots/p.png").touch()
    picture = "dynamic-templama/plots/p.png"
    assert "](cards/dynamic-templama.md)" in dataset("dynamic-templama", DynamicTempLAMA)
    assert dict(pages())["datasets/cards/dynamic-templama.md"] == (
        f"# T\n\n![P]({picture}) `M` [s](#t) [w](https://w)\n"
    )
    assert list(hooks.pictures()) == [(f"datasets/cards/{picture}", newest / "plots/p.png")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as `make docs` builds them, without the cards of releases that lie about."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def test_the_pages_build_and_fetch_nothing(site: Path) -> None:
    page_names = {path.stem for path in site.rglob("*.html")}
    assert {
        "index",
        "recipes",
        "templates",
        "commands",
        "faq",
        "scale",
        "quarters",
    } <= page_names
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r'<(?:script|img|link)[^>]+(?:src|href)="https?://', text), page


SEARCHES = {
    "as-of": "asof.html#the-dataset-as-of",
    "as of": "asof.html#the-dataset-as-of",
    "templama": "datasets/dynamic-templama.html",
    "exact_match": "score.html#what-a-series-of-models-forgot",
    "Knowledge stops": "score.html#score-a-model",
}
_TYPED = """const box = document.getElementById("mkdocs-search-query");
box.value = arguments[0];
box.dispatchEvent(new Event("input"));
return [...document.querySelectorAll("article a")].map((link) => link.href);"""


def test_the_search_finds_words_in_pages_of_a_folder(site: Path, browser: Browser) -> None:
    browser.go(f"{(site / 'search.html').as_uri()}?q=as-of")
    browser.texts("article a")
    for words, address in SEARCHES.items():
        links = browser.js(_TYPED, words)
        assert [link for link in links if link.startswith(f"{site.as_uri()}/{address}")], words
    assert browser.js(_TYPED, "zzzz") == []
    assert browser.messages() == []


@pytest.mark.parametrize("page", ["results", "which", "asof", "gallery/timeqa"])
def test_a_page_is_no_wider_than_a_phone(page: str, site: Path, browser: Browser) -> None:
    browser.size("phone")
    browser.go((site / f"{page}.html").as_uri())
    assert browser.overflow() == 0
    assert browser.messages() == []


# --- Documents beside the code ------------------------------------------------------------------


@pytest.mark.slow
def test_the_walk_of_people_runs_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """README and TOUR run from the wheel: `tests/test_document_blocks.py`."""
    monkeypatch.chdir(ROOT)
    doctest_result = doctest.testfile(
        str(ROOT / "PEOPLE.md"),
        module_relative=False,
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    assert doctest_result.attempted > 20
    assert doctest_result.failed == 0


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "CONTRIBUTING.md", "GLOSSARY.md", "TOUR.md", "PEOPLE.md", "SCALE.md"),
        *("docs/asof.md", "docs/audit.md", "docs/build.md", "docs/score.md"),
        "docs/errata.md",
        *("docs/edit.md", "docs/which.md"),
        "samples/wikidata/README.md",
    ],
)
def test_paths_that_a_document_names_are_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    folders = "annotation|builders|templates|samples|data_cards|tests"
    named_paths = re.findall(rf"(?<![\w/<])((?:{folders})/[\w./-]+)(?![\w<])", text)
    assert [path for path in named_paths if not (ROOT / path.rstrip("./")).exists()] == []


def test_the_house_is_as_it_is_described() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    described = set(re.findall(r"^  ((?:[a-z]+/ +)+)", text, re.M))
    named_folders = {name for line in described for name in line.replace("/", "").split()}
    folders = {path.parent.name for path in (ROOT / "builders").glob("*/__init__.py")}
    assert named_folders == folders


def test_no_class_name_stands_twice_and_no_imports_run_in_a_circle() -> None:
    assert repeated_classes() == {}
    order = top_down(package_imports())
    assert (
        order.index("builders.cli") < order.index("builders.release") < order.index("builders.core")
    )


def make(*words: object) -> Completed:
    """What `make WORDS` does, also where make itself runs the tests."""
    make_environment = {
        key: value for key, value in os.environ.items() if not key.startswith("MAKE")
    }
    make_command = ["make", *map(str, words)]
    return subprocess.run(
        make_command, cwd=ROOT, capture_output=True, text=True, env=make_environment
    )


def test_make_targets_that_documents_name_are_there() -> None:
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
    spelled = r"^(?:make|.*`make) ([a-z]+)"
    targets = {
        text for path in paths for text in re.findall(spelled, path.read_text("utf-8"), re.M)
    }
    targets |= set(re.findall(r"make ([a-z]+)", (ROOT / ".github/workflows/ci.yml").read_text()))
    for make_target in targets:
        dry_run = make("--dry-run", make_target)
        assert dry_run.returncode == 0, dry_run.stderr


def test_the_makefile_and_its_help_are_short() -> None:
    """Help lists every target, and every variable is set once; the README is short, too."""
    assert 600 <= len((ROOT / "README.md").read_text("utf-8").split()) <= 800
    text = (ROOT / "Makefile").read_text("utf-8")
    variables = re.findall(r"^([A-Za-z_]+) *[?:]?= *", text, re.M)
    assert "JOBS" in variables and len(variables) == len(set(variables))
    phony = re.findall(r"^\.PHONY: (.*)$", text, re.M)
    assert set(phony[0].split()) == set(re.findall(r"^([a-z]+):.*## ", text, re.M))
    lines = make("--no-print-directory", "help").stdout.splitlines()
    assert 1 < len(lines) <= 25 and max(map(len, lines)) <= 80


def test_what_make_is_given_reaches_the_program(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / ".run").touch()
    (tmp_path / "bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "bin/python").chmod(0o755)
    (tmp_path / "my news.jsonl").touch()
    make_variables = {"VENV": "", "NEWS": "/my news.jsonl", "OUT": "/r", "BUILD": "/b"}
    settings = [f"{name}={tmp_path}{place}" for name, place in make_variables.items()]
    dry_run = make("release", "RECIPE=wmt-question-dates-paper", *settings)
    assert dry_run.returncode != 0
    assert "my news.jsonl@2020-12-31" in dry_run.stderr
