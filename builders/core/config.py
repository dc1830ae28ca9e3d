"""The one YAML loader: a file becomes a frozen model, or a list of what is wrong and where.

Scalars follow YAML 1.2: only `true` and `false` are booleans and a date is text, so a label
`No`, `on` or `2019Q1` means itself. Where a model wants text, the text is taken as written:
`label: 2019` is "2019" and `version: 1.10` is "1.10". Tags (`!!python/…`) and aliases (`*x`)
are refused.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from factdrift.builders.core.errors import UserError

M = TypeVar("M", bound=BaseModel)
Loc = tuple[int | str, ...]


class Strict(BaseModel):
    """Base of every configuration model: frozen, unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def load(path: Path, model: type[M]) -> M:
    """Read one YAML file into `model`.

    Validators find the file in `info.context["path"]` and can raise `mistakes(…)`. Raises one
    UserError that lists every mistake, a line each: `file:line: field: what is wrong`.
    """
    try:
        yaml_text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = did_you_mean(
            path.name, sorted(sibling.name for sibling in path.parent.glob("*.y*ml"))
        )
        hint = f"did you mean {display_path(path.parent / near)}?" if near else None
        raise UserError("no such file", where=display_path(path), hint=hint) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(path)) from None
    tree = _Tree(yaml_text, display_path(path))
    errors: list[ErrorDetails] = []
    for _ in range(2):  # the second time with the text that fields of text want
        try:
            return model.model_validate(tree.data, context={"path": path})
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if not sum(
            tree.as_text(error["loc"]) for error in errors if error["type"] == "string_type"
        ):
            break
    raise UserError("\n".join(_lines(errors, model, tree)))


def mistakes(messages: Iterable[tuple[Loc, str]]) -> ValidationError:
    """An error for a validator to raise that puts each message at its own place in the model.

    `found` holds (path below the validated model, message): `(("cloze", 2), "no <object>")`.
    """
    errors = [
        InitErrorDetails(
            type=PydanticCustomError("mistake", "{text}", {"text": text}), loc=loc, input=None
        )
        for loc, text in messages
    ]
    return ValidationError.from_exception_data("mistakes", errors)


def did_you_mean(word: str, choices: Iterable[str]) -> str | None:
    """The choice that looks most like `word`, letter case aside; None where none comes near."""
    folded = {choice.casefold(): choice for choice in reversed(list(choices))}
    close = get_close_matches(word.casefold(), folded, n=1)
    return folded[close[0]] if close else None


def display_path(path: Path) -> str:
    """`path` as messages print it: relative to the current directory when below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError, RuntimeError):  # elsewhere, or a link that leads to itself
        return str(path)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes only; its scalars are those of YAML 1.2, decimal."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), list(_first)
    )


class _Tree:
    """The plain data of one YAML text, and where each part of it stands."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.line: dict[Loc, int] = {(): 1}
        self._raw: dict[Loc, str] = {}
        try:
            for event in yaml.parse(text, Loader=_Loader):
                self._refuse(event)
            node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
        except yaml.MarkedYAMLError as e:
            mark = e.problem_mark or e.context_mark
            line = mark.line + 1 if mark else None
            why = f"{e.problem} ({e.context})" if e.context else e.problem
            raise UserError(f"not valid YAML: {why}", where=where, line=line) from None
        except yaml.YAMLError as e:
            raise UserError(f"not valid YAML: {e}".splitlines()[0], where=where) from None
        if node is None:
            raise UserError("the file is empty", where=where, line=1)
        self.data = self._build(node, ())

    def _refuse(self, event: yaml.Event) -> None:
        """Tags would build other things than data, aliases stand in two places at once."""
        tag = getattr(event, "tag", None)
        what = "aliases" if isinstance(event, yaml.AliasEvent) else f"tags such as {tag}"
        if event.start_mark and (tag or what == "aliases"):
            line = event.start_mark.line + 1
            raise UserError(f"{what} are not allowed here", where=self.where, line=line)

    def _build(self, node: yaml.Node, loc: Loc) -> Any:
        self.line.setdefault(loc, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return [self._build(item, (*loc, index)) for index, item in enumerate(node.value)]
        data: dict[str, Any] = {}
        for key, value in node.value:
            line_number = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UserError("a key must be plain text", where=self.where, line=line_number)
            place = (*loc, key.value)
            if key.value in data:
                twice = f"{_dotted(place)}: given twice, first on line {self.line[place]}"
                raise UserError(twice, where=self.where, line=line_number)
            self.line[place] = line_number
            data[key.value] = self._build(value, place)
        return data

    def _scalar(self, node: yaml.ScalarNode, loc: Loc) -> Any:
        text: str = node.value
        if node.tag.endswith(":str"):
            return text
        if node.tag.endswith(":null"):
            return None
        self._raw[loc] = text
        if node.tag.endswith(":bool"):
            return text.lower() == "true"
        return int(text) if node.tag.endswith(":int") else float(text)

    def place(self, loc: Loc) -> Loc:
        """`loc` without the parts that the file does not have (tags of unions)."""
        known_place: Loc = ()
        for part in loc:
            known_place = (*known_place, part) if (*known_place, part) in self.line else known_place
        return known_place

    def as_text(self, loc: Loc) -> bool:
        """Put the scalar at `loc` back as it was written; false where it was text already."""
        place = self.place(loc)
        if not place or place not in self._raw:
            return False
        target = self.data
        for part in place[:-1]:
            target = target[part]
        target[place[-1]] = self._raw.pop(place)
        return True


def _dotted(loc: Sequence[int | str]) -> str:
    """`("examples", 0, "reads")` as `examples[0].reads`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")


def models_in(hint: Any) -> list[type[BaseModel]]:
    """Every model that a type hint names, those of an open union (`core.extensions`) included."""
    for mark in getattr(hint, "__metadata__", ()):
        if hasattr(mark, "models"):
            return list(mark.models())
    if isinstance(hint, type) and not get_args(hint):
        return [hint] if issubclass(hint, BaseModel) else []
    return [model for argument in get_args(hint) for model in models_in(argument)]


def field_hint(field: FieldInfo) -> Any:
    """The type hint of a field as it was written: pydantic keeps the mark of a union beside it."""
    marks = [mark for mark in field.metadata if hasattr(mark, "models")]
    return Annotated[field.annotation, marks[0]] if marks else field.annotation


def _fields(model: type[BaseModel], loc: Loc) -> list[str]:
    """The fields that may stand beside the last part of `loc`."""
    models = [model]
    for part in loc[:-1]:
        inner_models: list[type[BaseModel]] = []
        for candidate in models:
            if part in candidate.model_fields:
                inner_models += models_in(field_hint(candidate.model_fields[str(part)]))
        models = (
            inner_models
            or [candidate for candidate in models if _is_tag(candidate, part)]
            or models
        )
    return list(
        dict.fromkeys(
            field.alias or name
            for candidate in models
            for name, field in candidate.model_fields.items()
        )
    )


def _is_tag(model: type[BaseModel], part: int | str) -> bool:
    """Whether a union names `model` by `part`: class name, or a field's literal."""
    hints = [field.annotation for field in model.model_fields.values()]
    literals = [get_args(hint) for hint in hints if get_origin(hint) is Literal]
    return part == model.__name__ or any(part in words for words in literals)


_WANTED = {"string_type": "should be text"}
_WANTED |= dict.fromkeys(("tuple_type", "list_type"), "should be a list")
_WANTED |= dict.fromkeys(("dict_type", "model_type"), "should be a mapping")


def _lines(errors: Sequence[ErrorDetails], model: type[BaseModel], tree: _Tree) -> list[str]:
    """One line for each mistake, in the order of the file."""
    numbered_lines: list[tuple[int, str]] = []
    guessed_fields: set[Loc] = set()
    parent_places = {error["loc"][:depth] for error in errors for depth in range(len(error["loc"]))}
    for error in sorted(errors, key=lambda error: error["type"] != "extra_forbidden"):
        loc = error["loc"]
        text = error["msg"].removeprefix("Value error, ")
        if error["type"] == "extra_forbidden":
            fields = _fields(model, loc)
            near = did_you_mean(str(loc[-1]), fields)
            guessed_fields |= {(*loc[:-1], near)} if near else set()
            text = "unknown field, " + (
                f"did you mean {near!r}?" if near else f"the fields are {', '.join(fields)}"
            )
        elif loc in guessed_fields or (error["type"] == "too_short" and loc in parent_places):
            continue  # follows from another mistake
        elif error["type"] == "missing":
            text = "missing"
        elif error["type"] not in ("mistake", "value_error"):
            text = _WANTED.get(error["type"], re.sub(r"^\w+ should", "should", text))
            text = text.replace(" after validation", "")
            text += "" if ", not " in text else f", not {_got(error['input'])}"
        place = tree.place(loc)
        line = tree.line[place]
        name = _dotted((*place, loc[-1]) if error["type"] == "missing" else place)
        numbered_lines.append((line, f"{tree.where}:{line}: {name + ': ' if name else ''}{text}"))
    return list(dict.fromkeys(text for _, text in sorted(numbered_lines, key=lambda x: x[0])))


def _got(value: object) -> str:
    names: dict[type | None, str] = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value)) or repr(value)
