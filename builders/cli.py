"""The command line: `python -m factdrift` and the console script `factdrift`."""

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

import factdrift
from factdrift.annotation import commands as people
from factdrift.builders import commands
from factdrift.builders.core.config import did_you_mean
from factdrift.builders.core.errors import UserError
from factdrift.builders.core.files import is_pipe, refusal
from factdrift.builders.core.inputs import INPUTS, words
from factdrift.builders.core.options import Quiet, Verbose, choose_loudness, with_loudness
from factdrift.builders.core.progress import echo, is_verbose, say
from factdrift.builders.release import commands as releases
from factdrift.scoring import commands as scoring

EXIT_STATUSES: Mapping[int, str] = {
    0: "Done. `verify`: the release is whole; `rebuild`: it is the same to the byte.",
    1: "An error, which the last lines on stderr tell, with what to do; what was finished before "
    "it is kept, and the same command goes on from there. `verify`: the release is not whole, or "
    "has code of its own; `rebuild`: some file differs.",
    2: "An option or argument is unknown, missing, or has a value that it cannot have; nothing was "
    "done.",
    130: "Ctrl-C; the same command goes on from there.",
}
"""The exit statuses of the program, as the documentation lists them."""
_INTERRUPTED = 130


class _PlainFlags:
    """Shows options that are there or not, such as `--dry-run`, without a type in the help."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for parameter in params:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return params


class _Group(_PlainFlags, TyperGroup):
    """The program with its commands."""


def _with_values_apart(args: Sequence[str], params: Sequence[Any]) -> list[str]:
    """Return arguments in which values of an option stand apart that were quoted as one.

    `--window "4 quarters"` is `--window 4 quarters`. A text of another number of words is left.
    """
    value_counts = {
        name: parameter.nargs
        for parameter in params
        if parameter.param_type_name == "option" and parameter.nargs > 1
        for name in parameter.opts
    }
    separate_args: list[str] = []
    for arg in args:
        option_name, _, value = arg.partition("=")
        last_arg = separate_args[-1] if separate_args else ""
        if len(value.split()) > 1 and len(value.split()) == value_counts.get(option_name):
            separate_args += [option_name, *value.split()]
        elif len(arg.split()) > 1 and len(arg.split()) == value_counts.get(last_arg):
            separate_args += arg.split()
        else:
            separate_args.append(arg)
    return separate_args


class _Command(_PlainFlags, TyperCommand):
    """A command that refuses an option with one value that is given twice, and pipes.

    The parser would take the last value and say nothing of the others. Reading a pipe without a
    writer takes for ever.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        args = _with_values_apart(args, self.get_params(ctx))
        given_options: list[Any] = [*self.make_parser(ctx).parse_args(args=[*args])[2]]
        for option in given_options:
            takes_one = option.param_type_name == "option" and not option.is_flag
            if takes_one and not option.multiple and given_options.count(option) > 1:
                raise typer.BadParameter("takes one value, and is given twice", ctx, option)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        for parameter_value in ctx.params.values():
            for single_value in (
                parameter_value if isinstance(parameter_value, list) else [parameter_value]
            ):
                if isinstance(single_value, Path | str) and is_pipe(Path(single_value)):
                    raise UserError("this is a pipe, not a file", where=single_value)
        return super().invoke(ctx)


app = typer.Typer(
    cls=_Group,
    help="Rebuild temporal-knowledge benchmarks from raw sources.",
    epilog="The documentation: factdrift docs lists its pages, factdrift docs readme prints one.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Rebuild temporal-knowledge benchmarks from raw sources."""
    choose_loudness(quiet, verbose)


def add_command(command: Callable[..., None]) -> None:
    """Add a command to the program, with the options that all have."""
    app.command(cls=_Command)(with_loudness(command))


for command_function in (*releases.ALL, *commands.ALL, *people.ALL, *scoring.ALL):
    add_command(command_function)

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


# Typer may bundle a click of its own, whose exceptions are no `click.ClickException`.
_UsageError: Any = typer.BadParameter.__mro__[1]


def main() -> None:
    """Run the command line. A `UserError` is printed as one message, with exit status 1.

    So are errors of the disk, which can be full anywhere. A mistake of the command line has exit
    status 2. Ctrl-C raises `KeyboardInterrupt`, also if Typer or DuckDB turned it into something
    else; `factdrift.__main__` prints a line for it.
    """
    try:
        status = app(default_map=from_make(os.environ), standalone_mode=False)
    except UserError as error:
        _end(error)
    except _UsageError as error:
        _end_usage(error)
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
    if status == _INTERRUPTED:  # Typer catches Ctrl-C
        raise KeyboardInterrupt
    sys.exit(status)


def _end_usage(error: Any) -> NoReturn:
    """Print what is wrong with an option or an argument, and how to see all; exit status 2."""
    if type(error).__name__ == "NoArgsIsHelpError":  # the help is printed already
        sys.exit(error.exit_code)
    parameter, option_name = getattr(error, "param", None), getattr(error, "option_name", None)
    message, near_name = error.message or "", None
    if parameter is not None:
        name = _shown_name(parameter)
        message = f"{name}: {_PYDANTIC_WORDS.sub('', message)}" if message else f"{name} is missing"
        if " is not one of " in message:
            given_text, *choices = _QUOTED.findall(message)
            near_name = did_you_mean(given_text, choices)
    elif hasattr(error, "possibilities"):
        message = f"{option_name}: there is no such option"
        near_name = did_you_mean(str(option_name), _option_names(error.ctx))
    elif option_name:
        # `Option '--window' requires 2 arguments.`
        value_count = re.search(r"requires (\d+) arguments", message)
        message = f"{option_name} needs {value_count[1] + ' values' if value_count else 'a value'}"
    say(f"error: {message}")
    hint_text = f"did you mean {near_name}? " if near_name else ""
    say(f"  {hint_text}{_command_path(error.ctx)} --help lists all")
    sys.exit(error.exit_code)


_PYDANTIC_WORDS = re.compile(r"\A(?:Value error, |Input )|, unable to parse string as an? \w+\Z")
"""What the library that checks values puts around its messages.

It matches `Value error, ` at the beginning of `Value error, 'x' is not one of 'a'`.
"""
_QUOTED = re.compile(r"'([^']*)'")
"""The given value and then the choices in a message: `x` and `a` in `'x' is not one of 'a'`."""


def _command_path(context: Any) -> str:
    """The words that start a command; some errors do not know theirs, so the first is taken."""
    if context is not None:
        return str(context.command_path)
    command_names = getattr(typer.main.get_command(app), "commands", {})
    command_name = next((word for word in sys.argv[1:] if word in command_names), "")
    return f"factdrift {command_name}".strip()


def _shown_name(parameter: Any) -> str:
    """The name of an option as it is typed, or of an argument in capitals: `--limit`, `RELEASE`."""
    longest_name = max(parameter.opts, key=len)
    return str(longest_name if longest_name.startswith("-") else longest_name.upper())


def _option_names(context: Any) -> list[str]:
    """The names of all options of a command."""
    params = context.command.get_params(context) if context else ()
    return [name for parameter in params for name in parameter.opts if name.startswith("--")]


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
    if is_verbose():
        for line in _origin(error):
            say(line)
    say(f"error: {error}")
    sys.exit(1)


def _origin(error: UserError) -> Iterator[str]:
    """Yield where in our code a mistake was seen, and what another library said of it.

    A traceback is for bugs: of a mistake in a file it would bury the line that says what to mend.
    """
    if frames := traceback.extract_tb(error.__traceback__):
        yield f"from {Path(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name}"
    cause = error.__cause__
    if cause is not None and not isinstance(cause, UserError):
        yield f"because of {type(cause).__name__}: {str(cause).partition(chr(10))[0]}"
