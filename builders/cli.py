"""The command line: `python -m factdrift` and the console script `factdrift`."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperCommand

import factdrift
from factdrift.annotation import commands as people
from factdrift.builders import commands
from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import is_pipe, refusal
from factdrift.builders.core.inputs import INPUTS, words
from factdrift.builders.core.progress import echo, say
from factdrift.builders.release import commands as releases
from factdrift.scoring import commands as scoring

app = typer.Typer(
    help="Rebuild temporal-knowledge benchmarks from raw sources.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        echo(f"factdrift {factdrift.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool,
        Option(
            "--version", callback=_show_version, is_eager=True, help="Say the version and stop."
        ),
    ] = False,
) -> None:
    """Rebuild temporal-knowledge benchmarks from raw sources."""


class _Command(TyperCommand):
    """A command that refuses pipes, because reading one without a writer takes for ever."""

    def invoke(self, ctx: Any) -> Any:
        for parameter_value in ctx.params.values():
            for single_value in (
                parameter_value if isinstance(parameter_value, list) else [parameter_value]
            ):
                if isinstance(single_value, Path | str) and is_pipe(Path(single_value)):
                    raise UserError("this is a pipe, not a file", where=single_value)
        return super().invoke(ctx)


command = partial(app.command, cls=_Command)


for command_function in (*releases.ALL, *commands.ALL, *people.ALL, *scoring.ALL):
    command()(command_function)


_INTERRUPTED_STATUS = 130
"""The exit status of Typer after Ctrl-C."""
_MAKE_PREFIX = "FACTDRIFT_"
"""The prefix of the variables of `make`; `FACTDRIFT_MAKE` lists their names."""
_MAKES_OWN = {"PYTHON", "VENV", "BIN", "JOBS", "SLOW", "BENCHES"}
"""Variables that the Makefile itself uses, so that they need not be options."""


def from_make(environment: Mapping[str, str]) -> dict[str, dict[str, str | list[str]]]:
    """Return the options of each command that variables of `make` set: `N=200` is `--n 200`.

    A variable has the name of an option or an argument in capitals. Raises `UserError` if no
    command has an option or argument of that name.
    """
    variable_names = set(environment.get(f"{_MAKE_PREFIX}MAKE", "").split())
    options_by_command: dict[str, dict[str, str | list[str]]] = {}
    known_variables = set(_MAKES_OWN)
    commands = getattr(typer.main.get_command(app), "commands", {})
    for command in commands.values() if variable_names else ():
        option_values = options_by_command.setdefault(command.name, {})
        for option in command.params:
            option_variables = {_variable(word) for word in option.opts}
            known_variables |= option_variables
            for variable_name in variable_names & option_variables:
                variable_text = environment.get(_MAKE_PREFIX + variable_name, "")
                if variable_text:
                    takes_several = option.multiple or option.nargs != 1
                    option_values[option.name] = (
                        words(variable_text) if takes_several else variable_text
                    )
    if wrong_names := sorted(variable_names - known_variables):
        near_name = did_you_mean(wrong_names[0], sorted(known_variables))
        input_names = ", ".join(f"{variable_name.upper()}=" for variable_name in INPUTS)
        hint_text = f"did you mean {near_name}=?" if near_name else f"inputs are {input_names}"
        raise UserError(f"no command knows the variable {wrong_names[0]}=", hint=hint_text)
    return options_by_command


def _variable(word: str) -> str:
    """Return the variable of make for an option: `SPLIT_PAGES` for `--split-pages`."""
    return word.lstrip("-").replace("-", "_").upper()


def main() -> None:
    """Run the command line. A `UserError` is printed as one message, with exit status 1.

    So are errors of the disk, which can be full anywhere. Ctrl-C raises `KeyboardInterrupt`, also
    if Typer or DuckDB turned it into something else; `factdrift.__main__` prints a line for it.
    """
    try:
        app(default_map=from_make(os.environ))
    except UserError as error:
        _end(error)
    except Exception as error:
        # at the beginning of its text alone: a message may quote a query with these words
        if _QUERY_STOPPED.search(str(error)):
            raise KeyboardInterrupt from None
        if (reason := refusal(error)) is None:
            if damage := _damage_of_releases(sys.argv[1:]):
                _end(damage)
            raise
        hint_text = "make room, or name another place; the same command goes on from here"
        _end(UserError(reason, where=getattr(error, "filename", None), hint=hint_text))
    except SystemExit as end:  # Typer catches Ctrl-C and exits
        if end.code == _INTERRUPTED_STATUS:
            raise KeyboardInterrupt from None
        raise


def _damage_of_releases(words: Sequence[str]) -> UserError | None:
    """Return what is wrong with a release that the command line names, or None if all are whole.

    A damaged table raises errors of many kinds in the libraries that read it. Only the checksums
    of the manifest tell these from bugs, which keep their traceback.
    """
    from factdrift.builders.release import manifest
    from factdrift.builders.release.verify import verify_release

    for word in words:
        folder = Path(word.partition("=")[2] if word.startswith("--") else word)
        if os.path.lexists(folder / manifest.FILE) and (problems := verify_release(folder)):
            hint_text = "factdrift verify says all that is wrong; bring a whole copy of the release"
            return UserError(f"the release is damaged: {problems[0]}", where=folder, hint=hint_text)
    return None


_QUERY_STOPPED = re.compile(r"\AQuery interrupted|\AINTERRUPT Error")
"""The beginning of DuckDB's error after Ctrl-C; not `Interrupted system call`."""


def _end(error: UserError) -> NoReturn:
    say(f"error: {error}")
    sys.exit(1)
