"""The shell transcript of PEOPLE.md: typed in an empty folder, it says what stands there."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_process

RUN = "import sys; from factdrift.builders.cli import main; main()"


def transcript() -> list[tuple[str, list[str]]]:
    """Commands, and the lines that each says."""
    text = (ROOT / "PEOPLE.md").read_text("utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    parts = block.split("$ ")[1:]
    return [(lines[0], lines[1:]) for lines in (part.rstrip("\n").split("\n") for part in parts)]


def pattern(lines: list[str]) -> str:
    """What the lines match: `…` alone any lines, in a line anything."""
    matched_lines = [
        "(?:.*\n)*?" if text_line == "…" else re.escape(text_line).replace("…", ".*?") + "\n"
        for text_line in lines
    ]
    return "".join(matched_lines)


@pytest.mark.slow
def test_what_is_typed_says_what_stands_there(tmp_path: Path) -> None:
    commands = {"factdrift": [sys.executable, "-c", RUN], "python": [sys.executable]}
    scripts = Path(sys.executable).parent  # so that `factdrift` is what one types next
    wide = {"COLUMNS": "200", "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for typed, lines in transcript():
        command_words = shlex.split(typed)
        typed_command = [*commands.get(command_words[0], command_words[:1]), *command_words[1:]]
        printed_text = run_process(
            "sh", "-c", 'exec "$@" 2>&1', "sh", *typed_command, cwd=tmp_path, env=wide
        ).stdout
        assert re.fullmatch(pattern(lines), printed_text), f"{typed}\n{printed_text}"
