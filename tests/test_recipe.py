"""The inputs of a run: which files each kind names, of what day, and what is refused."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from factdrift.builders.cli import from_make
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import recipe_path, resource
from factdrift.builders.core.inputs import INPUTS, with_inputs
from factdrift.builders.core.run import Run
from factdrift.builders.core.steps import Workspace
from factdrift.builders.recipes.recipe import (
    FINDERS,
    FOLDER,
    Recipe,
    find_inputs,
    find_recipe,
    recipes,
)
from factdrift.builders.release.release import ReleaseOptions, rebuild_command
from factdrift.builders.wmt.dataset import WMTQuestionDates
from factdrift.builders.wmt.steps import article_step

DUMP = "enwiki-20260201-pages-articles-multistream"
NAMES = (
    "news/news-docs.2019.en.filtered.gz",
    "news/news-docs.2020.en.filtered.gz",
    "more/news-docs.2021.en.filtered.gz",
    "undated.jsonl",
    "odd.jsonl@2019-01-01",
    "news-20201939.jsonl",
    "ids.txt.gz",
    "ids-2031.txt.gz",
    f"wiki/{DUMP}.xml.bz2",
    f"wiki/{DUMP}-index.txt.bz2",
    "wikidata-20260202-all.json.gz",
    "latest.json.gz",
    "trex/P19.jsonl",
    "trex/P36.jsonl",
    "P6.jsonl",
)
PAPER: dict[str, Any] = {"news": {}, "keep": {"optional": True}, "dump": {"optional": True}}
SHA = hashlib.sha256(b"").hexdigest()
CASES = Path(__file__).with_name("recipe_cases")
TABLE = yaml.load((CASES / "inputs.yaml").read_text(), yaml.BaseLoader)  # noqa: S506
OPTIONS = yaml.safe_load((CASES / "options.yaml").read_text())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with empty files of every kind, the current one."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recipe(inputs: dict[str, dict[str, Any]]) -> Recipe:
    about = {"title": "t", "summary": "s", "licence": "CC0-1.0", "version": "auto"}
    named_inputs = {
        name: {"licence": "CC0-1.0", **input_settings} for name, input_settings in inputs.items()
    }
    build = WMTQuestionDates(builder="wmt-question-dates")
    return Recipe.model_validate({"dataset": "x", **about, "inputs": named_inputs, "build": build})


def spelled(names: list[str]) -> list[str]:
    """The names of a case with those in capitals spelled out."""
    return [spelled_path for name in names for spelled_path in TABLE["names"].get(name, [name])]


@pytest.mark.parametrize("case", TABLE["cases"].values(), ids=TABLE["cases"])
def test_files_and_days(case: dict[str, Any], folder: Path) -> None:
    inputs = TABLE["recipes"].get(str(case["recipe"])) or case["recipe"]
    for input_settings in inputs.values():
        if "sha256" in input_settings:
            input_settings["sha256"] = input_settings["sha256"].replace("SUM", SHA)
    given_paths = {name: spelled(paths) for name, paths in case.get("given", {}).items()}
    store = Workspace(folder / "build", lambda _: None)
    with ExitStack() as stack:
        if "refused" in case:
            text = re.escape(case["refused"].replace("SUM", SHA))
            stack.enter_context(pytest.raises(UserError, match=text))
        found_inputs = find_inputs(
            recipe(inputs), Path("x.yaml"), given_paths, case.get("day"), store
        )
        assert {
            input_name: [
                input_source.snapshot.isoformat(),
                *(input_file.as_posix() for input_file in input_source.files),
            ]
            for input_name, input_source in found_inputs.items()
        } == {name: spelled(listed_paths) for name, listed_paths in case["found"].items()}
        for source in found_inputs.values():
            assert source.sha256 == (SHA,) * len(source.files)


def test_several_lists_to_keep_are_refused(folder: Path) -> None:
    store = Workspace(folder / "build", lambda _: None)
    given_paths = {"news": ["news"], "keep": ["ids*.txt.gz"]}
    found_inputs = find_inputs(recipe(PAPER), Path("x.yaml"), given_paths, None, store)
    run = Run(folder, found_inputs, folder, store, 0)
    with pytest.raises(UserError, match="one list of articles to keep"):
        article_step(run)


@pytest.mark.parametrize(("name", "about", "paths", "day", "expected"), OPTIONS["rebuilt"])
def test_the_command_that_makes_it_again(
    name: str, about: Any, paths: list[str], day: str | None, expected: str, folder: Path
) -> None:
    given_paths = {name: [str(folder / path) for path in paths]} if paths else {}
    made_recipe, path = recipe({name: about}), folder / "x.yaml"
    store = Workspace(folder / "build", lambda _: None)
    release_options = ReleaseOptions(
        given=given_paths, snapshot=day, build=store.root, say=store.say
    )
    expected += f" --snapshot-date {day}" if day else ""
    assert (
        rebuild_command(path, made_recipe, release_options) == f"factdrift release x.yaml{expected}"
    )


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("dynamic-templama", FOLDER / "dynamic-templama.yaml"),
        ("dynamic-templama.yaml", FOLDER / "dynamic-templama.yaml"),
        ("builders/recipes/dynamic-templama.yaml", FOLDER / "dynamic-templama.yaml"),
        ("timeqa", Path("timeqa")),  # a file of this name is there
        ("other/no-such.yaml", Path("other/no-such.yaml")),
        ("dynamic-templma", "did you mean dynamic-templama? bundled are as-of, "),
        ("mine.yml", "did you mean mine.yaml?"),
        ("zzz", "bundled are as-of, "),
    ],
)
def test_a_recipe_is_named_by_path_or_by_name(
    named: str, expected: Path | str, folder: Path
) -> None:
    (folder / "timeqa").touch()
    (folder / "mine.yaml").touch()
    if isinstance(expected, Path):
        assert find_recipe(named) == expected
        return
    with pytest.raises(UserError) as error:
        find_recipe(named)
    assert expected in str(error.value)


def test_a_bundled_recipe_names_what_comes_with_the_project() -> None:
    found_path = recipe_path(FOLDER / "timeqa.yaml", "../../samples/news")
    assert found_path == resource("samples/news")
    assert found_path.is_dir()
    assert recipe_path(Path("my/recipe.yaml"), "../news") == Path("my/../news")


def test_each_input_is_a_row_of_one_table() -> None:
    for path, bundled_recipe in recipes().items():
        kinds_by_name = {name: about.kind for name, about in bundled_recipe.inputs.items()}
        assert {name: INPUTS[name].kind for name in kinds_by_name} == kinds_by_name, path
    assert {row.kind for row in INPUTS.values()} == set(FINDERS)


def test_what_of_a_folder_elsewhere_is_taken() -> None:
    names = ["a.json.gz", "entities.parquet", "a.xml.bz2", "a.jsonl", "gold.parquet", "README.md"]
    taken = {
        kind: "".join("-x"[mine(name)] for name in names) for kind, (_, mine) in FINDERS.items()
    }
    taken_files = {"wikidata": "xxxx--", "news": "-x-xx-", "pages": "-xxxx-", "file": "---x--"}
    assert taken == {**taken_files, "gold": "----x-"}


@pytest.mark.parametrize(("options", "expected"), OPTIONS["given"])
def test_inputs_as_options(options: str, expected: dict[str, list[str]] | str) -> None:
    seen_values: list[Any] = []

    def command(first: str, *, given: Mapping[str, list[str]], last: int = 3) -> None:
        """What it does."""
        seen_values.append((first, given, last))

    app = typer.Typer()
    app.command()(with_inputs(command))
    ended_command = CliRunner().invoke(app, ["x", *options.split(), "--last", "4"])
    if isinstance(expected, str):
        assert isinstance(ended_command.exception, UserError)
        assert expected in str(ended_command.exception)
    else:
        assert seen_values == [("x", expected, 4)], ended_command.output


@pytest.mark.parametrize(("variables", "command", "expected"), OPTIONS["make"])
def test_variables_of_make_are_options(
    variables: dict[str, str], command: str, expected: dict[str, Any], folder: Path
) -> None:
    (folder / "my news.jsonl").touch()
    environment = {
        f"FACTDRIFT_{variable_name}": variable_text
        for variable_name, variable_text in variables.items()
    }
    environment["FACTDRIFT_MAKE"] = " ".join(variables)
    assert from_make(environment)[command] == expected


def test_a_variable_that_no_command_knows() -> None:
    with pytest.raises(UserError, match=r"DUMPS=\s.*did you mean DUMP="):
        from_make({"FACTDRIFT_MAKE": "DUMPS", "FACTDRIFT_DUMPS": "a"})
    assert from_make({"DUMPS": "a", "DUMP": "b"}) == {}
