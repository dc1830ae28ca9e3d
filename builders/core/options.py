"""Options and arguments that several commands have."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import resource
from factdrift.builders.core.progress import set_loudness
from factdrift.builders.core.sizes import byte_count

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
CorrectionsFile = Annotated[
    Path | None,
    Option(
        "--corrections",
        help="Corrections of rows and statements.",
        show_default="corrections.yaml, where it is there",
    ),
]
Build = Annotated[Path, Option(help="Where intermediate tables are kept.")]
Jobs = Annotated[int, Option(min=1, help="Processes that work side by side.")]


def _size(text: str) -> str:
    """Return a size in the notation of DuckDB."""
    try:
        byte_count(text)
    except ValueError:
        raise typer.BadParameter("write a size: 600MB, 2GB") from None
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
AsJson = Annotated[bool, Option("--json", help="Print the result as JSON, to stdout.")]
Quiet = Annotated[
    bool, Option("--quiet", "-q", help="Say warnings and errors alone, beside the result.")
]
Verbose = Annotated[
    bool,
    Option(
        "--verbose",
        "-v",
        help="Say more: times, every split, libraries' logs, where errors come from.",
    ),
]


def choose_loudness(quiet: bool, verbose: bool) -> None:
    """Set how much is said by the two options, of which one may be given."""
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose exclude each other")
    set_loudness("quiet" if quiet else "verbose" if verbose else "usual")


def with_loudness(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options `--quiet` and `--verbose` behind its own."""

    def run(*, quiet: bool, verbose: bool, **option_values: Any) -> None:
        if quiet or verbose:  # else as it was said before the name of the command
            choose_loudness(quiet, verbose)
        command(**option_values)

    command_signature = inspect.signature(command, eval_str=True)
    loudness_parameters = [
        inspect.Parameter(
            option_name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option_hint
        )
        for option_name, option_hint in (("quiet", Quiet), ("verbose", Verbose))
    ]
    run_parameters = [*command_signature.parameters.values(), *loudness_parameters]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in run_parameters}
    run.__signature__ = command_signature.replace(parameters=run_parameters)  # type: ignore[attr-defined]
    return run


def listed_relations(relations: str | None) -> list[str]:
    """Return the ids in `P54,P39` or `P54, P39`; none means all relations."""
    relation_ids = re.findall(r"[^\s,]+", relations or "")
    if relations is not None and not relation_ids:
        raise UserError("--relations names none", hint="write P54,P39, or leave it out")
    return relation_ids
