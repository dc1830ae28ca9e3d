"""The scheduled workflow: valid YAML, commands that there are, and a dry run as it stands."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from factdrift.builders.cli import app
from factdrift.builders.release.verify import verify_release
from tests.conftest import ROOT, Completed, run_process
from tests.hub_server import TOKEN, serve_hub
from tests.sparql_server import serve

WORKFLOW = ROOT / ".github/workflows/quarter.yml"
SAMPLE = ROOT / "samples/wikidata/wikidata-20260202-all.json.gz"


def workflow() -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    return document


def steps() -> dict[str, dict[str, Any]]:
    """The steps with commands, by name."""
    job_steps = workflow()["jobs"]["quarter"]["steps"]
    return {step["name"]: step for step in job_steps if "run" in step}


def test_the_workflow_is_valid() -> None:
    document = workflow()
    schedule = document[True]["schedule"]  # YAML 1.1 reads the key `on` as true
    assert schedule[0]["cron"].split()[3] == "1,4,7,10"
    for step in document["jobs"]["quarter"]["steps"]:
        assert ("run" in step) != ("uses" in step)
        # an action is named by its commit, which nobody can move
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40))
    for step in steps().values():
        run_process("bash", "-n", "-c", step["run"])
        assert "${{" not in step["run"]  # what others write is no part of a command


def test_the_commands_of_the_workflow_have_these_options() -> None:
    commands: dict[str, Any] = getattr(typer.main.get_command(app), "commands", {})
    text = "\n".join(step["run"] for step in steps().values()).replace("\\\n", " ")
    # `factdrift quick --window 4 quarters …`
    lines = re.findall(r"^ *factdrift (.+)$", text, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        name, *words = shlex.split(line)
        options = {option for parameter in commands[name].params for option in parameter.opts}
        named = {option for word in words for option in re.findall(r"--[a-z-]+", word)}
        assert named <= options, name


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """The environment of a run: `factdrift`, `python` and `hf` are on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, program_words in {"python": "", "factdrift": "-m factdrift"}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {program_words} "$@"\n')
        (folder / name).chmod(0o755)
    path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}


@pytest.mark.slow
def test_a_dry_run_and_a_quarter(tools: dict[str, str], tmp_path: Path) -> None:
    def run(step_start: str, folder: Path, **variables: str) -> Completed:
        (step,) = (step for name, step in steps().items() if name.startswith(step_start))
        folder.mkdir(exist_ok=True)
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"])
        return run_process(*shell, cwd=folder, env=environment | variables)

    relations = ("P286", "P54", "P279", "P569", "P570", "P571", "P576")
    with serve(SAMPLE, flavour="wdqs", relations=relations) as endpoint, serve_hub() as hub:
        environment = tools | {
            "REPO": hub.name,
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "hf"),
            "ENDPOINT": endpoint.endpoint,
            "CONTACT": "factdrift/quarter (https://example.org/factdrift)",
            "RELATIONS": "P286",
            "DAY": "2026-02-02",
            "PUBLISH": "false",
        }
        first = tmp_path / "first"
        assert "there is no version yet" in run("Fetch", first).stdout
        run("Build", first)
        dry_run = run("Publish", first)
        assert f"to {hub.name} as 1.0.0" in dry_run.stderr
        assert hub.commits == []
        page = first / "page"
        assert verify_release(page) == []
        assert "(page/picture.png)" in (page / "README.md").read_text("utf-8")

        run("Publish", first, PUBLISH="true", HF_TOKEN=TOKEN)
        assert hub.tags == {"1.0.0": 1}
        later = tmp_path / "later"
        run("Fetch", later, HF_TOKEN=TOKEN)
        (release,) = (later / "quick/releases").glob("*/1.0.0")
        assert verify_release(release) == []
        for name in ("manifest.json", "README.md", "CARD.md", "CHANGELOG.md"):
            assert (release / name).read_bytes() == (page / name).read_bytes()
