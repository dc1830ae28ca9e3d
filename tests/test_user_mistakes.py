"""What a user can get wrong around a run is told before hours of work, and in words."""

import json
import re
import shutil
from pathlib import Path

import pytest

from factdrift.builders.core.progress import echo, say
from factdrift.builders.templama.dataset import Window
from tests.conftest import ROOT, run

RECIPES = ROOT / "builders/recipes"
DUMP = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ({"granularity": "month", "first": "2019Q1"}, "2019Q1 is not a month"),
        ({"latest": 3, "first": "2019Q1"}, "give either latest or first"),
        ({"last": "2019Q1"}, "give either latest or first"),
        ({"first": "2025Q4", "last": "2019Q1"}, "ends before it begins"),
        ({"first": "2019Q5"}, "not a period"),
    ],
)
def test_windows_that_contradict_themselves(window: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Window.model_validate(window)


def test_a_mined_folder_says_how_much_and_is_checked_for_relations(tmp_path: Path) -> None:
    refused = run("mine", DUMP, "--out", tmp_path / "m", "--relations", " P6, P39,", ok=False)
    assert "a dump is mined for every relation" in refused.stderr
    done = run("mine", DUMP, "--out", tmp_path / "m")
    summary = tmp_path / "m/mined.json"
    known = json.loads(summary.read_text())
    assert (
        f"{known['counts']['statements']:,} statements of 2026-02-02" in done.stdout + done.stderr
    )
    words = ["release", RECIPES / "dynamic-templama.yaml", "--dump", tmp_path / "m"]
    words += ["--build", tmp_path / "b", "--out", tmp_path / "r"]
    summary.write_text(json.dumps({**known, "asked": ["P6", "P39"]}))  # as an endpoint is mined
    said = run(*words, ok=False).stderr
    assert "error: " in said
    assert "it was not mined for P102, P106, " in said
    summary.write_text("{}")
    assert "not what mining writes" in run(*words, ok=False).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "nonsense"], "write a size"),
        (["--version", "1.2"], "1.2"),
        (["--out", "/proc/nothing"], "error: /proc/nothing"),
        (["--build", "/proc/nothing"], "error: /proc/nothing"),
    ],
)
def test_options_are_checked_first(words: list[str], said: str, tmp_path: Path) -> None:
    options = {"--build": tmp_path / "b", "--out": tmp_path / "r"} | dict([words])
    flat = [word for pair in options.items() for word in pair]
    done = run("release", RECIPES / "temporal-facts.yaml", *flat, ok=False)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "making" not in done.stderr


def test_a_release_without_rows_is_none(sample: Path, tmp_path: Path) -> None:
    shutil.copytree(sample / "build", tmp_path / "b")
    recipe = tmp_path / "none.yaml"
    text = (RECIPES / "dynamic-templama.yaml").read_text("utf-8")
    text = text.replace("../../samples", str(ROOT / "samples"))
    recipe.write_text(text + "  min_objects: 1000000\n", "utf-8")
    words = ["--build", tmp_path / "b", "--out", tmp_path / "r"]
    done = run("release", recipe, *words, ok=False)
    assert done.returncode == 1, done.stderr
    assert "nothing is left for dynamic-templama: " in done.stderr
    assert "few_objects" in done.stderr
    assert not list((tmp_path / "r").rglob("*.parquet"))


def test_releases_that_cannot_be_compared(sample: Path, tmp_path: Path) -> None:
    old = sample / "releases/dynamic-templama/1.0.0"
    other = run("diff", old, sample / "releases/timeqa/1.0.0", ok=False).stderr
    assert "two datasets, dynamic-templama and timeqa" in other
    new = tmp_path / "1.0.0"
    shutil.copytree(old, new)
    manifest = new / "manifest.json"
    manifest.write_text(re.sub(r'"sha256": "\w{4}', '"sha256": "0000', manifest.read_text()))
    next(new.glob("data/updated/*.parquet")).write_text("x")
    said = run("diff", old, new, ok=False).stderr
    assert "cannot be compared" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone\x1b]0;title\x07", r"\x1b[2Jgone\x1b]0;title\x07"),
        ("a\rb\x9bc", r"a\rb\x9bc"),
        ("a\u202eb", r"a\u202eb"),
        ("a\udc80", r"a\udc80"),
        ("a\tb\nc d é\u00a0\u200c中", "a\tb\nc d é\u00a0\u200c中"),
    ],
)
def test_text_from_outside_does_not_steer_the_terminal(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say(text)
    echo(text)
    assert capsys.readouterr() == (f"{shown}\n", f"{shown}\n")
