"""The inputs of recipes by name, in one table for recipes, the command line and make.

An input is given as paths, globs and folders. On the command line it has its own option or is
given as `--input NAME=PATH`. A path can also be an address (`https://…`, `s3://…`), which
`builders.core.remote` fetches. It can end in `@YYYY-MM-DD`, the day of the input, if the names of
its files do not contain the day: `--news my-news.jsonl@2020-12-31`.
"""

import inspect
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from typing import Annotated, Any, Literal

from factdrift.builders.core.addresses import without_credentials
from factdrift.builders.core.errors import UserError

__outside_step_keys__ = True

# `s3://bucket`, not `s3:/bucket` or `./news`
_ADDRESS_START = re.compile(r"[a-z][a-z0-9+.-]*://.", re.I)
Kind = Literal["wikidata", "news", "pages", "gold", "file"]
"""The kind of the files of an input; `builders.recipes.recipe` knows how to find each kind."""


@dataclass(frozen=True)
class InputName:
    """An input by its name in recipes, which is also its option (`--dump`) and variable (`DUMP=`).

    `kind` is the kind of its files, `help` describes them.
    """

    name: str
    kind: Kind
    help: str


INPUTS: Mapping[str, InputName] = {
    row.name: row
    for row in (
        InputName(
            *("dump", "wikidata"),
            "A dump, a glob or folder of shards, a mined folder; latest, or a day: 2026-11-09; or "
            "sample: ours.",
        ),
        InputName("older", "wikidata", "An older dump, to compare with; or sample."),
        InputName(
            "learned", "file", "Learned times: the manifest.json of a release of a whole dump."
        ),
        InputName(
            "news", "news", "News archives: files, globs, folders; latest, or a year; or sample."
        ),
        InputName("keep", "file", "A list of article ids to keep."),
        InputName(
            *("pages", "pages"),
            "Wikipedia dumps, JSONL or Parquet of pages; latest, or a day; or sample.",
        ),
        InputName("trex", "file", "T-REx files of LAMA, or folders."),
        InputName("gold", "gold", "What people said: judgments/, a layout's folder in it."),
    )
}
"""All inputs that have an option and a variable of make."""


def with_inputs(command: Callable[..., None], *input_names: str) -> Callable[..., None]:
    """Return a command with the option `--input` and one for each input, instead of `given`.

    The parameter `given` of `command` gets a mapping of names of inputs to paths. `input_names` are
    the inputs that the command takes, by default all of the table. In that case `--input` accepts
    other names, too, because a recipe can have inputs of its own.
    """
    import typer

    input_rows = [INPUTS[input_name] for input_name in input_names] or list(INPUTS.values())
    help_text = "An input by name; PATH@YYYY-MM-DD says its day. Repeatable."
    option_hints: dict[str, Any] = {
        "input": Annotated[list[str] | None, typer.Option(metavar="NAME=PATH", help=help_text)]
    }
    for input_row in input_rows:
        option = typer.Option(metavar="PATH", help=f"{input_row.help} Repeatable.")
        option_hints[input_row.name] = Annotated[list[str] | None, option]

    def run(**option_values: Any) -> None:
        own_options = {
            input_row.name: option_values.pop(input_row.name) or [] for input_row in input_rows
        }
        named_inputs = option_values.pop("input") or []
        command(**option_values, given=gather(own_options, named_inputs, strict=bool(input_names)))

    command_signature = inspect.signature(command, eval_str=True)
    run_parameters: list[inspect.Parameter] = []
    for parameter in command_signature.parameters.values():
        if parameter.name == "given":
            run_parameters += [
                inspect.Parameter(input_name, parameter.kind, default=None, annotation=option_hint)
                for input_name, option_hint in option_hints.items()
            ]
        else:
            run_parameters.append(parameter)
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in run_parameters}
    run.__signature__ = command_signature.replace(parameters=run_parameters)  # type: ignore[attr-defined]
    return run


def gather(
    own_options: Mapping[str, Sequence[str]], named_inputs: Sequence[str], *, strict: bool
) -> dict[str, list[str]]:
    """Return the paths of each input, from its own option and from `--input NAME=PATH`.

    If `strict` is true, only the names in `own_options` are allowed. Raises `UserError` for a
    missing or unknown name.
    """
    input_paths = {input_name: list(paths) for input_name, paths in own_options.items()}
    for named_input in named_inputs:
        input_name, equals, input_path = named_input.partition("=")
        if not (equals and input_path and re.fullmatch(r"[a-z]\w*", input_name)):
            hint_text = "write a name and a path: --input news=path/to/the/file"
            shown = without_credentials(named_input)
            if not is_remote(named_input):
                shown = f"{input_name}{equals}{without_credentials(input_path)}"
            raise UserError(f"--input {shown}: no NAME=PATH", hint=hint_text)
        if strict and input_name not in own_options:
            raise UserError(
                f"no input {input_name!r} here", hint=f"there are {', '.join(own_options)}"
            )
        input_paths.setdefault(input_name, []).append(input_path)
    return {input_name: paths for input_name, paths in input_paths.items() if paths}


def is_remote(text: str) -> bool:
    """Whether the text is an address and not a path."""
    return _ADDRESS_START.match(text) is not None


def without_day(dated_paths: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the paths of an input without their `@YYYY-MM-DD`, and that day or None.

    A path that exists with such an ending is not changed. Raises `UserError` if the days differ.
    """
    paths: list[str] = []
    path_days: list[str] = []
    for path_text in dated_paths:
        # `news.jsonl@2020-12-31`, not `news@home.jsonl`
        dated_match = re.fullmatch(r"(.+)@(\d{4}-\d\d-\d\d)", path_text)
        if dated_match and not _exists(path_text):
            path_days.append(dated_match[2])
            path_text = dated_match[1]
        paths.append(path_text)
    if len(set(path_days)) > 1:
        path_text = f"one input has one day, not {', '.join(sorted(set(path_days)))}"
        raise UserError(path_text, hint="say the last day of its files")
    return paths, next(iter(path_days), None)


def words(text: str) -> list[str]:
    """Return the paths in a variable of make: words in shell quoting, or one path with spaces."""
    (first_path, *_), _ = without_day([text])
    if is_remote(first_path) and not re.search(r"\s", text):
        return [text]
    if _exists(first_path) or glob(first_path):  # noqa: PTH207
        return [text]
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe in a name
        return text.split()


def _exists(text: str) -> bool:
    """Whether a text is an existing path; the text can be longer than any path."""
    return os.path.exists(text)  # noqa: PTH110 - Path.exists refuses long ones
