"""What a user can get wrong around a run is told before hours of work, and in words."""

import json
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
