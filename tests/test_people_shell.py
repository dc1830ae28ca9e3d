"""The shell transcript of PEOPLE.md: typed in an empty folder, it says what stands there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

RUN = "import sys; from factdrift.builders.cli import main; main()"


def transcript() -> list[tuple[str, list[str]]]:
    """Commands, and the lines that each says."""
    text = (ROOT / "PEOPLE.md").read_text("utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    parts = block.split("$ ")[1:]
    return [(lines[0], lines[1:]) for lines in (part.rstrip("\n").split("\n") for part in parts)]


def pattern(lines: list[str]) -> str:
    """What the lines match: `…` alone any lines, in a line anything."""
    found = [
        "(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*?") + "\n"
        for line in lines
    ]
    return "".join(found)


@pytest.mark.slow
def test_what_is_typed_says_what_stands_there(tmp_path: Path) -> None:
    commands = {"factdrift": [sys.executable, "-c", RUN], "python": [sys.executable]}
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    for typed, lines in transcript():
        words = shlex.split(typed)
        done = subprocess.run(
            [*commands.get(words[0], words[:1]), *words[1:]],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        said = done.stdout
        assert done.returncode == 0, f"{typed}\n{said}"
        assert re.fullmatch(pattern(lines), said), f"{typed}\n{said}"
