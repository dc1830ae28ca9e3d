"""The container file, without a container: what it copies is there; its command is one of ours."""

import json
import re
import tomllib

from typer.main import get_command

from factdrift.builders.cli import app
from tests.conftest import ROOT

TEXT = (ROOT / "Containerfile").read_text("utf-8")


def test_what_is_installed_is_copied_and_nothing_that_names_people() -> None:
    copied = {name for line in re.findall(r"^COPY (.*) \S+$", TEXT, re.M) for name in line.split()}
    for name in copied:
        assert (ROOT / name).exists()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    needed = {name.partition("/")[0] for name in (*packages, project["project"]["readme"])}
    assert {*needed, "pyproject.toml"} <= copied
    assert not copied & {".", "hits", "judgments", "results", "pay"}
    assert "serve" in project["project"]["optional-dependencies"]


def test_its_command_is_one_of_ours() -> None:
    (entry_point,) = re.findall(r"^ENTRYPOINT (.*)$", TEXT, re.M)
    program_name, name, *further_words = json.loads(entry_point)
    named_command = get_command(app).commands[name]  # type: ignore[attr-defined]
    context = named_command.make_context(name, list(further_words), resilient_parsing=False)
    assert program_name == "factdrift"
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 8000)  # noqa: S104
