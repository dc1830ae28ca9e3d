"""Extension points, to which other packages can add objects by name.

There are four kinds: `filter`, `backend`, `platform` and `dataset`. Each has a table of the
project's own objects and a group of entry points, such as `factdrift.filters`. A package adds an
entry to a group in its `pyproject.toml`:

    [project.entry-points."factdrift.filters"]
    no-acronyms = "my_package.filters:NoAcronyms"

An entry point is loaded when its name is looked up, so a broken package stops only the runs that
use it. A field of a recipe that selects extensions by name is annotated with an `OpenUnion`.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Generic, TypeVar, Union, get_args

from pydantic import BaseModel, Field, GetCoreSchemaHandler, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from factdrift.builders.core.config import did_you_mean, mistakes
from factdrift.builders.core.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class ImportedTable(Mapping[str, T]):
    """A table of objects that are imported when they are asked for, by name.

    `places` has them as entry points have theirs: `package.module:Class`.
    """

    places: Mapping[str, str]

    def __getitem__(self, name: str) -> T:
        module_name, _, object_name = self.places[name].partition(":")
        named_object: T = getattr(import_module(module_name), object_name)
        return named_object

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class ExtensionPoint(Generic[T]):
    """One kind of extension: the project's table, and the entry points of installed packages.

    `kind` is its name in messages, in the singular. `ours` is the project's own table. `accepts`
    tells whether a loaded object is of the right kind, which `expected` describes in words.
    """

    kind: str
    ours: Mapping[str, T]
    accepts: Callable[[object], bool]
    expected: str

    @property
    def group(self) -> str:
        """The name of the group of entry points, such as `factdrift.filters`."""
        return f"factdrift.{self.kind}s"

    def names(self) -> list[str]:
        """Return all names: ours in the order of the table, then those of packages, sorted."""
        return [*self.ours, *self.names_of_packages()]

    def names_of_packages(self) -> list[str]:
        """Return the names that installed packages add, sorted."""
        return sorted(self._entries())

    def find(self, name: str) -> T:
        """Return the extension with a name.

        Raises `UserError` if there is none (the message suggests the most similar name), if its
        package cannot be loaded, or if the loaded object is not of the expected kind.
        """
        if name in self.ours:
            return self.ours[name]
        entry_point = self._entries().get(name)
        if entry_point is None:
            raise UserError(f"no {self.kind} {name!r}", hint=self.suggestion(name))
        return self._load(entry_point)

    def offers(self, name: str) -> bool:
        """Whether an installed package, and not the project, has an extension with this name."""
        return name not in self.ours and name in self._entries()

    def suggestion(self, name: str) -> str:
        """Return a hint for an unknown name: the most similar name, or all of them."""
        return suggestion(name, self.names())

    def _entries(self) -> dict[str, EntryPoint]:
        """Return entry points by name, without those that have the name of an extension of ours."""
        return {
            entry_point.name: entry_point
            for entry_point in _installed(self.group, tuple(sys.path))
            if entry_point.name not in self.ours
        }

    def _load(self, entry_point: EntryPoint) -> T:
        package_name = entry_point.dist.name if entry_point.dist else entry_point.value
        try:
            extension = entry_point.load()
        except Exception as error:  # another package's code may raise anything when imported
            reason = f"{type(error).__name__}: {error}"
            text = f"the {self.kind} {entry_point.name!r} cannot be loaded: {reason}"
            raise UserError(text, where=package_name) from error
        if not self.accepts(extension):
            raise UserError(f"{entry_point.value} is not {self.expected}", where=package_name)
        loaded: T = extension
        return loaded


@cache
def _installed(group: str, search_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group in all packages on a search path.

    They are read once: each reading opens a file of every installed package, and a recipe looks up
    about ten names.
    """
    return tuple(entry_points(group=group))


def suggestion(name: str, known_names: Sequence[str]) -> str:
    """Return a hint for an unknown name: the most similar name, or all of them."""
    near_name = did_you_mean(name, known_names)
    hint_text = (
        f"did you mean {near_name!r}?" if near_name else f"there are {', '.join(known_names)}."
    )
    return f"{hint_text} A package's own is known once it is installed: pip install -e FOLDER"


@dataclass(frozen=True, eq=False)
class OpenUnion:
    """Marks a field that holds one of several models, selected by name. Packages can add models.

    `Annotated[Filter, OpenUnion(FILTER_POINT, "filter", (Length, …))]` is validated like a
    discriminated union of the classes in `ours`. Other names are looked up in the entry points of
    `point`; mistakes in the fields of such a model are reported at their lines like any others.
    `key` is the field that holds the name.
    """

    point: ExtensionPoint[Any]
    key: str
    ours: tuple[type[BaseModel], ...]
    loaded: dict[str, type[BaseModel]] = field(default_factory=dict)
    """The models of packages that this process has loaded so far, by name."""

    def models(self) -> tuple[type[BaseModel], ...]:
        """Return the classes of ours and those that were loaded from packages so far."""
        return (*self.ours, *self.loaded.values())

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of our union, wrapped by `_validate`, which looks for packages' names.

        A value is serialized by its own class (`any`), because a package's is not in the union.
        """
        return core_schema.with_info_wrap_validator_function(
            self._validate,
            handler.generate_schema(_tagged_union(self.ours, self.key)),
            serialization=core_schema.simple_ser_schema("any"),
        )

    def _validate(
        self, value: Any, handler: Callable[[Any], Any], info: ValidationInfo[Any]
    ) -> Any:
        if isinstance(value, Mapping):
            model_name = value.get(self.key)
            if (
                isinstance(model_name, str)
                and model_name not in self.point.ours
                and model_name not in self._own_names()
            ):
                adapter = _adapter((*self.ours, self._model(model_name)), self.key)
                return adapter.validate_python(value, context=info.context)
        elif self.point.accepts(type(value)) and type(value) not in self.point.ours.values():
            return value  # made by code, and not from a recipe
        return handler(value)

    def _own_names(self) -> list[str]:
        return [name for model in self.ours for name in names_of(model, self.key)]

    def _model(self, name: str) -> type[BaseModel]:
        """Return the model of a package; an error in it becomes a mistake in the recipe."""
        kind = self.point.kind
        if not self.point.offers(name):
            # ours are fewer than the point's where a field takes only some, or one more
            hint_text = suggestion(name, [*self._own_names(), *self.point.names_of_packages()])
            raise mistakes([((self.key,), f"no {kind} {name!r}, {hint_text}")])
        try:
            model: type[BaseModel] = self.point.find(name)
        except UserError as error:
            raise mistakes([((self.key,), str(error))]) from None
        if name not in names_of(model, self.key):
            reason_text = (
                f"{model.__module__}.{model.__qualname__} has no `{self.key}: Literal[{name!r}]`"
            )
            raise mistakes([((self.key,), f"the {kind} {name!r} cannot be used: {reason_text}")])
        self.loaded[name] = model
        return model


def names_of(model: type[BaseModel], key: str) -> tuple[str, ...]:
    """Return the names that select a model: the literals that its field `key` allows."""
    key_field = model.model_fields.get(key)
    return get_args(key_field.annotation) if key_field else ()


def _tagged_union(models: tuple[type[BaseModel], ...], key: str) -> Any:
    return Annotated[Union[models], Field(discriminator=key)]  # noqa: UP007 - of a tuple


@cache
def _adapter(models: tuple[type[BaseModel], ...], key: str) -> TypeAdapter[Any]:
    """Return a validator for our models and one of a package.

    It is a union, so that errors name the model that they are about.
    """
    return TypeAdapter(_tagged_union(models, key))
