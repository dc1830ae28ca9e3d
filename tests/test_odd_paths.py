"""Odd paths, for every option and argument that takes one: one clear message, and no hang."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from factdrift.builders.cli import app
from factdrift.builders.core.inputs import INPUTS
from tests.annotation_workers import batch_of, hand_in, submission
from tests.conftest import ROOT, run_cli
from tests.release_sample import publish
from torture import not_for_ever

TEXTS = ("recipe", "archives", "layout", "dataset", "results", "prompts", *INPUTS)
"""Parameters that take a path as text, for they take names, addresses or patterns, too."""
WRITTEN = ("out", "build", "to", "notes", "croissant", "feedback", "share", "svg")
"""Parameters that name what is written, so that most odd names do."""
ODD = ("long", "deep", "newline", "newline.json", "-", "~", "folder", "fifo", "loop", "gone")
UNWRITABLE = ("long", "deep", "fifo", "loop", "empty.txt")
EMPTY = ("json", "parquet", "yaml", "txt")
QUICK = ("verify", "steps", "diff", "layouts", "templates")
"""Commands whose odd paths are tried without SLOW=1: a second in all."""
RECIPE = ROOT / "builders/recipes/wmt-question-dates.yaml"
DUMP = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"
SECONDS = 60
"""After which a command is taken to hang."""

GOOD = {
    command: words
    for line in Path(__file__).with_name("odd_path_commands.txt").read_text().splitlines()
    for command, *words in [line.split()]
}
"""What each command is given where nothing is odd."""


class Place:
    """A folder with odd files in it, and good ones beside them."""

    def __init__(self, tmp: Path) -> None:
        self.folder = tmp
        for name in ("folder", "out"):
            (tmp / name).mkdir()
        os.mkfifo(tmp / "fifo")
        (tmp / "loop").symlink_to(tmp / "loop")
        (tmp / "gone").symlink_to(tmp / "nowhere")
        for name in EMPTY:
            (tmp / f"empty.{name}").touch()
        (tmp / "out/c\nd.json").write_text('{"models": 3')
        batch = batch_of(tmp)
        release = publish(tmp / "releases").folder
        predictions = tmp / "p.jsonl"
        predictions.write_text(json.dumps({"id": "0000-2021Q3", "prediction": "x"}) + "\n")
        scoring_words = ["--partial", "--out", tmp / "scores", "--share", tmp / "shared"]
        run_cli("score", release, "--predictions", predictions, *scoring_words)
        scores_text = "{forgotten: {0: scores}, updated: scores, new: scores}"
        (tmp / "series.yaml").write_text(f"models: [{scores_text}, {scores_text}]")
        self.good = {
            "recipe": RECIPE,
            "release": release,
            "dump": DUMP,
            "news": ROOT / "samples/news",
            "layout": tmp / "quick",
            "rows": tmp / "rows.jsonl",
            "hits": tmp / "hits",
            "batch": tmp / "nowhere",
            "results": hand_in(tmp, [submission(batch, "w1")]),
            "predictions": predictions,
            "scores": tmp / "scores",
            "shared": tmp / "shared/sample-1.0.0/p",
            "series": tmp / "series.yaml",
            "gone": tmp / "nowhere",
            "new": tmp / "out",
        }

    def odd(self, name: str) -> str:
        """What a user could write, by its kind."""
        odd_paths = {"long": "x" * 5000, "deep": "x/" * 2400 + "x", "newline": "a\nb"}
        odd_paths["newline.json"] = "c\nd.json"
        return odd_paths.get(name, name if name in "-~" else str(self.folder / name))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("odd"))


def parameters() -> Iterator[tuple[str, Any]]:
    """Every parameter of the program that takes a path, by its command."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for command_parameter in command.params:
            if command_parameter.name in INPUTS and name != "steps":
                continue  # the same options with the same code behind them
            if (
                "Path" in str(command_parameter.type_descriptor.annotation)
                or command_parameter.name in TEXTS
            ):
                yield name, command_parameter


def cases() -> Iterator[Any]:
    for command, command_parameter in parameters():
        every = (*ODD, *(f"empty.{name}" for name in EMPTY))
        for odd in UNWRITABLE if command_parameter.name in WRITTEN else every:
            quick = command in QUICK and odd in ("long", "newline", "fifo", "loop")
            slow_mark = () if quick and command_parameter.name not in INPUTS else pytest.mark.slow
            name = f"{command}-{command_parameter.name}-{odd}"
            yield pytest.param(command, command_parameter, odd, id=name, marks=slow_mark)


@pytest.mark.parametrize(("command", "one", "odd"), [*cases()])
def test_an_odd_path(command: str, one: Any, odd: str, place: Place) -> None:
    command_words = [word.format(**place.good) for word in GOOD[command]]
    path = place.odd(odd)
    option = one.opts[0]
    if not option.startswith("-"):
        params = typer.main.get_command(app).commands[command].params  # type: ignore[attr-defined]
        arguments = [param.name for param in params if not param.opts[0].startswith("-")]
        place_of = arguments.index(one.name)
        command_words[place_of : place_of + 1] = [path]
    elif option in command_words:
        command_words[command_words.index(option) + 1] = path
    else:
        command_words += [option, path]
    with not_for_ever(SECONDS):
        ended_process = run_cli(command, *command_words, cwd=place.folder / "out", ok=False)
    printed_text = ended_process.stderr + ended_process.stdout
    assert "Traceback" not in printed_text
    assert odd not in ("long", "newline", "newline.json") or path not in printed_text
    if ended_process.returncode:
        told_errors = [line for line in printed_text.splitlines() if line.startswith("error: ")]
        assert len(told_errors) == 1 or (
            ended_process.returncode == 2 and "Usage" in printed_text
        ), printed_text
