"""Options and arguments that several commands have."""

import re
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource

__outside_step_keys__ = True

# the folder is shown in the help by words, because its path differs between machines
TEMPLATES = resource("templates")
Templates = Annotated[
    Path,
    Option(
        help="Folder of relation templates that add to the project's, or take their places.",
        show_default="the project's",
    ),
]
Recipes = Annotated[
    list[str] | None,
    Argument(help="Recipes by name or path; by default all that need no argument."),
]
Release = Annotated[Path, Argument(help="A release folder.")]
Build = Annotated[Path, Option(help="Where intermediate tables are kept.")]
Jobs = Annotated[int, Option(min=1, help="Processes that work side by side.")]


def _size(text: str) -> str:
    """Return a size in the notation of DuckDB."""
    # `600MB` and `1.5 GiB`, not `600` or `2G`
    if not re.fullmatch(r"\d+(?:\.\d+)? ?[KMGT]i?B", text, re.IGNORECASE):
        raise typer.BadParameter("write a size: 600MB, 2GB")
    return text


Memory = Annotated[
    str, Option(help="Memory for tables, such as 600MB; what needs more uses disk.", callback=_size)
]
Snapshot = Annotated[
    str | None,
    Option(
        "--snapshot-date",
        "--snapshot",
        metavar="YYYY-MM-DD",
        help="Day of the dump, or of the input whose name does not say it.",
    ),
]


def listed_relations(relations: str | None) -> list[str]:
    """Return the ids in `P54,P39` or `P54, P39`; none means all relations."""
    relation_ids = re.findall(r"[^\s,]+", relations or "")
    if relations is not None and not relation_ids:
        raise UserError("--relations names none", hint="write P54,P39, or leave it out")
    return relation_ids
