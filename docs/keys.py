"""Every key of recipes and templates as tables, printed from the models that read them.

What a key means is written once, beside the model: as its `Field(description=…)`, as the text below
the field, or in the docstring of the class as "`key`: what it is;" (also `a`, `b`: …). A key that
holds a model of its own means what that model's docstring says.
"""

import ast
import inspect
import re
import textwrap
import types
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from factdrift.builders.core.config import field_hint, models_in
from factdrift.builders.core.extensions import OpenUnion


class Key(NamedTuple):
    """One key as a table shows it; `says` is empty where nobody wrote what it means."""

    name: str
    kind: str
    default: str
    says: str


def keys(model: type[BaseModel]) -> list[Key]:
    """The keys of a model in the order of its fields."""
    return [
        Key(
            field.alias or name,
            kind(field_hint(field)),
            default(field),
            _whole(
                field.description
                or below(model, name)
                or documented(model, name)
                or chosen(field)
                or inner(field)
            ),
        )
        for name, field in model.model_fields.items()
    ]


def nested(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that stand inside a model, each once, in the order in which they are met."""
    models: list[type[BaseModel]] = []
    for field in model.model_fields.values():
        for inner in models_in(field_hint(field)):
            for model_inside in (inner, *nested(inner)):
                if model_inside not in models and model_inside is not model:
                    models.append(model_inside)
    return models


def title(model: type[BaseModel]) -> str:
    """The first paragraph of a model's docstring."""
    return inspect.cleandoc(model.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def kind(hint: Any) -> str:
    """A type as a reader of YAML says it."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        union = next((mark for mark in args[1:] if isinstance(mark, OpenUnion)), None)
        return kind(Union[union.ours]) if union else kind(args[0])  # noqa: UP007 - of a tuple
    if origin in (Union, types.UnionType):
        inner = [kind(argument) for argument in args if argument is not type(None)]
        return " or ".join(dict.fromkeys(inner)) + (", or null" if type(None) in args else "")
    if origin is Literal:
        return ", ".join(f"`{argument}`" for argument in args)
    if origin is tuple or getattr(origin, "__name__", "") == "Sequence":
        return f"list of {kind(args[0])}"
    if getattr(origin, "__name__", "") in ("Mapping", "dict"):
        return f"map to {kind(args[1])}"
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    names = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}
    name = getattr(hint, "__name__", str(hint))
    return names.get(name, {"date": "date", "Path": "path"}.get(name, name))


def default(field: FieldInfo) -> str:
    """The default as YAML; "needed" where there is none."""
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
        return "its own defaults"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (tuple, list, frozenset)):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, dict) or hasattr(value, "keys"):
        return f"`{{{', '.join(f'{key}: {item}' for key, item in value.items())}}}`"
    return f"`{value}`"


def chosen(field: FieldInfo) -> str:
    """What a key with a single value means: it chooses the model."""
    only = get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1
    return "Chooses this one among its kind" if only else ""


def inner(field: FieldInfo) -> str:
    """What a key that holds a model means: what that model is, or that one of several is chosen."""
    models = models_in(field_hint(field))
    return title(models[0]) if len(models) == 1 else "One of these models" if models else ""


@cache
def _below(model: type[BaseModel]) -> dict[str, str]:
    """The texts below fields, of one class alone."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    texts: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for statement, after in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(statement, ast.AnnAssign)
                    and isinstance(statement.target, ast.Name)
                    and isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                ):
                    texts[statement.target.id] = inspect.cleandoc(str(after.value.value))
    return texts


def below(model: type[BaseModel], name: str) -> str:
    """The text below a field, where there is one."""
    ours = [
        base
        for base in model.__mro__
        if issubclass(base, BaseModel) and base.__module__[:8] != "pydantic"
    ]
    return next((_below(base_class)[name] for base_class in ours if name in _below(base_class)), "")


_ENTRY = re.compile(r"(?:^|(?<=[.;:] )|(?<=, ))((?:`\w+`(?:, | and |))+): ")


def documented(model: type[BaseModel], name: str) -> str:
    """What the docstrings of a model and its bases say of a key."""
    for base in model.__mro__:
        if not issubclass(base, BaseModel) or base.__module__.startswith("pydantic"):
            continue
        text = " ".join(inspect.cleandoc(base.__doc__ or "").split())
        entries = list(_ENTRY.finditer(text))
        for entry, after in zip(entries, [*entries[1:], None], strict=False):
            if f"`{name}`" in entry[1]:
                text_of_key = text[entry.end() : after.start() if after else len(text)]
                return text_of_key.strip().rstrip(";,")
    return ""


def _whole(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text[:1].upper() + text[1:] if not text.startswith("`") else text


def table(model: type[BaseModel]) -> str:
    """The keys of a model as a Markdown table."""
    lines = ["| key | what it means | value | default |", "|:--|:--|:--|:--|"]
    for key in keys(model):
        cells = (f"`{key.name}`", key.says, key.kind, key.default)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"
