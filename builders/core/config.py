"""The loader of all YAML files, which returns a frozen model or lists the mistakes by line.

Scalars follow YAML 1.2: only `true` and `false` are booleans and a date is text, so a label
`No`, `on` or `2019Q1` means itself. A value of a text field stays as it was written:
`label: 2019` is "2019" and `version: 1.10` is "1.10". Tags (`!!python/…`) and aliases (`*x`)
are refused.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from factdrift.builders.core.errors import UserError, on_a_line
from factdrift.builders.core.limits import (
    DEEPEST_YAML,
    LARGEST_YAML,
    LONGEST_NUMBER,
    MOST_MISTAKES,
    check_yaml_size,
)

M = TypeVar("M", bound=BaseModel)
Loc = tuple[int | str, ...]
"""The place of a value, as pydantic gives it: `("examples", 0, "reads")`."""


class Strict(BaseModel):
    """Base of every configuration model: frozen, unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def load(path: Path, model: type[M], context: Mapping[str, Any] = MappingProxyType({})) -> M:
    """Read one YAML file into `model`.

    Validators find the path of the file in `info.context["path"]`, its plain data as `"data"`, and
    the entries of `context`. They can raise `mistakes(…)`; where other fields are still to be
    checked, they add pairs of a place and its message to the list `"mistakes"`.
    Raises one `UserError` that lists all mistakes, each on a line: `file:line: field: mistake`.
    """
    try:
        check_yaml_size(path.stat().st_size, display_path(path))
        with path.open(encoding="utf-8-sig") as yaml_file:
            yaml_text = yaml_file.read(LARGEST_YAML + 1)  # a device has no size, and no end
        check_yaml_size(len(yaml_text), display_path(path))
    except FileNotFoundError:
        near_name = did_you_mean(
            path.name, sorted(sibling.name for sibling in path.parent.glob("*.y*ml"))
        )
        hint_text = f"did you mean {display_path(path.parent / near_name)}?" if near_name else None
        raise UserError("no such file", where=display_path(path), hint=hint_text) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", where=display_path(path)) from None
    yaml_tree = _Tree(yaml_text, display_path(path))
    error_details: list[ErrorDetails] = []
    for _ in range(2):  # the second time with the original text of what text fields refused
        found_mistakes = list(yaml_tree.mistakes)
        file_context = {"path": path, "data": yaml_tree.data, "mistakes": found_mistakes}
        try:
            config = model.model_validate(yaml_tree.data, context={**file_context, **context})
            if not found_mistakes:
                return config
            error_details = []
        except ValidationError as error:
            error_details = error.errors(include_url=False)
        if found_mistakes:
            error_details += mistakes(found_mistakes).errors(include_url=False)
        if not sum(
            yaml_tree.as_text(error["loc"])
            for error in error_details
            if error["type"] == "string_type"
        ):
            break
    raise UserError("\n".join(_MistakeLines(error_details, model, yaml_tree).lines()))


def mistakes(messages: Iterable[tuple[Loc, str]]) -> ValidationError:
    """Return an error for a validator to raise, which reports each message at its own place.

    `messages` are pairs of a place below the validated model and its message, such as
    `(("cloze", 2), "no <object>")`.
    """
    error_details = [
        InitErrorDetails(
            type=PydanticCustomError("mistake", "{text}", {"text": message_text}),
            loc=loc,
            input=None,
        )
        for loc, message_text in messages
    ]
    return ValidationError.from_exception_data("mistakes", error_details)


_SIMILAR = 0.65
"""Share of letters that two similar names have in common, in order: 0.6 is met by chance, as by
`zsre` and `stream`."""


def did_you_mean(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice most similar to `word`, ignoring case, or None if none is similar."""
    folded_choices = {choice.casefold(): choice for choice in reversed(list(choices))}
    close_matches = get_close_matches(word.casefold(), folded_choices, n=1, cutoff=_SIMILAR)
    return folded_choices[close_matches[0]] if close_matches else None


def display_path(path: Path) -> str:
    """Return `path` as messages print it: relative to the current directory if it is below that.

    Its control characters are escaped, so that a name with a line end in it stays on its line.
    """
    try:
        return on_a_line(str(path.resolve().relative_to(Path.cwd())))
    except (ValueError, OSError, RuntimeError):  # elsewhere, or a link that leads to itself
        return on_a_line(str(path))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Composes nodes only. Its scalars are those of YAML 1.2, with decimal numbers alone."""


# PyYAML knows the scalars of YAML 1.1, where `no` and `on` are booleans; these take their places.
_Loader.yaml_implicit_resolvers = {}
for _scalar_tag, _scalar_pattern, _first_letters in (
    # `true`, not `yes`
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    # `-12`, not `012` (which YAML 1.1 reads as octal)
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    # `1.5e3`, not `1:30` (which YAML 1.1 reads as 90)
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    # an empty value, not `none`
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_scalar_tag}",
        re.compile(f"(?:{_scalar_pattern})$"),
        list(_first_letters),
    )


class _Tree:
    """The plain data of one YAML text, with the line of each part."""

    def __init__(self, yaml_text: str, where: str) -> None:
        self.where = where
        self.line: dict[Loc, int] = {(): 1}
        self.mistakes: list[tuple[Loc, str]] = []
        """Keys that are given twice: what else is wrong is told with them."""
        self._raw: dict[Loc, str] = {}
        try:
            # events come one by one, so that nothing after what is refused is read
            depth = 0
            for event in yaml.parse(yaml_text, Loader=_Loader):
                self._refuse(event)
                depth += isinstance(event, yaml.CollectionStartEvent)
                depth -= isinstance(event, yaml.CollectionEndEvent)
                if depth > DEEPEST_YAML:
                    raise UserError(
                        f"lists and mappings in each other, more than {DEEPEST_YAML} deep",
                        where=where,
                        line=event.start_mark.line + 1 if event.start_mark else None,
                    )
            root_node: yaml.Node | None = yaml.compose(yaml_text, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            error_mark = error.problem_mark or error.context_mark
            line_number = error_mark.line + 1 if error_mark else None
            reason_text = f"{error.problem} ({error.context})" if error.context else error.problem
            raise UserError(
                f"not valid YAML: {reason_text}", where=where, line=line_number
            ) from None
        except yaml.YAMLError as error:
            raise UserError(f"not valid YAML: {error}".splitlines()[0], where=where) from None
        if root_node is None:
            raise UserError("the file is empty", where=where, line=1)
        self.data = self._build(root_node, ())

    def _refuse(self, event: yaml.Event) -> None:
        """Refuse tags, which can build arbitrary objects, and aliases, which have two places."""
        tag = getattr(event, "tag", None)
        refused_kind = "aliases" if isinstance(event, yaml.AliasEvent) else f"tags such as {tag}"
        if event.start_mark and (tag or refused_kind == "aliases"):
            line_number = event.start_mark.line + 1
            raise UserError(
                f"{refused_kind} are not allowed here", where=self.where, line=line_number
            )

    def _build(self, node: yaml.Node, loc: Loc) -> Any:
        self.line.setdefault(loc, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return [
                self._build(item, (*loc, item_index)) for item_index, item in enumerate(node.value)
            ]
        mapping_data: dict[str, Any] = {}
        for key, value in node.value:
            line_number = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UserError("a key must be plain text", where=self.where, line=line_number)
            key_place = (*loc, key.value)
            if key.value in mapping_data:
                first_line = self.line[key_place]
                self.mistakes.append((key_place, f"given twice, first on line {first_line}"))
            self.line[key_place] = line_number
            mapping_data[key.value] = self._build(value, key_place)
        return mapping_data

    def _scalar(self, node: yaml.ScalarNode, loc: Loc) -> Any:
        scalar_text: str = node.value
        if node.tag.endswith(":str"):
            return scalar_text
        if node.tag.endswith(":null"):
            return None
        self._raw[loc] = scalar_text
        if node.tag.endswith(":bool"):
            return scalar_text.lower() == "true"
        if len(scalar_text) > LONGEST_NUMBER:
            message = f"a number with more than {LONGEST_NUMBER} digits"
            raise UserError(message, where=self.where, line=node.start_mark.line + 1)
        return int(scalar_text) if node.tag.endswith(":int") else float(scalar_text)

    def place(self, loc: Loc) -> Loc:
        """Return `loc` without the parts that are not in the file, such as tags of unions."""
        known_place: Loc = ()
        for loc_part in loc:
            # A sentence that is replaced by its place stands under that place, from 1.
            names: list[int | str] = [loc_part]
            names += [str(loc_part + 1)] if isinstance(loc_part, int) else []
            for name in names:
                if (*known_place, name) in self.line:
                    known_place = (*known_place, name)
                    break
        return known_place

    def as_text(self, loc: Loc) -> bool:
        """Replace the scalar at `loc` by its original text; return False if it was text already."""
        known_place = self.place(loc)
        if not known_place or known_place not in self._raw:
            return False
        parent_data = self.data
        for place_part in known_place[:-1]:
            parent_data = parent_data[place_part]
        parent_data[known_place[-1]] = self._raw.pop(known_place)
        return True


def _dotted(loc: Sequence[int | str]) -> str:
    """`("examples", 0, "reads")` as `examples[0].reads`."""
    return "".join(
        f"[{loc_part}]" if isinstance(loc_part, int) else f".{on_a_line(loc_part)[:200]}"
        for loc_part in loc
    ).lstrip(".")


def replace_models(value: Any, kind: type[M], change: Callable[[M], BaseModel]) -> Any:
    """Return a configuration in which `change` has replaced every model of one kind.

    It looks into models, mappings and tuples; what has no such model inside stays the same object.
    """
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, BaseModel):
        changed_fields: dict[str, Any] = {}
        for field_name in type(value).model_fields:
            old_value = getattr(value, field_name)
            new_value = replace_models(old_value, kind, change)
            if new_value is not old_value:
                changed_fields[field_name] = new_value
        return value.model_copy(update=changed_fields) if changed_fields else value
    if isinstance(value, Mapping):
        new_items = {key: replace_models(inner, kind, change) for key, inner in value.items()}
        return new_items if any(new_items[key] is not value[key] for key in value) else value
    if isinstance(value, tuple):
        new_values = tuple(replace_models(inner, kind, change) for inner in value)
        is_same = all(new is old for new, old in zip(new_values, value, strict=True))
        return value if is_same else new_values
    return value


def models_in(hint: Any) -> list[type[BaseModel]]:
    """Return every model in a type hint, including those of an open union (`core.extensions`)."""
    for union_mark in getattr(hint, "__metadata__", ()):
        if hasattr(union_mark, "models"):
            return list(union_mark.models())
    if isinstance(hint, type) and not get_args(hint):
        return [hint] if issubclass(hint, BaseModel) else []
    return [model for hint_argument in get_args(hint) for model in models_in(hint_argument)]


def field_hint(field: FieldInfo) -> Any:
    """Return the type hint of a field as its class has it, with the mark of an open union.

    pydantic moves such a mark from the annotation to the metadata.
    """
    union_marks = [union_mark for union_mark in field.metadata if hasattr(union_mark, "models")]
    return Annotated[field.annotation, union_marks[0]] if union_marks else field.annotation


def _fields(model: type[BaseModel], loc: Loc) -> list[str]:
    """Return the names of the fields that are allowed at the last part of `loc`."""
    candidate_models = [model]
    for loc_part in loc[:-1]:
        inner_models: list[type[BaseModel]] = []
        for candidate in candidate_models:
            if loc_part in candidate.model_fields:
                inner_models += models_in(field_hint(candidate.model_fields[str(loc_part)]))
        candidate_models = (
            inner_models
            or [candidate for candidate in candidate_models if _is_tag(candidate, loc_part)]
            or candidate_models
        )
    return list(
        dict.fromkeys(
            field.alias or field_name
            for candidate in candidate_models
            for field_name, field in candidate.model_fields.items()
        )
    )


def _is_tag(model: type[BaseModel], part: int | str) -> bool:
    """Whether `part` names `model` among the models of a union.

    In the place of an error, pydantic names the chosen model by its class, or by the literal value
    of the field that tells the models apart. Such a part is no field of the file.
    """
    field_hints = [field.annotation for field in model.model_fields.values()]
    literal_values = [
        get_args(annotation) for annotation in field_hints if get_origin(annotation) is Literal
    ]
    return part == model.__name__ or any(
        part in allowed_values for allowed_values in literal_values
    )


# Our message for a type of error of pydantic, whose own message speaks of strings, tuples and
# instances, which are words of Python and not of YAML.
_EXPECTED_KINDS = {"string_type": "should be text"}
_EXPECTED_KINDS |= dict.fromkeys(("tuple_type", "list_type"), "should be a list")
_EXPECTED_KINDS |= dict.fromkeys(("dict_type", "model_type"), "should be a mapping")


class _MistakeLines:
    """Turns errors of pydantic into lines for people, without those that follow from others."""

    def __init__(self, errors: Sequence[ErrorDetails], model: type[BaseModel], tree: _Tree) -> None:
        self._model, self._tree = model, tree
        in_file_order = sorted(errors, key=lambda error: tree.line[tree.place(error["loc"])])
        self._more_count = max(0, len(errors) - MOST_MISTAKES)
        # unknown fields first: a field that was guessed from one is then not reported as missing
        self._errors = sorted(
            in_file_order[:MOST_MISTAKES], key=lambda error: error["type"] != "extra_forbidden"
        )
        self._guessed_fields: set[Loc] = set()
        self._parent_places: set[Loc] = set()
        for error in errors:
            for depth in range(len(error["loc"])):
                self._parent_places.add(error["loc"][:depth])

    def lines(self) -> list[str]:
        """One line for each mistake, in the order of the file."""
        numbered_lines: list[tuple[int, str]] = []
        for error in self._errors:
            if self._follows_from_another(error):
                continue
            place = self._tree.place(error["loc"])
            line_number = self._tree.line[place]
            is_missing = error["type"] == "missing"
            field_name = _dotted((*place, error["loc"][-1]) if is_missing else place)
            prefix = f"{self._tree.where}:{line_number}: "
            prefix += f"{field_name}: " if field_name else ""
            numbered_lines.append((line_number, prefix + self._text(error)))
        in_file_order = sorted(numbered_lines, key=lambda numbered: numbered[0])
        mistake_lines = list(dict.fromkeys(text for _, text in in_file_order))
        if self._more_count:
            mistake_lines.append(f"and {self._more_count:,} more mistakes")
        return mistake_lines

    def _follows_from_another(self, error: ErrorDetails) -> bool:
        """Whether mending another mistake mends this one, too.

        A field is missing because its name was misspelt, or a list is too short because its items
        were refused.
        """
        loc = error["loc"]
        if error["type"] == "extra_forbidden":
            return False
        too_short = error["type"] == "too_short" and loc in self._parent_places
        return loc in self._guessed_fields or too_short

    def _text(self, error: ErrorDetails) -> str:
        """The message of one error, in our words where pydantic's suit Python more than YAML."""
        match error["type"]:
            case "extra_forbidden":
                return self._unknown_field(error["loc"])
            case "missing":
                return "missing"
            case "mistake" | "value_error":
                return error["msg"].removeprefix("Value error, ")
        own_words = re.sub(r"^\w+ should", "should", error["msg"].removeprefix("Value error, "))
        text = _EXPECTED_KINDS.get(error["type"], own_words).replace(" after validation", "")
        return text if ", not " in text else f"{text}, not {_got(error['input'])}"

    def _unknown_field(self, loc: Loc) -> str:
        field_names = _fields(self._model, loc)
        near_name = did_you_mean(str(loc[-1]), field_names)
        if near_name is None:
            return f"unknown field, the fields are {', '.join(field_names)}"
        self._guessed_fields.add((*loc[:-1], near_name))
        return f"unknown field, did you mean {near_name!r}?"


def _got(value: object) -> str:
    type_names: dict[type | None, str] = {dict: "a mapping", list: "a list", type(None): "nothing"}
    value_text = repr(value)
    short_text = value_text if len(value_text) <= 200 else f"{value_text[:200]}…"
    return type_names.get(type(value)) or short_text
