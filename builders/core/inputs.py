"""The inputs of recipes by name: one table for recipes, the command line and make.

An input is named by paths, globs and folders, on the command line by its own option or by
`--input NAME=PATH`. A path may be an address, too (`https://…`, `s3://…`): `builders.core.remote`.
It may end in `@YYYY-MM-DD`, the day of the input where its file names do not say it:
`--news my-news.jsonl@2020-12-31`.
"""

import inspect
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from typing import Annotated, Any, Literal

from factdrift.builders.core.errors import UserError

__outside_step_keys__ = True

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://.", re.I)
Kind = Literal["wikidata", "news", "pages", "gold", "file"]
"""What kind of files an input names; `builders.recipes.recipe` has how each is found."""


@dataclass(frozen=True)
class InputName:
    """An input by its name in recipes, which is its option (`--dump`) and make variable (`DUMP=`).

    `kind` is the kind of its files, `help` what they are.
    """

    name: str
    kind: Kind
    help: str


INPUTS: Mapping[str, InputName] = {
    row.name: row
    for row in (
        InputName("dump", "wikidata", "A dump, a glob or folder of shards, or a mined folder."),
        InputName("older", "wikidata", "An older dump, to compare with."),
        InputName("news", "news", "News archives: files, globs, folders."),
        InputName("keep", "file", "A list of article ids to keep."),
        InputName("pages", "pages", "Wikipedia dumps, JSONL or Parquet of pages."),
        InputName("trex", "file", "T-REx files of LAMA, or folders."),
        InputName("gold", "gold", "What people said: judgments/, a layout's folder in it."),
    )
}
"""Every input that has an option and a make variable of its own."""


def with_inputs(command: Callable[..., None], *names: str) -> Callable[..., None]:
    """A command whose parameter `given` is told by options: `--input` and one for each name.

    `names`: those that the command takes, by default all of the table. The command gets a mapping
    of names to paths. `--input` takes other names, too, where all of the table are taken: those
    of the recipe.
    """
    import typer

    rows = [INPUTS[name] for name in names] or list(INPUTS.values())
    text = "An input by name; PATH@YYYY-MM-DD says its day. Repeatable."
    options: dict[str, Any] = {
        "input": Annotated[list[str] | None, typer.Option(metavar="NAME=PATH", help=text)]
    }
    for row in rows:
        option = typer.Option(metavar="PATH", help=f"{row.help} Repeatable.")
        options[row.name] = Annotated[list[str] | None, option]

    def run(**values: Any) -> None:
        own_options = {row.name: values.pop(row.name) or [] for row in rows}
        named_inputs = values.pop("input") or []
        command(**values, given=gather(own_options, named_inputs, strict=bool(names)))

    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == "given":
            parameters += [
                inspect.Parameter(name, parameter.kind, default=None, annotation=hint)
                for name, hint in options.items()
            ]
        else:
            parameters.append(parameter)
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def gather(
    short: Mapping[str, Sequence[str]], long: Sequence[str], *, strict: bool
) -> dict[str, list[str]]:
    """The paths of each input that is given, of its own option and of `--input NAME=PATH`.

    `strict`: only the names of `short` may be given. `UserError`: a name is missing or not one of
    these.
    """
    input_paths = {name: list(paths) for name, paths in short.items()}
    for text in long:
        name, equals, path = text.partition("=")
        if not (equals and path and re.fullmatch(r"[a-z]\w*", name)):
            hint = "write a name and a path: --input news=path/to/the/file"
            raise UserError(f"--input {without_credentials(text)}: no NAME=PATH", hint=hint)
        if strict and name not in short:
            raise UserError(f"no input {name!r} here", hint=f"there are {', '.join(short)}")
        input_paths.setdefault(name, []).append(path)
    return {name: paths for name, paths in input_paths.items() if paths}


def is_remote(text: str) -> bool:
    """Whether an input is named by an address, not by a path."""
    return _ADDRESS.match(text) is not None


def without_credentials(text: str) -> str:
    """An address as it may be shown: without user, password, `?…` and `#…`; a path as it is."""
    if not is_remote(text):
        return text
    scheme, rest = re.split("://", text, maxsplit=1)
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def without_day(dated_paths: Sequence[str]) -> tuple[list[str], str | None]:
    """The paths of an input without their `@YYYY-MM-DD`, and that day, if any says one.

    A file whose own name ends so is taken by its name. `UserError`: they say different days.
    """
    paths: list[str] = []
    days: list[str] = []
    for text in dated_paths:
        dated = re.fullmatch(r"(.+)@(\d{4}-\d\d-\d\d)", text)
        if dated and not _exists(text):
            days.append(dated[2])
            text = dated[1]
        paths.append(text)
    if len(set(days)) > 1:
        text = f"one input has one day, not {', '.join(sorted(set(days)))}"
        raise UserError(text, hint="say the last day of its files")
    return paths, next(iter(days), None)


def words(text: str) -> list[str]:
    """The paths of a make variable: words as a shell quotes them, or one path with spaces."""
    (path, *_), _ = without_day([text])
    if is_remote(path) and not re.search(r"\s", text):
        return [text]
    if _exists(path) or glob(path):  # noqa: PTH207
        return [text]
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe in a name
        return text.split()


def _exists(text: str) -> bool:
    """Whether a text is the path of something; it may be longer than any path."""
    return os.path.exists(text)  # noqa: PTH110 - Path.exists refuses long ones
