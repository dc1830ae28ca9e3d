"""What others wrote never tells a terminal what to do: every message goes through one function."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from factdrift.builders.core.errors import UserError, printable
from tests.conftest import ROOT, run_process

HOSTILE = [
    "\x1b[2J\x1b[H",
    "\x1b]0;owned\x07",
    "\x1b]8;;https://evil.example\x1b\\x",
    "\x9b31m",
    "\x90q\x9c",
    "a\rb",
    "a\x08\x08b",
    "\x00\x7f\x05",
    "\x0b\x0c",
    "\u202egnp.exe",
    "\u2066a\u2069",
    "\u200e\u200f\u061c",
    "a\u2028b\u2029",
    "a\x85b",
    "\udc80\ud800",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_control_characters_are_escaped(text: str) -> None:
    shown_text = printable(f"a{text}b")
    assert shown_text.isprintable()
    assert shown_text.isascii()
    assert str(UserError(text, where=text, hint=text)).replace("\n", "").isprintable()


def test_what_can_be_read_stays() -> None:
    for text in ("Zoë Müller", "עולם", "日本語", "😀", "a\tb\nc", "e\u0301", "नमस्ते", "a\u200db"):
        assert printable(text) == text


REPORTS = """
import logging, sys, warnings
from factdrift.builders.core.progress import echo, escape_reports, progress, say
escape_reports()
text = ascii_text.encode().decode("unicode_escape")
say(text)
echo(text)
logging.getLogger("urllib3").warning("broken: %s", text)
warnings.warn(text)
with progress(3, text, text) as bar:
    bar.advance(3)
raise ValueError(text)
"""


@pytest.mark.parametrize("text", HOSTILE[:-1])
def test_reports_of_all_kinds_are_escaped(text: str) -> None:
    """Also logs and warnings of libraries, and the traceback of a mistake of ours."""
    ascii_text = text.encode("unicode_escape").decode()
    program = f"ascii_text = {ascii_text!r}\n{REPORTS}"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, cwd=ROOT
    )
    printed_text = (run.stdout + run.stderr).decode("utf-8")
    assert "ValueError" in printed_text
    assert "broken: " in printed_text
    assert printed_text.replace("\n", "").replace("\t", "").isprintable()


# The modules that write to a terminal themselves: constant texts alone, or through `printable`.
_WRITERS = {"builders/core/progress.py", "factdrift/__main__.py"}
_WRITING = {"print", "secho", "pprint"}


def test_nothing_else_prints() -> None:
    for package in ("annotation", "builders", "factdrift", "filters", "reasoning", "scoring"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if place in _WRITERS or "skeletons" in place or path.is_symlink():
                continue
            if any(parent.is_symlink() for parent in path.parents):
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                    assert name not in _WRITING, f"{place}:{node.lineno}"
                if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr"):
                    is_system = isinstance(node.value, ast.Name) and node.value.id == "sys"
                    assert not is_system, f"{place}:{node.lineno}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["verify", "{0}"],
        ["verify", "a", "{0}"],
        ["verify", "--{0}"],
        ["{0}"],
        ["release", "{0}"],
        ["release", "--memory", "{0}"],
        ["templates", "--templates", "{0}"],
        ["layouts", "{0}"],
        ["score", "{0}", "--predictions", "{0}"],
        ["diff", "{0}", "{0}"],
        ["mine", "{0}", "--out", "x"],
    ],
)
def test_arguments_are_escaped(tmp_path: Path, words: list[str]) -> None:
    named_words = [word.format("\x1b[2Jx\x07") for word in words]
    run = run_process(sys.executable, "-m", "factdrift", *named_words, ok=False, cwd=tmp_path)
    printed_text = run.stdout + run.stderr
    assert "Traceback" not in printed_text
    assert not set(printed_text) & set("\x1b\x07")
