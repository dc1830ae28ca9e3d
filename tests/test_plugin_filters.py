"""A filter and a backend of somebody's package: named in a recipe like ours, through a release."""

import os
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from factdrift.builders.core import duck
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.steps import Step
from factdrift.builders.recipes.recipe import read_recipe
from factdrift.builders.streamingqa.dataset import StreamingQA
from factdrift.builders.streamingqa.question_filters import QuestionFilters
from factdrift.scoring.run_model import model_settings
from tests.conftest import ROOT, run_process

FILTER = """
import re
from collections.abc import Mapping
from typing import ClassVar, Literal

from factdrift.filters.base import FilterVerdict, ItemFilter, QuestionItem, drop_if


class NoAcronyms(ItemFilter):
    reasons: ClassVar[Mapping[str, str]] = {"acronym": "The question has too long an acronym."}

    filter: Literal["no-acronyms"] = "no-acronyms"
    longest: int = 2

    def verdict(self, item: QuestionItem) -> FilterVerdict:
        found = re.search(rf"[A-Z]{{{self.longest + 1},}}", item.question.question)
        return drop_if("acronym" if found else None)
"""
BACKEND = """
from hashlib import sha256
from typing import Literal

from factdrift.builders.generate.prompts import (
    ModelSettings, PromptedModel, load_prompts, model_identity,
)
from factdrift.builders.generate.protocol import Result, Usage


class Echo(ModelSettings):
    backend: Literal["echo"] = "echo"
    model: str = "echo-1"
    shout: bool = False

    def open(self, seed):
        return EchoModel(self)


class EchoModel(PromptedModel):
    def __init__(self, settings):
        self.settings = settings
        self.prompts = load_prompts(settings.prompts)
        self.characters = settings.characters
        self.name = "echo:" + settings.model
        self.identity = model_identity(backend="echo", shout=settings.shout)
        self.usage = Usage()

    def complete(self, texts, on_result=None, *, shape=None, parse=None):
        results = []
        for text in texts:
            code = sha256(text.encode()).hexdigest()[:6]
            name = "NATO" if int(code, 16) % 2 else "Croatia"
            results.append(Result(f"What did {name} say of {code}?"))
            if on_result:
                on_result(len(results) - 1, results[-1])
        return results
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of `sys.path` with the package `echo_kit`, as pip would install it."""
    folder = tmp_path / "site"
    package, about_package = folder / "echo_kit", folder / "echo_kit-0.1.0.dist-info"
    package.mkdir(parents=True)
    about_package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "filters.py").write_text(FILTER)
    (package / "backends.py").write_text(BACKEND)
    (about_package / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: echo-kit\nVersion: 0.1.0\n"
    )
    (about_package / "entry_points.txt").write_text(
        "[factdrift.filters]\nno-acronyms = echo_kit.filters:NoAcronyms\n"
        "broken = echo_kit.missing:Broken\nother = echo_kit.filters:NoAcronyms\n"
        "[factdrift.backends]\necho = echo_kit.backends:Echo\n"
    )
    monkeypatch.syspath_prepend(folder)
    for name in ("echo_kit", "echo_kit.filters", "echo_kit.backends"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def write_recipe(folder: Path, *filters: dict[str, Any], backend: str = "echo") -> Path:
    """The bundled recipe with the package's backend and these filters."""
    recipe = yaml.safe_load((ROOT / "builders/recipes/streamingqa-lm.yaml").read_text("utf-8"))
    news = {"kind": "news", "path": str(ROOT / "samples/news"), "licence": "CC0"}
    recipe["inputs"] = {"news": news}
    numbers = {"recent": 6, "past": 6}
    splits = {name: dict(numbers) for name in ("eval", "train", "valid")}  # dumped without aliases
    recipe["build"]["dates"] = {"most_draws": 1} | splits
    recipe["build"]["generate"] |= {"backend": {"backend": backend}, "style": "candidates"}
    recipe["build"]["filters"] = list(filters)
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(recipe), "utf-8")
    return path


@pytest.mark.slow
def test_a_release(site: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, {"filter": "length"}, {"filter": "no-acronyms"})
    release_command: list[Any] = [sys.executable, "-m", "factdrift", "release", recipe]
    release_command += ["--limit", 6, "--yes"]
    release_command += ["--build", tmp_path / "build", "--out", tmp_path / "out"]
    run_process(*release_command, env={"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"})
    (release,) = (tmp_path / "out").glob("*/*")
    data_files = str(release / "data/all/*.parquet")
    query = "SELECT question, filters, generator FROM read_parquet(?)"
    released_rows = duck.query(query, [data_files])
    assert len(released_rows) == 6
    for question, filters, generator in released_rows:
        assert "did Croatia say of" in question
        assert list(filters) == ["length", "no-acronyms"] and generator == "echo:echo-1"
    card = (release / "README.md").read_text("utf-8")
    assert "The question has too long an acronym." in card


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"filter": "no-acronims"}, r"no filter 'no-acronims', did you mean 'no-acronyms'\?"),
        ({"filter": "no-acronyms", "longst": 3}, "unknown field, did you mean 'longest'"),
        ({"filter": "no-acronyms", "longest": "many"}, "should be a valid integer"),
        ({"filter": "broken"}, "the filter 'broken' cannot be loaded: ModuleNotFoundError"),
        ({"filter": "other"}, "the filter 'other' cannot be used: .* has no `filter: Literal"),
    ],
)
def test_mistakes_are_at_their_line(
    site: Path, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    path = write_recipe(tmp_path, settings)
    with pytest.raises(UserError, match=rf"mine.yaml:\d+: build.filters\[0\].*{message}"):
        read_recipe(path)
    with pytest.raises(UserError, match=r"mine.yaml:\d+: .*no backend 'ecko', did you mean 'echo'"):
        read_recipe(write_recipe(tmp_path, backend="ecko"))


class FilteringStep(Step):
    """A step that holds filters."""

    name: ClassVar[str] = "filtering"

    filters: QuestionFilters


@pytest.mark.slow
def test_code_and_version_count_in_the_key(site: Path, tmp_path: Path) -> None:
    builder = read_recipe(write_recipe(tmp_path, {"filter": "no-acronyms"})).build
    assert isinstance(builder, StreamingQA)
    filters = QuestionFilters(
        filters=builder.filters, index=None, news_facts=None, writer=None, seed=0, offline=False
    )
    assert filters.model_dump(mode="json")["filters"] == [{"filter": "no-acronyms", "longest": 2}]
    step_code = FilteringStep(filters=filters).code()
    assert "echo_kit.filters" in step_code.modules and step_code.libraries["echo-kit"] == "0.1.0"
    assert "echo_kit.backends" not in step_code.modules
    ours = FilteringStep(filters=filters.without(("no-acronyms",))).code()
    assert step_code.digest != ours.digest and "echo-kit" not in ours.libraries


def test_run_model_takes_it(site: Path) -> None:
    option_values = {"model": "echo-2", "characters": 500, "base_url": "https://example.org/v1"}
    settings = model_settings("echo", option_values)
    assert (settings.backend, settings.model, settings.characters) == ("echo", "echo-2", 500)
    assert settings.only_writes and settings.kind() == "causal"
    with pytest.raises(UserError, match="--base-url: the backend `echo` has no such option"):
        model_settings("echo", option_values, {"model", "base_url"})
    with pytest.raises(UserError, match="no backend 'ecko'"):
        model_settings("ecko", option_values)
